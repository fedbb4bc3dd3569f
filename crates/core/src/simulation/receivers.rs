//! The receiving ends: what receivers keep in addition to the state in their flow's path.

use super::agenda::Agenda;
use super::event_order::Event;
use super::group_profile::GroupProfile;
use super::measurement_interval::MeasurementInterval;
use super::messages::Messages;
use super::outcomes::Outcomes;
use super::packets::Packets;
use super::path::Path;
use super::receiver_signals::ReceiverSignals;
use super::specialised::{Complete, Plain, Reception};
use crate::network::Network;
use crate::primitives::histogram::Histogram;
use crate::primitives::ids::FlowId;
use crate::primitives::packet::{AckNumber, Packet, Received, Report, Slab};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::units::{Bytes, Units};
use crate::tcp::handshake::SYN;
use crate::tcp::out_of_order::OutOfOrder;
use crate::tcp::receiver::{Arrival, Cause, EcnFlags, Pushed, Reply};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Receivers {
    out_of_order: Slab<OutOfOrder>,
    signals: ReceiverSignals,
    /// One-way delays per group, if requested.
    delays: Vec<Histogram>,
    /// Payload of datagrams that receivers still expect, by flow; empty if no flow of datagrams has a size.
    expected_payload: Vec<Bytes>,
    /// Datagrams that a link has duplicated and that have reached their receivers.
    duplicated: BTreeSet<(FlowId, SegmentNumber)>,
}

/// Result of a packet at its receiver.
#[derive(Clone, Copy, Default)]
pub(crate) struct ReceptionOutcome {
    /// It causes an immediate acknowledgement, to which it has been converted.
    pub(crate) is_answered: bool,
    /// The receiver did not have it.
    is_new: bool,
    payload: Bytes,
}

impl ReceptionOutcome {
    /// Record the packet, and deliver messages that it completes.
    #[inline(always)]
    pub(crate) fn conclude(
        self,
        packet: &Packet,
        path: &mut Path,
        interval: &MeasurementInterval,
        outcomes: &mut Outcomes,
        messages: &mut Messages,
        agenda: &mut Agenda,
    ) {
        if !self.is_new {
            return;
        }
        if let Some(recorder) = outcomes.recorder_mut() {
            recorder.on_delivered(packet.flow, packet.time, self.payload, interval.end);
        }
        if path.is_complete() {
            messages.complete(path, packet.flow, packet.time, interval, agenda);
        }
    }
}

impl Receivers {
    /// `signalled`: number of flows whose controllers request signals.
    pub(crate) fn new(network: &Network, signalled: usize) -> Receivers {
        let groups = if network.record.delay_percentiles { network.groups.len() } else { 0 };
        Receivers {
            out_of_order: Slab::default(),
            signals: ReceiverSignals::new(network, signalled),
            delays: vec![Histogram::default(); groups],
            expected_payload: expected_payload(network),
            duplicated: BTreeSet::new(),
        }
    }

    /// Number of flows whose controllers request signals.
    #[cfg(test)]
    pub(crate) fn signals(&self) -> usize {
        self.signals.len()
    }

    /// One-way delays per group; empty unless requested.
    pub(crate) fn delays(&self) -> &[Histogram] {
        &self.delays
    }

    /// A whole packet, or a forward RM cell, reaches its receiver at `packet.time`. RM cells are turned around (ATM Forum TM 4.0, section
    /// 5.10.5).
    #[inline(always)]
    pub(crate) fn receive_unit(
        &mut self,
        path: &mut Path,
        packet: &mut Packet,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> ReceptionOutcome {
        if packet.is_rm() {
            packet.turn_around(path.wire.backward);
            return ReceptionOutcome { is_answered: true, ..ReceptionOutcome::default() };
        }
        if !profile.plain_at_receiver {
            return self.receive::<Complete>(path, packet, profile, interval, packets, agenda);
        }
        let outcome = self.receive::<Plain>(path, packet, profile, interval, packets, agenda);
        if outcome.is_answered && profile.acks_signal {
            packet.set_signals();
        }
        outcome
    }

    /// A data packet reaches its receiver at `packet.time`.
    #[inline(always)]
    pub(crate) fn receive<R: Reception>(
        &mut self,
        path: &mut Path,
        packet: &mut Packet,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) -> ReceptionOutcome {
        let flow = packet.flow;
        let time = packet.time;
        let measured = interval.measures(time);
        path.carried.received_in_all += 1;
        if !R::PLAIN && profile.opens && packet.is_pushed() && !packet.has_price() && packet.segment() == SYN {
            // An acknowledgement of the receiver's SYN or FIN.
            path.carried.delivered += u32::from(measured);
            return ReceptionOutcome::default();
        }
        if !R::PLAIN
            && measured
            && let Some(delays) = self.delays.get_mut(path.wire.group.index())
        {
            delays.add(time.since(packet.sent));
        }
        if !R::PLAIN
            && profile.receivers_signal
            && let Some(place) = profile.place_among_signalled(flow)
        {
            self.signals.take_price(place, packet, packets);
            // A SYN is smaller than a data segment and sent faster, and its mark has no effect.
            if !(profile.opens && packet.segment() == SYN) {
                self.signals.note(place, packet);
            }
        }
        // The price, which has been removed, took the place of the number.
        let is_syn = !R::PLAIN && profile.opens && packet.segment() == SYN;
        if !R::PLAIN && profile.ecn && !is_syn {
            path.receiver.on_ecn(EcnFlags::of(packet), profile.ecn_echo);
            path.marked += u32::from(measured && packet.is_marked());
        }
        let is_tcp = R::PLAIN || profile.is_tcp;
        if !R::PLAIN
            && let Some(tolerance) = profile.paws
            && !path.receiver.accepts(packet.segment(), packet.sent, tolerance)
        {
            self.discard_old(path, packet, profile, interval, packets, agenda);
            return ReceptionOutcome { is_answered: true, ..ReceptionOutcome::default() };
        }
        let (is_new, reply) = if is_tcp {
            let delayed_ack = if R::PLAIN || is_syn {
                None
            } else {
                let pushed = if packet.is_pushed() { Pushed::Yes } else { Pushed::No };
                let arrival = Arrival { flow, sent: packet.sent, time, pushed };
                profile.delayed_ack.as_ref().map(|rule| rule.after(arrival))
            };
            let outcome = path.receiver.on_segment(packet.segment(), packet.sent, delayed_ack, &mut self.out_of_order);
            (outcome.is_new, Some(outcome.reply))
        } else {
            (!packet.is_duplicated() || self.duplicated.insert((flow, packet.segment())), None)
        };
        let payload = if is_syn { Bytes(0) } else { packet.bytes() - profile.header };
        if is_new {
            if measured {
                path.carried.delivered += 1;
                path.carried.delivered_bytes += payload.0;
            }
            if !is_tcp
                && let Some(expected) = self.expected_payload.get_mut(flow.index()).filter(|bytes| **bytes != Bytes(u64::MAX))
            {
                *expected -= payload;
                if *expected == Bytes(0) {
                    path.counts.completed = time;
                }
            }
        } else {
            path.counts.duplicates += u32::from(measured);
        }
        let is_answered = reply == Some(Reply::Now);
        match reply {
            Some(Reply::Now) => {
                if !R::PLAIN && profile.delayed_ack.is_some() {
                    agenda.cancel(Event::DelayedAck(flow));
                }
                let cause = if is_new { Cause::NewData } else { Cause::Duplicate };
                self.acknowledge::<R>(path, packet, cause, profile, packets);
            }
            Some(Reply::Delayed { timer: Some(timer) }) => agenda.at(Event::DelayedAck(flow), time + timer),
            Some(Reply::Delayed { timer: None }) | None => {}
        }
        ReceptionOutcome { is_answered, is_new, payload }
    }

    /// A segment that PAWS does not accept is discarded. The packet is converted to the acknowledgement that it causes.
    #[cold]
    #[inline(never)]
    fn discard_old(
        &mut self,
        path: &mut Path,
        packet: &mut Packet,
        profile: &GroupProfile,
        interval: &MeasurementInterval,
        packets: &mut Packets,
        agenda: &mut Agenda,
    ) {
        if path.receiver.has(packet.segment(), &self.out_of_order) {
            path.counts.duplicates += u32::from(interval.measures(packet.time));
        } else {
            path.counts.discarded += u32::from(interval.measures_all([packet.sent, packet.time]));
        }
        packet.sent = path.receiver.ts_recent();
        agenda.cancel(Event::DelayedAck(packet.flow));
        let cause = path.receiver.on_discarded(packet.segment());
        self.acknowledge::<Complete>(path, packet, cause, profile, packets);
    }

    /// Convert a data packet to the acknowledgement that it causes, as it leaves the receiver.
    #[inline(always)]
    pub(crate) fn acknowledge<R: Reception>(
        &mut self,
        path: &mut Path,
        packet: &mut Packet,
        cause: Cause,
        profile: &GroupProfile,
        packets: &mut Packets,
    ) {
        let time = packet.time;
        if !R::PLAIN
            && profile.delayed_ack.is_some()
            && let Some(echo) = path.receiver.acknowledged(&self.out_of_order)
        {
            packet.sent = echo;
        }
        let received = match profile.sack_blocks {
            0 => None,
            max if !R::PLAIN && profile.by_time && cause == Cause::Duplicate => {
                Some(path.receiver.blocks_after((packet.segment(), packet.segment().next()), max, &self.out_of_order))
            }
            max => path.receiver.blocks(max, &self.out_of_order),
        };
        let signalled = if R::PLAIN || !profile.receivers_signal { None } else { profile.place_among_signalled(packet.flow) };
        let number = match (received, signalled) {
            (None, None) => AckNumber::Inline(path.receiver.expected),
            (Some(received), None) => {
                AckNumber::InReport(packets.add_report(Report { received, feedback: ReceiverFeedback::default() }))
            }
            (received, Some(place)) => {
                let received = received.unwrap_or(Received::before(path.receiver.expected));
                let reported = self.signals.report(place, packet.segment());
                AckNumber::InReport(packets.add_report(Report { received, feedback: reported }))
            }
        };
        path.carried.acks_sent_in_all += 1;
        packet.become_ack(time, number, path.wire.backward);
        if !R::PLAIN && profile.acks_signal {
            packet.set_signals();
        }
        if !R::PLAIN && profile.ecn {
            packet.set_ecn(profile.ecn_of_acks);
            if path.receiver.echoes_mark() {
                packet.echo_mark();
            }
        }
        if !R::PLAIN && profile.framing.is_some() {
            packet.become_cell(Units(0));
        }
    }
}

/// Domains of a parallel run.
impl Receivers {
    /// Copy the state of a flow's receiver.
    pub(crate) fn take_receiver(&mut self, flow: FlowId, from: &Receivers, place: Option<usize>) {
        if let (Some(own), Some(other)) = (self.expected_payload.get_mut(flow.index()), from.expected_payload.get(flow.index())) {
            *own = *other;
        }
        if let Some(place) = place {
            self.signals.take_receiver(place, &from.signals);
        }
    }

    /// Reset the counters.
    pub(crate) fn forget_counts(&mut self) {
        self.delays.fill_with(Histogram::default);
    }

    /// Add the counters of another domain.
    pub(crate) fn add_counts(&mut self, other: &Receivers) {
        self.duplicated.extend(&other.duplicated);
        for (delays, other) in self.delays.iter_mut().zip(&other.delays) {
            delays.add_all(other);
        }
    }

    /// Without the segments that arrived out of order; each kept receiver has to be moved here.
    pub(crate) fn forget_out_of_order(&mut self) {
        self.out_of_order = Slab::default();
    }

    /// Move the segments that arrived out of order at a receiver from another owner.
    pub(crate) fn move_out_of_order(&mut self, path: &mut Path, from: &Receivers) {
        path.receiver.move_to_pool(&from.out_of_order, &mut self.out_of_order);
    }
}

/// By flow; empty if no flow of datagrams has a size.
fn expected_payload(network: &Network) -> Vec<Bytes> {
    if !network.has_sized_datagrams() {
        return Vec::new();
    }
    network.flows.iter().map(|flow| flow.size.unwrap_or(Bytes(u64::MAX))).collect()
}
