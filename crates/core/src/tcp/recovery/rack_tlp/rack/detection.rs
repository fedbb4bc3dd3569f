//! Section 6.2 steps 4 and 5 of RFC 8985, and section 6.3: losses by the order of transmissions.

use super::{DetectionContext, Fate, PERSIST, Rack, Sent, Transmission};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::spec::ReoWndGrowth;
use crate::tcp::steps::count_step;

/// Outcome of step 5.
#[derive(Clone, Copy)]
pub(crate) struct Detected {
    pub(crate) newly_lost: Segments,
    /// One of them had been retransmitted.
    pub(crate) has_lost_retransmission: bool,
    /// Time of the next check.
    pub(crate) next: Option<Time>,
}

impl Rack {
    /// RACK.rtt becomes that of the last segment that the last acknowledgement acknowledges cumulatively, if there is one.
    pub(crate) fn prefer_cumulative_rtt(&mut self) {
        if self.cumulative_rtt > TimeDelta::ZERO {
            self.rtt = self.cumulative_rtt;
        }
    }

    /// Whether segments have arrived late by more than this distance.
    pub(crate) fn has_reordered_beyond(&self, distance: Segments) -> bool {
        self.reordering_extent > distance
    }

    /// Step 4, first half: an RTT with a DSACK widens the reordering window.
    pub(crate) fn on_dsack(&mut self, high: SegmentNumber, growth: ReoWndGrowth) {
        if growth == ReoWndGrowth::AfterReordering && !self.reordering_seen {
            return;
        }
        if self.dsack_round.is_none_or(|round| self.snd_una >= round) {
            self.dsack_round = Some(high);
            self.reo_wnd_mult += 1;
            self.reo_wnd_persist = PERSIST;
        }
    }

    /// Step 4, first half: a recovery is over.
    pub(crate) fn on_recovered(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
        if self.reo_wnd_persist == 0 {
            self.reo_wnd_mult = 1;
        }
    }

    /// Step 4, second half.
    fn reo_wnd(&self, known: &DetectionContext) -> TimeDelta {
        if !self.reordering_seen && (known.is_recovering || self.segs_sacked() >= known.dup_thresh) {
            return TimeDelta::ZERO;
        }
        let quarters = self.min_rtt.map_or(0, |min| min.0 / 4 * u64::from(self.reo_wnd_mult));
        TimeDelta(quarters.min(known.srtt.map_or(u64::MAX, |srtt| srtt.0)))
    }

    /// [`Rack::detect_each_loss`] for tests, which use the totals.
    #[cfg(test)]
    pub(crate) fn detect_loss(&mut self, known: &DetectionContext) -> (Segments, Option<Time>) {
        let Detected { newly_lost, next, .. } = self.detect_each_loss(known, |_| ());
        (newly_lost, next)
    }

    /// Step 5: loss detection.
    pub(crate) fn detect_each_loss(&mut self, known: &DetectionContext, mut lose: impl FnMut(SegmentNumber)) -> Detected {
        let patience = self.rtt + self.reo_wnd(known);
        self.find_overtaken();
        let (mut newly_lost, mut has_lost_retransmission) = (0, false);
        while let Some(&sent) = self.overtaken.front() {
            let Transmission { time, segment } = sent;
            let is_under_way = self.is_under_way(sent);
            if is_under_way && time + patience > known.now {
                break;
            }
            self.overtaken.pop_front();
            if is_under_way {
                has_lost_retransmission |= self.was_retransmitted(segment);
                self.mark_lost(segment);
                lose(segment);
                newly_lost += 1;
            }
        }
        while self.overtaken.back().is_some_and(|&sent| !self.is_under_way(sent)) {
            self.overtaken.pop_back();
        }
        let later = self.overtaken.back().map(|sent| sent.time + patience);
        Detected { newly_lost: Segments(newly_lost), has_lost_retransmission, next: later }
    }

    /// Moves the transmissions before the latest one that has arrived to `overtaken`.
    fn find_overtaken(&mut self) {
        let latest = self.latest().order();
        self.next_original = self.next_original.max(self.snd_una);
        loop {
            let original = self.first_original();
            self.drop_finished_retransmissions();
            let resent = self.resent.front().copied();
            let original_comes_first = match (original, resent) {
                (Some(original), Some(resent)) => original.order() < resent.order(),
                (original, _) => original.is_some(),
            };
            let Some(sent) = (if original_comes_first { original } else { resent }).filter(|sent| sent.order() < latest) else {
                break;
            };
            if original_comes_first {
                self.next_original = sent.segment.next();
            } else {
                self.resent.pop_front();
            }
            self.overtaken.push_back(sent);
        }
    }

    /// Time of the last transmission of an outstanding segment.
    pub(crate) fn sent_at(&self, segment: SegmentNumber) -> Option<Time> {
        let place = segment.position_from(self.snd_una)?;
        self.segments.get(place).map(|sent| sent.xmit_ts)
    }

    fn was_retransmitted(&self, segment: SegmentNumber) -> bool {
        self.segments.get((segment - self.snd_una).0 as usize).is_some_and(|sent| sent.retransmitted)
    }

    fn mark_lost(&mut self, segment: SegmentNumber) {
        if let Some(sent) = self.segments.get_mut((segment - self.snd_una).0 as usize) {
            sent.fate = Fate::Lost;
        }
        self.in_flight -= 1;
        self.lost.add(segment);
        self.lost_end = self.lost_end.max(segment.next());
    }

    /// Section 6.3: the retransmission timer expired. The oldest segment is lost, and segments sent at least an RTT and the reordering
    /// window ago.
    pub(crate) fn on_timeout(&mut self, known: &DetectionContext, mut lose: impl FnMut(SegmentNumber)) {
        if !known.is_recovering && self.segs_sacked() >= known.dup_thresh {
            // Losses were taken for reordering.
            self.reordering_extent = self.reordering_extent.min(known.dup_thresh);
        }
        let patience = self.rtt + self.reo_wnd(known);
        for segment in SegmentNumber::range(self.snd_una..self.snd_una + Segments(self.segments.len() as u32)) {
            let Some(&Sent { fate, xmit_ts, .. }) = self.segments.get((segment - self.snd_una).0 as usize) else { break };
            if fate == Fate::InFlight && (segment == self.snd_una || xmit_ts + patience <= known.now) {
                self.mark_lost(segment);
                lose(segment);
            }
        }
    }

    /// The earliest first transmission that is neither over nor overtaken.
    #[inline]
    fn first_original(&mut self) -> Option<Transmission> {
        loop {
            let sent = self.segments.get((self.next_original - self.snd_una).0 as usize)?;
            if sent.fate == Fate::InFlight && !sent.retransmitted {
                return Some(Transmission { time: sent.xmit_ts, segment: self.next_original });
            }
            count_step();
            self.next_original = self.next_original.next();
        }
    }

    /// Whether this is the last transmission of its segment, and the segment has neither arrived nor been lost.
    fn is_under_way(&self, sent: Transmission) -> bool {
        count_step();
        let state = sent.segment.position_from(self.snd_una).and_then(|place| self.segments.get(place));
        state.is_some_and(|known| known.fate == Fate::InFlight && known.xmit_ts == sent.time)
    }

    #[inline]
    pub(super) fn drop_finished_retransmissions(&mut self) {
        while self.resent.front().is_some_and(|&sent| !self.is_under_way(sent)) {
            self.resent.pop_front();
        }
    }
}
