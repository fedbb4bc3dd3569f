//! Proportionally fair rates: the rates that maximise the sum of `w log x` (Kelly, Maulloo and Tan, J. Oper. Res. Soc. 49, 1998).
//!
//! The solver works on the dual: link prices `p` that minimise the sum of `p c` less the sum of `w log(price of the route)`. At
//! the optimal prices a flow's rate is its weight over the price of its route. The dual has one variable per link and one per
//! distinct route, fewer than the primal with its rates and logarithms.
//!
//! A primal-dual interior point method with Mehrotra's predictor and corrector (SIAM J. Optim. 2(4), 1992) solves it: near the optimum
//! the error falls by orders of magnitude with each step. The variables of a step are relative changes of the prices, so that links and
//! weights may differ by many powers of ten.

use crate::cholesky::Factor;
use crate::max_min;
use crate::network::{Class, Error, Network};

/// The largest relative excess of a link's load over its capacity.
pub const OVERLOAD: f64 = 1e-6;

/// The method has converged when a step changes no route's price by more than this fraction; the remaining error is far smaller.
const LAST_STEP: f64 = 1e-9;

/// A link that max-min fair rates fill to this fraction is assumed to be possibly full.
const FILLED: f64 = 0.8;

/// Ten to forty steps suffice.
const MAX_STEPS: u32 = 300;

/// A step leads at most to this fraction of the way to a price or a free capacity of 0.
const TO_BOUNDARY: f64 = 0.99;

/// Rates and the prices that lead to them: a flow's rate is its weight over the sum of the prices on its route.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportional {
    /// Rate of each flow, in the unit of the capacities.
    pub rates: Vec<f64>,
    /// Price of each link, at least 0, per unit of capacity: the derivative of the sum of `w log x` with respect to the capacity.
    /// (Almost) 0 for a link that is not full.
    pub prices: Vec<f64>,
}

/// Computes the proportionally fair rates.
///
/// # Errors
/// [`Error::NotSolved`] if the solver did not reach the accuracy.
pub fn proportional(network: &Network) -> Result<Proportional, Error> {
    let capacities = &network.capacities;
    let mut prices = vec![0.0; capacities.len()];
    if network.classes.is_empty() {
        return Ok(Proportional { rates: Vec::new(), prices });
    }
    // Run time grows with the cube of the number of links, and most links of a large network are not full. Links that are almost
    // full under max-min fairness, which include one per route, are likely to be full; any other link that would be overloaded is
    // added.
    let filled = max_min::levels(network).0;
    let mut kept: Vec<bool> =
        network.loads(&filled).iter().zip(capacities).map(|(load, capacity)| *load >= FILLED * capacity).collect();
    loop {
        let part = network.restricted(&kept);
        let found = Dual::new(&part).solved()?;
        // The classes of this network are the flows of the restricted one.
        let levels = part.of_flows(&found.levels);
        let loads = network.loads(&levels);
        let over: Vec<usize> = (0..kept.len()).filter(|&link| loads[link] > capacities[link] * (1.0 + OVERLOAD)).collect();
        if over.iter().any(|&link| kept[link]) {
            return Err(Error::NotSolved { status: "its rates exceed the capacity".into() });
        }
        if over.is_empty() {
            let places = (0..kept.len()).filter(|&link| kept[link]);
            places.zip(found.prices).for_each(|(link, price)| prices[link] = price);
            return Ok(Proportional { rates: network.rates(&levels), prices });
        }
        over.into_iter().for_each(|link| kept[link] = true);
    }
}

/// Rate of each class for a weight of 1, and price of each link.
struct Solution {
    levels: Vec<f64>,
    prices: Vec<f64>,
}

/// The dual in variables that are near 1: the price of a link times its capacity, which is the link's revenue, and the price of a
/// route times its narrowest capacity. Weights, and with them revenues, are in units of the mean weight.
struct Dual<'n> {
    network: &'n Network,
    mean_weight: f64,
    weights: Vec<f64>,
    /// Capacity of each route's narrowest link.
    narrowest: Vec<f64>,
    /// The links of each route, each with its contribution to the route's price per unit of revenue.
    parts: Vec<Vec<(usize, f64)>>,
}

/// Revenue and free share of the capacity of each link. The product of both is 0 at the optimum.
struct State {
    revenues: Vec<f64>,
    free: Vec<f64>,
}

/// A step: relative changes of the revenues, and the free shares after it.
struct Step {
    changes: Vec<f64>,
    free: Vec<f64>,
}

impl<'n> Dual<'n> {
    fn new(network: &'n Network) -> Dual<'n> {
        let classes = &network.classes;
        let narrow =
            |class: &Class| class.crossings.iter().map(|&(link, _)| network.capacities[link]).fold(f64::INFINITY, f64::min);
        let narrowest: Vec<f64> = classes.iter().map(narrow).collect();
        let mean_weight = classes.iter().map(|class| class.weight).sum::<f64>() / classes.len() as f64;
        let parts = classes.iter().zip(&narrowest).map(|(class, narrowest)| {
            class.crossings.iter().map(|&(link, times)| (link, times * narrowest / network.capacities[link])).collect()
        });
        let parts = parts.collect();
        Dual { network, mean_weight, weights: classes.iter().map(|class| class.weight / mean_weight).collect(), narrowest, parts }
    }

    fn solved(&self) -> Result<Solution, Error> {
        let mut state = self.start();
        for _ in 0..MAX_STEPS {
            let before = self.prices(&state.revenues);
            if !before.iter().all(|price| price.is_finite() && *price > 0.0) {
                break;
            }
            let length = self.advance(&mut state, &before);
            let after = self.prices(&state.revenues);
            let largest = before.iter().zip(&after).map(|(before, after)| (after / before - 1.0).abs()).fold(0.0, f64::max);
            if length > 0.9 && largest <= LAST_STEP {
                return Ok(self.solution(&state.revenues));
            }
        }
        Err(Error::NotSolved { status: "its steps do not decrease".into() })
    }

    /// Every route pays its weight in equal parts to its links.
    fn start(&self) -> State {
        let mut revenues = vec![0.0; self.network.capacities.len()];
        for (parts, weight) in self.parts.iter().zip(&self.weights) {
            parts.iter().for_each(|&(link, _)| revenues[link] += weight / parts.len() as f64);
        }
        State { free: vec![1.0; revenues.len()], revenues }
    }

    /// Prices of the routes at these revenues.
    fn prices(&self, revenues: &[f64]) -> Vec<f64> {
        self.parts.iter().map(|parts| parts.iter().map(|&(link, part)| part * revenues[link]).sum()).collect()
    }

    /// Takes one step, and returns its length as a fraction of the full step.
    fn advance(&self, state: &mut State, prices: &[f64]) -> f64 {
        let links = state.revenues.len();
        let curvature = self.curvature(&state.revenues, prices);
        let products: Vec<f64> = state.revenues.iter().zip(&state.free).map(|(revenue, free)| revenue * free).collect();
        let factor = curvature.factor(&products);
        // Revenue times the share of the capacity that is free at these prices; negative where the link is overloaded.
        let mut unsold = state.revenues.clone();
        for ((parts, weight), price) in self.parts.iter().zip(&self.weights).zip(prices) {
            parts.iter().for_each(|&(link, part)| unsold[link] -= weight * part * state.revenues[link] / price);
        }
        let step = |targets: &[f64]| {
            let wanted: Vec<f64> = targets.iter().zip(&unsold).map(|(target, unsold)| target - unsold).collect();
            let changes = factor.solve(&wanted);
            let sold = curvature.times(&changes);
            let free = (0..links).map(|link| (unsold[link] + sold[link]) / state.revenues[link]).collect();
            Step { changes, free }
        };
        let mean = products.iter().sum::<f64>() / links as f64;
        let predictor = step(&vec![0.0; links]);
        let reach = predictor.length(state, 1.0);
        let left = (0..links).map(|link| {
            let free = state.free[link] + reach * (predictor.free[link] - state.free[link]);
            state.revenues[link] * (1.0 + reach * predictor.changes[link]) * free
        });
        let centring = (left.sum::<f64>() / links as f64 / mean).clamp(0.0, 1.0).powi(3);
        let targets: Vec<f64> = (0..links)
            .map(|link| {
                let second = state.revenues[link] * predictor.changes[link] * (predictor.free[link] - state.free[link]);
                centring * mean - second
            })
            .collect();
        let corrected = step(&targets);
        let length = corrected.length(state, TO_BOUNDARY);
        for link in 0..links {
            state.revenues[link] *= 1.0 + length * corrected.changes[link];
            state.free[link] += length * (corrected.free[link] - state.free[link]);
        }
        length
    }

    /// Second derivatives with respect to relative changes of the revenues.
    fn curvature(&self, revenues: &[f64], prices: &[f64]) -> Curvature {
        let rows = self.parts.iter().zip(prices).zip(&self.weights).map(|((parts, price), weight)| {
            parts.iter().map(|&(link, part)| (link, weight.sqrt() * part * revenues[link] / price)).collect()
        });
        Curvature { links: revenues.len(), rows: rows.collect() }
    }

    fn solution(&self, revenues: &[f64]) -> Solution {
        let levels =
            self.narrowest.iter().zip(self.prices(revenues)).map(|(narrowest, price)| narrowest / (price * self.mean_weight));
        let prices =
            revenues.iter().zip(&self.network.capacities).map(|(revenue, capacity)| revenue * self.mean_weight / capacity);
        Solution { levels: levels.collect(), prices: prices.collect() }
    }
}

/// A sum of squares, one of each route.
struct Curvature {
    links: usize,
    rows: Vec<Vec<(usize, f64)>>,
}

impl Curvature {
    /// Factor of the curvature with these values added to its diagonal.
    fn factor(&self, diagonal: &[f64]) -> Factor {
        let mut matrix = vec![0.0; self.links * self.links];
        diagonal.iter().enumerate().for_each(|(link, value)| matrix[link * (self.links + 1)] = *value);
        for row in &self.rows {
            for &(one, left) in row {
                row.iter().filter(|(other, _)| *other <= one).for_each(|&(other, right)| {
                    matrix[one * self.links + other] += left * right;
                });
            }
        }
        Factor::new(matrix, self.links)
    }

    fn times(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.links];
        for row in &self.rows {
            let sum: f64 = row.iter().map(|&(link, value)| value * vector[link]).sum();
            row.iter().for_each(|&(link, value)| product[link] += value * sum);
        }
        product
    }
}

impl Step {
    /// The longest part of the step that keeps revenues and free shares positive, in units of `most`, and at most 1.
    fn length(&self, state: &State, most: f64) -> f64 {
        let revenues = self.changes.iter().filter(|change| **change < 0.0).map(|change| -1.0 / change);
        let free = state.free.iter().zip(&self.free).filter(|(before, after)| after < before);
        let free = free.map(|(before, after)| before / (before - after));
        revenues.chain(free).map(|length| most * length).fold(1.0, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(routes: &[&[usize]], capacities: &[f64], weights: &[f64]) -> Proportional {
        let routes: Vec<Vec<usize>> = routes.iter().map(|route| route.to_vec()).collect();
        proportional(&Network::new(&routes, capacities.to_vec(), weights.to_vec()).unwrap()).unwrap()
    }

    fn assert_near(values: &[f64], expected: &[f64]) {
        assert_eq!(values.len(), expected.len());
        let near =
            values.iter().zip(expected).all(|(value, expected)| (value - expected).abs() <= 1e-7 * expected.abs().max(1.0));
        assert!(near, "{values:?} is not {expected:?}");
    }

    #[test]
    fn on_a_parking_lot_of_n_links_the_long_flow_gets_1_of_n_plus_1() {
        for links in [1, 3, 10] {
            let long: Vec<usize> = (0..links).collect();
            let short: Vec<[usize; 1]> = (0..links).map(|link| [link]).collect();
            let routes: Vec<&[usize]> = std::iter::once(&long[..]).chain(short.iter().map(|route| &route[..])).collect();
            let n = links as f64;
            let result = shared(&routes, &vec![1.0; links], &vec![1.0; links + 1]);
            assert_near(&result.rates[..1], &[1.0 / (n + 1.0)]);
            assert_near(&result.rates[1..], &vec![n / (n + 1.0); links]);
            // A short flow's rate is 1 over its only price.
            assert_near(&result.prices, &vec![(n + 1.0) / n; links]);
        }
    }

    #[test]
    fn weights_apply_to_flows_and_not_to_routes() {
        // Two links; the long flow of weight 2, the short ones of weight 1 and 3. With x for the long one and both links full:
        // 2 / x = 1 / (6 - x) + 3 / (6 - x), so that 12 - 2 x = 4 x and x = 2.
        let result = shared(&[&[0, 1], &[0], &[1]], &[6.0; 2], &[2.0, 1.0, 3.0]);
        assert_near(&result.rates, &[2.0, 4.0, 4.0]);
        assert_near(&result.prices, &[0.25, 0.75]);
        // The same network with the long flow as two flows of weight 1.
        assert_near(&shared(&[&[1, 0], &[0], &[0, 1], &[1]], &[6.0; 2], &[1.0, 1.0, 1.0, 3.0]).rates, &[1.0, 4.0, 1.0, 4.0]);
    }

    #[test]
    fn a_link_that_is_not_full_has_no_price() {
        assert_near(&shared(&[&[0, 1]], &[1e7, 1e10], &[1.0]).rates, &[1e7]);
        let result = shared(&[&[0, 1], &[0]], &[1.0, 5.0], &[1.0; 2]);
        assert_near(&result.rates, &[0.5, 0.5]);
        assert_near(&result.prices, &[2.0, 0.0]);
    }

    #[test]
    fn a_link_that_is_crossed_twice_is_charged_twice() {
        // Each flow pays 3 of its weight's 6 for 1/2 of the link.
        let result = shared(&[&[0, 0], &[0]], &[6.0], &[1.0; 2]);
        assert_near(&result.rates, &[1.5, 3.0]);
    }

    #[test]
    fn no_flows_get_nothing() {
        assert_eq!(shared(&[], &[1.0], &[]), Proportional { rates: vec![], prices: vec![0.0] });
        assert_eq!(shared(&[], &[], &[]), Proportional { rates: vec![], prices: vec![] });
    }
}
