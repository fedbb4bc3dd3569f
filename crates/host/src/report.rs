//! The state of a transport as it reports it, in Rust and in C.

use std::ffi::c_char;
use std::ptr;
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};

/// The state of a transport. `None`: unknown, and missing in results. Counts are totals since the start of the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransportReport {
    /// Payload that the application has read, in order. Results take it from the receiver of a flow, and everything else from its sender.
    pub delivered: Option<Bytes>,
    /// Congestion window.
    pub cwnd: Option<Bytes>,
    /// Slow-start threshold; also unknown while it limits nothing.
    pub ssthresh: Option<Bytes>,
    /// Data sent, and neither acknowledged nor declared lost.
    pub in_flight: Option<Bytes>,
    pub state: Option<ConnectionState>,
    pub smoothed_rtt: Option<TimeDelta>,
    pub min_rtt: Option<TimeDelta>,
    /// RTT samples.
    pub rtt_samples: Option<RttSamples>,
    /// Retransmission timeout, with its backoff.
    pub rto: Option<TimeDelta>,
    /// Expirations of the retransmission timer.
    pub timeouts: Option<u64>,
    pub retransmitted_packets: Option<u64>,
    /// Packets declared lost.
    pub lost_packets: Option<u64>,
    /// The end of the connection, if the transport has ended it by itself.
    pub ended: Option<ConnectionEnd>,
}

/// State of congestion control, as in RFC 5681 and Linux.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ConnectionState {
    Open,
    /// Duplicate acknowledgements, and no loss yet.
    Disorder,
    /// The window is being reduced without a loss, for example after an ECN mark.
    Cwr,
    Recovery,
    /// Recovery after a retransmission timeout.
    Loss,
}

impl ConnectionState {
    /// All states, in the order of their numbers.
    pub const ALL: [ConnectionState; 5] = [
        ConnectionState::Open,
        ConnectionState::Disorder,
        ConnectionState::Cwr,
        ConnectionState::Recovery,
        ConnectionState::Loss,
    ];

    /// The state with this number.
    pub fn of(number: u64) -> Option<ConnectionState> {
        usize::try_from(number).ok().and_then(|number| ConnectionState::ALL.get(number).copied())
    }
}

/// The end of a connection that no application has requested, such as a timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionEnd {
    pub at: Time,
    pub reason: String,
}

/// Number and sum of RTT samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RttSamples {
    pub count: u64,
    pub sum: TimeDelta,
}

impl RttSamples {
    pub fn add(&mut self, sample: TimeDelta) {
        self.count += 1;
        self.sum = self.sum + sample;
    }

    /// The mean of the samples after `earlier`, if there are any.
    pub(crate) fn mean_since(&self, earlier: RttSamples) -> Option<TimeDelta> {
        let count = self.count.saturating_sub(earlier.count);
        self.sum.0.saturating_sub(earlier.sum.0).checked_div(count).map(TimeDelta)
    }
}

/// An unknown value in C.
const UNKNOWN: u64 = u64::MAX;

/// A [`TransportReport`] in C. `UINT64_MAX`: unknown.
#[repr(C)]
pub struct Report {
    pub delivered: u64,
    pub cwnd: u64,
    pub ssthresh: u64,
    pub in_flight: u64,
    /// The number of a [`ConnectionState`].
    pub state: u64,
    /// Times in picoseconds.
    pub smoothed_rtt: u64,
    pub min_rtt: u64,
    pub rtt_samples: u64,
    pub rtt_sum: u64,
    pub rto: u64,
    pub timeouts: u64,
    pub retransmitted_packets: u64,
    pub lost_packets: u64,
    pub ended_at: u64,
    pub end_reason: *const c_char,
}

/// Without the reason of the end, whose text the library stores.
impl From<&TransportReport> for Report {
    fn from(report: &TransportReport) -> Report {
        let bytes = |bytes: Option<Bytes>| bytes.map_or(UNKNOWN, |bytes| bytes.0);
        let duration = |duration: Option<TimeDelta>| duration.map_or(UNKNOWN, |duration| duration.0);
        Report {
            delivered: bytes(report.delivered),
            cwnd: bytes(report.cwnd),
            ssthresh: bytes(report.ssthresh),
            in_flight: bytes(report.in_flight),
            state: report.state.map_or(UNKNOWN, |state| state as u64),
            smoothed_rtt: duration(report.smoothed_rtt),
            min_rtt: duration(report.min_rtt),
            rtt_samples: report.rtt_samples.map_or(UNKNOWN, |samples| samples.count),
            rtt_sum: duration(report.rtt_samples.map(|samples| samples.sum)),
            rto: duration(report.rto),
            timeouts: report.timeouts.unwrap_or(UNKNOWN),
            retransmitted_packets: report.retransmitted_packets.unwrap_or(UNKNOWN),
            lost_packets: report.lost_packets.unwrap_or(UNKNOWN),
            ended_at: report.ended.as_ref().map_or(UNKNOWN, |end| end.at.0),
            end_reason: ptr::null(),
        }
    }
}

impl Report {
    /// The report in Rust. `reason` is the text of `end_reason`.
    ///
    /// # Errors
    /// The state has no such number, or a count is above 2^63 - 1, the largest of the result tables.
    pub(crate) fn transport_report(&self, reason: String) -> Result<TransportReport, String> {
        let (report, reason) = (self, if reason.is_empty() { "it gives no reason".into() } else { reason });
        let known = |value: u64| (value != UNKNOWN).then_some(value);
        let state = ConnectionState::of(report.state);
        if let Some(number) = known(report.state).filter(|_| state.is_none()) {
            return Err(format!("`state` of its report is {number}; expected 0 to 4, or TAILBACK_NONE"));
        }
        let counts = [
            ("delivered", report.delivered),
            ("cwnd", report.cwnd),
            ("ssthresh", report.ssthresh),
            ("in_flight", report.in_flight),
            ("rtt_samples", report.rtt_samples),
            ("timeouts", report.timeouts),
            ("retransmitted_packets", report.retransmitted_packets),
            ("lost_packets", report.lost_packets),
        ];
        let is_wrong = |&(_, count): &(&str, u64)| known(count).is_some_and(|count| i64::try_from(count).is_err());
        if let Some((name, count)) = counts.into_iter().find(is_wrong) {
            return Err(format!("`{name}` of its report is {count}; expected 0 to 2^63 - 1, or TAILBACK_NONE"));
        }
        Ok(TransportReport {
            delivered: known(report.delivered).map(Bytes),
            cwnd: known(report.cwnd).map(Bytes),
            ssthresh: known(report.ssthresh).map(Bytes),
            in_flight: known(report.in_flight).map(Bytes),
            state,
            smoothed_rtt: known(report.smoothed_rtt).map(TimeDelta),
            min_rtt: known(report.min_rtt).map(TimeDelta),
            rtt_samples: known(report.rtt_samples)
                .zip(known(report.rtt_sum))
                .map(|(count, sum)| RttSamples { count, sum: TimeDelta(sum) }),
            rto: known(report.rto).map(TimeDelta),
            timeouts: known(report.timeouts),
            retransmitted_packets: known(report.retransmitted_packets),
            lost_packets: known(report.lost_packets),
            ended: known(report.ended_at).map(|at| ConnectionEnd { at: Time(at), reason }),
        })
    }
}

/// Reports that a run reads after each poll of a host.
#[derive(Default)]
pub(crate) enum Watch {
    #[default]
    Nothing,
    /// The completion of a transfer of this size.
    Completion(Bytes),
    /// The transfer was complete at this time.
    Completed(Time),
    /// Changes of the quantities that are traced.
    Changes(Changes),
}

/// A quantity of a sender over time: `None` if it is not traced.
#[derive(Default)]
pub(crate) struct Changes {
    pub(crate) cwnd: Option<Vec<(Time, Bytes)>>,
    pub(crate) ssthresh: Option<Vec<(Time, Bytes)>>,
    pub(crate) smoothed_rtt: Option<Vec<(Time, TimeDelta)>>,
    pub(crate) rto: Option<Vec<(Time, TimeDelta)>>,
    pub(crate) in_flight: Option<Vec<(Time, Bytes)>>,
    pub(crate) state: Option<Vec<(Time, &'static str)>>,
}

impl Changes {
    pub(crate) fn is_any(&self) -> bool {
        let Changes { cwnd, ssthresh, smoothed_rtt, rto, in_flight, state } = self;
        let packets = [cwnd, ssthresh, in_flight].into_iter().any(Option::is_some);
        let times = [smoothed_rtt, rto].into_iter().any(Option::is_some);
        packets || times || state.is_some()
    }
}

impl TransportReport {
    /// The state in the words of simulated senders. Without loss recovery, it depends on the window, as theirs does after a mark.
    fn state_word(&self) -> Option<&'static str> {
        Some(match self.state? {
            ConnectionState::Recovery => "recovery",
            ConnectionState::Loss => "timeout",
            ConnectionState::Open | ConnectionState::Disorder | ConnectionState::Cwr => {
                let is_below = self.ssthresh.is_none_or(|ssthresh| self.cwnd.is_some_and(|cwnd| cwnd < ssthresh));
                if is_below { "slow_start" } else { "congestion_avoidance" }
            }
        })
    }
}

impl Watch {
    pub(crate) fn needs_report(&self) -> bool {
        matches!(self, Watch::Completion(_) | Watch::Changes(_))
    }

    pub(crate) fn read(&mut self, now: Time, report: &TransportReport) {
        match self {
            Watch::Completion(size) => {
                if report.delivered.is_some_and(|delivered| delivered >= *size) {
                    *self = Watch::Completed(now);
                }
            }
            Watch::Changes(changes) => {
                note(&mut changes.cwnd, now, report.cwnd);
                note(&mut changes.ssthresh, now, report.ssthresh);
                note(&mut changes.smoothed_rtt, now, report.smoothed_rtt);
                note(&mut changes.rto, now, report.rto);
                note(&mut changes.in_flight, now, report.in_flight);
                note(&mut changes.state, now, report.state_word());
            }
            Watch::Nothing | Watch::Completed(_) => {}
        }
    }
}

/// Stores a value that differs from the last one.
fn note<T: PartialEq>(changes: &mut Option<Vec<(Time, T)>>, now: Time, value: Option<T>) {
    if let (Some(changes), Some(value)) = (changes, value)
        && changes.last().is_none_or(|(_, last)| *last != value)
    {
        changes.push((now, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_crosses_the_interface_of_c_unchanged() {
        let all = TransportReport {
            delivered: Some(Bytes(1)),
            cwnd: Some(Bytes(2)),
            ssthresh: Some(Bytes(11)),
            in_flight: Some(Bytes(12)),
            state: Some(ConnectionState::Loss),
            smoothed_rtt: Some(TimeDelta(3)),
            min_rtt: Some(TimeDelta(4)),
            rtt_samples: Some(RttSamples { count: 5, sum: TimeDelta(6) }),
            rto: Some(TimeDelta(13)),
            timeouts: Some(7),
            retransmitted_packets: Some(8),
            lost_packets: Some(9),
            ended: Some(ConnectionEnd { at: Time(10), reason: "timed out".into() }),
        };
        for report in [all, TransportReport::default(), TransportReport { timeouts: Some(0), ..TransportReport::default() }] {
            let reason = report.ended.as_ref().map(|end| end.reason.clone()).unwrap_or_default();
            assert_eq!(Report::from(&report).transport_report(reason).as_ref(), Ok(&report));
        }
        let wrong = Report { state: 5, ..Report::from(&TransportReport::default()) };
        let text = wrong.transport_report(String::new()).unwrap_err();
        assert_eq!(text, "`state` of its report is 5; expected 0 to 4, or TAILBACK_NONE");
        let wrong = Report { cwnd: 1 << 63, ..Report::from(&TransportReport::default()) };
        let text = wrong.transport_report(String::new()).unwrap_err();
        assert_eq!(text, "`cwnd` of its report is 9223372036854775808; expected 0 to 2^63 - 1, or TAILBACK_NONE");
    }

    #[test]
    fn a_transfer_is_complete_when_the_application_has_read_it() {
        let delivered = |bytes| TransportReport { delivered: Some(Bytes(bytes)), ..TransportReport::default() };
        let mut watch = Watch::Completion(Bytes(2000));
        watch.read(Time(5), &delivered(1999));
        // What is unknown once may be known later.
        watch.read(Time(6), &TransportReport::default());
        assert!(watch.needs_report());
        watch.read(Time(7), &delivered(2000));
        assert!(matches!(watch, Watch::Completed(Time(7))) && !watch.needs_report());
    }

    #[test]
    fn a_trace_has_the_changes_of_reported_values() {
        let mut watch = Watch::Changes(Changes { cwnd: Some(Vec::new()), ..Changes::default() });
        for (at, cwnd) in [(1, None), (2, Some(10)), (3, Some(10)), (4, Some(20)), (5, None), (6, Some(10))] {
            let report =
                TransportReport { cwnd: cwnd.map(Bytes), smoothed_rtt: Some(TimeDelta(at)), ..TransportReport::default() };
            watch.read(Time(at), &report);
        }
        let Watch::Changes(changes) = watch else { panic!("still a trace") };
        assert_eq!(changes.cwnd.unwrap(), [(Time(2), Bytes(10)), (Time(4), Bytes(20)), (Time(6), Bytes(10))]);
        assert!(changes.smoothed_rtt.is_none());
    }

    #[test]
    fn states_have_the_words_of_simulated_senders() {
        let word = |state, cwnd, ssthresh: Option<u64>| {
            let (state, cwnd, ssthresh) = (Some(state), Some(Bytes(cwnd)), ssthresh.map(Bytes));
            TransportReport { state, cwnd, ssthresh, ..TransportReport::default() }.state_word().unwrap()
        };
        assert_eq!(word(ConnectionState::Open, 10, None), "slow_start");
        assert_eq!(word(ConnectionState::Disorder, 10, Some(11)), "slow_start");
        assert_eq!(word(ConnectionState::Cwr, 10, Some(10)), "congestion_avoidance");
        assert_eq!(word(ConnectionState::Recovery, 10, None), "recovery");
        assert_eq!(word(ConnectionState::Loss, 1, Some(10)), "timeout");
        assert_eq!(TransportReport::default().state_word(), None);
    }

    #[test]
    fn means_are_those_of_samples_after_an_earlier_report() {
        let mut samples = RttSamples::default();
        samples.add(TimeDelta(90));
        let earlier = samples;
        assert_eq!(samples.mean_since(earlier), None);
        samples.add(TimeDelta(10));
        samples.add(TimeDelta(20));
        assert_eq!(samples.mean_since(earlier), Some(TimeDelta(15)));
    }
}
