//! Phase effects: where nothing is random, which of a few flows loses at a full drop-tail queue depends on whose packets happen to arrive just
//! after a departure, and so their shares on their round trips to less than the time of a packet (Floyd and Jacobson, "On traffic phase
//! effects in packet-switched gateways", Internetworking: Research and Experience 3, 1992).

use crate::distribution::Distribution;
use crate::problem::Report;
use crate::quantity::Quantity;
use crate::scenario::Description;
use crate::schema::Flow;
use std::collections::BTreeMap;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, ChangeKind, Delay, Group, Network, PortId, Transport};
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::TimerForm;
use tailback_core::traffic::{Arrivals, PacketSize};

/// With more flows, what happens to one of them says little of all.
const FEW: usize = 20;

/// Whether there may be anything to remark, as far as that can be told without a network: some group is small enough, and nothing is drawn.
pub(super) fn may_remark(description: &Description) -> bool {
    let is_small = |flow: &Flow| flow.tcp.is_some() && flow.size.is_none() && flow.count.0 <= FEW as u64;
    description.flows.values().any(is_small) && !draws(description)
}

/// Remarks where few greedy flows share a drop-tail queue and there is no chance in all of the scenario.
pub(super) fn remark(network: &Network, report: &mut Report) {
    if has_chance(network) {
        return;
    }
    let mut sharing: BTreeMap<PortId, usize> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group as usize];
        let is_greedy = fills_queues(&group.transport) && group.application.is_none() && flow.size.is_none();
        let route = &network.paths[flow.forward as usize];
        let narrowest = route.iter().copied().min_by_key(|&port| network.ports[port as usize].rate);
        if let (true, Some(port)) = (is_greedy, narrowest) {
            *sharing.entry(port).or_default() += 1;
        }
    }
    for (port, flows) in sharing {
        let port = &network.ports[port as usize];
        let drops_at_tail = matches!(port.policy, PolicySpec::DropTail(_)) && port.buffer != Buffer::Unlimited;
        if drops_at_tail && (2..=FEW).contains(&flows) {
            let message = format!(
                "phase effects: {flows} flows share the drop-tail queue of `{}`, and nothing here is random, so that their shares depend on \
                 their round trips to a tenth of a millisecond",
                port.name
            );
            let problem = report.warn("", message);
            problem.expected(
                "round trips that are drawn, such as rtt = {uniform = [\"36 ms\", \"44 ms\"]}, or `jitter`, and several seeds",
            );
        }
    }
}

/// TCP, but for laws that hold the queue where they want it.
fn fills_queues(transport: &Transport) -> bool {
    match transport {
        Transport::Tcp(_, law) => !matches!(law, ControllerSpec::Vegas(_) | ControllerSpec::Fast(_)),
        Transport::Datagram(_) => false,
    }
}

/// Whether round trips, starts or sizes are drawn.
fn draws(description: &Description) -> bool {
    description.flows.values().any(|flow| {
        flow.rtt.as_ref().is_some_and(is_random) || is_random(&flow.start) || flow.size.as_ref().is_some_and(is_random)
    })
}

/// Whether anything else is random.
fn has_chance(network: &Network) -> bool {
    let loses = |kind: &ChangeKind| matches!(kind, ChangeKind::RandomLoss(_, share) if *share > 0.0);
    network.groups.iter().any(group_has_chance)
        || network.ports.iter().any(|port| port.random_loss > 0.0 || !is_determined(&port.policy))
        || network.changes.iter().any(|change| loses(&change.what))
        || network.user_code().next().is_some()
}

fn group_has_chance(group: &Group) -> bool {
    let is_drawn = |delay: &Option<Delay>| matches!(delay, Some(Delay::Uniform(..) | Delay::Exponential(_)));
    let sends_at_random = match &group.transport {
        Transport::Tcp(spec, _) => matches!(spec.timer.form, TimerForm::CoarseBsd { .. }),
        Transport::Datagram(spec) => {
            let at_random = match &spec.arrivals {
                Arrivals::Process(process) => process.is_random(),
                Arrivals::External | Arrivals::User(_) => true,
            };
            at_random || !matches!(spec.packet, PacketSize::Fixed(_))
        }
    };
    let hands_over_at_random = group.application.as_ref().is_some_and(|application| application.process.is_random());
    group.jitter.0 > 0
        || is_drawn(&group.send_processing)
        || is_drawn(&group.receive_processing)
        || sends_at_random
        || hands_over_at_random
}

/// Whether it is certain that the policy draws nothing.
fn is_determined(policy: &PolicySpec) -> bool {
    matches!(
        policy,
        PolicySpec::DropTail(_)
            | PolicySpec::Epd(_)
            | PolicySpec::EpdPerVc(_)
            | PolicySpec::Bpd(_)
            | PolicySpec::Spd(_)
            | PolicySpec::Codel(_)
    )
}

fn is_random<Q: Quantity>(distribution: &Distribution<Q>) -> bool {
    match distribution {
        Distribution::Fixed(_) | Distribution::List(_) | Distribution::Evenly(..) => false,
        Distribution::Uniform(..)
        | Distribution::Exponential(_)
        | Distribution::Pareto { .. }
        | Distribution::Lognormal { .. } => true,
    }
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn remarks(flows: &str) -> Vec<String> {
        let queue = "queue = {buffer = \"9 packets\"}";
        let text = format!("duration = \"10 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n{queue}\n{flows}");
        Scenario::from_toml(&text, "").unwrap().remarks().texts().collect()
    }

    fn group(count: u32, more: &str) -> String {
        format!("[flows.web]\ncount = {count}\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"sack\"}}\n{more}\n")
    }

    #[test]
    fn a_few_flows_without_chance_are_remarked_on() {
        let said = remarks(&group(2, "rtt = \"40 ms\""));
        assert!(said[0].starts_with("phase effects: 2 flows share the drop-tail queue of `bottleneck`"), "{said:?}");
        assert_eq!(remarks(&group(2, "rtt = [\"40 ms\", \"80 ms\"]")).len(), 1);
    }

    #[test]
    fn one_flow_many_flows_and_chance_of_any_kind_are_not() {
        for flows in [
            group(1, ""),
            group(21, ""),
            group(2, "rtt = {uniform = [\"36 ms\", \"44 ms\"]}"),
            group(2, "start = {uniform = [\"0 s\", \"1 s\"]}"),
            group(2, "jitter = \"20 us\""),
            group(2, "").replace("{preset = \"sack\"}", "{preset = \"sack\", controller = \"vegas\"}"),
            group(2, "size = \"1 MB\""),
            group(2, "send_processing = {uniform = [\"0 us\", \"10 us\"]}"),
            group(
                2,
                "[flows.noise]\nfrom = \"left\"\nto = \"right\"\nsource = {kind = \"poisson\", rate = \"1 Mbps\", packet = \"1000 B\"}",
            ),
            group(
                2,
                "[links.side]\nfrom = \"left\"\nto = \"right\"\nrate = \"1 Mbps\"\ndelay = \"50 ms\"\nqueue = {buffer = \"9 packets\"}\nloss = {probability = 0.01}",
            ),
        ] {
            assert_eq!(remarks(&flows), Vec::<String>::new(), "{flows}");
        }
    }
}
