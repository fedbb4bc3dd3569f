//! The scoreboard of recoveries that use SACK during an episode only.

use super::outcome::{NewAckOutcome, SenderView};
use crate::primitives::segment_number::SackBlock;
use crate::tcp::scoreboard::Scoreboard;
use serde::{Deserialize, Serialize};

/// Present from the first report to the end of the episode.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct EpisodeScoreboard(Option<Box<Scoreboard>>);

impl EpisodeScoreboard {
    #[inline(always)]
    pub(super) fn get(&self) -> Option<&Scoreboard> {
        self.0.as_deref()
    }

    pub(super) fn get_mut(&mut self) -> &mut Scoreboard {
        self.0.get_or_insert_default()
    }

    /// New data is acknowledged, which ends the episode if that is all data that was outstanding at its beginning.
    pub(super) fn on_new_ack(&mut self, known: &SenderView, blocks: &[SackBlock]) -> NewAckOutcome {
        let (snd_una, recovery_point) = (known.sequence.snd_una, known.sequence.recovery_point);
        if self.0.is_some() || !blocks.is_empty() {
            let board = self.get_mut();
            board.duplicates = 0;
            board.acknowledge(snd_una);
            board.report(snd_una, blocks);
        }
        let outcome = match () {
            () if !known.phase().is_recovery() => NewAckOutcome::Opens,
            () if snd_una >= recovery_point => NewAckOutcome::Ends { recovery_point, limit: None },
            () => return NewAckOutcome::Continues,
        };
        self.0.take_if(|board| board.is_empty());
        outcome
    }

    /// Fast recovery has begun, with a retransmission of the oldest segment.
    pub(super) fn on_entered(&mut self, known: &SenderView) -> &mut Scoreboard {
        let board = self.get_mut();
        board.begin_recovery(known.sequence.snd_una);
        board.resend(known.sequence.snd_una);
        board
    }

    /// A timeout discards SACK information (RFC 2018 section 8).
    pub(super) fn on_timeout(&mut self) {
        self.0 = None;
    }
}
