//! Congestion window validation: whether a window that the application does not fill may open, and how it is reduced while unused. One file
//! per rule that has state.
//!
//! Only an application leaves a window unused: a flow that always has data, or all of its data from the start, uses it. No state is stored
//! for such a flow; with the Linux rule its window opens if it was full when the acknowledgement arrived, or when the last data was sent.

pub(super) mod change;
mod linux;
mod rfc7661;

use self::change::{Limit, Moment};
use super::sequence::Sequence;
use super::spec::{TcpSpec, WindowValidation};
use crate::congestion::{Controller, Controllers};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Cwnd, Segments, Time};
use linux::Linux;
use rfc7661::Rfc7661;
use serde::{Deserialize, Serialize};

/// A flow's queue at the interface of its own host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostQueue {
    Short,
    /// The interface limits the flow, and not the window.
    Long,
}

/// State of the use of the window, for a flow with an application.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Usage {
    /// For rules without state.
    Untracked,
    Linux(Linux),
    Rfc7661(Rfc7661),
}

impl Usage {
    /// Bytes per outstanding segment.
    pub(crate) const BYTES_PER_SEGMENT: usize = Rfc7661::BYTES_PER_SEGMENT;

    pub(crate) fn of(kind: WindowValidation) -> Usage {
        match kind {
            WindowValidation::None | WindowValidation::Rfc5681 => Usage::Untracked,
            WindowValidation::Linux => Usage::Linux(Linux::default()),
            WindowValidation::Rfc7661 => Usage::Rfc7661(Rfc7661::default()),
        }
    }
}

/// A segment that has left.
pub(super) struct Departure {
    pub segment: SegmentNumber,
    pub is_new: bool,
}

/// Whether the rule has state.
pub(crate) fn remembers(kind: WindowValidation) -> bool {
    matches!(kind, WindowValidation::Linux | WindowValidation::Rfc7661)
}

/// The flow has been idle for this many timeouts, at least one.
pub(super) fn after_idle(window: Cwnd, timeouts: u64, spec: &TcpSpec) -> Option<Limit> {
    match spec.window_validation {
        WindowValidation::None | WindowValidation::Rfc7661 => None,
        // The information about the path is outdated, and the window is reset (section 4.1).
        WindowValidation::Rfc5681 => Some(Limit { threshold: None, window: Cwnd(spec.initial_window) }),
        WindowValidation::Linux => Some(linux::decay(window, timeouts, spec)),
    }
}

/// The window has not been validated for a whole period of RFC 7661.
pub(super) fn after_period(Cwnd(window): Cwnd, spec: &TcpSpec) -> Limit {
    Limit { threshold: Some(Cwnd(0.75 * window)), window: Cwnd((window / 2.0).max(spec.initial_window)) }
}

impl Usage {
    /// New data is acknowledged up to `ack`.
    pub(super) fn on_new_ack(&mut self, sequence: &Sequence, ack: SegmentNumber, moment: &Moment) {
        if let Usage::Rfc7661(usage) = self {
            usage.on_new_ack(sequence, ack, moment);
        }
    }

    /// The number of periods at whose ends the window had not been validated.
    pub(super) fn ended_periods(&mut self, window: Cwnd, now: Time) -> u32 {
        match self {
            Usage::Rfc7661(usage) => usage.ended_periods(window, now),
            Usage::Untracked | Usage::Linux(_) => 0,
        }
    }

    /// Whether an acknowledgement that is about to be processed may open the window.
    #[cold]
    #[inline(never)]
    pub(super) fn may_open(&self, law: &Controllers, now: Time) -> bool {
        match self {
            Usage::Linux(usage) => usage.may_open(law),
            Usage::Rfc7661(usage) => usage.is_validated(law.window(), now),
            Usage::Untracked => true,
        }
    }

    /// A segment has left.
    pub(super) fn on_sent(&mut self, sequence: &Sequence, window: Segments, sent: &Departure) {
        match self {
            Usage::Linux(usage) => usage.on_sent(sequence, window),
            Usage::Rfc7661(usage) if sent.is_new => usage.on_new(sent.segment, sequence),
            Usage::Rfc7661(usage) => usage.on_resent(sent.segment),
            Usage::Untracked => {}
        }
    }

    /// The amount in use, if the window is not validated: it is reduced, unless more is outstanding.
    pub(super) fn in_use(&self, window: Cwnd, now: Time) -> Option<Segments> {
        match self {
            Usage::Rfc7661(usage) if !usage.is_validated(window, now) => Some(usage.pipe_ack(now)),
            _ => None,
        }
    }

    /// The window has been reduced; `in_use` is the amount in use before.
    pub(super) fn on_reduced(&mut self, in_use: Option<Segments>, window: Cwnd) {
        if let Usage::Rfc7661(usage) = self {
            usage.begin_recovery(in_use, window);
        }
    }

    /// A timeout, or an event treated like one, has been processed: earlier measurements are invalid.
    pub(super) fn on_restarted(&mut self) {
        if let Usage::Rfc7661(usage) = self {
            usage.forget();
        }
    }

    /// A reduction has been undone: there was nothing to recover from.
    pub(super) fn on_withdrawn(&mut self) {
        if let Usage::Rfc7661(usage) = self {
            usage.withdraw();
        }
    }

    /// Recovery has ended, if there was one. Returns the limit on a window that was not validated.
    pub(super) fn end_recovery(&mut self) -> Option<Cwnd> {
        match self {
            Usage::Rfc7661(usage) => usage.end_recovery(),
            Usage::Untracked | Usage::Linux(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::primitives::segment_number::plain::n;
    use crate::primitives::units::TimeDelta;
    use crate::tcp::Recovery;
    use crate::tcp::bench::{SenderHarness, plain};

    /// A sender with this window in slow start, with an application.
    fn bench(rule: WindowValidation, window: f64) -> SenderHarness {
        with_recovery(Recovery::NewReno, rule, window)
    }

    fn with_recovery(recovery: Recovery, rule: WindowValidation, window: f64) -> SenderHarness {
        let spec = TcpSpec { recovery, window_validation: rule, abc_limit: Segments::UNLIMITED, ..plain() };
        SenderHarness::with_application(spec, Start { window, ..Start::default() })
    }

    /// The application hands over this many segments every 100 ms, which arrive and are acknowledged one by one 50 ms later. Returns the
    /// window after each burst.
    fn windows(bench: &mut SenderHarness, bursts: impl IntoIterator<Item = u32>) -> Vec<f64> {
        let began = bench.now;
        let after = |(number, burst): (u64, u32)| {
            bench.now = began + TimeDelta::from_millis(100 * number);
            bench.offer(burst);
            bench.now += TimeDelta::from_millis(50);
            while bench.sender.sequence.snd_una < bench.sender.sequence.limit {
                bench.process_ack(bench.sender.sequence.snd_una.next().0, &[]);
            }
            bench.window()
        };
        (0..).zip(bursts).map(after).collect()
    }

    #[test]
    fn without_validation_unused_windows_open() {
        for rule in [WindowValidation::None, WindowValidation::Rfc5681] {
            assert_eq!(windows(&mut bench(rule, 2.0), [1; 100]).last(), Some(&100.0), "{rule:?}, to the receiver's window");
        }
    }

    #[test]
    fn linux_opens_windows_up_to_twice_the_flight_size() {
        for recovery in [Recovery::NewReno, Recovery::RackTlp] {
            // Observed with a kernel, with bursts of 4, 8 and 10 segments: 10, 16 and 20.
            let linux = || with_recovery(recovery, WindowValidation::Linux, 10.0);
            let settled = |burst| windows(&mut linux(), [burst; 6]).last().copied();
            assert_eq!([settled(4), settled(8), settled(10)], [Some(10.0), Some(16.0), Some(20.0)]);
            // A window that has been used stays: observed for 3 s.
            assert_eq!(windows(&mut linux(), [10, 20, 40, 4, 4, 4, 4, 4]), [20.0, 40.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0]);
            // Above the threshold it has to be full.
            let mut avoiding = linux();
            avoiding.sender.controller.end_slow_start();
            assert_eq!(windows(&mut avoiding, [9, 9, 9, 9]), [10.0; 4]);
            assert_eq!(windows(&mut avoiding, [10]), [11.0]);
        }
    }

    #[test]
    fn linux_opens_the_window_of_a_transfer_after_its_last_data() {
        let windows = |segments: u32, ssthresh: f64| {
            let spec = TcpSpec { window_validation: WindowValidation::Linux, ..plain() };
            let mut bench = SenderHarness::new(spec, Start { window: 4.0, ssthresh, ..Start::default() }, segments);
            bench.send();
            let after = |ack| {
                bench.process_ack(ack, &[]);
                bench.window()
            };
            (1..=segments.min(20)).map(after).collect::<Vec<f64>>()
        };
        // As if there were more data, in slow start and above the threshold.
        for ssthresh in [f64::INFINITY, 8.0] {
            assert_eq!(windows(20, ssthresh), windows(90, ssthresh));
            assert_eq!(windows(4, ssthresh), windows(90, ssthresh)[..4]);
        }
        // Three segments never fill a window of four, which opens up to twice as many.
        assert_eq!((windows(3, f64::INFINITY), windows(3, 4.0)), (vec![5.0, 6.0, 6.0], vec![4.0; 3]));
    }

    /// 465 Mbit/s, 4.9 ms, two segments every 0.23 ms: the window of Linux 6.12.117 opens to 234 segments, about twice the largest number in
    /// flight, which it had a round trip earlier.
    #[test]
    fn with_linux_a_growing_maximum_counts_for_a_round_trip() {
        let mut bench = bench(WindowValidation::Linux, 18.0);
        bench.offer(8);
        bench.process_ack(4, &[]);
        bench.offer(8);
        assert_eq!((bench.window(), bench.sender.sequence.in_flight()), (18.0, Segments(12)));
        bench.process_ack(8, &[]);
        bench.offer(1);
        // Nine are in flight, but twelve were until 16 is acknowledged.
        bench.process_ack(10, &[]);
        assert_eq!(bench.window(), 24.0);
    }

    #[test]
    fn linux_halves_a_window_for_every_idle_timeout() {
        // The timeout is 1 s. Observed with a kernel: 283 to 70 after 2.7 timeouts, 333 to 41 after 3.3, 530 to 10 after 7.1.
        let decayed = |window: f64, timeouts: u64| {
            let mut bench = bench(WindowValidation::Linux, window);
            bench.spec.receiver_window = Segments(1000);
            bench.spec.initial_window = 10.0;
            windows(&mut bench, [1]);
            bench.sender.sequence.last_active = bench.now;
            bench.now += TimeDelta::from_millis(100 * timeouts);
            bench.offer(0);
            (bench.window(), bench.sender.controller.ssthresh().0)
        };
        assert_eq!([decayed(283.0, 27).0, decayed(333.0, 33).0, decayed(530.0, 71).0], [70.0, 41.0, 10.0]);
        assert_eq!(decayed(283.0, 9), (283.0, f64::INFINITY));
    }

    #[test]
    fn with_rfc_7661_windows_open_while_half_used_and_are_preserved() {
        // The window opens while it is at most twice the acknowledged data of a burst, and before the first burst is fully acknowledged.
        let settled = |burst| windows(&mut bench(WindowValidation::Rfc7661, 10.0), [burst; 6]).last().copied();
        assert_eq!([settled(4), settled(8), settled(20)], [Some(13.0), Some(17.0), Some(41.0)]);
        let mut kept = bench(WindowValidation::Rfc7661, 10.0);
        // With 20 in one burst, and twice 10 for a window of 20: the first acknowledgement opens it, and then those from the eleventh on.
        assert_eq!(windows(&mut kept, [10, 20]), [20.0, 31.0]);
        kept.sender.controller.limit_window(Cwnd(30.0));
        // The largest sample within a second applies: after it, the window is not validated until half of it is used again.
        let unused = windows(&mut kept, [4; 30]);
        assert_eq!((unused[12..].iter().all(|&window| window == unused[29]), unused[29]), (true, 41.0));
        assert_eq!(windows(&mut kept, [20, 21]), [41.0, 42.0]);
    }

    #[test]
    fn with_rfc_7661_the_amount_in_use_is_reduced() {
        let mut bench = with_recovery(Recovery::Sack, WindowValidation::Rfc7661, 80.0);
        bench.sender.controller.end_slow_start();
        windows(&mut bench, [2; 20]);
        assert_eq!(bench.window().floor(), 80.0);
        // Eight are sent, and the first is lost: max(pipeACK, LossFlightSize) = 8 is halved. One of the eight is retransmitted: (8 - 1) /
        // 2.
        let first = bench.sender.sequence.snd_una.0;
        assert_eq!(bench.at(10_000).offer(8).len(), 8);
        let resent: Vec<u32> = (2..5).flat_map(|above| bench.process_ack(first, &[(first + 1, first + above)])).collect();
        assert_eq!((resent, bench.window()), (vec![first], 4.0));
        bench.process_ack(first + 8, &[]);
        assert_eq!(bench.window(), 3.5);
        // pipeACK is undefined, and the window validated until all of the next data is acknowledged.
        assert_eq!((bench.sender.controller.ssthresh().0, windows(&mut bench, [2])[0] > 3.5), (3.5, true));
    }

    #[test]
    fn with_rfc_7661_an_undone_reduction_restores_the_window() {
        let mut bench = with_recovery(Recovery::RackTlp, WindowValidation::Rfc7661, 80.0);
        bench.sender.controller.end_slow_start();
        windows(&mut bench, [2; 20]);
        let window = bench.window();
        // Eight are sent, and the first arrives last; a duplicate reports that it was retransmitted needlessly.
        let first = bench.sender.sequence.snd_una.0;
        assert_eq!(bench.at(10_000).offer(8).len(), 8);
        (2..5).for_each(|above| drop(bench.process_ack(first, &[(first + 1, first + above)])));
        assert!(bench.window() < 10.0);
        bench.at(10_060).process_ack(first + 8, &[]);
        bench.at(10_070).process_ack(first + 8, &[(first, first + 1)]);
        assert_eq!(bench.window(), window);
    }

    #[test]
    fn with_rfc_7661_a_window_unused_for_five_minutes_is_halved() {
        let mut bench = bench(WindowValidation::Rfc7661, 40.0);
        windows(&mut bench, [40]);
        let after = |bench: &mut SenderHarness, seconds: u64| {
            bench.at(1000 * seconds).offer(0);
            (bench.window(), bench.sender.controller.ssthresh().0)
        };
        bench.sender.controller.limit_window(Cwnd(40.0));
        bench.sender.controller.end_slow_start();
        assert_eq!(after(&mut bench, 299), (40.0, 40.0));
        assert_eq!(after(&mut bench, 302), (20.0, 40.0));
        assert_eq!(after(&mut bench, 602), (10.0, 40.0));
        // Not below the initial window.
        assert_eq!(after(&mut bench, 3000), (4.0, 40.0));
    }

    #[test]
    fn with_rfc_5681_a_window_is_reset_after_an_idle_time_of_more_than_a_timeout() {
        let after = |rule, idle: u64| {
            let mut bench = bench(rule, 20.0);
            // One segment at the start, acknowledged.
            (
                bench.sender.sequence.snd_una,
                bench.sender.sequence.snd_nxt,
                bench.sender.sequence.snd_max,
                bench.sender.sequence.limit,
            ) = (n(1), n(1), n(1), n(1));
            bench.at(idle).offer(1);
            bench.window()
        };
        // The timeout before the first sample is 1 s, the initial window 4.
        assert_eq!(after(WindowValidation::Rfc5681, 1001), 4.0);
        assert_eq!(after(WindowValidation::Rfc5681, 1000), 20.0);
        assert_eq!(after(WindowValidation::None, 1001), 20.0);
    }
}
