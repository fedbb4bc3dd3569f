//! Evenly spaced arrivals.

use crate::primitives::units::{Rate, Time};
use crate::settings::{Kind, Settings, member};
use crate::traffic::arrival_process::Process;
use crate::traffic::schedule::Schedule;

pub struct Constant;

member! {
    /// Evenly spaced arrivals.
    Constant = "constant", "common practice";

    pub struct ConstantSpec {
        /// Rate: for datagrams on the wire, headers included; for applications, of the payload.
        rate: Rate => Kind::Rate,
    }
}

impl Settings for ConstantSpec {
    fn samples() -> Vec<ConstantSpec> {
        [1_000_000, 9_000_000].map(|rate| ConstantSpec { rate: Rate(rate) }).into()
    }
}

impl Process for ConstantSpec {
    const IS_RANDOM: bool = false;

    fn rate(&self) -> Rate {
        self.rate
    }

    fn first(&self, start: Time, _schedule: &mut Schedule) -> Time {
        start
    }

    fn next(&self, now: Time, schedule: &mut Schedule) -> Time {
        now + schedule.gap
    }
}
