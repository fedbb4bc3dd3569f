//! The input: links with capacities, and flows with routes and weights.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// Valid capacities, in any unit. The range includes every unit of the field, and no sum overflows.
pub const CAPACITIES: RangeInclusive<f64> = 1e-9..=1e18;

/// Valid weights.
pub const WEIGHTS: RangeInclusive<f64> = 1e-6..=1e6;

/// Links, and flows that share them. Checked on construction, so that an allocation exists.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) capacities: Vec<f64>,
    pub(crate) classes: Vec<Class>,
    /// Weight of each flow.
    weights: Vec<f64>,
    /// The class of each flow.
    class_of: Vec<usize>,
}

/// Flows with one route: under every fairness criterion each gets a part of their total rate in proportion to its weight.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Total weight of its flows.
    pub weight: f64,
    /// The links that it crosses, in order, and how many times.
    pub crossings: Vec<(usize, f64)>,
}

/// Reason why there is no result. Links and flows are counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A capacity outside [`CAPACITIES`].
    Capacity { link: usize, given: f64 },
    /// A weight outside [`WEIGHTS`].
    Weight { flow: usize, given: f64 },
    /// The number of weights differs from the number of flows.
    Weights { given: usize, flows: usize },
    /// A flow that crosses no link: its rate is unlimited.
    NoRoute { flow: usize },
    /// A route over a link that does not exist.
    NoLink { flow: usize, link: usize, links: usize },
    /// The solver stopped before it reached the guaranteed accuracy; its status.
    NotSolved { status: String },
}

impl Network {
    /// `routes`: for each flow the links that it crosses, as indices into `capacities`, in any order. A link listed twice is
    /// crossed twice.
    ///
    /// # Errors
    /// The first error found.
    pub fn new(routes: &[Vec<usize>], capacities: Vec<f64>, weights: Vec<f64>) -> Result<Network, Error> {
        let wrong = |values: &[f64], range: &RangeInclusive<f64>| values.iter().position(|value| !range.contains(value));
        if let Some(link) = wrong(&capacities, &CAPACITIES) {
            return Err(Error::Capacity { link, given: capacities[link] });
        }
        if weights.len() != routes.len() {
            return Err(Error::Weights { given: weights.len(), flows: routes.len() });
        }
        if let Some(flow) = wrong(&weights, &WEIGHTS) {
            return Err(Error::Weight { flow, given: weights[flow] });
        }
        for (flow, route) in routes.iter().enumerate() {
            if route.is_empty() {
                return Err(Error::NoRoute { flow });
            }
            if let Some(&link) = route.iter().find(|&&link| link >= capacities.len()) {
                return Err(Error::NoLink { flow, link, links: capacities.len() });
            }
        }
        Ok(Network::merged(routes.iter().cloned(), capacities, weights))
    }

    /// The network restricted to the links in `kept`, as if the other links had unlimited capacity. Each flow is one of the
    /// classes, and crosses at least one link that is kept.
    pub(crate) fn restricted(&self, kept: &[bool]) -> Network {
        let mut places = vec![None; kept.len()];
        (0..kept.len()).filter(|&link| kept[link]).enumerate().for_each(|(place, link)| places[link] = Some(place));
        let routes = self.classes.iter().map(|class| {
            let crossed = class.crossings.iter().filter_map(|&(link, times)| places[link].map(|place| (place, times as usize)));
            crossed.flat_map(|(place, times)| std::iter::repeat_n(place, times)).collect()
        });
        let capacities = self.capacities.iter().zip(kept).filter(|(_, kept)| **kept).map(|(capacity, _)| *capacity).collect();
        Network::merged(routes, capacities, self.classes.iter().map(|class| class.weight).collect())
    }

    fn merged(routes: impl Iterator<Item = Vec<usize>>, capacities: Vec<f64>, weights: Vec<f64>) -> Network {
        let mut known = BTreeMap::new();
        let mut classes: Vec<Class> = Vec::new();
        let mut class_of = Vec::with_capacity(weights.len());
        for (mut links, weight) in routes.zip(&weights) {
            links.sort_unstable();
            let crossings = links.chunk_by(|one, next| one == next).map(|same| (same[0], same.len() as f64)).collect();
            let class = *known.entry(links).or_insert(classes.len());
            if class == classes.len() {
                classes.push(Class { weight: 0.0, crossings });
            }
            classes[class].weight += weight;
            class_of.push(class);
        }
        Network { capacities, classes, weights, class_of }
    }

    /// Rates of the flows, from the rate of each class for a weight of 1.
    pub(crate) fn rates(&self, levels: &[f64]) -> Vec<f64> {
        self.class_of.iter().zip(&self.weights).map(|(&class, weight)| weight * levels[class]).collect()
    }

    /// Values of classes, by flow.
    pub(crate) fn of_flows<T: Copy>(&self, of_classes: &[T]) -> Vec<T> {
        self.class_of.iter().map(|&class| of_classes[class]).collect()
    }

    /// Load of each link at these levels.
    pub(crate) fn loads(&self, levels: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (class, level) in self.classes.iter().zip(levels) {
            class.crossings.iter().for_each(|&(link, times)| loads[link] += times * class.weight * level);
        }
        loads
    }
}

impl Error {
    /// The error message; `link` names a link.
    pub fn text(&self, link: impl Fn(usize) -> String) -> String {
        let range = |range: &RangeInclusive<f64>| format!("expected a number from {:e} to {:e}", range.start(), range.end());
        match self {
            Error::Capacity { link: index, given } => {
                format!("the capacity of link {} is {given}; {}", link(*index), range(&CAPACITIES))
            }
            Error::Weight { flow, given } => format!("the weight of flow {flow} is {given}; {}", range(&WEIGHTS)),
            Error::Weights { given, flows } => format!("there are {given} weights; expected one for each of {flows} flows"),
            Error::NoRoute { flow } => {
                format!("flow {flow} crosses no link, so that its rate is unlimited; expected at least one link")
            }
            Error::NoLink { flow, link, links } => {
                format!("flow {flow} crosses link {link}; expected one of the {links} links, counted from 0")
            }
            Error::NotSolved { status } => format!(
                "the solver did not find the proportionally fair rates ({status}); capacities or weights may differ by too many \
                 powers of ten"
            ),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text(|link| link.to_string()))
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(routes: &[&[usize]], capacities: &[f64], weights: &[f64]) -> String {
        let routes: Vec<Vec<usize>> = routes.iter().map(|route| route.to_vec()).collect();
        Network::new(&routes, capacities.to_vec(), weights.to_vec()).map_or_else(|error| error.to_string(), |_| "nothing".into())
    }

    #[test]
    fn invalid_networks_are_refused_by_name() {
        let capacity = "; expected a number from 1e-9 to 1e18";
        assert_eq!(refused(&[&[1]], &[1.0, 0.0], &[1.0]), format!("the capacity of link 1 is 0{capacity}"));
        assert_eq!(refused(&[&[0]], &[f64::NAN], &[1.0]), format!("the capacity of link 0 is NaN{capacity}"));
        assert_eq!(refused(&[&[0]], &[f64::INFINITY], &[1.0]), format!("the capacity of link 0 is inf{capacity}"));
        let weight = "; expected a number from 1e-6 to 1e6";
        assert_eq!(refused(&[&[0], &[0]], &[1.0], &[1.0, 0.0]), format!("the weight of flow 1 is 0{weight}"));
        assert_eq!(refused(&[&[0]], &[1.0], &[f64::NAN]), format!("the weight of flow 0 is NaN{weight}"));
        assert_eq!(refused(&[&[0]], &[1.0], &[]), "there are 0 weights; expected one for each of 1 flows");
        let unbounded = "crosses no link, so that its rate is unlimited; expected at least one link";
        assert_eq!(refused(&[&[0], &[]], &[1.0], &[1.0; 2]), format!("flow 1 {unbounded}"));
        assert_eq!(refused(&[&[0, 2]], &[1.0; 2], &[1.0]), "flow 0 crosses link 2; expected one of the 2 links, counted from 0");
    }

    #[test]
    fn links_may_have_names() {
        let error = Error::Capacity { link: 1, given: -1.0 };
        let text = error.text(|link| format!("`{}`", ["left", "right"][link]));
        assert_eq!(text, "the capacity of link `right` is -1; expected a number from 1e-9 to 1e18");
    }

    #[test]
    fn no_flows_and_no_links_are_valid() {
        assert_eq!(refused(&[], &[], &[]), "nothing");
        assert_eq!(refused(&[], &[1.0], &[]), "nothing");
    }
}
