//! SACK as used in bpd-2001 section 6.1: a counted pipe instead of a derived one. It starts at W - 3, grows with each segment sent, and
//! falls by one for a duplicate that reports a new segment and by two for a partial acknowledgement.
//!
//! Differs from RFC 6675: lost segments are not distinguished from reordered ones, and a lost retransmission waits for the timeout.

use super::episode_scoreboard::EpisodeScoreboard;
use super::outcome::{AckRecovery, DuplicateOutcome, LossRecovery, NewAck, NewAckOutcome, NextSegment, Reduction, SenderView};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::Segments;
use crate::tcp::scoreboard::Scoreboard;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct BpdSack {
    board: EpisodeScoreboard,
}

impl LossRecovery for BpdSack {
    const USES_SACK: bool = true;

    fn on_entered(&mut self, known: &SenderView, reduced: Option<Reduction>) {
        let board = self.board.on_entered(known);
        let window = reduced.map_or(Segments(0), |reduced| reduced.before);
        board.counted_pipe = i64::from(window.0) - i64::from(board.duplicates) + 1;
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

impl AckRecovery for BpdSack {
    #[inline(always)]
    fn on_plain_ack(&mut self) -> bool {
        self.board.get().is_none()
    }

    fn on_new_ack(&mut self, known: &SenderView, ack: &NewAck) -> NewAckOutcome {
        let outcome = self.board.on_new_ack(known, ack.blocks);
        if let NewAckOutcome::Continues = outcome {
            self.board.get_mut().counted_pipe -= 2;
        }
        outcome
    }

    fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome {
        if blocks.is_empty() {
            // It responds to a needless retransmission and does not indicate a loss.
            return DuplicateOutcome::Nothing;
        }
        let board = self.board.get_mut();
        board.duplicates += 1;
        let new = board.report(known.sequence.snd_una, blocks);
        if known.phase().is_recovery() {
            board.counted_pipe -= i64::from(new.0.min(1));
        } else if known.is_open() && known.threshold_reached(board.duplicates) {
            return known.enter(0);
        }
        DuplicateOutcome::Nothing
    }

    fn next_in_recovery(&mut self, known: &SenderView) -> NextSegment {
        let board = self.board.get_mut();
        if board.counted_pipe as f64 + 1.0 > known.window().0.floor() {
            return NextSegment::Nothing;
        }
        let hole = board.next_hole(known.sequence.snd_una);
        if hole.is_none() && known.sequence.snd_max >= known.sendable() {
            return NextSegment::Nothing;
        }
        board.counted_pipe += 1;
        hole.map_or(NextSegment::New, |hole| {
            board.resend(hole);
            NextSegment::Lost(hole)
        })
    }
}
