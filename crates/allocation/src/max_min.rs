//! Max-min fair rates by progressive filling (Bertsekas and Gallager, Data Networks, second edition, section 6.5.2).
//!
//! The level, which is the rate for a weight of 1, rises for all flows together. Where a link becomes full, its flows stay at
//! that level, and the level of the other flows continues to rise. Each flow therefore has a bottleneck: a full link on which no
//! flow has a higher level.

use crate::network::Network;

/// Rates such that none can rise without lowering another rate that is no higher relative to its weight.
#[derive(Clone, Debug, PartialEq)]
pub struct MaxMin {
    /// Rate of each flow, in the unit of the capacities.
    pub rates: Vec<f64>,
    /// The bottleneck link of each flow.
    pub bottlenecks: Vec<usize>,
}

/// Computes the max-min fair rates.
pub fn max_min(network: &Network) -> MaxMin {
    let (levels, bottlenecks) = levels(network);
    MaxMin { rates: network.rates(&levels), bottlenecks: network.of_flows(&bottlenecks) }
}

/// The rate of each class for a weight of 1, and its bottleneck link.
pub(crate) fn levels(network: &Network) -> (Vec<f64>, Vec<usize>) {
    let mut crossing = vec![Vec::new(); network.capacities.len()];
    for (index, class) in network.classes.iter().enumerate() {
        class.crossings.iter().for_each(|&(link, times)| crossing[link].push((index, times * class.weight)));
    }
    let mut levels = vec![None; network.classes.len()];
    // Sums are recomputed when flows stop rising. Subtracting their rates would leave only rounding errors of light flows next to
    // heavy ones.
    let full_at = |link: usize, levels: &[Option<f64>]| {
        let (mut left, mut rising) = (network.capacities[link], 0.0);
        for &(class, weight) in &crossing[link] {
            match levels[class] {
                Some(level) => left -= weight * level,
                None => rising += weight,
            }
        }
        if rising > 0.0 { left / rising } else { f64::INFINITY }
    };
    let mut full: Vec<f64> = (0..crossing.len()).map(|link| full_at(link, &levels)).collect();
    let mut bottlenecks = vec![0; network.classes.len()];
    let mut level = 0.0_f64;
    while let Some((next, &at)) = full.iter().enumerate().min_by(|one, other| one.1.total_cmp(other.1))
        && at.is_finite()
    {
        // A link that fills at the same level may fill earlier by a rounding error.
        level = level.max(at);
        let mut changed = vec![next];
        for &(class, _) in &crossing[next] {
            if levels[class].is_none() {
                levels[class] = Some(level);
                bottlenecks[class] = next;
                changed.extend(network.classes[class].crossings.iter().map(|&(link, _)| link));
            }
        }
        changed.sort_unstable();
        changed.dedup();
        changed.into_iter().for_each(|link| full[link] = full_at(link, &levels));
    }
    // Every class crosses a link, so that each has a level.
    (levels.into_iter().map(Option::unwrap_or_default).collect(), bottlenecks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(routes: &[&[usize]], capacities: &[f64], weights: &[f64]) -> MaxMin {
        let routes: Vec<Vec<usize>> = routes.iter().map(|route| route.to_vec()).collect();
        max_min(&Network::new(&routes, capacities.to_vec(), weights.to_vec()).unwrap())
    }

    #[test]
    fn on_a_parking_lot_all_get_half() {
        let result = shared(&[&[0, 1, 2], &[0], &[1], &[2]], &[1.0; 3], &[1.0; 4]);
        assert_eq!(result.rates, [0.5; 4]);
        assert_eq!(result.bottlenecks, [0, 0, 1, 2]);
    }

    #[test]
    fn a_flow_limited_elsewhere_leaves_the_rest_to_the_others() {
        // The first flow is limited to 2 by its own link; the others share 8.
        let result = shared(&[&[0, 1], &[1], &[1]], &[2.0, 10.0], &[1.0; 3]);
        assert_eq!(result.rates, [2.0, 4.0, 4.0]);
        assert_eq!(result.bottlenecks, [0, 1, 1]);
    }

    #[test]
    fn a_link_is_shared_by_weights() {
        assert_eq!(shared(&[&[0], &[0]], &[8.0], &[1.0, 3.0]).rates, [2.0, 6.0]);
        // The heavy flow is limited to 3 for a weight of 3, so that the light one gets 5.
        assert_eq!(shared(&[&[0], &[0, 1]], &[8.0, 3.0], &[1.0, 3.0]).rates, [5.0, 3.0]);
    }

    #[test]
    fn a_link_that_is_crossed_twice_is_used_twice() {
        // 2 x + x = 6.
        assert_eq!(shared(&[&[0, 0], &[0]], &[6.0], &[1.0; 2]).rates, [2.0, 2.0]);
    }

    #[test]
    fn a_light_flow_next_to_a_heavy_one_gets_its_exact_share() {
        let result = shared(&[&[0, 1], &[0]], &[1e6, 1e6 - 1.0], &[1e6, 1e-6]);
        assert_eq!(result.rates, [1e6 - 1.0, 1.0]);
    }

    #[test]
    fn no_flows_get_nothing() {
        assert!(shared(&[], &[1.0], &[]).rates.is_empty());
        assert!(shared(&[], &[], &[]).rates.is_empty());
    }
}
