//! What sending ends do: a TCP sender hears an acknowledgement or that time has passed, and sends what it may; an application hands data to
//! it; a source sends its next datagram.

mod look_ahead;
mod making;

use self::look_ahead::Foreseen;
use self::making::{make_applications, make_ends, make_usages, make_watches};
use super::border::Wait;
use super::event_order::FlowKind;
use super::fabric::Fabric;
use super::wiring::{Plan, first_flows};
use super::workshop::Workshop;
use crate::congestion::Controller;
use crate::network::{Network, Transport};
use crate::primitives::packet::{Ecn, Outgoing, Packet, Side};
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::signal::Told;
use crate::primitives::sizes::MAX_PACKET;
use crate::primitives::units::{Bytes, Segments, Span, Time};
use crate::record::recorder::Heard;
use crate::tcp::recovery::rack_tlp::RackTlp;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sender::{Arrived, NONE, Sender, SenderCounts, Tcp};
use crate::tcp::signal_reader::{Brought, SignalReader};
use crate::tcp::slow_start::Watch;
use crate::tcp::validation::{self, Usage};
use crate::tcp::{SlowStart, TcpSpec, TimerForm};
use crate::traffic::{Application, Arrivals, Source};
use crate::user_code::Failure;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The sending ends of all flows, what they need beside, and the fabric into which they send.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Senders {
    /// Without its flows: of each, the fields below and `fabric.paths` keep what is needed, half the bytes of the description. Snapshots and
    /// the parts of a run share it.
    pub(crate) network: Arc<Network>,
    pub(crate) fabric: Fabric,
    pub(crate) ends: Vec<End>,
    pub(crate) plans: Vec<Plan>,
    /// The first flow of each group.
    first_flows: Vec<u32>,
    /// Of the flows that stop.
    pub(crate) stops: BTreeMap<u32, Time>,
    /// By flow; empty if no group has any.
    pub(crate) applications: Vec<Application>,
    pub(crate) boards: Side<Scoreboard>,
    pub(crate) racks: Side<RackTlp>,
    /// Of slow starts, by flow; empty if every group's is the standard one.
    pub(crate) watches: Vec<Watch>,
    /// Of what applications use, by flow; empty if nothing has to be remembered of any.
    pub(crate) usages: Vec<Usage>,
    /// Of the flows whose controllers ask for signals, group by group ([`Facts::unsignalled_before`](super::facts::Facts)).
    pub(crate) readers: Vec<SignalReader>,
    /// Transmissions of resent segments, for listed drops and traces; `None` if nobody asks.
    pub(crate) transmissions: Option<BTreeMap<(u32, u32), u32>>,
    #[serde(skip)]
    foreseen: Foreseen,
}

/// What becomes of the acknowledgement that follows the one that a sender hears.
#[derive(Clone, Copy)]
enum Next {
    /// Its sender may hear of it ahead of its time.
    IsKnown,
    IsEvent,
}

/// The sending end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Tcp(Sender),
    Datagram(Box<Source>),
}

impl End {
    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        match self {
            End::Tcp(sender) => sender.controller.failure(time),
            End::Datagram(source) => source.failure(time),
        }
    }

    /// What a sender counts, or as much of it as a source does.
    pub(crate) fn counts(&self) -> SenderCounts {
        match self {
            End::Tcp(sender) => sender.counts,
            End::Datagram(source) => SenderCounts { sent: source.sent_measured, ..SenderCounts::default() },
        }
    }

    /// Segments that wait to be sent for the first time: what an application handed over, or the rest of a transfer. Of a greedy flow
    /// none do.
    pub(crate) fn backlog(&self) -> u32 {
        match self {
            End::Tcp(sender) if sender.limit < u32::MAX => sender.limit - sender.high,
            _ => 0,
        }
    }
}

impl Senders {
    pub(crate) fn new(network: Network, fabric: Fabric, readers: Vec<SignalReader>, workshop: &Workshop) -> Senders {
        let stops = (0..).zip(&network.flows).filter(|(_, flow)| flow.stop != Time::NEVER);
        let mut senders = Senders {
            ends: make_ends(&network, workshop),
            plans: network.flows.iter().map(|flow| Plan::of(flow, &network)).collect(),
            first_flows: first_flows(&network),
            stops: stops.map(|(index, flow)| (index, flow.stop)).collect(),
            applications: make_applications(&network),
            boards: Side::default(),
            racks: Side::default(),
            watches: make_watches(&network),
            usages: make_usages(&network),
            readers,
            transmissions: fabric.tells_transmissions_apart().then(BTreeMap::new),
            foreseen: Foreseen::default(),
            network: Arc::new(Network { flows: Vec::new(), ..network }),
            fabric,
        };
        senders.schedule_starts();
        senders
    }

    /// Let every flow begin in its time.
    fn schedule_starts(&mut self) {
        let Senders { network, fabric, .. } = self;
        for (flow, end) in self.ends.iter_mut().enumerate() {
            let start = self.plans[flow].start;
            let group = &network.groups[fabric.paths[flow].wire.group as usize];
            let (kind, first) = match (end, &group.transport, &group.application) {
                (End::Datagram(source), Transport::Datagram(spec), _) => (FlowKind::Wake, source.first(start, spec)),
                (_, _, Some(spec)) => (FlowKind::Offer, Some(self.applications[flow].first(start, spec))),
                _ => (FlowKind::Wake, Some(start)),
            };
            if let Some(first) = first.filter(|&first| first < fabric.common.window.end) {
                fabric.common.calendar.schedule(fabric.common.order.flow(kind, flow as u32), first);
            }
        }
    }

    /// An acknowledgement is at its sender.
    #[inline]
    pub(crate) fn on_home(&mut self, flow: u32, now: Time) {
        let runs_ahead = self.fabric.facts[self.fabric.paths[flow as usize].wire.group as usize].runs_ahead;
        if !runs_ahead && self.fabric.holds_acks(flow) {
            return self.hold_ack(flow, now);
        }
        self.hear(flow, now, if runs_ahead { Next::IsKnown } else { Next::IsEvent });
    }

    /// The next acknowledgement that waits at a sender is known. Let the sender do ahead of its time what it does next: hear of that, or send
    /// before, if it is paced. If it may time out before, the acknowledgement becomes an event. True if the sender has done something.
    #[inline]
    pub(crate) fn hear_ahead(&mut self, flow: u32) -> bool {
        let (Some(time), End::Tcp(sender)) = (self.fabric.next_home(flow), &self.ends[flow as usize]) else { return false };
        let horizon = self.fabric.common.horizon();
        if let Some(wake) = sender.wakes_at().filter(|&wake| wake < time) {
            if wake < sender.deadline && wake < horizon {
                self.fabric.common.known_at_home.push(flow);
                self.act_in_time(flow, wake);
                return true;
            }
        } else if time <= sender.deadline && time < horizon {
            self.hear(flow, time, Next::IsKnown);
            return true;
        }
        self.fabric.await_home(flow, time);
        false
    }

    /// An acknowledgement has become known. Let its sender hear of it ahead of its time if that is what it does next; else it waits. True if
    /// the sender has done something.
    #[inline]
    pub(crate) fn hear_known(&mut self, ack: &Packet) -> bool {
        let (flow, time) = (ack.flow, ack.time);
        let End::Tcp(sender) = &self.ends[flow as usize] else { return false };
        let is_next = sender.wakes_at().is_none_or(|wake| wake >= time) && time <= sender.deadline;
        if is_next && self.fabric.next_home(flow).is_none() && time < self.fabric.common.horizon() {
            self.fabric.count_home(flow);
            self.hear_of(ack, time);
            return true;
        }
        self.fabric.wait_at_home(*ack) && self.hear_ahead(flow)
    }

    /// An acknowledgement is at the edge of its flow, which may hold it.
    #[cold]
    fn hold_ack(&mut self, flow: u32, now: Time) {
        if let Some(ack) = self.take_home(flow, Next::IsEvent) {
            self.fabric.hold(ack, now);
        }
        self.let_acks_go(flow, now);
    }

    /// A packet is at the edge of its flow.
    pub(crate) fn on_edge(&mut self, now: Time, flow: u32) {
        self.fabric.on_edge(now, flow);
        self.let_acks_go(flow, now);
    }

    /// The edge of a flow sends a cell.
    pub(crate) fn on_cell(&mut self, now: Time, flow: u32) {
        self.fabric.on_cell(now, flow);
        self.let_acks_go(flow, now);
    }

    /// A sender hears the acknowledgements that the edge of its flow holds, as long as it lets them go.
    #[inline(never)]
    fn let_acks_go(&mut self, flow: u32, now: Time) {
        while let Some(ack) = self.fabric.let_go(flow, now) {
            self.hear_of(&ack, now);
        }
    }

    /// A sender hears the acknowledgement that reaches it at this time.
    #[inline]
    fn hear(&mut self, flow: u32, now: Time, next: Next) {
        if let Some(packet) = self.take_home(flow, next) {
            self.hear_of(&packet, now);
        }
    }

    /// Take the acknowledgement that has reached its sender.
    #[inline(always)]
    fn take_home(&mut self, flow: u32, next: Next) -> Option<Packet> {
        let packet = self.fabric.take_home(flow)?;
        match (self.fabric.next_home(flow), next) {
            (Some(_), Next::IsKnown) => self.fabric.common.known_at_home.push(flow),
            (Some(time), Next::IsEvent) => self.fabric.await_home(flow, time),
            (None, _) => {}
        }
        Some(packet)
    }

    #[inline(always)]
    fn hear_of(&mut self, packet: &Packet, now: Time) {
        let flow = packet.flow;
        let reports = &mut self.fabric.common.reports;
        let report = packet.has_report().then(|| {
            reports.release(packet.ack_word());
            reports.at(packet.ack_word()).received
        });
        let (ack, blocks) = match &report {
            Some(received) => (received.ack, received.ranges()),
            None => (packet.ack_word(), &[][..]),
        };
        let arrived = Arrived { ack, blocks, echo: packet.sent };
        if packet.signals() {
            let reports = &self.fabric.common.reports;
            let told = if packet.has_report() { reports.at(packet.ack_word()).told } else { Told::default() };
            let brought = self.read_signal(now, packet, &arrived, &told);
            self.act::<true, true>(flow, now, Some(arrived), &brought);
        } else if self.fabric.is_traced(flow) {
            self.act::<false, true>(flow, now, Some(arrived), &Brought::default());
        } else {
            self.act::<false, false>(flow, now, Some(arrived), &Brought::default());
        }
    }

    /// A look at the timer. True if it has expired.
    pub(crate) fn on_timer(&mut self, flow: u32) -> bool {
        let now = self.fabric.common.now;
        let End::Tcp(sender) = &self.ends[flow as usize] else { return false };
        let deadline = sender.deadline;
        if deadline > now {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Timer, flow), deadline);
            return false;
        }
        self.act_in_time(flow, now);
        true
    }

    /// What an acknowledgement brings that says more than what has arrived. `told`: by the receiver, if the controller asked for that.
    #[cold]
    #[inline(never)]
    fn read_signal(&mut self, now: Time, packet: &Packet, arrived: &Arrived, told: &Told) -> Brought {
        let facts = &self.fabric.facts[self.fabric.paths[packet.flow as usize].wire.group as usize];
        let (Some(place), End::Tcp(sender)) = (facts.place_among_signalled(packet.flow), &mut self.ends[packet.flow as usize])
        else {
            return Brought { echoes_mark: packet.is_marked(), ..Brought::default() };
        };
        let board = (sender.board != NONE && !facts.by_time).then(|| self.boards.at(sender.board));
        let reader = &mut self.readers[place];
        if let Some(delay) = reader.one_way_delay(told) {
            sender.controller.on_one_way_delay(delay, now);
        }
        let echoes_mark = packet.is_marked() && !reader.answers_marks();
        Brought { echoes_mark, ..reader.read(now, arrived, told, board) }
    }

    /// Time has brought something to a sender, now or ahead of it: a timeout, a start, the pacer's turn.
    fn act_in_time(&mut self, flow: u32, now: Time) {
        let looks_closer = self.fabric.facts[self.fabric.paths[flow as usize].wire.group as usize].looks_closer;
        if looks_closer || self.fabric.signalled(flow).is_some() {
            self.act::<true, true>(flow, now, None, &Brought::default());
        } else if self.fabric.is_traced(flow) {
            self.act::<false, true>(flow, now, None, &Brought::default());
        } else {
            self.act::<false, false>(flow, now, None, &Brought::default());
        }
    }

    /// The next that a sender would do by itself is to time out.
    pub(crate) fn awaits_timeout(&self, sender: &Sender, flow: usize) -> bool {
        let by_time = self.fabric.facts[self.fabric.paths[flow].wire.group as usize].by_time;
        let is_rto = !by_time || sender.board == NONE || self.racks.at(sender.board).awaits_rto();
        sender.deadline != Time::NEVER && is_rto
    }

    pub(crate) fn window_of(&self, sender: &Sender, flow: usize) -> Segments {
        match &self.network.groups[self.fabric.paths[flow].wire.group as usize].transport {
            Transport::Tcp(spec, _) => sender.window(spec),
            Transport::Datagram(_) => Segments(0),
        }
    }

    /// Outstanding segments by what a recovery by time knows of them, once it knows any.
    pub(crate) fn known_by_time(&self, sender: &Sender) -> Option<Segments> {
        (sender.board != NONE).then(|| self.racks.at(sender.board).accounted_for())
    }

    /// Give a sender what has happened (an acknowledgement, or else what the time brings), let it send until it has nothing more
    /// to send now, and see to its timers. `SIGNALLED`: the acknowledgement brings more than most, the controller asked for
    /// signals, or the sender looks closer. `TRACED`: it may be traced.
    #[inline]
    fn act<const SIGNALLED: bool, const TRACED: bool>(
        &mut self,
        flow: u32,
        now: Time,
        arrived: Option<Arrived>,
        brought: &Brought,
    ) {
        let End::Tcp(sender) = &mut self.ends[flow as usize] else { return };
        // Its own event may be what calls now.
        let covered = if arrived.is_some() { sender.deadline } else { Time::NEVER };
        let group = self.fabric.paths[flow as usize].wire.group;
        let Transport::Tcp(spec, _) = &self.network.groups[group as usize].transport else { return };
        let clock_phase = match spec.timer.form {
            TimerForm::CoarseBsd { tick } => {
                let index = u64::from(flow - self.first_flows[group as usize]);
                let name = &self.network.groups[group as usize].name;
                clock_phase(Entity { seed: self.network.seed, name, index }, tick)
            }
            _ => Span::ZERO,
        };
        let warmup = self.fabric.common.window.warmup;
        let reader = if SIGNALLED { self.fabric.signalled(flow).map(|place| &mut self.readers[place]) } else { None };
        let reader = reader.filter(|reader| reader.minds_what_leaves());
        let is_watched = SIGNALLED && spec.slow_start != SlowStart::Standard;
        let watch = if is_watched { self.watches.get_mut(flow as usize) } else { None };
        let usage = if SIGNALLED { self.usages.get_mut(flow as usize) } else { None };
        let (boards, racks) = (&mut self.boards, &mut self.racks);
        let mut tcp = Tcp { sender, spec, boards, racks, watch, usage, reader, now, warmup, clock_phase, window_is_used: false };
        match &arrived {
            Some(arrived) => {
                let is_duplicate = arrived.ack <= tcp.sender.una;
                let rtt = tcp.on_ack::<SIGNALLED>(arrived, brought);
                if SIGNALLED && let Some(reader) = &mut tcp.reader {
                    reader.bound_release(tcp.sender);
                }
                if TRACED && let Some(recorder) = &mut self.fabric.common.recorder {
                    recorder.on_ack(
                        now,
                        &Heard {
                            flow,
                            ack: arrived.ack,
                            blocks: arrived.blocks,
                            echoes_mark: brought.echoes_mark,
                            is_duplicate,
                            rtt,
                        },
                        tcp.sender,
                    );
                }
            }
            None if tcp.sender.deadline <= now => {
                let idle = tcp.sender.counts.idle;
                let is_timeout = tcp.on_timer(self.fabric.paths[flow as usize].counts.completed);
                if let Some(border) = &mut self.fabric.common.border {
                    border.note_wait(Wait { flow, until: now, idle: tcp.sender.counts.idle - idle });
                }
                match &mut tcp.reader {
                    Some(reader) if SIGNALLED && is_timeout => reader.on_timeout(),
                    Some(reader) if SIGNALLED => reader.on_other_deadline(),
                    _ => {}
                }
                if TRACED
                    && is_timeout
                    && let Some(recorder) = &mut self.fabric.common.recorder
                {
                    recorder.on_timeout(flow);
                }
            }
            None => {}
        }
        if !self.stops.is_empty() && self.stops.get(&flow).is_some_and(|&stop| now >= stop) {
            tcp.sender.limit = tcp.sender.limit.min(tcp.sender.high);
        }
        while !SIGNALLED || tcp.reader.as_mut().is_none_or(|reader| reader.may_send(tcp.sender)) {
            let is_alone = SIGNALLED && tcp.sender.high == tcp.sender.una;
            let Some((segment, transmission)) = tcp.next_segment::<SIGNALLED>() else { break };
            if SIGNALLED {
                let in_flight = if tcp.counts_losses() { tcp.pipe() } else { Segments(0) };
                match &mut tcp.reader {
                    Some(reader) if is_alone => reader.on_sent_alone(segment, now),
                    Some(reader) => reader.on_sent(segment, now, in_flight),
                    None => {}
                }
            }
            let is_syn = SIGNALLED && spec.is_syn(segment);
            // RFC 3168 section 6.1.1: a SYN is not capable.
            let ecn = if is_syn { Ecn::INCAPABLE } else { tcp.announce(transmission) };
            let bytes = match () {
                () if is_syn => spec.header,
                () if segment + 1 == tcp.sender.limit => last_bytes(spec, self.plans[flow as usize].size, segment),
                () => spec.mss + spec.header,
            };
            let transmission = match &mut self.transmissions {
                Some(transmissions) if transmission > 1 => {
                    let count = transmissions.entry((flow, segment)).or_insert(1);
                    *count += 1;
                    *count
                }
                _ => transmission,
            };
            let packet = Outgoing { flow, segment, transmission, bytes };
            let reader = if SIGNALLED { tcp.reader.as_mut() } else { None };
            match reader.and_then(|reader| reader.price_header(tcp.sender, segment)) {
                Some(header) => self.fabric.send_priced(now, &packet, ecn, header),
                None => self.fabric.send::<TRACED>(now, &packet, ecn),
            }
            if tcp.window_is_used && tcp.reader.as_ref().is_none_or(|reader| !reader.is_bounded()) {
                break;
            }
        }
        if SIGNALLED && let Some(reader) = &mut tcp.reader {
            reader.on_all_sent(tcp.sender, tcp.sender.window(spec));
        }
        see_to_timers(&mut self.fabric, flow, now, tcp.sender, covered);
        if TRACED && let Some(recorder) = &mut self.fabric.common.recorder {
            recorder.on_window(flow, now, tcp.sender);
        }
    }

    /// An application hands data to its sender.
    pub(crate) fn on_offer(&mut self, flow: u32) {
        let now = self.fabric.common.now;
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (Some(application), End::Tcp(sender)) = (&group.application, &mut self.ends[flow as usize]) else { return };
        let Transport::Tcp(spec, _) = &group.transport else { return };
        if self.stops.get(&flow).is_some_and(|&stop| now >= stop) {
            return;
        }
        let state = &mut self.applications[flow as usize];
        let next = state.hand_over(now, application).filter(|&next| next < self.fabric.common.window.end);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Offer, flow), next);
        }
        validation::before_offer(sender, self.usages.get_mut(flow as usize), now, spec);
        sender.limit = state.handed_over(application).0 + spec.before_data().0;
        self.act_in_time(flow, now);
    }

    /// A flow starts, may send again, or its source has a datagram. False if a sender has done meanwhile, ahead of its time, what it was to do.
    pub(crate) fn on_wake(&mut self, flow: u32) -> bool {
        let now = self.fabric.common.now;
        let End::Tcp(sender) = &mut self.ends[flow as usize] else {
            self.on_wake_of_source(flow, now);
            return true;
        };
        sender.on_alarm();
        let wakes_at = if sender.has_sent() { sender.wakes_at() } else { Some(now) };
        if wakes_at == Some(now) {
            self.act_in_time(flow, now);
            return true;
        }
        if let Some(wake) = sender.sets_alarm(now) {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Wake, flow), wake);
        }
        false
    }

    fn on_wake_of_source(&mut self, flow: u32, now: Time) {
        let group = &self.network.groups[self.fabric.paths[flow as usize].wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut self.ends[flow as usize], &group.transport) else {
            return;
        };
        if self.stops.get(&flow).is_some_and(|&stop| now >= stop) {
            return;
        }
        let (number, payload) = source.take(spec);
        let next = source.next(now, payload, spec).filter(|&next| next < self.fabric.common.window.end);
        source.sent_measured += u32::from(now >= self.fabric.common.window.warmup);
        if let Some(next) = next {
            self.fabric.common.calendar.schedule(self.fabric.common.order.flow(FlowKind::Wake, flow), next);
        }
        let packet = Outgoing { flow, segment: number, transmission: 1, bytes: payload + spec.header };
        let ecn = if group.l4s { Ecn::CAPABLE } else { Ecn::INCAPABLE };
        self.fabric.send::<true>(now, &packet, ecn);
    }

    /// Send a datagram of the caller's. Returns its number; `None` if the flow is not external or the datagram is empty or too large.
    pub(crate) fn inject(&mut self, flow: u32, payload: Bytes, ecn: Ecn) -> Option<u32> {
        let now = self.fabric.common.now;
        let group = &self.network.groups[self.fabric.paths.get(flow as usize)?.wire.group as usize];
        let (End::Datagram(source), Transport::Datagram(spec)) = (&mut self.ends[flow as usize], &group.transport) else {
            return None;
        };
        let fits = payload > Bytes(0) && payload <= MAX_PACKET;
        let wire = fits.then(|| payload + spec.header).filter(|&wire| wire <= MAX_PACKET)?;
        if !matches!(spec.arrivals, Arrivals::External) {
            return None;
        }
        let number = source.inject();
        source.sent_measured += u32::from(self.fabric.common.window.measures(now));
        let packet = Outgoing { flow, segment: number, transmission: 1, bytes: wire };
        self.fabric.send::<true>(now, &packet, ecn);
        Some(number)
    }
}

/// Keep the pending events of timer and pacer at or before their times. They are looked at when they come, not moved with every acknowledgement.
/// `covered`: an event of the timer is pending before this or then, so that none need be looked for, if the deadline is not before it.
#[inline(always)]
fn see_to_timers(fabric: &mut Fabric, flow: u32, now: Time, sender: &mut Sender, covered: Time) {
    if sender.deadline < covered {
        let slot = fabric.common.order.flow(FlowKind::Timer, flow);
        let pending = fabric.common.calendar.time_of(slot);
        if sender.deadline < pending {
            if pending != Time::NEVER {
                fabric.common.calendar.cancel(slot);
            }
            fabric.common.calendar.schedule(slot, sender.deadline);
        }
    }
    if let Some(wake) = sender.sets_alarm(now) {
        fabric.common.calendar.schedule(fabric.common.order.flow(FlowKind::Wake, flow), wake);
    }
}

/// Size on the wire of the last segment of a transfer, which may be short. It may also be the last one for now, of an application.
#[inline(never)]
fn last_bytes(spec: &TcpSpec, size: Bytes, segment: u32) -> Bytes {
    let before = spec.payload_before(segment);
    Bytes(size.0.saturating_sub(before.0).clamp(1, spec.mss.0)) + spec.header
}

/// When the free-running clock of a flow's host ticks first.
fn clock_phase(of: Entity, tick: Span) -> Span {
    let share = Stream::new(of, Purpose::TimerPhase).uniform(0);
    Span((share * tick.0 as f64) as u64)
}
