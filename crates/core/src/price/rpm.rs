//! RPM, deterministic packet marking by Ryu and others for max-min fairness. Each probe corresponds to a level, a queue marks it if its
//! quantised price equals that level, and the receiver takes the largest marked level (cui-thesis section 2.3.6).

use super::support::{Combination, QueuePrice, Scheme};
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::{Kind, Settings, member};
use serde::{Deserialize, Serialize};

/// The RPM scheme.
#[derive(Clone, Copy, Debug)]
pub struct Rpm;

member! {
    /// Deterministic packet marking by Ryu and others: each packet tests for one level of the quantised price. Reports the largest price of
    /// the path.
    Rpm = "rpm", "cui-thesis section 2.3.6";

    pub struct RpmSpec {
        /// Number of levels of the quantised price (n).
        levels: u32 = 100 => Kind::Integer { min: 2, max: 65_536 },
        /// Number of packets after which a receiver adopts the largest level marked among them, if any; a larger level is adopted
        /// immediately. With sequential packet identification, `levels` packets test every level once. Otherwise several times as many are
        /// needed, or the receiver may adopt the lower price of another queue.
        memory: u32 = 100 => Kind::Integer { min: 1, max: 4_000_000_000 },
    }
}

impl Settings for RpmSpec {
    fn samples() -> Vec<RpmSpec> {
        vec![RpmSpec { levels: 100, memory: 2000 }, RpmSpec { levels: 16, memory: 400 }]
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RpmEstimate {
    estimate: u32,
    /// Largest marked level in the current measurement interval; `None` if no packet was marked.
    largest: Option<u32>,
    seen: u32,
}

impl RpmSpec {
    fn level(&self, identification: u16) -> u32 {
        u32::from(identification) % self.levels
    }
}

impl Scheme for RpmSpec {
    type Estimator = RpmEstimate;
    const COMBINES: Option<Combination> = Some(Combination::Largest);
    const USES_IDENTIFICATION: bool = true;

    fn resolution(&self) -> f64 {
        f64::from(self.levels)
    }

    fn cycle(&self) -> u32 {
        self.levels
    }

    fn mark(&self, probe: &mut Probe, price: QueuePrice, _: &mut Draws) {
        let quantised = (price.0 * f64::from(self.levels - 1)).round() as u32;
        if quantised == self.level(probe.identification) {
            probe.mark = 1;
        }
    }

    fn learn(&self, estimator: &mut RpmEstimate, probe: &Probe) {
        if probe.is_marked() {
            let level = self.level(probe.identification);
            estimator.largest = estimator.largest.max(Some(level));
            estimator.estimate = estimator.estimate.max(level);
        }
        estimator.seen += 1;
        if estimator.seen >= self.memory {
            // A price of 0 is marked too, so without a mark no tested level matched and the estimate stays.
            let estimate = estimator.largest.unwrap_or(estimator.estimate);
            *estimator = RpmEstimate { estimate, ..RpmEstimate::default() };
        }
    }

    fn estimate(&self, estimator: &RpmEstimate) -> f64 {
        f64::from(estimator.estimate) / f64::from(self.levels - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_level_applies_immediately_and_a_smaller_one_at_the_end_of_the_memory() {
        let scheme = RpmSpec { levels: 11, memory: 11 };
        let mut estimator = RpmEstimate::default();
        let mut round = |price: f64| {
            (0..11)
                .map(|identification| {
                    let mut probe = Probe { identification, hops: 1, mark: 0 };
                    scheme.mark(&mut probe, QueuePrice(price), &mut Draws::default());
                    scheme.learn(&mut estimator, &probe);
                    scheme.estimate(&estimator)
                })
                .collect::<Vec<f64>>()
        };
        let risen = round(0.7);
        assert_eq!((risen[6], risen[7], risen[10]), (0.0, 0.7, 0.7));
        let fallen = round(0.3);
        assert_eq!((fallen[9], fallen[10]), (0.7, 0.3));
    }

    #[test]
    fn without_a_mark_the_last_level_is_kept() {
        let scheme = RpmSpec { levels: 11, memory: 2 };
        let mut estimator = RpmEstimate::default();
        let mut ask = |level: u16| {
            let mut probe = Probe { identification: level, hops: 1, mark: 0 };
            scheme.mark(&mut probe, QueuePrice(0.7), &mut Draws::default());
            scheme.learn(&mut estimator, &probe);
            scheme.estimate(&estimator)
        };
        assert_eq!([7, 1, 2, 3, 4].map(&mut ask), [0.7; 5]);
    }
}
