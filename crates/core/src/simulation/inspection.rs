//! Inspection of a running simulation: the location of each packet, and the state of senders and ports.
//!
//! Hops are computed ahead, so a packet may be further along than its displayed location. If that matters, set `stepped` on the network:
//! the state is then that of the current time.

use super::endpoints::End;
use super::port::{Entry, ReorderedPackets};
use super::state::Engine;
use crate::congestion::Controller;
use crate::network::{FlowId, PortId};
use crate::primitives::packet::Packet;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments, Time, TimeDelta, Units};
use crate::queue::DropReason;

/// A packet or cell in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketInFlight {
    pub flow: FlowId,
    /// Segment or datagram number of data; for an acknowledgement, the segment that caused it.
    pub segment: SegmentNumber,
    pub is_ack: bool,
    pub is_retransmission: bool,
    /// Marked by a queue; for an acknowledgement, whether it echoes a mark.
    pub is_marked: bool,
    pub place: PacketLocation,
    /// Arrival at the end of its current link; for a queued packet, the time since which it waits.
    pub time: Time,
    /// Delay of that link; zero in a buffer.
    pub delay: TimeDelta,
}

/// Location of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketLocation {
    /// On the private link of the end that sends it, or queued for it.
    SourceAccess,
    /// In the buffer of a port, at this position from the head of its queue.
    Queued(PortId, u32),
    /// At a transmitter of the port.
    InService(PortId),
    /// On the link after a port.
    OnLink(PortId),
    /// On the private link of its destination.
    DestinationAccess,
}

/// State of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderState {
    /// In segments.
    pub cwnd: f64,
    pub ssthresh: f64,
    pub in_flight: Segments,
    /// The oldest unacknowledged segment.
    pub oldest: SegmentNumber,
    /// The first segment that has never been sent.
    pub next: SegmentNumber,
    /// Expiry of the retransmission timer, if it is running.
    pub timer: Option<Time>,
}

/// Counters of a port since the start of the run, including the warm-up and hops that were computed ahead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortState {
    pub departed: Units,
    pub departed_bytes: Bytes,
    pub marked: Units,
    /// By reason, in the order of [`DropReason::ALL`].
    pub discarded: [Units; DropReason::ALL.len()],
}

impl Engine {
    /// The counters of a port; `None` if there is no such port.
    pub fn port_state(&self, port: PortId) -> Option<PortState> {
        let counts = self.fabric.ports().get(port.index())?.equipment.counts();
        Some(PortState {
            departed: Units(counts.departed.all()),
            departed_bytes: Bytes(counts.departed_bytes.all()),
            marked: Units(counts.exceptions().marked.all()),
            discarded: counts.exceptions().discarded.map(|parts| Units(parts.all())),
        })
    }

    /// The state of a flow's TCP sender; `None` for datagram flows.
    pub fn sender_state(&self, flow: FlowId) -> Option<SenderState> {
        let Some(End::Tcp(sender)) = self.endpoints.ends().get(flow.index()) else { return None };
        Some(SenderState {
            cwnd: sender.controller.window().0,
            ssthresh: sender.controller.ssthresh().0,
            in_flight: sender.sequence.in_flight(),
            oldest: sender.sequence.snd_una,
            next: sender.sequence.snd_max,
            timer: Some(sender.timer.deadline).filter(|&deadline| deadline != Time::NEVER),
        })
    }

    /// Data packets that a flow has sent, including retransmissions.
    pub fn sent_so_far(&self, flow: FlowId) -> u32 {
        if flow.index() < self.endpoints.flows().len() { self.sent_in_all(flow) } else { 0 }
    }

    /// Calls `see` with every packet in flight.
    pub fn for_each_packet(&self, mut see: impl FnMut(PacketInFlight)) {
        let fabric = &self.fabric;
        let mut show = |packet: &Packet, place: PacketLocation, delay: TimeDelta| {
            see(PacketInFlight {
                flow: packet.flow,
                segment: if packet.is_ack() { packet.segment() } else { fabric.packets.segment(packet) },
                is_ack: packet.is_ack(),
                is_retransmission: packet.is_retransmission() && fabric.profile(packet.flow).is_tcp,
                is_marked: packet.is_marked(),
                place,
                time: packet.time,
                delay,
            });
        };
        for path in fabric.paths() {
            let sender = path.wire.sender_access(&fabric.rates).delay;
            let receiver = path.wire.receiver_access(&fabric.rates).delay;
            fabric.packets.iter(&path.send).for_each(|packet| show(packet, PacketLocation::SourceAccess, sender));
            fabric.packets.iter(&path.back).for_each(|packet| show(packet, PacketLocation::SourceAccess, receiver));
            for (line, way, delay) in [(&path.deliver, path.wire.forward, receiver), (&path.ack_line, path.wire.backward, sender)]
            {
                let last = fabric.route(way).last();
                for packet in fabric.packets.iter(line) {
                    // The hop from the last port to the end is computed in one step.
                    let at_access = packet.time.before(delay);
                    match last.filter(|_| at_access > self.now()) {
                        Some(port) => {
                            let mut packet = *packet;
                            packet.time = at_access;
                            show(&packet, PacketLocation::OnLink(port), fabric.port(port).equipment.delay());
                        }
                        None => show(packet, PacketLocation::DestinationAccess, delay),
                    }
                }
            }
        }
        for (id, port) in PortId::enumerate(fabric.ports()) {
            let delay = port.equipment.delay();
            fabric.packets.iter(&port.line).for_each(|packet| show(packet, PacketLocation::OnLink(id), delay));
            port.reordered_packets()
                .into_iter()
                .flat_map(ReorderedPackets::iter)
                .for_each(|packet| show(packet, PacketLocation::OnLink(id), delay));
            if let Entry::Gathered(gather) = &port.entry {
                gather.iter().for_each(|packet| show(packet, PacketLocation::SourceAccess, TimeDelta::ZERO));
            }
            let Some(stepped) = port.stepped() else { continue };
            stepped.transmitters.iter().for_each(|sending| show(&sending.packet, PacketLocation::InService(id), TimeDelta::ZERO));
            let waiting = stepped.queues.iter().flat_map(|queue| fabric.packets.iter(&queue.line));
            (0..).zip(waiting).for_each(|(behind, packet)| show(packet, PacketLocation::Queued(id, behind), TimeDelta::ZERO));
        }
    }
}
