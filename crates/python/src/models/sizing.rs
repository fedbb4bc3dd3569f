//! How much buffer a bottleneck needs. A buffer comes as a whole number of packets and as what the equation gives.
//!
//! Parameters come in the order in which the closures name them.

use super::columns::{Column, each_row, whole};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_models::ParameterError;
use tailback_models::parameter::{Count, NonNegative, Positive, Servers, Utilisation};
use tailback_models::sizing::{self, Bottleneck, OverProvision, whole_packets};

type Columns<const R: usize> = PyResult<[Py<PyBytes>; R]>;

/// Name, idea, equation, source and assumptions of a rule.
type Words = (&'static str, &'static str, &'static str, &'static str, Vec<&'static str>);

#[pyfunction]
pub fn sizing_rules() -> Vec<Words> {
    sizing::RULES.iter().map(|rule| (rule.name, rule.idea, rule.equation, rule.source, rule.assumes.to_vec())).collect()
}

#[pyfunction]
pub fn cui_trunk_buffer(py: Python<'_>, parameters: [Column; 7]) -> Columns<3> {
    each_row(py, parameters, |[inputs, transmitters, rate, packet, flows, rtt, utilisation]| {
        let trunk = bottleneck(transmitters, rate, packet, flows)?;
        let (inputs, rtt) = (count("inputs", inputs)?, harmonic(rtt)?);
        let packets = sizing::cui_trunk_buffer(inputs, &trunk, rtt, Utilisation::new(utilisation)?)?;
        let rounded = whole_packets(packets)?;
        Ok([rounded as f64, packets, sizing::cui_switch_buffer(inputs, trunk.transmitters, rounded)])
    })
}

#[pyfunction]
pub fn cui_trunk_utilisation(py: Python<'_>, parameters: [Column; 7]) -> Columns<1> {
    each_row(py, parameters, |[inputs, transmitters, rate, packet, flows, rtt, buffer]| {
        let trunk = bottleneck(transmitters, rate, packet, flows)?;
        let (inputs, buffer) = (count("inputs", inputs)?, NonNegative::new("buffer", buffer)?);
        Ok([sizing::cui_trunk_utilisation(inputs, &trunk, harmonic(rtt)?, buffer)])
    })
}

#[pyfunction]
pub fn cui_trunk_flows(py: Python<'_>, parameters: [Column; 7]) -> Columns<1> {
    each_row(py, parameters, |[inputs, transmitters, rate, packet, rtt, utilisation, buffer]| {
        let trunk = bottleneck(transmitters, rate, packet, 1.0)?;
        let (inputs, buffer) = (count("inputs", inputs)?, NonNegative::new("buffer", buffer)?);
        Ok([sizing::cui_trunk_flows(inputs, &trunk, harmonic(rtt)?, Utilisation::new(utilisation)?, buffer)? as f64])
    })
}

#[pyfunction]
pub fn cui_link_buffer(py: Python<'_>, parameters: [Column; 5]) -> Columns<2> {
    each_row(py, parameters, |[rate, packet, flows, rtt, utilisation]| {
        let link = bottleneck(1.0, rate, packet, flows)?;
        rounded(sizing::cui_link_buffer(&link, harmonic(rtt)?, Utilisation::new(utilisation)?)?)
    })
}

#[pyfunction]
pub fn cui_link_utilisation(py: Python<'_>, parameters: [Column; 5]) -> Columns<1> {
    each_row(py, parameters, |[rate, packet, flows, rtt, buffer]| {
        let link = bottleneck(1.0, rate, packet, flows)?;
        Ok([sizing::cui_link_utilisation(&link, harmonic(rtt)?, NonNegative::new("buffer", buffer)?)?])
    })
}

#[pyfunction]
pub fn cui_link_flows(py: Python<'_>, parameters: [Column; 5]) -> Columns<1> {
    each_row(py, parameters, |[rate, packet, rtt, utilisation, buffer]| {
        let (link, buffer) = (bottleneck(1.0, rate, packet, 1.0)?, NonNegative::new("buffer", buffer)?);
        Ok([sizing::cui_link_flows(&link, harmonic(rtt)?, Utilisation::new(utilisation)?, buffer)? as f64])
    })
}

#[pyfunction]
pub fn enachescu_window(py: Python<'_>, parameters: [Column; 6]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, flows, rtt, over_provision]| {
        let trunk = bottleneck(transmitters, rate, packet, flows)?;
        Ok([sizing::enachescu_window(&trunk, mean(rtt)?, OverProvision::new(over_provision)?)])
    })
}

#[pyfunction]
pub fn enachescu_buffer(py: Python<'_>, parameters: [Column; 3]) -> Columns<2> {
    each_row(py, parameters, |[window, over_provision, utilisation]| {
        let (window, over_provision) = (Positive::new("window", window)?, OverProvision::new(over_provision)?);
        rounded(sizing::enachescu_buffer(window, over_provision, Utilisation::new(utilisation)?)?)
    })
}

#[pyfunction]
pub fn enachescu_utilisation(py: Python<'_>, parameters: [Column; 3]) -> Columns<1> {
    each_row(py, parameters, |[window, over_provision, buffer]| {
        let (window, over_provision) = (Positive::new("window", window)?, OverProvision::new(over_provision)?);
        Ok([sizing::enachescu_utilisation(window, over_provision, NonNegative::new("buffer", buffer)?)])
    })
}

#[pyfunction]
pub fn enachescu_flows(py: Python<'_>, parameters: [Column; 7]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt, over_provision, utilisation, buffer]| {
        let trunk = bottleneck(transmitters, rate, packet, 1.0)?;
        let (over_provision, utilisation) = (OverProvision::new(over_provision)?, Utilisation::new(utilisation)?);
        let buffer = NonNegative::new("buffer", buffer)?;
        Ok([sizing::enachescu_flows(&trunk, mean(rtt)?, over_provision, utilisation, buffer)? as f64])
    })
}

#[pyfunction]
pub fn appenzeller_buffer(py: Python<'_>, parameters: [Column; 6]) -> Columns<2> {
    each_row(py, parameters, |[transmitters, rate, packet, flows, rtt, utilisation]| {
        let trunk = bottleneck(transmitters, rate, packet, flows)?;
        rounded(sizing::appenzeller_buffer(&trunk, mean(rtt)?, Utilisation::new(utilisation)?)?)
    })
}

#[pyfunction]
pub fn appenzeller_utilisation(py: Python<'_>, parameters: [Column; 6]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, flows, rtt, buffer]| {
        let trunk = bottleneck(transmitters, rate, packet, flows)?;
        Ok([sizing::appenzeller_utilisation(&trunk, mean(rtt)?, NonNegative::new("buffer", buffer)?)])
    })
}

#[pyfunction]
pub fn appenzeller_flows(py: Python<'_>, parameters: [Column; 6]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt, utilisation, buffer]| {
        let (trunk, buffer) = (bottleneck(transmitters, rate, packet, 1.0)?, Positive::new("buffer", buffer)?);
        Ok([sizing::appenzeller_flows(&trunk, mean(rtt)?, Utilisation::new(utilisation)?, buffer)? as f64])
    })
}

#[pyfunction]
pub fn synchronised_buffer(py: Python<'_>, parameters: [Column; 5]) -> Columns<2> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt, utilisation]| {
        let trunk = bottleneck(transmitters, rate, packet, 1.0)?;
        rounded(sizing::synchronised_buffer(&trunk, mean(rtt)?, Utilisation::new(utilisation)?))
    })
}

#[pyfunction]
pub fn synchronised_utilisation(py: Python<'_>, parameters: [Column; 5]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt, buffer]| {
        let trunk = bottleneck(transmitters, rate, packet, 1.0)?;
        Ok([sizing::synchronised_utilisation(&trunk, mean(rtt)?, NonNegative::new("buffer", buffer)?)])
    })
}

#[pyfunction]
pub fn bandwidth_delay_buffer(py: Python<'_>, parameters: [Column; 4]) -> Columns<2> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt]| {
        rounded(sizing::bandwidth_delay_buffer(&bottleneck(transmitters, rate, packet, 1.0)?, mean(rtt)?))
    })
}

#[pyfunction]
pub fn full_utilisation_buffer(py: Python<'_>, parameters: [Column; 4]) -> Columns<2> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt]| {
        let (trunk, rtt) = (bottleneck(transmitters, rate, packet, 1.0)?, Positive::new("max_rtt_s", rtt)?);
        rounded(sizing::full_utilisation_buffer(&trunk, rtt))
    })
}

#[pyfunction]
pub fn least_queue(py: Python<'_>, parameters: [Column; 5]) -> Columns<1> {
    each_row(py, parameters, |[transmitters, rate, packet, rtt, buffer]| {
        let (trunk, rtt) = (bottleneck(transmitters, rate, packet, 1.0)?, Positive::new("max_rtt_s", rtt)?);
        Ok([sizing::least_queue(&trunk, rtt, NonNegative::new("buffer", buffer)?)])
    })
}

#[pyfunction]
pub fn gorinsky_buffer(py: Python<'_>, parameters: [Column; 1]) -> Columns<2> {
    each_row(py, parameters, |[inputs]| rounded(sizing::gorinsky_buffer(count("inputs", inputs)?)))
}

/// Fewest and most packets.
#[pyfunction]
pub fn beheshti_buffer() -> (f64, f64) {
    sizing::beheshti_buffer()
}

fn rounded(packets: f64) -> Result<[f64; 2], ParameterError> {
    Ok([whole_packets(packets)? as f64, packets])
}

fn bottleneck(transmitters: f64, rate_bps: f64, packet_bytes: f64, flows: f64) -> Result<Bottleneck, ParameterError> {
    Ok(Bottleneck {
        transmitters: Servers::transmitters(whole("transmitters", transmitters)?)?,
        rate_bps: Positive::new("rate_bps", rate_bps)?,
        packet_bytes: Positive::new("packet_bytes", packet_bytes)?,
        flows: count("flows", flows)?,
    })
}

fn count(name: &'static str, number: f64) -> Result<Count, ParameterError> {
    Count::new(name, whole(name, number)?)
}

fn harmonic(rtt_s: f64) -> Result<Positive, ParameterError> {
    Positive::new("harmonic_rtt_s", rtt_s)
}

fn mean(rtt_s: f64) -> Result<Positive, ParameterError> {
    Positive::new("mean_rtt_s", rtt_s)
}
