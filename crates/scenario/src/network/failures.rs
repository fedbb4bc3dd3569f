//! Failures of links in the timeline, and the paths around them.
//!
//! Only flows whose own path contains a failed link take another one, as with resilient hashing; they return when it is repaired. Routers learn
//! of a failure after `reroute_after`, or never, and of a repair at once unless it has `reroute_after`.

use super::graph::Graph;
use super::groups::Groups;
use super::paths::Paths;
use super::routes::{Hashed, Towards};
use super::routing::{RouteQuery, Ways};
use super::traffic::{self, Ends};
use crate::problem::Report;
use crate::schema::{Description, Event};
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::network::{Change, ChangeKind, Flow, FlowId, PortId};
use tailback_core::primitives::units::Time;

/// A failure or repair of a link.
pub(super) struct Failure {
    at: Time,
    /// When flows take other paths, if they do.
    known: Option<Time>,
    /// Both directions.
    ports: Vec<PortId>,
    is_down: bool,
}

impl Failure {
    pub fn at(&self) -> Time {
        self.at
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
    let at = Time::ZERO + event.at.time_delta();
    let known = event.reroute_after.map(|after| at + after.time_delta());
    Some(Failure {
        at,
        known: if event.down { known } else { known.or(Some(at)) },
        ports: graph.both_directions(port),
        is_down: event.down,
    })
}

/// The changes with the losses of failed links. Other changes of a link's loss take effect when it works.
pub(super) fn with_losses(changes: Vec<Change>, failures: &[Failure], graph: &Graph) -> Vec<Change> {
    let failing = failures.iter().flat_map(|failure| &failure.ports);
    // Whether the link is down, and its loss when it works.
    let mut states: BTreeMap<PortId, (bool, f64)> = failing.map(|&port| (port, (false, graph.ports[port].random_loss))).collect();
    let mut failures = failures.iter().peekable();
    let mut all = Vec::with_capacity(changes.len());
    for change in changes.into_iter().map(Some).chain([None]) {
        let until = change.as_ref().map_or(Time::NEVER, |change| change.at);
        while let Some(&Failure { at, ref ports, is_down, .. }) = failures.next_if(|failure| failure.at < until) {
            for port in ports {
                let Some(state) = states.get_mut(port) else { continue };
                state.0 = is_down;
                all.push(Change { at, what: ChangeKind::RandomLoss(*port, if is_down { 1.0 } else { state.1 }) });
            }
        }
        if let Some(&Change { what: ChangeKind::RandomLoss(port, loss), .. }) = change.as_ref()
            && let Some((is_down, working)) = states.get_mut(&port)
        {
            *working = loss;
            if *is_down {
                continue;
            }
        }
        all.extend(change);
    }
    all
}

/// Route changes of all flows without a given route, in the order of time. `failures` are in that order.
pub(super) fn reroute(
    failures: &[Failure],
    description: &Description,
    groups: &Groups,
    graph: &Graph,
    flows: &[Flow],
    paths: &mut Paths,
    report: &mut Report,
) -> Vec<Change> {
    let end = Time::ZERO + description.duration.time_delta();
    let times: BTreeSet<Time> = failures.iter().filter_map(|failure| failure.known).filter(|&at| at < end).collect();
    // Flows have their indices only if all groups are valid.
    if times.is_empty() || !report.is_empty() {
        return Vec::new();
    }
    let movable = movable(description, groups, graph, report);
    let mut current: Vec<(u32, u32)> = flows.iter().map(|flow| (flow.forward, flow.backward)).collect();
    let mut changes = Vec::new();
    for at in times {
        let (failed, avoided) = (known_failures(failures, at), failed_links(failures, at));
        let ways = Ways::without(graph, description.routing, &avoided);
        for group in movable.iter().filter(|group| at < group.until) {
            let is_broken = |path: u32| paths.list[path as usize].iter().any(|port| failed.contains(port));
            let broken = |towards: Towards| -> Vec<usize> {
                let own = |flow: &Flow| if towards == Towards::Sink { flow.forward } else { flow.backward };
                (0..group.count).filter(|&member| is_broken(own(&flows[group.first + member]))).collect()
            };
            let around = |towards: Towards| {
                let members = broken(towards);
                let queries: Vec<_> = members.iter().map(|&member| group.query(member, towards)).collect();
                members.into_iter().zip(ways.find(&queries))
            };
            // A flow without another path stays.
            let (there, back): (Vec<_>, Vec<_>) = (around(Towards::Sink).collect(), around(Towards::Source).collect());
            let own = &flows[group.first..group.first + group.count];
            let mut wanted: Vec<(u32, u32)> = own.iter().map(|flow| (flow.forward, flow.backward)).collect();
            there.into_iter().for_each(|(member, ports)| {
                wanted[member].0 = ports.map_or(current[group.first + member].0, |ports| paths.of(ports));
            });
            back.into_iter().for_each(|(member, ports)| {
                wanted[member].1 = ports.map_or(current[group.first + member].1, |ports| paths.of(ports));
            });
            for (member, wanted) in wanted.into_iter().enumerate() {
                let place = group.first + member;
                if current[place] != wanted {
                    current[place] = wanted;
                    changes.push(Change { at, what: ChangeKind::Route(FlowId(place as u32), wanted.0, wanted.1) });
                }
            }
        }
    }
    changes
}

/// Links that have failed, of which routers know.
fn known_failures(failures: &[Failure], now: Time) -> BTreeSet<PortId> {
    down_after(failures.iter().filter(|failure| failure.known.is_some_and(|known| known <= now)))
}

/// The same with failures of which routers never learn, so that flows are not moved to these links.
fn failed_links(failures: &[Failure], now: Time) -> BTreeSet<PortId> {
    down_after(failures.iter().filter(|failure| failure.known.map_or(failure.at <= now, |known| known <= now)))
}

/// The ports that are down after failures and repairs.
fn down_after<'f>(failures: impl Iterator<Item = &'f Failure>) -> BTreeSet<PortId> {
    let mut down = BTreeSet::new();
    for failure in failures {
        for &port in &failure.ports {
            _ = if failure.is_down { down.insert(port) } else { down.remove(&port) };
        }
    }
    down
}

/// The flows of a group that follow the routing.
struct Movable<'d> {
    hashed: Hashed<'d>,
    pairs: Vec<Ends>,
    first: usize,
    count: usize,
    /// Consecutive connections of each pair.
    connections: usize,
    /// When the timeline gives the group a route.
    until: Time,
}

impl Movable<'_> {
    fn query(&self, member: usize, towards: Towards) -> RouteQuery {
        let index = member / self.connections;
        self.hashed.query(index as u64, self.pairs[index % self.pairs.len()], towards)
    }
}

/// All groups but those in cells and those with a given route, which stay on their path.
fn movable<'d>(description: &'d Description, groups: &Groups, graph: &Graph, report: &mut Report) -> Vec<Movable<'d>> {
    let mut movable = Vec::new();
    let follows = |flow: &crate::schema::Flow| flow.route.is_none() && flow.return_route.is_none() && flow.framing.is_none();
    for (name, flow) in description.flows.iter().filter(|(_, flow)| follows(flow)) {
        let Some(of_group) = groups.flows(name.as_str(), "flows", report) else { continue };
        let count = (of_group.end - of_group.start) as usize;
        let connections = flow.connections() as usize;
        let pairs = traffic::ends(name, flow, description.seed.0, count / connections, &graph.sites, report);
        let given = description.timeline.iter().filter(|event| event.route.is_some() && event.group.as_ref() == Some(name));
        movable.extend(pairs.map(|pairs| Movable {
            hashed: Hashed { seed: description.seed.0, name: name.as_str() },
            pairs,
            first: of_group.start.index(),
            count,
            connections,
            until: given.map(|event| Time::ZERO + event.at.time_delta()).min().unwrap_or(Time::NEVER),
        }));
    }
    movable
}

#[cfg(test)]
mod tests {
    use crate::Scenario;
    use crate::network::tests::{graph, names};
    use tailback_core::network::{Change, ChangeKind, FlowId};

    /// An event of a link, in TOML.
    fn event(at: &str, link: &str, what: &str) -> String {
        format!("[[timeline]]\nat = \"{at}\"\nlink = \"{link}\"\n{what}\n")
    }

    /// The data path of the first flow from `a` to `c` after each change, and the time of the change in seconds.
    fn paths(links: &[(&str, &str, &str, u32)], events: &[String]) -> Vec<(f64, String)> {
        let network = graph(links, ("a", "c"), &events.concat());
        let path = |change: &Change| match change.what {
            ChangeKind::Route(FlowId(0), forward, _) => Some((change.at.seconds(), names(&network, forward).join(" "))),
            _ => None,
        };
        network.changes.iter().filter_map(path).collect()
    }

    /// The shortest path is `ac`, then `ab bc`.
    const THREE: [(&str, &str, &str, u32); 3] = [("ac", "a", "c", 1), ("ab", "a", "b", 5), ("bc", "b", "c", 5)];

    fn steps(found: &[(f64, String)]) -> Vec<(f64, &str)> {
        found.iter().map(|(at, path)| (*at, path.as_str())).collect()
    }

    const NOTICED: &str = "down = true\nreroute_after = \"1 s\"";
    const SILENT: &str = "down = true";
    const UP: &str = "up = true";

    #[test]
    fn flows_return_with_their_link_unless_the_repair_is_noticed_later() {
        let down = event("2 s", "ac", NOTICED);
        assert_eq!(steps(&paths(&THREE, &[down.clone(), event("5 s", "ac", UP)])), [(3.0, "ab bc"), (5.0, "ac")]);
        let late = event("5 s", "ac.reverse", "up = true\nreroute_after = \"500 ms\"");
        assert_eq!(steps(&paths(&THREE, &[down, late])), [(3.0, "ab bc"), (5.5, "ac")]);
    }

    #[test]
    fn a_link_that_is_repaired_before_its_failure_is_noticed_moves_no_flow() {
        let events = [event("2 s", "ac", NOTICED), event("2.5 s", "ac", UP)];
        assert!(paths(&THREE, &events).is_empty());
        // Down again: noticed 1 s after the second failure.
        let again = [events.concat(), event("2.8 s", "ac", NOTICED), event("6 s", "ac", UP)];
        assert_eq!(steps(&paths(&THREE, &again)), [(3.8, "ab bc"), (6.0, "ac")]);
    }

    #[test]
    fn flows_leave_a_detour_that_fails_and_return_to_what_is_repaired() {
        let links = [THREE.as_slice(), &[("ab2", "a", "b", 9)]].concat();
        // The detour fails in turn, then everything is repaired in another order.
        let events = [event("1 s", "ac", NOTICED), event("3 s", "ab", NOTICED), event("5 s", "ab", UP), event("6 s", "ac", UP)];
        assert_eq!(steps(&paths(&links, &events)), [(2.0, "ab bc"), (4.0, "ab2 bc"), (5.0, "ab bc"), (6.0, "ac")]);
        // All links of a router at once, which is the failure of the router.
        let router = [event("1 s", "ab", NOTICED), event("1 s", "bc", NOTICED), event("1 s", "ac", NOTICED)].concat();
        assert!(paths(&links, &[router.clone(), event("4 s", "ac", UP)]).is_empty());
        let repaired = ["ab", "bc"].map(|link| event("4 s", link, UP)).concat();
        assert_eq!(steps(&paths(&links, &[router, repaired])), [(4.0, "ab bc")]);
        // On a dead detour, without notice, flows return when their own link does.
        let dead = [event("1 s", "ac", NOTICED), event("3 s", "bc", SILENT), event("5 s", "ac", UP)];
        assert_eq!(steps(&paths(&links, &dead)), [(2.0, "ab bc"), (5.0, "ac")]);
    }

    #[test]
    fn no_flow_moves_to_or_from_a_link_whose_failure_nobody_notices() {
        // `ac` is dead for good; other events do not move its flows.
        let events = [event("1 s", "ac", SILENT), event("2 s", "ab", NOTICED), event("5 s", "ab", UP)];
        assert!(paths(&THREE, &events).is_empty());
        let links = [THREE.as_slice(), &[("ab2", "a", "b", 9)]].concat();
        let events = [event("1 s", "ab", SILENT), event("2 s", "ac", NOTICED)];
        assert_eq!(steps(&paths(&links, &events)), [(3.0, "ab2 bc")]);
    }

    #[test]
    fn a_group_with_a_route_of_the_timeline_keeps_it() {
        let route = "[[timeline]]\nat = \"2 s\"\ngroup = \"web\"\nroute = [\"ab\", \"bc\"]\n".to_owned();
        let events = [route, event("3 s", "bc", NOTICED), event("5 s", "bc", UP), event("6 s", "ac", NOTICED)];
        assert_eq!(steps(&paths(&THREE, &events)), [(2.0, "ab bc")]);
    }

    #[test]
    fn hashed_flows_return_to_the_path_of_their_hash() {
        let shape = "[topology.leaf_spine]\nleaves = 2\nspines = 4\nhosts = 8\nrate = \"1 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"9 packets\"}\n";
        let flows = "[flows.all]\ntraffic = {permutation = \"host*\"}\ntcp = {preset = \"newreno\"}\n";
        let events = [
            event("1 s", "spine0-leaf0", NOTICED),
            event("1.2 s", "spine1-leaf1", NOTICED),
            event("4 s", "spine1-leaf1", UP),
            event("5 s", "spine0-leaf0", UP),
        ];
        let text = format!("duration = \"10 s\"\nrouting = \"ecmp\"\n{shape}{flows}{}", events.concat());
        let network = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build()).unwrap();
        let own = |flow: usize| (network.flows[flow].forward, network.flows[flow].backward);
        let mut now: Vec<(u32, u32)> = (0..network.flows.len()).map(own).collect();
        let crosses = |path: u32, link: &str| names(&network, path).iter().any(|name| name.trim_end_matches(".reverse") == link);
        for at in [2.0, 2.2, 4.0, 5.0] {
            for change in network.changes.iter().filter(|change| change.at.seconds() == at) {
                if let ChangeKind::Route(flow, forward, backward) = change.what {
                    now[flow.index()] = (forward, backward);
                }
            }
            let failed: &[&str] = match at {
                2.0 | 4.0 => &["spine0-leaf0"],
                2.2 => &["spine0-leaf0", "spine1-leaf1"],
                _ => &[],
            };
            for (flow, &(forward, backward)) in now.iter().enumerate() {
                let is_affected = |path: u32| failed.iter().any(|link| crosses(path, link));
                assert!(!is_affected(forward) && !is_affected(backward), "{at}: flow {flow} is on a failed link");
                let own = own(flow);
                assert!(is_affected(own.0) || forward == own.0, "{at}: flow {flow} has left its path");
                assert!(is_affected(own.1) || backward == own.1, "{at}: flow {flow} has left its path back");
            }
        }
        assert!((0..now.len()).any(|flow| crosses(own(flow).0, "spine0-leaf0")));
    }

    #[test]
    fn other_losses_apply_when_the_link_works() {
        let events = [
            event("1 s", "ac", "loss = \"2 %\""),
            event("2 s", "ac", SILENT),
            event("3 s", "ac", "loss = \"3 %\""),
            event("4 s", "ac", UP),
            event("5 s", "ac", "loss = \"5 %\""),
        ];
        let network = graph(&THREE, ("a", "c"), &events.concat());
        let loss = |change: &Change| match change.what {
            ChangeKind::RandomLoss(port, loss) if network.ports[port].name == "ac" => Some((change.at.seconds(), loss)),
            _ => None,
        };
        let seen: Vec<(f64, f64)> = network.changes.iter().filter_map(loss).collect();
        assert_eq!(seen, [(1.0, 0.02), (2.0, 1.0), (4.0, 0.03), (5.0, 0.05)]);
    }

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
