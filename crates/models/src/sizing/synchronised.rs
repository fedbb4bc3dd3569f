//! Synchronised flows, which all halve at once: the sawtooth of one flow, whatever their number.

use super::{Bottleneck, BufferSize};
use crate::model::models;
use crate::parameter::{NonNegative, ParameterError, Positive, Utilisation};
use crate::tcp::single_flow_utilisation;

const EQUATION: &str = "b C RTT_mean, where U = (3/4) (1 + b)^2 / (1 + b + b^2), and b = 0 for U <= 3/4";
const SOURCE: &str =
    "Villamizar and Song, CCR 24(5), 1994; the sawtooth of Appenzeller, Keslassy and McKeown, SIGCOMM 2004, section 2";
const ASSUMES: [&str; 3] = [
    "one flow, or flows of one round trip that all lose and halve together",
    "a bandwidth-delay product of many packets: a fluid",
    "no timeouts, and no slow start except the initial one",
];

models! {
    /// Buffer for one flow, or for any number of synchronised flows: the inverse of `single_flow_utilisation`.
    pub fn synchronised_buffer(
        bottleneck: Bottleneck,
        mean_rtt_s: Positive,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        // With u = U - 3/4 the equation is u b^2 - (3/4 - u) b + u = 0, whose smaller root is at most 1.
        let above = utilisation.get() - 0.75;
        if above <= 0.0 {
            return BufferSize::of(0.0);
        }
        let half = 0.5 * (0.75 - above);
        // (half - sqrt(half^2 - above^2)) / above, rewritten to avoid cancellation.
        BufferSize::of(product * above / (half + (half * half - above * above).sqrt()))
    }
    quantity: "one flow, or synchronised flows";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "absorbs the reduction of all windows when all flows halve at once; the link may idle briefly";
    example: ">>> tb.models.synchronised_buffer(rate_bps=8e6, packet_bytes=1000, mean_rtt_s=0.1, utilisation=27 / 28).buffer\n50";

    /// Utilisation, 0.75 to 1, of one flow, or of any number of synchronised flows, with `buffer`.
    pub fn synchronised_utilisation(bottleneck: Bottleneck, mean_rtt_s: Positive, buffer: NonNegative) -> f64 {
        let product = bottleneck.packets_per_s() * mean_rtt_s.get();
        single_flow_utilisation(NonNegative::ratio(buffer, product))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    fn link() -> Result<Bottleneck, ParameterError> {
        let link = Link { rate_bps: Positive::new("rate_bps", 8e6)?, packet_bytes: Positive::new("packet_bytes", 1000.0)? };
        Ok(Bottleneck { transmitters: Servers::new(1)?, link })
    }

    #[test]
    fn twenty_seven_of_twenty_eight_need_half_a_product() -> Result<(), ParameterError> {
        let packets = synchronised_buffer(link()?, Positive::new("rtt", 0.1)?, Utilisation::new(27.0 / 28.0)?)?.unrounded;
        assert!((packets - 50.0).abs() < 1e-9, "{packets}");
        Ok(())
    }

    #[test]
    fn three_quarters_need_no_buffer_and_nearly_all_needs_one_product() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        assert_eq!(synchronised_buffer(link()?, rtt, Utilisation::new(0.75)?)?.unrounded, 0.0);
        let packets = synchronised_buffer(link()?, rtt, Utilisation::new(1.0 - 1e-12)?)?.unrounded;
        assert!((packets - 100.0).abs() < 1e-3, "{packets}");
        Ok(())
    }

    #[test]
    fn buffer_and_utilisation_invert_each_other() -> Result<(), ParameterError> {
        let rtt = Positive::new("rtt", 0.1)?;
        for target in [0.76, 0.9, 0.999] {
            let buffer = synchronised_buffer(link()?, rtt, Utilisation::new(target)?)?.unrounded;
            let back = synchronised_utilisation(link()?, rtt, NonNegative::new("buffer", buffer)?);
            assert!((back - target).abs() < 1e-12, "{target}: {back}");
        }
        Ok(())
    }
}
