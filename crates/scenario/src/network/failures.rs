//! Failures of links in the timeline, and the paths around them.
//!
//! Only flows whose own path contains a failed link take another one, as with resilient hashing; they return when it is repaired.

use super::graph::Graph;
use super::groups::Groups;
use super::paths::Paths;
use super::routes::{Hashed, Towards};
use super::routing::Ways;
use super::traffic;
use crate::problem::Report;
use crate::schema::{Description, Event};
use std::collections::BTreeSet;
use tailback_core::network::{Change, ChangeKind, Flow, FlowId, PortId};
use tailback_core::primitives::units::{Time, TimeDelta};

/// A failure or repair of a link.
pub(super) struct Failure {
    pub at: Time,
    /// Time until flows take other paths, if they do.
    pub reroute_after: Option<TimeDelta>,
    /// Both directions.
    pub ports: Vec<PortId>,
    pub is_down: bool,
}

impl Failure {
    /// The losses that it begins or ends.
    pub fn losses<'a>(&'a self, graph: &'a Graph) -> impl Iterator<Item = Change> + 'a {
        let loss = |port: PortId| if self.is_down { 1.0 } else { graph.ports[port].random_loss };
        self.ports.iter().map(move |&port| Change { at: self.at, what: ChangeKind::RandomLoss(port, loss(port)) })
    }
}

/// The failure or repair of an event, if it is one.
pub(super) fn of_event(event: &Event, at: &str, port: PortId, graph: &Graph, report: &mut Report) -> Option<Failure> {
    if event.down && event.up {
        report.add(at, "`down` and `up` are both given").expected("one of them");
    }
    if !event.down && !event.up {
        if event.reroute_after.is_some() {
            report.add(format!("{at}.reroute_after"), "`reroute_after` requires `down` or `up`").expected("also `down` or `up`");
        }
        return None;
    }
    if event.loss.is_some() {
        report.add(format!("{at}.loss"), "`loss` cannot be used with `down` or `up`").expected("an event of its own");
    }
    Some(Failure {
        at: Time::ZERO + event.at.time_delta(),
        reroute_after: event.reroute_after.map(|after| after.time_delta()),
        ports: graph.both_directions(port),
        is_down: event.down,
    })
}

/// Route changes of all flows without a given route, in the order of the failures.
pub(super) fn reroute(
    failures: &[Failure],
    description: &Description,
    groups: &Groups,
    graph: &Graph,
    flows: &[Flow],
    paths: &mut Paths,
    report: &mut Report,
) -> Vec<Change> {
    let mut ordered: Vec<&Failure> = failures.iter().collect();
    ordered.sort_by_key(|failure| failure.at);
    let mut down: BTreeSet<PortId> = BTreeSet::new();
    let mut current: Vec<(u32, u32)> = flows.iter().map(|flow| (flow.forward, flow.backward)).collect();
    let mut changes = Vec::new();
    for failure in ordered {
        for &port in &failure.ports {
            _ = if failure.is_down { down.insert(port) } else { down.remove(&port) };
        }
        let Some(after) = failure.reroute_after else { continue };
        let at = failure.at + after;
        if at >= Time::ZERO + description.duration.time_delta() {
            continue;
        }
        let ways = Ways::without(graph, description.routing, &down);
        for (name, flow) in &description.flows {
            let Some(of_group) = groups.flows(name.as_str(), "flows", report).filter(|_| may_move(flow)) else { continue };
            let first = of_group.start.index();
            let count = of_group.end.index() - first;
            let Some(pairs) = traffic::ends(name, flow, description.seed.0, count, &graph.sites, report) else { continue };
            let hashed = Hashed { seed: description.seed.0, name: name.as_str() };
            let is_broken = |path: u32| paths.list[path as usize].iter().any(|port| down.contains(port));
            let broken = |towards: Towards| -> Vec<usize> {
                let own = |flow: &Flow| if towards == Towards::Sink { flow.forward } else { flow.backward };
                (0..count).filter(|&member| is_broken(own(&flows[first + member]))).collect()
            };
            let around = |towards: Towards| {
                let members = broken(towards);
                let queries: Vec<_> =
                    members.iter().map(|&member| hashed.query(member as u64, pairs[member % pairs.len()], towards)).collect();
                members.into_iter().zip(ways.find(&queries))
            };
            // A flow without another path stays.
            let (there, back): (Vec<_>, Vec<_>) = (around(Towards::Sink).collect(), around(Towards::Source).collect());
            let mut wanted: Vec<(u32, u32)> =
                flows[first..first + count].iter().map(|flow| (flow.forward, flow.backward)).collect();
            there.into_iter().for_each(|(member, ports)| {
                wanted[member].0 = ports.map_or(current[first + member].0, |ports| paths.of(ports));
            });
            back.into_iter().for_each(|(member, ports)| {
                wanted[member].1 = ports.map_or(current[first + member].1, |ports| paths.of(ports));
            });
            for (member, wanted) in wanted.into_iter().enumerate() {
                let place = first + member;
                if current[place] != wanted {
                    current[place] = wanted;
                    changes.push(Change { at, what: ChangeKind::Route(FlowId(place as u32), wanted.0, wanted.1) });
                }
            }
        }
    }
    changes
}

/// Flows in cells, and flows with a given route, stay on their path.
fn may_move(flow: &crate::schema::Flow) -> bool {
    flow.route.is_none() && flow.return_route.is_none() && flow.framing.is_none()
}

#[cfg(test)]
mod tests {
    use crate::network::tests::{graph, names};
    use tailback_core::network::ChangeKind;

    #[test]
    fn flows_go_around_a_failed_link_and_return_to_it() {
        let links = [("ab", "a", "b", 5), ("bc", "b", "c", 5), ("ac", "a", "c", 1)];
        let events = "[[timeline]]\nat = \"4 s\"\nlink = \"ac\"\ndown = true\nreroute_after = \"50 ms\"\n\
                      [[timeline]]\nat = \"6 s\"\nlink = \"ac.reverse\"\nup = true\nreroute_after = \"0 s\"\n";
        let network = graph(&links, ("a", "c"), &format!("count = 2\n{events}"));
        let seen: Vec<(f64, String)> = network
            .changes
            .iter()
            .map(|change| {
                let what = match change.what {
                    ChangeKind::RandomLoss(port, loss) => format!("{} {loss}", network.ports[port].name),
                    ChangeKind::Route(flow, forward, backward) => {
                        format!("{} {:?} {:?}", flow.0, names(&network, forward), names(&network, backward))
                    }
                    _ => panic!("{change:?}"),
                };
                (change.at.seconds(), what)
            })
            .collect();
        let around = |flow: u32| format!("{flow} [\"ab\", \"bc\"] [\"bc.reverse\", \"ab.reverse\"]");
        let own = |flow: u32| format!("{flow} [\"ac\"] [\"ac.reverse\"]");
        let wanted = [
            (4.0, "ac 1".to_owned()),
            (4.0, "ac.reverse 1".to_owned()),
            (4.05, around(0)),
            (4.05, around(1)),
            (6.0, "ac.reverse 0".to_owned()),
            (6.0, "ac 0".to_owned()),
            (6.0, own(0)),
            (6.0, own(1)),
        ];
        assert_eq!(seen, wanted);
    }

    #[test]
    fn without_another_path_or_a_delay_flows_stay() {
        let event = |more: &str| format!("[[timeline]]\nat = \"4 s\"\nlink = \"ab\"\ndown = true\n{more}");
        let only = graph(&[("ab", "a", "b", 5)], ("a", "b"), &event("reroute_after = \"1 s\"\n"));
        assert_eq!(only.changes.len(), 2);
        let links = [("ab", "a", "b", 5), ("ac", "a", "c", 5), ("cb", "c", "b", 5)];
        assert_eq!(graph(&links, ("a", "b"), &event("")).changes.len(), 2);
        assert_eq!(graph(&links, ("a", "b"), &event("reroute_after = \"1 s\"\n")).changes.len(), 3);
        assert_eq!(graph(&links, ("a", "b"), &event("reroute_after = \"6 s\"\n")).changes.len(), 2);
    }
}
