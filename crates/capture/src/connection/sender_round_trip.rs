//! The round trip between the point of capture and the sender: from an acknowledgement to the data that it releases. It is close
//! to zero at the sender, and close to the whole round trip at the receiver.

use super::round_trips::Smoothed;
use crate::time::Timestamp;
use std::collections::VecDeque;
use std::time::Duration;

/// Round trips from the timestamps of acknowledgements (RFC 7323): data echo the timestamp of the last one that the sender received.
#[derive(Clone, Debug, Default)]
pub(crate) struct SenderRoundTrip {
    /// Timestamps of recent acknowledgements that were not echoed yet, and their first times.
    awaited: VecDeque<(u32, Timestamp)>,
    smoothed: Smoothed,
}

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

    /// New data of a sender that had data outstanding: a sender without data may be idle.
    #[inline]
    pub(crate) fn on_data(&mut self, at: Timestamp, echo: u32) {
        while let Some(&(timestamp, since)) = self.awaited.front().filter(|(first, _)| (echo.wrapping_sub(*first) as i32) >= 0) {
            self.awaited.pop_front();
            if timestamp == echo {
                self.smoothed.add(at.since(since));
            }
        }
    }

    /// SRTT and RTTVAR of RFC 6298; `handshake` without samples.
    pub(crate) fn mean_and_deviation(&self, handshake: Option<Duration>) -> (Duration, Duration) {
        self.smoothed.mean_and_deviation().unwrap_or((handshake.unwrap_or_default(), Duration::ZERO))
    }
}
