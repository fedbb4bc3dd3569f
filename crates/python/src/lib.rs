//! `tailback._core`: the Rust side of `import tailback`. It converts, and decides nothing.
//!
//! Start in [`simulation`] for a run and its results, [`table`] for columns, [`user_code`] for user code in Python. What can go wrong becomes
//! an exception of `tailback.errors` in [`errors`]. The Python package wraps all of this; nobody else imports it.

mod description;
mod errors;
mod memory;
mod models;
mod outline;
mod simulation;
mod table;
mod user_code;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::description::{
        check, content_hashes, named_user_code, normalise, scenario_error, scenario_errors, schema, sources,
    };
    #[pymodule_export]
    use crate::models::closed_loop::{closed_loop_mathis, closed_loop_padhye};
    #[pymodule_export]
    use crate::models::queues::{erlang_b, md1_mean_wait, md1k, mm1k, mmck};
    #[pymodule_export]
    use crate::models::sizing::{
        appenzeller_buffer, appenzeller_flows, appenzeller_utilisation, bandwidth_delay_buffer, beheshti_buffer, cui_link_buffer,
        cui_link_flows, cui_link_utilisation, cui_trunk_buffer, cui_trunk_flows, cui_trunk_utilisation, enachescu_buffer,
        enachescu_flows, enachescu_utilisation, enachescu_window, full_utilisation_buffer, gorinsky_buffer, least_queue,
        sizing_rules, synchronised_buffer, synchronised_utilisation,
    };
    #[pymodule_export]
    use crate::models::tcp::{
        fast_retransmit, mathis_rate, padhye_goodput, padhye_rate, single_flow_mean_queue, single_flow_utilisation, slow_start,
        window_limited_rate,
    };
    #[pymodule_export]
    use crate::models::trunk::{exact_trunk_loss, trunk_loss};
    #[pymodule_export]
    use crate::models::trunk_simulation::TrunkSimulation;
    #[pymodule_export]
    use crate::outline::{buffer_question, outline};
    #[pymodule_export]
    use crate::simulation::{Results, Simulation};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    use crate::user_code::{Ack, Congestion, Draw, Label, Occupancy, RoundTrip, Start, Turn, Unit};

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
