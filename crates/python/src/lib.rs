//! `tailback._core`: the Rust side of `import tailback`. It converts data and makes no decisions.
//!
//! Start in [`simulation`] for a run and its results, [`checkpoint`] for saved runs, [`table`] for columns, [`capture`] for
//! packet captures, and [`user_code`] for user code in Python. [`errors`] converts failures to exceptions of `tailback.errors`.
//! The Python package wraps all of this, and nothing else imports it.

mod allocation;
mod capture;
mod checkpoint;
mod description;
#[cfg(target_os = "linux")]
mod emulation;
mod errors;
mod event_comparison;
mod kernels;
mod libraries;
mod lone_sender;
mod memory;
mod message_rules;
mod models;
mod prediction;
mod prices;
mod running;
mod simulation;
mod stacks;
mod table;
mod user_code;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::allocation::{max_min, proportional, shared_network};
    #[pymodule_export]
    use crate::capture::{CaptureAnalysis, write_capture};
    #[pymodule_export]
    use crate::description::{
        ParsedScenario, argument_errors, check, content_hashes, described_flows, described_tables, expanded, flow_ends,
        flow_ends_of_topology, hint, in_column_units, is_random, listed, long_form, named_user_code, nearest_word, normalise,
        normalise_with_files, notes, renamed_names, scenario_error, scenario_errors, schema, sources, toml_as_json, topologies,
        unlimited_queues,
    };
    #[cfg(target_os = "linux")]
    #[pymodule_export]
    use crate::emulation::{DeviceDoor, Emulation};
    #[pymodule_export]
    use crate::event_comparison::EventComparison;
    #[pymodule_export]
    use crate::kernels::{kernel_folder, kernel_sources, linux_kernel, linux_stacks};
    #[pymodule_export]
    use crate::libraries::{library_conflict, library_versions};
    #[pymodule_export]
    use crate::lone_sender::LoneSender;
    #[pymodule_export]
    use crate::message_rules::MessageRules;
    #[pymodule_export]
    use crate::models::describing::models;
    #[pymodule_export]
    use crate::models::evaluating::evaluate;
    #[pymodule_export]
    use crate::models::fast_retransmit::fast_retransmit;
    #[pymodule_export]
    use crate::models::trunk_simulation::TrunkSimulation;
    #[pymodule_export]
    use crate::prediction::{
        buffer_answers, max_windows, predict, round_trips, sizing_question, sizing_scenario, trunk_accuracy, trunk_accuracy_text,
    };
    #[pymodule_export]
    use crate::prices::{max_hops, probe_estimates};
    #[pymodule_export]
    use crate::simulation::{Results, Simulation};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::user_code::{Ack, Congestion, Departure, Draw, HostEnd, Occupancy, RoundTrip, Start, Unit, UnitSignal};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// The commit of an optimised build from a checkout; otherwise empty. Results and their hashes do not depend on it.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __commit__: &str = env!("TAILBACK_COMMIT");

    #[pymodule_init]
    fn init(_module: &pyo3::Bound<'_, pyo3::types::PyModule>) -> pyo3::PyResult<()> {
        crate::table::silence_expected_panics();
        Ok(())
    }
}
