//! Fair share of each flow if all links were shared fairly: not a prediction, but the reference for fairness.

use super::observed_entities::ObservedEntities;
use super::predictions::{Line, Panel, Theory};
use tailback_allocation::{Network as Shared, max_min};
use tailback_core::network::{Flow, FlowId, Network, PortId, Transport};
use tailback_core::primitives::units::Time;

/// A larger number of flows is not drawn individually, and the computation would take time.
const MAX: usize = 2000;

/// For several greedy TCP flows on links with constant rates; other properties of the links do not matter.
pub(super) fn lines(network: &Network, observed: &ObservedEntities) -> Vec<Line> {
    let is_constant = network.changes.is_empty() && network.ports.iter().all(|port| port.unmodelled().is_none());
    if network.flows.len() < 2 || network.flows.len() > MAX || !is_constant {
        return Vec::new();
    }
    shares(network, observed).unwrap_or_default()
}

fn shares(network: &Network, observed: &ObservedEntities) -> Option<Vec<Line>> {
    let payloads: Vec<f64> = network.flows.iter().map(|flow| payload(network, flow)).collect::<Option<_>>()?;
    let route = |path: &[PortId]| path.iter().map(|port| port.index()).collect();
    let routes: Vec<Vec<usize>> = network.flows.iter().map(|flow| route(&network.paths[flow.forward as usize])).collect();
    let capacities = network.ports.iter().map(|port| port.rate.0 as f64 * f64::from(port.transmitters)).collect();
    let rates = max_min(&Shared::new(&routes, capacities, vec![1.0; routes.len()]).ok()?).rates;
    let theory = Theory {
        name: "max-min fair share".into(),
        equation: "rates such that none can rise without lowering one that is no higher",
        source: "Bertsekas and Gallager, Data Networks, second edition, section 6.5.2",
        assumes: vec!["an ideal allocation, as a reference for TCP".into(), "links are full".into()],
    };
    let line = |&flow: &FlowId| {
        let value = rates[flow] * payloads[flow];
        Line { panel: Panel::Goodput, of: flow.0, value, label: "fair share", theory: theory.clone() }
    };
    Some(observed.flows.iter().map(line).collect())
}

/// Payload over bytes on the wire of a greedy TCP flow; `None` for other flows.
fn payload(network: &Network, flow: &Flow) -> Option<f64> {
    let group = &network.groups[flow.group];
    let Transport::Tcp(spec, _) = &group.transport else { return None };
    let is_whole_run = flow.size.is_none() && flow.stop == Time::NEVER && flow.start < Time::ZERO + network.duration;
    let is_greedy = is_whole_run && group.application.is_none() && group.framing.is_none();
    is_greedy.then(|| spec.mss.0 as f64 / (spec.mss + spec.header).0 as f64)
}
