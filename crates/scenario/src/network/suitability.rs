//! Controllers with settings that do not suit the paths of their flows.

use crate::problem::Report;
use crate::schema::Description;
use std::collections::{BTreeMap, BTreeSet};
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, GroupId, Network, PortId, Transport};
use tailback_core::primitives::units::{Bytes, Rate, TimeDelta, Units};
use tailback_core::settings::{Keys, PathFacts, Severity};
use tailback_core::tcp::TcpSpec;

/// Warns of settings that do not suit the paths of a group: one warning per setting, for the flow with the longest RTT that has it.
pub(super) fn check(description: &Description, network: &Network, report: &mut Report) {
    if network.groups.len() != description.flows.len() {
        return;
    }
    let checked = |flow: &&Flow| tcp(network, flow).is_some_and(|(_, law)| law.depends_on_path());
    if !network.flows.iter().any(|flow| checked(&flow)) {
        return;
    }
    let greedy = greedy_flows(network);
    for ((index, _), name) in GroupId::enumerate(&network.groups).zip(description.flows.keys()) {
        let mut flows: Vec<(TimeDelta, &Flow)> = network
            .flows
            .iter()
            .filter(|flow| flow.group == index)
            .filter(checked)
            .map(|flow| (network.base_rtt(flow), flow))
            .collect();
        flows.sort_by_key(|&(base_rtt, _)| std::cmp::Reverse(base_rtt));
        let mut reported: BTreeSet<&str> = BTreeSet::new();
        for (base_rtt, flow) in flows {
            let Some((spec, law)) = tcp(network, flow) else { continue };
            for conflict in law.check_path(&facts(network, flow, (base_rtt, spec), &greedy)) {
                let key = conflict.keys[0];
                if conflict.severity == Severity::Warning && reported.insert(key) {
                    let of_tcp = TcpSpec::SETTINGS.iter().any(|setting| setting.key == key) || key == "delayed_ack";
                    let table = if of_tcp { "tcp" } else { "tcp.controller" };
                    let problem = report.warn(format!("flows.{name}.{table}.{key}"), conflict.message);
                    problem.expected(conflict.expected);
                }
            }
        }
    }
}

fn tcp<'a>(network: &'a Network, flow: &Flow) -> Option<(&'a TcpSpec, &'a ControllerSpec)> {
    match &network.groups[flow.group].transport {
        Transport::Tcp(spec, law) => Some((spec, law)),
        Transport::Datagram(_) => None,
    }
}

/// Number of endless flows that cross each port.
fn greedy_flows(network: &Network) -> BTreeMap<PortId, u64> {
    let mut crossing = BTreeMap::new();
    for flow in network.flows.iter().filter(|flow| flow.size.is_none()) {
        for &port in &network.paths[flow.forward as usize] {
            *crossing.entry(port).or_default() += 1;
        }
    }
    crossing
}

fn facts(network: &Network, flow: &Flow, (base_rtt, spec): (TimeDelta, &TcpSpec), greedy: &BTreeMap<PortId, u64>) -> PathFacts {
    let packet = spec.mss + spec.header;
    let ports = &network.paths[flow.forward as usize];
    let slowest = ports.iter().copied().min_by_key(|&port| network.ports[port].rate);
    let access = [flow.sender_access.rate, flow.receiver_access.rate].into_iter().flatten().min();
    let at_port = slowest.map_or(Rate(u64::MAX), |port| network.ports[port].rate);
    let bottleneck = access.map_or(at_port, |rate| rate.min(at_port));
    let sharing = slowest.filter(|_| flow.size.is_none()).and_then(|port| greedy.get(&port)).copied().unwrap_or(1).max(1);
    let buffer = slowest.filter(|_| bottleneck == at_port).and_then(|port| places(network.ports[port].buffer, packet));
    PathFacts {
        base_rtt,
        share: bottleneck.min(Rate(at_port.0 / sharing)),
        bottleneck,
        packet,
        hops: network.hops(flow),
        ack_delay: spec.delayed_ack.filter(|rule| rule.every > 1).map_or(TimeDelta::ZERO, |rule| rule.timeout),
        buffer,
        sharing,
    }
}

/// Full packets that a buffer holds; `None` if it is unlimited.
fn places(buffer: Buffer, packet: Bytes) -> Option<Units> {
    match buffer {
        Buffer::Units(units) => Some(Units(units)),
        Buffer::Bytes(bytes) => Some(Units(bytes / packet.0.max(1))),
        Buffer::Unlimited => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    /// Warnings for a dumbbell of this rate and one-way delay.
    fn warnings(rate: &str, delay: &str, tcp: &str) -> Vec<String> {
        warnings_of(1, rate, delay, tcp)
    }

    fn warnings_of(flows: u32, rate: &str, delay: &str, tcp: &str) -> Vec<String> {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {{buffer = \"250 packets\"}}\n\
             [flows.web]\nfrom = \"left\"\nto = \"right\"\ncount = {flows}\n\
             start = {{uniform = [\"0 s\", \"0.5 s\"]}}\ntcp = {{{tcp}}}\n"
        );
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
        let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
        let expected = |problem: &crate::problem::Problem| problem.expected.clone().unwrap_or_default();
        warnings.list.iter().map(|warning| format!("{}: {}; {}", warning.at, warning.message, expected(warning))).collect()
    }

    #[test]
    fn a_target_below_the_base_rtt_causes_a_warning_with_one_above_it() {
        let given = |settings: &str| format!("preset = \"linux/cubic\", delayed_ack = false, controller = {{{settings}}}");
        let found = warnings("10 Gbps", "30 us", &given("kind = \"swift\""));
        assert!(
            found[0].starts_with("flows.web.tcp.controller.base_target: `base_target` gives a target delay of "),
            "{found:?}"
        );
        assert!(found.len() == 1 && found[0].ends_with("; `base_target` of 76 us"), "{found:?}");
        assert!(warnings("10 Gbps", "30 us", &given("kind = \"swift\", base_target = \"76 us\"")).is_empty());
        assert!(warnings("10 Gbps", "5 us", &given("kind = \"swift\"")).is_empty());
    }

    #[test]
    fn delayed_acknowledgements_above_the_target_cause_a_warning() {
        for law in ["swift", "timely"] {
            let found = warnings("10 Gbps", "5 us", &format!("preset = \"linux/cubic\", controller = \"{law}\""));
            assert!(found.len() == 1 && found[0].starts_with("flows.web.tcp.delayed_ack: "), "{found:?}");
        }
    }

    #[test]
    fn limits_of_timely_outside_the_path_cause_warnings() {
        let given =
            |more: &str| format!("preset = \"linux/cubic\", delayed_ack = false, controller = {{kind = \"timely\"{more}}}");
        let found = warnings("100 Gbps", "1 ms", &given(""));
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found.iter().any(|text| text.contains("t_high: ") && text.contains("`t_high` of 500")), "{found:?}");
        assert!(found.iter().any(|text| text.contains("max_rate: ") && text.ends_with("`max_rate` of 100000 Mbps")), "{found:?}");
        assert!(warnings("10 Gbps", "10 us", &given("")).is_empty());
        // The buffer of 250 packets holds 3 ms at 1 Gbit/s.
        let found = warnings("1 Gbps", "10 us", &given(""));
        assert!(found.len() == 1 && found[0].ends_with("`initial_rate` of 1000 Mbps"), "{found:?}");
        assert!(warnings("1 Gbps", "10 us", &given(", initial_rate = \"1 Gbps\"")).is_empty());
    }

    #[test]
    fn queues_that_a_buffer_cannot_hold_cause_warnings() {
        let of = |law: &str, rate: &str| warnings(rate, "10 ms", &format!("preset = \"sack\", controller = {{{law}}}"));
        assert!(of("kind = \"ledbat\"", "1 Mbps").is_empty());
        let found = of("kind = \"ledbat\"", "100 Mbps");
        assert!(
            found.len() == 1 && found[0].contains("controller.target: `target` exceeds the delay of the full buffer"),
            "{found:?}"
        );
        assert!(of("kind = \"fast\"", "100 Mbps").is_empty());
        let found = of("kind = \"fast\", alpha = 300", "100 Mbps");
        assert!(
            found.len() == 1 && found[0].contains("controller.alpha: `alpha` exceeds the buffer of 250 packets"),
            "{found:?}"
        );
        for (law, key, fits, overflows) in
            [("kind = \"vegas\"", "beta", 62, 63), ("kind = \"vegas\", alpha_rate = 1, beta_rate = 500", "beta_rate", 23, 24)]
        {
            let of = |flows| warnings_of(flows, "10 Mbps", "10 ms", &format!("preset = \"sack\", controller = {{{law}}}"));
            let about = |found: &[String]| {
                found.iter().any(|text| text.contains(&format!("`{key}` exceeds the buffer of 250 packets for")))
            };
            assert!(!about(&of(fits)) && about(&of(overflows)), "{law}: {:?} {:?}", of(fits), of(overflows));
        }
    }

    #[test]
    fn growth_that_overflows_the_path_in_a_round_trip_causes_a_warning() {
        let of = |rate: &str| warnings(rate, "300 ms", "preset = \"sack\", controller = \"hybla\"");
        let found = of("1 Mbps");
        assert!(found.len() == 1 && found[0].contains("controller.rtt_0: `rtt_0` makes the window grow by 6"), "{found:?}");
        assert!(of("100 Mbps").is_empty());
    }

    #[test]
    fn a_group_with_many_round_trips_has_one_warning_for_the_longest() {
        let text = "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Gbps\"\ndelay = \"1 us\"\nqueue = {buffer = \"250 packets\"}\n\
             [flows.web]\nfrom = \"left\"\nto = \"right\"\ncount = 3\npropagation_rtt = [\"1 ms\", \"3 ms\", \"2 ms\"]\n\
             tcp = {preset = \"sack\", delayed_ack = false, controller = \"swift\"}\n";
        let (_, warnings) = Scenario::from_toml(text, "").and_then(|scenario| scenario.build_with_warnings()).unwrap();
        assert!(warnings.list.len() == 1 && warnings.list[0].message.contains("base RTT of 3002 us"), "{:?}", warnings.list);
    }
}
