//! The stationary distribution of a chain whose states form levels and whose transitions lead at most one level up or down.

use crate::trunk::chain::InverseLoss;

/// A detailed model. Level i contains the states with i packets in the trunk. An arrival leads one level up, or stays within the
/// last level, where the packet is lost. min(i, K) departures per unit time lead one level down.
pub(super) trait DetailedModel: Send {
    fn transmitters(&self) -> usize;
    /// Number of states of each level.
    fn sizes(&self) -> Vec<usize>;
    /// Sets each state of `level` to its inflow over its outflow rate, in one pass through the level. The probabilities of the
    /// neighbouring levels are relative to this one.
    fn balance(&self, level: usize, shares: &mut LevelProbabilities, below_over_here: f64, above_over_here: f64);
    /// Mean arrival rate in `level`.
    fn arrivals(&self, level: usize, here: &[f64]) -> f64;
}

/// Probabilities within each level.
pub(super) struct LevelProbabilities(Vec<Vec<f64>>);

impl LevelProbabilities {
    /// The level below, this one and the one above; a missing level is empty.
    pub(super) fn around(&mut self, level: usize) -> (&[f64], &mut [f64], &[f64]) {
        let (below, rest) = self.0.split_at_mut(level);
        let (here, above) = rest.split_at_mut(1);
        (below.last().map_or(&[], Vec::as_slice), &mut here[0], above.first().map_or(&[], Vec::as_slice))
    }
}

/// State of the iteration.
///
/// Source: Takahashi's aggregation and disaggregation (Stewart, Introduction to the Numerical Solution of Markov Chains, 1994,
/// chapter 6). The levels alone are a birth-death chain, which [`InverseLoss`] solves without overflow once the arrival rate in
/// each level is known. Within a level, one Gauss-Seidel step on the way up and one on the way down follow. All operations are
/// sums of products of positive numbers, relative to the level, so that the rarest level is as accurate as the others.
pub(super) struct Solution {
    model: Box<dyn DetailedModel>,
    shares: LevelProbabilities,
    /// Mean arrival rate in each level.
    arrivals: Vec<f64>,
    ln_loss: f64,
    /// Change of the logarithm in the last sweep.
    change: f64,
}

/// Convergence criterion for the logarithm of the loss, relative to its absolute value or 1.
const SETTLED: f64 = 1e-11;

impl Solution {
    pub(super) fn new(model: Box<dyn DetailedModel>) -> Solution {
        let shares = LevelProbabilities(model.sizes().into_iter().map(|size| vec![1.0 / size as f64; size]).collect());
        let arrivals = shares.0.iter().enumerate().map(|(level, here)| model.arrivals(level, here)).collect();
        Solution { model, shares, arrivals, ln_loss: f64::NAN, change: f64::NAN }
    }

    /// The logarithm of the loss once it has converged.
    pub(super) fn sweep(&mut self) -> Option<f64> {
        let last = self.arrivals.len() - 1;
        (0..=last).chain((0..last).rev()).for_each(|level| self.balance(level));
        let mut chain = InverseLoss::of_one_state();
        (1..=last).for_each(|level| chain.extend(self.departures(level) / self.arrivals[level]));
        let (before, change_before) = (self.ln_loss, self.change);
        self.ln_loss = -chain.ln();
        self.change = (self.ln_loss - before).abs();
        // Changes shrink by about the same factor in each sweep, which gives the remaining change.
        let to_come = self.change * self.change / (change_before - self.change).abs();
        let settled = SETTLED * self.ln_loss.abs().max(1.0);
        (self.change == 0.0 || self.change.max(to_come) < settled).then_some(self.ln_loss)
    }

    fn balance(&mut self, level: usize) {
        let last = self.arrivals.len() - 1;
        let below_over_here = if level == 0 { 0.0 } else { self.departures(level) / self.arrivals[level - 1] };
        let above_over_here = if level == last { 0.0 } else { self.arrivals[level] / self.departures(level + 1) };
        self.model.balance(level, &mut self.shares, below_over_here, above_over_here);
        let here = &mut self.shares.0[level];
        let total: f64 = here.iter().sum();
        here.iter_mut().for_each(|share| *share /= total);
        self.arrivals[level] = self.model.arrivals(level, here);
    }

    fn departures(&self, level: usize) -> f64 {
        level.min(self.model.transmitters()) as f64
    }
}
