//! The receiving ends. A packet past its last port crosses the private link, is reassembled from cells, is received, and becomes the
//! acknowledgement that it causes. Packets that return to a sender are queued in a line there.

use super::adaptation::Collected;
use super::common::{Became, Common, Fate};
use super::event_order::FlowKind;
use super::facts::Facts;
use super::path::Path;
use crate::primitives::packet::{AckNumber, Packet, Received, Report};
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::units::Units;
use crate::tcp::handshake::SYN;
use crate::tcp::receiver::{Cause, EcnFlags, Reply};

/// Whether the route of a flow changes during the run, in which case its packets may arrive out of order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    Fixed,
    Changing,
}

impl Path {
    /// A packet has passed its last port. Returns true if it is a data packet that causes an immediate acknowledgement; the packet is then
    /// converted to it.
    #[inline(always)]
    pub(crate) fn leave_network<const CELLS: bool>(
        &mut self,
        packet: &mut Packet,
        facts: &Facts,
        common: &mut Common,
        route: Route,
    ) -> bool {
        let flow = packet.flow;
        if packet.is_ack() {
            packet.time = self.wire.sender_down(packet.time, facts.ack_unit, &mut common.rates);
            if CELLS && packet.is_cell() {
                if facts.has_edge && packet.is_rm() {
                    common.return_rm(*packet);
                    return false;
                }
                if common.channels[flow as usize].acks.collect(packet, || facts.ack_cells) != Collected::Whole {
                    if packet.has_report() && packet.is_last() {
                        common.reports.release(packet.ack_word());
                    }
                    return false;
                }
                packet.time += facts.reassembly();
            }
            // If others are queued and none is on its way to them, this is not the next acknowledgement that the sender processes.
            let goes_behind = !self.home.is_empty() && common.come_home.is_empty();
            if facts.runs_ahead && route == Route::Fixed && !goes_behind {
                common.come_home.push_back(*packet);
                return false;
            }
            if self.home.is_empty() {
                common.calendar.schedule(common.order.flow(FlowKind::Home, flow), packet.time);
            }
            common.pool.push(&mut self.home, *packet);
            return false;
        }
        packet.time = self.wire.receiver_down(packet.time, facts.unit_bytes::<CELLS>(packet), &mut common.rates);
        if CELLS && packet.is_cell() {
            let channel = &mut common.channels[flow as usize];
            if facts.has_edge && packet.is_rm() {
                channel.take_forward_rm(packet);
            } else {
                if facts.has_edge {
                    channel.efci = packet.is_marked();
                    packet.forget_efci();
                }
                let collected = channel.data.collect(packet, || facts.cells(packet));
                if packet.is_last() && common.window.measures(packet.time) {
                    channel.count(collected, facts.cells(packet));
                    self.counts.discarded += u32::from(collected != Collected::Whole);
                }
                if collected != Collected::Whole {
                    return false;
                }
            }
            // An RM cell stays behind the packet before it.
            packet.time += facts.reassembly();
        }
        if facts.delivers_as_event || route == Route::Changing {
            if self.deliver.is_empty() {
                common.calendar.schedule(common.order.flow(FlowKind::Deliver, flow), packet.time);
            }
            common.pool.push(&mut self.deliver, *packet);
            return false;
        }
        if facts.plain { self.receive_as::<true>(packet, facts, common) } else { self.receive_unit(packet, facts, common) }
    }

    /// A whole packet, or a forward RM cell, reaches its receiver at `packet.time`. Returns true if it is answered at once; the packet is
    /// then converted to the answer. RM cells are turned around (ATM Forum TM 4.0, section 5.10.5).
    #[inline(never)]
    pub(crate) fn receive_unit(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) -> bool {
        if packet.is_rm() {
            packet.turn_around(self.wire.backward);
            return true;
        }
        if facts.plain_at_receiver {
            let answers = self.receive_as::<true>(packet, facts, common);
            if answers {
                packet.set_signals();
            }
            return answers;
        }
        self.receive(packet, facts, common)
    }

    /// A data packet reaches its receiver at `packet.time`. Returns true if it causes an immediate acknowledgement; the packet is then
    /// converted to it.
    #[inline]
    fn receive(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) -> bool {
        self.receive_as::<false>(packet, facts, common)
    }

    /// `PLAIN` selects the conditions of [`Facts::plain`], so that rare features have no cost.
    #[inline(always)]
    fn receive_as<const PLAIN: bool>(&mut self, packet: &mut Packet, facts: &Facts, common: &mut Common) -> bool {
        let flow = packet.flow;
        let time = packet.time;
        let measured = common.window.measures(time);
        self.carried.received_in_all += 1;
        if !PLAIN
            && measured
            && let Some(delays) = common.delays.get_mut(self.wire.group as usize)
        {
            delays.add(time.since(packet.sent));
        }
        if !PLAIN
            && facts.receivers_signal
            && let Some(place) = facts.place_among_signalled(flow)
        {
            let reported = &mut common.at_receivers[place];
            reported.marks += u32::from(packet.is_marked());
            if packet.has_price() {
                let header = packet.take_price(&mut common.prices);
                reported.set_price(match common.estimators.get_mut(place) {
                    Some(estimator) => common.price_spec.path_price(estimator, &header),
                    None => header.price,
                });
                if header.feedback.is_finite() {
                    common.feedbacks[place] += header.feedback;
                }
            }
            // A SYN is smaller than a data segment and sent faster.
            if !(facts.opens && packet.segment == SYN) {
                reported.note_delay(time.since(packet.sent));
            }
        }
        if !PLAIN && facts.ecn {
            self.receiver.on_ecn(EcnFlags { marked: packet.is_marked(), reduced: packet.has_cwr() });
            self.marked += u32::from(measured && packet.is_marked());
        }
        let is_tcp = PLAIN || facts.is_tcp;
        let (is_new, reply) = if is_tcp {
            let is_syn = !PLAIN && facts.opens && packet.segment == SYN;
            let delayed_ack =
                if PLAIN || is_syn { None } else { facts.delayed_ack.map(|rule| rule.after(time.since(packet.sent))) };
            let outcome = self.receiver.on_segment(packet.segment, packet.sent, delayed_ack, &mut common.out_of_order);
            (outcome.is_new, Some(outcome.reply))
        } else {
            (true, None)
        };
        if is_new {
            let payload = packet.bytes() - facts.header;
            if measured {
                self.carried.delivered += 1;
                self.carried.delivered_bytes += payload.0;
            }
            if self.receiver.expected >= self.complete_at && is_tcp {
                self.counts.completed = time;
            }
            if !PLAIN && let Some(recorder) = &mut common.recorder {
                recorder.on_delivered(flow, time, payload, common.window.end);
            }
        } else {
            self.counts.duplicates += u32::from(measured);
        }
        match reply {
            Some(Reply::Now) => {
                if !PLAIN && facts.delayed_ack.is_some() {
                    common.calendar.cancel(common.order.flow(FlowKind::DelayedAck, flow));
                }
                let cause = if is_new { Cause::NewData } else { Cause::Duplicate };
                self.acknowledge::<PLAIN>(packet, cause, facts, common);
                true
            }
            Some(Reply::Delayed { timer }) => {
                if let Some(timer) = timer {
                    common.calendar.schedule(common.order.flow(FlowKind::DelayedAck, flow), time + timer);
                }
                false
            }
            None => {
                if facts.is_external {
                    let became = Became::Delivered { is_marked: packet.is_marked() };
                    common.fates.push(Fate { time, flow, datagram: packet.segment, became });
                }
                false
            }
        }
    }

    /// Convert a data packet to the acknowledgement that it causes, as it reaches the first port of the reverse path. An acknowledgement in
    /// cells is produced as it leaves the receiver.
    #[inline(always)]
    pub(crate) fn acknowledge<const PLAIN: bool>(
        &mut self,
        packet: &mut Packet,
        cause: Cause,
        facts: &Facts,
        common: &mut Common,
    ) {
        let mut time = packet.time;
        if !PLAIN && let Some(hosts) = common.hosts.get_mut(packet.flow as usize) {
            time = hosts.receive(time, &facts.group);
        }
        if !PLAIN
            && facts.delayed_ack.is_some()
            && let Some(echo) = self.receiver.acknowledged()
        {
            packet.sent = echo;
        }
        let received = match facts.sack_blocks {
            0 => None,
            most if !PLAIN && facts.by_time && cause == Cause::Duplicate => {
                Some(self.receiver.blocks_after((packet.segment, packet.segment + 1), most, &common.out_of_order))
            }
            most => self.receiver.blocks(most, &common.out_of_order),
        };
        let signalled = if PLAIN || !facts.receivers_signal { None } else { facts.place_among_signalled(packet.flow) };
        let number = match (received, signalled) {
            (None, None) => AckNumber::Here(self.receiver.expected),
            (Some(received), None) => {
                AckNumber::InReport(common.reports.put(Report { received, feedback: ReceiverFeedback::default() }))
            }
            (received, Some(place)) => {
                let received = received.unwrap_or(Received { ack: self.receiver.expected, ..Received::default() });
                let reported = common.receiver_feedback(place, packet.segment);
                AckNumber::InReport(common.reports.put(Report { received, feedback: reported }))
            }
        };
        self.carried.acks_sent_in_all += 1;
        packet.become_ack(time, number, self.wire.backward);
        if !PLAIN && facts.acks_signal {
            packet.set_signals();
        }
        if !PLAIN && facts.ecn && self.receiver.echoes_mark() {
            packet.mark();
        }
        if !PLAIN && facts.framing.is_some() {
            packet.become_cell(Units(0));
        } else {
            packet.time = self.wire.receiver_up(time, facts.ack_unit, &mut common.rates);
        }
    }
}
