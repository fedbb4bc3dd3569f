//! Fair share of each flow if all links were shared fairly: not a prediction, but the reference for fairness.

use super::bottleneck::{capacity_bps, greedy_tcp};
use super::{Line, ObservedEntities, Panel, Theory};
use tailback_allocation::{Network as Shared, max_min};
use tailback_core::network::Network;

/// A larger number of flows is not drawn individually, and the computation would take time.
const MAX: usize = 2000;

/// For several greedy TCP flows on links with constant rates; other properties of the links do not matter.
pub(super) fn lines(network: &Network, observed: &ObservedEntities) -> Vec<Line> {
    if network.flows.len() < 2 || network.flows.len() > MAX || !network.changes.is_empty() {
        return Vec::new();
    }
    shares(network, observed).unwrap_or_default()
}

fn shares(network: &Network, observed: &ObservedEntities) -> Option<Vec<Line>> {
    let flows = greedy_tcp(network).ok()?;
    let routes: Vec<Vec<usize>> = flows
        .iter()
        .map(|greedy| network.paths[greedy.flow.forward as usize].iter().map(|&port| port as usize).collect())
        .collect();
    let capacities = network.ports.iter().map(capacity_bps).collect();
    let rates = max_min(&Shared::new(&routes, capacities, vec![1.0; flows.len()]).ok()?).rates;
    let theory = Theory {
        name: "max-min fair share",
        equation: "rates such that none can rise without lowering one that is no higher".into(),
        source: "Bertsekas and Gallager, Data Networks, second edition, section 6.5.2",
        assumes: vec!["an ideal allocation, as a reference for TCP".into(), "links are full".into()],
    };
    let line = |&flow: &u32| {
        let value = rates[flow as usize] * flows[flow as usize].payload();
        Line { panel: Panel::Goodput, of: flow, value, label: "fair share", theory: theory.clone() }
    };
    Some(observed.flows.iter().map(line).collect())
}
