//! M/M/K/(K+B): Poisson arrivals, the limit of many input links.

use super::loss_model::{Chain, LossModel};
use crate::trunk::Trunk;
use crate::trunk::chain::InverseLoss;

pub const MMKKB: LossModel = LossModel {
    name: "mmkkb",
    title: "M/M/K/(K+B)",
    help: "M/M/K/(K+B): Poisson arrivals, whatever the number of input links",
    source: "cui-thesis, equation (3.15)",
    knows_inputs: false,
    chain: Chain::Of(ln_loss),
};

/// (3.15) in logarithms, for any number of input links. [`crate::queues::mmck`] also gives the number and the waiting time of
/// this queue.
fn ln_loss(trunk: &Trunk, load: f64) -> f64 {
    let offered = load * f64::from(trunk.transmitters);
    let mut chain = InverseLoss::of_one_state();
    for packets in 1..=trunk.transmitters {
        chain.extend(f64::from(packets) / offered);
    }
    -chain.ln_extended_evenly((1.0 - load) / load, 1.0, trunk.buffer)
}
