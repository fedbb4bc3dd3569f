//! Pacing rate (5.6.2).

use super::FullPipe;
use crate::primitives::units::{Bytes, Cwnd, Rate, TimeDelta};
use serde::{Deserialize, Serialize};

/// RTT assumed until one is measured.
const NOMINAL_RTT: TimeDelta = TimeDelta::from_millis(1);

/// The pacing rate of packets of one size.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct PacingRate {
    /// In segments per second.
    per_second: f64,
    on_wire: Rate,
    packet: Bytes,
}

impl PacingRate {
    /// The initial rate: this window, multiplied by the gain of Startup, per RTT (InitPacingRate).
    pub fn initial(Cwnd(window): Cwnd, rtt: Option<TimeDelta>, packet: Bytes) -> PacingRate {
        let mut rate = PacingRate { per_second: 0.0, on_wire: Rate(1), packet };
        rate.set(window / rtt.unwrap_or(NOMINAL_RTT).seconds().max(1e-9));
        rate
    }

    /// SetPacingRateWithGain: before the pipe has been full, the rate only grows.
    #[inline]
    pub fn update(&mut self, per_second: f64, pipe: &FullPipe) {
        if per_second > self.per_second || (pipe.reached && per_second > 0.0) {
            self.set(per_second);
        }
    }

    #[inline]
    pub fn set(&mut self, per_second: f64) {
        if per_second != self.per_second {
            self.per_second = per_second;
            self.on_wire = Rate(((per_second * 8.0 * self.packet.0 as f64) as u64).max(1));
        }
    }

    #[inline]
    pub fn per_second(&self) -> f64 {
        self.per_second
    }

    #[inline]
    pub fn on_wire(&self) -> Rate {
        self.on_wire
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_initial_rate_is_a_window_per_rtt_and_per_millisecond_before_one_is_measured() {
        let of = |rtt| PacingRate::initial(Cwnd(20.0), rtt, Bytes(1250));
        let mut rate = of(Some(TimeDelta::from_millis(100)));
        assert_eq!((of(None).per_second(), rate.per_second()), (20_000.0, 200.0));
        // 200 packets of 10,000 bits per second.
        assert_eq!(rate.on_wire(), Rate(2_000_000));
        rate.set(0.0);
        assert_eq!(rate.on_wire(), Rate(1));
    }

    #[test]
    fn the_rate_falls_only_after_the_pipe_has_been_full() {
        let rtt = Some(TimeDelta::from_millis(1000));
        let (mut rate, mut pipe) = (PacingRate::initial(Cwnd(100.0), rtt, Bytes(1250)), FullPipe::default());
        let mut after = |wanted, pipe: &FullPipe| {
            rate.update(wanted, pipe);
            rate.per_second()
        };
        assert_eq!([after(150.0, &pipe), after(120.0, &pipe)], [150.0, 150.0]);
        pipe.fill();
        assert_eq!([after(120.0, &pipe), after(0.0, &pipe)], [120.0, 120.0]);
    }
}
