//! The sequence state of a sender: the segments sent and acknowledged, the phase of loss recovery, and the counters. Only the sender changes
//! it; its parts read it.

use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// State of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    Open,
    /// Fast recovery.
    Recovery,
    /// The retransmissions after a timeout are not all acknowledged.
    Timeout,
    /// The window is being reduced for a mark; only for recoveries that spread a reduction over an RTT.
    Reducing,
}

impl Phase {
    #[inline]
    pub(crate) fn is_recovery(self) -> bool {
        self == Phase::Recovery
    }

    /// Whether the window is being reduced, and acknowledgements do not open it.
    #[inline]
    pub(crate) fn is_reduction(self) -> bool {
        matches!(self, Phase::Recovery | Phase::Reducing)
    }
}

/// Report to the receiver that is due with the next new segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum EcnReport {
    Nothing,
    /// The window has been reduced (CWR).
    Reduction,
    /// The connection does without ECN, although its settings have it.
    WithoutEcn,
}

/// The unit is the segment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Sequence {
    /// Oldest unacknowledged segment.
    pub(crate) snd_una: SegmentNumber,
    /// Next segment to send in order; falls back to `snd_una` on a timeout.
    pub(crate) snd_nxt: SegmentNumber,
    /// One past the highest segment ever sent.
    pub(crate) snd_max: SegmentNumber,
    /// One past the last segment to send; for an application, past the segments handed over.
    pub(crate) limit: SegmentNumber,
    /// `snd_max` when the present or the last episode began.
    pub(crate) recovery_point: SegmentNumber,
    /// Segments by which fast recovery and limited transmit inflate the window.
    pub(crate) extra: i32,
    /// `snd_max` when the window was last reduced: segments below it were sent with a larger window.
    reduced_at: SegmentNumber,
    ecn_report: EcnReport,
    /// A retransmission is to be sent now, whatever the window.
    pub(crate) repairs: bool,
    pub(crate) phase: Phase,
    /// Nothing has been acknowledged since the last timeout.
    pub(crate) timed_out: bool,
    /// Time of the last transmission or timeout, and of the acknowledgement of all data of a stopped flow.
    pub(crate) last_active: Time,
    pub(crate) counts: SenderCounts,
}

/// Counters of a sender. They cover the measured part of the run unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct SenderCounts {
    /// Over the whole run, for the conservation check.
    pub(crate) sent_in_all: u32,
    pub(crate) sent: u32,
    pub(crate) retransmitted: u32,
    pub(crate) fast_retransmits: u32,
    pub(crate) timeouts: u32,
    pub(crate) rtt_samples: u32,
    pub(crate) rtt_sum: TimeDelta,
    /// Time spent waiting for timeouts: from the last transmission to the expiry, if that was before the receiver had all data.
    pub(crate) idle: TimeDelta,
}

/// An acknowledgement as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingAck<'a> {
    /// Next segment expected by the receiver.
    pub(crate) ack: SegmentNumber,
    pub(crate) blocks: &'a [SackBlock],
    /// Transmission time of the segment that caused it.
    pub(crate) echo: Time,
}

impl Sequence {
    pub(crate) fn new(limit: SegmentNumber) -> Sequence {
        Sequence {
            snd_una: SegmentNumber::FIRST,
            snd_nxt: SegmentNumber::FIRST,
            snd_max: SegmentNumber::FIRST,
            limit,
            recovery_point: SegmentNumber::FIRST,
            extra: 0,
            reduced_at: SegmentNumber::FIRST,
            ecn_report: EcnReport::Nothing,
            repairs: false,
            phase: Phase::Open,
            timed_out: false,
            last_active: Time::ZERO,
            counts: SenderCounts::default(),
        }
    }

    /// New data is acknowledged, which ends the repair of a timeout if it is all data that was outstanding then.
    #[inline(always)]
    pub(in crate::tcp) fn end_timeout(&mut self) {
        if self.phase == Phase::Timeout {
            self.timed_out = false;
            if self.snd_una >= self.recovery_point {
                self.phase = Phase::Open;
            }
        }
    }

    /// The window has been reduced: the next new segment reports it.
    pub(in crate::tcp) fn note_reduction(&mut self) {
        self.reduced_at = self.snd_max;
        self.set_ecn_report(EcnReport::Reduction);
    }

    pub(in crate::tcp) fn reduced_at(&self) -> SegmentNumber {
        self.reduced_at
    }

    /// The last reduction is undone, and the receiver is not notified of it: the response to a mark that it seemed to be is still due.
    pub(in crate::tcp) fn withdraw_reduction(&mut self, reduced_at: SegmentNumber) {
        self.reduced_at = reduced_at;
        self.set_ecn_report(EcnReport::Nothing);
    }

    fn set_ecn_report(&mut self, report: EcnReport) {
        if self.ecn_report != EcnReport::WithoutEcn {
            self.ecn_report = report;
        }
    }

    /// The connection has ECN after all.
    pub(in crate::tcp) fn accept_ecn(&mut self) {
        self.ecn_report = EcnReport::Nothing;
    }

    /// The connection does without ECN from now on.
    pub(in crate::tcp) fn refuse_ecn(&mut self) {
        self.ecn_report = EcnReport::WithoutEcn;
    }

    pub(in crate::tcp) fn is_without_ecn(&self) -> bool {
        self.ecn_report == EcnReport::WithoutEcn
    }

    /// Whether the new segment that is sent now reports a reduction.
    #[inline(always)]
    pub(in crate::tcp) fn reports_reduction(&mut self) -> bool {
        let is_due = self.ecn_report == EcnReport::Reduction;
        if is_due {
            self.ecn_report = EcnReport::Nothing;
        }
        is_due
    }

    pub(crate) fn has_sent(&self) -> bool {
        self.snd_max > SegmentNumber::FIRST
    }

    /// Segments sent in order and not acknowledged.
    #[inline]
    pub(crate) fn in_flight(&self) -> Segments {
        self.snd_nxt - self.snd_una
    }

    /// Segments sent and not acknowledged.
    #[inline]
    pub(crate) fn outstanding(&self) -> Segments {
        self.snd_max - self.snd_una
    }

    /// Whether all requested data is delivered.
    pub(crate) fn is_done(&self) -> bool {
        self.snd_una >= self.limit
    }
}
