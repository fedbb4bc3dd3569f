//! Tiny buffers: the logarithm of the largest window, for a network with more capacity than its flows can use.

use super::{Bottleneck, BufferSize, share, whole_flows};
use crate::model::models;
use crate::parameter::{Count, NonNegative, ParameterError, Positive, Scalar, Utilisation, arguments_of_one_number};

const EQUATION: &str = "log_{1/rho} (W^2 / (2 (1 - theta))), theta = U / rho; W = rho C RTT_mean / N unless a window is given";
const SOURCE: &str = "Enachescu, Ganjali, Goel, McKeown and Roughgarden, Routers with Very Small Buffers, INFOCOM 2006; \
                      cui-thesis, equations (2.4) and (3.25)";
const ASSUMES: [&str; 3] = [
    "over-provision: with every flow at its largest window W the load is rho, below 1",
    "packets arrive smoothly: paced, or from access links far slower than the bottleneck",
    "utilisation below rho: the load with all flows at their largest window",
];
const REFUSES: &str = "a utilisation of `over_provision` or more";

models! {
    /// Tiny buffers, O(log W): for a network with more capacity than its flows can use.
    pub fn enachescu_buffer(
        /// W, largest window of a flow in packets; see `enachescu_window`.
        window: Positive,
        over_provision: OverProvision = 0.95,
        utilisation: Utilisation,
    ) -> Result<BufferSize, ParameterError> {
        let missing = missing(over_provision, utilisation)?;
        BufferSize::of((2.0 * libm::log(window.get()) - libm::log(2.0 * missing)) / -libm::log(over_provision.get()))
    }
    quantity: "logarithm of the window";
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    idea: "keeps losses so rare that flows stay at their largest window; bursts are short, so that its logarithm suffices";
    refuses: REFUSES;
    example: ">>> tb.models.enachescu_buffer(window=16, over_provision=0.5, utilisation=0.25).buffer\n8";

    /// Window at which all flows together load the bottleneck to `over_provision`.
    pub fn enachescu_window(
        bottleneck: Bottleneck,
        flows: Count,
        mean_rtt_s: Positive,
        over_provision: OverProvision = 0.95,
    ) -> f64 {
        over_provision.get() * share(bottleneck.packets_per_s(), flows, mean_rtt_s)
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    returns: "Packets.";

    /// Largest utilisation for which `enachescu_buffer` requires at most `buffer`; 0 if there is none.
    pub fn enachescu_utilisation(
        /// W, largest window of a flow in packets; see `enachescu_window`.
        window: Positive,
        over_provision: OverProvision = 0.95,
        buffer: NonNegative,
    ) -> f64 {
        let missing = 0.5 * window.get() * window.get() * libm::pow(over_provision.get(), buffer.get());
        (over_provision.get() * (1.0 - missing)).max(0.0)
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;

    /// Smallest number of flows for which `enachescu_buffer`, at `enachescu_window`, requires at most `buffer`.
    pub fn enachescu_flows(
        bottleneck: Bottleneck,
        mean_rtt_s: Positive,
        over_provision: OverProvision = 0.95,
        utilisation: Utilisation,
        buffer: NonNegative,
    ) -> Result<u64, ParameterError> {
        let missing = missing(over_provision, utilisation)?;
        let ln_window = 0.5 * (libm::log(2.0 * missing) - buffer.get() * libm::log(over_provision.get()));
        whole_flows(over_provision.get() * bottleneck.packets_per_s() * mean_rtt_s.get() / libm::exp(ln_window))
    }
    equation: EQUATION;
    source: SOURCE;
    assumes: ASSUMES;
    refuses: REFUSES;
}

/// The load of the bottleneck if every flow runs at its largest window: above 0 and below 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverProvision(f64);

impl OverProvision {
    pub fn new(over_provision: f64) -> Result<OverProvision, ParameterError> {
        match over_provision {
            _ if over_provision > 0.0 && over_provision < 1.0 => Ok(OverProvision(over_provision)),
            _ => Err(ParameterError::new(
                "over_provision",
                over_provision,
                "above 0 and below 1: the rule does not apply where the flows could overload the link",
            )),
        }
    }

    pub fn get(self) -> f64 {
        self.0
    }
}

impl Scalar for OverProvision {
    const HELP: &'static str =
        "rho, load of the bottleneck if every flow runs at its largest window; cui-thesis uses 0.95 (section 3.8.1).";
    const RANGE: &'static str = "above 0 and below 1";

    fn of(_name: &'static str, number: f64) -> Result<OverProvision, ParameterError> {
        OverProvision::new(number)
    }
}

arguments_of_one_number!(OverProvision);

/// 1 - theta.
fn missing(over_provision: OverProvision, utilisation: Utilisation) -> Result<f64, ParameterError> {
    let missing = 1.0 - utilisation.get() / over_provision.get();
    if missing > 0.0 {
        return Ok(missing);
    }
    let expected = format!("below `over_provision`, {}: the load with all flows at their largest window", over_provision.get());
    Err(ParameterError::new("utilisation", utilisation.get(), expected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    fn bottleneck() -> Result<Bottleneck, ParameterError> {
        let link = Link { rate_bps: Positive::new("rate_bps", 40e9)?, packet_bytes: Positive::new("packet_bytes", 1040.0)? };
        Ok(Bottleneck { transmitters: Servers::new(1)?, link })
    }

    fn flows(count: u64) -> Result<Count, ParameterError> {
        Count::new("flows", count)
    }

    #[test]
    fn the_documents_first_table() -> Result<(), ParameterError> {
        // Table 3.1, 50 ms: W = 0.95 * 240384.6 / 400 = 570.9. The printed value for 70 % is 260, where the equation gives
        // 260.001.
        let over_provision = OverProvision::new(0.95)?;
        let window = enachescu_window(bottleneck()?, flows(400)?, Positive::new("rtt", 0.05)?, over_provision);
        for (utilisation, printed) in [(0.6, 254), (0.8, 270), (0.9, 292)] {
            let window = Positive::new("window", window)?;
            let asked = enachescu_buffer(window, over_provision, Utilisation::new(utilisation)?)?;
            assert_eq!(asked.buffer, printed, "{utilisation}");
        }
        Ok(())
    }

    #[test]
    fn a_window_of_16_at_half_a_load_of_a_half_by_hand() -> Result<(), ParameterError> {
        // log_2 (16^2 / (2 * 1/2)) = 8.
        let packets =
            enachescu_buffer(Positive::new("window", 16.0)?, OverProvision::new(0.5)?, Utilisation::new(0.25)?)?.unrounded;
        assert!((packets - 8.0).abs() < 1e-12, "{packets}");
        Ok(())
    }

    #[test]
    fn the_inverse_models_invert_the_rule() -> Result<(), ParameterError> {
        let (rtt, over_provision) = (Positive::new("rtt", 0.05)?, OverProvision::new(0.95)?);
        let window = Positive::new("window", enachescu_window(bottleneck()?, flows(400)?, rtt, over_provision))?;
        for target in [0.5, 0.94] {
            let utilisation = Utilisation::new(target)?;
            let buffer = NonNegative::new("buffer", enachescu_buffer(window, over_provision, utilisation)?.unrounded)?;
            assert!((enachescu_utilisation(window, over_provision, buffer) - target).abs() < 1e-12);
            assert_eq!(enachescu_flows(bottleneck()?, rtt, over_provision, utilisation, buffer)?, 400);
        }
        Ok(())
    }

    #[test]
    fn a_small_buffer_guarantees_no_utilisation() -> Result<(), ParameterError> {
        let window = Positive::new("window", 570.0)?;
        assert_eq!(enachescu_utilisation(window, OverProvision::new(0.95)?, NonNegative::new("buffer", 10.0)?), 0.0);
        Ok(())
    }

    #[test]
    fn a_utilisation_that_the_flows_cannot_reach_is_refused() -> Result<(), ParameterError> {
        let window = Positive::new("window", 570.0)?;
        let refused = enachescu_buffer(window, OverProvision::new(0.95)?, Utilisation::new(0.95)?);
        assert_eq!(refused.map_err(|error| error.name), Err("utilisation"));
        assert_eq!(OverProvision::new(1.0).map_err(|error| error.name), Err("over_provision"));
        Ok(())
    }
}
