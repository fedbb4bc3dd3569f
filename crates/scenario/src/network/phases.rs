//! Phase effects: without randomness, arrivals just after a departure decide which of a few flows loses packets at a full drop-tail queue.
//! Their shares then depend on differences of round-trip times below a packet time (Floyd and Jacobson, "On traffic phase
//! effects in packet-switched gateways", Internetworking: Research and Experience 3, 1992).

use super::chance::{draws, has_chance};
use crate::problem::Report;
use crate::schema::Description;
use crate::schema::Flow;
use std::collections::BTreeMap;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Network, PortId, Transport};
use tailback_core::queue::PolicySpec;

/// Maximum number of flows for which phase effects matter.
const FEW: usize = 20;

/// Whether a note is possible, without building the network: some group is small and nothing is random.
pub(super) fn may_remark(description: &Description) -> bool {
    let is_small = |flow: &Flow| {
        flow.tcp.as_ref().is_some_and(|tcp| tcp.simulated().is_some())
            && flow.size.is_none()
            && flow.count.is_none_or(|count| count.0 <= FEW as u64)
    };
    description.flows.values().any(is_small) && !draws(description)
}

/// Adds a note if few greedy flows share a drop-tail queue and nothing in the scenario is random.
pub(super) fn note(network: &Network, report: &mut Report) {
    if has_chance(network) {
        return;
    }
    let mut sharing: BTreeMap<PortId, usize> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        let is_greedy = fills_queues(&group.transport) && group.application.is_none() && flow.size.is_none();
        let route = &network.paths[flow.forward as usize];
        let narrowest = route.iter().copied().min_by_key(|&port| network.ports[port].rate);
        if let (true, Some(port)) = (is_greedy, narrowest) {
            *sharing.entry(port).or_default() += 1;
        }
    }
    for (port, flows) in sharing {
        let port = &network.ports[port];
        let drops_at_tail =
            port.scheduling.is_none() && matches!(port.policy, PolicySpec::DropTail(_)) && port.buffer != Buffer::Unlimited;
        if drops_at_tail && (2..=FEW).contains(&flows) {
            let message = format!(
                "results may show phase effects: {flows} flows share the drop-tail queue of `{}` and nothing is random, so that a \
                 tenth of a millisecond of round-trip time decides their shares",
                port.name
            );
            let problem = report.warn("", message);
            problem.expected(
                "random round-trip times, such as propagation_rtt = {uniform = [\"36 ms\", \"44 ms\"]}, or `jitter`, and several seeds",
            );
        }
    }
}

/// TCP with a controller that fills the queue, unlike delay-based ones.
fn fills_queues(transport: &Transport) -> bool {
    match transport {
        Transport::Tcp(_, law) => !matches!(law, ControllerSpec::Vegas(_) | ControllerSpec::Fast(_)),
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
        assert_eq!(notes(&group(2, "propagation_rtt = [\"40 ms\", \"80 ms\"]")).len(), 1);
    }

    #[test]
    fn one_flow_many_flows_and_randomness_cause_no_note() {
        for flows in [
            group(1, ""),
            group(21, ""),
            group(2, "propagation_rtt = {uniform = [\"36 ms\", \"44 ms\"]}"),
            group(2, "start = {uniform = [\"0 s\", \"1 s\"]}"),
            group(2, "jitter = \"20 us\""),
            group(2, "").replace("{preset = \"sack\"}", "{preset = \"sack\", controller = \"vegas\"}"),
            group(2, "size = \"1 MB\""),
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
