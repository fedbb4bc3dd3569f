//! The sending ends. A TCP sender processes an acknowledgement or a timer and sends as much as it may; an application hands data to it; a
//! source sends its next datagram.

mod turn;

use self::turn::{AckArrival, SenderTurn};
use super::datagrams::DatagramContents;
use super::endpoints::{End, TurnState};
use super::event_order::Event;
use super::prefetch::prefetch_pending_acks;
use super::state::Engine;
use crate::congestion::Controller;
use crate::network::{ListedDrop, Transport};
use crate::primitives::ids::{FlowId, PortId};
use crate::primitives::packet::{Ecn, OutgoingPacket, Packet};
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::ReceiverFeedback;
use crate::primitives::sizes::MAX_PACKET;
use crate::primitives::units::{Bytes, Segments, Time, TimeDelta};
use crate::tcp::observed::{Observed, Plain, Signalled, Traced};
use crate::tcp::sender::{Sender, Tcp};
use crate::tcp::sequence::IncomingAck;
use crate::tcp::signal_reader::AckExtras;
use crate::tcp::validation::HostQueue;
use crate::tcp::{SlowStart, TimerForm};
use crate::traffic::{ApplicationSpec, Arrivals};

/// Treatment of the acknowledgement that follows the one being processed.
#[derive(Clone, Copy)]
enum NextAck {
    /// The sender may process it ahead of time.
    Early,
    Scheduled,
}

/// Actions of a paced sender after the current one: at the times that its pacer sets before `before`, with at most `max` actions in all.
/// Nothing else concerns the sender until then, unless its timer expires.
#[derive(Clone, Copy)]
struct PacedRun {
    before: Time,
    max: u64,
}

impl PacedRun {
    const NONE: PacedRun = PacedRun { before: Time::ZERO, max: 1 };
}

impl Engine {
    /// Prefetch the memory of coming events.
    #[inline]
    pub(super) fn prefetch_upcoming(&mut self) {
        self.upcoming.prefetch(&mut self.fabric, self.endpoints.ends());
    }

    /// Prefetch for acknowledgements that are known to arrive.
    #[inline]
    pub(super) fn prefetch_pending_acks(&self) {
        prefetch_pending_acks(&self.fabric, self.endpoints.ends());
    }

    /// Schedule the start of every flow.
    pub(super) fn schedule_starts(&mut self) {
        let Engine { network, fabric, endpoints, .. } = self;
        for flow in endpoints.flows() {
            let start = endpoints.plan(flow).start;
            let group = &network.groups[fabric.group(flow)];
            let (event, first) = match (endpoints.end_mut(flow), &group.transport, &group.application) {
                (End::Datagram(source), Transport::Datagram(spec), _) => (Event::SendTimer(flow), source.first(start, spec)),
                (_, _, Some(ApplicationSpec::Bursts(spec))) => {
                    (Event::AppWrite(flow), Some(endpoints.application_mut(flow).first(start, spec)))
                }
                (_, _, Some(ApplicationSpec::Messages)) => (Event::AppWrite(flow), fabric.messages.expect(flow).first(start)),
                _ => (Event::SendTimer(flow), Some(start)),
            };
            if let Some(first) = first.filter(|&first| first < fabric.clock.end()) {
                fabric.agenda.at(event, first);
            }
        }
    }

    /// An acknowledgement reaches its sender.
    #[inline]
    pub(super) fn on_ack_arrival(&mut self, flow: FlowId, now: Time) {
        let runs_ahead = self.fabric.profile(flow).runs_ahead;
        if !runs_ahead && self.fabric.holds_acks(flow) {
            return self.hold_ack(flow, now);
        }
        self.process_ack(flow, now, if runs_ahead { NextAck::Early } else { NextAck::Scheduled });
    }

    /// The next acknowledgement queued at a sender is known. The sender performs its next actions ahead of time: it processes the
    /// acknowledgement or, if paced, first sends. If it may time out earlier, the acknowledgement becomes an event. Returns the number of
    /// actions, at most `max`.
    #[inline]
    pub(super) fn process_ack_early(&mut self, flow: FlowId, max: u64) -> u64 {
        let Some(time) = self.fabric.next_ack_time(flow) else { unreachable!("no acknowledgement is queued at flow {flow}") };
        let sender = self.endpoints.sender(flow);
        let horizon = self.fabric.clock.horizon();
        if let Some(wake) = sender.pacer.wakes_at().filter(|&wake| wake < time) {
            if wake < sender.timer.deadline && wake < horizon {
                self.fabric.acks.expect(flow);
                return self.act_in_time(flow, wake, PacedRun { before: time.min(horizon), max });
            }
        } else if time <= sender.timer.deadline && time < horizon {
            let Some(packet) = self.fabric.pop_ack(flow) else { unreachable!("no acknowledgement is queued at flow {flow}") };
            let next = self.fabric.next_ack_time(flow);
            if next.is_some() {
                self.fabric.acks.expect(flow);
            }
            let before = next.map_or(Time::ZERO, |next| next.min(horizon));
            return self.process_packet(&packet, time, PacedRun { before, max });
        }
        self.fabric.schedule_ack(flow, time);
        0
    }

    /// The arrival of an acknowledgement has become known. The sender processes it ahead of time if that is its next action; otherwise the
    /// acknowledgement is queued. Returns the number of actions, at most `max`.
    #[inline]
    pub(super) fn process_known_ack(&mut self, ack: &Packet, max: u64) -> u64 {
        let (flow, time) = (ack.flow, ack.time);
        let sender = self.endpoints.sender(flow);
        let is_next = sender.pacer.wakes_at().is_none_or(|wake| wake >= time) && time <= sender.timer.deadline;
        if is_next && self.fabric.next_ack_time(flow).is_none() && time < self.fabric.clock.horizon() {
            self.fabric.count_ack(flow);
            return self.process_packet(ack, time, PacedRun::NONE);
        }
        if self.fabric.push_ack(*ack) { self.process_ack_early(flow, max) } else { 0 }
    }

    /// An acknowledgement reaches the edge of its flow, which may hold it.
    #[cold]
    fn hold_ack(&mut self, flow: FlowId, now: Time) {
        let ack = self.pop_ack(flow, NextAck::Scheduled);
        self.fabric.hold(ack, now);
        self.release_acks(flow, now);
    }

    /// A packet reaches the edge of its flow.
    pub(super) fn on_edge(&mut self, now: Time, flow: FlowId) {
        self.fabric.on_edge(now, flow);
        self.release_acks(flow, now);
    }

    /// The edge of a flow sends a cell.
    pub(super) fn on_cell(&mut self, now: Time, flow: FlowId) {
        self.fabric.on_cell(now, flow);
        self.release_acks(flow, now);
    }

    /// A sender processes the held acknowledgements that the edge releases.
    #[inline(never)]
    fn release_acks(&mut self, flow: FlowId, now: Time) {
        while let Some(ack) = self.fabric.release_ack(flow, now) {
            self.process_packet(&ack, now, PacedRun::NONE);
        }
    }

    /// A sender processes the acknowledgement that reaches it at this time.
    #[inline]
    fn process_ack(&mut self, flow: FlowId, now: Time, next: NextAck) {
        let packet = self.pop_ack(flow, next);
        self.process_packet(&packet, now, PacedRun::NONE);
    }

    /// Take the acknowledgement that has reached its sender.
    #[inline(always)]
    fn pop_ack(&mut self, flow: FlowId, next: NextAck) -> Packet {
        let Some(packet) = self.fabric.pop_ack(flow) else { unreachable!("no acknowledgement is queued at flow {flow}") };
        match (self.fabric.next_ack_time(flow), next) {
            (Some(_), NextAck::Early) => self.fabric.acks.expect(flow),
            (Some(time), NextAck::Scheduled) => self.fabric.schedule_ack(flow, time),
            (None, _) => {}
        }
        packet
    }

    /// Returns the number of actions.
    #[inline(always)]
    fn process_packet(&mut self, packet: &Packet, now: Time, run: PacedRun) -> u64 {
        let flow = packet.flow;
        let packets = &mut self.fabric.packets;
        let report = packet.has_report().then(|| packets.release_report(packet));
        let (ack, blocks) = match &report {
            Some(received) => (received.ack, received.ranges()),
            None => (packet.next_expected(), &[][..]),
        };
        let incoming = IncomingAck { ack, blocks, echo: packet.sent };
        if packet.signals() {
            let reported = self.fabric.packets.feedback(packet);
            let extras = self.read_signal(now, packet, &incoming, &reported);
            self.act::<Signalled>(flow, now, Some(AckArrival { incoming: &incoming, extras: &extras }), run)
        } else if self.fabric.is_traced(flow) {
            self.act::<Traced>(flow, now, Some(AckArrival { incoming: &incoming, extras: &AckExtras::default() }), run)
        } else {
            self.act::<Plain>(flow, now, Some(AckArrival { incoming: &incoming, extras: &AckExtras::default() }), run)
        }
    }

    /// Check the retransmission timer. Returns true if it has expired.
    pub(super) fn on_timer(&mut self, flow: FlowId) -> bool {
        let now = self.fabric.clock.now();
        let deadline = self.endpoints.sender(flow).timer.deadline;
        if deadline > now {
            self.fabric.agenda.at(Event::Timer(flow), deadline);
            return false;
        }
        self.act_in_time(flow, now, PacedRun::NONE);
        true
    }

    /// Additional content of an acknowledgement. `reported`: the receiver's signals, if the controller requests them.
    #[cold]
    #[inline(never)]
    fn read_signal(&mut self, now: Time, packet: &Packet, incoming: &IncomingAck, reported: &ReceiverFeedback) -> AckExtras {
        let profile = self.fabric.profile(packet.flow);
        let Some(place) = profile.place_among_signalled(packet.flow) else {
            return AckExtras { echoes_mark: packet.is_marked(), ..AckExtras::default() };
        };
        let (sender, reader) = self.endpoints.sender_and_reader(packet.flow, place);
        if let Some(delay) = reader.one_way_delay(reported) {
            sender.controller.on_one_way_delay(delay, now);
        }
        let echoes_mark = packet.is_marked() && !reader.handles_marks();
        AckExtras { echoes_mark, ..reader.read(now, incoming, reported, sender.scoreboard()) }
    }

    /// A sender acts because of time, now or ahead of it: a timeout, a start, or a pacing time. Returns the number of actions.
    fn act_in_time(&mut self, flow: FlowId, now: Time, run: PacedRun) -> u64 {
        let has_extended_sender = self.fabric.profile(flow).has_extended_sender;
        if has_extended_sender || self.fabric.signalled(flow).is_some() {
            self.act::<Signalled>(flow, now, None, run)
        } else if self.fabric.is_traced(flow) {
            self.act::<Traced>(flow, now, None, run)
        } else {
            self.act::<Plain>(flow, now, None, run)
        }
    }

    pub(super) fn window_of(&self, sender: &Sender, flow: FlowId) -> Segments {
        match &self.network.groups[self.fabric.group(flow)].transport {
            Transport::Tcp(spec, _) => sender.window(spec),
            Transport::Datagram(_) => Segments(0),
        }
    }

    /// A sender processes an acknowledgement or, without one, the passing of time. It then sends until it may send no more now, also at the
    /// pacing times of `run`, and its timers are updated. Returns the number of times at which it has acted.
    #[inline]
    fn act<O: Observed>(&mut self, flow: FlowId, now: Time, incoming: Option<AckArrival>, run: PacedRun) -> u64 {
        let group = self.fabric.group(flow);
        let spec = self.network.groups[group].transport.expect_tcp();
        let clock_phase = match spec.timer.form {
            TimerForm::CoarseBsd { tick } => {
                let index = self.endpoints.index_in_group(flow, group);
                let name = &self.network.groups[group].name;
                clock_phase(Entity { seed: self.network.seed, name, index }, tick)
            }
            _ => TimeDelta::ZERO,
        };
        let warmup = self.fabric.clock.warmup();
        let place = if O::SIGNALLED { self.fabric.signalled(flow) } else { None };
        let TurnState { sender, slow_start, usage, reader, transmissions, plans, stops } = self.endpoints.turn::<O>(flow, place);
        let reader = reader.filter(|reader| reader.tracks_sending());
        let slow_start_state = slow_start.filter(|_| spec.slow_start != SlowStart::Standard);
        // The timer's own event may be the one being handled.
        let covered = if incoming.is_some() { sender.timer.deadline } else { Time::NEVER };
        let host_queue = if O::SIGNALLED { self.fabric.host_queue(flow, now) } else { HostQueue::Short };
        let tcp = Tcp { sender, spec, slow_start_state, usage, reader, now, warmup, clock_phase, host_queue };
        let mut turn = SenderTurn { flow, now, tcp, fabric: &mut self.fabric, transmissions, plans };
        match incoming {
            Some(ack) => turn.process_ack::<O>(ack),
            None => turn.check_deadline::<O>(),
        }
        let stop = if stops.is_empty() { None } else { stops.get(&flow).copied() };
        if stop.is_some_and(|stop| now >= stop) {
            turn.tcp.sender.stop();
            // The timer ran, so that data was outstanding.
            if covered != Time::NEVER {
                turn.tcp.sender.note_end(now);
            }
        }
        turn.send::<O>();
        let mut actions = 1;
        while actions < run.max && turn.continues_before(run.before) {
            actions += 1;
            if stop.is_some_and(|stop| turn.now >= stop) {
                turn.tcp.sender.stop();
            }
            turn.send::<O>();
        }
        turn.update_timers(covered);
        actions
    }

    /// An application hands data to its sender.
    pub(super) fn on_app_write(&mut self, flow: FlowId) {
        let now = self.fabric.clock.now();
        let group = &self.network.groups[self.fabric.group(flow)];
        let Some(application) = &group.application else { unreachable!("flow {flow} has no application") };
        let spec = group.transport.expect_tcp();
        if self.endpoints.stop(flow).is_some_and(|stop| now >= stop) {
            return;
        }
        let (next, end) = match application {
            ApplicationSpec::Bursts(bursts) => {
                let state = self.endpoints.application_mut(flow);
                let next = state.hand_over(now, bursts);
                (next, spec.end_of(state.handed_over(bursts)))
            }
            ApplicationSpec::Messages => {
                let messages = self.fabric.messages.expect(flow);
                let next = messages.write(now);
                let limit = messages.limit();
                if let Some((responses, sizes)) = messages.take_announced() {
                    self.fabric.messages.expect(responses).learn(sizes);
                }
                (next, limit)
            }
        };
        if let Some(next) = next.filter(|&next| next < self.fabric.clock.end()) {
            self.fabric.agenda.at(Event::AppWrite(flow), next);
        }
        self.endpoints.offer(flow, end, now, spec);
        self.act_in_time(flow, now, PacedRun::NONE);
    }

    /// A flow starts, may send again, or its source has a datagram. Returns false if the sender has already performed the action ahead of
    /// time.
    pub(super) fn on_send_timer(&mut self, flow: FlowId) -> bool {
        let now = self.fabric.clock.now();
        let End::Tcp(sender) = self.endpoints.end_mut(flow) else {
            self.on_source_timer(flow, now);
            return true;
        };
        let wakes_at = if sender.sequence.has_sent() { sender.pacer.wakes_at() } else { Some(now) };
        if wakes_at == Some(now) {
            self.act_in_time(flow, now, PacedRun::NONE);
            return true;
        }
        if let Some(wake) = sender.pacer.wakes_after(now) {
            self.fabric.agenda.at(Event::SendTimer(flow), wake);
        }
        false
    }

    fn on_source_timer(&mut self, flow: FlowId, now: Time) {
        let group = &self.network.groups[self.fabric.group(flow)];
        if self.endpoints.stop(flow).is_some_and(|stop| now >= stop) {
            return;
        }
        let (End::Datagram(source), Transport::Datagram(spec)) = (self.endpoints.end_mut(flow), &group.transport) else {
            unreachable!("a datagram event at flow {flow}, which has no source")
        };
        let (number, payload) = source.take(spec);
        let next = source.next(now, payload, spec).filter(|&next| next < self.fabric.clock.end());
        source.sent_measured += u32::from(now >= self.fabric.clock.warmup());
        if let Some(next) = next {
            self.fabric.agenda.at(Event::SendTimer(flow), next);
        }
        let packet =
            OutgoingPacket { flow, segment: SegmentNumber(number), transmission: 1, bytes: payload + spec.header, pushed: false };
        let ecn = if group.l4s { Ecn::ECT } else { Ecn::NOT_ECT };
        self.fabric.send::<Traced>(now, &packet, ecn);
    }

    /// Send a datagram of the caller. Returns its number, or `None` if the flow is not external or the datagram is empty or too large.
    /// `contents` selects the listed drops that apply to it.
    pub(super) fn send_datagram(&mut self, flow: FlowId, payload: Bytes, ecn: Ecn, contents: DatagramContents) -> Option<u32> {
        let now = self.fabric.clock.now();
        let group = &self.network.groups[self.fabric.paths().get(flow.index())?.wire.group];
        let (End::Datagram(source), Transport::Datagram(spec)) = (self.endpoints.end_mut(flow), &group.transport) else {
            return None;
        };
        let fits = payload > Bytes(0) && payload <= MAX_PACKET;
        let wire = fits.then(|| payload + spec.header).filter(|&wire| wire <= MAX_PACKET)?;
        if !matches!(spec.arrivals, Arrivals::External) {
            return None;
        }
        let number = source.inject();
        let segment = SegmentNumber(number);
        let listed = match contents {
            DatagramContents::Opaque => Some((segment, 1)),
            DatagramContents::Segment { segment, transmission } => Some((segment, transmission)),
            DatagramContents::Unlisted => None,
        };
        if let Some((listed, transmission)) = listed {
            let wanted = ListedDrop { flow, segment: listed, transmission, cell: None };
            let datagram = ListedDrop { segment, transmission: 1, ..wanted };
            let listing = PortId::enumerate(&self.network.ports).filter(|(_, port)| port.listed_drops.contains(&wanted));
            listing.for_each(|(port, _)| self.fabric.list_drop(port, datagram));
        }
        source.sent_measured += u32::from(self.fabric.clock.measures(now));
        let packet = OutgoingPacket { flow, segment, transmission: 1, bytes: wire, pushed: false };
        self.fabric.send::<Traced>(now, &packet, ecn);
        Some(number)
    }
}

/// Time of the first tick of the free-running clock of a flow's host.
fn clock_phase(of: Entity, tick: TimeDelta) -> TimeDelta {
    let share = Stream::new(of, Purpose::TimerPhase).uniform(0);
    TimeDelta((share * tick.0 as f64) as u64)
}
