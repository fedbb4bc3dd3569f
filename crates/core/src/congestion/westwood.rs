//! Westwood: the sender estimates the bandwidth from the returning acknowledgements, and a loss sets the window to that bandwidth times the
//! minimum RTT, so that a random loss on a path without a queue has almost no effect (Mascolo, Casetti, Gerla, Sanadidi and Wang, TCP
//! Westwood: Bandwidth Estimation for Enhanced Transport over Wireless Links, MobiCom 2001, sections 2 and 3). With queues on the return
//! path, acknowledgements arrive in bursts, and the estimate is too high; `westwood_plus` corrects that.
//!
//! Differs: acknowledgements that arrive at one instant make one sample. A silence is filled with zero samples (section 2.2) when the
//! acknowledgement that ends it arrives, which is when they take effect; that acknowledgement is a sample over at least a quarter of tau,
//! because otherwise it would outweigh all others.

use super::support::westwood_like::{Bandwidth, WestwoodLike};
use super::support::{Ack, Start};
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// A loss sets the window to the estimated bandwidth times the minimum RTT. The bandwidth is filtered at every acknowledgement.
    Westwood = "westwood", "Mascolo, Casetti, Gerla, Sanadidi and Wang, MobiCom 2001";

    pub struct WestwoodSpec {
        /// Time constant of the bandwidth filter.
        tau: TimeDelta = TimeDelta::from_millis(500) => ABOVE_ZERO,
    }
}

impl Settings for WestwoodSpec {
    fn samples() -> Vec<WestwoodSpec> {
        vec![WestwoodSpec::default(), WestwoodSpec { tau: TimeDelta::from_millis(5) }]
    }
}

/// A silence of tau / M counts as a zero sample; the paper's minimum M.
const M: u64 = 2;
/// Number of zero samples after which the estimate is practically zero: 0.6 to their power.
const MAX_NULL_SAMPLES: u64 = 100;

pub type Westwood = WestwoodLike<Tustin>;

/// The filter of section 2.2: a low-pass filter by the bilinear (Tustin) rule, for samples at irregular intervals.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tustin {
    tau: TimeDelta,
    /// Segments delivered since the last sample.
    pending: u32,
    last: Option<Time>,
    /// b of the last sample, in segments per second.
    sample: f64,
    filtered: Option<f64>,
}

impl Westwood {
    pub(super) fn new(spec: &WestwoodSpec, start: Start) -> Westwood {
        let filter = Tustin { tau: spec.tau, pending: 0, last: None, sample: 0.0, filtered: None };
        WestwoodLike::estimating(filter, start)
    }
}

impl Tustin {
    fn take(&mut self, sample: f64, interval: TimeDelta) {
        let (tau, interval) = (2.0 * self.tau.seconds(), interval.seconds());
        let alpha = (tau - interval) / (tau + interval);
        let before = self.filtered.unwrap_or(sample);
        let last = if self.filtered.is_some() { self.sample } else { sample };
        self.filtered = Some(alpha * before + (1.0 - alpha) * (sample + last) / 2.0);
        self.sample = sample;
    }
}

impl Bandwidth for Tustin {
    fn deliver(&mut self, Segments(delivered): Segments, ack: &Ack) {
        let Some(last) = self.last else {
            // The first acknowledgement does not end an interval.
            self.last = Some(ack.now);
            return;
        };
        self.pending = self.pending.saturating_add(delivered);
        let mut interval = ack.now.since(last);
        if interval == TimeDelta::ZERO {
            return;
        }
        let silence = TimeDelta((self.tau.0 / M).max(1));
        let nothing = interval.0 / silence.0;
        if self.filtered.is_some() && nothing > 0 {
            (0..nothing.min(MAX_NULL_SAMPLES)).for_each(|_| self.take(0.0, silence));
            interval = TimeDelta(interval.0 % silence.0).max(TimeDelta(silence.0 / 2));
        }
        self.take(f64::from(self.pending) / interval.seconds(), interval);
        (self.pending, self.last) = (0, Some(ack.now));
    }

    fn estimate(&self) -> Option<f64> {
        self.filtered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter() -> Tustin {
        Tustin { tau: TimeDelta::from_millis(500), pending: 0, last: None, sample: 0.0, filtered: None }
    }

    /// The estimate after acknowledgements of this many segments at these times, in milliseconds.
    fn process_ack(filter: &mut Tustin, arrived: &[(u64, u32)]) -> f64 {
        for &(milliseconds, acked) in arrived {
            filter.deliver(Segments(acked), &Ack::of_one(Time(TimeDelta::from_millis(milliseconds).0)));
        }
        filter.estimate().unwrap_or(f64::NAN)
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9 * expected, "{found}, not {expected}");
    }

    #[test]
    fn the_estimate_is_a_low_pass_filter_of_segments_over_the_time_between_acknowledgements() {
        let mut filter = filter();
        assert!(process_ack(&mut filter, &[(0, 5)]).is_nan());
        // 1 in 10 ms.
        near(process_ack(&mut filter, &[(10, 1)]), 100.0);
        // 3 in 10 ms: alpha is 990 / 1010, and the sample the mean of 300 and 100.
        near(process_ack(&mut filter, &[(20, 3)]), 99.0 / 101.0 * 100.0 + 2.0 / 101.0 * 200.0);
    }

    #[test]
    fn a_steady_stream_is_estimated_at_its_rate() {
        let mut filter = filter();
        let stream: Vec<(u64, u32)> = (0..1000).map(|index| (2 * index, 1)).collect();
        near(process_ack(&mut filter, &stream), 500.0);
    }

    #[test]
    fn acknowledgements_at_one_instant_are_one_sample() {
        near(process_ack(&mut filter(), &[(0, 1), (10, 1), (10, 1), (20, 2)]), {
            let alpha = 99.0 / 101.0;
            alpha * 100.0 + (1.0 - alpha) * (300.0 + 100.0) / 2.0
        });
    }

    #[test]
    fn the_estimate_decays_during_silence() {
        let mut filter = filter();
        process_ack(&mut filter, &[(0, 1), (10, 1)]);
        // Two zero samples for 500 ms, alpha 3/5 each: 0.6 * 100 + 0.4 * 50 = 80, then 48. Then 1 in 130 ms.
        let alpha = 870.0 / 1130.0;
        near(process_ack(&mut filter, &[(640, 1)]), alpha * 48.0 + (1.0 - alpha) * 0.5 / 0.13);
        // Any longer silence has the same effect.
        assert!(process_ack(&mut filter, &[(10_000_000, 1)]) < 2.0);
    }
}
