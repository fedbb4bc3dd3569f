//! What is shared: links with capacities, and flows with routes and weights.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;

/// A capacity that is taken, in any unit; so wide that no unit of the field is left out, and no sum overflows.
pub const CAPACITIES: RangeInclusive<f64> = 1e-9..=1e18;

/// A weight that is taken.
pub const WEIGHTS: RangeInclusive<f64> = 1e-6..=1e6;

/// Links, and flows that share them. Checked where it is made, so that it has an answer.
#[derive(Clone, Debug)]
pub struct Network {
    pub(crate) capacities: Vec<f64>,
    pub(crate) classes: Vec<Class>,
    /// Of each flow.
    weights: Vec<f64>,
    /// The class of each flow.
    class_of: Vec<usize>,
}

/// Flows of one route: whichever way is fair, each gets its weight's part of what all of them get.
#[derive(Clone, Debug)]
pub(crate) struct Class {
    /// Of all its flows together.
    pub weight: f64,
    /// The links that it crosses, in order, and how many times.
    pub crossings: Vec<(usize, f64)>,
}

/// Why there is no answer. Links and flows are counted from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// A capacity that is none of [`CAPACITIES`].
    Capacity { link: usize, given: f64 },
    /// A weight that is none of [`WEIGHTS`].
    Weight { flow: usize, given: f64 },
    /// Another number of weights than of flows.
    Weights { given: usize, flows: usize },
    /// A flow that crosses no link: nothing bounds it.
    NoRoute { flow: usize },
    /// A route over a link that is not there.
    NoLink { flow: usize, link: usize, links: usize },
    /// The solver came to an end short of the promised accuracy; what it says of it.
    NotSolved { status: String },
}

impl Network {
    /// `routes`: for each flow the links that it crosses, as indices into `capacities`, in any order. A link that stands there twice is
    /// crossed twice.
    ///
    /// # Errors
    /// The first fault found.
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

    /// What is left if links that are not kept have room for everything: each flow is one of the classes, and crosses at least one link that
    /// is kept.
    #[cfg(feature = "proportional")]
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

    /// Something of each flow's class.
    pub(crate) fn of_flows<T: Copy>(&self, of_classes: &[T]) -> Vec<T> {
        self.class_of.iter().map(|&class| of_classes[class]).collect()
    }

    /// What crosses each link at these levels.
    #[cfg(feature = "proportional")]
    pub(crate) fn loads(&self, levels: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.capacities.len()];
        for (class, level) in self.classes.iter().zip(levels) {
            class.crossings.iter().for_each(|&(link, times)| loads[link] += times * class.weight * level);
        }
        loads
    }
}

impl Error {
    /// The text that a person sees; `link` names a link.
    pub fn text(&self, link: impl Fn(usize) -> String) -> String {
        let range = |range: &RangeInclusive<f64>| format!("expected a number from {:e} to {:e}", range.start(), range.end());
        match self {
            Error::Capacity { link: index, given } => {
                format!("the capacity of link {} is {given}; {}", link(*index), range(&CAPACITIES))
            }
            Error::Weight { flow, given } => format!("the weight of flow {flow} is {given}; {}", range(&WEIGHTS)),
            Error::Weights { given, flows } => format!("there are {given} weights; expected one for each of {flows} flows"),
            Error::NoRoute { flow } => {
                format!("flow {flow} crosses no link, so that nothing bounds its rate; expected at least one")
            }
            Error::NoLink { flow, link, links } => {
                format!("flow {flow} crosses link {link}; there are {links}, counted from 0")
            }
            Error::NotSolved { status } => format!(
                "the solver did not find the proportionally fair rates ({status}); capacities or weights that differ by many powers of \
                 ten make it hard"
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
    fn what_has_no_answer_is_refused_by_name() {
        let capacity = "; expected a number from 1e-9 to 1e18";
        assert_eq!(refused(&[&[1]], &[1.0, 0.0], &[1.0]), format!("the capacity of link 1 is 0{capacity}"));
        assert_eq!(refused(&[&[0]], &[f64::NAN], &[1.0]), format!("the capacity of link 0 is NaN{capacity}"));
        assert_eq!(refused(&[&[0]], &[f64::INFINITY], &[1.0]), format!("the capacity of link 0 is inf{capacity}"));
        let weight = "; expected a number from 1e-6 to 1e6";
        assert_eq!(refused(&[&[0], &[0]], &[1.0], &[1.0, 0.0]), format!("the weight of flow 1 is 0{weight}"));
        assert_eq!(refused(&[&[0]], &[1.0], &[f64::NAN]), format!("the weight of flow 0 is NaN{weight}"));
        assert_eq!(refused(&[&[0]], &[1.0], &[]), "there are 0 weights; expected one for each of 1 flows");
        let unbounded = "crosses no link, so that nothing bounds its rate; expected at least one";
        assert_eq!(refused(&[&[0], &[]], &[1.0], &[1.0; 2]), format!("flow 1 {unbounded}"));
        assert_eq!(refused(&[&[0, 2]], &[1.0; 2], &[1.0]), "flow 0 crosses link 2; there are 2, counted from 0");
    }

    #[test]
    fn links_may_have_names() {
        let error = Error::Capacity { link: 1, given: -1.0 };
        let text = error.text(|link| format!("`{}`", ["left", "right"][link]));
        assert_eq!(text, "the capacity of link `right` is -1; expected a number from 1e-9 to 1e18");
    }

    #[test]
    fn no_flows_and_no_links_are_no_fault() {
        assert_eq!(refused(&[], &[], &[]), "nothing");
        assert_eq!(refused(&[], &[1.0], &[]), "nothing");
    }
}
