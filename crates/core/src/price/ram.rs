//! RAM, random additive marking. The i-th queue of a path keeps the mark with probability (i - 1) / i; otherwise it sets the mark with a
//! probability equal to its price, or else clears it. The fraction of marked packets is then the mean of the prices (Adler, Cai, Shapiro
//! and Towsley, "Estimation of congestion price using probabilistic packet marking", INFOCOM 2003; cui-thesis section 2.3.4).

use super::support::average::{MarkedShare, Memory};
use super::support::{Combination, QueuePrice, Scheme};
use crate::primitives::random::Draws;
use crate::primitives::signal::Probe;
use crate::settings::{Kind, Settings, member};

/// The RAM scheme.
#[derive(Clone, Copy, Debug)]
pub struct Ram;

member! {
    /// Random additive marking: the fraction of marked packets is the mean of the path's prices, and the TTL gives the number of hops.
    Ram = "ram", "cui-thesis section 2.3.4";

    pub struct RamSpec {
        /// Number of packets over which a receiver averages marks; fewer until it has received that many.
        memory: u32 = 1000 => Kind::Integer { min: 1, max: 4_000_000_000 },
    }
}

impl Settings for RamSpec {
    fn samples() -> Vec<RamSpec> {
        vec![RamSpec { memory: 40_000 }, RamSpec { memory: 60_000 }]
    }
}

impl Scheme for RamSpec {
    type Estimator = MarkedShare;
    const COMBINES: Option<Combination> = Some(Combination::Sum);
    const USES_IDENTIFICATION: bool = false;

    fn resolution(&self) -> f64 {
        f64::from(self.memory)
    }

    fn mark(&self, probe: &mut Probe, price: QueuePrice, draws: &mut Draws) {
        let place = draws.uniform() * f64::from(probe.hops);
        // The mark is set below the price, which has probability price / i, and cleared between the price and 1. Above 1 it is kept.
        if place < 1.0 {
            probe.mark = u8::from(place < price.0);
        }
    }

    fn learn(&self, estimator: &mut MarkedShare, probe: &Probe) {
        estimator.learn(probe, Memory(self.memory));
    }

    fn estimate(&self, estimator: &MarkedShare) -> f64 {
        estimator.share * f64::from(estimator.hops)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose, Stream};

    #[test]
    fn each_queue_of_a_path_decides_for_an_equal_share_of_the_packets() {
        // Prices 1, 0 and 1: two thirds of the packets are marked. A queue with price 0 clears marks set by the queue before it.
        let mut draws = Draws::new(Stream::new(Entity { seed: 1, name: "ram", index: 0 }, Purpose::Price));
        let scheme = RamSpec { memory: 1 };
        let mut marked = 0;
        for _ in 0..90_000 {
            let mut probe = Probe::default();
            for (hops, price) in [(1, 1.0), (2, 0.0), (3, 1.0)] {
                probe.hops = hops;
                scheme.mark(&mut probe, QueuePrice(price), &mut draws);
            }
            marked += u32::from(probe.mark);
        }
        // 60,000 plus or minus 5 x sqrt(90,000 x 2/9).
        assert!((59_293..=60_707).contains(&marked), "{marked}");
    }
}
