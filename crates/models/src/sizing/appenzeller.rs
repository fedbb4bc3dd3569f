//! A bandwidth-delay product over the square root of the number of flows.

use super::{Bottleneck, BufferSize, whole_flows};
use crate::model::models;
use crate::parameter::{Count, NonNegative, ParameterError, Positive, Utilisation};

const EQUATION: &str = "x C RTT_mean / sqrt(N), U = erf(3 sqrt(3) / (2 sqrt(2)) x / (1 + x / sqrt(N)))";
const SOURCE: &str =
    "Appenzeller, Keslassy and McKeown, Sizing Router Buffers, SIGCOMM 2004; cui-thesis, equations (2.3) and (3.26)";
const ASSUMES: [&str; 3] = [
    "many long-lived flows that are not synchronised: the sum of their windows is normally distributed",
    "windows of many packets: a fluid without bursts",
    "a buffer of about a bandwidth-delay product over sqrt(N), whatever the number of input links",
];

models! {
    /// Bandwidth-delay product over the square root of the number of flows, times a factor x that depends on the target
    /// utilisation.
    pub fn appenzeller_buffer(
        bottleneck: Bottleneck,
        flows: Count,
        mean_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        // With y = erf^-1(U) 2 sqrt(2) / (3 sqrt(3)), x = y / (1 - y / sqrt(N)).
        let wanted = erf_inverse(utilisation.get()) / SPREAD;
        let root = (flows.get() as f64).sqrt();
        if wanted < root {
            return BufferSize::of(bottleneck.packets_per_s() * mean_rtt_s.get() * wanted / (root - wanted));
        }
        let max_target = libm::erf(SPREAD * root);
        let expected = format!("below {max_target}: the maximum of the normal approximation with {} flows", flows.get());
        Err(ParameterError::new("utilisation", utilisation.get(), expected))
    }
    quantity: "bandwidth-delay product over sqrt(N)";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "absorbs the variation of the sum of all windows, whose relative size falls with the number of flows";
    refuses: "a utilisation that N flows do not reach with any buffer: erf(3 sqrt(3 N) / (2 sqrt(2))) or more";
    example: ">>> link = dict(rate_bps=8e9, packet_bytes=1000, flows=10_000, mean_rtt_s=0.1)\n\
              >>> tb.models.appenzeller_buffer(**link, utilisation=0.99).buffer\n\
              1002";

    /// Utilisation predicted by the equation of `appenzeller_buffer` for `buffer`, 0 to 1.
    pub fn appenzeller_utilisation(bottleneck: Bottleneck, flows: Count, mean_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        let root = (flows.get() as f64).sqrt();
        libm::erf(SPREAD * root * buffer.get() / (product + buffer.get()))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;

    /// Smallest number of flows for which `appenzeller_buffer` requires at most `buffer`.
    pub fn appenzeller_flows(
        bottleneck: Bottleneck,
        mean_rtt_s: Positive,
        utilisation: Utilisation,
        buffer: Positive,
    ) -> Result<u64, ParameterError> {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        let root = erf_inverse(utilisation.get()) / SPREAD * (product + buffer.get()) / buffer.get();
        whole_flows(root * root)
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
}

/// 3 sqrt(3) / (2 sqrt(2)).
const SPREAD: f64 = 1.837_117_307_087_383_6;

/// z with erf(z) = `share`, for 0 < share < 1.
///
/// Newton's method with the second derivative (Halley), started from Winitzki's approximation, which is accurate to 0.4 %. Near 1
/// the computation uses the complement, which keeps its significant digits.
fn erf_inverse(share: f64) -> f64 {
    const A: f64 = 0.147;
    let missing = 1.0 - share;
    let ln = libm::log(missing * (1.0 + share));
    let half = 2.0 / (std::f64::consts::PI * A) + 0.5 * ln;
    let mut z = ((half * half - ln / A).sqrt() - half).sqrt();
    for _ in 0..3 {
        let off = if share < 0.5 { libm::erf(z) - share } else { missing - libm::erfc(z) };
        let step = off * 0.5 * std::f64::consts::PI.sqrt() * libm::exp(z * z);
        z -= step / (1.0 + z * step);
    }
    z
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    /// A bandwidth-delay product of 100,000 packets at 0.1 s.
    fn link() -> Result<Bottleneck, ParameterError> {
        let link = Link { rate_bps: Positive::new("rate_bps", 8e9)?, packet_bytes: Positive::new("packet_bytes", 1000.0)? };
        Ok(Bottleneck { transmitters: Servers::new(1)?, link })
    }

    fn flows(count: u64) -> Result<Count, ParameterError> {
        Count::new("flows", count)
    }

    #[test]
    fn the_inverse_of_erf_is_accurate_over_its_whole_range() {
        for share in [1e-300, 1e-9, 0.1, 0.499, 0.5, 0.501, 0.9, 0.999_999, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0] {
            let z = erf_inverse(share);
            let (back, wanted) = if share < 0.5 { (libm::erf(z), share) } else { (libm::erfc(z), 1.0 - share) };
            assert!((back / wanted - 1.0).abs() < 1e-13, "{share}: {z}");
        }
    }

    #[test]
    fn one_product_over_a_hundred_for_ten_thousand_flows_gives_99_percent() -> Result<(), ParameterError> {
        // cui-thesis, section 2.2.5: x = 1, N = 10000, 98.99 %.
        let utilisation =
            appenzeller_utilisation(link()?, flows(10_000)?, Positive::new("rtt", 0.1)?, NonNegative::new("buffer", 1e3)?);
        assert!((utilisation - 0.9899).abs() < 5e-5, "{utilisation}");
        Ok(())
    }

    #[test]
    fn the_inverse_models_invert_the_rule() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        for target in [0.001, 0.8, 0.999_999] {
            let utilisation = Utilisation::new(target)?;
            let buffer = appenzeller_buffer(link()?, flows(10_000)?, rtt, utilisation)?.unrounded;
            let back = appenzeller_utilisation(link()?, flows(10_000)?, rtt, NonNegative::new("buffer", buffer)?);
            assert!((back - target).abs() < 1e-13, "{target}: {back}");
            assert_eq!(appenzeller_flows(link()?, rtt, utilisation, Positive::new("buffer", buffer)?)?, 10_000);
        }
        Ok(())
    }

    #[test]
    fn too_few_flows_for_the_target_are_refused() -> Result<(), ParameterError> {
        // erf(1.837117) = 0.990626 is the maximum for one flow.
        let refused = appenzeller_buffer(link()?, flows(1)?, Positive::new("rtt", 0.1)?, Utilisation::new(0.995)?);
        let message = refused.map_err(|error| error.to_string()).err().unwrap_or_default();
        assert!(message.starts_with("`utilisation` is 0.995; expected below 0.9906"), "{message}");
        Ok(())
    }
}
