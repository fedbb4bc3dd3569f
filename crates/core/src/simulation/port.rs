//! A port: buffer, transmitters and delay line. It refuses what does not fit; whether more is refused is its policy's decision.
//!
//! A port works in one of two ways with the same result. *Ahead*: on arrival the departure is computed at once,
//! `departure = max(arrival, free) + service`, and what has left by then is struck off; no event is needed. *Stepped*: each departure
//! is an event, which ports with several transmitters, with changes to come or with a policy that acts on departures or from time to time need.

use super::flows::service_time;
use super::window::{Parts, Window};
use crate::base::histogram::Histogram;
use crate::base::line::Line;
use crate::base::packet::{Packet, Prices};
use crate::base::random::{Purpose, Stream};
use crate::base::units::{Rate, Span, Time};
use crate::network;
use crate::network::{Buffer, ListedDrop, Switching};
use crate::queue::{Occupancy, Policies, Reason, Turn, Unit, Verdict};
use crate::user_code::Failure;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Port {
    pub(crate) name: String,
    rate: Rate,
    pub(crate) delay: Span,
    buffer: Buffer,
    counts_in_service: bool,
    policy: Policies,
    loss: f64,
    loss_stream: Stream,
    loss_draws: u64,
    listed: Vec<ListedDrop>,
    /// Service times of the last two sizes seen.
    services: [(u32, Span); 2],
    /// An arrival has to wait for its turn among events: the port is stepped, or several lines feed it.
    pub(crate) needs_event: bool,
    /// An arrival is a unit's head ([`Switching::CutThrough`]).
    pub(crate) cuts_through: bool,
    /// One of these two; kept, for every hop asks, and asking both costs 0.4 % of a packet.
    pub(crate) is_special: bool,
    pub(crate) stepped: Option<Stepped>,
    /// Arrivals are put in order here instead of being events.
    pub(crate) gather: Option<Gather>,
    /// What each arrival costs.
    care: Care,
    /// When the transmitter is free (ahead).
    free: Time,
    /// What waits (ahead).
    waiting: VecDeque<Waiting>,
    waiting_bytes: u64,
    /// Size of the unit last taken into service (ahead).
    serving_bytes: u32,
    /// Flow of the unit in service, while it holds a place and the policy sees flows (ahead).
    serving_flow: Option<u32>,
    /// Of each flow with listed cells, the packet that passes and how many of its cells have.
    passing: BTreeMap<u32, (u32, Time, u32)>,
    /// Packets on their way to a place that needs an event.
    pub(crate) line: Line,
    /// Nothing leaves the delay line before this: packets do not overtake when the delay shrinks.
    last_out: Time,
    pub(crate) counts: PortCounts,
    waits: Option<Histogram>,
    /// Occupancy after each change, if traced.
    trace: Option<Vec<(Time, u32)>>,
}

/// Acknowledgements on their way to a port that is fed by the receivers behind one other port alone.
///
/// What passes that port from time t on is acknowledged here no earlier than `t + ahead`. So everything before that is known, and can
/// be taken in order without being an event each. (Chandy and Misra, "Distributed simulation", IEEE TSE 5(5), 1979: lookahead.)
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Gather {
    pub(crate) ahead: Span,
    /// By time, and at one instant by flow.
    waiting: VecDeque<Packet>,
}

impl Gather {
    pub(crate) fn new(ahead: Span) -> Gather {
        Gather { ahead, waiting: VecDeque::new() }
    }

    /// Put an acknowledgement in its place: near the end, for they come almost in order.
    #[inline]
    pub(crate) fn insert(&mut self, ack: Packet) {
        let mut at = self.waiting.len();
        while at > 0 && (self.waiting[at - 1].time, self.waiting[at - 1].flow) > (ack.time, ack.flow) {
            at -= 1;
        }
        if at == self.waiting.len() { self.waiting.push_back(ack) } else { self.waiting.insert(at, ack) }
    }

    /// Take the first if it arrives before `time`.
    #[inline]
    pub(crate) fn take_before(&mut self, time: Time) -> Option<Packet> {
        let first = self.waiting.front().filter(|first| first.time < time).copied();
        if first.is_some() {
            self.waiting.pop_front();
        }
        first
    }

    pub(crate) fn first(&self) -> Option<Time> {
        self.waiting.front().map(|first| first.time)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Packet> {
        self.waiting.iter()
    }
}

/// What an arrival at a port that works ahead needs beside the buffer, so that what a port rarely has costs nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Care {
    /// No listed drops, no random loss, no trace, no percentiles, and whatever fits is taken.
    Plain,
    /// The same with a policy that decides.
    Policy,
    Everything,
}

/// A unit in the buffer of a port that works ahead.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Waiting {
    /// When its service starts.
    start: Time,
    bytes: u32,
    flow: u32,
}

/// The buffer and transmitters of a stepped port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stepped {
    pub(crate) queue: Line,
    pub(crate) transmitters: Vec<Option<Sending>>,
    /// Number of the first transmitter among those of all ports.
    pub(crate) first: u32,
    in_service: u32,
    in_service_bytes: u64,
    /// When the last transmitter finished, if all are idle.
    idle_from: Time,
}

/// What a transmitter of a stepped port sends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sending {
    pub(crate) packet: Packet,
    /// The next port decides on its head, which is on its way already: this is but the rest of it.
    pub(crate) head_is_gone: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PortCounts {
    /// Taken in, by the time of arrival.
    pub(crate) accepted: Parts,
    pub(crate) departed: Parts,
    pub(crate) departed_bytes: Parts,
    /// By reason, as [`Reason`] orders them.
    pub(crate) discarded: [Parts; Reason::ALL.len()],
    pub(crate) marked: Parts,
    /// Transmitter-time in use.
    pub(crate) busy: u128,
    /// Sum over packets of their time in the buffer, picoseconds.
    pub(crate) held: u128,
    /// Waiting times of packets whose service began while measured.
    pub(crate) waited: u128,
    pub(crate) served: u64,
    pub(crate) most: u64,
}

/// What stands before an arriving unit.
struct Held {
    /// No transmitter is idle.
    busy: bool,
    /// Without any that is in service and does not count.
    units: u64,
    bytes: u64,
    idle: Span,
}

/// What became of an arrival at a stepped port.
pub(crate) enum Arrival {
    Discarded(Reason),
    /// It waits in the buffer.
    Waits,
    /// This transmitter sends it from now on, for that long.
    Serves(u32, Span),
}

impl Port {
    pub(crate) fn new(spec: &network::Port, seed: u64, stepped: Option<u32>, percentiles: bool, policy: Policies) -> Port {
        let mut listed = spec.listed_drops.clone();
        listed.sort_unstable();
        let care = match policy.takes_all() {
            _ if !spec.listed_drops.is_empty() || spec.random_loss > 0.0 || percentiles => Care::Everything,
            true => Care::Plain,
            false => Care::Policy,
        };
        Port {
            name: spec.name.clone(),
            rate: spec.rate,
            delay: spec.delay,
            buffer: spec.buffer,
            counts_in_service: spec.counts_in_service,
            policy,
            loss: spec.random_loss,
            loss_stream: Stream::new(seed, &spec.name, 0, Purpose::Loss),
            loss_draws: 0,
            listed,
            services: [(0, Span::ZERO); 2],
            needs_event: true,
            cuts_through: spec.switching == Switching::CutThrough,
            is_special: true,
            gather: None,
            care,
            stepped: stepped.map(|first| Stepped {
                queue: Line::default(),
                transmitters: vec![None; spec.transmitters as usize],
                first,
                in_service: 0,
                in_service_bytes: 0,
                idle_from: Time::ZERO,
            }),
            free: Time::ZERO,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            serving_bytes: 0,
            serving_flow: None,
            passing: BTreeMap::new(),
            line: Line::default(),
            last_out: Time::ZERO,
            counts: PortCounts::default(),
            waits: percentiles.then(Histogram::default),
            trace: None,
        }
    }

    /// Keep the occupancy after each change.
    pub(crate) fn start_trace(&mut self) {
        self.trace = Some(Vec::new());
        self.care = Care::Everything;
    }

    pub(crate) fn set_rate(&mut self, rate: Rate) {
        self.rate = rate;
        self.services = [(0, Span::ZERO); 2];
    }

    pub(crate) fn set_loss(&mut self, loss: f64) {
        self.loss = loss;
    }

    pub(crate) fn has_listed_drops(&self) -> bool {
        !self.listed.is_empty()
    }

    pub(crate) fn wait_percentile(&self, share: f64) -> Option<f64> {
        self.waits.as_ref().map(|waits| waits.percentile(share))
    }

    /// A packet arrives at `packet.time` at a port that works ahead. On success the packet's time becomes that at the far end; if the
    /// wire loses it, that of its departure.
    #[inline(always)]
    pub(crate) fn pass(&mut self, packet: &mut Packet, bytes: u32, window: &Window, prices: &Prices) -> Result<(), Reason> {
        match self.care {
            Care::Plain => self.pass_as::<true, false>(packet, bytes, window, prices),
            Care::Policy => self.pass_policy(packet, bytes, window, prices),
            Care::Everything => self.pass_otherwise(packet, bytes, window, prices),
        }
    }

    #[inline(never)]
    fn pass_policy(&mut self, packet: &mut Packet, bytes: u32, window: &Window, prices: &Prices) -> Result<(), Reason> {
        self.pass_as::<true, true>(packet, bytes, window, prices)
    }

    #[inline(never)]
    fn pass_otherwise(&mut self, packet: &mut Packet, bytes: u32, window: &Window, prices: &Prices) -> Result<(), Reason> {
        self.pass_as::<false, true>(packet, bytes, window, prices)
    }

    /// `PLAIN` and `POLICY`: as [`Care`] says.
    #[inline(always)]
    fn pass_as<const PLAIN: bool, const POLICY: bool>(
        &mut self,
        packet: &mut Packet,
        bytes: u32,
        window: &Window,
        prices: &Prices,
    ) -> Result<(), Reason> {
        let now = packet.time;
        self.strike_off::<PLAIN, POLICY>(now);
        let busy = self.free > now;
        let in_service = u64::from(busy && self.counts_in_service);
        let units = self.waiting.len() as u64 + in_service;
        let held_bytes = self.waiting_bytes + in_service * u64::from(self.serving_bytes);
        let held = Held { busy, units, bytes: held_bytes, idle: now.since(self.free) };
        if let Err(reason) = self.admit::<PLAIN, POLICY>(packet, bytes, &held, window, prices) {
            self.counts.discarded[reason as usize].add(window.part(now), 1);
            return Err(reason);
        }
        let start = self.free.max(now);
        let departure = start + service_time(self.rate, &mut self.services, bytes);
        self.free = departure;
        if busy {
            self.waiting.push_back(Waiting { start, bytes, flow: packet.flow });
            self.waiting_bytes += u64::from(bytes);
        } else {
            self.serving_bytes = bytes;
        }
        if POLICY && (busy || self.counts_in_service) {
            self.policy.on_stored(packet.flow);
            if !busy {
                self.serving_flow = Some(packet.flow);
            }
        }
        if !PLAIN {
            self.note_change(now);
        }
        self.count_accepted(now, busy, units, window);
        self.count_service::<PLAIN>(now, start, departure, bytes, window);
        packet.time = departure;
        if !PLAIN {
            self.survives_wire(departure, window)?;
        }
        packet.time = departure + self.delay;
        packet.next_hop();
        Ok(())
    }

    /// A packet arrives at a stepped port. The caller stores it if it waits.
    pub(crate) fn arrive(&mut self, packet: &mut Packet, bytes: u32, window: &Window, prices: &mut Prices) -> Arrival {
        let now = packet.time;
        let Some(stepped) = &self.stepped else { return Arrival::Waits };
        let idle = stepped.transmitters.iter().position(Option::is_none);
        let idle_for = if stepped.in_service == 0 { now.since(stepped.idle_from) } else { Span::ZERO };
        let (units, held_bytes) = self.held_by_stepped(stepped);
        let held = Held { busy: idle.is_none(), units, bytes: held_bytes, idle: idle_for };
        if let Err(reason) = self.admit::<false, true>(packet, bytes, &held, window, prices) {
            self.counts.discarded[reason as usize].add(window.part(now), 1);
            return Arrival::Discarded(reason);
        }
        self.count_accepted(now, idle.is_none(), units, window);
        if idle.is_none() || self.counts_in_service {
            self.policy.on_stored(packet.flow);
        }
        match idle {
            Some(transmitter) => {
                if let Err(reason) = self.let_go(packet, now, bytes, window, prices) {
                    return Arrival::Discarded(reason);
                }
                let service = self.begin_service(transmitter as u32, packet, now, bytes, window);
                self.trace_stepped(now, 0);
                Arrival::Serves(transmitter as u32, service)
            }
            None => {
                self.waiting_bytes += u64::from(bytes);
                self.trace_stepped(now, 1);
                Arrival::Waits
            }
        }
    }

    /// Units and bytes in the buffer of a stepped port.
    fn held_by_stepped(&self, stepped: &Stepped) -> (u64, u64) {
        let waiting = (u64::from(stepped.queue.len()), self.waiting_bytes);
        if !self.counts_in_service {
            return waiting;
        }
        (waiting.0 + u64::from(stepped.in_service), waiting.1 + stepped.in_service_bytes)
    }

    /// The turn of a packet of a stepped port has come, and nothing of it waits any more. The policy may mark or discard it yet, or write
    /// on its signal.
    pub(crate) fn let_go(
        &mut self,
        packet: &mut Packet,
        now: Time,
        bytes: u32,
        window: &Window,
        prices: &mut Prices,
    ) -> Result<(), Reason> {
        let unit = Unit { bytes, is_last: packet.is_last() };
        let (waited, bytes_behind) = (now.since(packet.time), self.waiting_bytes);
        let turn = Turn { now, waited, bytes_behind, is_capable: packet.is_capable() };
        let goes = match self.policy.on_departure(&unit, &turn) {
            Verdict::Accept => Ok(()),
            Verdict::Mark => self.mark(packet, now, Reason::Late, window),
            Verdict::Discard(_) => Err(Reason::Late),
        };
        if goes.is_err() {
            if self.counts_in_service {
                self.policy.on_left(packet.flow);
            }
            self.counts.discarded[Reason::Late as usize].add(window.part(now), 1);
            self.counts.held += u128::from(window.overlap(packet.time, now).0);
        } else {
            self.signal(packet, &unit, &turn, window, prices);
        }
        goes
    }

    /// Let the policy write on the signal that a packet carries.
    fn signal(&mut self, packet: &mut Packet, unit: &Unit, turn: &Turn, window: &Window, prices: &mut Prices) {
        let before = packet.signal(prices);
        let mut signal = before;
        self.policy.on_signal(unit, turn, &mut signal);
        packet.write_signal(&signal, prices);
        if turn.is_capable && signal.marks > 0 && before.marks == 0 {
            self.counts.marked.add(window.part(turn.now), 1);
        }
    }

    /// A mark; what cannot carry one is discarded for this reason.
    fn mark(&mut self, packet: &mut Packet, now: Time, otherwise: Reason, window: &Window) -> Result<(), Reason> {
        if !packet.is_capable() {
            return Err(otherwise);
        }
        packet.mark();
        self.counts.marked.add(window.part(now), 1);
        Ok(())
    }

    /// What became of user code.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        self.policy.failure(time)
    }

    /// How often [`Port::on_period`] is wanted.
    pub(crate) fn period(&self) -> Option<Span> {
        self.policy.period()
    }

    pub(crate) fn on_period(&mut self) {
        if let Some(stepped) = &self.stepped {
            let (_, bytes) = self.held_by_stepped(stepped);
            self.policy.on_period(bytes, self.whole_rate());
        }
    }

    /// Of all transmitters together.
    fn whole_rate(&self) -> Rate {
        let transmitters = self.stepped.as_ref().map_or(1, |stepped| stepped.transmitters.len());
        Rate(self.rate.0 * transmitters as u64)
    }

    /// Put a packet that arrived at `arrival` on a transmitter of a stepped port. Returns how long sending takes.
    pub(crate) fn begin_service(&mut self, transmitter: u32, packet: &Packet, now: Time, bytes: u32, window: &Window) -> Span {
        let service = service_time(self.rate, &mut self.services, bytes);
        self.count_service::<false>(packet.time, now, now + service, bytes, window);
        if let Some(stepped) = &mut self.stepped {
            stepped.transmitters[transmitter as usize] = Some(Sending { packet: *packet, head_is_gone: false });
            stepped.in_service += 1;
            stepped.in_service_bytes += u64::from(bytes);
        }
        service
    }

    /// Time to send a unit on one transmitter.
    pub(crate) fn service(&mut self, bytes: u32) -> Span {
        service_time(self.rate, &mut self.services, bytes)
    }

    /// A transmitter of a stepped port finished. Returns the packet on its way to the far end, and whether the wire loses it; nothing if
    /// its head has gone ahead.
    pub(crate) fn finish(
        &mut self,
        sent: Sending,
        now: Time,
        bytes: u32,
        window: &Window,
    ) -> Option<(Packet, Result<(), Reason>)> {
        if let Some(stepped) = &mut self.stepped {
            stepped.in_service -= 1;
            stepped.in_service_bytes -= u64::from(bytes);
            stepped.idle_from = now;
        }
        if self.counts_in_service {
            self.policy.on_left(sent.packet.flow);
        }
        (!sent.head_is_gone).then(|| self.set_out(sent.packet, now, now, window))
    }

    /// A transmitter of a stepped port has begun to send a packet whose next port decides on its head, and has sent it at `departure`. The
    /// same as [`Port::finish`] of the head.
    pub(crate) fn send_head(
        &mut self,
        transmitter: u32,
        now: Time,
        departure: Time,
        window: &Window,
    ) -> Option<(Packet, Result<(), Reason>)> {
        let stepped = self.stepped.as_mut()?;
        let is_alone = stepped.transmitters.len() == 1;
        let sending = stepped.transmitters[transmitter as usize].as_mut()?;
        sending.head_is_gone = true;
        let packet = sending.packet;
        let gone = self.set_out(packet, now, departure, window);
        if is_alone {
            // The next one's head follows its last bit.
            self.last_out += departure.since(now);
        }
        Some(gone)
    }

    /// A packet is on the wire: the bit that counts left the transmitter now, the last one at `departure`.
    fn set_out(&mut self, mut packet: Packet, now: Time, departure: Time, window: &Window) -> (Packet, Result<(), Reason>) {
        self.last_out = self.last_out.max(now + self.delay);
        packet.time = self.last_out;
        packet.next_hop();
        (packet, self.survives_wire(departure, window))
    }

    /// The caller took a packet off a stepped port's queue to serve it.
    pub(crate) fn leave_queue(&mut self, flow: u32, bytes: u32) {
        self.waiting_bytes -= u64::from(bytes);
        if !self.counts_in_service {
            self.policy.on_left(flow);
        }
    }

    /// Trace a departure, which changes what is counted if something `left_queue` or the unit in service counts.
    pub(crate) fn trace_departure(&mut self, now: Time, left_queue: bool) {
        if left_queue || self.counts_in_service {
            self.trace_stepped(now, 0);
        }
    }

    /// A stepped port's occupancy after a change; `arriving` packets are accepted but not stored yet.
    fn trace_stepped(&mut self, now: Time, arriving: u32) {
        let occupancy = self
            .stepped
            .as_ref()
            .map_or(0, |stepped| stepped.queue.len() + arriving + if self.counts_in_service { stepped.in_service } else { 0 });
        if let Some(trace) = &mut self.trace {
            trace.push((now, occupancy));
        }
    }

    /// The rows of a traced port before `end`, with what has happened by then at a port that works ahead.
    pub(crate) fn trace_rows(&self, end: Time) -> Vec<(Time, u32)> {
        let Some(trace) = &self.trace else { return Vec::new() };
        let still = self.waiting.len() as u32;
        let to_come = self.waiting.iter().zip(1..).map(|(waiting, gone)| (waiting.start, still - gone));
        let mut rows: Vec<(Time, u32)> = trace.iter().copied().chain(to_come).collect();
        rows.sort_by_key(|row| row.0);
        rows.retain(|row| row.0 < end);
        rows
    }

    /// Forget what has gone into service by `now`, and what has left.
    #[inline]
    fn strike_off<const PLAIN: bool, const POLICY: bool>(&mut self, now: Time) {
        while let Some(&Waiting { start, bytes, flow }) = self.waiting.front().filter(|waiting| waiting.start <= now) {
            self.waiting.pop_front();
            self.waiting_bytes -= u64::from(bytes);
            self.serving_bytes = bytes;
            if POLICY {
                let left = if self.counts_in_service { self.serving_flow.replace(flow) } else { Some(flow) };
                self.leave(left);
            }
            if !PLAIN {
                self.note_change(start);
            }
        }
        if POLICY && self.free <= now {
            let left = self.serving_flow.take();
            self.leave(left);
        }
    }

    #[inline]
    fn leave(&mut self, flow: Option<u32>) {
        if let Some(flow) = flow {
            self.policy.on_left(flow);
        }
    }

    /// Trace rows of a port that works ahead: the number waiting. Only ports that count the unit in service are stepped when traced.
    #[inline]
    fn note_change(&mut self, at: Time) {
        if let Some(trace) = &mut self.trace {
            trace.push((at, self.waiting.len() as u32));
        }
    }

    /// Let the unit in, marked or not, or say why not.
    #[inline]
    fn admit<const PLAIN: bool, const POLICY: bool>(
        &mut self,
        packet: &mut Packet,
        bytes: u32,
        held: &Held,
        window: &Window,
        prices: &Prices,
    ) -> Result<(), Reason> {
        if !PLAIN && self.lists(packet, prices) {
            return Err(Reason::Listed);
        }
        let full = held.busy
            && match self.buffer {
                Buffer::Units(places) => held.units >= places,
                Buffer::Bytes(places) => held.bytes + u64::from(bytes) > places,
                Buffer::Unlimited => false,
            };
        if !POLICY {
            return if full { Err(Reason::Full) } else { Ok(()) };
        }
        let unit = Unit { bytes, is_last: packet.is_last() };
        // What the buffer holds of flows, the policy's records know.
        let occupancy = Occupancy {
            units: held.units,
            bytes: held.bytes,
            of_flow: 0,
            flows: 0,
            backlogged: 0,
            has_room: !full,
            idle: held.idle,
            rate: self.whole_rate(),
        };
        match self.policy.on_arrival(&unit, packet.flow, occupancy, packet.time) {
            Verdict::Discard(reason) => Err(reason),
            _ if full => Err(Reason::Full),
            Verdict::Accept => Ok(()),
            Verdict::Mark => self.mark(packet, packet.time, Reason::Early, window),
        }
    }

    fn lists(&mut self, packet: &Packet, prices: &Prices) -> bool {
        if packet.is_ack() || self.listed.is_empty() {
            return false;
        }
        let segment = packet.number(prices);
        let whole = ListedDrop { flow: packet.flow, segment, transmission: packet.transmission(), cell: None };
        let cell = packet.is_cell().then(|| self.cell_of(packet));
        let listed = |drop: &ListedDrop| self.listed.binary_search(drop).is_ok();
        listed(&whole) || (cell.is_some() && listed(&ListedDrop { cell, ..whole }))
    }

    /// Which cell of its packet this is, among those that reach this port.
    fn cell_of(&mut self, cell: &Packet) -> u32 {
        let passing = self.passing.entry(cell.flow).or_insert((cell.segment, cell.sent, 0));
        if (passing.0, passing.1) != (cell.segment, cell.sent) {
            *passing = (cell.segment, cell.sent, 0);
        }
        passing.2 += 1;
        passing.2 - 1
    }

    #[inline]
    fn count_accepted(&mut self, now: Time, busy: bool, packets_before: u64, window: &Window) {
        let part = window.part(now);
        self.counts.accepted.add(part, 1);
        if part == 1 && (busy || self.counts_in_service) {
            self.counts.most = self.counts.most.max(packets_before + 1);
        }
    }

    #[inline]
    fn count_service<const PLAIN: bool>(&mut self, arrival: Time, start: Time, departure: Time, bytes: u32, window: &Window) {
        let leaves = if self.counts_in_service { departure } else { start };
        let counts = &mut self.counts;
        if arrival >= window.warmup && departure < window.end {
            // All of it is measured: what follows below comes to this.
            counts.departed.0[1] += 1;
            counts.departed_bytes.0[1] += u64::from(bytes);
            counts.busy += u128::from(departure.0 - start.0);
            counts.held += u128::from(leaves.0 - arrival.0);
            counts.served += 1;
            counts.waited += u128::from(start.0 - arrival.0);
        } else {
            let part = window.part(departure);
            counts.departed.add(part, 1);
            counts.departed_bytes.add(part, u64::from(bytes));
            counts.busy += u128::from(window.overlap(start, departure).0);
            counts.held += u128::from(window.overlap(arrival, leaves).0);
            if !window.measures(start) {
                return;
            }
            counts.served += 1;
            counts.waited += u128::from(start.since(arrival).0);
        }
        if !PLAIN && let Some(waits) = &mut self.waits {
            waits.add(start.since(arrival));
        }
    }

    /// Random loss behind the port.
    #[inline(never)]
    fn survives_wire(&mut self, departure: Time, window: &Window) -> Result<(), Reason> {
        if self.loss > 0.0 {
            self.loss_draws += 1;
            if self.loss_stream.uniform(self.loss_draws) < self.loss {
                self.counts.discarded[Reason::Random as usize].add(window.part(departure), 1);
                return Err(Reason::Random);
            }
        }
        Ok(())
    }
}
