//! Random networks: results satisfy their defining conditions.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use proptest::prelude::*;
use tailback_allocation::{Network, max_min, proportional};

#[derive(Clone, Debug)]
struct Given {
    routes: Vec<Vec<usize>>,
    capacities: Vec<f64>,
    weights: Vec<f64>,
}

/// A few links whose capacities differ by up to six powers of ten, and weights that differ by up to four.
fn networks() -> impl Strategy<Value = Given> {
    let power = |from: f64, to: f64| (from..to).prop_map(|exponent| 10_f64.powf(exponent));
    (1_usize..20, 1_usize..60).prop_flat_map(move |(links, flows)| {
        let routes = prop::collection::vec(prop::collection::vec(0..links, 1..6), flows);
        let capacities = prop::collection::vec(power(4.0, 10.0), links);
        let weights = prop::collection::vec(power(-2.0, 2.0), flows);
        (routes, capacities, weights).prop_map(|(routes, capacities, weights)| Given { routes, capacities, weights })
    })
}

impl Given {
    fn network(&self) -> Network {
        Network::new(&self.routes, self.capacities.clone(), self.weights.clone()).unwrap()
    }

    fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (route, rate) in self.routes.iter().zip(rates) {
            route.iter().for_each(|&link| loads[link] += rate);
        }
        loads
    }
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: proptest::test_runner::RngSeed::Fixed(1), ..ProptestConfig::with_cases(500) })]

    #[test]
    fn every_flow_has_a_bottleneck_that_is_full_and_where_no_level_is_higher(given in networks()) {
        let found = max_min(&given.network());
        let loads = given.loads(&found.rates);
        for (load, capacity) in loads.iter().zip(&given.capacities) {
            prop_assert!(*load <= capacity * (1.0 + 1e-9), "{load} of {capacity}");
        }
        let level = |flow: usize| found.rates[flow] / given.weights[flow];
        for (flow, &link) in found.bottlenecks.iter().enumerate() {
            prop_assert!(given.routes[flow].contains(&link));
            prop_assert!(loads[link] >= given.capacities[link] * (1.0 - 1e-9));
            for other in (0..given.routes.len()).filter(|&other| given.routes[other].contains(&link)) {
                prop_assert!(level(other) <= level(flow) * (1.0 + 1e-9));
            }
        }
    }

    #[test]
    fn rates_and_prices_satisfy_the_conditions_of_karush_kuhn_and_tucker(given in networks()) {
        let found = proportional(&given.network()).unwrap();
        let loads = given.loads(&found.rates);
        for (link, ((load, capacity), price)) in loads.iter().zip(&given.capacities).zip(&found.prices).enumerate() {
            prop_assert!(*price >= 0.0);
            prop_assert!(*load <= capacity * (1.0 + 1e-9));
            let crossing = given.routes.iter().zip(&given.weights).filter(|(route, _)| route.contains(&link));
            let weight: f64 = crossing.map(|(_, weight)| weight).sum();
            prop_assert!(price * (capacity - load) <= 1e-9 * weight, "{load} of {capacity} at {price}");
        }
        for ((route, rate), weight) in given.routes.iter().zip(&found.rates).zip(&given.weights) {
            let price: f64 = route.iter().map(|&link| found.prices[link]).sum();
            prop_assert!((weight / rate / price - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn every_valid_network_is_solved(
        routes in prop::collection::vec(prop::collection::vec(0_usize..5, 0..4), 0..8),
        capacities in prop::collection::vec(prop_oneof![8 => (-9.0..18.0).prop_map(|power| 10_f64.powf(power)), 1 => any::<f64>()], 0..6),
        weights in prop::collection::vec(prop_oneof![8 => (-6.0..6.0).prop_map(|power| 10_f64.powf(power)), 1 => any::<f64>()], 8),
    ) {
        let weights = weights[..routes.len()].to_vec();
        if let Ok(network) = Network::new(&routes, capacities.clone(), weights.clone()) {
            prop_assert_eq!(max_min(&network).rates.len(), routes.len());
            let found = proportional(&network).unwrap();
            let loads = Given { routes, capacities: capacities.clone(), weights }.loads(&found.rates);
            prop_assert!(loads.iter().zip(&capacities).all(|(load, capacity)| *load <= capacity * (1.0 + 1e-9)));
        }
    }
}
