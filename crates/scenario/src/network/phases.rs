//! Phase effects: acknowledgements clock packets, so that at a full drop-tail queue the flows whose packets arrive first after a
//! departure find the place that became free. Differences of round-trip times below a packet time then decide about shares (Floyd and
//! Jacobson, "On traffic phase effects in packet-switched gateways", Internetworking: Research and Experience 3, 1992), and flows with
//! longer round trips find shorter queues. Measured in docs/howto/round_trips.md.

use super::chance::{draws, has_chance, is_random};
use crate::problem::Report;
use crate::schema::Description;
use crate::schema::Flow;
use std::collections::BTreeMap;
use tailback_core::network::{Buffer, Group, GroupId, Network, PortId, Transport};
use tailback_core::primitives::units::{Rate, TimeDelta};

/// Maximum number of flows for which phase effects were measured.
const FEW: usize = 100;

/// Whether a note is possible, without building the network: several greedy flows, few in each group.
pub(super) fn may_remark(description: &Description) -> bool {
    let is_greedy = |flow: &Flow| {
        flow.tcp.as_ref().is_some_and(|tcp| tcp.simulated().is_some())
            && flow.size.is_none()
            && flow.count.is_none_or(|count| count.0 <= FEW as u64)
    };
    let mut greedy = description.flows.values().filter(|flow| is_greedy(flow));
    greedy.next().is_some_and(|flow| flow.count.is_some() || flow.traffic.is_some() || greedy.next().is_some())
}

/// Jitter of this number of packet times ended phase effects in docs/howto/round_trips.md; that of a quarter did not.
const MIXING: u64 = 16;

/// The flows that share a queue.
struct Sharing {
    flows: usize,
    /// Whether all are of one group with random round trips, so that each of them has the same share on average over the seeds.
    are_alike: bool,
    group: GroupId,
    shortest: TimeDelta,
    longest: TimeDelta,
}

/// Adds a note if few greedy flows share a drop-tail queue, and their round trips differ or nothing in the scenario is random.
pub(super) fn note(description: &Description, network: &Network, report: &mut Report) {
    let mut sharing: BTreeMap<PortId, Sharing> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        let route = &network.paths[flow.forward as usize];
        let narrowest = route.iter().copied().min_by_key(|&port| network.ports[port].rate);
        let is_greedy = group.application.is_none() && flow.size.is_none();
        if let Some(port) = narrowest.filter(|&port| is_greedy && is_clocked(group, network.ports[port].rate)) {
            let rtt = network.base_rtt(flow);
            let first = Sharing {
                flows: 0,
                are_alike: is_drawn(description, &group.name),
                group: flow.group,
                shortest: rtt,
                longest: rtt,
            };
            let at_port = sharing.entry(port).or_insert(first);
            at_port.flows += 1;
            at_port.are_alike &= at_port.group == flow.group;
            at_port.shortest = at_port.shortest.min(rtt);
            at_port.longest = at_port.longest.max(rtt);
        }
    }
    let has_draws = draws(description) || has_chance(network);
    for (port, Sharing { flows, are_alike, shortest, longest, .. }) in sharing {
        let port = &network.ports[port];
        let drops_at_tail = port.scheduling.is_none() && port.policy.accepts_all() && port.buffer != Buffer::Unlimited;
        if !drops_at_tail || are_alike || !(2..=FEW).contains(&flows) {
            continue;
        }
        let name = &port.name;
        if shortest < longest {
            let problem = report.warn(
                "",
                format!(
                    "round trips may decide the shares of the {flows} flows at the drop-tail queue of `{name}`, whatever else is random: \
                     acknowledgements clock their packets, and those that arrive first after a departure find a place"
                ),
            );
            problem.expected(
                "the same result with `policy = \"codel\"` there, or with `pacing = true` in `tcp`, before a conclusion",
            );
        } else if !has_draws {
            let problem = report.warn(
                "",
                format!(
                    "results may show phase effects: {flows} flows share the drop-tail queue of `{name}` and nothing is random, so that \
                     differences below a packet time decide their shares"
                ),
            );
            problem.expected("random starts, such as start = {uniform = [\"0 s\", \"1 s\"]}, and several seeds");
        }
    }
}

/// Whether the round trips of a group are random.
fn is_drawn(description: &Description, group: &str) -> bool {
    let named = description.flows.iter().find(|(name, _)| name.as_str() == group);
    named.and_then(|(_, flow)| flow.propagation_rtt.as_ref()).is_some_and(is_random)
}

/// TCP without pacing and with little jitter, whose controller fills the queue.
fn is_clocked(group: &Group, rate: Rate) -> bool {
    match &group.transport {
        Transport::Tcp(spec, law) => {
            let abilities = law.abilities();
            let mixing = TimeDelta(rate.time_to_send(spec.mss + spec.header).0.saturating_mul(MIXING));
            !spec.pacing && !abilities.may_pace && !abilities.targets_backlog && group.jitter < mixing
        }
        Transport::Datagram(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn notes(flows: &str) -> Vec<String> {
        let queue = "queue = {buffer = \"9 packets\"}";
        let text = format!("duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n{queue}\n{flows}");
        Scenario::from_toml(&text, "").unwrap().notes().texts().collect()
    }

    fn group(count: u32, more: &str) -> String {
        format!("[flows.web]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"sack\"}}\n{more}\n")
    }

    #[test]
    fn a_few_flows_without_randomness_cause_a_note() {
        let said = notes(&group(2, "propagation_rtt = \"40 ms\""));
        assert!(
            said[0].starts_with("results may show phase effects: 2 flows share the drop-tail queue of `bottleneck`"),
            "{said:?}"
        );
    }

    #[test]
    fn different_round_trips_cause_a_note_whatever_else_is_random() {
        for more in [
            "",
            "start = {uniform = [\"0 s\", \"1 s\"]}",
            "jitter = \"20 us\"",
            "send_processing = {uniform = [\"0 us\", \"10 us\"]}",
            "sender_access = {rate = \"100 Mbps\"}",
        ] {
            let said = notes(&group(2, &format!("propagation_rtt = [\"40 ms\", \"42 ms\"]\n{more}")));
            assert!(said[0].starts_with("round trips may decide the shares of the 2 flows"), "{said:?}");
        }
        let random = group(1, "propagation_rtt = {uniform = [\"36 ms\", \"44 ms\"]}");
        assert_eq!(notes(&(random.clone() + &random.replace("web", "far"))).len(), 1);
        let two_groups = group(1, "propagation_rtt = \"40 ms\"") + &group(1, "propagation_rtt = \"42 ms\"").replace("web", "far");
        assert_eq!(notes(&two_groups).len(), 1);
    }

    #[test]
    fn one_flow_many_flows_pacing_and_delay_based_laws_cause_no_note() {
        let apart = "propagation_rtt = [\"40 ms\", \"42 ms\"]";
        for flows in [
            group(1, ""),
            group(101, "propagation_rtt = {evenly = [\"36 ms\", \"44 ms\"]}"),
            group(2, "propagation_rtt = {uniform = [\"36 ms\", \"44 ms\"]}"),
            group(2, "start = {uniform = [\"0 s\", \"1 s\"]}"),
            group(2, "jitter = \"20 us\""),
            group(2, apart).replace("{preset = \"sack\"}", "{preset = \"sack\", controller = \"vegas\"}"),
            group(2, apart).replace("{preset = \"sack\"}", "{preset = \"sack\", pacing = true}"),
            group(2, apart).replace("{preset = \"sack\"}", "{preset = \"linux/bbr\"}"),
            group(2, apart) + "jitter = \"20 ms\"\n",
            group(2, apart) + "size = \"1 MB\"\n",
            group(2, "send_processing = {uniform = [\"0 us\", \"10 us\"]}"),
            group(
                2,
                "[flows.noise]\nfrom = \"left\"\nto = \"right\"\nsource = {kind = \"poisson\", rate = \"1 Mbps\", packet_size = \"1000 B\"}",
            ),
            group(
                2,
                "[links.side]\nfrom = \"left\"\nto = \"right\"\nrate = \"1 Mbps\"\ndelay = \"50 ms\"\nqueue = {buffer = \"9 packets\"}\nloss = {probability = 0.01}",
            ),
        ] {
            assert_eq!(notes(&flows), Vec::<String>::new(), "{flows}");
        }
    }
}
