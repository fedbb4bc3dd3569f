//! One direction of a connection: the data that one end sends, and the acknowledgements of the other end.

use super::accurate_ecn::{CeCounter, EcnFeedback};
use super::arrival_order::{ArrivalOrder, LatePacket, RepairedHole};
use super::identifications::{Identifications, PacketNumbers};
use super::losses::{Drop, Losses, Repair, RepairKind};
use super::outstanding_segments::OutstandingSegments;
use super::samples::{FlightSize, SampleSink};
use super::sender_round_trip::{SenderRoundTrip, SenderState};
use super::sender_timers::{SenderEstimates, SenderTimers, TimedTransmission, TimerExpiry, Transmission};
use super::sequence::{SequenceNumber, SequenceRange, StreamOffset, first_position, position};
use super::sequence_gaps::{FilledGap, GapOpener, SequenceGaps};
use crate::round_trips::RoundTrips;
use crate::segment::{EcnFlags, Segment, TcpOptions};
use crate::time::Timestamp;
use etherparse::IpEcn;
use std::collections::VecDeque;
use std::time::Duration;

/// State and counters of a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Direction {
    pub(crate) counts: DirectionCounts,
    pub(crate) round_trips: RoundTrips,
    pub(crate) handshake: Option<Duration>,
    pub(crate) window: AdvertisedWindow,
    pub(crate) in_flight: InFlight,
    pub(crate) losses: Losses,
    pub(crate) sender_round_trip: SenderRoundTrip,
    /// Round trip from the receiver's SYN to the sender.
    pub(crate) sender_handshake: Option<Duration>,
    /// The receiver's counter of packets with CE, if both ends agreed on accurate ECN.
    pub(crate) reported_ce: Option<CeCounter>,
    /// Both SYNs permit SACK.
    pub(crate) agrees_on_sack: bool,
    /// Times of the sender's first and last packet.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// The sender's SYN.
    pub(crate) syn: Option<Syn>,
    fin: Option<Fin>,
    /// One past the highest byte that was sent, and the highest acknowledged position.
    next: Option<StreamOffset>,
    acknowledged: Option<StreamOffset>,
    holes: SequenceGaps,
    order: ArrivalOrder,
    pub(crate) identifications: Identifications,
    numbers: PacketNumbers,
    timers: SenderTimers,
    outstanding: OutstandingSegments,
    /// The most recent retransmissions, which DSACK may report as unnecessary, with the losses inferred from them.
    resent: VecDeque<(SequenceRange, Option<u32>)>,
    last_acknowledgement: Option<Timestamp>,
    /// The last acknowledgement of new data.
    last_progress: Option<Timestamp>,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DirectionCounts {
    pub(crate) packets: u64,
    pub(crate) data_packets: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) unique_payload_bytes: u64,
    pub(crate) unseen_bytes: u64,
    pub(crate) largest_payload: u64,
    pub(crate) retransmitted_packets: u64,
    pub(crate) retransmitted_bytes: u64,
    pub(crate) retransmitted_unseen_packets: u64,
    pub(crate) spurious_retransmissions: u64,
    pub(crate) inferred_timeouts: u64,
    pub(crate) inferred_probes: u64,
    pub(crate) keep_alives: u64,
    pub(crate) zero_window_probes: u64,
    pub(crate) reordered_packets: u64,
    pub(crate) reordering_extent_sum: u64,
    pub(crate) reordering_extent_max: u64,
    pub(crate) lateness_max: Duration,
    pub(crate) ect_packets: u64,
    pub(crate) ce_packets: u64,
    pub(crate) cwr_packets: u64,
    pub(crate) acknowledgements: u64,
    pub(crate) duplicate_acks: u64,
    pub(crate) ece_packets: u64,
    pub(crate) sack_blocks: u64,
    pub(crate) duplicate_sack_blocks: u64,
    /// Segments whose sending time was dropped to bound memory.
    pub(crate) forgotten_segments: u64,
}

/// A FIN.
#[derive(Clone, Copy, Debug)]
struct Fin {
    data_end: StreamOffset,
    is_acknowledged: bool,
    /// Without data in its segment.
    is_bare: bool,
}

/// A SYN, with or without ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Syn {
    number: SequenceNumber,
    at: Timestamp,
    times: u64,
    pub(crate) options: TcpOptions,
    /// Requests ECN, or agrees to it (RFC 3168 section 6.1.1).
    pub(crate) ecn: EcnFlags,
}

/// The receiver window as advertised.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AdvertisedWindow {
    pub(crate) min: Option<u64>,
    pub(crate) max: Option<u64>,
    pub(crate) times_zero: u64,
    last: Option<u64>,
}

/// Bytes sent and not acknowledged, over time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct InFlight {
    pub(crate) max_bytes: u64,
    pub(crate) max_segments: u64,
    byte_nanoseconds: u128,
    /// From the first data to the last change.
    span: Option<(Timestamp, Timestamp)>,
}

/// Number of retransmitted ranges that are remembered.
const REMEMBERED: usize = 64;

/// At most this many packets are missing for each observed loss, and this many losses in addition.
const MISSING_PER_LOSS: u64 = 3;

/// Late data are classified as reordered within this time if a round trip is unknown (the value of Wireshark's dissector).
const REORDERED_WITHIN: Duration = Duration::from_millis(3);

impl Direction {
    /// Processes a segment from the sender of this direction.
    #[inline]
    pub(crate) fn on_sent(&mut self, at: Timestamp, segment: &Segment<'_>, options: &TcpOptions, sink: &mut SampleSink<'_>) {
        let (header, payload) = (&segment.header, segment.payload.0);
        self.counts.packets += 1;
        self.span = Some(self.span.map_or((at, at), |(first, _)| (first, at)));
        self.counts.ect_packets += u64::from(matches!(segment.ecn, IpEcn::Ect0 | IpEcn::Ect1));
        self.counts.ce_packets += u64::from(segment.ecn == IpEcn::CongestionExperienced);
        if header.rst() {
            // Its sequence number need not be that of any data.
            return;
        }
        if let Some(number) = segment.identification.filter(|_| !header.syn()) {
            self.numbers.see(number);
        }
        let number = SequenceNumber(header.sequence_number());
        if header.syn() {
            self.on_syn(at, number, segment, options);
        } else {
            self.counts.cwr_packets += u64::from(header.cwr());
        }
        let start = match self.next {
            Some(next) => position(number, next).wrapping_add(u64::from(header.syn())),
            None => first_position(number),
        };
        if payload > 0 {
            let data = SequenceRange { start, end: start + payload };
            self.on_data(at, data, options, sink);
            if let Some(drop) = segment.comment.and_then(Drop::of) {
                self.losses.record(data, at, drop);
            }
        } else if self.is_keep_alive(segment) {
            self.counts.keep_alives += 1;
        }
        if header.fin() {
            self.on_fin(at, SequenceRange { start, end: start + payload }, options.timestamp, sink);
        }
    }

    /// A keep-alive: a segment without data that repeats the last acknowledged sequence number to elicit a reply (RFC 9293
    /// section 3.8.4).
    pub(crate) fn is_keep_alive(&self, segment: &Segment<'_>) -> bool {
        let header = &segment.header;
        let is_bare = segment.payload.0 == 0 && !header.syn() && !header.fin() && !header.rst();
        let repeats = |next| position(SequenceNumber(header.sequence_number()), next) + 1 == next;
        is_bare && self.acknowledged == self.next && self.next.is_some_and(repeats)
    }

    fn on_syn(&mut self, at: Timestamp, number: SequenceNumber, segment: &Segment<'_>, options: &TcpOptions) {
        if let Some(syn) = &mut self.syn {
            syn.times += 1;
            self.counts.retransmitted_packets += 1;
            // Nothing but its timer makes a client repeat its SYN; a server may be answering the repeated SYN.
            self.counts.inferred_timeouts += u64::from(!segment.header.ack());
            return;
        }
        let ecn = segment.ecn_flags();
        self.syn = Some(Syn { number, at, times: 1, options: *options, ecn });
        if self.next.is_none() {
            // The SYN takes one sequence number.
            self.next = Some(first_position(number) + 1);
            self.acknowledged = self.next;
        }
    }

    /// Processes a FIN after these data, if any.
    fn on_fin(&mut self, at: Timestamp, payload: SequenceRange, timestamp: Option<u32>, sink: &mut SampleSink<'_>) {
        let is_bare = payload.bytes() == 0;
        let before = self.fin.replace(Fin { data_end: payload.end, is_acknowledged: false, is_bare });
        if before.is_some() && is_bare {
            self.counts.retransmitted_packets += 1;
        }
        if let Some(before) = before.filter(|before| is_bare && !before.is_acknowledged) {
            let end = before.data_end + 1;
            let data = SequenceRange { start: before.data_end, end };
            let expiry = self.expiry(at, data, end, None);
            self.on_transmission(at, expiry, Transmission::Retransmission, end);
        } else if is_bare {
            self.on_transmission(at, None, Transmission::New, payload.end + 1);
        }
        if let Some(next) = self.next.filter(|&next| is_bare && payload.end > next) {
            self.in_flight.pass(at, self.bytes_in_flight());
            self.open_gap(SequenceRange { start: next, end: payload.end }, at, timestamp);
            self.next = Some(payload.end);
            self.note_in_flight(at, sink);
        }
    }

    /// A packet shows that data before it are missing.
    fn open_gap(&mut self, missing: SequenceRange, at: Timestamp, timestamp: Option<u32>) {
        let opener = GapOpener { arrival: self.counts.data_packets, at, timestamp };
        self.counts.unseen_bytes += self.holes.open(missing, opener);
    }

    #[inline]
    fn on_data(&mut self, at: Timestamp, data: SequenceRange, options: &TcpOptions, sink: &mut SampleSink<'_>) {
        let next = *self.next.get_or_insert(data.start);
        let acknowledged = *self.acknowledged.get_or_insert(data.start.min(next));
        if data.bytes() == 1 && data.end <= next && acknowledged >= next {
            // Nothing is outstanding: the byte is sent to elicit a reply (RFC 9293 section 3.8.4).
            self.counts.keep_alives += 1;
            return;
        }
        if data.bytes() == 1 && self.window.last == Some(0) {
            self.counts.zero_window_probes += 1;
            if data.end <= next {
                return;
            }
        }
        self.in_flight.pass(at, self.bytes_in_flight());
        self.counts.data_packets += 1;
        self.counts.payload_bytes += data.bytes();
        self.counts.largest_payload = self.counts.largest_payload.max(data.bytes());
        if let Some(timestamp) = options.timestamp {
            self.order.on_timestamp(timestamp, at);
        }
        if let Some(echo) = options.echo {
            let is_busy = next > acknowledged && data.end > next;
            self.sender_round_trip.on_data(at, echo, if is_busy { SenderState::Busy } else { SenderState::Idle });
        }
        if data.start < next {
            self.on_old_data(at, SequenceRange { end: data.end.min(next), ..data }, options.timestamp);
        }
        if data.end > next {
            let new = SequenceRange { start: data.start.max(next), end: data.end };
            if new.start > next {
                self.open_gap(SequenceRange { start: next, end: new.start }, at, options.timestamp);
            }
            self.counts.unique_payload_bytes += new.bytes();
            if data.start >= next {
                let expiry = self.expiry(at, new, next, None);
                self.on_transmission(at, expiry, Transmission::New, data.end);
            }
            self.counts.forgotten_segments += self.outstanding.send(new, at);
            self.next = Some(data.end);
        }
        self.note_in_flight(at, sink);
    }

    /// Processes data below the highest byte sent: either retransmitted or reordered.
    fn on_old_data(&mut self, at: Timestamp, data: SequenceRange, timestamp: Option<u32>) {
        let filled = self.holes.fill(data);
        self.counts.unique_payload_bytes += filled.map_or(0, |filled| filled.bytes);
        let late = LatePacket { at, timestamp, reaction: self.reaction_time() };
        if let Some(filled) = filled.filter(|filled| self.order.is_first_transmission(&late, &filled.opened_by)) {
            self.counts.retransmitted_bytes += data.bytes() - filled.bytes;
            self.on_overtaken(at, &filled.opened_by);
            self.insert_missing(data, at);
            return;
        }
        if filled.is_none()
            && let Some(hole) = self.order.take_overtaken(&late, data)
        {
            // The retransmission that filled the hole was needless.
            self.counts.retransmitted_unseen_packets = self.counts.retransmitted_unseen_packets.saturating_sub(1);
            if let Some(loss) = hole.loss {
                self.losses.refute(loss);
            }
            self.on_overtaken(at, &hole.opened_by);
            return;
        }
        self.on_retransmission(at, data, filled);
    }

    /// `filled`: the hole that it filled, if any.
    fn on_retransmission(&mut self, at: Timestamp, data: SequenceRange, filled: Option<FilledGap>) {
        let before = self.outstanding.resend(data, at);
        if filled.is_some() {
            self.counts.retransmitted_unseen_packets += 1;
            self.insert_missing(data, at);
        }
        let next = self.next.unwrap_or(data.end);
        let expiry = self.expiry(at, data, next, before.or(filled.map(|filled| filled.opened_by.at)));
        self.on_transmission(at, expiry, Transmission::Retransmission, next);
        let by = match expiry {
            None => RepairKind::FastRetransmission,
            Some(TimerExpiry::Probe) => RepairKind::Probe,
            Some(TimerExpiry::Timeout) => RepairKind::Timeout,
        };
        let inferred = self.losses.repair(data, before, Repair { at, by });
        self.counts.retransmitted_packets += 1;
        self.counts.retransmitted_bytes += data.bytes();
        if let Some(filled) = filled {
            self.order.on_repair(RepairedHole { data, opened_by: filled.opened_by, at, loss: inferred });
        }
        if self.resent.len() == REMEMBERED {
            self.resent.pop_front();
        }
        self.resent.push_back((data, inferred));
    }

    /// The timer that caused the transmission of `data`, if any. `next`: one past the highest position sent before.
    fn expiry(&self, at: Timestamp, data: SequenceRange, next: StreamOffset, before: Option<Timestamp>) -> Option<TimerExpiry> {
        let has_bare_fin = self.fin.is_some_and(|fin| fin.is_bare && !fin.is_acknowledged);
        let sent = TimedTransmission {
            at,
            data,
            next,
            acknowledged: self.acknowledged?,
            segments: self.outstanding.segments() + usize::from(has_bare_fin),
            head_sent: self.outstanding.head_sent(),
            before,
            last_acknowledgement: self.last_acknowledgement,
            last_progress: self.last_progress,
        };
        self.timers.expiry(&sent, &self.sender_estimates())
    }

    fn on_transmission(&mut self, at: Timestamp, expiry: Option<TimerExpiry>, otherwise: Transmission, next: StreamOffset) {
        self.counts.inferred_probes += u64::from(expiry == Some(TimerExpiry::Probe));
        self.counts.inferred_timeouts += u64::from(expiry == Some(TimerExpiry::Timeout));
        let kind = if expiry == Some(TimerExpiry::Probe) { Transmission::Probe } else { otherwise };
        self.timers.on_sent(at, kind, next);
    }

    fn sender_estimates(&self) -> SenderEstimates {
        // The initial timeout of RFC 6298 section 2.1.
        let (mean, deviation) = self.round_trips.mean_and_deviation().unwrap_or((Duration::from_secs(1), Duration::ZERO));
        let (to_sender, sender_deviation) = self.sender_round_trip.mean_and_deviation(self.sender_handshake, mean);
        SenderEstimates {
            smoothed: mean.saturating_add(to_sender),
            margin: deviation.saturating_add(sender_deviation).saturating_mul(4),
            to_sender,
            uses_sack: self.agrees_on_sack || self.counts.sack_blocks > 0,
        }
    }

    fn insert_missing(&mut self, data: SequenceRange, at: Timestamp) {
        let start = data.start.max(self.acknowledged.unwrap_or(data.start));
        self.outstanding.insert_missing(SequenceRange { start, ..data }, at);
    }

    /// Shortest time from the observation of a hole to that of a retransmission: the round trips to the receiver and to the sender.
    pub(crate) fn reaction_time(&self) -> Duration {
        let to_receiver = self.round_trips.min().into_iter().chain(self.handshake).min();
        let to_sender = self.sender_round_trip.min().into_iter().chain(self.sender_handshake).min();
        match (to_receiver, to_sender) {
            (Some(to_receiver), Some(to_sender)) => to_receiver.saturating_add(to_sender),
            (known, other) => known.or(other).unwrap_or_default().max(REORDERED_WITHIN),
        }
    }

    /// RFC 4737: a reordered packet, below the next expected one (section 3.3), and its extent (sections 4.2 and 4.3).
    fn on_overtaken(&mut self, at: Timestamp, opened_by: &GapOpener) {
        let (late, extent) = (at.since(opened_by.at), self.counts.data_packets - opened_by.arrival);
        self.counts.reordered_packets += 1;
        self.counts.reordering_extent_sum += extent;
        self.counts.reordering_extent_max = self.counts.reordering_extent_max.max(extent);
        self.counts.lateness_max = self.counts.lateness_max.max(late);
    }

    /// Processes a segment with an acknowledgement from the receiver of this direction.
    #[inline]
    pub(crate) fn on_received(&mut self, at: Timestamp, received: &ReceivedSegment<'_>, sink: &mut SampleSink<'_>) {
        let header = &received.segment.header;
        self.counts.acknowledgements += 1;
        let window = u64::from(header.window_size()) << if header.syn() { 0 } else { received.scale };
        let had_window = self.window.last;
        self.window.advertise(window);
        let number = SequenceNumber(header.acknowledgment_number());
        let Some(next) = self.next else {
            // The data that it acknowledges were sent before the capture began.
            let first = first_position(number);
            (self.next, self.acknowledged) = (Some(first), Some(first));
            return;
        };
        let ack = position(number, next);
        if !header.syn() {
            match (&mut self.reported_ce, received.feedback) {
                (Some(counter), EcnFeedback::Accurate) => counter.on_acknowledgement(ack, received.segment.ecn_flags()),
                _ => self.counts.ece_packets += u64::from(header.ece()),
            }
        }
        let acknowledged = *self.acknowledged.get_or_insert(ack.min(next));
        self.in_flight.pass(at, self.bytes_in_flight());
        if ack > acknowledged {
            self.on_progress(at, ack, sink);
        } else if ack == acknowledged && received.repeats && next > acknowledged && had_window == Some(window) {
            // RFC 5681 section 2.
            self.counts.duplicate_acks += 1;
        }
        if let Some(syn) = self.syn
            && self.handshake.is_none()
            && syn.times == 1
            && ack == acknowledged
            && number.0 == syn.number.0.wrapping_add(1)
            && self.counts.acknowledgements == 1
        {
            let round_trip = at.since(syn.at);
            self.handshake = Some(round_trip);
            self.round_trips.add_to_timeout(round_trip);
        }
        self.last_acknowledgement = Some(at);
        if let Some(timestamp) = received.options.timestamp {
            self.sender_round_trip.on_acknowledgement(at, timestamp);
        }
        if received.options.blocks[0].is_some() {
            self.on_blocks(ack, &received.options);
        }
    }

    fn on_progress(&mut self, at: Timestamp, ack: StreamOffset, sink: &mut SampleSink<'_>) {
        // A FIN takes one sequence number after the data.
        let fin = self.fin.filter(|fin| fin.data_end + 1 == ack);
        if let Some(fin) = &mut self.fin {
            fin.is_acknowledged |= fin.data_end + 1 == ack;
        }
        let data = if fin.is_some() { ack - 1 } else { ack };
        if let Some(next) = self.next.filter(|&next| data > next) {
            self.counts.unseen_bytes += data - next;
            self.next = Some(data);
        }
        if !self.holes.are_none() {
            self.counts.unseen_bytes += self.holes.close_below(data);
        }
        // A bare FIN, not the data before it, may have caused the acknowledgement.
        let of_data = self.outstanding.acknowledge(data, at).filter(|_| fin.is_none_or(|fin| !fin.is_bare));
        if let Some(round_trip) = of_data {
            self.round_trips.add(round_trip);
            sink.round_trip(at, round_trip);
        }
        self.acknowledged = Some(data);
        self.timers.on_acknowledgement(ack);
        self.last_progress = Some(at);
        self.note_in_flight(at, sink);
    }

    /// SACK blocks (RFC 2018). The first may report data received twice (RFC 2883 section 4).
    fn on_blocks(&mut self, ack: StreamOffset, options: &TcpOptions) {
        let near = self.next.unwrap_or(ack);
        let mut blocks = options.blocks.iter().flatten().map(|&(left, right)| {
            let start = position(SequenceNumber(left), near);
            SequenceRange { start, end: start + u64::from(right.wrapping_sub(left)) }
        });
        let Some(first) = blocks.next() else { return };
        let second = blocks.next();
        let is_within = |other: SequenceRange| other.start <= first.start && first.end <= other.end;
        let is_duplicate = first.end <= ack || second.is_some_and(is_within);
        let of_all = 1 + second.map_or(0, |_| 1) + blocks.count() as u64;
        self.counts.sack_blocks += of_all - u64::from(is_duplicate);
        let highest = options
            .blocks
            .iter()
            .flatten()
            .skip(usize::from(is_duplicate))
            .map(|&(_, right)| position(SequenceNumber(right), near))
            .max();
        if let Some(highest) = highest.filter(|&highest| highest > ack) {
            self.timers.on_selective_acknowledgement(highest);
        }
        if is_duplicate {
            self.counts.duplicate_sack_blocks += 1;
            if let Some(place) = self.resent.iter().position(|(resent, _)| resent.overlap(first).is_some()) {
                if let Some((_, Some(loss))) = self.resent.remove(place) {
                    self.losses.refute(loss);
                }
                self.counts.spurious_retransmissions += 1;
            }
        }
    }

    /// Whether a SYN of this direction opens another connection.
    pub(crate) fn is_begun_anew_by(&self, number: SequenceNumber) -> bool {
        match self.syn {
            Some(syn) => syn.number != number,
            None => self.span.is_some(),
        }
    }

    /// Whether data and their acknowledgements were captured, or there were no data.
    pub(crate) fn knows_in_flight(&self) -> bool {
        self.counts.acknowledgements > 0 && (self.counts.data_packets > 0 || self.counts.unseen_bytes == 0)
    }

    /// Retransmissions of the sender, also if they were lost before the point of capture: packets that are missing there were sent
    /// again. `None` if the sender's packets are not numbered, if some were merged (`mss`: its largest segment) or not
    /// captured, or if more are missing than observed losses explain: then its counter may number packets of other connections.
    pub(crate) fn sender_retransmissions(&self, mss: u64) -> Option<u64> {
        let (missing, explained) = (self.numbers.missing()?, self.counts.retransmitted_unseen_packets);
        let is_complete = self.counts.largest_payload <= mss && self.counts.unseen_bytes == 0;
        let is_explained = missing <= MISSING_PER_LOSS * (explained + MISSING_PER_LOSS);
        (is_complete && is_explained).then_some(self.counts.retransmitted_packets + missing.saturating_sub(explained))
    }

    pub(crate) fn has_fin(&self) -> bool {
        self.fin.is_some()
    }

    fn bytes_in_flight(&self) -> u64 {
        match (self.next, self.acknowledged) {
            (Some(next), Some(acknowledged)) => next.saturating_sub(acknowledged),
            _ => 0,
        }
    }

    fn note_in_flight(&mut self, at: Timestamp, sink: &mut SampleSink<'_>) {
        let now = FlightSize { bytes: self.bytes_in_flight(), segments: self.outstanding.segments() as u64 };
        self.in_flight.note(at, now);
        sink.in_flight(at, now);
    }
}

/// A segment from the other end of a direction.
pub(crate) struct ReceivedSegment<'a> {
    pub(crate) segment: &'a Segment<'a>,
    pub(crate) options: TcpOptions,
    pub(crate) scale: u8,
    pub(crate) feedback: EcnFeedback,
    /// It carries nothing new: no data, no SYN or FIN, and it is not a keep-alive.
    pub(crate) repeats: bool,
}

impl AdvertisedWindow {
    fn advertise(&mut self, window: u64) {
        self.min = Some(self.min.map_or(window, |min| min.min(window)));
        self.max = self.max.max(Some(window));
        self.times_zero += u64::from(window == 0 && self.last != Some(0));
        self.last = Some(window);
    }
}

impl InFlight {
    /// Accounts for the time until now, in which `bytes` bytes were in flight.
    #[inline]
    fn pass(&mut self, at: Timestamp, bytes: u64) {
        if let Some((_, last)) = &mut self.span {
            self.byte_nanoseconds += u128::from(bytes) * u128::from(at.nanoseconds_since(*last));
            *last = at.max(*last);
        }
    }

    /// Records the current amount in flight.
    #[inline]
    fn note(&mut self, at: Timestamp, now: FlightSize) {
        self.max_bytes = self.max_bytes.max(now.bytes);
        self.max_segments = self.max_segments.max(now.segments);
        if now.bytes > 0 {
            self.span.get_or_insert((at, at));
        }
    }

    /// Time average from the first data to the last change; NaN without data.
    pub(crate) fn mean_bytes(&self) -> f64 {
        self.span.map_or(f64::NAN, |(first, last)| self.byte_nanoseconds as f64 / last.nanoseconds_since(first) as f64)
    }
}
