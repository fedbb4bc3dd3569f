//! Loss recovery, one file per algorithm: the interpretation of duplicate acknowledgements, the segments to retransmit, and the end of the
//! episode.

mod episode_scoreboard;
pub(in crate::tcp) mod outcome;

use self::outcome::{
    Delivered, DuplicateOutcome, LossDetection, LossRecovery, Losses, NewAck, NewAckOutcome, NextSegment, Reduction, Report,
    SavedState, SenderView,
};
use super::scoreboard::Scoreboard;
use super::sequence::{IncomingAck, Sequence};
use super::spec::Recovery;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Segments, Time};
use crate::settings::dispatch;
use serde::{Deserialize, Serialize};

/// The recoveries, their states and dispatch, from one list: a new recovery is a file, a setting and a line here.
macro_rules! recoveries {
    ($($module:ident::$member:ident,)+) => {
        $(mod $module;)+

        /// The recovery of one sender, with its state.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum Recoveries { $($member($module::$member)),+ }

        impl Recoveries {
            pub(in crate::tcp) fn new(kind: Recovery) -> Recoveries {
                match kind { $(Recovery::$member => Recoveries::$member($module::$member::default())),+ }
            }

            /// The state is not used here.
            pub(crate) fn forget(&mut self) {
                match self { $(Recoveries::$member(recovery) => *recovery = $module::$member::default()),+ }
            }

            #[inline]
            pub(in crate::tcp) fn is_by_time(&self) -> bool {
                match self { $(Recoveries::$member(_) => $module::$member::BY_TIME),+ }
            }
        }

        impl Recovery {
            /// Whether the receiver should report SACK blocks.
            pub fn uses_sack(self) -> bool {
                match self { $(Recovery::$member => $module::$member::USES_SACK),+ }
            }

            /// Whether losses are detected by transmission times.
            pub fn is_by_time(self) -> bool {
                match self { $(Recovery::$member => $module::$member::BY_TIME),+ }
            }

            /// Bytes of a flow's state outside its sender.
            pub(crate) fn heap_bytes(self) -> usize {
                match self { $(Recovery::$member => $module::$member::HEAP_BYTES),+ }
            }

            /// Bytes of this state per outstanding segment.
            pub(crate) fn bytes_per_segment(self) -> usize {
                match self { $(Recovery::$member => $module::$member::BYTES_PER_SEGMENT),+ }
            }
        }

        impl LossRecovery for Recoveries {
            dispatch! { [Recoveries: $($member),+]
                #[inline(always)]
                fn on_plain_ack(&mut self) -> bool;
                fn on_new_ack(&mut self, known: &SenderView, ack: &NewAck) -> NewAckOutcome;
                fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome;
                fn next_in_recovery(&mut self, known: &SenderView) -> NextSegment;
                fn lost_below(&self, known: &SenderView) -> Option<SegmentNumber>;
                #[inline(always)]
                fn scoreboard(&self) -> Option<&Scoreboard>;
                fn sacked(&self) -> Segments;
                fn permitted(&self) -> Option<Segments>;
                #[inline]
                fn pipe(&self, known: &SenderView) -> Segments;
                fn accounted_for(&self) -> Option<Segments>;
                fn count_probe(&mut self);
                fn probes(&self) -> u32;
                fn on_arrival(&mut self, known: &SenderView, incoming: &IncomingAck) -> Delivered;
                fn on_report(&mut self, known: &SenderView, report: &Report) -> Option<SavedState>;
                fn on_probe_ack(&mut self, known: &SenderView, report: &Report) -> Option<Segments>;
                fn find_losses(&mut self, known: &SenderView, report: &Report, losses: Losses) -> LossDetection;
                fn on_reduction_ack(&mut self, known: &SenderView, report: &Report, found: &LossDetection);
                fn on_entered(&mut self, known: &SenderView, reduced: Option<Reduction>);
                fn on_mark(&mut self, known: &SenderView, window: Segments) -> bool;
                fn covers_mark(&self, sequence: &Sequence, ack: SegmentNumber) -> bool;
                fn on_deadline(&mut self, known: &SenderView, losses: Losses) -> Option<LossDetection>;
                fn awaits_timeout(&self) -> bool;
                fn remember(&mut self, known: &SenderView, saved: Option<SavedState>);
                fn on_timeout(&mut self, known: &SenderView) -> Vec<SegmentNumber>;
                fn next_by_time(&mut self, known: &SenderView) -> NextSegment;
                #[inline]
                fn on_sent(&mut self, known: &SenderView, segment: SegmentNumber, deadline: Time);
                #[inline]
                fn arm(&mut self, known: &SenderView, next: Option<Time>) -> Option<Time>;
                #[inline]
                fn rearm(&mut self, known: &SenderView) -> Option<Time>;
            }
        }
    };
}

recoveries! {
    tahoe::Tahoe,
    reno::Reno,
    newreno::NewReno,
    sack::Sack,
    bpd_sack::BpdSack,
    rack_tlp::RackTlp,
}
