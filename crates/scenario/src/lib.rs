//! The scenario of Tailback: what a user writes, checked as a whole and turned into the network that the core runs.
//!
//! [`Scenario::from_toml`] and [`Scenario::from_json`] read, [`Scenario::build`] checks what the parts mean together. Where to look:
//!
//! * `schema/`: the tables of a scenario with their keys, defaults and descriptions, one file each;
//! * `presets.rs`: the TCPs that have a name;
//! * `quantity.rs`, `distribution/`: text with units, and values that vary over flows;
//! * `flow_table.rs`: flows that a file says one by one;
//! * `tree.rs`, `decode.rs`: from text to a tree, and from a tree to typed values, with every fault on the way;
//! * `member.rs`: controllers and policies with the settings that the core declares of each;
//! * `record.rs`, `values.rs`: what those values are: tables with named keys, and plain ones;
//! * `user_code.rs`: code that the core does not know, by name and parameters;
//! * `problem.rs`: how faults read;
//! * `question.rs`, `probes.rs`: a question about a buffer, and a price scheme, without a network;
//! * `emulation.rs`: a network in which some of the packets are real;
//! * `network/`: names to indices, routes, flows, changes, traces.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

mod decode;
mod distribution;
mod emulation;
mod flow_table;
mod link_rate;
mod location;
mod member;
mod network;
mod presets;
mod probes;
mod problem;
mod quantity;
mod question;
mod record;
mod renamed;
mod scenario;
pub mod schema;
mod threshold;
mod tree;
mod user_code;
mod values;

pub use distribution::Distribution;
pub use emulation::{AddressPair, Emulated, Host, Played, Transfer};
pub use location::Location;
pub use member::{Family, Member, MemberConfig};
pub use presets::{PRESETS, Preset, presets_markdown};
pub use probes::ProbeQuestion;
pub use problem::{Errors, Problem, Warnings, nearest_word};
pub use quantity::{Duration, Percent, Probability, Rate, Segments, Size, in_column_units};
pub use question::BufferQuestion;
pub use renamed::RENAMED;
pub use scenario::{Description, Scenario, json_schema};
pub use tree::toml_as_json;
pub use user_code::{Objection, Parameter, Parameters, UserName};
pub use values::{FlowIndex, Integer, Name};

/// A fingerprint of the sources that this crate was built from.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");
