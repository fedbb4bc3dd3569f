//! RACK (RFC 8985 section 6): loss detection by transmission times. A segment is lost once a segment sent later has arrived and the time
//! that reordering could explain has passed. This also detects lost retransmissions.
//!
//! `delivery.rs` processes arrivals, `detection.rs` finds losses. Names are from the RFC. Differs: `min_RTT` is the minimum over the whole run, not over some minutes of it.

mod delivery;
mod detection;
mod lost_segments;

pub(crate) use self::detection::Detected;

use self::lost_segments::LostSegments;
use crate::primitives::ring::Ring;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::scoreboard::Scoreboard;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Recoveries without a DSACK after which the reordering window is reset (section 6.2 step 4).
const PERSIST: u32 = 16;

/// Sender state of outstanding segments.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rack {
    /// Number of the first of `segments`: the oldest unacknowledged one.
    snd_una: SegmentNumber,
    segments: Ring<Sent>,
    /// SACKed segments.
    sacked: Scoreboard,
    /// The first segment whose first transmission is neither overtaken nor over. First transmissions are in the order of `segments`.
    next_original: SegmentNumber,
    /// Retransmissions, in this order, from the latest transmission that has arrived on.
    resent: VecDeque<Transmission>,
    /// Transmissions before the latest one that has arrived. Here and in `resent`, segments that have arrived or were retransmitted since are
    /// dropped when they are at an end, each once, so that no acknowledgement walks the window.
    overtaken: VecDeque<Transmission>,
    /// Number of `segments` that were retransmitted, whether or not they have arrived.
    repaired: u32,
    /// Lost segments that were not retransmitted since.
    lost: LostSegments,
    /// One past the highest segment that was found lost.
    lost_end: SegmentNumber,
    in_flight: u32,
    xmit_ts: Time,
    /// RACK.end_seq: the segment, not the number after it.
    end_seq: SegmentNumber,
    rtt: TimeDelta,
    /// RACK.rtt after the cumulatively acknowledged segments of the last acknowledgement; zero if there were none.
    cumulative_rtt: TimeDelta,
    min_rtt: Option<TimeDelta>,
    /// One past the highest segment that has arrived.
    fack: SegmentNumber,
    reordering_seen: bool,
    /// The greatest distance from a segment that arrived late to the highest one that had arrived.
    reordering_extent: Segments,
    dsack_round: Option<SegmentNumber>,
    reo_wnd_mult: u32,
    reo_wnd_persist: u32,
}

/// An outstanding segment, as of its last transmission.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sent {
    xmit_ts: Time,
    fate: Fate,
    retransmitted: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Fate {
    InFlight,
    Lost,
    Arrived,
}

/// A transmission of a segment. They are ordered by time, and by segment at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Transmission {
    time: Time,
    segment: SegmentNumber,
}

impl Transmission {
    /// A number in this order.
    #[inline]
    fn order(self) -> u128 {
        u128::from(self.time.0) << 32 | u128::from(self.segment.0)
    }
}

/// Further inputs of loss detection.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DetectionContext {
    pub(crate) now: Time,
    /// In fast recovery, or in recovery from a timeout.
    pub(crate) is_recovering: bool,
    pub(crate) srtt: Option<TimeDelta>,
    /// DupThresh of step 4.
    pub(crate) dup_thresh: Segments,
}

impl Rack {
    /// A segment's state and, if it was retransmitted or overtaken, its transmission, each in a queue that doubles as it grows, and possibly
    /// its place in the set of lost segments.
    pub(crate) const BYTES_PER_SEGMENT: usize = 2 * (size_of::<Sent>() + size_of::<Transmission>()) + 2 * size_of::<u32>();

    /// State of a sender whose next segment is this one.
    pub(crate) fn new(snd_una: SegmentNumber) -> Rack {
        Rack {
            snd_una,
            segments: Ring::default(),
            sacked: Scoreboard::default(),
            next_original: snd_una,
            resent: VecDeque::new(),
            overtaken: VecDeque::new(),
            repaired: 0,
            lost: LostSegments::default(),
            lost_end: SegmentNumber::FIRST,
            in_flight: 0,
            xmit_ts: Time::ZERO,
            end_seq: SegmentNumber::FIRST,
            rtt: TimeDelta::ZERO,
            cumulative_rtt: TimeDelta::ZERO,
            min_rtt: None,
            fack: SegmentNumber::FIRST,
            reordering_seen: false,
            reordering_extent: Segments(0),
            dsack_round: None,
            reo_wnd_mult: 1,
            reo_wnd_persist: PERSIST,
        }
    }

    /// The RTT of a handshake, if it counts, is the first minimum.
    pub(crate) fn with_min_rtt(self, min_rtt: Option<TimeDelta>) -> Rack {
        Rack { min_rtt, ..self }
    }

    /// Section 6.1: a segment is sent. Returns whether it had been sent before.
    #[inline]
    pub(crate) fn on_sent(&mut self, segment: SegmentNumber, now: Time) -> bool {
        let place = segment.position_from(self.snd_una).unwrap_or(0);
        if place < self.segments.len() {
            self.on_resent(segment, now);
            return true;
        }
        self.segments.push(Sent { xmit_ts: now, fate: Fate::InFlight, retransmitted: false });
        self.in_flight += 1;
        false
    }

    #[inline(never)]
    fn on_resent(&mut self, segment: SegmentNumber, now: Time) {
        let sent = Transmission { time: now, segment };
        if self.resent.back().is_none_or(|last| last.order() < sent.order()) {
            self.resent.push_back(sent);
        } else {
            self.resent.insert(self.resent.partition_point(|&earlier| earlier < sent), sent);
        }
        let place = (segment - self.snd_una).0 as usize;
        let Some(known) = self.segments.get_mut(place) else { return };
        self.repaired += u32::from(!known.retransmitted);
        (known.xmit_ts, known.retransmitted) = (now, true);
        if known.fate == Fate::Lost {
            known.fate = Fate::InFlight;
            self.in_flight += 1;
            self.lost.remove_one();
            self.drop_repaired();
        }
    }

    /// Segments at the front of the lost ones have arrived, or were retransmitted.
    #[inline]
    fn drop_repaired(&mut self) {
        let Rack { segments, snd_una, lost, .. } = self;
        lost.drop_front_unless(|segment| fate(segments, *snd_una, segment) == Some(Fate::Lost));
    }

    /// Whether an unacknowledged segment was lost, whether or not it was retransmitted since.
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_end > self.snd_una
    }

    /// Retransmitted segments that have not arrived.
    pub(crate) fn retransmitted(&self) -> Segments {
        let under_way = |sent: &&Sent| sent.retransmitted && sent.fate != Fate::Arrived;
        Segments(self.segments.iter().filter(under_way).count() as u32)
    }

    /// Losses were spurious: the segments count as in flight again, and all transmissions are examined again.
    pub(crate) fn forget_losses(&mut self) {
        self.lost_end = self.snd_una;
        self.lost = LostSegments::default();
        for sent in self.segments.iter_mut().filter(|sent| sent.fate == Fate::Lost) {
            sent.fate = Fate::InFlight;
            self.in_flight += 1;
        }
        self.next_original = self.snd_una;
        self.overtaken.clear();
        let segments = SegmentNumber::range(self.snd_una..SegmentNumber::NONE).zip(self.segments.iter());
        let is_resent = |sent: &Sent| sent.retransmitted && sent.fate == Fate::InFlight;
        self.resent = segments
            .filter(|(_, sent)| is_resent(sent))
            .map(|(segment, sent)| Transmission { time: sent.xmit_ts, segment })
            .collect();
        self.resent.make_contiguous().sort_unstable();
    }

    /// Number of outstanding segments; none if their states are inconsistent with the counters.
    pub(crate) fn accounted_for(&self) -> Segments {
        let count = |fate: Fate| self.segments.iter().filter(|sent| sent.fate == fate).count();
        let counted = [self.in_flight as usize, self.lost.count(), self.sacked.sacked().0 as usize];
        let is_lost = |(segment, sent): (SegmentNumber, &Sent)| sent.fate != Fate::Lost || self.lost.contains(segment);
        let adds_up = [Fate::InFlight, Fate::Lost, Fate::Arrived].map(count) == counted;
        Segments(if adds_up && SegmentNumber::range(self.snd_una..SegmentNumber::NONE).zip(self.segments.iter()).all(is_lost) {
            self.segments.len() as u32
        } else {
            0
        })
    }

    /// Estimated number of segments in the network: neither arrived nor lost.
    pub(crate) fn in_flight(&self) -> Segments {
        Segments(self.in_flight)
    }

    pub(crate) fn sacked(&self) -> &Scoreboard {
        &self.sacked
    }

    /// Segments SACKed above the cumulative acknowledgement (RACK.segs_sacked).
    pub(crate) fn segs_sacked(&self) -> Segments {
        self.sacked.sacked()
    }

    /// The lowest lost segment that was not retransmitted since.
    pub(crate) fn first_lost(&self) -> Option<SegmentNumber> {
        self.lost.first()
    }

    pub(crate) fn is_lost(&self, segment: SegmentNumber) -> bool {
        self.lost.first().is_some() && fate(&self.segments, self.snd_una, segment) == Some(Fate::Lost)
    }

    /// Whether an unacknowledged segment has arrived.
    pub(crate) fn is_sacked(&self, segment: SegmentNumber) -> bool {
        fate(&self.segments, self.snd_una, segment) == Some(Fate::Arrived)
    }

    /// The highest outstanding segment that has not arrived.
    pub(crate) fn last_outstanding(&self) -> Option<SegmentNumber> {
        self.sacked.last_missing(self.snd_una..self.snd_una + Segments(self.segments.len() as u32))
    }

    /// Whether every outstanding segment was sent once, and none has arrived or was lost or overtaken.
    #[inline]
    pub(crate) fn is_in_order(&self) -> bool {
        self.repaired == 0 && self.sacked.is_empty() && self.lost.first().is_none() && self.overtaken.is_empty()
    }
}

/// Fate of a segment, if it is outstanding.
#[inline]
fn fate(segments: &Ring<Sent>, snd_una: SegmentNumber, segment: SegmentNumber) -> Option<Fate> {
    let place = segment.position_from(snd_una)?;
    segments.get(place).map(|sent| sent.fate)
}

#[cfg(test)]
mod tests {
    use super::delivery::is_dsack;
    use super::*;
    use crate::primitives::segment_number::SackBlock;
    use crate::primitives::segment_number::plain::{blocks, n};
    use crate::tcp::sequence::IncomingAck;
    use crate::tcp::spec::ReoWndGrowth;
    use crate::tcp::steps::tests::STEPS;

    fn at(ms: u64) -> Time {
        Time(TimeDelta::from_millis(ms).0)
    }

    fn known(now: Time) -> DetectionContext {
        DetectionContext { now, is_recovering: false, srtt: Some(TimeDelta::from_millis(100)), dup_thresh: Segments(3) }
    }

    fn ack(ack: u32, blocks: &[SackBlock]) -> IncomingAck<'_> {
        IncomingAck { ack: n(ack), blocks, echo: Time::ZERO }
    }

    /// Segments 0 to 9, one per millisecond from 0 on.
    fn ten() -> Rack {
        let mut rack = Rack::new(n(0));
        (0..10).for_each(|segment| assert!(!rack.on_sent(n(segment), at(segment.into()))));
        rack
    }

    #[test]
    fn a_hole_is_lost_at_the_third_segment_above_it_or_after_a_quarter_of_the_rtt() {
        let mut rack = ten();
        rack.on_ack(at(100), &ack(1, &[]), None);
        // 1 is missing, 2 arrives: the reordering window is 25 ms from the time when 1 would have been acknowledged, 101 (sent at 1,
        // RACK.rtt 100).
        rack.on_ack(at(102), &ack(1, &blocks(&[(2, 3)])), None);
        assert_eq!(rack.detect_loss(&known(at(102))), (Segments(0), Some(at(126))));
        assert_eq!(rack.detect_loss(&known(at(125))), (Segments(0), Some(at(126))));
        let mut patient = rack.clone();
        assert_eq!(patient.detect_loss(&known(at(126))), (Segments(1), None));
        assert_eq!((patient.first_lost().map(|lost| lost.0), patient.in_flight()), (Some(1), Segments(7)));
        // Or three are SACKed without any reordering: immediately.
        rack.on_ack(at(103), &ack(1, &blocks(&[(2, 4)])), None);
        assert_eq!(rack.detect_loss(&known(at(103))).0, Segments(0));
        rack.on_ack(at(104), &ack(1, &blocks(&[(2, 5)])), None);
        assert_eq!(rack.detect_loss(&known(at(104))), (Segments(1), None));
    }

    #[test]
    fn a_lost_retransmission_is_detected_by_segments_sent_after_it() {
        let mut rack = ten();
        rack.on_ack(at(104), &ack(0, &blocks(&[(1, 5)])), None);
        let recovering = |now| DetectionContext { is_recovering: true, ..known(now) };
        assert_eq!(rack.detect_loss(&recovering(at(104))), (Segments(1), None));
        rack.on_sent(n(0), at(104));
        rack.on_sent(n(10), at(105));
        assert_eq!(rack.in_flight(), Segments(7));
        // All except 0 arrive. 10 was sent after the retransmission of 0, which is lost a moment later: no later than 10's RTT.
        rack.on_ack(at(109), &ack(0, &blocks(&[(1, 10)])), None);
        assert_eq!(rack.detect_loss(&recovering(at(109))), (Segments(0), None));
        rack.on_ack(at(205), &ack(0, &blocks(&[(1, 11)])), None);
        assert_eq!(rack.detect_loss(&recovering(at(205))), (Segments(1), None));
        assert_eq!((rack.first_lost().map(|lost| lost.0), rack.in_flight()), (Some(0), Segments(0)));
    }

    #[test]
    fn a_late_arrival_without_a_retransmission_is_reordering_and_widens_the_window() {
        let mut rack = ten();
        rack.on_ack(at(102), &ack(0, &blocks(&[(2, 3)])), None);
        assert!(!rack.reordering_seen);
        // One acknowledgement of several holes is not reordering.
        rack.on_ack(at(104), &ack(1, &blocks(&[(4, 5), (2, 3)])), None);
        assert!(rack.reordering_seen);
        // Now the reordering window is a quarter of the RTT even in recovery: 3, sent at 3, RACK.rtt 100.
        let recovering = DetectionContext { is_recovering: true, ..known(at(104)) };
        assert_eq!(rack.detect_loss(&recovering), (Segments(0), Some(at(128))));
        // A DSACK doubles it, once per RTT; sixteen recoveries without one reset it.
        rack.on_dsack(n(10), ReoWndGrowth::AfterReordering);
        rack.on_dsack(n(10), ReoWndGrowth::AfterReordering);
        assert_eq!(rack.detect_loss(&recovering), (Segments(0), Some(at(153))));
        (0..PERSIST).for_each(|_| rack.on_recovered());
        assert_eq!(rack.detect_loss(&recovering), (Segments(0), Some(at(128))));
    }

    /// By Linux 6.18.44 with crafted acknowledgements, a round trip of 100 ms and one DSACK, a segment below a SACKed one was resent after
    /// 30 ms before reordering was seen, and after 57 ms afterwards.
    #[test]
    fn a_dsack_before_reordering_widens_the_window_by_the_rfc_and_not_in_linux() {
        for (growth, expires) in [(ReoWndGrowth::AnyDsack, 151), (ReoWndGrowth::AfterReordering, 126)] {
            let mut rack = ten();
            rack.on_ack(at(100), &ack(1, &[]), None);
            rack.on_dsack(n(10), growth);
            rack.on_ack(at(102), &ack(1, &blocks(&[(2, 3)])), None);
            assert_eq!(rack.detect_loss(&known(at(102))), (Segments(0), Some(at(expires))));
        }
    }

    /// Transmissions examined per segment of a window sent at one instant, if one segment in `lost` is lost and never retransmitted.
    fn examined(window: u32, lost: u32) -> f64 {
        let before = STEPS.get();
        let mut rack = Rack::new(n(0));
        rack.reordering_seen = true;
        (0..window).for_each(|segment| assert!(!rack.on_sent(n(segment), at(0))));
        let mut ranges = Vec::new();
        for segment in 1..window {
            if segment % lost > 0 {
                match ranges.last_mut() {
                    Some((_, end)) if *end == segment => *end = segment + 1,
                    _ => ranges.push((segment, segment + 1)),
                }
                let newest = ranges.iter().rev().take(3).copied().collect::<Vec<_>>();
                // All arrive within the reordering window, which expires at the end.
                rack.on_ack(at(100), &ack(0, &blocks(&newest)), None);
                rack.detect_loss(&known(at(100)));
            }
        }
        assert_eq!(rack.detect_loss(&known(at(1000))).0, Segments((window - 1).div_ceil(lost)));
        (STEPS.get() - before) as f64 / f64::from(window)
    }

    #[test]
    fn segments_sent_at_one_instant_are_not_examined_again_for_each_acknowledgement() {
        for lost in [10, 1_000_000] {
            let (few, many) = (examined(1000, lost), examined(64_000, lost));
            assert!(many < 1.01 * few, "one in {lost} lost: {few} for 1000 segments, {many} for 64,000");
        }
    }

    #[test]
    fn the_acknowledgement_of_a_probe_counts_despite_a_minimum_rtt_if_its_echo_identifies_the_probe() {
        let after_a_probe = |echo| {
            let mut rack = ten();
            rack.on_ack(at(108), &ack(8, &[]), Some(at(7)));
            rack.on_sent(n(9), at(400));
            rack.on_ack(at(495), &IncomingAck { echo: at(400), ..ack(8, &blocks(&[(9, 10)])) }, echo);
            rack.detect_loss(&known(at(495))).0
        };
        // 8 was sent long before the probe that has arrived.
        assert_eq!((after_a_probe(Some(at(400))), after_a_probe(Some(at(9)))), (Segments(1), Segments(0)));
        // Without timestamps 95 ms, with a minimum of 100, cannot belong to the probe.
        assert_eq!(after_a_probe(None), Segments(0));
    }

    #[test]
    fn a_timeout_marks_the_oldest_segment_and_those_sent_long_ago_as_lost() {
        let mut rack = ten();
        rack.on_sent(n(10), at(1200));
        rack.on_ack(at(102), &ack(0, &blocks(&[(2, 3)])), None);
        rack.on_timeout(&known(at(1250)), |_| ());
        assert_eq!((rack.first_lost().map(|lost| lost.0), rack.in_flight()), (Some(0), Segments(1)));
        assert_eq!(rack.segs_sacked(), Segments(1));
    }

    #[test]
    fn spuriously_lost_segments_are_checked_again() {
        let mut rack = ten();
        rack.on_timeout(&known(at(1250)), |_| ());
        assert!(rack.on_sent(n(0), at(1250)));
        rack.forget_losses();
        assert_eq!((rack.first_lost().map(|lost| lost.0), rack.in_flight()), (None, Segments(10)));
        // 2 to 5 arrive: 1 was sent before them, 0 after.
        rack.on_ack(at(1251), &ack(0, &blocks(&[(2, 6)])), None);
        assert_eq!((rack.detect_loss(&known(at(1251))).0, rack.first_lost().map(|lost| lost.0)), (Segments(1), Some(1)));
    }

    #[test]
    fn a_block_below_the_acknowledgement_or_within_the_next_reports_a_duplicate() {
        assert!(is_dsack(&ack(5, &blocks(&[(3, 4), (7, 9)]))) && is_dsack(&ack(5, &blocks(&[(7, 8), (6, 9)]))));
        assert!(!is_dsack(&ack(5, &blocks(&[(7, 9), (11, 12)]))) && !is_dsack(&ack(5, &[])));
    }

    #[test]
    fn the_example_of_section_3_4_by_hand() {
        // Event 1: P0 to P3 are sent, P1 to P3 are dropped. 2: P0 is acknowledged. 3: two RTTs later the probe is P3.
        let mut rack = Rack::new(n(0));
        (0..4).for_each(|segment| assert!(!rack.on_sent(n(segment), at(0))));
        rack.on_ack(at(100), &ack(1, &[]), None);
        assert_eq!(rack.detect_loss(&known(at(100))), (Segments(0), None));
        assert!(rack.on_sent(n(3), at(300)));
        // 4, 5: P3 is SACKed, P1 and P2 are lost and retransmitted; P1 is dropped again.
        rack.on_ack(at(400), &ack(1, &blocks(&[(3, 4)])), None);
        assert_eq!((rack.detect_loss(&known(at(400))), rack.first_lost().map(|lost| lost.0)), ((Segments(2), None), Some(1)));
        assert!(rack.on_sent(n(1), at(400)) && rack.on_sent(n(2), at(400)));
        // 6, 7: P2 is SACKed, P1's retransmission is lost. 8: everything is acknowledged.
        let recovering = DetectionContext { is_recovering: true, ..known(at(500)) };
        rack.on_ack(at(500), &ack(1, &blocks(&[(2, 4)])), None);
        assert_eq!((rack.detect_loss(&recovering), rack.first_lost().map(|lost| lost.0)), ((Segments(1), None), Some(1)));
        assert!(rack.on_sent(n(1), at(500)));
        rack.on_ack(at(600), &ack(4, &[]), None);
        assert_eq!((rack.in_flight(), rack.first_lost().map(|lost| lost.0)), (Segments(0), None));
    }
}
