//! A scheme without a network: probes pass queues whose prices are given, one after another, and what the receiver then thinks is read off.

use super::{Combination, Identification, Mapped, Numbering, Probe, Scheme, SchemeSpec};
use crate::primitives::random::{Draws, Entity, Purpose, Stream};

/// The queues on the way of some probes.
#[derive(Clone, Debug)]
pub struct Path {
    /// At the first probe, 0 to 1.
    pub prices: Vec<f64>,
    /// By how much the first queue's price changes with each probe, until it reaches 0 or 1 and turns round.
    pub rise: f64,
}

impl Path {
    /// The price of the first queue at the probe of this number: up and down between 0 and 1.
    fn first(&self, number: u64) -> f64 {
        let way = (self.prices[0] + self.rise * number as f64).rem_euclid(2.0);
        way.min(2.0 - way)
    }

    /// What a scheme has to tell at the probe of this number.
    pub fn price(&self, combination: Combination, number: u64) -> f64 {
        let first = self.first(number);
        match combination {
            Combination::Largest => self.prices[1..].iter().copied().fold(first, f64::max),
            Combination::Sum => first + self.prices[1..].iter().sum::<f64>(),
        }
    }
}

/// What receivers think of each path after so many probes, ascending: a row a path. The sequence of probes is the same on all paths.
pub fn estimates(scheme: &SchemeSpec, how: Identification, seed: u64, paths: &[Path], after: &[u64]) -> Vec<Vec<f64>> {
    let stream = |name, index| Stream::new(Entity { seed, name, index }, Purpose::Price);
    let mut rows = Vec::with_capacity(paths.len());
    for (index, path) in (0..).zip(paths) {
        let mut numbering = Numbering::new(stream("probes", 0));
        let mut draws = Draws::new(stream("queues", index));
        let mut row = Vec::with_capacity(after.len());
        macro_rules! walk {
            ($scheme:expr) => {{
                let mut estimator = Default::default();
                let mut sent = 0;
                for &until in after {
                    while sent < until {
                        let mut probe = Probe { identification: numbering.next(how, sent as u32), ..Probe::default() };
                        let first = if path.rise == 0.0 { path.prices[0] } else { path.first(sent) };
                        for price in std::iter::once(first).chain(path.prices[1..].iter().copied()) {
                            probe.hops += 1;
                            $scheme.mark(&mut probe, Mapped(price), &mut draws);
                        }
                        $scheme.learn(&mut estimator, &probe);
                        sent += 1;
                    }
                    row.push($scheme.estimate(&estimator));
                }
            }};
        }
        match scheme {
            SchemeSpec::Exact(()) => {}
            SchemeSpec::Adpm(scheme) => walk!(scheme),
            SchemeSpec::RemMarks(scheme) => walk!(scheme),
            SchemeSpec::Ram(scheme) => walk!(scheme),
            SchemeSpec::Tpm(scheme) => walk!(scheme),
            SchemeSpec::Rpm(scheme) => walk!(scheme),
        }
        rows.push(row);
    }
    rows
}
