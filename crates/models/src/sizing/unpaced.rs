//! A few bursts of an unpaced sender, whatever the number of senders.

use super::inverse::largest_utilisation;
use super::{Bottleneck, BufferSize, share};
use crate::model::models;
use crate::parameter::{Count, NonNegative, ParameterError, Positive, Utilisation};
use crate::root::root;

const EQUATION: &str =
    "b ln(1.1 (U W)^2) / theta with exp(theta) = 1 + theta / U, and at least 0; bursts b = 0.22 W, windows W = C RTT_mean / N";
const SOURCE: &str = "Tailback, docs/howto/optical_buffers.md; its two constants are fitted to simulations";
const ASSUMES: [&str; 4] = [
    "unpaced NewReno over access links of at most a fifth of a transmitter's rate: over faster ones a flow can occupy it completely",
    "hundreds of flows or more, with different round trips, so that bursts arrive as a Poisson process",
    "one transmitter; with several that share the buffer, or access links of a tenth of its rate, the result is too large",
    "fitted with windows of 15 and 58 packets and tested from 15 to 90, for utilisations of 70 to 90 %: see docs/howto/optical_buffers.md for its error",
];

/// Fitted: see `cui-thesis/unpaced` of `tailback reproduce`.
const BURST: f64 = 0.22;
const PREFACTOR: f64 = 1.1;

models! {
    /// A few bursts of one unpaced sender: the same buffer for ten thousand flows as for a hundred with the same window.
    ///
    /// A flow sends a fraction of its window as one burst of b packets. If bursts arrive as a Poisson process, the probability of
    /// a queue of more than B packets falls as exp(-theta B / b), with the theta of M/D/1. By the square-root law flows with
    /// windows of U W packets have a loss of 1 / (U W)^2, so that B grows with the logarithm of U W.
    pub fn unpaced_buffer(
        bottleneck: Bottleneck,
        flows: Count,
        mean_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let window = share(bottleneck.packets_per_s(), flows, mean_rtt_s);
        BufferSize::of(packets(window, 1.0 - utilisation.get()).max(0.0))
    }
    quantity: "bursts of a window";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "absorbs the bursts of unpaced senders, which grow with a flow's window and not with the number of flows";
    example: ">>> link = dict(rate_bps=8e9, packet_bytes=1000, flows=4000, mean_rtt_s=0.1)\n\
              >>> tb.models.unpaced_buffer(**link, utilisation=0.8).buffer\n\
              78";

    /// Largest utilisation, 0 to 1, for which `unpaced_buffer` requires at most `buffer`; 1 if that holds for every utilisation
    /// below 1.
    pub fn unpaced_utilisation(bottleneck: Bottleneck, flows: Count, mean_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let window = share(bottleneck.packets_per_s(), flows, mean_rtt_s);
        largest_utilisation(|_, missing| packets(window, missing) - buffer.get())
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
}

/// Value of the equation for a utilisation of 1 - `missing`; below 0 where no buffer is required.
fn packets(window: f64, missing: f64) -> f64 {
    let rarity = libm::log(PREFACTOR) + 2.0 * libm::log((1.0 - missing) * window);
    BURST * window * rarity / decay(missing)
}

/// theta: decay rate of the queue's tail probability per burst, in M/D/1.
fn decay(missing: f64) -> f64 {
    // exp(theta) - 1 - theta / U falls until ln(1 / U) and has one zero beyond.
    let lowest = -libm::log1p(-missing);
    root(|theta| libm::expm1(theta) - theta / (1.0 - missing), lowest, 2.0 * lowest + 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    /// 100,000 packets/s and 0.1 s.
    fn link() -> Result<Bottleneck, ParameterError> {
        let link = Link { rate_bps: Positive::new("rate_bps", 8e8)?, packet_bytes: Positive::new("packet_bytes", 1000.0)? };
        Ok(Bottleneck { transmitters: Servers::new(1)?, link })
    }

    #[test]
    fn the_decay_of_a_queue_of_bursts_by_hand() {
        // exp(1) - 1 = 1 / U; exp(1e-3) - 1 = 1e-3 / U.
        for theta in [1.0, 1e-3, 5.0] {
            let utilisation = theta / libm::expm1(theta);
            assert!((decay(1.0 - utilisation) / theta - 1.0).abs() < 1e-9, "{theta}");
        }
    }

    #[test]
    fn windows_of_fifty_packets_by_hand() -> Result<(), ParameterError> {
        // U = 1 / (e - 1) = 0.58198: theta = 1, and 0.22 * 50 * ln(1.1 * 29.099^2) = 11 * 6.8366.
        let (flows, rtt) = (Count::new("flows", 200)?, Positive::new("rtt", 0.1)?);
        let utilisation = Utilisation::new(1.0 / libm::expm1(1.0))?;
        let asked = unpaced_buffer(link()?, flows, rtt, utilisation)?;
        assert!((asked.unrounded - 75.204).abs() < 1e-3, "{}", asked.unrounded);
        let back = unpaced_utilisation(link()?, flows, rtt, NonNegative::new("buffer", asked.unrounded)?);
        assert!((back / utilisation.get() - 1.0).abs() < 1e-12, "{back}");
        Ok(())
    }

    #[test]
    fn only_the_window_counts() -> Result<(), ParameterError> {
        let buffer = |flows: u64, rtt_s: f64| -> Result<u64, ParameterError> {
            Ok(unpaced_buffer(link()?, Count::new("flows", flows)?, Positive::new("rtt", rtt_s)?, Utilisation::new(0.8)?)?.buffer)
        };
        assert_eq!(buffer(200, 0.1)?, buffer(2000, 1.0)?);
        Ok(())
    }

    #[test]
    fn without_a_buffer_a_flow_has_the_largest_window_that_requires_none() -> Result<(), ParameterError> {
        // ln(1.1 (U W)^2) = 0 with windows W of 50 packets.
        let (flows, rtt) = (Count::new("flows", 200)?, Positive::new("rtt", 0.1)?);
        let most = unpaced_utilisation(link()?, flows, rtt, NonNegative::new("buffer", 0.0)?);
        assert!((most * 50.0 * 1.1f64.sqrt() - 1.0).abs() < 1e-12, "{most}");
        let buffer = |utilisation| Ok(unpaced_buffer(link()?, flows, rtt, Utilisation::new(utilisation)?)?.unrounded);
        assert_eq!(buffer(0.999 * most)?, 0.0);
        assert!(buffer(1.001 * most)? > 0.0);
        Ok(())
    }

    #[test]
    fn windows_below_a_packet_require_no_buffer() -> Result<(), ParameterError> {
        let (flows, rtt) = (Count::new("flows", 1_000_000)?, Positive::new("rtt", 0.1)?);
        for utilisation in [1e-300, 0.5, 0.999_999] {
            assert_eq!(unpaced_buffer(link()?, flows, rtt, Utilisation::new(utilisation)?)?.unrounded, 0.0);
        }
        Ok(())
    }
}
