//! MaxNet's router. Its congestion cost rises while arrivals exceed a target rate and falls while they are below it; sources adapt to the
//! largest cost of their path (Wydrowski and Zukerman, "MaxNet: a congestion control architecture", IEEE Communications Letters 6(11),
//! 2002; cui-thesis section 5.3.2).
//!
//! Differs: the cost is measured in units of the target, so that `gain` is phi c of (5.6). With exponential demand the convergence time is
//! then independent of the link's rate. Nothing is discarded while there is room.

use super::support::{Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::price::PriceMeaning;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// MaxNet router: its congestion cost integrates the arrivals in excess of a target rate, and senders adapt to it.
    MaxNet = "maxnet", "cui-thesis section 5.3.2, equation (5.6)";

    pub struct MaxNetSpec {
        /// Target rate, as a fraction of the link's rate (c).
        target: f64 = 0.95 => Kind::Probability,
        /// Change of the cost in a period with no arrivals, or with twice the target (phi c).
        gain: f64 = 0.05 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Time between updates of the cost, at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(10) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Allow a negative cost, as (5.6) is printed. An idle link then lowers the cost without bound, and sources take as long to slow
        /// down again.
        signed: bool = false => Kind::Boolean,
    }
}

impl Settings for MaxNetSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.target == 0.0 => ["target"], "`target` of 0 allows no arrivals", "above 0, at most 1";
            error if self.gain == 0.0 => ["gain"], "`gain` of 0 never changes the cost", "above 0";
        }
    }

    fn samples() -> Vec<MaxNetSpec> {
        let usual = MaxNetSpec::default();
        vec![usual, MaxNetSpec { target: 1.0, gain: 0.5, period: TimeDelta::from_millis(1), signed: true }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MaxNet {
    spec: MaxNetSpec,
    /// p.
    cost: f64,
    /// Arrivals in this period.
    arrived: Bytes,
}

impl MaxNet {
    pub(super) fn new(spec: &MaxNetSpec) -> MaxNet {
        MaxNet { spec: *spec, cost: 0.0, arrived: Bytes(0) }
    }
}

impl Policy for MaxNet {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const PRICE_MEANING: Option<PriceMeaning> = Some(PriceMeaning::Cost);

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        self.arrived += unit.bytes;
        Verdict::Accept
    }

    fn price(&self) -> Option<f64> {
        Some(self.cost)
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    /// Equation (5.6).
    fn on_period(&mut self, end: &PeriodEnd) {
        let MaxNetSpec { target, gain, period, signed } = self.spec;
        let wanted = target * end.rate.0 as f64 * period.seconds() / 8.0;
        let cost = self.cost + gain * (self.arrived.0 as f64 / wanted - 1.0);
        self.cost = if signed { cost } else { cost.max(0.0) };
        self.arrived = Bytes(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{Rate, Units};

    /// The cost on a link of 8 Mbit/s, 10,000 bytes per 10 ms, after periods with these numbers of arrivals of 1000 bytes.
    fn cost_after(signed: bool, arrivals: &[u32]) -> f64 {
        let mut maxnet = MaxNet::new(&MaxNetSpec { target: 0.8, gain: 0.1, signed, ..MaxNetSpec::default() });
        for &packets in arrivals {
            for _ in 0..packets {
                let packet = Unit { bytes: Bytes(1000), is_last: true };
                maxnet.on_arrival(&packet, &mut (), &Occupancy::of(Units(0), Bytes(0)), Time::ZERO);
            }
            maxnet.on_period(&PeriodEnd { units: Units(0), bytes: Bytes(0), rate: Rate(8_000_000), first_waited: None });
        }
        maxnet.cost
    }

    #[test]
    fn the_cost_integrates_arrivals_in_excess_of_the_target() {
        // The target is eight packets. Ten are a quarter too many, eight are on target, and sixteen are twice the target.
        let near = |cost: f64, by_hand: f64| assert!((cost - by_hand).abs() < 1e-12, "{cost}, not {by_hand}");
        near(cost_after(false, &[10]), 0.025);
        near(cost_after(false, &[10, 8, 16]), 0.125);
        near(cost_after(false, &[10, 0]), 0.0);
        near(cost_after(true, &[10, 0]), -0.075);
    }
}
