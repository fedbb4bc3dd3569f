//! The end of a route: a packet crosses the private link, is reassembled from cells, is processed by the host, is received, and becomes the
//! acknowledgement that it causes. Packets that return to a sender are queued in a line there.

use super::Fabric;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{OutgoingPacket, Packet};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Time};
use crate::simulation::agenda::Agenda;
use crate::simulation::event_order::Event;
use crate::simulation::group_profile::{ArrivalEvents, GroupProfile};
use crate::simulation::routes::Route;
use crate::simulation::specialised::{Carriage, Complete, Plain};
use crate::tcp::EcnEcho;
use crate::tcp::receiver::{Cause, EcnFlags};

/// Whether the arrival of this packet at its receiver is an event, if it is the next one there.
#[inline(always)]
fn arrives_by_event(packet: &Packet, profile: &GroupProfile, agenda: &Agenda, route: Route) -> bool {
    match profile.arrivals {
        _ if route == Route::Changing => true,
        ArrivalEvents::Never => false,
        ArrivalEvents::AfterTimer => agenda.time_of(Event::DelayedAck(packet.flow)) < packet.time,
        ArrivalEvents::Always => true,
    }
}

impl Fabric {
    #[inline(always)]
    pub(super) fn route_of(&self, flow: FlowId) -> Route {
        let changes = !self.rerouted.is_empty() && self.rerouted.contains(&flow);
        if changes { Route::Changing } else { Route::Fixed }
    }

    /// A packet has passed its last port. If it is a data packet that causes an immediate acknowledgement, it is converted to it; returns
    /// the size of that acknowledgement as ports see it.
    #[inline(always)]
    pub(super) fn leave_network<C: Carriage>(&mut self, packet: &mut Packet, route: Route) -> Option<Bytes> {
        let flow = packet.flow;
        let Fabric {
            paths, profiles, clock, agenda, rates, hosts, access_queues, packets, acks, receivers, cells, messages, ..
        } = self;
        let path = &mut paths[flow];
        let profile = &profiles[path.wire.group];
        if packet.is_ack() {
            packet.time = path.wire.sender_down(packet.time, profile.ack_unit, rates);
            if C::CELLS
                && packet.is_cell()
                && let Some(cells) = cells
                && !cells.collect_ack(packet, profile, packets, agenda)
            {
                return None;
            }
            if profile.runs_ahead && route == Route::Fixed && acks.may_push(&path.ack_line) {
                acks.push(*packet);
            } else {
                packets.enqueue(&mut path.ack_line, *packet, Event::AckArrival(flow), agenda);
            }
            return None;
        }
        if let Some(queues) = access_queues.get_mut(flow.index())
            && !(C::CELLS && packet.is_cell())
            && !queues.receive.arrive(packet.time, packet.bytes())
        {
            self.discard_at_access(*packet);
            return None;
        }
        packet.time = path.wire.receiver_down(packet.time, profile.unit_bytes::<C>(packet), rates);
        if C::CELLS
            && packet.is_cell()
            && let Some(cells) = cells
            && !cells.collect_data(packet, path, profile, clock.interval())
        {
            return None;
        }
        if !C::PLAIN
            && let Some(hosts) = hosts.get_mut(flow.index())
        {
            packet.time = if packet.is_rm() { hosts.follow(packet.time) } else { hosts.receive(packet.time, &profile.group) };
        }
        let may_wait = profile.arrivals != ArrivalEvents::Never || route == Route::Changing;
        if may_wait && (!path.deliver.is_empty() || arrives_by_event(packet, profile, agenda, route)) {
            packets.enqueue(&mut path.deliver, *packet, Event::Deliver(flow), agenda);
            return None;
        }
        if !C::PLAIN {
            let ack_unit = profile.ack_unit;
            return self.receive(packet).then_some(ack_unit);
        }
        let interval = clock.interval();
        let outcome = receivers.receive::<Plain>(path, packet, profile, interval, packets, agenda);
        if path.is_complete() {
            messages.complete(path, flow, packet.time, interval, agenda);
        }
        if !outcome.is_answered {
            return None;
        }
        packet.time = path.wire.receiver_up(packet.time, profile.ack_unit, rates);
        Some(profile.ack_unit)
    }

    /// A whole packet, or a forward RM cell, reaches its receiver at `packet.time`. Returns true if it is answered at once; the packet is
    /// then converted to the answer.
    #[inline(never)]
    fn receive(&mut self, packet: &mut Packet) -> bool {
        let Fabric { paths, profiles, clock, agenda, rates, packets, receivers, messages, outcomes, .. } = self;
        let path = &mut paths[packet.flow];
        let profile = &profiles[path.wire.group];
        let interval = clock.interval();
        let outcome = receivers.receive_unit(path, packet, profile, interval, packets, agenda);
        outcome.conclude(packet, path, interval, outcomes, messages, agenda);
        if profile.is_external {
            outcomes.on_datagram(packet);
        }
        // An acknowledgement in cells is produced as it leaves the receiver.
        if outcome.is_answered && !packet.is_cell() {
            packet.time = path.wire.receiver_up(packet.time, profile.ack_unit, rates);
        }
        outcome.is_answered
    }

    /// A data packet reaches its receiver; later ones follow at once if they can. Returns false if the event exists only because the arrival
    /// was known before the timer of a delayed acknowledgement expired, which depends on how early arrivals are known.
    pub(crate) fn on_deliver(&mut self, flow: FlowId) -> bool {
        let group = self.paths[flow].wire.group;
        let route = self.route_of(flow);
        loop {
            let Some(mut packet) = self.packets.pop(&mut self.paths[flow].deliver) else {
                unreachable!("no packet is on its way to flow {flow}")
            };
            let profile = &self.profiles[group];
            if profile.ecn_echo == EcnEcho::Rfc8257
                && profile.delayed_ack.is_some()
                && !packet.is_rm()
                && self.paths[flow].receiver.is_flushed_by(EcnFlags::of(&packet))
            {
                self.agenda.cancel(Event::DelayedAck(flow));
                self.on_delayed_ack(packet.time, flow);
            }
            if self.receive(&mut packet) {
                self.walk_back(packet);
            }
            let Some(next) = self.packets.front(&self.paths[flow].deliver) else { break };
            if arrives_by_event(next, &self.profiles[group], &self.agenda, route) {
                self.agenda.at(Event::Deliver(flow), next.time);
                break;
            }
        }
        self.profiles[group].arrivals != ArrivalEvents::AfterTimer
    }

    /// A delayed acknowledgement is due.
    pub(crate) fn on_delayed_ack(&mut self, now: Time, flow: FlowId) {
        let Fabric { paths, profiles, rates, packets, receivers, .. } = self;
        let path = &mut paths[flow];
        if path.receiver.has_delayed() {
            // Only the report of a duplicate reads this number.
            let segment = SegmentNumber(path.receiver.expected.0.saturating_sub(1));
            let latest = OutgoingPacket { flow, segment, transmission: 1, bytes: Bytes(0), pushed: false };
            let mut packet = Packet::data(now, now, &latest, 0);
            let profile = &profiles[path.wire.group];
            receivers.acknowledge::<Complete>(path, &mut packet, Cause::NewData, profile, packets);
            if !packet.is_cell() {
                packet.time = path.wire.receiver_up(now, profile.ack_unit, rates);
            }
            self.walk_back(packet);
        }
    }

    /// The queue in front of an access link is full when a data packet arrives there.
    #[cold]
    #[inline(never)]
    pub(super) fn discard_at_access(&mut self, mut packet: Packet) {
        let (flow, time) = (packet.flow, packet.time);
        self.packets.release(&mut packet);
        self.outcomes.await_discard(flow, time, &self.clock);
        let counts = &mut self.paths[flow].counts;
        counts.discarded_in_all += 1;
        counts.discarded += u32::from(self.clock.measures_all([packet.sent, time]));
    }
}
