//! Predictions without a simulation, buffer sizing, and the accuracy of models.

use crate::description::{network, parse};
use crate::errors;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tailback_core::network::PortId;
use tailback_models::model::{Arguments, Inputs, InterruptCheck, Keyword};
use tailback_models::trunk::{LossModel, Trunk, TrunkVariant};
use tailback_prediction::sizing::{self, PortCase, SizingCase};
use tailback_prediction::trunk_map::{self, TrunkAccuracy};
use tailback_prediction::{AppliedModel, RoundTrips, Unmodelled};
use tailback_scenario::{BufferQuestion, Integer};

/// A scenario as text, the name of its file, and its format.
type Document = (String, String, String);

/// The predictions of a scenario, in the order of its ports, groups and flows. Columns are native floats.
#[derive(IntoPyObject)]
pub struct PredictionOutput {
    ports: Vec<String>,
    queues: [Py<PyBytes>; 4],
    groups: Vec<(String, usize)>,
    flows: [Py<PyBytes>; 3],
    models: Vec<AppliedOutput>,
    not_modelled: Vec<(String, String)>,
}

/// Name, source, places, simplifications and warnings of a model.
type AppliedOutput = (String, &'static str, Vec<String>, Vec<String>, Vec<String>);

/// `seed` overrides the scenario's own, because round trips may be random.
#[pyfunction]
#[pyo3(signature = (text, file, format, seed=None))]
pub fn predict(py: Python<'_>, text: &str, file: &str, format: &str, seed: Option<u64>) -> PyResult<PredictionOutput> {
    let mut scenario = parse(py, text, file, format)?;
    scenario.description.seed = seed.map_or(scenario.description.seed, Integer);
    let network = network(py, &scenario, file)?;
    let found = py.detach(|| tailback_prediction::predict(&network));
    let counts = |group: usize| network.flows.iter().filter(|flow| flow.group.index() == group).count();
    let (queues, flows) = (&found.queues, &found.flows);
    Ok(PredictionOutput {
        ports: network.ports.iter().map(|port| port.name.clone()).collect(),
        queues: [
            floats(py, queues.iter().map(|queue| queue.loss_rate)),
            floats(py, queues.iter().map(|queue| queue.utilisation)),
            floats(py, queues.iter().map(|queue| queue.mean_queue_units)),
            floats(py, queues.iter().map(|queue| queue.mean_wait_s)),
        ],
        groups: network.groups.iter().enumerate().map(|(index, group)| (group.name.clone(), counts(index))).collect(),
        flows: [
            floats(py, network.flows.iter().map(|flow| network.base_rtt(flow).seconds())),
            floats(py, flows.iter().map(|flow| flow.goodput_bps)),
            floats(py, flows.iter().map(|flow| flow.loss_rate)),
        ],
        models: found.models.into_iter().map(applied).collect(),
        not_modelled: found.unmodelled.into_iter().map(|Unmodelled { at, why }| (at, why)).collect(),
    })
}

fn floats(py: Python<'_>, values: impl Iterator<Item = f64>) -> Py<PyBytes> {
    PyBytes::new(py, &values.flat_map(f64::to_ne_bytes).collect::<Vec<u8>>()).unbind()
}

fn applied(model: AppliedModel) -> AppliedOutput {
    let AppliedModel { name, source, at, simplifies, warnings, .. } = model;
    (name, source, at, simplifies, warnings)
}

/// Fields of `tailback.prediction.SizingCase`, which has whole numbers for rates and sizes.
#[derive(IntoPyObject)]
pub struct SizingOutput {
    rate_bps: u64,
    packet_bytes: u64,
    transmitters: u64,
    flows: u64,
    base_rtt: Means,
    target: f64,
    inputs: Option<u64>,
    access_rate_bps: Option<u64>,
    paced: Option<bool>,
    window: Option<u64>,
    other_controllers: Vec<String>,
    link: Option<String>,
    warnings: Vec<String>,
}

/// Harmonic mean, mean and maximum.
type Means = (f64, f64, f64);

fn means(RoundTrips { harmonic_s, mean_s, max_s }: RoundTrips) -> Means {
    (harmonic_s, mean_s, max_s)
}

fn case_fields(case: SizingCase, link: Option<String>, warnings: Vec<String>) -> SizingOutput {
    SizingOutput {
        rate_bps: case.rate_bps as u64,
        packet_bytes: case.packet_bytes as u64,
        transmitters: case.transmitters,
        flows: case.flows,
        base_rtt: means(case.base_rtt),
        target: case.target,
        inputs: case.inputs,
        access_rate_bps: case.access_rate_bps.map(|rate| rate as u64),
        paced: case.paced,
        window: case.window,
        other_controllers: case.other_controllers,
        link,
        warnings,
    }
}

/// The case of a question in JSON, with its defaults filled in.
#[pyfunction]
pub fn sizing_question(py: Python<'_>, text: &str) -> PyResult<SizingOutput> {
    let question = BufferQuestion::from_json(text, "").map_err(|problems| errors::scenario_error(py, &problems))?;
    let case = SizingCase::of_question(&question).map_err(|error| errors::parameter_error(py, &error, ""))?;
    Ok(case_fields(case, None, Vec::new()))
}

/// The case of a link of a scenario, by default that of its bottleneck.
#[pyfunction]
pub fn sizing_scenario(py: Python<'_>, document: Document, link: Option<&str>) -> PyResult<SizingOutput> {
    let (text, file, format) = document;
    let network = network(py, &parse(py, &text, &file, &format)?, &file)?;
    let port = link.map(|link| {
        let names: Vec<&str> = network.ports.iter().map(|port| port.name.as_str()).collect();
        let place = names.iter().position(|name| *name == link);
        place.map(|place| PortId(place as u32)).ok_or_else(|| errors::unknown_name(py, "link", link, names.clone()))
    });
    let found = SizingCase::of_network(&network, port.transpose()?);
    let PortCase { case, link, warnings } = found.map_err(|text| errors::parameter_text(py, &text))?;
    Ok(case_fields(case, Some(link), warnings))
}

/// `tailback.prediction.SizingCase`.
#[derive(FromPyObject)]
pub struct SizingInput {
    rate_bps: f64,
    packet_bytes: f64,
    transmitters: u64,
    flows: u64,
    base_rtt: RoundTripMeans,
    target: f64,
    inputs: Option<u64>,
    access_rate_bps: Option<f64>,
    paced: Option<bool>,
    window: Option<u64>,
    other_controllers: Vec<String>,
}

/// `tailback.models.RoundTrips`.
#[derive(FromPyObject)]
struct RoundTripMeans {
    harmonic_s: f64,
    mean_s: f64,
    max_s: f64,
}

impl From<SizingInput> for SizingCase {
    fn from(given: SizingInput) -> SizingCase {
        let RoundTripMeans { harmonic_s, mean_s, max_s } = given.base_rtt;
        SizingCase {
            rate_bps: given.rate_bps,
            packet_bytes: given.packet_bytes,
            transmitters: given.transmitters,
            flows: given.flows,
            base_rtt: RoundTrips { harmonic_s, mean_s, max_s },
            target: given.target,
            inputs: given.inputs,
            access_rate_bps: given.access_rate_bps,
            paced: given.paced,
            window: given.window,
            other_controllers: given.other_controllers,
        }
    }
}

/// Name of the rule, packets, upper end of a range, whether it applies, and the reason.
type RuleFields = (&'static str, Option<u64>, Option<u64>, bool, String);

/// The question in one line; the answers of all rules; the recommended rule; whether only a simulation has an answer; the reason.
#[pyfunction]
pub fn buffer_answers(py: Python<'_>, question: SizingInput) -> (String, Vec<RuleFields>, Option<&'static str>, bool, String) {
    let case = SizingCase::from(question);
    let found = py.detach(|| sizing::answers(&case));
    let judged = found.rules.into_iter().map(|rule| (rule.rule, rule.packets, rule.max_packets, rule.applies, rule.why));
    (case.to_string(), judged.collect(), found.recommended, found.is_uncovered, found.advice)
}

/// Window and over-provisioning of the rule `enachescu`.
#[pyfunction]
pub fn max_windows(py: Python<'_>, question: SizingInput) -> PyResult<(f64, f64)> {
    sizing::max_windows(&SizingCase::from(question)).map_err(|text| errors::parameter_text(py, &text))
}

/// Means of RTTs: a list with at least one element, or the parameters of a distribution.
#[pyfunction]
pub fn round_trips(distribution: &str, numbers: Vec<f64>) -> PyResult<Means> {
    Ok(means(match (distribution, &numbers[..]) {
        ("list", [_, ..]) => RoundTrips::listed(&numbers),
        ("uniform", &[low, high]) => RoundTrips::uniform(low, high),
        ("pareto", &[mean, shape]) => RoundTrips::pareto(mean, shape),
        ("lognormal", &[median, sigma]) => RoundTrips::lognormal(median, sigma),
        _ => return Err(PyValueError::new_err(format!("no distribution `{distribution}` of {} numbers", numbers.len()))),
    }))
}

/// Ratio, low and high of the accuracy of a model of a trunk: inputs, transmitters, buffer.
#[pyfunction]
pub fn trunk_accuracy(py: Python<'_>, trunk: [f64; 3], load: f64, model: &str, variant: &str) -> PyResult<(f64, f64, f64)> {
    let numbers = trunk.map(Some);
    let found = Trunk::read("trunk", &mut Inputs::new(&numbers, &[], InterruptCheck(|| true))).and_then(|trunk| {
        let (model, variant) = (<&'static LossModel>::named(model)?, TrunkVariant::named(variant)?);
        trunk_map::accuracy(&trunk, load, model, variant)
    });
    let TrunkAccuracy { ratio, low, high } = found.map_err(|error| errors::parameter_error(py, &error, ""))?;
    Ok((ratio, low, high))
}

#[pyfunction]
pub fn trunk_accuracy_text(ratio: f64, low: f64, high: f64) -> String {
    TrunkAccuracy { ratio, low, high }.to_string()
}
