//! Pacing rate (5.6.2).

use super::FullPipe;
use crate::primitives::units::{Bytes, Cwnd, Rate, TimeDelta};
use serde::{Deserialize, Serialize};

/// RTT assumed until one is measured.
const NOMINAL_RTT: TimeDelta = TimeDelta::from_millis(1);

/// In segments per second.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub struct PacingRate(pub f64);

impl PacingRate {
    /// The initial rate: this window, multiplied by the gain of Startup, per RTT (InitPacingRate).
    #[inline]
    pub fn initial(Cwnd(window): Cwnd, rtt: Option<TimeDelta>) -> PacingRate {
        PacingRate(window / rtt.unwrap_or(NOMINAL_RTT).seconds().max(1e-9))
    }

    /// SetPacingRateWithGain: before the pipe has been full, the rate only grows.
    #[inline]
    pub fn update(&mut self, rate: f64, pipe: &FullPipe) {
        if rate > self.0 || (pipe.reached && rate > 0.0) {
            self.0 = rate;
        }
    }

    /// On the wire, for packets of this size.
    #[inline]
    pub fn on_wire(self, packet: Bytes) -> Rate {
        Rate(((self.0 * 8.0 * packet.0 as f64) as u64).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_rate_is_a_window_per_rtt_and_per_millisecond_before_one_is_measured() {
        let of = |rtt| PacingRate::initial(Cwnd(20.0), rtt).0;
        assert_eq!((of(None), of(Some(TimeDelta::from_millis(100)))), (20_000.0, 200.0));
        // 200 packets of 10,000 bits per second.
        assert_eq!(PacingRate(200.0).on_wire(Bytes(1250)), Rate(2_000_000));
        assert_eq!(PacingRate(0.0).on_wire(Bytes(1250)), Rate(1));
    }

    #[test]
    fn the_rate_falls_only_after_the_pipe_has_been_full() {
        let (mut rate, mut pipe) = (PacingRate(100.0), FullPipe::default());
        let mut after = |wanted, pipe: &FullPipe| {
            rate.update(wanted, pipe);
            rate.0
        };
        assert_eq!([after(150.0, &pipe), after(120.0, &pipe)], [150.0, 150.0]);
        pipe.fill();
        assert_eq!([after(120.0, &pipe), after(0.0, &pipe)], [120.0, 120.0]);
    }
}
