//! What has to be known of each flow group as its packets travel, found once.

use crate::network::{Aal5, Group, Transport};
use crate::primitives::packet::Packet;
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, Span, Units};
use crate::tcp::receiver::Delays;
use crate::tcp::{DelayedAck, Recovery, SlowStart, recovery, validation};
use crate::traffic::Arrivals;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// TCP over packets, without ECN, that acknowledges every segment at once, with nothing recorded on the way, hosts that take no time,
    /// senders that do not look closer and a controller that asks for no signals.
    pub(crate) plain: bool,
    /// The same but for a controller that asks for signals which the receiver has no part in.
    pub(crate) plain_at_receiver: bool,
    /// If controllers ask for signals, the flows before this group whose controllers do not; else [`UNSIGNALLED`].
    unsignalled_before: u32,
    /// Receivers tell of what they get: marks, prices, delays.
    pub(crate) receivers_signal: bool,
    /// Senders have more to do with an acknowledgement than most.
    pub(crate) acks_signal: bool,
    pub(crate) is_tcp: bool,
    /// Nothing but acknowledgements and its timer moves a sender, so that it can hear of an acknowledgement as soon as it is known.
    pub(crate) runs_ahead: bool,
    pub(crate) ecn: bool,
    /// A datagram group whose deliveries the caller takes.
    pub(crate) is_external: bool,
    /// Arrivals at the receiver are events.
    pub(crate) delivers_as_event: bool,
    pub(crate) header: Bytes,
    /// Size of an acknowledgement, or of a cell of it.
    pub(crate) ack_unit: Bytes,
    pub(crate) framing: Option<Aal5>,
    /// Packets wait at an edge, which cuts them into cells.
    pub(crate) has_edge: bool,
    /// Cells of a full data packet, 0 without framing or if there is no such packet.
    pub(crate) full_cells: Units,
    /// Cells of an acknowledgement; 1 if it is not cut into cells.
    pub(crate) ack_cells: Units,
    /// SACK blocks per acknowledgement, 0 without SACK.
    pub(crate) sack_blocks: u32,
    /// Losses are found by time: acknowledgements report duplicates (RFC 2883).
    pub(crate) by_time: bool,
    /// Connections are opened: segment 0 is a SYN, which is acknowledged at once.
    pub(crate) opens: bool,
    /// Senders look at more than which segment is expected: losses are found by time, slow start is watched, connections are opened, or how
    /// much of the window an application uses.
    pub(crate) looks_closer: bool,
    pub(crate) delayed_ack: Option<Delays>,
    pub(crate) group: Group,
}

/// A group whose controllers ask for signals.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signalled {
    /// Flows before it whose controllers do not.
    pub(crate) unsignalled_before: u32,
    /// They ask for what only receivers can tell.
    pub(crate) by_receivers: bool,
}

/// How the flows of a group are run.
#[derive(Clone, Copy)]
pub(crate) struct OfRun {
    /// Every hop is an event.
    pub(crate) stepped: bool,
    /// Something is recorded of packets that arrive, or some host takes time.
    pub(crate) observed: bool,
    /// What happens is told in the order in which it happens: every hop is an event, several senders are traced, or there is code
    /// of a user that may fail.
    pub(crate) in_order: bool,
}

/// Whether it is remembered how much of their windows the applications of a group use.
pub(crate) fn uses_are_remembered(group: &Group) -> bool {
    match &group.transport {
        Transport::Tcp(spec, _) => group.application.is_some() && validation::remembers(spec.window_validation),
        Transport::Datagram(_) => false,
    }
}

/// No controller of the group asks for signals.
const UNSIGNALLED: u32 = u32::MAX;

impl Facts {
    /// `signalled`: if its controllers ask for signals.
    pub(crate) fn of(group: &Group, signalled: Option<Signalled>, run: OfRun) -> Facts {
        let (tcp, datagram) = match &group.transport {
            Transport::Tcp(spec, _) => (Some(spec), None),
            Transport::Datagram(spec) => (None, Some(spec)),
        };
        let delayed_ack = tcp.and_then(|spec| spec.delayed_ack).map(|rule| {
            let has_sack = tcp.is_some_and(|spec| recovery::uses_sack(spec.recovery));
            let rule = if has_sack { rule } else { DelayedAck { sack_timeout: Span::ZERO, ..rule } };
            Delays { rule, sack_blocks: tcp.map_or(0, |spec| spec.sack_blocks) }
        });
        let is_external = datagram.is_some_and(|spec| matches!(spec.arrivals, Arrivals::External));
        let ecn = is_external || tcp.is_some_and(|spec| spec.ecn);
        let by_time = tcp.is_some_and(|spec| spec.recovery == Recovery::RackTlp);
        let is_watched = tcp.is_some_and(|spec| spec.slow_start != SlowStart::Standard);
        let opens = tcp.is_some_and(|spec| spec.handshake);
        let looks_closer = by_time || is_watched || opens || uses_are_remembered(group);
        let receivers_signal = signalled.is_some_and(|signalled| signalled.by_receivers);
        let plain_at_receiver = tcp.is_some()
            && !ecn
            && delayed_ack.is_none()
            && group.framing.is_none()
            && !receivers_signal
            && !looks_closer
            && !run.observed;
        Facts {
            plain: plain_at_receiver && signalled.is_none(),
            plain_at_receiver,
            unsignalled_before: signalled.map_or(UNSIGNALLED, |signalled| signalled.unsignalled_before),
            receivers_signal,
            acks_signal: signalled.is_some() || looks_closer,
            is_tcp: tcp.is_some(),
            runs_ahead: tcp.is_some() && group.application.is_none() && group.abr.is_none() && !run.in_order,
            ecn,
            is_external,
            delivers_as_event: run.stepped || delayed_ack.is_some(),
            header: tcp.map(|spec| spec.header).or(datagram.map(|spec| spec.header)).unwrap_or_default(),
            ack_unit: if group.framing.is_some() { CELL_BYTES } else { tcp.map_or(Bytes(0), |spec| spec.ack_size) },
            framing: group.framing,
            has_edge: group.abr.is_some(),
            full_cells: group
                .framing
                .zip(group.transport.full_packet())
                .map_or(Units(0), |(framing, bytes)| framing.cells(bytes)),
            ack_cells: group.ack_cells(),
            sack_blocks: tcp.filter(|spec| recovery::uses_sack(spec.recovery)).map_or(0, |spec| spec.sack_blocks),
            by_time,
            opens,
            looks_closer,
            delayed_ack,
            group: group.clone(),
        }
    }

    /// Place of a flow among those whose controllers ask for signals.
    #[inline]
    pub(crate) fn place_among_signalled(&self, flow: u32) -> Option<usize> {
        (self.unsignalled_before != UNSIGNALLED).then(|| (flow - self.unsignalled_before) as usize)
    }

    /// Size of what the ports see at a time: of the packet, or of a cell of it.
    #[inline]
    pub(crate) fn unit_bytes<const CELLS: bool>(&self, packet: &Packet) -> Bytes {
        match () {
            () if packet.is_ack() => self.ack_unit,
            () if CELLS && packet.is_cell() => CELL_BYTES,
            () => packet.bytes(),
        }
    }

    pub(crate) fn segmentation(&self) -> Span {
        self.framing.map_or(Span::ZERO, |framing| framing.segmentation)
    }

    pub(crate) fn reassembly(&self) -> Span {
        self.framing.map_or(Span::ZERO, |framing| framing.reassembly)
    }

    /// Cells of a data packet or an acknowledgement; 1 if it is not cut into cells.
    #[inline]
    pub(crate) fn cells(&self, packet: &Packet) -> Units {
        match self.framing {
            // A forward RM cell is made where cells are, and never counted.
            Some(_) if packet.is_ack() && packet.is_rm() => Units(1),
            Some(_) if packet.is_ack() => self.ack_cells,
            Some(framing) => framing.cells(packet.bytes()),
            None => Units(1),
        }
    }
}
