//! Reno under independent random losses: a Markov chain of windows, from round trip to round trip.
//!
//! A round of w packets has no loss with probability (1 - p)^w, and the window grows by 1/b of a packet. Otherwise 1 + (w - 1) p packets
//! are lost on average: the first one, and its share of those sent before the loss is detected. Recovery halves the window once, and takes
//! a round trip or, with NewReno, one for each loss. The timer repairs lost retransmissions, and losses in windows that are too small for
//! three duplicates: rounds of slow start from one packet follow.
//!
//! * SACK (RFC 6675): one lost retransmission is enough for a timeout.
//! * RACK (RFC 8985) detects lost retransmissions, and the tail loss probe replaces duplicates: a timeout needs two losses of a packet.
//! * NewReno (RFC 6582): as SACK, but a recovery lasts longer. Its number of retransmissions at risk, twice the losses, is fitted.
//! * Reno (RFC 5681): two losses halve the window twice and need a window of 14 packets, which is fitted; more losses cause a timeout.
//!
//! docs/evidence/theory.md compares it with simulations.

use crate::parameter::{Count, Loss, Positive};

/// How a sender repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRepair {
    Reno,
    NewReno,
    Sack,
    Rack,
}

/// A greedy Reno flow under independent losses.
#[derive(Clone, Copy, Debug)]
pub struct LossyFlow {
    pub loss: Loss,
    pub repair: LossRepair,
    /// In segments.
    pub receiver_window: Count,
    /// Segments per window increase, b.
    pub segments_per_increase: Count,
    /// Segments per acknowledgement, which limit the growth in slow start.
    pub segments_per_ack: Count,
}

/// Means per round trip in equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossyRate {
    /// Segments that arrive, retransmissions of received segments excluded.
    segments: f64,
    /// Timeouts with their doublings, in first timeouts.
    timeouts: f64,
}

impl LossyRate {
    /// Segments per second.
    pub fn segments_per_s(&self, rtt_s: Positive, rto_s: Positive) -> f64 {
        self.segments / (rtt_s.get() + self.timeouts * rto_s.get())
    }

    /// Part of the time in which the flow waits for timeouts.
    pub fn paused(&self, rtt_s: f64, rto_s: f64) -> f64 {
        self.timeouts * rto_s / (rtt_s + self.timeouts * rto_s)
    }
}

/// Smallest loss of the chain. Windows at lower losses follow from the square-root law.
const SMALLEST: f64 = 1e-6;
/// Smaller losses do not affect a limited window.
const NEGLIGIBLE: f64 = 1e-12;
/// The window is below this multiple of 1 / sqrt(p), except with a probability of exp(-13).
const LARGEST: f64 = 6.0;
/// Iterations until the chain has forgotten its start.
const ITERATIONS: usize = 60;
/// Smallest window with which Reno repairs two losses.
const TWO_LOSSES: usize = 14;

/// Rate of a flow under random loss.
pub fn lossy_rate(flow: LossyFlow) -> LossyRate {
    let is_small = (flow.receiver_window.get() as f64) < LARGEST / SMALLEST.sqrt();
    let p = flow.loss.get().max(if is_small { NEGLIGIBLE } else { SMALLEST });
    let scale = if is_small { 1.0 } else { (p / flow.loss.get()).sqrt() };
    let limit = flow.receiver_window.get() as f64 / scale;
    let max = ((LARGEST / p.sqrt()) as usize + 8).min(limit as usize);
    let mut chain = Chain { p, flow, total: Total::default(), next: vec![0.0; max + 1] };
    let mut starts = vec![0.0; max + 1];
    starts[(max / 4).max(1)] = 1.0;
    for _ in 0..ITERATIONS {
        chain.total = Total::default();
        chain.next.fill(0.0);
        chain.episodes(&starts);
        let sum: f64 = chain.next.iter().sum();
        starts.iter_mut().zip(&chain.next).for_each(|(start, next)| *start = next / sum);
    }
    let Total { segments, round_trips, timeouts } = chain.total;
    LossyRate { segments: segments / round_trips * scale, timeouts: timeouts / round_trips / scale }
}

#[derive(Default)]
struct Total {
    segments: f64,
    round_trips: f64,
    timeouts: f64,
}

struct Chain {
    p: f64,
    flow: LossyFlow,
    total: Total,
    /// Probability of each window after a recovery.
    next: Vec<f64>,
}

/// How an episode ends.
struct Repair {
    timeout: f64,
    /// Probability that the window halves twice.
    twice: f64,
    round_trips: f64,
}

impl Chain {
    /// Episodes from these windows to the next loss and its repair.
    fn episodes(&mut self, starts: &[f64]) {
        let (max, growth) = (starts.len() - 1, 1.0 / self.flow.segments_per_increase.get() as f64);
        let mut grown = 0.0;
        for (window, start) in starts.iter().enumerate().skip(1) {
            let whole = self.without_loss(window as f64);
            let growth = if window < max { growth } else { 0.0 };
            let rounds = (start + grown) / (1.0 - whole * (1.0 - growth));
            grown = rounds * whole * growth;
            self.total.round_trips += rounds;
            self.total.segments += rounds * whole * window as f64;
            self.repair(window, rounds * (1.0 - whole));
        }
    }

    fn without_loss(&self, packets: f64) -> f64 {
        libm::pow(1.0 - self.p, packets)
    }

    fn losses(&self, window: f64) -> f64 {
        1.0 + (window - 1.0) * self.p
    }

    fn repair(&mut self, window: usize, share: f64) {
        let (half, losses) = ((window / 2).max(2), self.losses(window as f64));
        let Repair { timeout, twice, round_trips } = self.end(window);
        let repaired = share * (1.0 - timeout);
        self.total.segments += share * (window as f64 - losses).max(0.0) + repaired * round_trips * half as f64 * (1.0 - self.p);
        self.total.round_trips += repaired * round_trips;
        self.restart(half / 2, share * twice);
        self.restart(half, repaired - share * twice);
        self.total.segments += share * timeout * losses;
        self.time_out(share * timeout);
        self.slow_start(half, share * timeout);
    }

    fn end(&self, window: usize) -> Repair {
        let (losses, q) = (self.losses(window as f64), 1.0 - self.p);
        // The probability of exactly two losses.
        let two = (window as f64 - 1.0) * self.p * self.without_loss(window as f64 - 2.0);
        let is_large = window >= TWO_LOSSES;
        let (twice, round_trips) = match self.flow.repair {
            LossRepair::Reno => (if is_large { two * q * q } else { 0.0 }, 2.0 + two),
            LossRepair::NewReno => (0.0, 1.0 + losses),
            LossRepair::Sack => (0.0, 1.0),
            LossRepair::Rack => (0.0, 1.0 + losses * self.p),
        };
        let timeout = match self.flow.repair {
            LossRepair::Reno => self.with_duplicates(window, 1.0 - self.without_loss(window as f64 - 1.0) * q - twice),
            _ => self.timeout(window),
        };
        Repair { timeout, twice, round_trips }
    }

    /// Probability that the timer ends a recovery.
    fn timeout(&self, window: usize) -> f64 {
        let losses = self.losses(window as f64);
        match self.flow.repair {
            LossRepair::Rack if window == 1 => 0.5,
            LossRepair::Rack => 1.0 - libm::pow(1.0 - self.p * self.p, losses),
            LossRepair::NewReno => self.with_duplicates(window, 1.0 - self.without_loss(2.0 * losses)),
            LossRepair::Sack | LossRepair::Reno => self.with_duplicates(window, 1.0 - self.without_loss(losses)),
        }
    }

    /// In windows of up to three packets each of three others has to arrive, with limited transmit (RFC 3042).
    fn with_duplicates(&self, window: usize, timeout: f64) -> f64 {
        match window {
            1 => 1.0,
            2 | 3 => 1.0 - (1.0 - timeout) * self.without_loss(3.0),
            _ => timeout,
        }
    }

    /// f(p) / (1 - p) of Padhye: the length of a sequence of timeouts.
    fn time_out(&mut self, share: f64) {
        let p = self.p;
        let doubled = 1.0 + p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p)))));
        self.total.timeouts += share * doubled / (1.0 - p);
    }

    fn slow_start(&mut self, threshold: usize, mut share: f64) {
        let growth = 1.0 + 1.0 / self.flow.segments_per_ack.get() as f64;
        let mut window = 1.0;
        while window < threshold as f64 {
            let whole = self.without_loss(window);
            self.total.round_trips += share;
            self.total.segments += share * window * (1.0 - self.p);
            let lost = share * (1.0 - whole);
            let timeout = lost * self.timeout(window as usize);
            let half = (window as usize / 2).max(2);
            self.total.round_trips += lost - timeout;
            self.total.segments += (lost - timeout) * half as f64;
            self.time_out(timeout);
            self.restart(half, lost);
            share -= lost;
            window *= growth;
        }
        self.restart(threshold, share);
    }

    fn restart(&mut self, window: usize, share: f64) {
        let max = self.next.len() - 1;
        self.next[window.clamp(1, max)] += share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn rate(loss: f64, repair: LossRepair, receiver_window: u64) -> Result<LossyRate, ParameterError> {
        Ok(lossy_rate(LossyFlow {
            loss: Loss::new(loss)?,
            repair,
            receiver_window: Count::new("receiver_window", receiver_window)?,
            segments_per_increase: Count::ONE,
            segments_per_ack: Count::ONE,
        }))
    }

    #[test]
    fn rare_losses_approach_the_constant_of_random_losses() -> Result<(), ParameterError> {
        // 1.31 / sqrt(p) packets per round trip (Ott, Kemperman and Mathis 1996), whatever the repair.
        for repair in [LossRepair::Reno, LossRepair::NewReno, LossRepair::Sack, LossRepair::Rack] {
            for loss in [1e-5, 1e-8] {
                let segments = rate(loss, repair, 1 << 40)?.segments;
                assert!((segments * f64::sqrt(loss) / 1.31 - 1.0).abs() < 0.02, "{repair:?} {loss}: {segments}");
            }
        }
        Ok(())
    }

    #[test]
    fn a_window_caps_the_rate() -> Result<(), ParameterError> {
        let rate = rate(1e-9, LossRepair::Sack, 10)?;
        assert!((rate.segments - 10.0).abs() < 0.01 && rate.timeouts < 1e-6, "{rate:?}");
        Ok(())
    }

    #[test]
    fn better_repair_is_faster_at_every_loss() -> Result<(), ParameterError> {
        let (rtt, rto) = (Positive::new("rtt_s", 0.05)?, Positive::new("rto_s", 1.0)?);
        for loss in [0.003, 0.01, 0.03, 0.08] {
            let order = [LossRepair::Reno, LossRepair::NewReno, LossRepair::Sack, LossRepair::Rack];
            let rates = order.map(|repair| rate(loss, repair, 1000).map(|rate| rate.segments_per_s(rtt, rto)));
            let rates = rates.into_iter().collect::<Result<Vec<f64>, _>>()?;
            assert!(rates.is_sorted(), "{loss}: {rates:?}");
        }
        Ok(())
    }
}
