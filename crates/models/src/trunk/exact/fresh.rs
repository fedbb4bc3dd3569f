//! The fresh variant: a packet that waited is transmitted in a new exponential time.
//!
//! Only the number of stored packets matters, because neither the end of a packet's reception nor its length affects its
//! departure. A state is the number of packets in the trunk, the number of these that are cut through, and the number of other
//! receiving input links: links that insert, discard, or still receive a packet that waited and is now being sent.

use super::levels::{DetailedModel, LevelProbabilities};
use crate::trunk::Trunk;

pub(super) struct Fresh {
    inputs: usize,
    transmitters: usize,
    last: usize,
    arrivals_per_idle: f64,
}

impl Fresh {
    /// `arrivals_per_idle` is lambda, arrivals per idle link and mean packet time.
    pub(super) fn new(trunk: &Trunk, arrivals_per_idle: f64) -> Fresh {
        let [inputs, transmitters, buffer] = [trunk.inputs, trunk.transmitters, trunk.buffer].map(|number| number as usize);
        Fresh { inputs, transmitters, last: transmitters + buffer, arrivals_per_idle }
    }

    /// Number of states, for more inputs than transmitters.
    pub(super) fn states(trunk: &Trunk) -> u64 {
        let [inputs, transmitters, buffer] = [trunk.inputs, trunk.transmitters, trunk.buffer].map(u128::from);
        let size = |straight: u128| (straight + 1) * (inputs + 1) - straight * (straight + 1) / 2;
        let states = (0..transmitters).map(size).sum::<u128>() + (buffer + 1) * size(transmitters);
        u64::try_from(states).unwrap_or(u64::MAX)
    }
}

/// Index in its level of the first state with `straight` packets that are cut through, where up to `links` links may receive.
pub(super) fn column(links: usize, straight: usize) -> usize {
    straight * (links + 1) - straight * straight.saturating_sub(1) / 2
}

impl DetailedModel for Fresh {
    fn transmitters(&self) -> usize {
        self.transmitters
    }

    fn sizes(&self) -> Vec<usize> {
        (0..=self.last).map(|level| column(self.inputs, level.min(self.transmitters) + 1)).collect()
    }

    fn arrivals(&self, level: usize, here: &[f64]) -> f64 {
        let mut idle = 0.0;
        for straight in 0..=level.min(self.transmitters) {
            let links = self.inputs - straight;
            let column = &here[column(self.inputs, straight)..][..=links];
            idle += column.iter().rev().enumerate().map(|(idle, share)| idle as f64 * share).sum::<f64>();
        }
        self.arrivals_per_idle * idle
    }

    fn balance(&self, level: usize, shares: &mut LevelProbabilities, below_over_here: f64, above_over_here: f64) {
        let (below, here, above) = shares.around(level);
        let leaving = level.min(self.transmitters);
        let waiting = level > self.transmitters;
        for straight in 0..=leaving {
            let links = self.inputs - straight;
            let at = column(self.inputs, straight);
            for receiving in (0..=links).rev() {
                let mut into = 0.0;
                if waiting && receiving > 0 {
                    let arrivals = self.arrivals_per_idle * (links - receiving + 1) as f64;
                    into += below_over_here * arrivals * below[at + receiving - 1];
                }
                if !waiting && straight > 0 {
                    let arrivals = self.arrivals_per_idle * (links + 1 - receiving) as f64;
                    into += below_over_here * arrivals * below[column(self.inputs, straight - 1) + receiving];
                }
                if level < self.last {
                    let leaving_above = (level + 1).min(self.transmitters);
                    into += above_over_here * (leaving_above - straight) as f64 * above[at + receiving];
                    if straight < leaving_above && receiving < links {
                        let column = column(self.inputs, straight + 1);
                        into += above_over_here * (straight + 1) as f64 * above[column + receiving];
                    }
                }
                if receiving < links {
                    into += (receiving + 1) as f64 * here[at + receiving + 1];
                }
                if level == self.last && receiving > 0 {
                    into += self.arrivals_per_idle * (links - receiving + 1) as f64 * here[at + receiving - 1];
                }
                let idle = (links - receiving) as f64;
                here[at + receiving] = into / (self.arrivals_per_idle * idle + (leaving + receiving) as f64);
            }
        }
    }
}
