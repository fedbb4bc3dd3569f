//! PIE, proportional integral controller enhanced: a marking probability follows the queueing delay and its trend, updated at a fixed
//! period (Pan, Natarajan, Baker and White, RFC 8033, sections 4 and 5.1). Names are from the RFC's pseudocode.
//!
//! Differs: the delay is the queue length over the port's rate, which the port provides; no rate is estimated (section 4.3 permits either).
//! ECN is the only optional part implemented (section 5.1). The first update follows after one period.

use super::support::{DropReason, Occupancy, Onset, PeriodEnd, Policy, Unit, Verdict};
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PACKET_BYTES, Settings, member};
use serde::{Deserialize, Serialize};

// RFC 8033 sections 4 and 5.1.
member! {
    /// Proportional integral controller enhanced: the marking probability follows the queueing delay. Discards packets that are not
    /// ECN-capable.
    Pie = "pie", "RFC 8033";

    pub struct PieSpec {
        /// Target queueing delay (QDELAY_REF).
        target: TimeDelta = TimeDelta::from_millis(15) => ABOVE_ZERO,
        /// Time between updates of the probability (T_UPDATE), at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(15) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Duration of a burst that passes unmarked after a period without congestion (MAX_BURST).
        max_burst: TimeDelta = TimeDelta::from_millis(150) => Kind::Duration { min: TimeDelta::ZERO },
        /// Probability above which packets are discarded instead of marked (mark_ecnth).
        max_mark_probability: f64 = 0.1 => Kind::Probability,
        /// Typical packet size; a queue of at most two such packets counts as empty (MEAN_PKTSIZE).
        mean_packet_size: u32 = 1000 => PACKET_BYTES,
    }
}

impl Settings for PieSpec {
    fn samples() -> Vec<PieSpec> {
        let ms = TimeDelta::from_millis;
        let usual = PieSpec { target: ms(5), period: ms(5), max_burst: ms(20), max_mark_probability: 0.1, mean_packet_size: 500 };
        vec![
            usual,
            PieSpec { target: ms(1), period: ms(15), max_burst: TimeDelta::ZERO, max_mark_probability: 0.0, ..usual },
            PieSpec { target: ms(10), period: ms(1), max_mark_probability: 1.0, ..usual },
        ]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Pie {
    spec: PieSpec,
    drop_prob: f64,
    /// Delay in seconds at the last update.
    qdelay_old: f64,
    burst_allowance: TimeDelta,
    draws: Draws,
}

/// Weight of the delay's deviation from the target, per second (section 4.2).
const ALPHA: f64 = 0.125;
/// Weight of the delay's change.
const BETA: f64 = 1.25;
/// Upper bound of the probability, and the divisor of its steps below that bound (section 4.2).
const STEPS: [(f64, f64); 6] = [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

impl Pie {
    pub(super) fn new(spec: &PieSpec) -> Pie {
        Pie { spec: *spec, drop_prob: 0.0, qdelay_old: 0.0, burst_allowance: spec.max_burst, draws: Draws::default() }
    }

    /// Whether a packet is exempt: during a burst (section 4.4), and while the queue is almost empty (section 4.1).
    fn is_exempt(&self, buffer: &Occupancy) -> bool {
        self.burst_allowance > TimeDelta::ZERO
            || (self.qdelay_old < self.spec.target.seconds() / 2.0 && self.drop_prob < 0.2)
            || buffer.bytes <= Bytes(2 * u64::from(self.spec.mean_packet_size))
    }
}

impl Policy for Pie {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;

    fn onset(&self) -> Onset {
        Onset { target: Some(self.spec.target), ..Onset::default() }
    }

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        match () {
            () if self.is_exempt(buffer) || self.draws.uniform() >= self.drop_prob => Verdict::Accept,
            () if self.drop_prob <= self.spec.max_mark_probability => Verdict::Mark,
            () => Verdict::Discard(DropReason::Early),
        }
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    fn on_period(&mut self, end: &PeriodEnd) {
        let (current_qdelay, target) = (end.delay(), self.spec.target.seconds());
        let p = ALPHA * (current_qdelay - target) + BETA * (current_qdelay - self.qdelay_old);
        let divisor = STEPS.iter().find(|(below, _)| self.drop_prob < *below).map_or(1.0, |(_, divisor)| *divisor);
        self.drop_prob += p / divisor;
        if current_qdelay == 0.0 && self.qdelay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        let is_calm = self.drop_prob == 0.0 && current_qdelay < target / 2.0 && self.qdelay_old < target / 2.0;
        self.burst_allowance = if is_calm { self.spec.max_burst } else { self.burst_allowance - self.spec.period };
        self.qdelay_old = current_qdelay;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};
    use crate::primitives::units::{Rate, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    /// State with this many queued packets of 1 ms each.
    fn held(packets: u64) -> PeriodEnd {
        PeriodEnd { units: Units(packets), bytes: Bytes(1000 * packets), rate: Rate(8_000_000), first_waited: None }
    }

    fn pie(drop_prob: f64, qdelay_old: f64) -> Pie {
        let ms = TimeDelta::from_millis;
        let spec =
            PieSpec { target: ms(15), period: ms(15), max_burst: ms(30), max_mark_probability: 0.1, mean_packet_size: 1000 };
        Pie { drop_prob, qdelay_old, ..Pie::new(&spec) }
    }

    /// The probability after an update with this many queued packets of 1 ms each.
    fn updated(drop_prob: f64, qdelay_old: f64, packets: u64) -> f64 {
        let mut pie = pie(drop_prob, qdelay_old);
        pie.on_period(&held(packets));
        pie.drop_prob
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value - wanted).abs() < 1e-12
    }

    #[test]
    fn the_probability_follows_the_delay_and_its_change() {
        // 40 ms after 20: 0.125 (40 - 15) ms + 1.25 (40 - 20) ms = 0.003125 + 0.025. The step is unscaled from 10 % on, half below, and
        // 1/2048 at 0.
        assert!(near(updated(0.2, 0.020, 40), 0.2 + 0.028_125));
        assert!(near(updated(0.05, 0.020, 40), 0.05 + 0.028_125 / 2.0));
        assert!(near(updated(0.0, 0.020, 40), 0.028_125 / 2048.0));
        // 10 ms after 20: -0.000625 - 0.0125.
        assert!(near(updated(0.2, 0.020, 10), 0.2 - 0.013_125));
    }

    #[test]
    fn the_probability_is_clamped_and_decays_when_the_queue_is_empty() {
        assert_eq!(updated(0.999, 0.0, 1000), 1.0);
        assert_eq!(updated(1e-7, 0.020, 0), 0.0);
        // -0.001875 from the target, then 2 % less.
        assert!(near(updated(0.2, 0.0, 0), (0.2 - 0.001_875) * 0.98));
    }

    #[test]
    fn a_burst_passes_until_its_allowance_is_used_and_an_idle_period_restores_it() {
        let mut pie = pie(1.0, 0.1);
        let arrive = |pie: &mut Pie, packets: u64| {
            pie.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(packets), Bytes(1000 * packets)), Time::ZERO)
        };
        assert_eq!(arrive(&mut pie, 100), Verdict::Accept);
        pie.on_period(&held(100));
        assert_eq!((pie.burst_allowance, arrive(&mut pie, 100)), (TimeDelta::from_millis(15), Verdict::Accept));
        pie.on_period(&held(100));
        assert_eq!((pie.burst_allowance, arrive(&mut pie, 100)), (TimeDelta::ZERO, Verdict::Discard(DropReason::Early)));
        // Two packets count as an empty queue.
        assert_eq!(arrive(&mut pie, 2), Verdict::Accept);
        pie.drop_prob = 0.0;
        (0..2).for_each(|_| pie.on_period(&held(0)));
        assert_eq!(pie.burst_allowance, TimeDelta::from_millis(30));
    }

    #[test]
    fn capable_packets_are_marked_up_to_a_probability_of_a_tenth() {
        let stream = Stream::new(Entity { seed: 1, name: "pie", index: 0 }, Purpose::Policy);
        let verdicts = |drop_prob: f64| {
            let mut pie = Pie { burst_allowance: TimeDelta::ZERO, ..pie(drop_prob, 0.1) };
            pie.draw_from(stream);
            let arrive = |_| pie.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(100), Bytes(100_000)), Time::ZERO);
            (0..10_000).map(arrive).collect::<Vec<Verdict>>()
        };
        let count = |all: &[Verdict], one| all.iter().filter(|&&verdict| verdict == one).count();
        // 1000 of 10,000, plus or minus 5 x sqrt(900) = 150; 1100, plus or minus 156.
        assert!(count(&verdicts(0.1), Verdict::Mark).abs_diff(1000) < 150);
        let above = verdicts(0.11);
        assert!(count(&above, Verdict::Mark) == 0 && count(&above, Verdict::Discard(DropReason::Early)).abs_diff(1100) < 156);
    }
}
