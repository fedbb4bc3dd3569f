//! The properties of flows and ports on which the choice of a model depends.

use crate::starts::Measured;
use std::collections::BTreeSet;
use tailback_core::congestion::ControllerSpec;
use tailback_core::network::{Buffer, Flow, Group, GroupId, Network, Port, PortId, Transport};
use tailback_core::primitives::units::{Rate, Time, TimeDelta};
use tailback_core::queue::PolicySpec;
use tailback_core::settings::PlainWords;
use tailback_core::tcp::{AckCounting, TcpSpec};
use tailback_core::traffic::{Arrivals, DatagramSpec, PacketSize, ProcessSpec};

/// Name of user code.
pub(crate) const USER: &str = "user";

/// A violated assumption: the path of the part, and the reason.
pub(crate) type Violation = (String, String);

/// A network with its flows by group.
pub(crate) struct Traffic<'a> {
    pub(crate) network: &'a Network,
    pub(crate) measured: Measured,
    pub(crate) groups: Vec<FlowGroup<'a>>,
}

/// The flows of a group. Access rates are the minima over them.
pub(crate) struct FlowGroup<'a> {
    pub(crate) group: &'a Group,
    pub(crate) flows: &'a [Flow],
    /// Index of the first flow in the network.
    pub(crate) first: usize,
    pub(crate) base_rtts_s: Vec<f64>,
    pub(crate) sender_access: Option<Rate>,
    pub(crate) receiver_access: Option<Rate>,
    /// The different paths of data and of acknowledgements.
    pub(crate) paths: Vec<&'a [PortId]>,
    pub(crate) ways_back: Vec<&'a [PortId]>,
}

impl<'a> Traffic<'a> {
    pub(crate) fn of(network: &'a Network) -> Traffic<'a> {
        let mut first = 0;
        let groups = GroupId::enumerate(&network.groups).map(|(index, group)| {
            let others = &network.flows[first..];
            let own = FlowGroup::of(network, group, first, &others[..others.partition_point(|flow| flow.group <= index)]);
            first += own.flows.len();
            own
        });
        Traffic { network, measured: Measured::of(network), groups: groups.collect() }
    }

    pub(crate) fn port(&self, port: PortId) -> &'a Port {
        &self.network.ports[port]
    }

    /// Groups whose data crosses the port, or may cross it.
    pub(crate) fn crossing(&self, port: PortId) -> impl Iterator<Item = &FlowGroup<'a>> + Clone {
        self.groups.iter().filter(move |group| group.path().is_none_or(|path| path.contains(&port)))
    }

    /// Number of links at a transmitter's rate that feed the port; `None` if flows start at the port or the rates differ.
    pub(crate) fn inputs(&self, port: PortId) -> Option<u64> {
        let mut feeding = BTreeSet::new();
        for path in self.groups.iter().flat_map(|group| &group.paths) {
            if let Some(place) = path.iter().position(|&other| other == port) {
                feeding.insert(path[place.checked_sub(1)?]);
            }
        }
        let same_rate = feeding.iter().all(|&link| self.port(link).rate == self.port(port).rate);
        same_rate.then(|| feeding.iter().map(|&link| u64::from(self.port(link).transmitters)).sum())
    }
}

impl<'a> FlowGroup<'a> {
    fn of(network: &'a Network, group: &'a Group, first: usize, flows: &'a [Flow]) -> FlowGroup<'a> {
        let paths = |of: fn(&Flow) -> u32| {
            let different: BTreeSet<u32> = flows.iter().map(of).collect();
            different.into_iter().map(|path| &network.paths[path as usize][..]).collect()
        };
        FlowGroup {
            group,
            flows,
            first,
            base_rtts_s: flows.iter().map(|flow| network.base_rtt(flow).seconds()).collect(),
            sender_access: flows.iter().filter_map(|flow| flow.sender_access.rate).min(),
            receiver_access: flows.iter().filter_map(|flow| flow.receiver_access.rate).min(),
            paths: paths(|flow| flow.forward),
            ways_back: paths(|flow| flow.backward),
        }
    }

    /// Its path in the scenario.
    pub(crate) fn at(&self) -> String {
        format!("flows.{}", self.group.name)
    }

    pub(crate) fn count(&self) -> usize {
        self.flows.len()
    }

    /// The path of all its flows; `None` if they differ.
    pub(crate) fn path(&self) -> Option<&'a [PortId]> {
        if let [only] = self.paths[..] { Some(only) } else { None }
    }

    /// Whether all its flows cross the port.
    pub(crate) fn crosses(&self, port: PortId) -> bool {
        self.path().is_some_and(|path| path.contains(&port))
    }

    /// Whether its flows always have data to send during the whole run.
    pub(crate) fn is_greedy(&self) -> bool {
        self.group.application.is_none() && self.flows.iter().all(|flow| flow.size.is_none() && flow.stop == Time::NEVER)
    }

    pub(crate) fn has_processing(&self) -> bool {
        self.group.send_processing.is_some() || self.group.receive_processing.is_some()
    }

    /// Whether hosts delay its packets by jitter or processing.
    pub(crate) fn has_host_delays(&self) -> bool {
        self.group.jitter != TimeDelta::ZERO || self.has_processing()
    }

    pub(crate) fn tcp(&self) -> Option<TcpGroup<'_, 'a>> {
        match &self.group.transport {
            Transport::Tcp(spec, law) => Some(TcpGroup { flows: self, spec, law }),
            Transport::Datagram(_) => None,
        }
    }

    pub(crate) fn datagrams(&self) -> Option<&'a DatagramSpec> {
        match &self.group.transport {
            Transport::Datagram(spec) => Some(spec),
            Transport::Tcp(..) => None,
        }
    }

    /// Its source, if it alternates between one datagram and an idle time.
    pub(crate) fn alternating(&self) -> Option<AlternatingGroup<'_, 'a>> {
        let spec = self.datagrams()?;
        let Arrivals::Process(ProcessSpec::Alternating(source)) = &spec.arrivals else { return None };
        Some(AlternatingGroup {
            flows: self,
            spec,
            rate: source.rate,
            mean_bytes: spec.packet.mean().unwrap_or(0.0),
            mean_idle_s: source.mean_idle.seconds(),
        })
    }
}

/// Flows of alternating sources.
#[derive(Clone, Copy)]
pub(crate) struct AlternatingGroup<'g, 'a> {
    pub(crate) flows: &'g FlowGroup<'a>,
    spec: &'a DatagramSpec,
    pub(crate) rate: Rate,
    /// Mean payload of a datagram.
    pub(crate) mean_bytes: f64,
    pub(crate) mean_idle_s: f64,
}

impl AlternatingGroup<'_, '_> {
    pub(crate) fn has_exponential_packets(&self) -> bool {
        matches!(self.spec.packet, PacketSize::Exponential { .. }) && self.spec.header.0 == 0
    }
}

/// TCP flows with common settings.
#[derive(Clone, Copy)]
pub(crate) struct TcpGroup<'g, 'a> {
    pub(crate) flows: &'g FlowGroup<'a>,
    pub(crate) spec: &'a TcpSpec,
    pub(crate) law: &'a ControllerSpec,
}

/// Packets that a flow keeps in the queue.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum QueueTarget {
    Packets(f64),
    /// Packets per second of the base RTT.
    Rate(f64),
}

impl TcpGroup<'_, '_> {
    pub(crate) fn controller(&self) -> &'static str {
        self.law.name().unwrap_or(USER)
    }

    pub(crate) fn recovery(&self) -> &'static str {
        self.spec.recovery.word()
    }

    pub(crate) fn mss(&self) -> f64 {
        self.spec.mss.0 as f64
    }

    /// Size of a full data packet on the wire.
    pub(crate) fn packet_bytes(&self) -> f64 {
        (self.spec.mss + self.spec.header).0 as f64
    }

    pub(crate) fn receiver_window(&self) -> u64 {
        self.spec.receiver_window.0.into()
    }

    /// The first timeout: the minimum, or one RTT.
    pub(crate) fn min_rto_s(&self, rtt_s: f64) -> f64 {
        self.spec.timer.min_rto.seconds().max(rtt_s)
    }

    /// Segments of a receiver's window that are acknowledged without its timer.
    pub(crate) fn acked_window(&self) -> u64 {
        let every = u64::from(self.segments_per_ack());
        (self.receiver_window() / every * every).max(1)
    }

    pub(crate) fn segments_per_ack(&self) -> u32 {
        self.spec.delayed_ack.map_or(1, |delayed| delayed.every)
    }

    /// Segments per window increase: b of the models; 1 with appropriate byte counting (RFC 3465).
    pub(crate) fn segments_per_increase(&self) -> u32 {
        if self.spec.ack_counting == AckCounting::Bytes { 1 } else { self.segments_per_ack() }
    }

    /// Whether the window halves at each loss and grows by one segment per RTT, as in the models of TCP.
    pub(crate) fn is_reno(&self) -> bool {
        matches!(self.law, ControllerSpec::Reno(_))
    }

    pub(crate) fn is_cubic(&self) -> bool {
        matches!(self.law, ControllerSpec::Cubic(_))
    }

    pub(crate) fn is_delay_based(&self) -> bool {
        matches!(self.law, ControllerSpec::Fast(_) | ControllerSpec::Vegas(_))
    }

    /// The final window of a flow without losses, in whole segments, if its controller defines one.
    pub(crate) fn final_window(&self) -> Option<u64> {
        match self.law {
            ControllerSpec::Reno(_) | ControllerSpec::Cubic(_) => Some(self.receiver_window()),
            ControllerSpec::Fixed(_) => Some(self.receiver_window().min(self.spec.initial_window as u64)),
            _ => None,
        }
    }

    /// The rate of a fixed window with a rate.
    pub(crate) fn pacing_rate(&self) -> Option<Rate> {
        if let ControllerSpec::Fixed(fixed) = self.law { fixed.rate } else { None }
    }

    /// `None` for controllers without a target or that drain the queue.
    pub(crate) fn queue_target(&self) -> Option<QueueTarget> {
        match self.law {
            ControllerSpec::Fast(fast) => fast.draining.is_none().then_some(QueueTarget::Packets(fast.alpha)),
            ControllerSpec::Vegas(vegas) => Some(vegas.alpha_rate.map_or(QueueTarget::Packets(vegas.alpha), QueueTarget::Rate)),
            _ => None,
        }
    }
}

/// Paths of a link and of the groups that cross it.
pub(crate) fn places<'g, 'a: 'g>(port: &Port, groups: impl IntoIterator<Item = &'g FlowGroup<'a>>) -> Vec<String> {
    std::iter::once(link(port)).chain(groups.into_iter().map(FlowGroup::at)).collect()
}

/// Path of a link in the scenario.
pub(crate) fn link(port: &Port) -> String {
    format!("links.{}", port.name)
}

pub(crate) fn policy(port: &Port) -> &'static str {
    port.policy.name().unwrap_or(USER)
}

pub(crate) fn is_drop_tail(port: &Port) -> bool {
    matches!(port.policy, PolicySpec::DropTail(_))
}

/// Total rate of all transmitters.
pub(crate) fn capacity_bps(port: &Port) -> f64 {
    port.rate.0 as f64 * f64::from(port.transmitters)
}

/// Number of packets that can wait; `None` if it is unlimited or the buffer is in bytes.
pub(crate) fn waiting_places(port: &Port) -> Option<u64> {
    let Buffer::Units(units) = port.buffer else { return None };
    Some(if port.counts_in_service { units.saturating_sub(port.transmitters.into()) } else { units })
}

/// Packets that occupy the buffer: the waiting ones, and those in transmission if the buffer includes them.
pub(crate) fn occupancy(port: &Port, waiting: f64, utilisation: f64) -> f64 {
    waiting + if port.counts_in_service { utilisation * f64::from(port.transmitters) } else { 0.0 }
}

/// Compensated sum (Neumaier 1974), for many flows.
pub(crate) fn sum(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}
