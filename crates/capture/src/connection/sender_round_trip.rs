//! The round trip between the point of capture and the sender: from an acknowledgement to the data that it releases. It is close
//! to zero at the sender, and close to the whole round trip at the receiver.

use crate::round_trips::Smoothed;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Round trips from the timestamps of acknowledgements (RFC 7323): data echo the timestamp of the last one that the sender received.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderRoundTrip {
    /// Timestamps of recent acknowledgements that were not echoed yet, and their first times.
    awaited: VecDeque<(u32, Timestamp)>,
    smoothed: Smoothed,
    min: Option<Duration>,
}

/// Whether a sender had data outstanding when it sent new data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SenderState {
    Busy,
    Idle,
}

/// The point of capture is near the sender if the round trip to the receiver is this many times as long.
const NEAR: u32 = 8;

/// Number of timestamps that are remembered.
const REMEMBERED: usize = 256;

impl SenderRoundTrip {
    #[inline]
    pub(crate) fn on_acknowledgement(&mut self, at: Timestamp, timestamp: u32) {
        if self.awaited.back().is_none_or(|&(last, _)| (timestamp.wrapping_sub(last) as i32) > 0) {
            if self.awaited.len() == REMEMBERED {
                self.awaited.pop_front();
            }
            self.awaited.push_back((timestamp, at));
        }
    }

    /// Data echo a timestamp. Only new data of a sender that had data outstanding give a sample: a sender without data may be idle,
    /// and its next packets echo the same timestamp.
    #[inline]
    pub(crate) fn on_data(&mut self, at: Timestamp, echo: u32, state: SenderState) {
        while let Some(&(timestamp, since)) = self.awaited.front().filter(|(first, _)| (echo.wrapping_sub(*first) as i32) >= 0) {
            self.awaited.pop_front();
            if timestamp == echo && state == SenderState::Busy {
                let sample = at.since(since);
                self.smoothed.add(sample);
                self.min = Some(self.min.map_or(sample, |min| min.min(sample)));
            }
        }
    }

    pub(crate) fn min(&self) -> Option<Duration> {
        self.min
    }

    /// SRTT and RTTVAR of RFC 6298; `handshake` without samples. Near the sender, the minimum: what exceeds it is time that the
    /// application takes. `to_receiver`: the smoothed round trip on the other side of the point of capture.
    pub(crate) fn mean_and_deviation(&self, handshake: Option<Duration>, to_receiver: Duration) -> (Duration, Duration) {
        let shortest = self.min.into_iter().chain(handshake).min();
        match (shortest, self.smoothed.mean_and_deviation()) {
            (Some(shortest), _) if shortest < to_receiver / NEAR => (shortest, Duration::ZERO),
            (_, Some(smoothed)) => smoothed,
            (shortest, None) => (shortest.unwrap_or_default(), Duration::ZERO),
        }
    }
}
