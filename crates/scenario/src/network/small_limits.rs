//! Checks limits in bytes against the packets that reach them: buffers, and bursts of policers.

use crate::problem::{Report, key};
use crate::quantity::Size;
use std::collections::BTreeMap;
use std::rc::Rc;
use tailback_core::network::{Buffer, ClassQueue, GroupId, Network, Port, PortId, Queues, Scheduling, Transport};
use tailback_core::primitives::token_bucket::BucketSpec;
use tailback_core::primitives::units::Bytes;

/// A limit in bytes with its path.
struct Limit {
    at: String,
    bytes: u64,
    /// What a packet above the limit cannot do.
    effect: &'static str,
}

/// Warns of limits that are smaller than full packets.
pub(super) fn check(network: &Network, queue_places: &[Rc<str>], report: &mut Report) {
    let limited: BTreeMap<PortId, Vec<Limit>> = PortId::enumerate(&network.ports)
        .map(|(id, port)| (id, limits(port, &queue_places[id])))
        .filter(|(_, limits)| !limits.is_empty())
        .collect();
    if limited.is_empty() {
        return;
    }
    // Largest packet of each port, its kind and its group.
    let mut largest: BTreeMap<PortId, (u64, &str, GroupId)> = BTreeMap::new();
    for flow in &network.flows {
        let group = &network.groups[flow.group];
        if group.framing.is_some() {
            continue;
        }
        let acks = match &group.transport {
            Transport::Tcp(spec, _) => Some(spec.ack_size),
            Transport::Datagram(_) => None,
        };
        for (path, packet, kind) in
            [(flow.forward, group.transport.full_packet(), "a full packet"), (flow.backward, acks, "an acknowledgement")]
        {
            let Some(packet) = packet else { continue };
            for &port in network.paths[path as usize].iter().filter(|port| limited.contains_key(port)) {
                let known = largest.entry(port).or_insert((packet.0, kind, flow.group));
                if packet.0 > known.0 {
                    *known = (packet.0, kind, flow.group);
                }
            }
        }
    }
    for (port, (packet, kind, group)) in largest {
        let name = &network.groups[group].name;
        for Limit { at, bytes, effect } in &limited[&port] {
            if *bytes < packet && report.is_valid(at) {
                let message = format!("{} is smaller than {kind} of `{name}`, so that none {effect}", key(at));
                let problem = report.warn(at.clone(), message);
                problem.given(Size::new(*bytes).to_string()).expected(format!("at least {}", Size::new(packet)));
            }
        }
    }
}

/// Limits of the queue of a port, then of each class.
fn limits(port: &Port, at: &str) -> Vec<Limit> {
    let of_classes = match port.scheduling.as_deref() {
        Some(Scheduling { queues: Queues::OfClasses(classes, _), .. }) => &classes[..],
        _ => &[],
    };
    let classes = of_classes.iter().enumerate();
    let classes = classes.map(|(index, ClassQueue { buffer, policy, .. })| (format!("{at}.classes[{index}]"), buffer, policy));
    let mut limits = Vec::new();
    for (at, buffer, policy) in std::iter::once((at.to_string(), &port.buffer, &port.policy)).chain(classes) {
        if let Buffer::Bytes(bytes) = *buffer {
            limits.push(Limit { at: format!("{at}.buffer"), bytes, effect: "can be queued" });
        }
        if let Some(BucketSpec { burst: Bytes(bytes), .. }) = policy.bucket() {
            limits.push(Limit { at: format!("{at}.burst"), bytes, effect: "conforms" });
        }
    }
    limits
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

    #[test]
    fn a_buffer_below_a_packet_causes_a_warning() {
        let warned = |buffer: &str| {
            let text = format!(
                "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"1 ms\"\nqueue = {{buffer = {buffer}}}\n\
                 [flows.web]\nfrom = \"left\"\nto = \"right\"\ntcp = {{preset = \"newreno\", mss = \"1460 B\"}}\n"
            );
            let (_, warnings) = Scenario::from_toml(&text, "").and_then(|scenario| scenario.build_with_warnings()).unwrap();
            warnings.list.iter().map(|warning| format!("{}: {}", warning.at, warning.message)).collect::<Vec<_>>()
        };
        let message = "`buffer` is smaller than a full packet of `web`, so that none can be queued";
        for buffer in ["1499 B", "0 B"] {
            assert_eq!(warned(&format!("\"{buffer}\"")), [format!("topology.dumbbell.queue.buffer: {message}")], "{buffer}");
        }
        for buffer in ["1500 B", "1 packet", "0 packets"] {
            assert!(warned(&format!("\"{buffer}\"")).is_empty(), "{buffer}");
        }
        let message = "`buffer` is smaller than an acknowledgement of `web`, so that none can be queued";
        assert_eq!(
            warned("\"9 packets\"}\nreverse = {queue = {buffer = \"10 B\"}"),
            [format!("topology.dumbbell.reverse.queue.buffer: {message}")]
        );
    }
}
