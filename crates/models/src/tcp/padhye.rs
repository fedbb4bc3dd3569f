//! The rate of Reno under loss, with timeouts and a window limit.

use crate::model::{arguments, models};
use crate::parameter::{Count, Loss, Positive};

arguments! {
    /// A greedy Reno flow. Losses are independent between rounds; once a packet of a round is lost, the rest of the round is lost
    /// as well.
    pub struct Padhye {
        /// Payload of a segment.
        mss_bytes: Positive,
        /// Round trip, queueing included.
        rtt_s: Positive,
        /// Probability p that a packet is the first lost packet of its round: loss indications over packets sent.
        loss: Loss,
        /// First timeout T0; it doubles up to 64 T0.
        rto_s: Positive,
        /// Receiver window in segments.
        receiver_window: Count,
        /// Segments per acknowledgement, b: 1, or 2 with delayed acknowledgements.
        segments_per_ack: Count = 1,
    }
}

const ASSUMES: [&str; 2] = ["once a packet is lost, the rest of its round is lost", "the RTT does not depend on the window"];

models! {
    /// Payload sending rate of a greedy Reno flow with timeouts and a window limit, retransmissions included.
    pub fn padhye_rate(flow: Padhye) -> f64 {
        let round = Round::of(flow);
        let p = flow.loss.get();
        bits(flow) * ((1.0 - p) / p + round.window + round.timeout_share / (1.0 - p)) / round.seconds(flow)
    }
    quantity: "rate under random loss with timeouts";
    equation: "MSS ((1 - p) / p + W + Q / (1 - p)) / (RTT X + Q f(p) T0 / (1 - p)), W the mean window at a loss, X the round \
               trips of a period, Q the fraction of timeouts";
    source: "Padhye, Firoiu, Towsley and Kurose, Modeling TCP Throughput, SIGCOMM 1998, section 2.3: the full model, both branches";
    assumes: ASSUMES;
    returns: "bit/s.";
    example: ">>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01)\n\
              >>> tb.models.padhye_rate(**flow, rto_s=1, receiver_window=1000) < tb.models.mathis_rate(**flow)\n\
              True";

    /// Payload rate received from a greedy Reno flow with timeouts and a window limit.
    pub fn padhye_goodput(flow: Padhye) -> f64 {
        // In the round that ends a period half a window arrives, and one packet of each sequence of timeouts.
        let round = Round::of(flow);
        let p = flow.loss.get();
        bits(flow) * ((1.0 - p) / p + round.window / 2.0 + round.timeout_share) / round.seconds(flow)
    }
    quantity: "goodput under random loss with timeouts";
    equation: "MSS ((1 - p) / p + W / 2 + Q) / (RTT X + Q f(p) T0 / (1 - p)), as in padhye_rate";
    source: "Padhye, Firoiu, Towsley and Kurose, Modeling TCP Reno Performance, IEEE/ACM ToN 8(2), 2000, section V";
    assumes: ASSUMES;
    returns: "bit/s.";
    example: ">>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=0.01, rto_s=1, receiver_window=1000)\n\
              >>> tb.models.padhye_goodput(**flow) < tb.models.padhye_rate(**flow)\n\
              True";
}

fn bits(flow: Padhye) -> f64 {
    8.0 * flow.mss_bytes.get()
}

/// The last round of a period between losses.
struct Round {
    /// E[W], the mean window at a loss.
    window: f64,
    /// Round trips of a period.
    trips: f64,
    /// Q(E[W]), the probability that the loss is detected by a timeout.
    timeout_share: f64,
}

impl Round {
    fn of(flow: Padhye) -> Round {
        let p = flow.loss.get();
        let b = flow.segments_per_ack.get() as f64;
        let limit = flow.receiver_window.get() as f64;
        let start = (2.0 + b) / (3.0 * b);
        let unlimited = start + (8.0 * (1.0 - p) / (3.0 * b * p) + start * start).sqrt();
        let (window, trips) = if unlimited < limit {
            (unlimited, b / 2.0 * unlimited + 1.0)
        } else {
            (limit, b / 8.0 * limit + (1.0 - p) / (p * limit) + 2.0)
        };
        Round { window, trips, timeout_share: timeout_share(p, window) }
    }

    /// Duration of a period and of the timeouts that may follow it.
    fn seconds(&self, flow: Padhye) -> f64 {
        let p = flow.loss.get();
        flow.rtt_s.get() * self.trips + self.timeout_share * backed_off(p) * flow.rto_s.get() / (1.0 - p)
    }
}

/// Fraction of loss indications that are timeouts at window w: fewer than three packets arrive after the lost one.
fn timeout_share(p: f64, window: f64) -> f64 {
    let arrives = 1.0 - p;
    let three = arrives * arrives * arrives;
    let share = (1.0 - three) * (1.0 + three * (1.0 - libm::pow(arrives, window - 3.0))) / (1.0 - libm::pow(arrives, window));
    share.min(1.0)
}

/// f(p) = 1 + p + 2 p^2 + 4 p^3 + ... + 32 p^6: the mean length of a sequence of timeouts is f(p) T0 / (1 - p).
fn backed_off(p: f64) -> f64 {
    1.0 + p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p * (1.0 + 2.0 * p)))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn flow(loss: f64, receiver_window: u64, segments_per_ack: u64) -> Result<Padhye, ParameterError> {
        Ok(Padhye {
            mss_bytes: Positive::new("mss_bytes", 125.0)?,
            rtt_s: Positive::new("rtt_s", 0.1)?,
            loss: Loss::new(loss)?,
            rto_s: Positive::new("rto_s", 1.0)?,
            receiver_window: Count::new("receiver_window", receiver_window)?,
            segments_per_ack: Count::new("segments_per_ack", segments_per_ack)?,
        })
    }

    #[test]
    fn one_loss_in_nine_with_delayed_acknowledgements() -> Result<(), ParameterError> {
        // b = 2, p = 1/9: W = (2/3) (1 + sqrt(3 * 8 + 1)) = 4.
        // Q = (217/729) (7073/6561) / (2465/6561) = 0.854120; f = 607352/531441 = 1.142840.
        // (8 + 4 + 0.960885) / (0.1 * 5 + 0.960885 * 1.142840) = 12.960885 / 1.598138 = 8.10999 segments of 1000 bits a second.
        let flow = flow(1.0 / 9.0, 1000, 2)?;
        assert!((padhye_rate(flow) - 8109.99).abs() < 0.02);
        // (8 + 2 + 0.854120) / 1.598138 = 6.79173.
        assert!((padhye_goodput(flow) - 6791.73).abs() < 0.02);
        Ok(())
    }

    #[test]
    fn a_small_window_caps_the_rate_when_losses_are_rare() -> Result<(), ParameterError> {
        // Ten segments of 1000 bits every 0.1 s.
        let rate = padhye_rate(flow(1e-9, 10, 1)?);
        assert!((rate - 100_000.0).abs() < 1.0, "{rate}");
        Ok(())
    }

    #[test]
    fn rare_losses_approach_the_square_root_law() -> Result<(), ParameterError> {
        // sqrt(1.5 / 1e-8) = 12247.45 segments per 0.1 s.
        let rate = padhye_rate(flow(1e-8, 1 << 40, 1)?);
        assert!((rate / 122_474_487.0 - 1.0).abs() < 2e-3, "{rate}");
        Ok(())
    }

    #[test]
    fn rates_fall_with_loss_and_goodput_never_exceeds_the_sending_rate() -> Result<(), ParameterError> {
        let mut last = f64::INFINITY;
        for step in 1..100 {
            let flow = flow(f64::from(step) / 100.0, 64, 1)?;
            assert!(padhye_rate(flow) < last && padhye_goodput(flow) < padhye_rate(flow), "loss {step} %");
            last = padhye_rate(flow);
        }
        Ok(())
    }
}
