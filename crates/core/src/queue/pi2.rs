//! PI2: a linear controller of the delay, whose output is squared for Classic senders; the Classic queue of DualPI2 (De Schepper, Briscoe
//! and White, RFC 9332, appendix A.1; De Schepper, Bondarenko, Tsang and Briscoe, "PI2: a linearized AQM for both classic and scalable
//! TCP", CoNEXT 2016). Names are from the appendix.
//!
//! Marks are spread evenly, by `recur` of the appendix, and made as packets leave.
//!
//! Differs: the delay is the queue length over the port's rate, where the RFC uses the wait of the packet at its head. The L4S queue and
//! the scheduler between the two queues are not included. The defaults of period, alpha and beta are from Linux's sch_dualpi2
//! (tc-dualpi2(8)); figure 2 of the RFC gives 15 ms, 0.15 and 3, which `dualpi2` uses.

use super::support::{Departure, DropReason, Occupancy, Onset, PeriodEnd, Policy, Unit, Verdict};
use crate::primitives::units::{Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// The Classic queue of DualPI2: the marking probability is the square of a controller output that follows the delay. Discards packets
    /// that are not ECN-capable. The defaults are from Linux.
    Pi2 = "pi2", "RFC 9332 appendix A.1";

    pub struct Pi2Spec {
        /// Target queueing delay (target).
        target: TimeDelta = TimeDelta::from_millis(15) => ABOVE_ZERO,
        /// Time between updates of the probability (Tupdate), at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(16) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Integral gain: weight of the deviation of the delay from the target, per second (alpha).
        alpha: f64 = 0.16 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Proportional gain: weight of the change of the delay, per second (beta).
        beta: f64 = 3.2 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Probability from which packets are discarded instead of marked (p_Cmax).
        max_mark_probability: f64 = 0.25 => Kind::Probability,
    }
}

impl Settings for Pi2Spec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha == 0.0 => ["alpha"], "`alpha` of 0 removes the delay target", "above 0";
        }
    }

    fn samples() -> Vec<Pi2Spec> {
        let ms = TimeDelta::from_millis;
        let usual = Pi2Spec { target: ms(5), ..Pi2Spec::default() };
        vec![usual, Pi2Spec { target: ms(1), period: ms(2), alpha: 1.0, beta: 10.0, max_mark_probability: 0.0 }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pi2 {
    spec: Pi2Spec,
    /// p', the base probability.
    p_prime: f64,
    /// Delay in seconds at the last update.
    prevq: f64,
    /// Sum of probabilities since the last mark.
    count: f64,
}

impl Pi2 {
    pub(super) fn new(spec: &Pi2Spec) -> Pi2 {
        Pi2 { spec: *spec, p_prime: 0.0, prevq: 0.0, count: 0.0 }
    }
}

impl Policy for Pi2 {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;

    fn onset(&self) -> Onset {
        Onset { target: Some(self.spec.target), ..Onset::default() }
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        Verdict::Accept
    }

    fn on_departure(&mut self, _unit: &Unit, _departure: &Departure) -> Verdict {
        let p_c = self.p_prime * self.p_prime;
        self.count += p_c;
        if self.count <= 1.0 {
            return Verdict::Accept;
        }
        self.count -= 1.0;
        if p_c < self.spec.max_mark_probability { Verdict::Mark } else { Verdict::Discard(DropReason::Late) }
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        let Pi2Spec { target, alpha, beta, .. } = self.spec;
        let curq = end.delay();
        let step = alpha * (curq - target.seconds()) + beta * (curq - self.prevq);
        self.p_prime = (self.p_prime + step).clamp(0.0, 1.0);
        self.prevq = curq;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{Bytes, Rate, Units};

    fn pi2(p_prime: f64, prevq: f64) -> Pi2 {
        Pi2 { p_prime, prevq, ..Pi2::new(&Pi2Spec::default()) }
    }

    /// p' after an update with this many queued packets of 1 ms each.
    fn updated(mut pi2: Pi2, packets: u64) -> f64 {
        pi2.on_period(&PeriodEnd {
            units: Units(packets),
            bytes: Bytes(1000 * packets),
            rate: Rate(8_000_000),
            first_waited: None,
        });
        pi2.p_prime
    }

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-12, "{found}, not {by_hand}");
    }

    #[test]
    fn the_base_probability_follows_the_delay_and_its_change() {
        // 25 ms after 20: 0.16 (25 - 15) ms + 3.2 (25 - 20) ms = 0.0016 + 0.016.
        near(updated(pi2(0.1, 0.020), 25), 0.1176);
        // 5 ms after 20: -0.0016 - 0.048.
        near(updated(pi2(0.1, 0.020), 5), 0.0504);
        near(updated(pi2(0.01, 0.020), 0), 0.0);
        near(updated(pi2(0.999, 0.0), 100), 1.0);
    }

    #[test]
    fn the_squared_probability_is_marked_evenly_and_discarded_from_a_quarter_on() {
        let unit = Unit { bytes: Bytes(1000), is_last: true };
        let departure = Departure { now: Time::ZERO, sojourn_time: TimeDelta::ZERO, bytes_behind: Bytes(0), is_capable: true };
        let verdicts = |p_prime: f64| {
            let mut pi2 = pi2(p_prime, 0.0);
            (0..100).map(|_| pi2.on_departure(&unit, &departure)).collect::<Vec<Verdict>>()
        };
        let marked = verdicts(0.375);
        let places: Vec<usize> = (0..100).filter(|&place| marked[place] == Verdict::Mark).collect();
        // 9/64: a packet is marked whenever the sum passes a whole number.
        assert_eq!(places, [7, 14, 21, 28, 35, 42, 49, 56, 64, 71, 78, 85, 92, 99]);
        let late = verdicts(0.5).into_iter().filter(|verdict| *verdict == Verdict::Discard(DropReason::Late)).count();
        assert_eq!(late, 24);
    }
}
