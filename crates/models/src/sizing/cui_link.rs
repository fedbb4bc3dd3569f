//! The trunk rule for one link with very many inputs: (3.23) with K = 1 and M to infinity.

use super::inverse::largest_utilisation;
use super::{BufferSize, Link, share, whole_flows};
use crate::model::models;
use crate::parameter::{Count, NonNegative, ParameterError, Positive, Servers, Utilisation};

const EQUATION: &str = "max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))";
const SOURCE: &str = "cui-thesis, equation (3.27)";
const ASSUMES: [&str; 5] = [
    "one transmitter, and enough inputs that they never limit it",
    "greedy paced flows of TCP NewReno: one loss, one halving, no timeout",
    "enough flows for Poisson arrivals, an assumption that fails on a nearly full link",
    "no flow is limited by its window or its access link",
    "loss so small that load and utilisation are equal",
];

models! {
    /// The trunk rule for one transmitter and an unlimited number of inputs.
    pub fn cui_link_buffer(
        link: Link,
        flows: Count,
        harmonic_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let utilisation = utilisation.get();
        BufferSize::of(ln_f2(utilisation, share(link.packets_per_s(Servers::ONE), flows, harmonic_rtt_s)) / -libm::log(utilisation))
    }
    quantity: "single link";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "allows the loss at which TCP still reaches the target: the buffer holds bursts only";
    example: ">>> link = dict(rate_bps=16e6, packet_bytes=500, harmonic_rtt_s=0.1)\n\
              >>> tb.models.cui_link_buffer(**link, flows=[10, 100], utilisation=0.75).buffer.tolist()\n\
              [20, 4]";

    /// Largest utilisation, 0 to 1, for which `cui_link_buffer` requires at most `buffer`; 1 if that holds for every utilisation
    /// below 1.
    pub fn cui_link_utilisation(link: Link, flows: Count, harmonic_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let share = share(link.packets_per_s(Servers::ONE), flows, harmonic_rtt_s);
        largest_utilisation(|utilisation, missing| ln_f2(utilisation, share) + buffer.get() * libm::log1p(-missing))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;

    /// Smallest number of flows for which `cui_link_buffer` requires at most `buffer`.
    pub fn cui_link_flows(
        link: Link,
        harmonic_rtt_s: Positive,
        utilisation: Utilisation,
        buffer: NonNegative,
    ) -> Result<u64, ParameterError> {
        let utilisation = utilisation.get();
        let ln_c = ln_f2(utilisation, link.packets_per_s(Servers::ONE) * harmonic_rtt_s.get());
        whole_flows(libm::exp(0.5 * (ln_c + buffer.get() * libm::log(utilisation))))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
}

/// ln(U^3 share^2 / (1.5 (1 + U))); `share` is mu RTT_H / N.
fn ln_f2(utilisation: f64, share: f64) -> f64 {
    3.0 * libm::log(utilisation) + 2.0 * libm::log(share) - libm::log(1.5 * (1.0 + utilisation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sizing::{FedBottleneck, cui_trunk_buffer};

    /// 4000 packets of 500 bytes per second: section 3.8.2.
    fn link() -> Result<Link, ParameterError> {
        Ok(Link { rate_bps: Positive::new("rate_bps", 16e6)?, packet_bytes: Positive::new("packet_bytes", 500.0)? })
    }

    fn flows(count: u64) -> Result<Count, ParameterError> {
        Count::new("flows", count)
    }

    #[test]
    fn ten_flows_at_three_quarters_by_hand() -> Result<(), ParameterError> {
        // 1.5 * 100 * 1.75 / (0.421875 * 400^2) = 0.00388889; ln -5.54963 over ln 0.75 = -0.287682 is 19.29.
        let asked = cui_link_buffer(link()?, flows(10)?, Positive::new("rtt", 0.1)?, Utilisation::new(0.75)?)?;
        assert!((asked.unrounded - 19.29).abs() < 0.005, "{asked:?}");
        assert_eq!(asked.buffer, 20);
        Ok(())
    }

    #[test]
    fn equals_the_trunk_rule_for_one_transmitter_and_very_many_inputs() -> Result<(), ParameterError> {
        let (rtt, inputs) = (Positive::new("rtt", 0.1)?, Count::new("inputs", 1_000_000_000_000)?);
        for target in [0.1, 0.75, 0.95, 0.999] {
            let utilisation = Utilisation::new(target)?;
            let trunk = FedBottleneck { inputs, transmitters: Servers::new(1)?, link: link()? };
            let trunk = cui_trunk_buffer(trunk, flows(50)?, rtt, utilisation)?.unrounded;
            let packets = cui_link_buffer(link()?, flows(50)?, rtt, utilisation)?.unrounded;
            assert!((packets / trunk - 1.0).abs() < 1e-9, "{target}: {packets}, {trunk}");
        }
        Ok(())
    }

    #[test]
    fn the_inverse_models_invert_the_rule() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        for target in [0.75, 0.999] {
            let utilisation = Utilisation::new(target)?;
            let packets = NonNegative::new("buffer", cui_link_buffer(link()?, flows(50)?, rtt, utilisation)?.unrounded)?;
            assert!((cui_link_utilisation(link()?, flows(50)?, rtt, packets) - target).abs() < 1e-12);
            assert_eq!(cui_link_flows(link()?, rtt, utilisation, packets)?, 50);
        }
        Ok(())
    }
}
