//! What a loss recovery reads, and the outcomes that it returns. Only the sender applies outcomes, in the order in which it requests them.

use crate::congestion::{Controller, Controllers};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use crate::tcp::pacer::Pacer;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sequence::{IncomingAck, Phase, Sequence};
use crate::tcp::spec::TcpSpec;
use crate::tcp::timer::{Clock, Estimator};

/// The state of the sender that a recovery may read.
#[derive(Clone, Copy)]
pub(in crate::tcp) struct SenderView<'a> {
    pub sequence: &'a Sequence,
    pub spec: &'a TcpSpec,
    pub estimator: &'a Estimator,
    pub pacer: &'a Pacer,
    pub controller: &'a Controllers,
    pub now: Time,
    /// Phase of the host's clock, for the BSD timer.
    pub clock_phase: TimeDelta,
}

/// An acknowledgement of new data, which `Sequence` has processed.
pub(in crate::tcp) struct NewAck<'a> {
    pub acked: Segments,
    pub blocks: &'a [SackBlock],
}

/// Outcome of an acknowledgement of new data.
pub(in crate::tcp) enum NewAckOutcome {
    /// There is no fast recovery: the controller processes the acknowledgement.
    Opens,
    /// Fast recovery continues.
    Continues,
    /// Fast recovery continues, and the oldest segment is lost and retransmitted. The window is inflated by this many more segments.
    Repairs { inflation: i32, timer: TimerAtRepair },
    /// Fast recovery is over, and the window is at most `limit`.
    Ends { recovery_point: SegmentNumber, limit: Option<Cwnd> },
}

/// The retransmission timer at the repair of a further hole.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum TimerAtRepair {
    Restarts,
    Runs,
}

/// Outcome of a duplicate acknowledgement.
pub(in crate::tcp) enum DuplicateOutcome {
    Nothing,
    /// The window is inflated by this many segments in total.
    Inflates(i32),
    /// Fast recovery begins.
    Enters(RecoveryEntry),
    /// The segment is lost as if the timer had expired.
    Restarts,
}

/// Start of fast recovery.
pub(in crate::tcp) struct RecoveryEntry {
    /// It begins with a retransmission, whatever the window.
    pub repairs: bool,
    /// Segments by which the window is inflated.
    pub inflation: i32,
    /// RecoverFS (RFC 9937 section 6.2): the outstanding segments, without those delivered before.
    pub recover_fs: Segments,
}

/// The next segment to send.
pub(in crate::tcp) enum NextSegment {
    /// The next one in order within the window.
    InWindow,
    /// The first one that has never been sent.
    New,
    /// The same, and nothing else may be sent now.
    LastNew,
    Again(SegmentNumber),
    /// Again, and it counts as lost.
    Lost(SegmentNumber),
    Nothing,
}

/// Segments that an acknowledgement acknowledges or SACKs for the first time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::tcp) struct Delivered {
    pub segments: Segments,
    /// RTT of the oldest of them that was sent once.
    pub rtt: Option<TimeDelta>,
    /// The lowest of them that was sent once.
    pub original: Option<SegmentNumber>,
    /// The acknowledgement reports a duplicate (RFC 2883).
    pub is_dsack: bool,
    /// It opens the window even if it does not advance.
    pub opens_window: bool,
    /// Outside an episode, only the oldest segments have arrived, each of them sent once: nothing is to be detected, probed or undone.
    pub is_in_order: bool,
}

/// An acknowledgement, processed as a report of deliveries.
pub(in crate::tcp) struct Report<'a> {
    pub incoming: &'a IncomingAck<'a>,
    pub delivered: Delivered,
    /// Segments by which it advances.
    pub advanced: Segments,
}

/// Outcome of loss detection.
#[derive(Default)]
pub(in crate::tcp) struct LossDetection {
    /// The present episode is over.
    pub ends: bool,
    pub newly_lost: Segments,
    /// One of them had been retransmitted.
    pub has_lost_retransmission: bool,
    /// The newly lost segments, if the controller requests each loss.
    pub lost: Vec<SegmentNumber>,
    /// Time of the next detection, if one is due.
    pub next: Option<Time>,
    pub enters: Option<RecoveryEntry>,
    /// Instead of a detection, a tail loss probe is due.
    pub probes: bool,
}

/// Whether each lost segment is reported.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::tcp) enum Losses {
    Counted,
    Listed,
}

/// State of the sender before a reduction. Its restoration undoes the reduction.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(in crate::tcp) struct SavedState {
    /// The controller with all of its state (RFC 9438 section 4.9).
    pub controller: Controllers,
    /// Position of the previous reduction.
    pub reduced_at: SegmentNumber,
}

/// A reduction that has been made: until its end it governs transmission.
pub(in crate::tcp) struct Reduction {
    /// The window before and after it.
    pub before: Segments,
    pub after: Segments,
    pub recover_fs: Segments,
    /// The state before it, if it can be undone.
    pub saved: Option<SavedState>,
}

impl SenderView<'_> {
    /// DupThresh of RFC 6675 and RFC 8985.
    #[inline]
    pub fn dup_thresh(&self) -> Segments {
        Segments(self.spec.fast_retransmit.unwrap_or(3))
    }

    /// The averaged RTT, if there is one.
    #[inline]
    pub fn srtt(&self) -> Option<TimeDelta> {
        self.estimator.round_trip(&self.spec.timer)
    }

    /// Expiry of a timeout that begins now.
    #[inline]
    pub fn timeout(&self) -> Time {
        self.timeout_since(self.now)
    }

    /// Expiry of a timeout that began then.
    #[inline]
    pub fn timeout_since(&self, start: Time) -> Time {
        self.estimator.deadline(Clock { now: start, spec: &self.spec.timer, phase: self.clock_phase })
    }

    /// Expiry of a timeout of the data that the pacer may hold back.
    #[inline]
    pub fn paced_timeout(&self) -> Time {
        self.timeout() + self.pacing_delay()
    }

    /// Time by which the pacer delays a timer that is set now.
    #[inline]
    pub fn pacing_delay(&self) -> TimeDelta {
        if self.spec.timer.after_pacing { self.pacer.delay(self.now) } else { TimeDelta::ZERO }
    }

    /// The pipe without SACK: each duplicate reports an arrival.
    #[inline]
    pub fn pipe_without(&self, duplicates: u32) -> Segments {
        Segments(self.sequence.in_flight().0.saturating_sub(duplicates))
    }

    /// The pipe of RFC 6675; without a scoreboard nothing has been SACKed.
    #[inline]
    pub fn pipe_with(&self, board: Option<&Scoreboard>) -> Segments {
        let Some(board) = board else { return self.pipe_without(0) };
        board.pipe(self.sequence.snd_una..self.sequence.snd_max, self.dup_thresh())
    }

    #[inline]
    pub fn window(&self) -> Cwnd {
        self.controller.window()
    }

    #[inline]
    pub fn phase(&self) -> Phase {
        self.sequence.phase
    }

    #[inline]
    pub fn is_open(&self) -> bool {
        self.sequence.phase == Phase::Open
    }

    /// One past the last available segment that the receiver has room for.
    #[inline]
    pub fn sendable(&self) -> SegmentNumber {
        self.sequence.snd_una.saturating_add(self.spec.receiver_window).min(self.sequence.limit)
    }

    /// Without SACK, duplicate acknowledgements may start a fast retransmit only once more than the data outstanding in the last episode is
    /// acknowledged (RFC 6582 section 3.2 step 2; NS compares `highest_ack_ > recover_` in the same way; bpd-2001 does not specify it, D-13
    /// of its reference). Exactly that data is not enough: duplicates of it come from its own needless retransmissions.
    ///
    /// With SACK a duplicate identifies the arrived segments, so the end of the last episode is sufficient, and after a timeout the
    /// acknowledgement of all outstanding data (RFC 6675 section 5.1), which ends [`Phase::Timeout`].
    #[inline]
    pub fn may_enter_without_sack(&self) -> bool {
        let Sequence { snd_una, recovery_point, .. } = *self.sequence;
        self.is_open() && (snd_una > recovery_point || recovery_point == SegmentNumber::FIRST)
    }

    #[inline]
    pub fn threshold_reached(&self, duplicates: u32) -> bool {
        self.spec.fast_retransmit == Some(duplicates)
    }

    /// RFC 3042: one new segment for each of the first two duplicate acknowledgements below the threshold.
    #[inline]
    pub fn limited_transmit(&self, duplicates: u32) -> DuplicateOutcome {
        if self.spec.limited_transmit && self.spec.fast_retransmit.is_some_and(|threshold| duplicates < threshold) {
            return DuplicateOutcome::Inflates(duplicates.min(2) as i32);
        }
        DuplicateOutcome::Nothing
    }

    /// Fast recovery begins with the oldest segment.
    #[inline]
    pub fn enter(&self, inflation: i32) -> DuplicateOutcome {
        DuplicateOutcome::Enters(RecoveryEntry { repairs: true, inflation, recover_fs: self.sequence.outstanding() })
    }
}

/// A loss recovery: it interprets acknowledgements, selects segments to retransmit, and ends episodes. It is an [`AckRecovery`] or a
/// [`TimeRecovery`]; both have these functions.
pub(in crate::tcp) trait LossRecovery {
    /// Whether the receiver should report SACK blocks.
    const USES_SACK: bool = false;
    /// Bytes of state outside the sender while data is outstanding, and bytes per outstanding segment, as far as they are large.
    const HEAP_BYTES: usize = 0;
    const BYTES_PER_SEGMENT: usize = 0;

    /// The SACKed segments, if there are any.
    fn scoreboard(&self) -> Option<&Scoreboard> {
        None
    }
    /// Number of SACKed segments.
    fn sacked(&self) -> Segments {
        self.scoreboard().map_or(Segments(0), Scoreboard::sacked)
    }
    /// The estimated number of segments in the network.
    fn pipe(&self, known: &SenderView) -> Segments;
    /// Fast recovery has begun, with a reduction unless it was in progress.
    fn on_entered(&mut self, _known: &SenderView, _reduced: Option<Reduction>) {}
    /// A retransmission timeout, which ends the episode. Returns the lost segments of a recovery by time; otherwise all outstanding
    /// segments are lost.
    fn on_timeout(&mut self, known: &SenderView) -> Vec<SegmentNumber>;
}

/// A recovery that counts cumulative acknowledgements and their duplicates. The sender's timer is that of RFC 6298.
pub(in crate::tcp) trait AckRecovery: LossRecovery {
    /// New data is acknowledged outside fast recovery, without SACK blocks. Returns whether that is all, because no segment is SACKed.
    fn on_plain_ack(&mut self) -> bool;
    /// Any other acknowledgement of new data.
    fn on_new_ack(&mut self, _known: &SenderView, _ack: &NewAck) -> NewAckOutcome {
        self.on_plain_ack();
        NewAckOutcome::Opens
    }
    /// A duplicate arrived.
    fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome;
    /// The next segment during fast recovery.
    fn next_in_recovery(&mut self, _known: &SenderView) -> NextSegment {
        NextSegment::InWindow
    }
    /// Segments below this that are not SACKed are lost, for controllers that request each loss.
    fn lost_below(&self, _known: &SenderView) -> Option<SegmentNumber> {
        None
    }
}

/// A recovery that processes each delivered segment and detects losses by transmission times. It uses the sender's timer for its own
/// purposes as well.
pub(in crate::tcp) trait TimeRecovery: LossRecovery {
    /// An acknowledgement arrived that is not older than the last one.
    fn on_arrival(&mut self, known: &SenderView, incoming: &IncomingAck) -> Delivered;
    /// Returns the state to restore if the report shows that the last reduction was spurious.
    fn on_report(&mut self, known: &SenderView, report: &Report) -> Option<SavedState>;
    /// The report may acknowledge a probe. Returns the data that was outstanding at a probe that has repaired a loss.
    fn on_probe_ack(&mut self, known: &SenderView, report: &Report) -> Option<Segments>;
    fn find_losses(&mut self, known: &SenderView, report: &Report, losses: Losses) -> LossDetection;
    /// Data was delivered during a reduction.
    fn on_reduction_ack(&mut self, known: &SenderView, report: &Report, found: &LossDetection);
    /// The window has been reduced for a mark. Returns whether the reduction is an episode.
    fn on_mark(&mut self, known: &SenderView, window: Segments) -> bool;
    /// Whether the response to an earlier event covers a mark echoed by this acknowledgement.
    fn covers_mark(&self, sequence: &Sequence, ack: SegmentNumber) -> bool;
    /// The timer has expired. None if that is a retransmission timeout.
    fn on_deadline(&mut self, known: &SenderView, losses: Losses) -> Option<LossDetection>;
    /// Whether the timer runs for a retransmission timeout.
    fn awaits_timeout(&self) -> bool;
    /// The window is about to be reduced by a timeout; the state before can be restored.
    fn remember(&mut self, known: &SenderView, saved: Option<SavedState>);
    /// The segment to send now.
    fn next_segment(&mut self, known: &SenderView) -> NextSegment;
    /// A segment was sent. `deadline`: the expiry of the timer before.
    fn on_sent(&mut self, known: &SenderView, segment: SegmentNumber, deadline: Time);
    /// The timer needs another purpose. `next`: the next detection of losses. Returns its expiry, unless it depends on the segments that are
    /// sent now.
    fn arm(&mut self, known: &SenderView, next: Option<Time>) -> Option<Time>;
    /// All segments were sent that may be sent now. Returns the expiry of the timer, if it has changed.
    fn rearm(&mut self, known: &SenderView) -> Option<Time>;
    /// Segments that may still be sent because of the last acknowledgement, during a reduction that is spread over an RTT.
    fn permitted(&self) -> Option<Segments>;
    /// Outstanding segments according to their states, if it has any; none if these are inconsistent with the counters.
    fn accounted_for(&self) -> Option<Segments>;
    /// Adds a tail loss probe to the counter.
    fn count_probe(&mut self);
    /// Number of counted tail loss probes.
    fn probes(&self) -> u32;
}
