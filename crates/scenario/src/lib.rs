//! Scenarios of Tailback: reads and validates the user's description, and builds the network that the core runs.
//!
//! [`Scenario::from_toml`] and [`Scenario::from_json`] read a scenario. [`Scenario::build`] checks it as a whole. Modules:
//!
//! * `schema/`: the tables of a scenario with their keys, defaults and descriptions, one file each;
//! * `presets.rs`: TCP presets;
//! * `quantity.rs`, `distribution/`: quantities with units, and distributions over flows;
//! * `flow_table.rs`, `demand_table.rs`, `writes.rs`, `rate_profile.rs`, `rate_table.rs`: tables of flows, of demands, of the writes of an
//!   application, of arrival rates over time, and of a link over time;
//! * `tree.rs`, `decode.rs`: from text to a tree, and from a tree to typed values, with all errors;
//! * `member.rs`: controllers and policies with the settings that the core declares;
//! * `record.rs`, `values.rs`: tables with named keys, and plain values;
//! * `user_code.rs`: user code, by name and parameters;
//! * `problem.rs`, `location.rs`: error messages, and locations in the text;
//! * `nearest.rs`, `renamed.rs`: hints for invalid words;
//! * `question.rs`, `probes.rs`: buffer sizing and price schemes without a network;
//! * `emulation.rs`: networks with real packets;
//! * `hosted.rs`: networks with transport stacks at the ends of flows;
//! * `network/`: builds nodes, routes, flows, changes and traces.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking"))]

mod buffer;
mod decode;
mod demand_table;
mod distribution;
mod emulation;
mod flow_table;
mod hosted;
mod link_rate;
mod location;
mod member;
mod misplaced;
mod nearest;
mod network;
mod preset_settings;
mod presets;
mod probability;
mod probes;
mod problem;
mod quantity;
mod question;
mod rate_profile;
mod rate_table;
mod record;
mod renamed;
mod scenario;
pub mod schema;
mod segments;
mod setting;
mod short_forms;
mod threshold;
mod tree;
mod unit_words;
mod user_code;
mod values;
mod window_size;
mod writes;

pub use distribution::Distribution;
pub use emulation::{AddressPair, Conversation, Emulated, Host, Played, Transfer};
pub use hosted::{Hosted, HostedFlow, HostedFlows, StackSettings};
pub use location::Location;
pub use member::{Family, Member, MemberConfig};
pub use nearest::{hint, nearest_word};
pub use presets::{PRESETS, Preset, presets_markdown};
pub use probability::Probability;
pub use probes::ProbeQuestion;
pub use problem::{Errors, Problem, Warnings, listed};
pub use quantity::{Duration, Percent, Rate, Size, in_column_units};
pub use question::BufferQuestion;
pub use renamed::RENAMED;
pub use scenario::{SOURCES, Scenario, json_schema};
pub use schema::{Description, Topology, TopologyInfo};
pub use segments::Segments;
pub use short_forms::long_form;
pub use tree::toml_as_json;
pub use user_code::{Parameter, Parameters, UserCodeProblem, UserName};
pub use values::{FlowIndex, Integer, Name};
