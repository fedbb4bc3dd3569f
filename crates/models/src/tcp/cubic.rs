//! CUBIC under light random loss.

use super::{Mathis, mathis_rate};
use crate::model::{arguments, models};
use crate::parameter::{Count, Loss, Positive};

arguments! {
    /// A greedy CUBIC flow with random losses and no timeouts.
    pub struct CubicFlow {
        /// Payload of a segment.
        mss_bytes: Positive,
        /// Round trip, queueing included.
        rtt_s: Positive,
        /// Probability that a segment is lost, independently of other segments.
        loss: Loss,
    }
}

/// C in segments per s^3, and the decrease factor (RFC 9438, sections 4.6 and 5.1).
const C: f64 = 0.4;
const BETA: f64 = 0.7;

models! {
    /// Payload rate of a greedy CUBIC flow under light random loss: the larger of the cubic curve's rate and Reno's.
    pub fn cubic_rate(flow: CubicFlow) -> f64 {
        let CubicFlow { mss_bytes, rtt_s, loss } = flow;
        cubic_curve_rate(flow).max(mathis_rate(Mathis { mss_bytes, rtt_s, loss, segments_per_ack: Count::ONE }))
    }
    quantity: "rate of CUBIC under light random loss";
    equation: "MSS / RTT max((C (3 + beta) / (4 (1 - beta)))^(1/4) (RTT / p)^(3/4), sqrt(3 / (2 p))), C = 0.4, beta = 0.7";
    source: "RFC 9438, section 5.1";
    assumes: ["periodic losses", "no fast convergence", "no timeout", "no window limit"];
    returns: "bit/s.";
    example: ">>> flow = dict(mss_bytes=1000, rtt_s=0.1, loss=1e-6)\n\
              >>> round(tb.models.cubic_rate(**flow) / tb.models.mathis_rate(**flow), 2)\n\
              4.84";
}

/// Payload rate by the cubic curve alone, without Reno-friendly growth.
pub fn cubic_curve_rate(flow: CubicFlow) -> f64 {
    let scale = (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).sqrt().sqrt();
    8.0 * flow.mss_bytes.get() / flow.rtt_s.get() * scale * three_quarters_power(flow.rtt_s.get() / flow.loss.get())
}

/// Uses only operations that round identically on all platforms.
fn three_quarters_power(x: f64) -> f64 {
    let root = x.sqrt();
    root * root.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    /// Segments of 1 bit per round trip.
    fn window(rtt_s: f64, loss: f64) -> Result<f64, ParameterError> {
        let flow = CubicFlow {
            mss_bytes: Positive::new("mss_bytes", 0.125)?,
            rtt_s: Positive::new("rtt_s", rtt_s)?,
            loss: Loss::new(loss)?,
        };
        Ok(cubic_rate(flow) * rtt_s)
    }

    #[test]
    fn a_loss_in_ten_thousand_over_a_tenth_of_a_second_by_hand() -> Result<(), ParameterError> {
        // 0.4 * 3.7 / 1.2 = 1.233333, its fourth root 1.053829; 1000^(3/4) = 177.8279.
        assert!((window(0.1, 1e-4)? - 187.400).abs() < 1e-3);
        Ok(())
    }

    #[test]
    fn short_round_trips_or_high_loss_give_the_rate_of_reno() -> Result<(), ParameterError> {
        // sqrt(1.5 / 0.006) = 15.811388.
        assert!((window(0.1, 0.006)? - 15.811_388).abs() < 1e-6);
        assert!((window(0.001, 1e-4)? - 15_000f64.sqrt()).abs() < 1e-9);
        Ok(())
    }
}
