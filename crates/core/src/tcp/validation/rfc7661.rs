//! RFC 7661: a window is validated while at least half of it is used. A window that is not validated stays unchanged for five minutes; on
//! congestion, the amount in use is reduced instead.
//!
//! Differs: bursts in the non-validated phase are not limited (section 4.4.2), unless the settings have `pacing`; R (section 4.4.1)
//! excludes marks and includes needless retransmissions; and the response to a timeout is that of RFC 5681, with the outstanding data.

use super::change::Moment;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use crate::tcp::sequence::Sequence;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The Non-Validated Period (section 4.4.3).
const NON_VALIDATED_PERIOD: TimeDelta = TimeDelta::from_millis(5 * 60 * 1000);
/// The pipeACK Sampling Period is three RTTs, at least this (section 4.2).
const SAMPLING_PERIOD: TimeDelta = TimeDelta::from_millis(1000);
/// Number of measurement periods in it (section 4.5.1).
const MEASUREMENT_PERIODS: usize = 4;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rfc7661 {
    /// The last measurement periods with samples, the latest last. None while pipeACK is undefined: at the start and after losses.
    measured: [Option<Measured>; MEASUREMENT_PERIODS],
    /// Length of the sampling period when the last sample was taken.
    period: TimeDelta,
    /// pipeACK is first measured when everything below this is acknowledged.
    first_round_until: Option<SegmentNumber>,
    /// Outstanding new segments: the first one after each acknowledgement.
    sent: VecDeque<Sent>,
    /// Time at which the window was last validated; it is validated while pipeACK is undefined.
    validated_at: Time,
    recovery: Option<Recovery>,
}

/// A measurement period: its start and its largest sample.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Measured {
    since: Time,
    largest: Segments,
}

/// A segment, and the oldest outstanding one when it was sent: the segments between them are acknowledged in its RTT.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sent {
    segment: SegmentNumber,
    snd_una: SegmentNumber,
}

/// A reduction in progress.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Recovery {
    /// max(pipeACK, LossFlightSize), if the window was not validated.
    in_use: Option<Segments>,
    /// The window as reduced by the controller.
    window: f64,
    /// R: retransmitted segments, each counted once.
    resent: Segments,
    /// Segments below this have been counted.
    resent_below: SegmentNumber,
}

impl Rfc7661 {
    /// Bytes per outstanding segment.
    pub(crate) const BYTES_PER_SEGMENT: usize = 2 * size_of::<Sent>();

    /// Section 4.2: the largest sample within the sampling period.
    pub(super) fn pipe_ack(&self, now: Time) -> Segments {
        let recent = self.measured.iter().flatten().filter(|measured| now.since(measured.since) <= self.period);
        recent.map(|measured| measured.largest).max().unwrap_or(Segments(0))
    }

    /// Section 4.3.
    pub(super) fn is_validated(&self, Cwnd(window): Cwnd, now: Time) -> bool {
        self.measured.iter().all(Option::is_none) || 2.0 * f64::from(self.pipe_ack(now).0) >= window.floor()
    }

    /// New data is acknowledged up to `ack`. pipeACK is measured at each acknowledgement: once per RTT would suffice (section 4.2), but
    /// would then lag behind a window that doubles in slow start, and end slow start.
    pub(super) fn on_new_ack(&mut self, sequence: &Sequence, ack: SegmentNumber, moment: &Moment) {
        let Moment { now, window, rtt } = *moment;
        self.note_validated(window, now);
        let mut sent = None;
        while let Some(&first) = self.sent.front().filter(|first| first.segment < ack) {
            sent = Some(first);
            if self.sent.get(1).is_none_or(|next| next.segment >= ack) {
                break;
            }
            self.sent.pop_front();
        }
        // A measurement is the data acknowledged in a whole RTT; none is made during loss recovery (section 4.2).
        let until = *self.first_round_until.get_or_insert(sequence.snd_max);
        let is_measured = ack >= until && !sequence.phase.is_reduction();
        if let Some(sent) = sent.filter(|_| is_measured) {
            // Timestamps or not, the acknowledgement that ends the first round has provided a sample.
            self.sample(now, ack - sent.snd_una, rtt.unwrap_or(TimeDelta::ZERO));
        }
    }

    pub(super) fn on_new(&mut self, segment: SegmentNumber, sequence: &Sequence) {
        let snd_una = sequence.snd_una;
        if self.sent.back().is_none_or(|last| last.snd_una != snd_una) {
            self.sent.push_back(Sent { segment, snd_una });
        }
    }

    fn sample(&mut self, now: Time, volume: Segments, rtt: TimeDelta) {
        self.period = SAMPLING_PERIOD.max(rtt + rtt + rtt);
        let measurement = self.period.0 / MEASUREMENT_PERIODS as u64;
        match self.measured.last_mut() {
            Some(Some(last)) if now.since(last.since).0 < measurement => last.largest = last.largest.max(volume),
            _ => {
                self.measured.rotate_left(1);
                self.measured[MEASUREMENT_PERIODS - 1] = Some(Measured { since: now, largest: volume });
            }
        }
    }

    /// Section 4.4.3: the number of periods at whose ends the window had not been validated.
    pub(super) fn ended_periods(&mut self, window: Cwnd, now: Time) -> u32 {
        self.note_validated(window, now);
        let mut ended = 0;
        while now.since(self.validated_at) > NON_VALIDATED_PERIOD {
            self.validated_at += NON_VALIDATED_PERIOD;
            ended += 1;
        }
        ended
    }

    fn note_validated(&mut self, window: Cwnd, now: Time) {
        if self.is_validated(window, now) {
            self.validated_at = now;
        }
    }

    pub(super) fn on_resent(&mut self, segment: SegmentNumber) {
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| segment >= recovery.resent_below) {
            recovery.resent.0 += 1;
            recovery.resent_below = segment.next();
        }
    }

    /// `window`: as reduced by the controller.
    pub(super) fn begin_recovery(&mut self, in_use: Option<Segments>, Cwnd(window): Cwnd) {
        self.recovery = Some(Recovery { in_use, window, resent: Segments(0), resent_below: SegmentNumber::FIRST });
    }

    /// Section 4.4.1: if the window was not validated, retransmitted segments do not count as in use. Returns the limit on the window.
    pub(super) fn end_recovery(&mut self) -> Option<Cwnd> {
        let Recovery { in_use, window, resent, .. } = self.recovery.take()?;
        self.forget();
        let in_use = in_use?;
        let kept = 1.0 - f64::from(resent.0.min(in_use.0)) / f64::from(in_use.0.max(1));
        Some(Cwnd((kept * window).max(1.0)))
    }

    /// The reduction is void, and earlier measurements remain valid; data acknowledged during it does not form an RTT.
    pub(super) fn withdraw(&mut self) {
        self.recovery = None;
        self.sent.clear();
    }

    /// pipeACK is undefined until it is measured again.
    pub(super) fn forget(&mut self) {
        self.measured = [None; MEASUREMENT_PERIODS];
        (self.first_round_until, self.recovery) = (None, None);
        self.sent.clear();
    }
}
