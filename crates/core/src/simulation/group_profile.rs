//! Properties of each flow group that packet processing needs, computed once.

use super::specialised::Carriage;
use crate::network::{Aal5, Group, Transport};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{Ecn, Packet};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, TimeDelta, Units};
use crate::tcp::receiver::Delays;
use crate::tcp::{DelayedAck, EcnEcho, SlowStart, TcpSpec, WindowValidation, validation};
use crate::traffic::{ApplicationSpec, Arrivals};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct GroupProfile {
    /// TCP over packets, without ECN or PAWS, that acknowledges every segment at once. Nothing is recorded at arrival, hosts take no time, senders
    /// have no extended state, and the controller requests no signals.
    pub(crate) plain: bool,
    /// Like `plain`, but the controller may request signals that do not involve the receiver.
    pub(crate) plain_at_receiver: bool,
    /// If the group's controllers request signals: number of earlier flows whose controllers do not. Otherwise [`UNSIGNALLED`].
    unsignalled_before: u32,
    /// Receivers report signals: marks, prices, delays.
    pub(crate) receivers_signal: bool,
    /// Acknowledgements need more than the common processing at senders.
    pub(crate) acks_signal: bool,
    pub(crate) is_tcp: bool,
    /// Only acknowledgements and the retransmission timer drive a sender, so it can process an acknowledgement as soon as the arrival is
    /// known.
    pub(crate) runs_ahead: bool,
    pub(crate) ecn: bool,
    pub(crate) ecn_echo: EcnEcho,
    pub(crate) ecn_of_acks: Ecn,
    /// A datagram group whose deliveries the caller collects.
    pub(crate) is_external: bool,
    pub(crate) arrivals: ArrivalEvents,
    pub(crate) header: Bytes,
    /// Size of an acknowledgement, or of a cell of it.
    pub(crate) ack_unit: Bytes,
    pub(crate) framing: Option<Aal5>,
    /// Packets are queued at an edge, which segments them into cells.
    pub(crate) has_edge: bool,
    /// Cells of a full data packet, 0 without framing or if there is no such packet.
    pub(crate) full_cells: Units,
    /// Cells of an acknowledgement; 1 if it is not segmented.
    pub(crate) ack_cells: Units,
    /// SACK blocks per acknowledgement, 0 without SACK.
    pub(crate) sack_blocks: u32,
    /// Losses are detected by transmission times: acknowledgements report duplicates (RFC 2883).
    pub(crate) by_time: bool,
    /// Connections are opened with a SYN as segment 0, which is acknowledged at once.
    pub(crate) opens: bool,
    /// Senders look at more than the next expected segment: RACK, slow start with an exit condition, opening of connections, window
    /// validation, or messages.
    pub(crate) has_extended_sender: bool,
    pub(crate) delayed_ack: Option<Delays>,
    /// Ticks by which a timestamp may be older than the latest one, if the receiver discards older ones.
    pub(crate) paws: Option<u64>,
    pub(crate) group: Group,
}

/// Which arrivals at the receivers of a group are events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum ArrivalEvents {
    Never,
    /// Arrivals after the timer of a delayed acknowledgement expires: no earlier arrival is known that would cause it.
    AfterTimer,
    Always,
}

/// A group whose controllers request signals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SignalGroup {
    /// Number of earlier flows whose controllers do not.
    pub(crate) unsignalled_before: u32,
    /// They request signals that only receivers can report.
    pub(crate) by_receivers: bool,
}

/// Properties of the run that affect the flows of a group.
#[derive(Clone, Copy)]
pub(crate) struct RunMode {
    /// Every hop is an event.
    pub(crate) stepped: bool,
    /// Arrivals are recorded, or some receiver takes time.
    pub(crate) observed: bool,
    /// Actions are performed in order of time: every hop is an event, several senders are traced, or user code may fail.
    pub(crate) in_time_order: bool,
    /// The longest RTT of a handshake through the empty network.
    pub(crate) handshake: TimeDelta,
}

/// Whether the group's window usage by applications is recorded.
pub(crate) fn uses_are_remembered(group: &Group) -> bool {
    match &group.transport {
        Transport::Tcp(spec, _) => group.application.is_some() && validation::remembers(spec.window_validation),
        Transport::Datagram(_) => false,
    }
}

/// No controller of the group requests signals.
const UNSIGNALLED: u32 = u32::MAX;

impl GroupProfile {
    /// `signalled` is present if the group's controllers request signals.
    pub(crate) fn of(group: &Group, signalled: Option<SignalGroup>, run: RunMode) -> GroupProfile {
        let (tcp, datagram) = match &group.transport {
            Transport::Tcp(spec, _) => (Some(spec), None),
            Transport::Datagram(spec) => (None, Some(spec)),
        };
        let echo = tcp.map_or(EcnEcho::Rfc3168, |spec| spec.ecn_echo);
        let delayed_ack = tcp.and_then(|spec| spec.delayed_ack).map(|rule| {
            let has_sack = tcp.is_some_and(|spec| spec.recovery.uses_sack());
            let sack_compression = if has_sack { rule.sack_compression } else { TimeDelta::ZERO };
            // RFC 8257 section 3.2: a change of the marks is acknowledged at once.
            let ack_ce_immediately = rule.ack_ce_immediately || echo == EcnEcho::Rfc8257;
            let rule = DelayedAck { sack_compression, ack_ce_immediately, ..rule };
            Delays { rule, sack_blocks: tcp.map_or(0, |spec| spec.sack_blocks), handshake: run.handshake }
        });
        let is_external = datagram.is_some_and(|spec| matches!(spec.arrivals, Arrivals::External));
        let ecn = is_external || tcp.is_some_and(|spec| spec.ecn);
        let paws = tcp.and_then(|spec| spec.paws.tolerance());
        let by_time = tcp.is_some_and(|spec| spec.recovery.is_by_time());
        let is_watched = tcp.is_some_and(|spec| spec.slow_start != SlowStart::Standard);
        let opens = tcp.is_some_and(|spec| spec.handshake);
        let has_messages = group.application == Some(ApplicationSpec::Messages);
        // The window opens only while the queue of the host is short, with any recovery.
        let has_host_queue = tcp.is_some_and(|spec| spec.window_validation == WindowValidation::Linux);
        let has_extended_sender = by_time || is_watched || opens || has_messages || has_host_queue || uses_are_remembered(group);
        let receivers_signal = signalled.is_some_and(|signalled| signalled.by_receivers);
        let plain_at_receiver = tcp.is_some()
            && !ecn
            && delayed_ack.is_none()
            && paws.is_none()
            && group.framing.is_none()
            && !receivers_signal
            && !has_extended_sender
            && !run.observed;
        GroupProfile {
            plain: plain_at_receiver && signalled.is_none(),
            plain_at_receiver,
            unsignalled_before: signalled.map_or(UNSIGNALLED, |signalled| signalled.unsignalled_before),
            receivers_signal,
            acks_signal: signalled.is_some() || has_extended_sender,
            is_tcp: tcp.is_some(),
            runs_ahead: tcp.is_some() && group.application.is_none() && group.abr.is_none() && !run.in_time_order,
            ecn,
            ecn_echo: echo,
            // Cells do not carry the ECN fields of packets.
            ecn_of_acks: tcp.filter(|_| group.framing.is_none()).map_or(Ecn::NOT_ECT, TcpSpec::ecn_of_others),
            is_external,
            arrivals: match () {
                () if run.stepped => ArrivalEvents::Always,
                // An arrival may cause two acknowledgements.
                () if ecn && delayed_ack.is_some() && echo == EcnEcho::Rfc8257 => ArrivalEvents::Always,
                () if delayed_ack.is_some() => ArrivalEvents::AfterTimer,
                () => ArrivalEvents::Never,
            },
            header: tcp.map(|spec| spec.header).or(datagram.map(|spec| spec.header)).unwrap_or_default(),
            ack_unit: if group.framing.is_some() { CELL_BYTES } else { tcp.map_or(Bytes(0), |spec| spec.ack_size) },
            framing: group.framing,
            has_edge: group.abr.is_some(),
            full_cells: group
                .framing
                .zip(group.transport.full_packet())
                .map_or(Units(0), |(framing, bytes)| framing.cells(bytes)),
            ack_cells: group.ack_cells(),
            sack_blocks: tcp.filter(|spec| spec.recovery.uses_sack()).map_or(0, |spec| spec.sack_blocks),
            by_time,
            opens,
            has_extended_sender,
            delayed_ack,
            paws,
            group: group.clone(),
        }
    }

    /// Index of a flow among the flows whose controllers request signals.
    #[inline]
    pub(crate) fn place_among_signalled(&self, flow: FlowId) -> Option<usize> {
        (self.unsignalled_before != UNSIGNALLED).then(|| (flow.0 - self.unsignalled_before) as usize)
    }

    /// Size of the unit that ports see: of the packet, or of one of its cells.
    #[inline]
    pub(crate) fn unit_bytes<C: Carriage>(&self, packet: &Packet) -> Bytes {
        match () {
            () if packet.is_ack() => self.ack_unit,
            () if C::CELLS && packet.is_cell() => CELL_BYTES,
            () => packet.bytes(),
        }
    }

    pub(crate) fn segmentation(&self) -> TimeDelta {
        self.framing.map_or(TimeDelta::ZERO, |framing| framing.segmentation)
    }

    pub(crate) fn reassembly(&self) -> TimeDelta {
        self.framing.map_or(TimeDelta::ZERO, |framing| framing.reassembly)
    }

    /// Cells of a data packet or an acknowledgement; 1 if it is not segmented.
    #[inline]
    pub(crate) fn cells(&self, packet: &Packet) -> Units {
        match self.framing {
            // A forward RM cell is created as a cell and never counted.
            Some(_) if packet.is_ack() && packet.is_rm() => Units(1),
            Some(_) if packet.is_ack() => self.ack_cells,
            Some(framing) => framing.cells(packet.bytes()),
            None => Units(1),
        }
    }
}
