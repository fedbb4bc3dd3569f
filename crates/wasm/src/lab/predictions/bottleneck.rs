//! Greedy TCP flows, and the single link that is their bottleneck.

use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, Network, Port, Transport};
use tailback_core::primitives::units::Time;
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::{AckCounting, TcpSpec};
use tailback_models::limits::QUIET_LOAD;

/// A flow that always has data to send.
#[derive(Clone, Copy)]
pub(super) struct Greedy<'a> {
    pub(super) flow: &'a Flow,
    pub(super) tcp: &'a TcpSpec,
    pub(super) law: &'a ControllerSpec,
    pub(super) rtt_s: f64,
}

impl Greedy<'_> {
    pub(super) fn packet_bytes(&self) -> f64 {
        (self.tcp.mss + self.tcp.header).0 as f64
    }

    /// Payload over bytes on the wire.
    pub(super) fn payload(&self) -> f64 {
        self.tcp.mss.0 as f64 / self.packet_bytes()
    }

    /// Segments acknowledged per window increase of one segment: b of the models.
    pub(super) fn segments_per_increase(&self) -> f64 {
        if self.tcp.ack_counting == AckCounting::Bytes {
            1.0
        } else {
            self.tcp.delayed_ack.map_or(1.0, |delayed| delayed.every.into())
        }
    }
}

/// All flows, if models cover them and their links; otherwise the reason.
pub(super) fn greedy_tcp(network: &Network) -> Result<Vec<Greedy<'_>>, String> {
    for (port, name) in network.ports.iter().map(|port| (port, &port.name)) {
        if let Some(what) = port.unmodelled() {
            return Err(format!("links.{name}: it {what}, which no model covers"));
        }
    }
    network.flows.iter().map(|flow| greedy(network, flow)).collect()
}

fn greedy<'a>(network: &'a Network, flow: &'a Flow) -> Result<Greedy<'a>, String> {
    let group = &network.groups[flow.group as usize];
    let uncovered = |why: &str| Err(format!("flows.{}: {why}", group.name));
    let Transport::Tcp(tcp, law) = &group.transport else {
        return uncovered("datagrams share links with TCP, which no model covers");
    };
    match () {
        () if group.application.is_some() || flow.size.is_some() || flow.stop != Time::NEVER => {
            return uncovered("not greedy for the whole run; models require flows that always have data to send");
        }
        () if flow.start >= Time::ZERO + network.duration => {
            return uncovered("some of its flows start after the end of the run");
        }
        () if group.framing.is_some() => return uncovered("packets travel in cells, but models count packets"),
        () if group.send_processing.is_some() || group.receive_processing.is_some() => {
            return uncovered("no model covers processing times at hosts");
        }
        () => {}
    }
    for &port in &network.paths[flow.forward as usize] {
        plain(&network.ports[port as usize])?;
    }
    Ok(Greedy { flow, tcp, law, rtt_s: network.base_rtt(flow).seconds() })
}

/// A FIFO queue with a buffer in packets.
pub(super) fn plain(port: &Port) -> Result<(), String> {
    let name = &port.name;
    match () {
        () if !matches!(port.policy, PolicySpec::DropTail(_)) => {
            let policy = port.policy.name().unwrap_or("user");
            Err(format!("links.{name}.queue: the policy is {policy}, but models require drop_tail"))
        }
        () if !port.listed_drops.is_empty() => Err(format!("links.{name}.loss.drops: listed packets are discarded")),
        () if matches!(port.buffer, Buffer::Bytes(_)) => {
            Err(format!("links.{name}.queue.buffer: the buffer is in bytes, but models count packets"))
        }
        () => Ok(()),
    }
}

/// Total rate of all transmitters in bit/s.
pub(super) fn capacity_bps(port: &Port) -> f64 {
    port.rate.0 as f64 * f64::from(port.transmitters)
}

/// Buffer in packets; `None` if unlimited.
pub(super) fn waiting_places(port: &Port) -> Option<f64> {
    let Buffer::Units(units) = port.buffer else { return None };
    let sent = if port.counts_in_service { u64::from(port.transmitters) } else { 0 };
    Some(units.saturating_sub(sent) as f64)
}

/// Flows that fill one link.
pub(super) struct Saturated<'a> {
    pub(super) flows: Vec<Greedy<'a>>,
    pub(super) port: u32,
    pub(super) described: &'a Port,
    pub(super) packet_bytes: f64,
}

impl<'a> Saturated<'a> {
    /// The port with the least capacity per flow, if all flows cross it and no other is close to it; otherwise the reason.
    pub(super) fn of(network: &'a Network, flows: Vec<Greedy<'a>>) -> Result<Saturated<'a>, String> {
        let mut crossing = vec![0u32; network.ports.len()];
        for greedy in &flows {
            network.paths[greedy.flow.forward as usize].iter().for_each(|&port| crossing[port as usize] += 1);
        }
        let share = |port: usize| capacity_bps(&network.ports[port]) / f64::from(crossing[port]);
        let crossed = || (0..network.ports.len()).filter(|&port| crossing[port] > 0);
        let tight = crossed().min_by(|&one, &other| share(one).total_cmp(&share(other))).ok_or("no flow crosses any link")?;
        let (described, total) = (&network.ports[tight], flows.len());
        let name = &described.name;
        if crossing[tight] as usize != total {
            let of = crossing[tight];
            return Err(format!("the flows have no common bottleneck: links.{name} is that of {of} of {total}"));
        }
        if let Some(rival) = crossed().find(|&port| port != tight && QUIET_LOAD * share(port) < share(tight)) {
            return Err(format!("links.{} is as much a bottleneck as links.{name}", network.ports[rival].name));
        }
        let access = flows.iter().flat_map(|greedy| [greedy.flow.sender_access.rate, greedy.flow.receiver_access.rate]);
        if let Some(least) = access.flatten().min()
            && least.0 as f64 * total as f64 <= capacity_bps(described)
        {
            return Err(format!("access links of {} bit/s limit the flows, not links.{name}", least.0));
        }
        let packet_bytes = flows[0].packet_bytes();
        if flows.iter().any(|greedy| greedy.packet_bytes() != packet_bytes) {
            return Err(format!("links.{name}: packets of several sizes share it"));
        }
        Ok(Saturated { flows, port: tight as u32, described, packet_bytes })
    }

    pub(super) fn is_delay_based(&self) -> bool {
        self.flows.iter().any(|greedy| matches!(greedy.law, ControllerSpec::Fast(_) | ControllerSpec::Vegas(_)))
    }

    /// Packets per second.
    pub(super) fn capacity_pps(&self) -> f64 {
        capacity_bps(self.described) / (8.0 * self.packet_bytes)
    }

    /// Total payload rate at this utilisation.
    pub(super) fn goodput_bps(&self, utilisation: f64) -> f64 {
        utilisation * capacity_bps(self.described) * self.flows[0].payload()
    }

    /// Value of the queue's curve for a number of waiting packets: includes packets in transmission where they occupy the buffer.
    pub(super) fn held(&self, waiting: f64, utilisation: f64) -> f64 {
        let sent = if self.described.counts_in_service { utilisation * f64::from(self.described.transmitters) } else { 0.0 };
        waiting + sent
    }

    pub(super) fn mean_rtt_s(&self) -> f64 {
        self.flows.iter().map(|greedy| greedy.rtt_s).sum::<f64>() / self.flows.len() as f64
    }
}
