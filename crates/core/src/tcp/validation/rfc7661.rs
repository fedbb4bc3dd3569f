//! RFC 7661: a window is validated while at least half of it is used. One that is not stays as it is, neither opens nor closes, for five
//! minutes; if it meets congestion, what was in use is reduced instead.
//!
//! Differs: bursts in the non-validated phase are not held back (section 4.4.2), unless the settings ask for `pacing`; R (section 4.4.1)
//! has no marks in it, and needless retransmissions like others; and a timeout is answered by RFC 5681, with what is outstanding.

use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Cwnd, Segments, Span, Time};
use crate::tcp::sender::Sender;
use crate::tcp::spec::TcpSpec;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The Non-Validated Period (section 4.4.3).
const NON_VALIDATED_PERIOD: Span = Span::from_millis(5 * 60 * 1000);
/// The pipeACK Sampling Period is three round trips, at least this (section 4.2).
const SAMPLING_PERIOD: Span = Span::from_millis(1000);
/// It is divided into as many measurement periods (section 4.5.1).
const MEASUREMENT_PERIODS: usize = 4;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Rfc7661 {
    /// Of the last measurement periods in which there were samples, the latest last. None while pipeACK is undefined: at the start and after
    /// losses.
    measured: [Option<Measured>; MEASUREMENT_PERIODS],
    /// Length of the sampling period when the last sample was taken.
    period: Span,
    /// With the acknowledgement of all below this, pipeACK is first measured.
    first_round_until: Option<u32>,
    /// Of segments outstanding that were new: the first after each acknowledgement.
    sent: VecDeque<Sent>,
    /// When the window was last seen to be validated; it is while pipeACK is undefined.
    validated_at: Time,
    recovery: Option<Recovery>,
}

/// A measurement period: when it began, and its largest sample.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Measured {
    since: Time,
    largest: Segments,
}

/// A segment, and the oldest that was outstanding when it was sent: what lies between is acknowledged in its round trip.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sent {
    segment: u32,
    una: u32,
}

/// A reduction that is not over.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Recovery {
    /// max(pipeACK, LossFlightSize), if the window was not validated.
    in_use: Option<Segments>,
    /// What the law made of it.
    window: f64,
    /// R: what was sent again, each once.
    resent: Segments,
    /// What lies below this has been.
    resent_below: u32,
}

impl Rfc7661 {
    /// Bytes for each segment outstanding.
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

    /// New data is acknowledged up to `ack`. pipeACK is measured with each acknowledgement: once per round trip would do (section 4.2), but
    /// then it would be behind a window that doubles in slow start, and end that.
    pub(super) fn on_new_ack(&mut self, sender: &mut Sender, ack: u32, now: Time, spec: &TcpSpec) {
        self.note_validated(sender, now);
        let mut sent = None;
        while let Some(&first) = self.sent.front().filter(|first| first.segment < ack) {
            sent = Some(first);
            if self.sent.get(1).is_none_or(|next| next.segment >= ack) {
                break;
            }
            self.sent.pop_front();
        }
        // What a whole round trip acknowledges is a measurement; and none is made while losses are repaired (section 4.2).
        let until = *self.first_round_until.get_or_insert(sender.high);
        let is_measured = ack >= until && !sender.phase.is_reduction();
        if let Some(sent) = sent.filter(|_| is_measured) {
            let rtt = sender.round_trip(spec).unwrap_or(Span::ZERO);
            self.sample(now, Segments(ack - sent.una), rtt);
        }
        self.end_period(sender, now, spec);
    }

    pub(super) fn on_new(&mut self, segment: u32, sender: &Sender) {
        let una = sender.una;
        if self.sent.back().is_none_or(|last| last.una != una) {
            self.sent.push_back(Sent { segment, una });
        }
    }

    fn sample(&mut self, now: Time, volume: Segments, rtt: Span) {
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

    /// Section 4.4.3, if the window has not been validated for long.
    pub(super) fn end_period(&mut self, sender: &mut Sender, now: Time, spec: &TcpSpec) {
        self.note_validated(sender, now);
        while now.since(self.validated_at) > NON_VALIDATED_PERIOD {
            let window = sender.controller.window();
            sender.controller.raise_threshold(Cwnd(0.75 * window));
            sender.controller.limit_window(Cwnd((window / 2.0).max(spec.initial_window)));
            self.validated_at += NON_VALIDATED_PERIOD;
        }
    }

    fn note_validated(&mut self, sender: &Sender, now: Time) {
        if self.is_validated(Cwnd(sender.controller.window()), now) {
            self.validated_at = now;
        }
    }

    pub(super) fn on_resent(&mut self, segment: u32) {
        if let Some(recovery) = self.recovery.as_mut().filter(|recovery| segment >= recovery.resent_below) {
            recovery.resent.0 += 1;
            recovery.resent_below = segment + 1;
        }
    }

    /// `window`: as the law has reduced it.
    pub(super) fn begin_recovery(&mut self, in_use: Option<Segments>, Cwnd(window): Cwnd) {
        self.recovery = Some(Recovery { in_use, window, resent: Segments(0), resent_below: 0 });
    }

    /// Section 4.4.1: of a window that was not validated, what was sent again is not in use either.
    pub(super) fn end_recovery(&mut self, law: &mut Controllers) {
        let Some(Recovery { in_use, window, resent, .. }) = self.recovery.take() else { return };
        if let Some(in_use) = in_use {
            let kept = 1.0 - f64::from(resent.0.min(in_use.0)) / f64::from(in_use.0.max(1));
            law.limit_window(Cwnd((kept * window).max(1.0)));
            law.end_slow_start();
        }
        self.forget();
    }

    /// The reduction is void, and what was measured before it holds; what was acknowledged while it lasted is no round trip's.
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
