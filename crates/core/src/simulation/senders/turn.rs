//! One turn of a TCP sender: it takes in an acknowledgement or the passing of time, sends all segments that it may send now, and updates the
//! events of its timers.

use crate::primitives::ids::FlowId;
use crate::primitives::packet::OutgoingPacket;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments, Time};
use crate::record::AckRecord;
use crate::simulation::domain_boundary::TimeoutWait;
use crate::simulation::endpoints::Transmissions;
use crate::simulation::event_order::Event;
use crate::simulation::fabric::Fabric;
use crate::simulation::wiring::FlowPlan;
use crate::tcp::TcpSpec;
use crate::tcp::handshake::SYN;
use crate::tcp::observed::Observed;
use crate::tcp::sender::Tcp;
use crate::tcp::sequence::IncomingAck;
use crate::tcp::signal_reader::AckExtras;

pub(super) struct SenderTurn<'a> {
    pub(super) flow: FlowId,
    pub(super) now: Time,
    pub(super) tcp: Tcp<'a>,
    pub(super) fabric: &'a mut Fabric,
    pub(super) transmissions: &'a mut Option<Transmissions>,
    pub(super) plans: &'a [FlowPlan],
}

/// An acknowledgement at its sender.
#[derive(Clone, Copy)]
pub(super) struct AckArrival<'a> {
    pub(super) incoming: &'a IncomingAck<'a>,
    pub(super) extras: &'a AckExtras,
}

impl SenderTurn<'_> {
    /// An acknowledgement arrived.
    #[inline(always)]
    pub(super) fn process_ack<O: Observed>(&mut self, ack: AckArrival) {
        let AckArrival { incoming, extras } = ack;
        let SenderTurn { flow, now, tcp, fabric, .. } = self;
        let is_duplicate = incoming.ack <= tcp.sender.sequence.snd_una;
        let opens = O::SIGNALLED && tcp.spec.bare_segments && tcp.is_opening();
        let rtt = tcp.on_ack::<O>(incoming, extras);
        if O::SIGNALLED
            && let Some(reader) = &mut tcp.reader
        {
            reader.bound_release(&tcp.sender.controller, &tcp.sender.sequence);
        }
        if O::TRACED
            && let Some(recorder) = fabric.outcomes.recorder_mut()
        {
            let (flow, ack, blocks, echoes_mark) = (*flow, incoming.ack, incoming.blocks, extras.echoes_mark);
            recorder.on_ack(*now, &AckRecord { flow, ack, blocks, echoes_mark, is_duplicate, rtt }, tcp.sender);
        }
        if opens && !self.tcp.is_opening() {
            self.send_bare_ack::<O>();
        }
        if O::SIGNALLED && !is_duplicate && self.tcp.spec.bare_segments && self.tcp.sender.sequence.is_done() {
            self.acknowledge_fin::<O>();
        }
    }

    /// All data is acknowledged. The receiver of a transfer has closed the connection, too, and its FIN is acknowledged.
    #[cold]
    #[inline(never)]
    fn acknowledge_fin<O: Observed>(&mut self) {
        if self.fabric.profile(self.flow).group.application.is_none() {
            self.send_bare_ack::<O>();
        }
    }

    /// Sends an acknowledgement without data. Cells have no flag for it, and without a handshake it has no number.
    #[cold]
    #[inline(never)]
    fn send_bare_ack<O: Observed>(&mut self) {
        let profile = self.fabric.profile(self.flow);
        if profile.framing.is_some() || !profile.opens {
            return;
        }
        let bytes = self.tcp.spec.ack_size;
        let packet = OutgoingPacket { flow: self.flow, segment: SYN, transmission: u32::MAX, bytes, pushed: true };
        self.tcp.count_bare_ack();
        self.fabric.send::<O>(self.now, &packet, self.tcp.ecn_of_bare_ack());
    }

    /// The timer may have expired.
    #[inline(always)]
    pub(super) fn check_deadline<O: Observed>(&mut self) {
        let SenderTurn { flow, now, tcp, fabric, .. } = self;
        if tcp.sender.timer.deadline > *now {
            return;
        }
        let idle = tcp.sender.sequence.counts.idle;
        let is_timeout = tcp.reborrow().on_timer(fabric.path(*flow).counts.completed);
        if let Some(boundary) = &mut fabric.boundary {
            boundary.note_wait(TimeoutWait { flow: *flow, until: *now, idle: tcp.sender.sequence.counts.idle - idle });
        }
        match &mut tcp.reader {
            Some(reader) if O::SIGNALLED && is_timeout => reader.on_timeout(),
            Some(reader) if O::SIGNALLED => reader.on_other_deadline(),
            _ => {}
        }
        if O::TRACED
            && is_timeout
            && let Some(recorder) = fabric.outcomes.recorder_mut()
        {
            recorder.on_timeout(*flow);
        }
    }

    /// Sends all segments that may be sent now.
    #[inline(always)]
    pub(super) fn send<O: Observed>(&mut self) {
        let SenderTurn { flow, now, tcp, fabric, transmissions, plans } = self;
        let (flow, now, spec) = (*flow, *now, tcp.spec);
        while !O::SIGNALLED || tcp.reader.as_mut().is_none_or(|reader| reader.may_send(&tcp.sender.sequence)) {
            let is_alone = O::SIGNALLED && tcp.sender.sequence.snd_max == tcp.sender.sequence.snd_una;
            let Some(sent) = tcp.next_segment::<O>() else { break };
            let segment = sent.segment;
            if O::SIGNALLED {
                let in_flight = if tcp.counts_losses() { tcp.pipe() } else { Segments(0) };
                match &mut tcp.reader {
                    Some(reader) if is_alone => reader.on_sent_alone(segment, now),
                    Some(reader) => reader.on_sent(segment, now, in_flight),
                    None => {}
                }
            }
            let is_syn = O::SIGNALLED && spec.is_syn(segment);
            let ecn = if is_syn { spec.ecn_of_others() } else { tcp.announce(&sent) };
            let (bytes, pushed) = match () {
                () if is_syn => (spec.syn_size(), false),
                () if O::SIGNALLED && fabric.messages.are_of(flow) => {
                    let messages = fabric.messages.expect(flow);
                    (messages.payload(segment) + spec.header, messages.pushes(segment))
                }
                // The last two segments, because the last one may be a FIN.
                () if tcp.sender.sequence.limit - segment <= Segments(2) => {
                    let is_last = segment.next() == tcp.sender.sequence.limit;
                    (last_bytes(spec, plans[flow].size, segment), is_last)
                }
                () => (spec.mss + spec.header, false),
            };
            let transmission = match &mut **transmissions {
                Some(transmissions) if sent.number > 1 => {
                    let count = transmissions.entry((flow, segment)).or_insert(1);
                    *count += 1;
                    *count
                }
                _ => sent.number,
            };
            let packet = OutgoingPacket { flow, segment, transmission, bytes, pushed };
            let reader = if O::SIGNALLED { tcp.reader.as_mut() } else { None };
            match reader.and_then(|reader| reader.price_header(&tcp.sender.controller, segment)) {
                Some(header) => fabric.send_priced(now, &packet, ecn, header),
                None => fabric.send::<O>(now, &packet, ecn),
            }
            let is_last = sent.fills_window || tcp.sender.pacer.is_held_back(now);
            if is_last && tcp.reader.as_ref().is_none_or(|reader| !reader.is_bounded()) {
                break;
            }
        }
        if O::SIGNALLED
            && let Some(reader) = &mut tcp.reader
        {
            reader.on_all_sent(&tcp.sender.sequence, || tcp.sender.window(spec));
        }
        if O::SIGNALLED {
            tcp.rearm();
        }
        if O::TRACED
            && let Some(recorder) = fabric.outcomes.recorder_mut()
        {
            recorder.on_window(flow, tcp);
        }
    }

    /// Advance to the time at which the pacer permits the next transmission, if that is before `end` and before the timer may expire.
    #[inline(always)]
    pub(super) fn continues_before(&mut self, end: Time) -> bool {
        let end = end.min(self.tcp.sender.timer.deadline);
        let Some(wake) = self.tcp.sender.pacer.wakes_after(self.now).filter(|&wake| wake < end) else { return false };
        (self.now, self.tcp.now) = (wake, wake);
        true
    }

    /// Keeps the pending events of timer and pacer no later than their times. An event that comes early is rescheduled then, instead of
    /// being moved with every acknowledgement. `covered`: a timer event is pending no later than this, so that the calendar need not be
    /// searched unless the deadline is earlier.
    #[inline(always)]
    pub(super) fn update_timers(&mut self, covered: Time) {
        let SenderTurn { flow, now, tcp, fabric, .. } = self;
        let agenda = &mut fabric.agenda;
        let deadline = tcp.sender.timer.deadline;
        if deadline < covered {
            agenda.at_latest(Event::Timer(*flow), deadline);
        }
        if let Some(wake) = tcp.sender.pacer.wakes_after(*now)
            && !agenda.is_pending(Event::SendTimer(*flow))
        {
            agenda.at(Event::SendTimer(*flow), wake);
        }
    }
}

/// Size on the wire of one of the last segments of a transfer, or of the data that an application has handed over. The last one with data may
/// be short, and a FIN has none.
#[inline(never)]
fn last_bytes(spec: &TcpSpec, size: Bytes, segment: SegmentNumber) -> Bytes {
    let before = spec.payload_before(segment);
    Bytes(size.0.saturating_sub(before.0).min(spec.mss.0)) + spec.header
}
