//! The trunk rule for one link with very many inputs.

use super::inverse::largest_utilisation;
use super::{Bottleneck, Rule, whole_flows};
use crate::parameter::{NonNegative, ParameterError, Positive, Utilisation};

pub const CUI_LINK: Rule = Rule {
    name: "cui_link",
    idea: "lets as much be lost as TCP bears at the target: the buffer holds bursts only",
    equation: "max(0, ceil(log_U (1.5 N^2 (1 + U) / (U^3 mu^2 RTT_H^2))))",
    source: "cui-thesis, equation (3.27)",
    assumes: &[
        "one transmitter, and so many inputs that none of them is ever in the way",
        "greedy paced flows of TCP NewReno: one loss, one halving, no timeout",
        "enough flows for packets to come as from a Poisson process, which a link that is nearly full no longer sees",
        "no flow is held back by its window or its access link",
        "loss so small that load and utilisation are the same",
    ],
};

/// Packets (3.27) asks for, unrounded and below 0 where no buffer is needed: (3.23) with K = 1 and M without limit.
///
/// Error: several transmitters.
pub fn cui_link_buffer(
    bottleneck: &Bottleneck,
    harmonic_rtt_s: Positive,
    utilisation: Utilisation,
) -> Result<f64, ParameterError> {
    let utilisation = utilisation.get();
    Ok(ln_f2(utilisation, single(bottleneck)?.share(harmonic_rtt_s)) / -libm::log(utilisation))
}

/// The largest utilisation for which (3.27) asks for no more than `buffer`: 0 to 1, and 1 if it allows any below 1.
///
/// Error: several transmitters.
pub fn cui_link_utilisation(
    bottleneck: &Bottleneck,
    harmonic_rtt_s: Positive,
    buffer: NonNegative,
) -> Result<f64, ParameterError> {
    let share = single(bottleneck)?.share(harmonic_rtt_s);
    Ok(largest_utilisation(|utilisation, missing| ln_f2(utilisation, share) + buffer.get() * libm::log1p(-missing)))
}

/// The smallest number of flows with which (3.27) asks for no more than `buffer`; the flows of `bottleneck` do not matter.
///
/// Error: several transmitters, and a number of 2^53 or more.
pub fn cui_link_flows(
    bottleneck: &Bottleneck,
    harmonic_rtt_s: Positive,
    utilisation: Utilisation,
    buffer: NonNegative,
) -> Result<u64, ParameterError> {
    let utilisation = utilisation.get();
    let ln_c = ln_f2(utilisation, single(bottleneck)?.packets_per_s() * harmonic_rtt_s.get());
    whole_flows(libm::exp(0.5 * (ln_c + buffer.get() * libm::log(utilisation))))
}

/// ln(U^3 share^2 / (1.5 (1 + U))); `share` is mu RTT_H / N.
fn ln_f2(utilisation: f64, share: f64) -> f64 {
    3.0 * libm::log(utilisation) + 2.0 * libm::log(share) - libm::log(1.5 * (1.0 + utilisation))
}

fn single(bottleneck: &Bottleneck) -> Result<&Bottleneck, ParameterError> {
    match bottleneck.transmitters.get() {
        1 => Ok(bottleneck),
        several => Err(ParameterError::new("transmitters", several, "1: this rule is of a single link")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Count, Servers};
    use crate::sizing::{cui_trunk_buffer, whole_packets};

    /// 4000 packets a second of 500 bytes: section 3.8.2.
    fn link(flows: u64) -> Result<Bottleneck, ParameterError> {
        Ok(Bottleneck {
            transmitters: Servers::new(1)?,
            rate_bps: Positive::new("rate_bps", 16e6)?,
            packet_bytes: Positive::new("packet_bytes", 500.0)?,
            flows: Count::new("flows", flows)?,
        })
    }

    #[test]
    fn ten_flows_at_three_quarters_by_hand() -> Result<(), ParameterError> {
        // 1.5 * 100 * 1.75 / (0.421875 * 400^2) = 0.00388889; ln -5.54963 over ln 0.75 = -0.287682 is 19.29.
        let packets = cui_link_buffer(&link(10)?, Positive::new("rtt", 0.1)?, Utilisation::new(0.75)?)?;
        assert!((packets - 19.29).abs() < 0.005, "{packets}");
        assert_eq!(whole_packets(packets), Ok(20));
        Ok(())
    }

    #[test]
    fn is_the_trunk_rule_of_one_transmitter_and_inputs_without_end() -> Result<(), ParameterError> {
        let (rtt, many) = (Positive::new("rtt", 0.1)?, Count::new("inputs", 1_000_000_000_000)?);
        for target in [0.1, 0.75, 0.95, 0.999] {
            let utilisation = Utilisation::new(target)?;
            let trunk = cui_trunk_buffer(many, &link(50)?, rtt, utilisation)?;
            let packets = cui_link_buffer(&link(50)?, rtt, utilisation)?;
            assert!((packets / trunk - 1.0).abs() < 1e-9, "{target}: {packets}, {trunk}");
        }
        Ok(())
    }

    #[test]
    fn the_inverse_questions_lead_back() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        for target in [0.75, 0.999] {
            let utilisation = Utilisation::new(target)?;
            let packets = NonNegative::new("buffer", cui_link_buffer(&link(50)?, rtt, utilisation)?)?;
            assert!((cui_link_utilisation(&link(50)?, rtt, packets)? - target).abs() < 1e-12);
            assert_eq!(cui_link_flows(&link(1)?, rtt, utilisation, packets)?, 50);
        }
        Ok(())
    }

    #[test]
    fn several_transmitters_are_for_the_trunk_rule() -> Result<(), ParameterError> {
        let trunk = Bottleneck { transmitters: Servers::new(2)?, ..link(10)? };
        let refused = cui_link_buffer(&trunk, Positive::new("rtt", 0.1)?, Utilisation::new(0.5)?);
        assert_eq!(refused.map_err(|error| error.name), Err("transmitters"));
        Ok(())
    }
}
