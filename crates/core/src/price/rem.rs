//! Random exponential marking as a price scheme. Each queue marks unmarked packets with probability 1 - phi^-price, so a path marks 1 -
//! phi^-(sum of prices) of the packets (Athuraliya, Li, Low and Yin, IEEE Network 15(3), 2001; cui-thesis (2.6) and (2.7)).

use super::support::average::{MarkedShare, Memory};
use super::support::{Combination, MappedPrice, QueuePrice, Scheme};
use crate::primitives::math;
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

/// The REM scheme.
#[derive(Clone, Copy, Debug)]
pub struct RemMarks;

member! {
    /// Random exponential marking: the fraction of marked packets encodes the sum of the prices logarithmically.
    RemMarks = "rem", "cui-thesis section 2.3.3, equations (2.6) and (2.7)";

    pub struct RemMarksSpec {
        /// Base of the marking probability: a price of p (0 to 1) leaves `phi` to the power of -p of the packets unmarked (phi). Must be
        /// above 1.
        phi: f64 = 10.0 => Kind::Number { min: 1.0, max: 1e12 },
        /// Number of packets over which a receiver averages marks; fewer until it has received that many.
        memory: u32 = 1000 => Kind::Integer { min: 1, max: 4_000_000_000 },
    }
}

impl Settings for RemMarksSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.phi == 1.0 => ["phi"], "`phi` of 1 marks no packets", "above 1";
        }
    }

    fn samples() -> Vec<RemMarksSpec> {
        vec![RemMarksSpec { phi: 2.0, memory: 40_000 }, RemMarksSpec { phi: 10.0, memory: 60_000 }]
    }
}

impl Scheme for RemMarksSpec {
    type Estimator = MarkedShare;
    const COMBINES: Option<Combination> = Some(Combination::Sum);
    const USES_IDENTIFICATION: bool = false;

    fn resolution(&self) -> f64 {
        f64::from(self.memory)
    }

    /// The marking probability.
    fn queue_price(&self, price: MappedPrice) -> QueuePrice {
        QueuePrice(1.0 - math::pow(self.phi, -price.0))
    }

    fn mark(&self, probe: &mut Probe, probability: QueuePrice, draws: &mut Draws) {
        // Packets that are already marked need no draw.
        if probe.mark == 0 && draws.uniform() < probability.0 {
            probe.mark = 1;
        }
    }

    fn learn(&self, estimator: &mut MarkedShare, probe: &Probe) {
        estimator.learn(probe, Memory(self.memory));
    }

    /// At most 1 per queue, also if every received packet was marked, where the logarithm is infinite.
    fn estimate(&self, estimator: &MarkedShare) -> f64 {
        let sum = -math::ln(1.0 - estimator.share) / math::ln(self.phi);
        sum.min(f64::from(estimator.hops))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_marked_fraction_yields_the_price_and_all_marked_the_maximum() {
        let scheme = RemMarksSpec { phi: 4.0, memory: 1000 };
        let of = |marks: [bool; 4]| {
            let mut estimator = MarkedShare::default();
            for is_marked in marks {
                scheme.learn(&mut estimator, &Probe { identification: 0, hops: 2, mark: u8::from(is_marked) });
            }
            scheme.estimate(&estimator)
        };
        // Half of the packets: 1 - 4^-p = 1/2.
        assert!((of([true, false, false, true]) - 0.5).abs() < 1e-12);
        assert_eq!((of([true; 4]), of([false; 4])), (2.0, 0.0));
    }
}
