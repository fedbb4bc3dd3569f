//! The square-root law.

use crate::model::{arguments, models};
use crate::parameter::{Count, Loss, Positive};

arguments! {
    /// A greedy flow with random losses and no timeouts.
    pub struct Mathis {
        /// Payload of a segment.
        mss_bytes: Positive,
        /// Round trip, queueing included.
        rtt_s: Positive,
        /// Probability that a segment is lost, independently of other segments; accurate up to about 0.01.
        loss: Loss,
        /// Segments per acknowledgement, b: 1, or 2 with delayed acknowledgements.
        segments_per_ack: Count = 1,
    }
}

models! {
    /// Square-root law: payload rate of a greedy flow under light random loss.
    pub fn mathis_rate(flow: Mathis) -> f64 {
        let segments = (1.5 / (flow.segments_per_ack.get() as f64 * flow.loss.get())).sqrt();
        8.0 * flow.mss_bytes.get() / flow.rtt_s.get() * segments
    }
    quantity: "rate under light random loss";
    equation: "MSS / RTT sqrt(3 / (2 b p))";
    source: "Mathis, Semke, Mahdavi and Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997, \
             equation (3) and table 1";
    assumes: ["periodic losses", "no timeout", "no window limit"];
    returns: "bit/s.";
    example: ">>> round(tb.models.mathis_rate(mss_bytes=1000, rtt_s=0.1, loss=0.006))\n1264911";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn rate(loss: f64, segments_per_ack: u64) -> Result<f64, ParameterError> {
        Ok(mathis_rate(Mathis {
            mss_bytes: Positive::new("mss_bytes", 1000.0)?,
            rtt_s: Positive::new("rtt_s", 0.1)?,
            loss: Loss::new(loss)?,
            segments_per_ack: Count::new("segments_per_ack", segments_per_ack)?,
        }))
    }

    #[test]
    fn a_loss_of_six_in_a_thousand_gives_five_sqrt_ten_segments_per_round_trip() -> Result<(), ParameterError> {
        // sqrt(1.5 / 0.006) = sqrt(250) = 15.811388 segments of 8000 bits in 0.1 s.
        assert!((rate(0.006, 1)? - 1_264_911.064).abs() < 1e-3);
        Ok(())
    }

    #[test]
    fn delayed_acknowledgements_cost_the_square_root_of_two() -> Result<(), ParameterError> {
        assert!((rate(0.01, 1)? / rate(0.01, 2)? - 2f64.sqrt()).abs() < 1e-12);
        Ok(())
    }
}
