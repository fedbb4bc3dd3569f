//! Runs a scheme without a network: a sequence of probes passes queues with given prices, and the receiver's estimates are recorded.

use super::SchemeSpec;
use super::support::{Combination, Identification, MappedPrice, Numbering, QueuePrice, Scheme};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::Probe;

/// The queues on the path of the probes.
#[derive(Clone, Debug)]
pub struct Path {
    /// Prices between 0 and 1; at least one.
    pub prices: Vec<f64>,
    /// Change of the first queue's price.
    pub change: Change,
}

/// How a price changes.
#[derive(Clone, Copy, Debug)]
pub enum Change {
    Constant,
    /// Changes by this amount per probe, and reverses at 0 and 1.
    Ramp(f64),
    /// Changes to `to` at this probe, counted from 0.
    Step {
        at: u64,
        to: f64,
    },
}

/// The receiver's estimate and the true price.
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    pub estimate: f64,
    /// True price at the last probe.
    pub price: f64,
}

impl Path {
    /// Price of the first queue at a probe.
    #[inline]
    fn first(&self, number: u64) -> f64 {
        match self.change {
            Change::Constant => self.prices[0],
            Change::Ramp(rise) => {
                let way = (self.prices[0] + rise * number as f64).rem_euclid(2.0);
                way.min(2.0 - way)
            }
            Change::Step { at, to } => {
                if number < at {
                    self.prices[0]
                } else {
                    to
                }
            }
        }
    }

    /// The price that the scheme should report at a probe.
    fn price(&self, combination: Combination, number: u64) -> f64 {
        let (first, others) = (self.first(number), self.prices[1..].iter().copied());
        match combination {
            Combination::Largest => others.fold(first, f64::max),
            Combination::Sum => first + others.sum::<f64>(),
        }
    }
}

/// A sequence of probes. The queues' draws differ between paths, the sequence does not.
#[derive(Clone, Copy, Debug)]
pub struct Sequence {
    pub identification: Identification,
    pub seed: u64,
}

impl Sequence {
    /// The receiver's estimates after each of these numbers of probes, which are ascending and at least 1. `number`: index of the path.
    pub fn estimates(&self, scheme: &SchemeSpec, path: &Path, number: u64, after: &[u64]) -> Vec<Estimate> {
        match scheme {
            SchemeSpec::Exact(()) => after
                .iter()
                .map(|&sent| {
                    let price = path.price(Combination::Largest, sent - 1);
                    Estimate { estimate: price, price }
                })
                .collect(),
            SchemeSpec::Adpm(scheme) => self.walk(scheme, path, number, after),
            SchemeSpec::RemMarks(scheme) => self.walk(scheme, path, number, after),
            SchemeSpec::Ram(scheme) => self.walk(scheme, path, number, after),
            SchemeSpec::Tpm(scheme) => self.walk(scheme, path, number, after),
            SchemeSpec::Rpm(scheme) => self.walk(scheme, path, number, after),
        }
    }

    fn walk<S: Scheme>(&self, scheme: &S, path: &Path, number: u64, after: &[u64]) -> Vec<Estimate> {
        let stream = |name, index| Stream::new(Entity { seed: self.seed, name, index }, Purpose::Price);
        let mut numbering = Numbering::new(stream("probes", 0));
        let mut draws = Draws::new(stream("queues", number));
        let mut estimator = scheme.begin();
        let others: Vec<QueuePrice> = path.prices[1..].iter().map(|&price| scheme.queue_price(MappedPrice(price))).collect();
        let mut first = (f64::NAN, QueuePrice::default());
        let mut sent = 0;
        let mut read_off = |&until: &u64| {
            while sent < until {
                let mut probe =
                    Probe { identification: numbering.next(self.identification, SegmentNumber(sent as u32)), ..Probe::default() };
                let price = path.first(sent);
                if price.to_bits() != first.0.to_bits() {
                    first = (price, scheme.queue_price(MappedPrice(price)));
                }
                for &queue_price in std::iter::once(&first.1).chain(&others) {
                    probe.hops += 1;
                    scheme.mark(&mut probe, queue_price, &mut draws);
                }
                scheme.learn(&mut estimator, &probe);
                sent += 1;
            }
            Estimate {
                estimate: scheme.estimate(&estimator),
                price: path.price(S::COMBINES.unwrap_or(Combination::Largest), until - 1),
            }
        };
        after.iter().map(&mut read_off).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ramp_reverses_at_its_ends_and_a_step_occurs_once() {
        let path = |change| Path { prices: vec![0.5, 0.25], change };
        let ramp = path(Change::Ramp(0.25));
        assert_eq!([0, 1, 2, 3, 6, 7].map(|number| ramp.first(number)), [0.5, 0.75, 1.0, 0.75, 0.0, 0.25]);
        let step = path(Change::Step { at: 2, to: 0.125 });
        assert_eq!([0, 1, 2, 3].map(|number| step.price(Combination::Largest, number)), [0.5, 0.5, 0.25, 0.25]);
        assert_eq!(step.price(Combination::Sum, 2), 0.375);
    }
}
