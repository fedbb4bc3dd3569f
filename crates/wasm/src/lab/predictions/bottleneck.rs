//! Greedy flows of TCP, and the one link that holds them all.

use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, Network, Port, Transport};
use tailback_core::primitives::units::Time;
use tailback_core::queue::PolicySpec;
use tailback_core::tcp::{Counting, TcpSpec};
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

    /// Payload over what is on the wire.
    pub(super) fn payload(&self) -> f64 {
        self.tcp.mss.0 as f64 / self.packet_bytes()
    }

    /// Segments that open the window as one does: b of the models.
    pub(super) fn segments_per_increase(&self) -> f64 {
        if self.tcp.counting == Counting::Bytes { 1.0 } else { self.tcp.delayed_ack.map_or(1.0, |delayed| delayed.every.into()) }
    }
}

/// All flows, if models are meant for what they are and for what they cross; else why not.
pub(super) fn greedy_tcp(network: &Network) -> Result<Vec<Greedy<'_>>, String> {
    for (port, name) in network.ports.iter().map(|port| (port, &port.name)) {
        if let Some(what) = port.unmodelled() {
            return Err(format!("links.{name}: it {what}, which is in no model"));
        }
    }
    network.flows.iter().map(|flow| greedy(network, flow)).collect()
}

fn greedy<'a>(network: &'a Network, flow: &'a Flow) -> Result<Greedy<'a>, String> {
    let group = &network.groups[flow.group as usize];
    let misfit = |why: &str| Err(format!("flows.{}: {why}", group.name));
    let Transport::Tcp(tcp, law) = &group.transport else {
        return misfit("datagrams share links with TCP, which is in no model");
    };
    match () {
        () if group.application.is_some() || flow.size.is_some() || flow.stop != Time::NEVER => {
            return misfit("not greedy for the whole run: models are for flows that always have data to send");
        }
        () if flow.start >= Time::ZERO + network.duration => return misfit("some of its flows never start: the run ends before"),
        () if group.framing.is_some() => return misfit("packets travel in cells, models count packets"),
        () if group.send_processing.is_some() || group.receive_processing.is_some() => {
            return misfit("processing times at hosts are in no model");
        }
        () => {}
    }
    for &port in &network.paths[flow.forward as usize] {
        plain(&network.ports[port as usize])?;
    }
    Ok(Greedy { flow, tcp, law, rtt_s: network.base_rtt(flow).seconds() })
}

/// A queue in the order of arrival, with places for packets.
pub(super) fn plain(port: &Port) -> Result<(), String> {
    let name = &port.name;
    match () {
        () if !matches!(port.policy, PolicySpec::DropTail(_)) => {
            let policy = port.policy.name().unwrap_or("user");
            Err(format!("links.{name}.queue: the policy is {policy}, models are for drop_tail"))
        }
        () if !port.listed_drops.is_empty() => Err(format!("links.{name}.loss.drops: listed packets are discarded")),
        () if matches!(port.buffer, Buffer::Bytes(_)) => {
            Err(format!("links.{name}.queue.buffer: the buffer is counted in bytes, models count packets"))
        }
        () => Ok(()),
    }
}

/// Bit/s of all transmitters.
pub(super) fn capacity_bps(port: &Port) -> f64 {
    port.rate.0 as f64 * f64::from(port.transmitters)
}

/// Packets that can wait; `None`: all that come.
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
    /// The port with the least capacity for each flow, if all flows cross it and no other is near it; else why there is none.
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
            return Err(format!(
                "no link that all flows cross is the bottleneck of all: links.{name} is that of {of} of {total}"
            ));
        }
        if let Some(rival) = crossed().find(|&port| port != tight && QUIET_LOAD * share(port) < share(tight)) {
            return Err(format!("links.{} is as much of a bottleneck as links.{name}", network.ports[rival].name));
        }
        let access = flows.iter().flat_map(|greedy| [greedy.flow.sender_access.rate, greedy.flow.receiver_access.rate]);
        if let Some(least) = access.flatten().min()
            && least.0 as f64 * total as f64 <= capacity_bps(described)
        {
            return Err(format!("private links of {} bit/s hold the flows back, not links.{name}", least.0));
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

    /// Packets a second.
    pub(super) fn capacity_pps(&self) -> f64 {
        capacity_bps(self.described) / (8.0 * self.packet_bytes)
    }

    /// Payload of all, if the link is used to that share.
    pub(super) fn goodput_bps(&self, utilisation: f64) -> f64 {
        utilisation * capacity_bps(self.described) * self.flows[0].payload()
    }

    /// What the queue's curve shows if so many wait: those that are sent, too, where they hold places.
    pub(super) fn held(&self, waiting: f64, utilisation: f64) -> f64 {
        let sent = if self.described.counts_in_service { utilisation * f64::from(self.described.transmitters) } else { 0.0 };
        waiting + sent
    }

    pub(super) fn mean_rtt_s(&self) -> f64 {
        self.flows.iter().map(|greedy| greedy.rtt_s).sum::<f64>() / self.flows.len() as f64
    }
}
