//! One datagram at a time, with an idle time after each: the input port of a switch, and the source of the Engset models.

use crate::primitives::units::{Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, Settings, member};
use crate::traffic::arrival_process::Process;
use crate::traffic::schedule::Schedule;

pub struct Alternating;

member! {
    /// Input port of a switch: one datagram at a time, with an exponentially distributed idle time after each.
    Alternating = "alternating", "the input ports of Cui's thesis, section 3.2";

    pub struct AlternatingSpec {
        /// Sending rate of a datagram on the wire, headers included.
        rate: Rate => Kind::Rate,
        /// Mean idle time.
        mean_idle: TimeDelta => ABOVE_ZERO; "1 s",
    }
}

impl Settings for AlternatingSpec {
    fn samples() -> Vec<AlternatingSpec> {
        let of = |mean_idle| AlternatingSpec { rate: Rate(8_000_000), mean_idle: TimeDelta::from_micros(mean_idle) };
        [400, 3000].map(of).into()
    }
}

impl Process for AlternatingSpec {
    const IS_RANDOM: bool = true;
    const IS_OF_DATAGRAMS: bool = true;

    fn rate(&self) -> Rate {
        self.rate
    }

    fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
        start + schedule.exponential(self.mean_idle)
    }

    fn next(&self, sent: Time, schedule: &mut Schedule) -> Time {
        sent + schedule.exponential(self.mean_idle)
    }

    fn per_second(&self, gap: TimeDelta) -> f64 {
        1.0 / (gap.seconds() + self.mean_idle.seconds())
    }
}
