//! The receiving ends. A packet past its last port crosses the private link, is reassembled from cells, is processed by the host, is received,
//! and becomes the acknowledgement that it causes. Packets that return to a sender are queued in a line there.

use super::adaptation::ReassemblyState;
use super::datagrams::{DatagramOutcome, Fate};
use super::event_order::Event;
use super::group_profile::{ArrivalEvents, GroupProfile};
use super::path::Path;
use super::sim_state::SimState;
use super::specialised::{Carriage, Complete, Plain, Reception};
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{AckNumber, Packet, Received, Report};
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::units::{Bytes, Time, Units};
use crate::tcp::handshake::SYN;
use crate::tcp::receiver::{Cause, EcnFlags, Pushed, Reply};

/// Whether the route of a flow changes during the run, in which case its packets may arrive out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Fixed,
    Changing,
}

/// Whether the arrival of this packet at its receiver is an event, if it is the next one there.
#[inline(always)]
pub(crate) fn arrives_by_event(packet: &Packet, profile: &GroupProfile, sim: &SimState, route: Route) -> bool {
    match profile.arrivals {
        _ if route == Route::Changing => true,
        ArrivalEvents::Never => false,
        ArrivalEvents::AfterTimer => sim.agenda.time_of(Event::DelayedAck(packet.flow)) < packet.time,
        ArrivalEvents::Always => true,
    }
}

impl Path {
    /// A packet has passed its last port. Returns true if it is a data packet that causes an immediate acknowledgement; the packet is then
    /// converted to it.
    #[inline(always)]
    pub(crate) fn leave_network<C: Carriage>(
        &mut self,
        packet: &mut Packet,
        profile: &GroupProfile,
        sim: &mut SimState,
        route: Route,
    ) -> bool {
        let flow = packet.flow;
        if packet.is_ack() {
            packet.time = self.wire.sender_down(packet.time, profile.ack_unit, &mut sim.rates);
            if C::CELLS && packet.is_cell() {
                if profile.has_edge && packet.is_rm() {
                    sim.return_rm(*packet);
                    return false;
                }
                if sim.channels[flow].acks.collect(packet, || profile.ack_cells) != ReassemblyState::Whole {
                    sim.packets.release(packet);
                    return false;
                }
                packet.time += profile.reassembly();
            }
            // If others are queued and none is on its way to them, this is not the next acknowledgement that the sender processes.
            let is_forwarded = !self.ack_line.is_empty() && sim.pending_acks.is_empty();
            if profile.runs_ahead && route == Route::Fixed && !is_forwarded {
                sim.pending_acks.push(*packet);
                return false;
            }
            if self.ack_line.is_empty() {
                sim.agenda.at(Event::AckArrival(flow), packet.time);
            }
            sim.packets.push(&mut self.ack_line, *packet);
            return false;
        }
        if let Some(queues) = sim.access_queues.get_mut(flow.index())
            && !(C::CELLS && packet.is_cell())
            && !queues.receive.arrive(packet.time, packet.bytes())
        {
            self.discard_at_access(packet, sim);
            return false;
        }
        packet.time = self.wire.receiver_down(packet.time, profile.unit_bytes::<C>(packet), &mut sim.rates);
        if C::CELLS && packet.is_cell() {
            let channel = &mut sim.channels[flow];
            if profile.has_edge && packet.is_rm() {
                channel.take_forward_rm(packet);
            } else {
                if profile.has_edge {
                    channel.efci = packet.is_marked();
                    packet.clear_efci();
                }
                let collected = channel.data.collect(packet, || profile.cells(packet));
                if packet.is_last() && sim.clock.measures(packet.time) {
                    channel.count(collected, profile.cells(packet));
                    let is_lost = collected != ReassemblyState::Whole && sim.clock.measures(packet.sent);
                    self.counts.discarded += u32::from(is_lost);
                }
                if collected != ReassemblyState::Whole {
                    return false;
                }
            }
            // An RM cell stays behind the packet before it.
            packet.time += profile.reassembly();
        }
        if !profile.plain
            && let Some(hosts) = sim.hosts.get_mut(flow.index())
        {
            packet.time = if packet.is_rm() { hosts.follow(packet.time) } else { hosts.receive(packet.time, &profile.group) };
        }
        let may_wait = profile.arrivals != ArrivalEvents::Never || route == Route::Changing;
        if may_wait && (!self.deliver.is_empty() || arrives_by_event(packet, profile, sim, route)) {
            if self.deliver.is_empty() {
                sim.agenda.at(Event::Deliver(flow), packet.time);
            }
            sim.packets.push(&mut self.deliver, *packet);
            return false;
        }
        if profile.plain { self.receive_as::<Plain>(packet, profile, sim) } else { self.receive_unit(packet, profile, sim) }
    }

    /// The queue in front of an access link is full when a data packet arrives there.
    #[cold]
    #[inline(never)]
    pub(crate) fn discard_at_access(&mut self, packet: &mut Packet, sim: &mut SimState) {
        sim.packets.release(packet);
        if packet.time > sim.clock.now() {
            sim.to_be_discarded.push_back((packet.time, packet.flow));
        }
        self.counts.discarded_in_all += 1;
        self.counts.discarded += u32::from(sim.clock.measures_all([packet.sent, packet.time]));
    }

    /// A whole packet, or a forward RM cell, reaches its receiver at `packet.time`. Returns true if it is answered at once; the packet is
    /// then converted to the answer. RM cells are turned around (ATM Forum TM 4.0, section 5.10.5).
    #[inline(never)]
    pub(crate) fn receive_unit(&mut self, packet: &mut Packet, profile: &GroupProfile, sim: &mut SimState) -> bool {
        if packet.is_rm() {
            packet.turn_around(self.wire.backward);
            return true;
        }
        if profile.plain_at_receiver {
            let answers = self.receive_as::<Plain>(packet, profile, sim);
            if answers && profile.acks_signal {
                packet.set_signals();
            }
            return answers;
        }
        self.receive(packet, profile, sim)
    }

    /// A data packet reaches its receiver at `packet.time`. Returns true if it causes an immediate acknowledgement; the packet is then
    /// converted to it.
    #[inline]
    fn receive(&mut self, packet: &mut Packet, profile: &GroupProfile, sim: &mut SimState) -> bool {
        self.receive_as::<Complete>(packet, profile, sim)
    }

    #[inline(always)]
    fn receive_as<R: Reception>(&mut self, packet: &mut Packet, profile: &GroupProfile, sim: &mut SimState) -> bool {
        let flow = packet.flow;
        let time = packet.time;
        let measured = sim.clock.measures(time);
        self.carried.received_in_all += 1;
        if !R::PLAIN && profile.opens && packet.is_pushed() && !packet.has_price() && packet.segment() == SYN {
            // An acknowledgement of the receiver's SYN or FIN.
            self.carried.delivered += u32::from(measured);
            return false;
        }
        if !R::PLAIN
            && measured
            && let Some(delays) = sim.delays.get_mut(self.wire.group.index())
        {
            delays.add(time.since(packet.sent));
        }
        if !R::PLAIN
            && profile.receivers_signal
            && let Some(place) = profile.place_among_signalled(flow)
        {
            let reported = &mut sim.at_receivers[place];
            if packet.has_price() {
                let header = sim.packets.take_price(packet);
                reported.set_price(match sim.estimators.get_mut(place) {
                    Some(estimator) => sim.price_spec.path_price(estimator, &header),
                    None => header.price,
                });
                if header.feedback.is_finite() {
                    sim.feedbacks[place] += header.feedback;
                }
            }
            // A SYN is smaller than a data segment and sent faster, and its mark has no effect.
            if !(profile.opens && packet.segment() == SYN) {
                reported.marks += u32::from(packet.is_marked());
                reported.note_delay(time.since(packet.sent));
            }
        }
        // The price, which has been removed, took the place of the number.
        let is_syn = !R::PLAIN && profile.opens && packet.segment() == SYN;
        if !R::PLAIN && profile.ecn && !is_syn {
            self.receiver.on_ecn(EcnFlags::of(packet), profile.ecn_echo);
            self.marked += u32::from(measured && packet.is_marked());
        }
        let is_tcp = R::PLAIN || profile.is_tcp;
        if !R::PLAIN
            && let Some(tolerance) = profile.paws
            && !self.receiver.accepts(packet.segment(), packet.sent, tolerance)
        {
            self.discard_old(packet, profile, sim);
            return true;
        }
        let (is_new, reply) = if is_tcp {
            let delayed_ack = if R::PLAIN || is_syn {
                None
            } else {
                let pushed = if packet.is_pushed() { Pushed::Yes } else { Pushed::No };
                profile.delayed_ack.as_ref().map(|rule| rule.after(time.since(packet.sent), pushed))
            };
            let outcome = self.receiver.on_segment(packet.segment(), packet.sent, delayed_ack, &mut sim.out_of_order);
            (outcome.is_new, Some(outcome.reply))
        } else {
            (!packet.is_duplicated() || sim.received_duplicated.insert((flow, packet.segment())), None)
        };
        if is_new {
            let payload = if is_syn { Bytes(0) } else { packet.bytes() - profile.header };
            if measured {
                self.carried.delivered += 1;
                self.carried.delivered_bytes += payload.0;
            }
            if is_tcp {
                if self.receiver.expected >= self.complete_at {
                    self.complete(flow, time, sim);
                }
            } else if let Some(expected) = sim.expected_payload.get_mut(flow.index()).filter(|bytes| **bytes != Bytes(u64::MAX)) {
                *expected -= payload;
                if *expected == Bytes(0) {
                    self.counts.completed = time;
                }
            }
            if !R::PLAIN
                && let Some(recorder) = &mut sim.recorder
            {
                recorder.on_delivered(flow, time, payload, sim.clock.end());
            }
        } else {
            self.counts.duplicates += u32::from(measured);
        }
        match reply {
            Some(Reply::Now) => {
                if !R::PLAIN && profile.delayed_ack.is_some() {
                    sim.agenda.cancel(Event::DelayedAck(flow));
                }
                let cause = if is_new { Cause::NewData } else { Cause::Duplicate };
                self.acknowledge::<R>(packet, cause, profile, sim);
                true
            }
            Some(Reply::Delayed { timer }) => {
                if let Some(timer) = timer {
                    sim.agenda.at(Event::DelayedAck(flow), time + timer);
                }
                false
            }
            None => {
                if profile.is_external {
                    let outcome = DatagramOutcome::Delivered { is_marked: packet.is_marked() };
                    sim.fates.push(Fate { time, flow, datagram: packet.segment().0, outcome });
                }
                false
            }
        }
    }

    /// The receiver has the whole transfer, or, for a flow of messages, another message.
    #[inline]
    fn complete(&mut self, flow: FlowId, time: Time, sim: &mut SimState) {
        if sim.has_messages(flow)
            && let Some(next) = sim.deliver_messages(flow, self.receiver.expected, time)
        {
            self.complete_at = next;
            return;
        }
        // A FIN may follow the data.
        self.counts.completed = self.counts.completed.min(time);
    }

    /// A segment that PAWS does not accept is discarded. The packet is converted to the acknowledgement that it causes.
    #[cold]
    #[inline(never)]
    fn discard_old(&mut self, packet: &mut Packet, profile: &GroupProfile, sim: &mut SimState) {
        if self.receiver.has(packet.segment(), &sim.out_of_order) {
            self.counts.duplicates += u32::from(sim.clock.measures(packet.time));
        } else {
            self.counts.discarded += u32::from(sim.clock.measures_all([packet.sent, packet.time]));
        }
        packet.sent = self.receiver.ts_recent();
        sim.agenda.cancel(Event::DelayedAck(packet.flow));
        self.acknowledge::<Complete>(packet, self.receiver.on_discarded(packet.segment()), profile, sim);
    }

    /// Convert a data packet to the acknowledgement that it causes, as it reaches the first port of the reverse path. An acknowledgement in
    /// cells is produced as it leaves the receiver.
    #[inline(always)]
    pub(crate) fn acknowledge<R: Reception>(
        &mut self,
        packet: &mut Packet,
        cause: Cause,
        profile: &GroupProfile,
        sim: &mut SimState,
    ) {
        let time = packet.time;
        if !R::PLAIN
            && profile.delayed_ack.is_some()
            && let Some(echo) = self.receiver.acknowledged(&sim.out_of_order)
        {
            packet.sent = echo;
        }
        let received = match profile.sack_blocks {
            0 => None,
            max if !R::PLAIN && profile.by_time && cause == Cause::Duplicate => {
                Some(self.receiver.blocks_after((packet.segment(), packet.segment().next()), max, &sim.out_of_order))
            }
            max => self.receiver.blocks(max, &sim.out_of_order),
        };
        let signalled = if R::PLAIN || !profile.receivers_signal { None } else { profile.place_among_signalled(packet.flow) };
        let number = match (received, signalled) {
            (None, None) => AckNumber::Inline(self.receiver.expected),
            (Some(received), None) => {
                AckNumber::InReport(sim.packets.add_report(Report { received, feedback: ReceiverFeedback::default() }))
            }
            (received, Some(place)) => {
                let received = received.unwrap_or(Received::before(self.receiver.expected));
                let reported = sim.receiver_feedback(place, packet.segment());
                AckNumber::InReport(sim.packets.add_report(Report { received, feedback: reported }))
            }
        };
        self.carried.acks_sent_in_all += 1;
        packet.become_ack(time, number, self.wire.backward);
        if !R::PLAIN && profile.acks_signal {
            packet.set_signals();
        }
        if !R::PLAIN && profile.ecn {
            packet.set_ecn(profile.ecn_of_acks);
            if self.receiver.echoes_mark() {
                packet.echo_mark();
            }
        }
        if !R::PLAIN && profile.framing.is_some() {
            packet.become_cell(Units(0));
        } else {
            packet.time = self.wire.receiver_up(time, profile.ack_unit, &mut sim.rates);
        }
    }
}
