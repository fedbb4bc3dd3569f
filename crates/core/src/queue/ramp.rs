//! Ramp: marks at random, with a probability that grows with the instantaneous queue length. This is the switch of DCQCN, and RED without
//! an average (Zhu and others, "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015, section 3.1, CP algorithm, figure 5).
//!
//! The queue length excludes the arriving packet. Packets that are not ECN-capable are discarded instead (RFC 3168, section 5).

use super::support::{Occupancy, Onset, OnsetThreshold, Policy, Unit, Verdict};
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time, Units};
use crate::settings::{Kind, QueueLength, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// Marks at random, with a probability that grows with the instantaneous queue length: the switch of DCQCN. Discards packets that are
    /// not ECN-capable.
    Ramp = "ramp", "Zhu and others, SIGCOMM 2015, section 3.1";

    pub struct RampSpec {
        /// Queue length up to which nothing is marked (K_min).
        min_threshold: QueueLength => Kind::QueueLength; "25 %",
        /// Queue length at which the probability is `max_probability` (K_max). Above it every packet is marked.
        max_threshold: QueueLength => Kind::QueueLength; "75 %",
        /// Marking probability at `max_threshold` (P_max).
        max_probability: f64 = 0.01 => Kind::Probability,
    }
}

impl Settings for RampSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if !self.min_threshold.is_below(self.max_threshold) => ["min_threshold", "max_threshold"],
                "`min_threshold` is not below `max_threshold`", "`min_threshold` below `max_threshold`";
        }
    }

    fn samples() -> Vec<RampSpec> {
        [(0, 10, 1.0), (3, 20, 0.1), (5, 6, 0.0)]
            .map(|(lower, upper, max_probability): (u64, u64, f64)| RampSpec {
                min_threshold: lower.into(),
                max_threshold: upper.into(),
                max_probability,
            })
            .into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Ramp {
    spec: RampSpec,
    draws: Draws,
}

impl Ramp {
    pub(super) fn new(spec: &RampSpec) -> Ramp {
        Ramp { spec: *spec, draws: Draws::default() }
    }

    fn probability(&self, units: Units, bytes: Bytes) -> f64 {
        let RampSpec { min_threshold, max_threshold, max_probability } = self.spec;
        let (lower, upper) = (min_threshold.number(), max_threshold.number());
        match min_threshold.measure(units, bytes) {
            queue if queue <= lower => 0.0,
            queue if queue > upper => 1.0,
            queue => max_probability * (queue - lower) as f64 / (upper - lower) as f64,
        }
    }
}

impl Policy for Ramp {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const ONLY_MARKS: bool = true;

    fn onset(&self) -> Onset {
        let threshold = OnsetThreshold { setting: "min_threshold", length: self.spec.min_threshold };
        Onset { threshold: Some(threshold), ..Onset::default() }
    }

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        let probability = self.probability(buffer.units, buffer.bytes);
        let is_marked = probability > 0.0 && self.draws.uniform() < probability;
        if is_marked { Verdict::Mark } else { Verdict::Accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};

    fn ramp() -> Ramp {
        Ramp::new(&RampSpec { min_threshold: 5.into(), max_threshold: 25.into(), max_probability: 0.5 })
    }

    #[test]
    fn the_probability_rises_between_the_thresholds_and_jumps_above() {
        let expected = [0.0, 0.0, 0.125, 0.25, 0.5, 1.0];
        let queues = [0, 5, 10, 15, 25, 26];
        assert_eq!(queues.map(|queue| ramp().probability(Units(queue), Bytes(0))), expected);
        let (lower, upper) = (QueueLength::Bytes(5000), QueueLength::Bytes(25_000));
        let in_bytes = Ramp::new(&RampSpec { min_threshold: lower, max_threshold: upper, max_probability: 0.5 });
        assert_eq!(queues.map(|queue| in_bytes.probability(Units(0), Bytes(1000 * queue))), expected);
    }

    #[test]
    fn the_marked_fraction_follows_the_instantaneous_queue() {
        let marks = |queue| {
            let mut ramp = ramp();
            ramp.draw_from(Stream::new(Entity { seed: 1, name: "ramp", index: 0 }, Purpose::Policy));
            let buffer = Occupancy::of(Units(queue), Bytes(1000 * queue));
            let unit = Unit { bytes: Bytes(1000), is_last: true };
            (0..10_000).filter(|_| ramp.on_arrival(&unit, &mut (), &buffer, Time::ZERO) == Verdict::Mark).count()
        };
        // A quarter of 10,000, plus or minus 5 x sqrt(1875) = 217.
        assert!(marks(15).abs_diff(2500) < 217, "{}", marks(15));
        assert_eq!((marks(5), marks(26)), (0, 10_000));
    }
}
