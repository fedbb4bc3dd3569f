//! Checks the bursts of policers against the packets that reach them.

use crate::problem::Report;
use crate::quantity::Size;
use std::collections::BTreeMap;
use std::rc::Rc;
use tailback_core::network::{GroupId, Network, Port, PortId, Queues, Scheduling};
use tailback_core::queue::{PolicerSpec, PolicySpec};

/// Warns of bursts that are smaller than full packets, so that none conforms.
pub(super) fn check(network: &Network, queue_places: &[Rc<str>], report: &mut Report) {
    let has_policer = |&(_, port): &(PortId, &Port)| policies(port).any(|policy| matches!(policy, PolicySpec::Policer(_)));
    let policed: BTreeMap<PortId, Vec<(String, u64)>> = PortId::enumerate(&network.ports)
        .filter(has_policer)
        .map(|(index, port)| (index, bursts(port, &queue_places[index])))
        .collect();
    if policed.is_empty() {
        return;
    }
    // Largest packet of each port and its group.
    let mut largest: BTreeMap<PortId, (u64, GroupId)> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        let Some(packet) = group.transport.full_packet().filter(|_| group.framing.is_none()) else { continue };
        for &port in network.paths[flow.forward as usize].iter().filter(|port| policed.contains_key(port)) {
            let known = largest.entry(port).or_insert((packet.0, flow.group));
            if packet.0 > known.0 {
                *known = (packet.0, flow.group);
            }
        }
    }
    for (port, (packet, group)) in largest {
        let name = &network.groups[group].name;
        for (at, burst) in &policed[&port] {
            if *burst < packet && report.is_valid(at) {
                let problem =
                    report.warn(at.clone(), format!("`burst` is smaller than a full packet of `{name}`, so that none conforms"));
                problem.given(Size::new(*burst).to_string()).expected(format!("at least {}", Size::new(packet)));
            }
        }
    }
}

/// Bursts of the policers of a port, in bytes, with their paths.
fn bursts(port: &Port, at: &str) -> Vec<(String, u64)> {
    let place = |index: usize| if index == 0 { format!("{at}.burst") } else { format!("{at}.classes[{}].burst", index - 1) };
    let all = policies(port).enumerate();
    all.filter_map(|(index, policy)| match policy {
        PolicySpec::Policer(PolicerSpec { burst, .. }) => Some((place(index), u64::from(*burst))),
        _ => None,
    })
    .collect()
}

/// Policies of the queue, then of each class.
fn policies(port: &Port) -> impl Iterator<Item = &PolicySpec> {
    let of_classes = match &port.scheduling {
        Some(Scheduling { queues: Queues::OfClasses(classes, _), .. }) => &classes[..],
        _ => &[],
    };
    std::iter::once(&port.policy).chain(of_classes.iter().map(|class| &class.policy))
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    #[test]
    fn groups_after_an_invalid_one_are_checked() {
        let text = r#"{"duration": "1 s", "topology": {"dumbbell": {"rate": "9 Mbps", "delay": "1 ms",
            "queue": {"buffer": "9 packets", "policy": "policer", "rate": "1 Mbps", "burst": "9 kB"}}},
            "flows": {"web": {}, "bulk": {"from": "left", "to": "right", "tcp": {"preset": "newreno"}}}}"#;
        let errors = Scenario::from_json(text, "").and_then(|scenario| scenario.build()).unwrap_err();
        assert!(errors.list.iter().all(|problem| problem.at.starts_with("flows.web")), "{errors}");
    }

    #[test]
    fn a_burst_below_a_packet_causes_a_warning() {
        let warned = |burst: &str, mss: &str| {
            let text = format!(
                "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = \"9 packets\", \
                 policy = \"policer\", rate = \"1 Mbps\", burst = \"{burst}\"}}\n[flows.web]\nfrom = \"left\"\nto = \"right\"\n\
                 tcp = {{preset = \"newreno\", mss = \"{mss}\"}}\n"
            );
            let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}"));
            let (_, warnings) = scenario.build_with_warnings().unwrap_or_else(|errors| panic!("{errors}"));
            warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect::<Vec<_>>()
        };
        let message = "`burst` is smaller than a full packet of `web`, so that none conforms";
        assert_eq!(warned("1039 B", "1000 B"), [format!("topology.dumbbell.queue.burst: {message}")]);
        assert!(warned("1040 B", "1000 B").is_empty());
    }
}
