//! Bursts of evenly spaced arrivals, separated by silences; both have exponentially distributed lengths.

use crate::primitives::units::{Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, Settings, member};
use crate::traffic::arrival_process::Process;
use crate::traffic::schedule::Schedule;

pub struct OnOff;

member! {
    /// Bursts of evenly spaced arrivals, separated by silences; both have exponentially distributed lengths.
    OnOff = "on_off", "common practice";

    pub struct OnOffSpec {
        /// Rate during a burst: for datagrams on the wire, headers included; for applications, of the payload.
        rate: Rate => Kind::Rate,
        /// Mean duration of a burst.
        mean_on: TimeDelta => ABOVE_ZERO; "1 s",
        /// Mean duration of a silence.
        mean_off: TimeDelta => ABOVE_ZERO; "1 s",
    }
}

impl Settings for OnOffSpec {
    fn samples() -> Vec<OnOffSpec> {
        let of = |(rate, off)| OnOffSpec {
            rate: Rate(rate),
            mean_on: TimeDelta::from_millis(20),
            mean_off: TimeDelta::from_millis(off),
        };
        [(9_000_000, 30), (4_000_000, 400)].map(of).into()
    }
}

impl Process for OnOffSpec {
    const IS_RANDOM: bool = false;

    fn rate(&self) -> Rate {
        self.rate
    }

    fn first(&self, start: Time, schedule: &mut Schedule) -> Time {
        schedule.on_until = start + schedule.period(self.mean_on);
        start
    }

    fn next(&self, now: Time, schedule: &mut Schedule) -> Time {
        let next = now + schedule.gap;
        if next < schedule.on_until {
            return next;
        }
        let start = schedule.on_until.max(now) + schedule.period(self.mean_off);
        schedule.on_until = start + schedule.period(self.mean_on);
        start.max(next)
    }

    fn per_second(&self, gap: TimeDelta) -> f64 {
        self.mean_on.seconds() / (self.mean_on.seconds() + self.mean_off.seconds()) / gap.seconds()
    }
}
