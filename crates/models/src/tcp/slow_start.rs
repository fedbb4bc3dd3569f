//! A finite transfer that never leaves slow start.

use crate::model::{answers, arguments, models};
use crate::parameter::{Count, Positive};

arguments! {
    /// A transfer and its path: no loss, no delayed acknowledgements, no limit on the window, and an unlimited buffer.
    pub struct Transfer {
        /// Full segments to transfer.
        segments: Count,
        /// Initial window in segments.
        initial_window: Count,
        /// Time from the first bit of a segment to its acknowledgement in an empty network, serialisation included.
        rtt_s: Positive,
        /// Serialisation time of a segment on the slowest link; at most `rtt_s` in any network.
        segment_s: Positive,
    }
}

answers! {
    /// Duration of a transfer without loss.
    pub struct SlowStart {
        /// Number of windows of 1, 2, 4, ... times the initial one, the last perhaps incomplete.
        round_trips: u64,
        /// Time from the first bit sent to the last acknowledgement received, in seconds.
        completion_s: f64,
    }
}

models! {
    /// Round trips and completion time of a finite transfer that never leaves slow start.
    ///
    /// Each acknowledgement releases two segments, so that windows double until the link never idles. The acknowledgements of a
    /// window that starts at t begin to arrive at t + RTT. The next window starts then, or once the link has sent this one,
    /// whichever is later. From there acknowledgements arrive at the link's rate and keep it busy.
    pub fn slow_start(transfer: Transfer) -> SlowStart {
        let (rtt, segment) = (transfer.rtt_s.get(), transfer.segment_s.get());
        let mut left = transfer.segments.get();
        let mut window = transfer.initial_window.get();
        let mut starts = 0.0;
        let mut round_trips = 1;
        while left > window {
            starts += rtt.max(window as f64 * segment);
            left -= window;
            window = window.saturating_mul(2);
            round_trips += 1;
        }
        SlowStart { round_trips, completion_s: starts + rtt + (left - 1) as f64 * segment }
    }
    quantity: "completion time of a short transfer";
    equation: "sum over all windows w but the last of max(RTT, w S), plus RTT + (n - 1) S for the n segments of the last";
    source: "RFC 5681, section 3.1; as computed by Kurose and Ross, Computer Networking, 2nd ed., section 3.7, including the transmission time of the link";
    assumes: ["no loss", "no delayed acknowledgements", "no limit on the window"];
    example: ">>> tb.models.slow_start(segments=7, initial_window=1, rtt_s=0.1, segment_s=0.001).round_trips\n3";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn transfer(segments: u64, initial_window: u64, rtt_s: f64, segment_s: f64) -> Result<SlowStart, ParameterError> {
        Ok(slow_start(Transfer {
            segments: Count::new("segments", segments)?,
            initial_window: Count::new("initial_window", initial_window)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            segment_s: Positive::new("segment_s", segment_s)?,
        }))
    }

    #[test]
    fn ten_segments_from_a_window_of_one_take_four_round_trips() -> Result<(), ParameterError> {
        // 1 + 2 + 4, then 3 of 8: the last window starts at 0.3 s, and its third segment is 0.002 s behind the first.
        let result = transfer(10, 1, 0.1, 0.001)?;
        assert_eq!(result.round_trips, 4);
        assert!((result.completion_s - 0.402).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn a_slow_link_is_busy_from_the_second_window_on() -> Result<(), ParameterError> {
        // Two segments fill a round trip: from 0.1 s nine segments are sent back to back, the last ends at 0.5 s and is
        // acknowledged 0.1 s later.
        let result = transfer(10, 1, 0.1, 0.05)?;
        assert!((result.completion_s - 0.6).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn a_transfer_within_the_initial_window_takes_one_round_trip() -> Result<(), ParameterError> {
        assert_eq!(transfer(10, 10, 0.1, 0.001)?.round_trips, 1);
        assert_eq!(transfer(11, 10, 0.1, 0.001)?.round_trips, 2);
        Ok(())
    }

    #[test]
    fn the_largest_transfer_ends() -> Result<(), ParameterError> {
        assert_eq!(transfer(u64::MAX, 1, 0.1, 1e-9)?.round_trips, 64);
        assert_eq!(transfer(u64::MAX, u64::MAX - 1, 0.1, 1e-9)?.round_trips, 2);
        Ok(())
    }
}
