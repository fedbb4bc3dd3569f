//! Proportionally fair rates: the rates that maximise the sum of `w log x` (Kelly, Maulloo and Tan, J. Oper. Res. Soc. 49, 1998).
//!
//! The solver works on the dual: link prices `p` that minimise the sum of `p c` less the sum of `w log(price of the route)`. At
//! the optimal prices a flow's rate is its weight over the price of its route. The dual has one variable per link and one per
//! distinct route, fewer than the primal with its rates and logarithms.
//!
//! The interior point solver Clarabel solves it in two stages. With exponential cones it converges from any starting point, but
//! only to about 1e-4, because the optimum is flat and the solver's criterion is the cost. From there Newton's method, in which
//! each step is a quadratic programme, squares the error with each step.

use crate::max_min;
use crate::network::{Class, Error, Network};
use clarabel::algebra::CscMatrix;
use clarabel::solver::SupportedConeT::{ExponentialConeT, NonnegativeConeT, ZeroConeT};
use clarabel::solver::{DefaultSettings, DefaultSolution, DefaultSolver, IPSolver, SupportedConeT};

/// The largest relative excess of a link's load over its capacity.
pub const OVERLOAD: f64 = 1e-6;

/// Newton's method has converged when a step changes no route's price by more than this fraction; the remaining error is about
/// its square.
const LAST_STEP: f64 = 1e-4;

/// A link that max-min fair rates fill to this fraction is assumed to be possibly full.
const FILLED: f64 = 0.8;

/// One or two steps suffice.
const MAX_STEPS: u32 = 20;

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
        let found = solved(&part)?;
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

fn solved(network: &Network) -> Result<Solution, Error> {
    let dual = Dual::new(network);
    let mut revenues = dual.near()?;
    for _ in 0..MAX_STEPS {
        let before = dual.prices(&revenues);
        revenues = dual.step(&before)?;
        let after = dual.prices(&revenues);
        let largest = before.iter().zip(&after).map(|(before, after)| (after / before - 1.0).abs());
        if largest.fold(0.0, f64::max) <= LAST_STEP {
            return Ok(dual.solution(&revenues));
        }
    }
    Err(Error::NotSolved { status: "its steps do not decrease".into() })
}

/// The dual in variables that are near 1: the price of a link times its capacity, which is the link's revenue, and the price of a
/// route times its narrowest capacity. Weights, and with them revenues, are in units of the mean weight.
struct Dual<'n> {
    network: &'n Network,
    mean_weight: f64,
    /// Capacity of each route's narrowest link.
    narrowest: Vec<f64>,
}

impl<'n> Dual<'n> {
    fn new(network: &'n Network) -> Dual<'n> {
        let narrow =
            |class: &Class| class.crossings.iter().map(|&(link, _)| network.capacities[link]).fold(f64::INFINITY, f64::min);
        let sum: f64 = network.classes.iter().map(|class| class.weight).sum();
        Dual { network, mean_weight: sum / network.classes.len() as f64, narrowest: network.classes.iter().map(narrow).collect() }
    }

    fn links(&self) -> usize {
        self.network.capacities.len()
    }

    fn weights(&self) -> impl Iterator<Item = f64> {
        self.network.classes.iter().map(|class| class.weight / self.mean_weight)
    }

    /// The links of each route, each with its contribution to the route's price per unit of revenue.
    fn parts(&self) -> impl Iterator<Item = impl Iterator<Item = (usize, f64)>> {
        let capacities = &self.network.capacities;
        self.network.classes.iter().zip(&self.narrowest).map(move |(class, narrowest)| {
            class.crossings.iter().map(move |&(link, times)| (link, times * narrowest / capacities[link]))
        })
    }

    /// Prices of the routes at these revenues.
    fn prices(&self, revenues: &[f64]) -> Vec<f64> {
        self.parts().map(|parts| parts.map(|(link, part)| part * revenues[link]).sum()).collect()
    }

    /// Nearly optimal revenues. Three rows per route hold `(t, 1, price)` in the exponential cone, `exp(t) <= price`; the
    /// objective is the sum of revenues less the sum of `w t`.
    fn near(&self) -> Result<Vec<f64>, Error> {
        let (links, routes) = (self.links(), self.network.classes.len());
        let mut matrix = Entries::of_revenues(links);
        let mut bounds = vec![0.0; links + 3 * routes];
        for (route, parts) in self.parts().enumerate() {
            let row = links + 3 * route;
            matrix.add(row, links + route, -1.0);
            bounds[row + 1] = 1.0;
            parts.for_each(|(link, part)| matrix.add(row + 2, link, -part));
        }
        let cost = std::iter::repeat_n(1.0, links).chain(self.weights().map(|weight| -weight)).collect();
        let cones = std::iter::once(NonnegativeConeT(links)).chain(std::iter::repeat_n(ExponentialConeT(), routes));
        let variables = links + routes;
        self.solve(Programme { variables, curvature: vec![0.0; variables], cost, matrix, bounds, cones: cones.collect() })
    }

    /// A step of Newton's method: the optimal revenues if for each route `w log(price)` is replaced by its parabola at the
    /// previous price. The second variables are prices in units of the previous ones.
    fn step(&self, before: &[f64]) -> Result<Vec<f64>, Error> {
        let (links, routes) = (self.links(), self.network.classes.len());
        let mut matrix = Entries::of_revenues(links);
        for (route, parts) in self.parts().enumerate() {
            matrix.add(links + route, links + route, -1.0);
            parts.for_each(|(link, part)| matrix.add(links + route, link, part / before[route]));
        }
        let cost = std::iter::repeat_n(1.0, links).chain(self.weights().map(|weight| -2.0 * weight)).collect();
        let curvature = std::iter::repeat_n(0.0, links).chain(self.weights()).collect();
        let cones = vec![NonnegativeConeT(links), ZeroConeT(routes)];
        self.solve(Programme { variables: links + routes, curvature, cost, matrix, bounds: vec![0.0; links + routes], cones })
    }

    /// The revenues of the solution.
    fn solve(&self, programme: Programme) -> Result<Vec<f64>, Error> {
        let solution = programme.solve().map_err(|status| Error::NotSolved { status })?;
        let revenues: Vec<f64> = solution.x[..self.links()].iter().map(|revenue| revenue.max(0.0)).collect();
        // Regardless of the solver's status: a route without a price has no rate.
        if self.prices(&revenues).iter().all(|price| price.is_finite() && *price > 0.0) {
            Ok(revenues)
        } else {
            Err(Error::NotSolved { status: solution.status.to_string() })
        }
    }

    fn solution(&self, revenues: &[f64]) -> Solution {
        let levels =
            self.narrowest.iter().zip(self.prices(revenues)).map(|(narrowest, price)| narrowest / (price * self.mean_weight));
        let prices =
            revenues.iter().zip(&self.network.capacities).map(|(revenue, capacity)| revenue * self.mean_weight / capacity);
        Solution { levels: levels.collect(), prices: prices.collect() }
    }
}

/// Minimises the sum of `curvature x^2 / 2` and `cost x`, subject to `bounds - matrix x` in the cones.
struct Programme {
    variables: usize,
    curvature: Vec<f64>,
    cost: Vec<f64>,
    matrix: Entries,
    bounds: Vec<f64>,
    cones: Vec<SupportedConeT<f64>>,
}

impl Programme {
    fn solve(self) -> Result<DefaultSolution<f64>, String> {
        let size = self.variables;
        let mut curvature = Entries::default();
        self.curvature
            .iter()
            .enumerate()
            .filter(|(_, value)| **value != 0.0)
            .for_each(|(at, value)| curvature.add(at, at, *value));
        let (curvature, matrix) = (curvature.matrix((size, size)), self.matrix.matrix((self.bounds.len(), size)));
        let settings = DefaultSettings { verbose: false, ..DefaultSettings::default() };
        let solver = DefaultSolver::new(&curvature, &self.cost, &matrix, &self.bounds, &self.cones, settings);
        let mut solver = solver.map_err(|error| error.to_string())?;
        solver.solve();
        Ok(solver.solution)
    }
}

/// A sparse matrix by row, column and value.
#[derive(Default)]
struct Entries {
    rows: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<f64>,
}

impl Entries {
    /// The first rows of both programmes: revenues, which are the first variables, are non-negative.
    fn of_revenues(links: usize) -> Entries {
        let mut entries = Entries::default();
        (0..links).for_each(|link| entries.add(link, link, -1.0));
        entries
    }

    fn add(&mut self, row: usize, column: usize, value: f64) {
        self.rows.push(row);
        self.columns.push(column);
        self.values.push(value);
    }

    fn matrix(self, (height, width): (usize, usize)) -> CscMatrix<f64> {
        CscMatrix::new_from_triplets(height, width, self.rows, self.columns, self.values)
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
