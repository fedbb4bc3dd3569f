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
        // New data after the last acknowledgement make Linux probe at the timeout of the first segment at the latest, unless it is over.
        let was_due = self.last_sent.zip(sent.head_sent).is_some_and(|(last, head)| last.since(head) >= of.early_timeout());
        let is_early = self.last_sent >= sent.last_acknowledgement && !was_due && since_head_sent >= of.early_timeout();
        let is_due = silence >= of.probe_timeout(sent.segments) || silence >= ACK_CLOCK && is_early;
        let may_be_probe = is_tail && of.uses_sack && self.may_probe(sent);
        if may_be_probe && is_due {
            return Some(TimerExpiry::Probe);
        }
        let is_head = sent.data.start <= sent.acknowledged;
        let since_head = since(sent.before.max(sent.last_progress));
        // The first retransmission right after an acknowledgement was caused by it.
        let is_ack_clocked = since(sent.last_acknowledgement) < ACK_CLOCK + of.to_sender;
        let is_repaired = self.recovery_until.is_some_and(|until| until > sent.acknowledged);
        let has_no_progress = since_head >= of.timeout() && (is_repaired || !is_ack_clocked);
        let has_expired = silence >= of.silent_timeout() || has_no_progress;
        let expired = if may_be_probe { TimerExpiry::Probe } else { TimerExpiry::Timeout };
        (is_head && has_expired).then_some(expired)
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
    /// The probe timeout, less 5 %: twice the smoothed round trip, longer for a single segment, whose acknowledgement may be
    /// delayed, and never longer than the retransmission timeout.
    fn probe_timeout(&self, segments: usize) -> Duration {
        let delayed = if segments <= 1 { MIN_MARGIN } else { Duration::ZERO };
        let timeout = (self.smoothed * 2 + delayed).min(self.smoothed + self.margin.max(MIN_MARGIN));
        timeout * 95 / 100 + self.to_sender
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

#[cfg(test)]
mod tests {
    use super::*;

    const MILLISECOND: i64 = 1_000_000;

    /// A round trip of 40 ms near the sender, with SACK: probes after 80 ms, a timeout after 240 ms.
    const ESTIMATES: SenderEstimates = SenderEstimates {
        smoothed: Duration::from_millis(40),
        margin: Duration::ZERO,
        to_sender: Duration::ZERO,
        uses_sack: true,
    };

    /// Ten segments of ten bytes from 0 to 100 are outstanding, sent at 0; the last acknowledgement arrived at 20 ms. The segment from
    /// `start` is sent at `milliseconds`.
    fn sent(milliseconds: i64, start: StreamOffset) -> TimedTransmission {
        TimedTransmission {
            at: Timestamp(milliseconds * MILLISECOND),
            data: SequenceRange { start, end: start + 10 },
            next: 100,
            acknowledged: 0,
            segments: 10,
            head_sent: Some(Timestamp(0)),
            before: (start < 100).then_some(Timestamp(0)),
            last_acknowledgement: Some(Timestamp(20 * MILLISECOND)),
            last_progress: Some(Timestamp(20 * MILLISECOND)),
        }
    }

    fn expiries(timers: &SenderTimers, of: &[(i64, StreamOffset)]) -> Vec<Option<TimerExpiry>> {
        of.iter().map(|&(at, start)| timers.expiry(&sent(at, start), &ESTIMATES)).collect()
    }

    #[test]
    fn a_probe_is_the_last_segment_or_a_new_one_after_two_round_trips() {
        let probe = Some(TimerExpiry::Probe);
        let found = expiries(&SenderTimers::default(), &[(85, 90), (101, 90), (101, 100), (101, 50)]);
        assert_eq!(found, [None, probe, probe, None]);
        // A single segment is the first and the last one: after a silence of one and a half round trips, a timer has expired.
        let single = |at| TimedTransmission { data: SequenceRange { start: 0, end: 100 }, segments: 1, ..sent(at, 0) };
        let found = [79, 80].map(|at| SenderTimers::default().expiry(&single(at), &ESTIMATES));
        assert_eq!(found, [None, probe]);
    }

    #[test]
    fn a_timeout_retransmits_the_first_segment() {
        let timeout = Some(TimerExpiry::Timeout);
        assert_eq!(expiries(&SenderTimers::default(), &[(79, 0), (261, 0), (261, 10)]), [None, timeout, None]);
        // Acknowledgements arrive, but nothing new is acknowledged.
        let with_duplicates =
            |at: i64| TimedTransmission { last_acknowledgement: Some(Timestamp((at - 2) * MILLISECOND)), ..sent(at, 0) };
        let found = [259, 261].map(|at| SenderTimers::default().expiry(&with_duplicates(at), &ESTIMATES));
        assert_eq!(found, [None, timeout]);
    }

    #[test]
    fn in_recovery_with_selective_acknowledgements_or_after_a_probe_there_is_none() {
        let at = Timestamp(0);
        let mut probed = SenderTimers::default();
        probed.on_sent(at, Transmission::Probe, 100);
        let mut recovering = SenderTimers::default();
        recovering.on_sent(at, Transmission::Retransmission, 100);
        let mut sacked = SenderTimers::default();
        sacked.on_selective_acknowledgement(50);
        for mut timers in [probed, recovering, sacked] {
            assert_eq!(expiries(&timers, &[(101, 90)]), [None]);
            timers.on_acknowledgement(100);
            assert_eq!(expiries(&timers, &[(101, 90)]), [Some(TimerExpiry::Probe)]);
        }
        let without_sack = SenderEstimates { uses_sack: false, ..ESTIMATES };
        assert_eq!(SenderTimers::default().expiry(&sent(101, 90), &without_sack), None);
    }

    #[test]
    fn the_timeout_of_the_first_segment_is_a_probe_if_none_was_sent() {
        // New data are sent at 200 ms, so that 41 ms later no two round trips have passed.
        let mut timers = SenderTimers::default();
        timers.on_sent(Timestamp(200 * MILLISECOND), Transmission::New, 100);
        assert_eq!(expiries(&timers, &[(231, 100), (241, 100)]), [None, Some(TimerExpiry::Probe)]);
    }

    #[test]
    fn without_outstanding_data_there_is_no_timer() {
        let idle = TimedTransmission { acknowledged: 100, ..sent(5000, 100) };
        assert_eq!(SenderTimers::default().expiry(&idle, &ESTIMATES), None);
    }
}
