//! Conditions for links that feed a cut-through link (`switching = "cut_through"`). A feeder must not be slower, because the link sends a
//! packet while it arrives. A feeding link needs a delay, because otherwise the head of a packet would be at two queues at the same time.

use super::changes::Changes;
use super::graph::Graph;
use crate::problem::Report;
use crate::quantity::Rate;
use std::collections::BTreeSet;
use tailback_core::network::{AccessLink, ChangeKind, Flow, FlowId, Group, Port, PortId, Switching, Transport};
use tailback_core::primitives::units::{self, TimeDelta};

pub(super) struct Feeders<'d> {
    graph: &'d Graph,
    /// Bounds by port.
    bounds: Vec<Bounds>,
}

/// Bounds of the settings of a port over the run.
struct Bounds {
    /// Rate of each transmitter in bit/s.
    min_rate: u64,
    max_rate: u64,
    shortest_delay: TimeDelta,
}

impl Feeders<'_> {
    pub fn new<'d>(graph: &'d Graph, changes: &Changes) -> Feeders<'d> {
        let of_port = |port: &Port| Bounds { min_rate: port.rate.0, max_rate: port.rate.0, shortest_delay: port.delay };
        let mut bounds: Vec<Bounds> = graph.ports.iter().map(of_port).collect();
        for change in &changes.list {
            match change.what {
                ChangeKind::Rate(port, rate) => {
                    let bounds = &mut bounds[port];
                    (bounds.min_rate, bounds.max_rate) = (bounds.min_rate.min(rate.0), bounds.max_rate.max(rate.0));
                }
                ChangeKind::Delay(port, delay) => {
                    let bounds = &mut bounds[port];
                    bounds.shortest_delay = bounds.shortest_delay.min(delay);
                }
                ChangeKind::RandomLoss(..) | ChangeKind::Buffer(..) | ChangeKind::Route(..) => {}
            }
        }
        Feeders { graph, bounds }
    }

    /// Checks all links; `paths` are the paths of all flows.
    pub fn check(&self, paths: &[Vec<PortId>], changes: &Changes, groups: &[Group], flows: &[Flow], report: &mut Report) {
        if self.graph.ports.iter().all(|port| port.switching == Switching::StoreAndForward) {
            return;
        }
        let hops: BTreeSet<(PortId, PortId)> =
            paths.iter().flat_map(|path| path.windows(2)).map(|hop| (hop[0], hop[1])).collect();
        for hop in hops.into_iter().filter(|hop| self.cuts_through(hop.1)) {
            self.check_hop(hop, report);
        }
        let later = changes.list.iter().filter_map(|change| match change.what {
            ChangeKind::Route(flow, forward, backward) => Some((flow, forward, backward)),
            _ => None,
        });
        let now = FlowId::enumerate(flows).map(|(index, flow)| (index, flow.forward, flow.backward));
        let first = |path: u32| paths.get(path as usize).and_then(|path| path.first()).copied();
        for (flow, forward, backward) in now.chain(later) {
            let Some(flow) = flows.get(flow.index()) else { continue };
            let group = &groups[flow.group];
            self.check_access("sender_access", &flow.sender_access, first(forward), group, report);
            if matches!(group.transport, Transport::Tcp(..)) {
                self.check_access("receiver_access", &flow.receiver_access, first(backward), group, report);
            }
        }
    }

    fn check_hop(&self, (feeder, link): (PortId, PortId), report: &mut Report) {
        let at = format!("{}.switching", self.graph.place(link));
        let name = |port: PortId| &self.graph.ports[port].name;
        let what = disorder(&self.graph.ports[feeder]);
        if let Some(what) = what.filter(|_| report.is_valid(&at)) {
            let problem = report.add(&at, format!("`switching` cannot be cut-through: `{}` {what}", name(feeder)));
            problem.given("\"cut_through\"").expected("\"store_and_forward\"");
            return;
        }
        let Bounds { min_rate, shortest_delay, .. } = self.bounds[feeder];
        let needed = self.bounds[link].max_rate;
        if self.graph.ports[feeder].shaper.is_some() && report.is_valid(&at) {
            let problem = report
                .add(&at, format!("`switching` cannot be cut-through: `{}`, which feeds the link, has a shaper", name(feeder)));
            problem.expected("`store_and_forward`, or no `shaper`");
        }
        if min_rate < needed && report.is_valid(&at) {
            let problem =
                report.add(&at, format!("`switching` cannot be cut-through: `{}` is slower than `{}`", name(feeder), name(link)));
            problem.given(format!("`{}` at {}", name(feeder), self.described(feeder, min_rate)));
            problem.expected(format!("at least {}, or \"store_and_forward\"", self.described(link, needed)));
        }
        if shortest_delay == TimeDelta::ZERO && report.is_valid(&at) {
            let problem = report.add(&at, format!("`switching` cannot be cut-through: `{}` has no delay", name(feeder)));
            problem.given(format!("no delay on `{}`", name(feeder))).expected("a delay above zero, or \"store_and_forward\"");
        }
    }

    /// Checks an access link; `link` is the next one.
    fn check_access(&self, key: &str, access: &AccessLink, link: Option<PortId>, group: &Group, report: &mut Report) {
        let (Some(units::Rate(rate)), Some(link)) = (access.rate, link.filter(|&link| self.cuts_through(link))) else { return };
        let needed = self.bounds[link].max_rate;
        let at = format!("flows.{}.{key}.rate", group.name);
        if rate < needed && report.is_valid(&at) {
            let name = &self.graph.ports[link].name;
            let problem = report.add(at, format!("`rate` is below that of `{name}`, a cut-through link"));
            problem.given(Rate::new(rate).to_string());
            problem.expected(format!("at least {}, or switching = \"store_and_forward\" there", self.described(link, needed)));
        }
    }

    /// A rate of a port in bit/s, with its origin.
    fn described(&self, port: PortId, rate: u64) -> String {
        let is_first = self.graph.ports[port].rate.0 == rate;
        format!("{}{}", Rate::new(rate), if is_first { "" } else { " (by `timeline`)" })
    }

    fn cuts_through(&self, port: PortId) -> bool {
        self.graph.ports[port].switching == Switching::CutThrough
    }
}

/// The reason why packets may leave a link with gaps, if there is one.
fn disorder(port: &Port) -> Option<&'static str> {
    match () {
        () if port.varying.is_some() => Some("has a rate that varies"),
        () if port.impairments.jitter.is_some() => Some("has jitter"),
        () if port.impairments.duplication > 0.0 => Some("duplicates packets"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    /// A link of `feeder` Mbit/s and `delay` ms before a cut-through trunk of 10 Mbit/s, with access links of `access` Mbit/s.
    fn faults(feeder: u32, delay: u32, access: u32, timeline: &str) -> Vec<String> {
        let link = |name: &str, ends: (&str, &str), rate: u32, delay: u32, more: &str| {
            format!(
                "[links.{name}]\nfrom = \"{}\"\nto = \"{}\"\nrate = \"{rate} Mbps\"\ndelay = \"{delay} ms\"\n\
                 queue = {{buffer = \"9 packets\"}}\n{more}\n",
                ends.0, ends.1
            )
        };
        let text = format!(
            "duration = \"10 s\"\n[nodes]\na = {{}}\nb = {{}}\nc = {{}}\n{}{}[flows.far]\nfrom = \"a\"\nto = \"c\"\n\
             tcp = {{preset = \"reno\"}}\n[flows.near]\nfrom = \"b\"\nto = \"c\"\nsender_access = {{rate = \"{access} Mbps\"}}\n\
             receiver_access = {{rate = \"{access} Mbps\"}}\ntcp = {{preset = \"reno\"}}\n{timeline}",
            link("in", ("a", "b"), feeder, delay, "reverse = {switching = \"store_and_forward\"}"),
            link("out", ("b", "c"), 10, 1, "switching = \"cut_through\""),
        );
        match Scenario::from_toml(&text, "").unwrap().build() {
            Ok(_) => Vec::new(),
            Err(errors) => errors.list.iter().map(|problem| problem.at.clone()).collect(),
        }
    }

    #[test]
    fn a_feeder_of_a_cut_through_link_is_at_least_as_fast() {
        assert_eq!(faults(10, 1, 10, ""), [""; 0]);
        assert_eq!(faults(9, 1, 10, ""), ["links.out.switching"]);
        assert_eq!(faults(10, 1, 9, ""), ["flows.near.sender_access.rate", "flows.near.receiver_access.rate"]);
    }

    #[test]
    fn changes_in_the_timeline_are_checked() {
        let change = |link: &str, what: &str| format!("[[timeline]]\nat = \"1 s\"\nlink = \"{link}\"\n{what}\n");
        assert_eq!(faults(10, 1, 10, &change("in", "rate = \"9 Mbps\"")), ["links.out.switching"]);
        assert_eq!(faults(10, 1, 10, &change("out", "rate = \"9 Mbps\"")), [""; 0]);
        assert_eq!(faults(20, 1, 10, &change("out", "rate = \"15 Mbps\"")), ["flows.near.sender_access.rate"]);
        assert_eq!(faults(10, 1, 10, &change("in", "delay = \"0 ms\"")), ["links.out.switching"]);
    }

    #[test]
    fn a_feeding_link_has_a_delay() {
        assert_eq!(faults(10, 0, 10, ""), ["links.out.switching"]);
    }
}
