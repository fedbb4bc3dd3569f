//! Poisson arrivals: exponentially distributed gaps.

use crate::primitives::units::{Rate, Time};
use crate::settings::{Kind, Settings, member};
use crate::traffic::arrival_process::Process;
use crate::traffic::schedule::Schedule;

pub struct Poisson;

member! {
    /// Poisson arrivals: exponentially distributed gaps.
    Poisson = "poisson", "queueing theory";

    pub struct PoissonSpec {
        /// Mean rate: for datagrams on the wire, headers included; for applications, of the payload.
        rate: Rate => Kind::Rate,
    }
}

impl Settings for PoissonSpec {
    fn samples() -> Vec<PoissonSpec> {
        [1_000_000, 9_000_000].map(|rate| PoissonSpec { rate: Rate(rate) }).into()
    }
}

impl Process for PoissonSpec {
    const IS_RANDOM: bool = true;

    fn rate(&self) -> Rate {
        self.rate
    }

    fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
        start + schedule.exponential(schedule.gap)
    }

    fn next(&self, now: Time, schedule: &mut Schedule) -> Time {
        now + schedule.exponential(schedule.gap)
    }
}
