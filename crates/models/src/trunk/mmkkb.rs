//! M/M/K/(K+B): Poisson arrivals, the limit of many input links.

use super::Trunk;
use super::chain::InverseLoss;

/// (3.15) in logarithms, whatever the number of input links. [`crate::queues::mmck`] is the same queue with its number and wait.
pub(super) fn ln_loss(trunk: &Trunk, load: f64) -> f64 {
    let offered = load * f64::from(trunk.transmitters);
    let mut chain = InverseLoss::of_one_state();
    for packets in 1..=trunk.transmitters {
        chain.extend(f64::from(packets) / offered);
    }
    -chain.ln_extended_evenly((1.0 - load) / load, 1.0, trunk.buffer)
}
