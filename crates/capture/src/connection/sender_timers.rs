//! Timers of the sender, inferred from silence: the retransmission timeout (RFC 6298) and the tail loss probe (RFC 8985 section 7).
//!
//! Both timers end a silence in which data were outstanding. A probe is the last outstanding segment or a new one; a timeout
//! retransmits the first outstanding segment. If only one segment is outstanding, the state of the sender decides: a sender with
//! SACK probes first, unless it is in recovery, has selectively acknowledged data outstanding, or has already probed this tail.
//!
//! Differs: a sender with SACK but without probes is indistinguishable while one segment is outstanding.

use super::sequence::{SequenceRange, StreamOffset};
use crate::time::Timestamp;
use std::time::Duration;

/// The part of the sender's state on which its timers depend.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderTimers {
    /// Recovery ends when everything below this is acknowledged.
    recovery_until: Option<StreamOffset>,
    /// No second probe is sent before everything below this is acknowledged.
    probed_until: Option<StreamOffset>,
    /// Highest position in a SACK block.
    sacked_until: Option<StreamOffset>,
    /// The latest transmission of data or a FIN.
    last_sent: Option<Timestamp>,
}

/// A transmission of data or a FIN, before it is accounted for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimedTransmission {
    pub(crate) at: Timestamp,
    pub(crate) data: SequenceRange,
    /// One past the highest position sent before.
    pub(crate) next: StreamOffset,
    pub(crate) acknowledged: StreamOffset,
    /// Outstanding segments.
    pub(crate) segments: usize,
    /// The latest transmission of the first outstanding segment, if it was captured.
    pub(crate) head_sent: Option<Timestamp>,
    /// The previous transmission of its first segment, if it was captured.
    pub(crate) before: Option<Timestamp>,
    pub(crate) last_acknowledgement: Option<Timestamp>,
    /// The last acknowledgement of new data.
    pub(crate) last_progress: Option<Timestamp>,
}

/// Estimates of the sender's round trip.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SenderEstimates {
    pub(crate) smoothed: Duration,
    /// Four times the deviation.
    pub(crate) margin: Duration,
    /// Round trip from the point of capture to the sender: every reaction of the sender is seen this much later.
    pub(crate) to_sender: Duration,
    pub(crate) uses_sack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerExpiry {
    Probe,
    Timeout,
}

/// Linux's lower bound on four deviations (`TCP_RTO_MIN`), and the longest delay of an acknowledgement that a probe allows for
/// (RFC 8985 section 7.2). Other systems have the same or a longer one.
const MIN_MARGIN: Duration = Duration::from_millis(200);

/// A transmission within this time after an acknowledgement or another transmission was not caused by a timer.
const ACK_CLOCK: Duration = Duration::from_millis(1);

impl SenderTimers {
    /// The timer that caused a transmission, if any.
    pub(crate) fn expiry(&self, sent: &TimedTransmission, of: &SenderEstimates) -> Option<TimerExpiry> {
        if sent.next <= sent.acknowledged {
            return None;
        }
        let since = |event: Option<Timestamp>| event.map_or(Duration::ZERO, |event| sent.at.since(event));
        let silence = since(self.last_sent.max(sent.last_acknowledgement).max(sent.before));
        let is_tail = sent.data.end >= sent.next;
        let since_head_sent = since(sent.head_sent);
        let is_due = silence >= of.probe_timeout(sent.segments) || silence >= ACK_CLOCK && since_head_sent >= of.early_timeout();
        if is_tail && of.uses_sack && self.may_probe(sent) && is_due {
            return Some(TimerExpiry::Probe);
        }
        let is_head = sent.data.start <= sent.acknowledged;
        let since_head = since(sent.before.max(sent.last_progress));
        let has_expired = silence >= of.silent_timeout() || since_head >= of.timeout();
        (is_head && has_expired).then_some(TimerExpiry::Timeout)
    }

    /// RFC 8985 section 7.2: not in recovery, nothing selectively acknowledged, and no probe outstanding.
    fn may_probe(&self, sent: &TimedTransmission) -> bool {
        [self.recovery_until, self.probed_until, self.sacked_until]
            .iter()
            .all(|until| until.is_none_or(|until| until <= sent.acknowledged))
    }

    /// Accounts for a transmission. `next`: one past the highest position sent, this transmission included.
    pub(crate) fn on_sent(&mut self, at: Timestamp, kind: Transmission, next: StreamOffset) {
        self.last_sent = self.last_sent.max(Some(at));
        match kind {
            Transmission::New => {}
            Transmission::Probe => self.probed_until = Some(next),
            Transmission::Retransmission => self.recovery_until = self.recovery_until.max(Some(next)),
        }
    }

    /// Data below this are selectively acknowledged.
    pub(crate) fn on_selective_acknowledgement(&mut self, end: StreamOffset) {
        self.sacked_until = self.sacked_until.max(Some(end));
    }

    /// Everything below this is acknowledged.
    pub(crate) fn on_acknowledgement(&mut self, acknowledged: StreamOffset) {
        for until in [&mut self.recovery_until, &mut self.probed_until, &mut self.sacked_until] {
            *until = until.filter(|&until| until > acknowledged);
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Transmission {
    New,
    Probe,
    Retransmission,
}

impl SenderEstimates {
    /// Nine tenths of the probe timeout: twice the smoothed round trip, longer for a single segment, whose acknowledgement may be
    /// delayed, and never longer than the retransmission timeout.
    fn probe_timeout(&self, segments: usize) -> Duration {
        let delayed = if segments <= 1 { MIN_MARGIN } else { Duration::ZERO };
        let timeout = (self.smoothed * 2 + delayed).min(self.smoothed + self.margin.max(MIN_MARGIN));
        timeout * 9 / 10 + self.to_sender
    }

    /// The retransmission timeout of the first outstanding segment, less 3 %: Linux sends a probe then at the latest.
    fn early_timeout(&self) -> Duration {
        (self.smoothed + self.margin.max(MIN_MARGIN)) * 97 / 100 + self.to_sender
    }

    /// A retransmission after a silence of this length was caused by a timer.
    fn silent_timeout(&self) -> Duration {
        self.smoothed + self.margin.max(self.smoothed / 2) + self.to_sender
    }

    /// The retransmission timeout while acknowledgements arrive without progress.
    fn timeout(&self) -> Duration {
        self.smoothed + self.margin.max(MIN_MARGIN) + self.to_sender
    }
}
