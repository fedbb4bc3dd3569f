//! The price itself, as a number in the header of each packet. MaxNet, RCP and XCP were designed for it, and it is the reference for the
//! other schemes.

use super::support::{Combination, QueuePrice, Scheme};
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::member;

/// The exact scheme.
#[derive(Clone, Copy, Debug)]
pub struct Exact;

member! {
    /// The price itself, as a number in each packet's header.
    Exact = "exact", "cui-thesis section 5.3.2, of MaxNet and RCP";
}

/// It has no probes, because packets carry the number.
impl Scheme for () {
    type Estimator = ();
    const COMBINES: Option<Combination> = None;
    const USES_IDENTIFICATION: bool = false;

    /// The return path limits it.
    fn resolution(&self) -> f64 {
        f64::from(1 << 16)
    }

    fn mark(&self, _: &mut Probe, _: QueuePrice, _: &mut Draws) {}

    fn learn(&self, (): &mut (), _: &Probe) {}

    fn estimate(&self, (): &()) -> f64 {
        0.0
    }
}
