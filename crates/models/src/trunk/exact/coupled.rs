//! The coupled variant: a packet that waited is transmitted in a new exponential time, which also ends its reception.
//!
//! The state therefore includes which of the stored packets are still being received, because these will occupy their links. A
//! state is the number of packets in the trunk, for each waiting place whether its packet is still being received, the number of
//! busy input links, and the number of discarding ones.

use super::fresh::column;
use super::levels::{DetailedModel, LevelProbabilities};
use crate::trunk::Trunk;

pub(super) struct Coupled {
    inputs: usize,
    transmitters: usize,
    last: usize,
    arrivals_per_idle: f64,
    /// For each number of waiting packets: the first state of each row. Bit j of a row is set if the j-th packet from the head is
    /// still being received. There is one more entry than rows.
    rows: Vec<Vec<usize>>,
}

impl Coupled {
    /// `arrivals_per_idle` is lambda, arrivals per idle link and mean packet time.
    pub(super) fn new(trunk: &Trunk, arrivals_per_idle: f64) -> Coupled {
        let [inputs, transmitters, buffer] = [trunk.inputs, trunk.transmitters, trunk.buffer].map(|number| number as usize);
        let mut coupled = Coupled { inputs, transmitters, last: transmitters + buffer, arrivals_per_idle, rows: Vec::new() };
        for waiting in 0..=buffer {
            let mut begin = vec![0];
            for row in 0..1 << waiting {
                begin.push(begin[row] + coupled.free_links(row).map_or(0, |links| column(links, links.min(transmitters) + 1)));
            }
            coupled.rows.push(begin);
        }
        coupled
    }

    /// Number of states, for more inputs than transmitters.
    pub(super) fn states(trunk: &Trunk) -> u64 {
        let [inputs, transmitters, buffer] = [trunk.inputs, trunk.transmitters, trunk.buffer].map(u128::from);
        let size = |links: u128, straight: u128| (straight + 1) * (links + 1) - straight * (straight + 1) / 2;
        let mut states: u128 = (0..transmitters).map(|straight| size(inputs, straight)).sum();
        for waiting in 0..=buffer {
            // Number of rows with `receiving` packets still being received, by the recurrence of binomial coefficients.
            let mut rows = 1;
            for receiving in 0..=waiting.min(inputs) {
                let links = inputs - receiving;
                states += rows * size(links, links.min(transmitters));
                rows = rows * (waiting - receiving) / (receiving + 1);
            }
        }
        u64::try_from(states).unwrap_or(u64::MAX)
    }

    /// Links that are not inserting; `None` if there are fewer links than the row requires.
    fn free_links(&self, row: usize) -> Option<usize> {
        self.inputs.checked_sub(row.count_ones() as usize)
    }
}

impl DetailedModel for Coupled {
    fn transmitters(&self) -> usize {
        self.transmitters
    }

    fn sizes(&self) -> Vec<usize> {
        let without_waiting = (0..self.transmitters).map(|level| column(self.inputs, level + 1));
        without_waiting.chain(self.rows.iter().map(|begin| begin[begin.len() - 1])).collect()
    }

    fn arrivals(&self, level: usize, here: &[f64]) -> f64 {
        let waiting = level.saturating_sub(self.transmitters);
        let mut idle = 0.0;
        for row in 0..1 << waiting {
            let Some(free) = self.free_links(row) else { continue };
            for straight in 0..=level.min(self.transmitters).min(free) {
                let column = &here[self.rows[waiting][row] + column(free, straight)..][..=free - straight];
                idle += column.iter().rev().enumerate().map(|(idle, share)| idle as f64 * share).sum::<f64>();
            }
        }
        self.arrivals_per_idle * idle
    }

    fn balance(&self, level: usize, shares: &mut LevelProbabilities, below_over_here: f64, above_over_here: f64) {
        let (below, here, above) = shares.around(level);
        let leaving = level.min(self.transmitters);
        let waiting = level.saturating_sub(self.transmitters);
        for row in (0..1usize << waiting).rev() {
            let Some(free) = self.free_links(row) else { continue };
            let begin = self.rows[waiting][row];
            for straight in 0..=leaving.min(free) {
                let links = free - straight;
                let at = begin + column(free, straight);
                for discarding in (0..=links).rev() {
                    let idle = links - discarding;
                    let mut into = 0.0;
                    if waiting == 0 && straight > 0 {
                        let arrivals = self.arrivals_per_idle * (idle + 1) as f64;
                        into += below_over_here * arrivals * below[column(self.inputs, straight - 1) + discarding];
                    }
                    let last_place = 1 << waiting >> 1;
                    if row & last_place != 0 {
                        let without = self.rows[waiting - 1][row - last_place] + column(free + 1, straight);
                        let arrivals = self.arrivals_per_idle * (idle + 1) as f64;
                        into += below_over_here * arrivals * below[without + discarding];
                    }
                    if level < self.transmitters {
                        let mut from = (level + 1 - straight) as f64 * above[column(free, straight) + discarding];
                        if idle > 0 {
                            from += (straight + 1) as f64 * above[column(free, straight + 1) + discarding];
                        }
                        into += above_over_here * from;
                    } else if level < self.last {
                        let heads = &self.rows[waiting + 1];
                        let (whole, coming) = (heads[row << 1], heads[row << 1 | 1]);
                        let mut from = (leaving - straight) as f64 * above[whole + column(free, straight) + discarding];
                        if straight < leaving && idle > 0 {
                            from += (straight + 1) as f64 * above[whole + column(free, straight + 1) + discarding];
                        }
                        if straight > 0 && free > 0 {
                            from += (leaving - straight + 1) as f64 * above[coming + column(free - 1, straight - 1) + discarding];
                            if idle > 0 {
                                from += straight as f64 * above[coming + column(free - 1, straight) + discarding];
                            }
                        }
                        into += above_over_here * from;
                    }
                    if idle > 0 {
                        into += (discarding + 1) as f64 * here[at + discarding + 1];
                        for place in (0..waiting).filter(|place| row >> place & 1 == 0) {
                            let other = self.rows[waiting][row | 1 << place] + column(free - 1, straight);
                            into += here[other + discarding];
                        }
                    }
                    if level == self.last && discarding > 0 {
                        into += self.arrivals_per_idle * (idle + 1) as f64 * here[at + discarding - 1];
                    }
                    let ending = (leaving + discarding + row.count_ones() as usize) as f64;
                    here[at + discarding] = into / (self.arrivals_per_idle * idle as f64 + ending);
                }
            }
        }
    }
}
