//! The trunk rule of cui-thesis: K transmitters, M inputs, N greedy flows.
//!
//! It follows from an upper bound on the loss of a birth-death chain and from the square-root law (appendix A).

use super::inverse::largest_utilisation;
use super::{BufferSize, Link, share, whole_flows};
use crate::model::{arguments, models};
use crate::parameter::{Count, NonNegative, ParameterError, Positive, Servers, Utilisation};

arguments! {
    /// A bottleneck, such as a trunk, and its input links.
    pub struct FedBottleneck {
        inputs: Count,
        /// K, transmitters that share the buffer: the wavelength channels of a trunk.
        transmitters: Servers,
        link: Link,
    }
}

impl FedBottleneck {
    fn packets_per_s(&self) -> f64 {
        self.link.packets_per_s(self.transmitters)
    }
}

const EQUATION: &str = "max(0, ceil(log_F1 F2)), F1 = (M - UK) / (UM - UK), F2 = (UK mu RTT_H / N)^2 E / 1.5, \
                        E = C(M,K) a^K / sum_{i<=K} C(M,i) a^i, a = UK / (M - UK)";
const SOURCE: &str = "cui-thesis, equations (3.23) and (3.24), appendix A";
const ASSUMES: [&str; 5] = [
    "greedy paced flows of TCP NewReno: one loss, one halving, no timeout",
    "enough flows for Poisson arrivals",
    "no flow is limited by its window or its access link",
    "loss so small that load and utilisation are equal",
    "the underlying one-dimensional loss model, G1DM",
];
const REFUSES: &str = "a utilisation of `inputs / transmitters` or more, where that is 1 or less: the inputs cannot supply it";

models! {
    /// The trunk rule of cui-thesis: K transmitters, M inputs, N greedy flows.
    ///
    /// If the inputs do not outnumber the transmitters, nothing is ever lost and no buffer is needed.
    pub fn cui_trunk_buffer(
        trunk: FedBottleneck,
        flows: Count,
        harmonic_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let equation = Equation::of(trunk);
        let utilisation = utilisation.get();
        let unrounded = if equation.loses_nothing(utilisation)? {
            0.0
        } else {
            let share = share(trunk.packets_per_s(), flows, harmonic_rtt_s);
            equation.ln_f2(utilisation, share) / equation.ln_f1(utilisation, 1.0 - utilisation)
        };
        let asked = BufferSize::of(unrounded)?;
        // (3.24): M / K trunks.
        Ok(BufferSize { switch: Some(equation.inputs * asked.buffer as f64 / equation.transmitters), ..asked })
    }
    quantity: "trunk, whole switch";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "allows the loss at which TCP still reaches the target: the buffer holds bursts only, and channels share it";
    refuses: REFUSES;
    example: ">>> trunk = dict(inputs=32, transmitters=16, rate_bps=40e9, packet_bytes=1040, flows=64000, harmonic_rtt_s=0.1)\n\
              >>> tb.models.cui_trunk_buffer(**trunk, utilisation=0.7).buffer\n\
              9";

    /// Largest utilisation, 0 to 1, for which `cui_trunk_buffer` requires at most `buffer`; 1 if that holds for every utilisation
    /// below 1.
    pub fn cui_trunk_utilisation(trunk: FedBottleneck, flows: Count, harmonic_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let equation = Equation::of(trunk);
        if equation.inputs <= equation.transmitters {
            return equation.inputs / equation.transmitters;
        }
        let share = share(trunk.packets_per_s(), flows, harmonic_rtt_s);
        largest_utilisation(|utilisation, missing| {
            equation.ln_f2(utilisation, share) - buffer.get() * equation.ln_f1(utilisation, missing)
        })
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;

    /// Smallest number of flows for which `cui_trunk_buffer` requires at most `buffer`.
    pub fn cui_trunk_flows(
        trunk: FedBottleneck,
        harmonic_rtt_s: Positive,
        utilisation: Utilisation,
        buffer: NonNegative,
    ) -> Result<u64, ParameterError> {
        let equation = Equation::of(trunk);
        let utilisation = utilisation.get();
        if equation.loses_nothing(utilisation)? {
            return Ok(1);
        }
        // F2 = c / N^2, and N^2 = c / F1^B.
        let share_of_one = trunk.packets_per_s() * harmonic_rtt_s.get();
        let ln_c = equation.ln_f2(utilisation, share_of_one);
        whole_flows(libm::exp(0.5 * (ln_c - buffer.get() * equation.ln_f1(utilisation, 1.0 - utilisation))))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    refuses: REFUSES;
}

/// M and K.
struct Equation {
    inputs: f64,
    transmitters: f64,
}

impl Equation {
    fn of(trunk: FedBottleneck) -> Equation {
        Equation { inputs: trunk.inputs.get() as f64, transmitters: f64::from(trunk.transmitters.get()) }
    }

    fn loses_nothing(&self, utilisation: f64) -> Result<bool, ParameterError> {
        match self.inputs > self.transmitters {
            true => Ok(false),
            false if utilisation * self.transmitters < self.inputs => Ok(true),
            false => {
                let max_load = self.inputs / self.transmitters;
                Err(ParameterError::new(
                    "utilisation",
                    utilisation,
                    format!("below inputs / transmitters, {max_load}: the inputs cannot supply more"),
                ))
            }
        }
    }

    /// ln((M - UK) / (UM - UK)), as the logarithm of 1 + M (1 - U) / (U (M - K)): exact where U is near 1.
    fn ln_f1(&self, utilisation: f64, missing: f64) -> f64 {
        libm::log1p(self.inputs * missing / (utilisation * (self.inputs - self.transmitters)))
    }

    fn ln_f2(&self, utilisation: f64, share: f64) -> f64 {
        2.0 * libm::log(utilisation * share) - libm::log(1.5) + self.ln_all_busy(utilisation)
    }

    /// ln of C(M,K) a^K / sum_{i=0}^{K} C(M,i) a^i with a = UK / (M - UK).
    ///
    /// The sum over the last term is 1 + r1 (1 + r2 (1 + ...)), where r_j = (K - j + 1) / ((M - K + j) a) falls with j. Its terms
    /// rise and then fall; the sum is truncated where further terms are below rounding error.
    fn ln_all_busy(&self, utilisation: f64) -> f64 {
        let (inputs, transmitters) = (self.inputs, self.transmitters);
        let carried = utilisation * transmitters;
        let odds = carried / (inputs - carried);
        let (mut ln_scale, mut term, mut sum, mut left) = (0.0, 1.0, 1.0, transmitters);
        while left > 0.0 {
            let ratio = left / ((inputs - left + 1.0) * odds);
            term *= ratio;
            sum += term;
            left -= 1.0;
            // The remaining terms sum to at most term (ratio + ratio^2 + ...).
            if ratio < 1.0 && term * ratio < 1e-17 * (1.0 - ratio) * sum {
                break;
            }
            if sum > 1e250 {
                ln_scale += libm::log(sum);
                term /= sum;
                sum = 1.0;
            }
        }
        -(ln_scale + libm::log(sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Links of 40 Gbps and packets of 1040 bytes, as in the document's tables.
    fn trunk(inputs: u64, transmitters: u64) -> Result<FedBottleneck, ParameterError> {
        Ok(FedBottleneck {
            inputs: Count::new("inputs", inputs)?,
            transmitters: Servers::new(transmitters)?,
            link: Link { rate_bps: Positive::new("rate_bps", 40e9)?, packet_bytes: Positive::new("packet_bytes", 1040.0)? },
        })
    }

    fn flows(count: u64) -> Result<Count, ParameterError> {
        Count::new("flows", count)
    }

    fn buffer(inputs: u64, transmitters: u64, count: u64, rtt_s: f64, utilisation: f64) -> Result<u64, ParameterError> {
        let (rtt, utilisation) = (Positive::new("harmonic_rtt_s", rtt_s)?, Utilisation::new(utilisation)?);
        Ok(cui_trunk_buffer(trunk(inputs, transmitters)?, flows(count)?, rtt, utilisation)?.buffer)
    }

    #[test]
    fn the_entries_of_the_documents_tables() -> Result<(), ParameterError> {
        // Tables 3.1 to 3.4, row "our rule", 60, 70, 80, 90 %.
        let tables = [
            (8, 1, 400, 0.05, [19, 28, 45, 97]),
            (8, 1, 400, 0.1, [21, 31, 51, 108]),
            (8, 4, 16_000, 0.1, [8, 12, 19, 40]),
            (32, 4, 16_000, 0.1, [11, 18, 30, 65]),
            (16, 8, 3_200, 0.1, [12, 18, 29, 61]),
            (16, 8, 32_000, 0.1, [7, 10, 18, 38]),
            (32, 16, 64_000, 0.1, [5, 9, 16, 36]),
            (128, 64, 256_000, 0.1, [0, 0, 9, 29]),
        ];
        for (inputs, transmitters, flows, rtt, printed) in tables {
            for (utilisation, packets) in [0.6, 0.7, 0.8, 0.9].into_iter().zip(printed) {
                let computed = buffer(inputs, transmitters, flows, rtt, utilisation)?;
                assert_eq!(computed, packets, "M = {inputs}, K = {transmitters}, N = {flows}, U = {utilisation}");
            }
        }
        Ok(())
    }

    #[test]
    fn two_inputs_and_one_transmitter_by_hand() -> Result<(), ParameterError> {
        // U = 1/2: a = (1/2) / (3/2) = 1/3; E = 2a / (1 + 2a) = 0.4; F1 = 1.5 / (1 - 0.5) = 3.
        // With C RTT / N = 100: F2 = 50^2 * 0.4 / 1.5 = 666.67, and log_3 of it is 5.9187.
        let link = Link { rate_bps: Positive::new("rate_bps", 8e6)?, packet_bytes: Positive::new("packet_bytes", 1000.0)? };
        let (trunk, rtt) = (FedBottleneck { link, ..trunk(2, 1)? }, Positive::new("harmonic_rtt_s", 0.1)?);
        let packets = cui_trunk_buffer(trunk, flows(1)?, rtt, Utilisation::new(0.5)?)?.unrounded;
        assert!((packets - 5.918_7).abs() < 1e-4, "{packets}");
        Ok(())
    }

    #[test]
    fn thousands_of_links_do_not_overflow() -> Result<(), ParameterError> {
        // C(20000, 10000) has 6000 digits. Sums of ln C by Stirling's series give the same result.
        let trunk = Equation { inputs: 20_000.0, transmitters: 10_000.0 };
        for utilisation in [0.01, 0.5, 0.9, 0.999_999] {
            let ln_odds = libm::log(utilisation * 1e4 / (2e4 - utilisation * 1e4));
            let ln_choose = |i: f64| libm::lgamma(20_001.0) - libm::lgamma(i + 1.0) - libm::lgamma(20_001.0 - i);
            let ln_term = |i: f64| ln_choose(i) + i * ln_odds;
            let sum: f64 = (0..=10_000).map(|i| libm::exp(ln_term(f64::from(i)) - ln_term(1e4 * utilisation))).sum();
            let plain = ln_term(1e4) - ln_term(1e4 * utilisation) - libm::log(sum);
            let found = trunk.ln_all_busy(utilisation);
            assert!((found / plain - 1.0).abs() < 1e-6 || (found - plain).abs() < 1e-6, "{utilisation}: {found}, {plain}");
        }
        Ok(())
    }

    #[test]
    fn the_inverse_models_invert_the_rule() -> Result<(), ParameterError> {
        let (trunk, rtt) = (trunk(16, 8)?, Positive::new("harmonic_rtt_s", 0.1)?);
        for target in [0.6, 0.9, 0.999_999] {
            let utilisation = Utilisation::new(target)?;
            let asked = cui_trunk_buffer(trunk, flows(3_200)?, rtt, utilisation)?;
            let packets = NonNegative::new("buffer", asked.unrounded)?;
            let back = cui_trunk_utilisation(trunk, flows(3_200)?, rtt, packets);
            assert!((back - target).abs() < 1e-12, "{target}: {back}");
            assert_eq!(cui_trunk_flows(trunk, rtt, utilisation, packets)?, 3_200);
        }
        Ok(())
    }

    #[test]
    fn enough_flows_need_no_buffer_at_any_utilisation_below_one() -> Result<(), ParameterError> {
        let rtt = Positive::new("harmonic_rtt_s", 0.1)?;
        let none = NonNegative::new("buffer", 0.0)?;
        assert_eq!(cui_trunk_utilisation(trunk(128, 64)?, flows(1_000_000_000)?, rtt, none), 1.0);
        assert_eq!(buffer(128, 64, 1_000_000_000, 0.1, 0.999), Ok(0));
        Ok(())
    }

    #[test]
    fn inputs_that_do_not_outnumber_transmitters_lose_nothing_and_limit_the_utilisation() -> Result<(), ParameterError> {
        assert_eq!(buffer(8, 8, 10, 0.1, 0.999), Ok(0));
        assert_eq!(buffer(4, 8, 10, 0.1, 0.49), Ok(0));
        let refused = buffer(4, 8, 10, 0.1, 0.5).map_err(|error| error.to_string());
        assert_eq!(
            refused,
            Err("`utilisation` is 0.5; expected below inputs / transmitters, 0.5: the inputs cannot supply more".into())
        );
        Ok(())
    }

    #[test]
    fn a_switch_has_the_buffers_of_its_trunks() -> Result<(), ParameterError> {
        let rtt = Positive::new("harmonic_rtt_s", 0.1)?;
        let asked = cui_trunk_buffer(trunk(32, 4)?, flows(16_000)?, rtt, Utilisation::new(0.6)?)?;
        assert_eq!((asked.buffer, asked.switch), (11, Some(88.0)));
        Ok(())
    }
}
