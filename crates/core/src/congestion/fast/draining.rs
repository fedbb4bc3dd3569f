//! Draining (section 4.4.2): a stable new flow sends slowly enough for a while that the queues empty, so that it measures the path's true
//! RTT.

use super::phase::Phase;
use super::{Fast, FastMemory};
use crate::congestion::support::Ack;
use crate::primitives::units::{Cwnd, Time, TimeDelta};

impl Fast {
    /// Section 4.4.2. `r`: the factor by which the flow slows down.
    pub(super) fn drain(&mut self, ack: &Ack, r: f64) {
        let since = |began: Time| ack.now.since(began).0 as f64;
        match self.memory.phase {
            Phase::Reduction { began, before } if since(began) >= before => {
                self.memory.phase = Phase::Depletion { began: ack.now, before, fell: ack.now, base: self.memory.base };
            }
            // One segment per r acknowledgements.
            Phase::Reduction { .. } => self.set(Cwnd(self.window - (r - 1.0) / r)),
            Phase::Depletion { began, before, fell, base } => {
                let fell = if self.memory.base < base { ack.now } else { fell };
                let round_trip = self.memory.average;
                let ends = since(fell) >= round_trip || since(began) >= 2.0 * round_trip;
                self.memory.phase = match ends {
                    true => self.memory.refilling(ack.now, before),
                    false => Phase::Depletion { began, before, fell, base: self.memory.base },
                };
            }
            Phase::Refilling { target } if self.window < target && ack.window_validated => {
                // No acknowledgement more than doubles the window.
                self.set(Cwnd(target.min(self.window + (r - 1.0).min(self.window))));
            }
            Phase::Refilling { .. } => self.memory.phase = Phase::Stabilisation { began: ack.now },
            Phase::Stabilisation { began } if since(began) >= self.memory.average => {
                self.memory.phase = Phase::Drained { since: ack.now };
            }
            _ => {}
        }
        self.memory.updated = ack.now;
    }
}

impl FastMemory {
    /// The estimated propagation delay may belong to a path that is no longer used.
    pub(super) fn drain_again_if_due(&mut self, now: Time) {
        let Phase::Drained { since } = self.phase else { return };
        if self.spec.draining.is_some() && self.spec.drain_interval.is_some_and(|after| now.since(since) >= after) {
            self.phase = Phase::Reduction { began: now, before: self.average };
            self.base = None;
        }
    }

    /// The equilibrium rate, alpha / (D - d), times the RTT of the empty queue.
    fn refilling(&self, now: Time, before: f64) -> Phase {
        let base = self.base.unwrap_or(TimeDelta::ZERO).0 as f64;
        // Without a queue before, there is nothing to refill.
        let target = if before > base { self.alpha(now) * base / (before - base) } else { 0.0 };
        Phase::Refilling { target }
    }
}

#[cfg(test)]
mod tests {
    use super::super::phase::Phase;
    use crate::congestion::Controller;
    use crate::congestion::fast::FastSpec;
    use crate::congestion::fast::bench::{SPEC, ms, queued};
    use crate::primitives::units::Segments;

    #[test]
    fn a_new_flow_drains_the_queues_once_it_is_stable() {
        let mut sender = queued(250.0, FastSpec { draining: Some(10), ..SPEC }, 125);
        sender.ack_after(125);
        assert_eq!(sender.law.memory.phase, Phase::Converging { stable: 1 });
        sender.ack_after(125);
        assert!(matches!(sender.law.memory.phase, Phase::Reduction { .. }));
        // Nine tenths of a segment less per acknowledgement: 250 in an RTT of 125 ms leave 25.
        let windows: Vec<f64> = (0..250).map(|step| sender.ack_after(u64::from(step % 2 == 1))).collect();
        assert!((windows[0] - 249.1).abs() < 1e-9 && (windows[247] - 26.8).abs() < 1e-9, "{} {}", windows[0], windows[247]);
        assert!(matches!(sender.law.memory.phase, Phase::Depletion { .. }));
        // The queue is 5 ms shorter than the flow's estimate of an empty path: 95 ms at 20 ms, and one RTT later it is stable.
        sender.law.memory.average = ms(100).0 as f64;
        sender.ack_after(20);
        sender.law.memory.base = Some(ms(95));
        let reduced = sender.ack_after(0);
        assert_eq!((sender.ack_after(99), sender.law.release()), (reduced, None));
        sender.ack_after(1);
        // 50 * 95 / (125 - 95), by nine more per acknowledgement, which releases at most ten.
        assert_eq!(sender.law.memory.phase, Phase::Refilling { target: 50.0 * 95.0 / 30.0 });
        assert_eq!((sender.ack_after(0), sender.law.release()), (reduced + 9.0, Some(Segments(10))));
        let refilled: Vec<f64> = (0..20).map(|_| sender.ack_after(0)).collect();
        assert_eq!(refilled[19], 50.0 * 95.0 / 30.0);
        assert!(matches!(sender.law.memory.phase, Phase::Stabilisation { .. }));
        assert_eq!((sender.ack_after(99), sender.law.release()), (refilled[19], None));
        sender.ack_after(1);
        assert!(matches!(sender.law.memory.phase, Phase::Drained { .. }));
    }

    #[test]
    fn after_the_given_time_it_drains_again_and_measures_the_path_again() {
        let spec = FastSpec { draining: Some(10), drain_interval: Some(ms(5000)), ..SPEC };
        let mut sender = queued(250.0, spec, 125);
        sender.law.memory.phase = Phase::Drained { since: sender.now };
        sender.ack_after(4999);
        assert!(matches!(sender.law.memory.phase, Phase::Drained { .. }));
        sender.ack_after(1);
        assert!(matches!(sender.law.memory.phase, Phase::Reduction { .. }));
        // The path has become longer: 150 ms instead of 100.
        assert_eq!(sender.law.memory.base, None);
        sender.measure(150);
        assert_eq!(sender.law.memory.base, Some(ms(150)));
    }
}
