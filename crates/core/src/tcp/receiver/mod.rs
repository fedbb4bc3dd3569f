//! A TCP receiver: received segments, and the contents and timing of acknowledgements (RFC 5681 section 4.2, RFC 2018).

mod delays;
mod mark_echo;

pub(crate) use self::delays::{Arrival, Delays, DelaysAfter, Pushed};
pub(crate) use self::mark_echo::EcnFlags;

use self::mark_echo::MarkEcho;
use super::out_of_order::OutOfOrder;
use super::spec::EcnEcho;
use crate::primitives::packet::{Received, Slab};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// No index.
const NONE: u32 = u32::MAX;

/// Number of acknowledgements above a gap that are sent immediately before compression starts: the ones that start a fast retransmit (RFC
/// 5681 section 3.2).
const SACKS_AT_ONCE: u32 = 3;
/// Maximum number of segments covered by a compressed acknowledgement: Linux, `tcp_comp_sack_nr`.
const MAX_COMPRESSED: u32 = 44;

/// Tick of the timestamp option: 1 ms in Linux, and the shortest of RFC 7323 section 5.4.
pub(crate) const TICK: TimeDelta = TimeDelta::from_millis(1);

/// The state of one receiver. Fields used for every segment come first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C)]
pub(crate) struct Receiver {
    /// Next segment in order.
    pub(crate) expected: SegmentNumber,
    /// Index of the segments received out of order, while there are any.
    out_of_order: u32,
    /// Transmission time to echo, TS.Recent: of the first segment that no acknowledgement has covered, or of the last one before (RFC 7323
    /// section 4.3).
    ts_recent: Time,
    /// In-order segments that no acknowledgement has covered.
    delayed: u32,
    ecn: MarkEcho,
    /// Number of immediate acknowledgements due because of a duplicate.
    quick: u8,
}

/// Result of an arriving segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// The segment had not arrived before.
    pub(crate) is_new: bool,
    pub(crate) reply: Reply,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Now,
    /// Later, when more segments have arrived or the timer expires. The first delayed segment starts the timer.
    Delayed {
        timer: Option<TimeDelta>,
    },
}

/// Cause of an acknowledgement.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    NewData,
    /// A segment that had arrived before.
    Duplicate,
}

impl Receiver {
    pub(crate) fn new() -> Receiver {
        Receiver {
            expected: SegmentNumber::FIRST,
            out_of_order: NONE,
            delayed: 0,
            ts_recent: Time::ZERO,
            ecn: MarkEcho::default(),
            quick: 0,
        }
    }

    /// Moves the segments above a gap to this pool.
    pub(crate) fn move_to_pool(&mut self, from: &Slab<OutOfOrder>, pool: &mut Slab<OutOfOrder>) {
        if self.out_of_order != NONE {
            self.out_of_order = pool.put(from.at(self.out_of_order).clone());
        }
    }

    /// No pool contains segments of this receiver.
    pub(crate) fn forget(&mut self) {
        self.out_of_order = NONE;
    }

    /// PAWS (RFC 7323 section 5.3, R1 to R3): whether the receiver accepts a segment with this transmission time. Its timestamp becomes
    /// TS.Recent if the segment is not above the last acknowledgement (section 4.3) and not an old duplicate, which is outside the window
    /// (R2).
    #[inline]
    pub(crate) fn accepts(&mut self, segment: SegmentNumber, sent: Time, tolerance: u64) -> bool {
        let tick = |time: Time| time.0 / TICK.0;
        if sent < self.ts_recent && tick(sent) + tolerance < tick(self.ts_recent) {
            return false;
        }
        let last_ack_sent = if self.out_of_order == NONE { SegmentNumber(self.expected.0 - self.delayed) } else { self.expected };
        if segment <= last_ack_sent && segment >= self.expected {
            self.ts_recent = self.ts_recent.max(sent);
        }
        true
    }

    /// A segment is discarded, and acknowledged (section 5.3 R1). It counts as a duplicate only if its data has been acknowledged.
    pub(crate) fn on_discarded(&self, segment: SegmentNumber) -> Cause {
        if segment < self.expected { Cause::Duplicate } else { Cause::NewData }
    }

    /// TS.Recent, the time that acknowledgements of discarded segments echo.
    pub(crate) fn ts_recent(&self) -> Time {
        self.ts_recent
    }

    /// Whether this segment has arrived.
    pub(crate) fn has(&self, segment: SegmentNumber, pool: &Slab<OutOfOrder>) -> bool {
        let is_above_gap = || self.out_of_order != NONE && pool.at(self.out_of_order).range_of(segment).is_some();
        segment < self.expected || is_above_gap()
    }

    /// A data segment arrived.
    #[inline(always)]
    pub(crate) fn on_segment(
        &mut self,
        segment: SegmentNumber,
        sent: Time,
        delayed_ack: Option<DelaysAfter>,
        pool: &mut Slab<OutOfOrder>,
    ) -> Outcome {
        if segment == self.expected && self.out_of_order == NONE {
            self.expected = self.expected.next();
            return Outcome { is_new: true, reply: self.delay(sent, delayed_ack) };
        }
        self.on_other_segment(segment, sent, delayed_ack, pool)
    }

    /// The segment is not the next one in order, or other segments wait above a gap.
    #[inline(never)]
    fn on_other_segment(
        &mut self,
        segment: SegmentNumber,
        sent: Time,
        delayed_ack: Option<DelaysAfter>,
        pool: &mut Slab<OutOfOrder>,
    ) -> Outcome {
        if segment < self.expected {
            self.note_duplicate(delayed_ack);
            return Outcome { is_new: false, reply: Reply::Now };
        }
        let before = self.expected;
        let is_new = self.on_gap(segment, pool);
        if !is_new {
            self.note_duplicate(delayed_ack);
        }
        if self.expected > before {
            // The acknowledgement covers the delayed segments, and the echo is that of this segment (RFC 7323 section 4.3).
            self.delayed = 0;
        }
        let waits = is_new && self.expected == before;
        let is_of_ecn = delayed_ack.is_some_and(|delays| self.ecn.is_due_at_once(delays.rule()));
        let reply = match delayed_ack {
            Some(_) if is_of_ecn => Reply::Now,
            Some(_) if waits && self.quick > 0 => {
                self.quick -= 1;
                Reply::Now
            }
            Some(delays) if waits && !delays.is_early(segment) && delays.sack_compression() > TimeDelta::ZERO => {
                self.compress(sent, &delays, pool)
            }
            _ => Reply::Now,
        };
        Outcome { is_new, reply }
    }

    /// One acknowledgement for all arrivals above a gap within a time, as long as its blocks can report all of them (Linux: one is sent
    /// immediately if blocks would be lost, according to the message of the change "tcp: add SACK compression").
    #[cold]
    #[inline(never)]
    fn compress(&mut self, sent: Time, delays: &DelaysAfter, pool: &mut Slab<OutOfOrder>) -> Reply {
        let held = pool.at_mut(self.out_of_order);
        held.arrived += 1;
        if held.arrived <= SACKS_AT_ONCE {
            return Reply::Now;
        }
        if self.delayed == 0 {
            (held.changed, held.echo) = (1, sent);
        }
        let all_fit = held.changed < delays.sack_blocks();
        self.delayed += 1;
        if self.delayed > MAX_COMPRESSED || !all_fit {
            return Reply::Now;
        }
        let timeout = delays.sack_compression() + delays.rule().sack_compression_slack;
        Reply::Delayed { timer: (self.delayed == 1).then_some(timeout) }
    }

    /// A segment arrived that had arrived before.
    fn note_duplicate(&mut self, delayed_ack: Option<DelaysAfter>) {
        let quick = delayed_ack.map_or(0, |delays| delays.rule().quickacks_after_duplicate as u8);
        // The duplicate is the first of them.
        self.quick = self.quick.max(quick.saturating_sub(1));
    }

    /// RFC 5681 section 4.2: every second full segment, and immediately around a gap.
    #[inline]
    fn delay(&mut self, sent: Time, delayed_ack: Option<DelaysAfter>) -> Reply {
        let Some(delays) = delayed_ack else { return Reply::Now };
        let delayed_ack = delays.rule();
        if self.delayed == 0 {
            self.ts_recent = self.ts_recent.max(sent);
        }
        self.delayed += 1;
        let is_of_ecn = self.ecn.is_due_at_once(delayed_ack);
        let until_read = delays.until_read();
        let is_pushed = until_read.is_none() && delayed_ack.ack_pushed && delays.is_pushed();
        let is_full = until_read.is_none() && self.delayed >= delayed_ack.every;
        let is_quick = self.quick > 0 || is_of_ecn || is_pushed;
        self.quick = self.quick.saturating_sub(1);
        if is_full || self.expected.0 <= delayed_ack.quickack_segments.0 || is_quick {
            return Reply::Now;
        }
        let timeout = until_read.map_or(delayed_ack.timeout, |until_read| until_read.min(delayed_ack.timeout));
        Reply::Delayed { timer: (self.delayed == 1).then_some(timeout) }
    }

    fn on_gap(&mut self, segment: SegmentNumber, pool: &mut Slab<OutOfOrder>) -> bool {
        if self.out_of_order == NONE {
            // An acknowledgement of segments in order may be delayed.
            self.out_of_order = pool.put(OutOfOrder { echo: self.ts_recent, ..OutOfOrder::default() });
        }
        let held = pool.at_mut(self.out_of_order);
        if segment == self.expected {
            self.expected = self.expected.next();
            held.arrived = 0;
            if let Some(&(_, end)) = held.ranges.front().filter(|range| range.0 == self.expected) {
                self.expected = end;
                held.ranges.pop_front();
            }
            if held.ranges.is_empty() {
                pool.release(self.out_of_order);
                self.out_of_order = NONE;
            }
            return true;
        }
        held.add(segment)
    }

    /// Processes the ECN flags of a data segment.
    pub(crate) fn on_ecn(&mut self, flags: EcnFlags, echo: EcnEcho) {
        self.ecn.on_segment(flags, echo);
    }

    /// Whether a delayed acknowledgement has to be sent before this segment is processed: its mark is not the state that the
    /// acknowledgement echoes (RFC 8257 section 3.2). Above a gap no acknowledgement of segments in order waits.
    pub(crate) fn is_flushed_by(&self, ecn: EcnFlags) -> bool {
        self.delayed > 0 && self.out_of_order == NONE && ecn.marked != self.ecn.echoes_mark()
    }

    /// Whether acknowledgements echo a mark (RFC 3168 section 6.1.3).
    pub(crate) fn echoes_mark(&self) -> bool {
        self.ecn.echoes_mark()
    }

    /// Whether an acknowledgement is delayed, when its timer expires or the flow needs it for another reason.
    pub(crate) fn has_delayed(&self) -> bool {
        self.delayed > 0
    }

    /// The acknowledgement sent now covers all delayed segments. Returns the time to echo, if it differs from that of the segment that
    /// caused it.
    #[inline]
    pub(crate) fn acknowledged(&mut self, pool: &Slab<OutOfOrder>) -> Option<Time> {
        let is_delayed = std::mem::take(&mut self.delayed) > 0;
        is_delayed.then(|| if self.out_of_order == NONE { self.ts_recent } else { pool.at(self.out_of_order).echo })
    }

    /// SACK blocks to report, up to the given number: first the range of the latest arrival, then the most recent others (RFC 2018 section
    /// 4).
    pub(crate) fn blocks(&self, max: u32, pool: &Slab<OutOfOrder>) -> Option<Received> {
        if self.out_of_order == NONE {
            return None;
        }
        let held = pool.at(self.out_of_order);
        let mut blocks = Received::before(self.expected);
        for &range in held.recent.iter().filter(|range| range.1 > self.expected).take(max as usize) {
            blocks.ranges[blocks.count as usize] = range;
            blocks.count += 1;
        }
        Some(blocks)
    }

    /// SACK blocks after a duplicate, whose block comes first (RFC 2883 section 4).
    pub(crate) fn blocks_after(&self, duplicate: SackBlock, max: u32, pool: &Slab<OutOfOrder>) -> Received {
        let rest = self.blocks(max - 1, pool).unwrap_or(Received::before(self.expected));
        let mut blocks = Received { count: rest.count + 1, ..rest };
        blocks.ranges[0] = duplicate;
        blocks.ranges[1..].copy_from_slice(&rest.ranges[..3]);
        blocks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::ids::FlowId;
    use crate::primitives::segment_number::plain::{blocks, n};
    use crate::primitives::units::Segments;
    use crate::tcp::spec::DelayedAck;

    const LONG: TimeDelta = TimeDelta(u64::MAX);
    /// A segment whose one-way delay does not limit any delay.
    const LATE: Arrival = Arrival { flow: FlowId(0), sent: Time::ZERO, time: Time::NEVER, pushed: Pushed::No };

    fn receive(receiver: &mut Receiver, pool: &mut Slab<OutOfOrder>, segments: &[u32]) {
        segments.iter().for_each(|&segment| {
            receiver.on_segment(n(segment), Time::ZERO, None, pool);
        });
    }

    #[test]
    fn a_gap_is_closed_by_the_missing_segment() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        receive(&mut receiver, &mut pool, &[0, 1, 3, 4, 6]);
        assert_eq!(receiver.expected, n(2));
        receive(&mut receiver, &mut pool, &[2]);
        assert_eq!(receiver.expected, n(5));
        receive(&mut receiver, &mut pool, &[5]);
        assert_eq!(receiver.expected, n(7));
        assert_eq!(pool.used(), 0);
    }

    #[test]
    fn a_segment_that_arrives_twice_is_not_new() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        receive(&mut receiver, &mut pool, &[0, 2]);
        assert!(!receiver.on_segment(n(2), Time::ZERO, None, &mut pool).is_new);
        assert!(!receiver.on_segment(n(0), Time::ZERO, None, &mut pool).is_new);
        assert!(receiver.on_segment(n(1), Time::ZERO, None, &mut pool).is_new);
    }

    #[test]
    fn paws_discards_segments_older_than_the_one_that_continued_the_data() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let at = |ms| Time(TimeDelta::from_millis(ms).0);
        let mut arrives = |segment, ms, tolerance| {
            let is_accepted = receiver.accepts(n(segment), at(ms), tolerance);
            if is_accepted {
                receiver.on_segment(n(segment), at(ms), None, &mut pool);
            }
            is_accepted
        };
        // Segments above the gap leave TS.Recent at 10 ms, and 1 is late but accepted.
        assert!(arrives(0, 10, 0) && arrives(2, 20, 0) && arrives(1, 15, 0));
        // The retransmission of 3 fills the gap below 5: TS.Recent is 50 ms, and 5 was sent before.
        assert!(arrives(4, 22, 0) && arrives(3, 50, 0));
        assert!(!arrives(5, 48, 1) && !arrives(5, 49, 0));
        // Linux accepts a difference of one tick.
        assert!(arrives(5, 49, 1));
        // Duplicates are compared, too.
        assert!(!arrives(3, 13, 1));
        assert_eq!((receiver.expected, receiver.ts_recent()), (n(6), at(50)));
        assert!(receiver.on_discarded(n(3)) == Cause::Duplicate && receiver.on_discarded(n(6)) == Cause::NewData);
        receiver.on_segment(n(8), at(60), None, &mut pool);
        assert_eq!([3, 6, 8, 9].map(|segment| receiver.has(n(segment), &pool)), [true, false, true, false]);
    }

    #[test]
    fn paws_takes_no_timestamp_from_an_old_duplicate() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let at = |ms| Time(TimeDelta::from_millis(ms).0);
        for (segment, ms) in [(0, 10), (1, 11)] {
            assert!(receiver.accepts(n(segment), at(ms), 0));
            receiver.on_segment(n(segment), at(ms), None, &mut pool);
        }
        // A needless retransmission of 1 overtakes 2, which was sent before it.
        assert!(receiver.accepts(n(1), at(90), 0));
        assert_eq!(receiver.ts_recent(), at(11));
        assert!(receiver.accepts(n(2), at(12), 0));
    }

    #[test]
    fn blocks_name_the_latest_range_first_and_then_the_ones_reported_before() {
        // The second example of RFC 2018 section 4, in segments: every other one of 0..8 is lost.
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        receive(&mut receiver, &mut pool, &[1, 3, 5, 7]);
        let sent = receiver.blocks(3, &pool).unwrap();
        assert_eq!((sent.ack, sent.ranges()), (n(0), &blocks(&[(7, 8), (5, 6), (3, 4)])[..]));
        receive(&mut receiver, &mut pool, &[4]);
        let sent = receiver.blocks(3, &pool).unwrap();
        assert_eq!(sent.ranges(), blocks(&[(3, 6), (7, 8), (1, 2)]));
    }

    /// Segments as (marked, window reduced), with `every` of them per acknowledgement. Returns which acknowledgements echo.
    fn echoes(every: usize, segments: &[(bool, bool)]) -> Vec<bool> {
        let mut receiver = Receiver::new();
        let of_one = |covered: &[(bool, bool)]| {
            covered
                .iter()
                .for_each(|&(marked, reduced)| receiver.on_ecn(EcnFlags { marked, capable: true, reduced }, EcnEcho::Rfc3168));
            receiver.echoes_mark()
        };
        segments.chunks(every).map(of_one).collect()
    }

    const PLAIN: (bool, bool) = (false, false);
    const CE: (bool, bool) = (true, false);
    const CWR: (bool, bool) = (false, true);

    #[test]
    fn a_mark_is_echoed_until_the_sender_has_reduced_its_window() {
        assert_eq!(echoes(1, &[PLAIN, CE, PLAIN, PLAIN, CWR, PLAIN]), [false, true, true, true, false, false]);
        assert_eq!(echoes(1, &[CE, (true, true), PLAIN, CWR]), [true, true, true, false]);
    }

    #[test]
    fn a_delayed_acknowledgement_echoes_a_mark_on_any_segment_that_it_covers() {
        assert_eq!(echoes(2, &[CE, PLAIN, PLAIN, PLAIN, PLAIN, CWR, PLAIN, PLAIN]), [true, true, false, false]);
        // The mark on the first belongs to the window that the second ends.
        assert_eq!(echoes(2, &[CE, CE, CE, CWR, PLAIN, PLAIN]), [true, false, false]);
        assert_eq!(echoes(2, &[CWR, CE, PLAIN, PLAIN]), [true, true]);
    }

    #[test]
    fn delayed_acknowledgements_cover_two_segments_and_never_wait_at_a_gap() {
        let delays = Delays { rule: DelayedAck::default(), sack_blocks: 3, handshake: LONG };
        let rule = Some(delays.after(LATE));
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let started = Reply::Delayed { timer: Some(DelayedAck::default().timeout) };
        assert_eq!(receiver.on_segment(n(0), Time(5), rule, &mut pool).reply, started);
        assert_eq!(receiver.on_segment(n(1), Time(6), rule, &mut pool).reply, Reply::Now);
        assert_eq!(receiver.acknowledged(&pool), Some(Time(5)));
        assert_eq!(receiver.on_segment(n(3), Time(7), rule, &mut pool).reply, Reply::Now);
        assert_eq!(receiver.on_segment(n(2), Time(8), rule, &mut pool).reply, Reply::Now);
        assert_eq!(receiver.acknowledged(&pool), None);
    }

    #[test]
    fn the_first_segments_are_acknowledged_immediately_if_configured() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let delays = Delays {
            rule: DelayedAck { quickack_segments: Segments(3), ..DelayedAck::default() },
            sack_blocks: 3,
            handshake: LONG,
        };
        let rule = Some(delays.after(LATE));
        let waits = |segment| {
            let reply = receiver.on_segment(n(segment), Time::ZERO, rule, &mut pool).reply;
            if reply == Reply::Now {
                receiver.acknowledged(&pool);
            }
            reply != Reply::Now
        };
        assert_eq!((0..7).map(waits).collect::<Vec<_>>(), [false, false, false, true, false, true, false]);
    }

    #[test]
    fn a_mark_and_its_response_are_acknowledged_immediately_if_configured() {
        // The pattern in a capture of Linux: pairs, the first marked segment and the next, pairs, the segment that reports the reduction,
        // pairs. If that one is marked again, the next one too.
        let leaves = |segments: &[(bool, bool)]| {
            let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
            let delays = Delays {
                rule: DelayedAck { ack_ce_immediately: true, ..DelayedAck::default() },
                sack_blocks: 3,
                handshake: LONG,
            };
            let rule = Some(delays.after(LATE));
            let leaves = |(segment, &(marked, reduced)): (usize, &(bool, bool))| {
                receiver.on_ecn(EcnFlags { marked, capable: true, reduced }, EcnEcho::Rfc3168);
                let leaves = receiver.on_segment(n(segment as u32), Time::ZERO, rule, &mut pool).reply == Reply::Now;
                if leaves {
                    receiver.acknowledged(&pool);
                }
                leaves
            };
            segments.iter().enumerate().map(leaves).collect::<Vec<_>>()
        };
        let (pair, at_once) = ([false, true], [true]);
        assert_eq!(
            leaves(&[PLAIN, PLAIN, CE, PLAIN, CE, PLAIN, CWR, PLAIN, PLAIN]),
            [&pair[..], &at_once, &at_once, &pair, &at_once, &pair].concat()
        );
        assert_eq!(leaves(&[CE, CE, (true, true), PLAIN, PLAIN, PLAIN]), [&[true; 4][..], &pair].concat());
    }

    #[test]
    fn above_a_gap_three_acknowledgements_are_immediate_and_then_one_per_millisecond() {
        let (mut receiver, mut pool) = (Receiver::new(), Slab::default());
        let millisecond = TimeDelta::from_millis(1);
        let delays = Delays {
            rule: DelayedAck { sack_compression: millisecond, ..DelayedAck::default() },
            sack_blocks: 3,
            handshake: LONG,
        };
        let rule = Some(delays.after(LATE));
        // Segment 0 is missing.
        for segment in 1..=3 {
            assert_eq!(receiver.on_segment(n(segment), Time::ZERO, rule, &mut pool).reply, Reply::Now);
            assert_eq!(receiver.acknowledged(&pool), None);
        }
        assert_eq!(receiver.on_segment(n(4), Time(7), rule, &mut pool).reply, Reply::Delayed { timer: Some(millisecond) });
        assert_eq!(receiver.on_segment(n(5), Time(8), rule, &mut pool).reply, Reply::Delayed { timer: None });
        // A duplicate segment is reported immediately, together with the delayed ones.
        assert_eq!(receiver.on_segment(n(4), Time(9), rule, &mut pool).reply, Reply::Now);
        assert_eq!(receiver.acknowledged(&pool), Some(Time(7)));
        // When 44 segments wait, the next one triggers the acknowledgement.
        let replies: Vec<Reply> =
            (6..51).map(|segment| receiver.on_segment(n(segment), Time(9), rule, &mut pool).reply).collect();
        assert_eq!(replies.iter().position(|&reply| reply == Reply::Now), Some(44));
        receiver.acknowledged(&pool);
        // A segment that fills the gap is acknowledged immediately, and the echo is its own.
        receiver.on_segment(n(52), Time(10), rule, &mut pool);
        assert_eq!(receiver.on_segment(n(0), Time(11), rule, &mut pool).reply, Reply::Now);
        assert_eq!((receiver.expected, receiver.acknowledged(&pool)), (n(51), None));
        // The next gap restarts the count.
        assert_eq!(receiver.on_segment(n(53), Time(12), rule, &mut pool).reply, Reply::Now);
    }

    #[test]
    fn above_a_gap_no_acknowledgement_waits_for_more_ranges_than_its_blocks_can_report() {
        let mut pool = Slab::default();
        let rule = DelayedAck { sack_compression: TimeDelta::from_millis(1), ..DelayedAck::default() };
        let delays = Delays { rule, sack_blocks: 3, handshake: LONG };
        let rule = Some(delays.after(LATE));
        // Segment 0 is missing. After three acknowledgements, an arrival in a third range triggers one: with a fourth range a block would
        // be lost.
        let mut gaps = Receiver::new();
        let mut leaves = |segment| {
            let reply = gaps.on_segment(n(segment), Time::ZERO, rule, &mut pool).reply;
            if reply == Reply::Now {
                gaps.acknowledged(&pool);
            }
            reply == Reply::Now
        };
        assert_eq!([1, 2, 3].map(&mut leaves), [true; 3]);
        assert_eq!([5, 7, 9, 11, 13, 15].map(&mut leaves), [false, false, true, false, false, true]);
    }
}
