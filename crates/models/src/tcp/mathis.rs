//! The square-root law.

use crate::parameter::{Count, Loss, Positive};

/// A greedy flow that loses packets at random and never times out.
#[derive(Clone, Copy, Debug)]
pub struct Mathis {
    /// Payload of a segment in bytes.
    pub mss_bytes: Positive,
    /// Round trip, queueing included.
    pub rtt_s: Positive,
    /// Per segment, independent of each other.
    pub loss: Loss,
    /// Segments per acknowledgement: 1, or 2 with delayed acknowledgements.
    pub segments_per_ack: Count,
}

/// Payload rate in bit/s: MSS / RTT sqrt(3 / (2 b p)), b segments per acknowledgement.
///
/// Source: Mathis, Semke, Mahdavi and Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, CCR 27(3), 1997,
/// equation (3) and table 1. Periodic losses, no timeouts, no window limit: good for p up to about 0.01.
pub fn mathis_rate(flow: &Mathis) -> f64 {
    let segments = (1.5 / (flow.segments_per_ack.get() as f64 * flow.loss.get())).sqrt();
    8.0 * flow.mss_bytes.get() / flow.rtt_s.get() * segments
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::ParameterError;

    fn rate(loss: f64, segments_per_ack: u64) -> Result<f64, ParameterError> {
        Ok(mathis_rate(&Mathis {
            mss_bytes: Positive::new("mss_bytes", 1000.0)?,
            rtt_s: Positive::new("rtt_s", 0.1)?,
            loss: Loss::new(loss)?,
            segments_per_ack: Count::new("segments_per_ack", segments_per_ack)?,
        }))
    }

    #[test]
    fn a_loss_of_six_in_a_thousand_lets_five_sqrt_ten_segments_out_per_round_trip() -> Result<(), ParameterError> {
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
