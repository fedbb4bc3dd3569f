//! The round-trip time of a flow through the empty network.

use super::{Aal5, AccessLink, Flow, Network, Switching, Transport};
use crate::primitives::ids::{FlowId, GroupId};
use crate::primitives::sizes::CELL_BYTES;
use crate::primitives::units::{Bytes, TimeDelta, Units};
use crate::tcp::TcpSpec;
use crate::traffic::{DatagramSpec, PacketSize};
use std::ops::Range;

impl Network {
    /// Round-trip time of one data packet and its acknowledgement through the empty network, including serialisation. For datagrams, the
    /// reverse path counts only delays, and so does the forward path if their sizes vary.
    pub fn base_rtt(&self, flow: &Flow) -> TimeDelta {
        match &self.groups[flow.group].transport {
            Transport::Tcp(spec, _) => self.empty_round_trip(flow, spec.mss + spec.header, spec.ack_size),
            Transport::Datagram(DatagramSpec { packet: PacketSize::Fixed(payload), header, .. }) => {
                self.empty_round_trip(flow, *payload + *header, Bytes(0))
            }
            Transport::Datagram(_) => self.empty_round_trip(flow, Bytes(0), Bytes(0)),
        }
    }

    /// Likewise for a packet of this size, and an acknowledgement of 40 bytes (IPv4 and TCP headers), of an external flow.
    pub fn base_rtt_of(&self, flow: &Flow, packet: Bytes) -> TimeDelta {
        self.empty_round_trip(flow, packet, Bytes(40))
    }

    /// Round-trip time of a handshake through the empty network: its segments carry no data.
    pub(crate) fn handshake_rtt(&self, flow: &Flow, spec: &TcpSpec) -> TimeDelta {
        self.empty_round_trip(flow, spec.syn_size(), spec.ack_size)
    }

    /// The longest RTT of a handshake of these flows of a group whose receivers compress acknowledgements; the longest time without any.
    pub(crate) fn longest_handshake_rtt(&self, group: GroupId, flows: Range<FlowId>) -> TimeDelta {
        let compresses = |spec: &TcpSpec| spec.delayed_ack.is_some_and(|rule| rule.sack_compression > TimeDelta::ZERO);
        match &self.groups[group].transport {
            Transport::Tcp(spec, _) if compresses(spec) && spec.measures_handshake() => {
                let flows = &self.flows[flows.start.index()..flows.end.index()];
                flows.iter().map(|flow| self.handshake_rtt(flow, spec)).max().unwrap_or(TimeDelta(u64::MAX))
            }
            _ => TimeDelta(u64::MAX),
        }
    }

    /// Number of transmissions of a data packet of the flow: ports, and access links with a rate.
    pub fn hops(&self, flow: &Flow) -> u32 {
        let access = [flow.sender_access, flow.receiver_access].iter().filter(|access| access.rate.is_some()).count();
        (self.paths[flow.forward as usize].len() + access) as u32
    }

    fn empty_round_trip(&self, flow: &Flow, data: Bytes, ack: Bytes) -> TimeDelta {
        let framing = self.groups[flow.group].framing;
        // Units follow one another through the links at the rate of the slowest. A cut-through port saves the transmission time to it.
        let over = |path: u32, bytes: Bytes, (first, last): (&AccessLink, &AccessLink)| {
            let framed = framing.filter(|_| bytes > Bytes(0));
            let (unit, units) = framed.map_or((bytes, Units(1)), |framing| (CELL_BYTES, framing.cells(bytes)));
            let access =
                |access: &AccessLink| (access.rate.map_or(TimeDelta::ZERO, |rate| rate.time_to_send(unit)), access.delay);
            let (mut service, mut sum) = access(first);
            let mut slowest = service;
            for &port in &self.paths[path as usize] {
                let port = &self.ports[port];
                if port.switching == Switching::StoreAndForward {
                    sum = sum + service;
                }
                service = port.rate.time_to_send(unit);
                slowest = slowest.max(service);
                sum = sum + port.delay;
            }
            let (last_service, last_delay) = access(last);
            let at_ends = framed.map_or(TimeDelta::ZERO, Aal5::delay);
            sum + service + last_service + last_delay + TimeDelta(slowest.max(last_service).0 * (units.0 - 1)) + at_ends
        };
        let (sender, receiver) = (&flow.sender_access, &flow.receiver_access);
        over(flow.forward, data, (sender, receiver)) + over(flow.backward, ack, (receiver, sender))
    }
}
