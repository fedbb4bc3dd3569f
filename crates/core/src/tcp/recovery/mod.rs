//! Loss recovery, one file per algorithm: the interpretation of duplicate acknowledgements, the segments to retransmit, and the end of the
//! episode.

mod episode_scoreboard;
pub(in crate::tcp) mod outcome;

use self::outcome::{
    AckRecovery, Delivered, DuplicateOutcome, LossDetection, LossRecovery, Losses, NewAck, NewAckOutcome, NextSegment, Reduction,
    Report, SavedState, SenderView, TimeRecovery,
};
use super::scoreboard::Scoreboard;
use super::sequence::{IncomingAck, Sequence};
use super::spec::Recovery;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Segments, Time};
use crate::settings::dispatch;
use serde::{Deserialize, Serialize};

/// The recovery of one sender, with its state.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Recoveries {
    ByAcks(AckRecoveries),
    ByTime(TimeRecoveries),
}

/// The recoveries, their states and dispatch, from one list: a new recovery is a file, a setting and a line here.
macro_rules! recoveries {
    (by_acks { $($ack_module:ident::$by_acks:ident,)+ } by_time { $($time_module:ident::$by_time:ident,)+ }) => {
        $(mod $ack_module;)+
        $(mod $time_module;)+

        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum AckRecoveries { $($by_acks($ack_module::$by_acks)),+ }

        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub(crate) enum TimeRecoveries { $($by_time($time_module::$by_time)),+ }

        impl Recoveries {
            pub(in crate::tcp) fn new(kind: Recovery) -> Recoveries {
                match kind {
                    $(Recovery::$by_acks => Recoveries::ByAcks(AckRecoveries::$by_acks(Default::default())),)+
                    $(Recovery::$by_time => Recoveries::ByTime(TimeRecoveries::$by_time(Default::default())),)+
                }
            }

            /// The state is not used here.
            pub(crate) fn forget(&mut self) {
                match self {
                    $(Recoveries::ByAcks(AckRecoveries::$by_acks(recovery)) => *recovery = Default::default(),)+
                    $(Recoveries::ByTime(TimeRecoveries::$by_time(recovery)) => *recovery = Default::default(),)+
                }
            }
        }

        impl Recovery {
            /// Whether the receiver should report SACK blocks.
            pub fn uses_sack(self) -> bool {
                recoveries!(self, USES_SACK, [$($ack_module::$by_acks,)+ $($time_module::$by_time,)+])
            }

            /// Whether losses are detected by transmission times.
            pub fn is_by_time(self) -> bool {
                matches!(self, $(Recovery::$by_time)|+)
            }

            /// Bytes of a flow's state outside its sender.
            pub(crate) fn heap_bytes(self) -> usize {
                recoveries!(self, HEAP_BYTES, [$($ack_module::$by_acks,)+ $($time_module::$by_time,)+])
            }

            /// Bytes of this state per outstanding segment.
            pub(crate) fn bytes_per_segment(self) -> usize {
                recoveries!(self, BYTES_PER_SEGMENT, [$($ack_module::$by_acks,)+ $($time_module::$by_time,)+])
            }
        }

        common! { AckRecoveries: $($by_acks),+ }
        common! { TimeRecoveries: $($by_time),+ }

        impl AckRecovery for AckRecoveries {
            dispatch! { [AckRecoveries: $($by_acks),+]
                #[inline(always)]
                fn on_plain_ack(&mut self) -> bool;
                fn on_new_ack(&mut self, known: &SenderView, ack: &NewAck) -> NewAckOutcome;
                fn on_duplicate(&mut self, known: &SenderView, blocks: &[SackBlock]) -> DuplicateOutcome;
                fn next_in_recovery(&mut self, known: &SenderView) -> NextSegment;
                fn lost_below(&self, known: &SenderView) -> Option<SegmentNumber>;
            }
        }

        impl TimeRecovery for TimeRecoveries {
            dispatch! { [TimeRecoveries: $($by_time),+]
                fn on_arrival(&mut self, known: &SenderView, incoming: &IncomingAck) -> Delivered;
                fn on_report(&mut self, known: &SenderView, report: &Report) -> Option<SavedState>;
                fn on_probe_ack(&mut self, known: &SenderView, report: &Report) -> Option<Segments>;
                fn find_losses(&mut self, known: &SenderView, report: &Report, losses: Losses) -> LossDetection;
                fn on_reduction_ack(&mut self, known: &SenderView, report: &Report, found: &LossDetection);
                fn on_mark(&mut self, known: &SenderView, window: Segments) -> bool;
                fn covers_mark(&self, sequence: &Sequence, ack: SegmentNumber) -> bool;
                fn on_deadline(&mut self, known: &SenderView, losses: Losses) -> Option<LossDetection>;
                fn awaits_timeout(&self) -> bool;
                fn remember(&mut self, known: &SenderView, saved: Option<SavedState>);
                fn next_segment(&mut self, known: &SenderView) -> NextSegment;
                #[inline]
                fn on_sent(&mut self, known: &SenderView, segment: SegmentNumber, deadline: Time);
                #[inline]
                fn arm(&mut self, known: &SenderView, next: Option<Time>) -> Option<Time>;
                #[inline]
                fn rearm(&mut self, known: &SenderView) -> Option<Time>;
                fn permitted(&self) -> Option<Segments>;
                fn accounted_for(&self) -> Option<Segments>;
                fn count_probe(&mut self);
                fn probes(&self) -> u32;
            }
        }
    };
    ($kind:ident, $constant:ident, [$($module:ident::$member:ident,)+]) => {
        match $kind { $(Recovery::$member => <$module::$member as LossRecovery>::$constant),+ }
    };
}

/// Dispatch of the functions that all recoveries have.
macro_rules! common {
    ($enum:ident: $($variant:ident),+) => {
        impl LossRecovery for $enum {
            dispatch! { [$enum: $($variant),+]
                #[inline(always)]
                fn scoreboard(&self) -> Option<&Scoreboard>;
                fn sacked(&self) -> Segments;
                #[inline]
                fn pipe(&self, known: &SenderView) -> Segments;
                fn on_entered(&mut self, known: &SenderView, reduced: Option<Reduction>);
                fn on_timeout(&mut self, known: &SenderView) -> Vec<SegmentNumber>;
            }
        }
    };
}

recoveries! {
    by_acks {
        tahoe::Tahoe,
        reno::Reno,
        newreno::NewReno,
        sack::Sack,
        bpd_sack::BpdSack,
    }
    by_time {
        rack_tlp::RackTlp,
    }
}

common! { Recoveries: ByAcks, ByTime }

impl Recoveries {
    #[inline]
    pub(in crate::tcp) fn is_by_time(&self) -> bool {
        matches!(self, Recoveries::ByTime(_))
    }

    #[inline]
    pub(in crate::tcp) fn by_time(&self) -> Option<&TimeRecoveries> {
        if let Recoveries::ByTime(recovery) = self { Some(recovery) } else { None }
    }

    #[inline]
    pub(in crate::tcp) fn by_time_mut(&mut self) -> Option<&mut TimeRecoveries> {
        if let Recoveries::ByTime(recovery) = self { Some(recovery) } else { None }
    }

    /// For processing that only senders with a recovery by time have.
    #[inline]
    pub(in crate::tcp) fn expect_by_time(&mut self) -> &mut TimeRecoveries {
        match self {
            Recoveries::ByTime(recovery) => recovery,
            Recoveries::ByAcks(_) => unreachable!("the recovery counts acknowledgements"),
        }
    }

    /// The same for a recovery by acknowledgements.
    #[inline]
    pub(in crate::tcp) fn expect_by_acks(&mut self) -> &mut AckRecoveries {
        match self {
            Recoveries::ByAcks(recovery) => recovery,
            Recoveries::ByTime(_) => unreachable!("the recovery is by time"),
        }
    }
}
