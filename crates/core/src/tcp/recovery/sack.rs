//! SACK-based recovery (RFC 6675): the scoreboard determines lost segments and the amount of data in the network (`pipe`).

use super::episode_scoreboard::EpisodeScoreboard;
use super::outcome::{AckRecovery, DuplicateOutcome, LossRecovery, NewAck, NewAckOutcome, NextSegment, Reduction, SenderView};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use crate::tcp::scoreboard::Scoreboard;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sack {
    board: EpisodeScoreboard,
}

impl LossRecovery for Sack {
    const USES_SACK: bool = true;

    fn on_entered(&mut self, known: &SenderView, _reduced: Option<Reduction>) {
        self.board.on_entered(known);
    }

    fn scoreboard(&self) -> Option<&Scoreboard> {
        self.board.get()
    }

    fn pipe(&self, known: &SenderView) -> Segments {
        known.pipe_with(self.scoreboard())
    }

    fn on_timeout(&mut self, _known: &SenderView) -> Vec<SegmentNumber> {
        self.board.on_timeout();
        Vec::new()
    }
}

impl AckRecovery for Sack {
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.board.get().is_none()
    }

    fn on_new_ack(&mut self, known: &SenderView, ack: &NewAck) -> NewAckOutcome {
        self.board.on_new_ack(known, ack.blocks)
    }

    fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome {
        let snd_una = known.sequence.snd_una;
        // RFC 6675 section 2: without new SACK information it is not a duplicate.
        if blocks.is_empty() {
            return DuplicateOutcome::Nothing;
        }
        let board = self.board.get_mut();
        if board.report(snd_una, blocks) == Segments(0) {
            return DuplicateOutcome::Nothing;
        }
        board.duplicates += 1;
        if !known.is_open() {
            return DuplicateOutcome::Nothing;
        }
        let Some(dup_thresh) = known.spec.fast_retransmit else { return DuplicateOutcome::Nothing };
        if board.duplicates < dup_thresh && !board.is_lost(snd_una, Segments(dup_thresh)) {
            return known.limited_transmit(board.duplicates);
        }
        known.enter(0)
    }

    /// RFC 6675 section 5 step C with NextSeg of section 4.
    fn next_in_recovery(&mut self, known: &SenderView) -> NextSegment {
        let (snd_una, snd_max, recovery_point) = (known.sequence.snd_una, known.sequence.snd_max, known.sequence.recovery_point);
        let (dup_thresh, receiver_end) = (known.dup_thresh(), known.sendable());
        let board = self.board.get_mut();
        if board.pipe(snd_una..snd_max, dup_thresh) >= known.spec.usable(known.window()) {
            return NextSegment::Nothing;
        }
        let hole = board.next_hole(snd_una);
        // Rule 1: a hole that is lost. Rule 3: a hole that is not (yet) lost, if there is no new data (rule 2).
        if let Some(hole) = hole.filter(|&hole| snd_max >= receiver_end || board.is_lost(hole, dup_thresh)) {
            board.resend(hole);
            return NextSegment::Again(hole);
        }
        if snd_max < receiver_end {
            return NextSegment::New;
        }
        // Rule 4: once per recovery, the highest segment outstanding and not SACKed, so that the acknowledgement clock does not stop. It
        // may have been sent in this recovery, above the recovery point.
        if board.rescue_rxt_end >= recovery_point {
            return NextSegment::Nothing;
        }
        let Some(last) = board.last_missing(snd_una..snd_max) else { return NextSegment::Nothing };
        board.rescue_rxt_end = recovery_point;
        NextSegment::Again(last)
    }

    fn lost_below(&self, known: &SenderView) -> Option<SegmentNumber> {
        self.board.get()?.lost_below(known.dup_thresh())
    }
}

#[cfg(test)]
mod tests {
    use crate::congestion::Start;
    use crate::primitives::units::Segments;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::lossy_path::{LossyPath, ReceivedAck, Step};
    use crate::tcp::{Recovery, TcpSpec};
    use std::collections::BTreeSet;
    use std::ops::Range;

    #[test]
    fn the_rescue_is_the_highest_outstanding_segment_even_if_sent_in_recovery() {
        // 0..10 are sent, 0 is lost, the receiver has room for 12. The window is halved to five.
        let spec = TcpSpec { recovery: Recovery::Sack, receiver_window: Segments(12), ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 10.0, ssthresh: 10.0, ..Start::default() }, 100);
        assert_eq!(bench.send(), (0..10).collect::<Vec<_>>());
        let answers = (2..=10).map(|end| bench.process_ack(0, &[(1, end)]));
        // The third duplicate retransmits 0: 4 to 9 and the retransmission are in the network. Each report from the sixth on releases one
        // segment: new ones (rule 2) while the receiver has room, then 11 again (rule 4), then none, because there is one rescue.
        let expected = [vec![], vec![], vec![0], vec![], vec![], vec![10], vec![11], vec![11], vec![]];
        assert_eq!(answers.collect::<Vec<_>>(), expected);
    }

    /// RFC 6675 literally: every octet, here segment, is examined every time. Names are from the RFC.
    struct Literal {
        high_ack: u32,
        high_data: u32,
        high_rxt: u32,
        rescue_rxt: Option<u32>,
        recovery_point: Option<u32>,
        dup_acks: u32,
        sacked: BTreeSet<u32>,
    }

    impl Literal {
        /// Section 4: DupThresh discontiguous sequences above it, or more than DupThresh - 1 segments.
        fn is_lost(&self, segment: u32) -> bool {
            let above: Vec<u32> = self.sacked.range(segment + 1..).copied().collect();
            let sequences = above.iter().filter(|&&above| above == segment + 1 || !self.sacked.contains(&(above - 1))).count();
            sequences >= 3 || above.len() >= 3
        }

        fn set_pipe(&self) -> u32 {
            let outstanding = (self.high_ack..self.high_data).filter(|segment| !self.sacked.contains(segment));
            let counted = |segment: u32| u32::from(!self.is_lost(segment)) + u32::from(segment < self.high_rxt);
            outstanding.map(counted).sum()
        }

        fn next_seg(&mut self, receiver_end: u32) -> Option<u32> {
            let unsacked = |segments: Range<u32>| segments.filter(|segment| !self.sacked.contains(segment)).collect::<Vec<_>>();
            let highest_sacked = self.sacked.last().copied().unwrap_or(0);
            let holes = unsacked(self.high_rxt.max(self.high_ack)..highest_sacked);
            if let Some(&first) = holes.iter().find(|&&hole| self.is_lost(hole)) {
                return Some(first);
            }
            if self.high_data < receiver_end {
                return Some(self.high_data);
            }
            if let Some(&first) = holes.first() {
                return Some(first);
            }
            // Once per entry into recovery, the highest outstanding.
            let may_rescue = self.rescue_rxt.is_none_or(|rescue| self.high_ack > rescue);
            let last = unsacked(self.high_ack..self.high_data).last().copied().filter(|_| may_rescue)?;
            self.rescue_rxt = self.recovery_point;
            Some(last)
        }

        /// The segments sent in response to an acknowledgement. `cwnd`: the window after it.
        fn process_ack(&mut self, received: &ReceivedAck, cwnd: u32, receiver_window: u32) -> Vec<u32> {
            let known = self.sacked.len();
            self.sacked.extend(received.blocks.iter().flat_map(|block| block.0..block.1));
            let is_new = self.sacked.len() > known;
            let advances = received.ack > self.high_ack;
            self.high_ack = received.ack;
            self.high_rxt = self.high_rxt.max(self.high_ack);
            self.sacked.retain(|&segment| segment >= received.ack);
            let mut sent = Vec::new();
            if advances {
                self.dup_acks = 0;
                if self.recovery_point.is_some_and(|point| self.high_ack >= point) {
                    self.recovery_point = None;
                }
            } else if is_new && self.recovery_point.is_none() {
                self.dup_acks += 1;
                if self.dup_acks >= 3 || self.is_lost(self.high_ack) {
                    self.recovery_point = Some(self.high_data);
                    self.rescue_rxt = None;
                    sent.push(self.high_ack);
                    self.high_rxt = self.high_ack + 1;
                }
            }
            let receiver_end = self.high_ack + receiver_window;
            while self.recovery_point.is_some() && self.set_pipe() < cwnd {
                let Some(next) = self.next_seg(receiver_end) else { break };
                sent.push(next);
                if next >= self.high_data {
                    self.high_data = next + 1;
                } else if self.rescue_rxt != self.recovery_point || next < self.sacked.last().copied().unwrap_or(0) {
                    self.high_rxt = next + 1;
                }
            }
            while self.recovery_point.is_none() && self.high_data < self.high_ack + cwnd.min(receiver_window) {
                sent.push(self.high_data);
                self.high_data += 1;
            }
            sent
        }
    }

    #[test]
    fn on_random_losses_transmissions_match_the_rfc() {
        let (mut compared, mut recoveries) = (0, 0);
        for seed in 0..400 {
            let receiver_window = [1000, 25][seed as usize % 2];
            let spec = TcpSpec { recovery: Recovery::Sack, receiver_window: Segments(receiver_window), ..plain() };
            let start = Start { window: 8.0 + (seed % 20) as f64, ssthresh: 8.0, ..Start::default() };
            let mut path = LossyPath::new(SenderHarness::new(spec, start, u32::MAX), seed, [4, 10, 30][seed as usize % 3]);
            let high_data = path.bench.sender.sequence.snd_max.0;
            let mut literal = Literal {
                high_ack: 0,
                high_data,
                high_rxt: 0,
                rescue_rxt: None,
                recovery_point: None,
                dup_acks: 0,
                sacked: BTreeSet::new(),
            };
            // A timeout ends the comparison: the RFC does not specify the behaviour after it.
            while let Some(Step::ReceivedAck(received)) = path.step().filter(|_| path.bench.sender.sequence.snd_max.0 < 600) {
                let began = literal.recovery_point.is_some();
                let cwnd = path.bench.window() as u32;
                assert_eq!(
                    literal.process_ack(&received, cwnd, receiver_window),
                    received.sent,
                    "seed {seed}, acknowledgement of {}",
                    received.ack
                );
                compared += 1;
                recoveries += u32::from(literal.recovery_point.is_some() && !began);
            }
        }
        assert!(compared > 20_000 && recoveries > 1000, "{compared} acknowledgements, {recoveries} recoveries");
    }
}
