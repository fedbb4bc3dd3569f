//! Predictions for an open scenario, those of `tailback predict`: lines drawn over its curves, each with its model and assumptions.

use super::observed_entities::ObservedEntities;
use serde_json::{Value, json};
use tailback_core::network::Network;
use tailback_prediction::{AppliedModel, Prediction, Window};

/// A number that a curve is compared with.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) panel: Panel,
    /// The flow, or the port.
    pub(super) of: u32,
    /// In the unit of the panel's curves: segments, packets, bit/s.
    pub(super) value: f64,
    pub(super) label: &'static str,
    pub(super) theory: Theory,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Panel {
    Cwnd,
    Queue,
    Goodput,
}

impl Panel {
    fn name(self) -> &'static str {
        match self {
            Panel::Cwnd => "cwnd",
            Panel::Queue => "queue",
            Panel::Goodput => "goodput",
        }
    }
}

/// Source of a line.
#[derive(Clone, Debug)]
pub(super) struct Theory {
    pub(super) name: String,
    pub(super) equation: &'static str,
    pub(super) source: &'static str,
    pub(super) assumes: Vec<String>,
}

impl Theory {
    fn of(model: &AppliedModel) -> Theory {
        let AppliedModel { name, equation, source, assumes, simplifies, warnings, .. } = model;
        let own = assumes.iter().map(|text| (*text).to_string());
        let assumes = own.chain(simplifies.iter().chain(warnings).cloned()).collect();
        Theory { name: name.clone(), equation, source, assumes }
    }

    /// The square-root law, which gives the mean window at a loss.
    fn of_mean_window() -> Option<Theory> {
        let model = tailback_models::named("mathis_rate")?;
        let assumes = model.assumes.iter().map(|text| (*text).to_string()).collect();
        let (name, equation) = (model.name.to_string(), "sqrt(3 / (2 b p)) segments");
        Some(Theory { name, equation, source: model.source, assumes })
    }
}

/// All lines, the given ones at the end, and the parts that no model covers.
pub(super) fn all(network: &Network, observed: &ObservedEntities, others: &[Line]) -> Value {
    let prediction = tailback_prediction::predict(network);
    let unmodelled = prediction.unmodelled.iter().map(|part| json!({"at": part.at, "why": part.why}));
    json!({
        "lines": lines(network, observed, &prediction).iter().chain(others).map(as_json).collect::<Vec<_>>(),
        "unmodelled": unmodelled.collect::<Vec<_>>(),
    })
}

fn as_json(line: &Line) -> Value {
    let Theory { name, equation, source, assumes } = &line.theory;
    json!({
        "panel": line.panel.name(), "of": line.of, "value": line.value, "label": line.label,
        "model": name, "equation": equation, "source": source, "assumes": assumes,
    })
}

/// Lines of the observed flows and ports.
fn lines(network: &Network, observed: &ObservedEntities, prediction: &Prediction) -> Vec<Line> {
    // The last model that covers a part: the first ones of several cover its upstream links.
    let theory = |at: String| prediction.models.iter().rev().find(|model| model.at.contains(&at)).map(Theory::of);
    let mut found = Vec::new();
    let mut draw = |panel, of, value: f64, label, theory: Option<Theory>| {
        found.extend(theory.filter(|_| !value.is_nan()).map(|theory| Line { panel, of, value, label, theory }));
    };
    for &flow in &observed.flows {
        let group = &network.groups[network.flows[flow].group];
        let (known, of_group) = (&prediction.flows[flow], || theory(format!("flows.{}", group.name)));
        draw(Panel::Goodput, flow.0, known.goodput_bps, "mean goodput", of_group());
        match known.window {
            Some(Window::Constant(segments)) => draw(Panel::Cwnd, flow.0, segments, "window", of_group()),
            Some(Window::Sawtooth(peak)) => {
                draw(Panel::Cwnd, flow.0, peak, "largest window", of_group());
                draw(Panel::Cwnd, flow.0, peak / 2.0, "half of it", of_group());
            }
            Some(Window::Mean(segments)) => draw(Panel::Cwnd, flow.0, segments, "mean window", Theory::of_mean_window()),
            None => {}
        }
    }
    for &port in &observed.ports {
        let at = format!("links.{}", network.ports[port].name);
        draw(Panel::Queue, port.0, prediction.queues[port].mean_queue_units, "mean queue", theory(at));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_scenario::Scenario;

    fn of(tcp: &str) -> Result<Value, String> {
        let toml = format!(
            "duration = \"9 s\"\n[topology]\ndumbbell = {{rate = \"8 Mbps\", delay = \"1 ms\", queue = {{buffer = \"50 packets\"}}}}\n[flows.a]\nfrom = \"left\"\nto = \"right\"\npropagation_rtt = \"100 ms\"\ntcp = {tcp}\n"
        );
        let network = Scenario::from_toml(&toml, "").and_then(|scenario| scenario.build()).map_err(|error| error.to_string())?;
        Ok(all(&network, &ObservedEntities::of(&network, None), &[]))
    }

    #[test]
    fn a_sawtooth_has_lines_in_all_panels() -> Result<(), String> {
        let found = of("{preset = \"sack\"}")?;
        let lines: Vec<_> =
            found["lines"].as_array().into_iter().flatten().map(|line| (&line["panel"], &line["label"])).collect();
        let expected = [("goodput", "mean goodput"), ("cwnd", "largest window"), ("cwnd", "half of it"), ("queue", "mean queue")];
        assert_eq!(lines.len(), expected.len(), "{found}");
        assert!(lines.iter().zip(expected).all(|(line, (panel, label))| *line.0 == panel && *line.1 == label), "{found}");
        let equation = found["lines"][0]["equation"].as_str();
        assert_eq!(equation, tailback_models::named("single_flow_utilisation").map(|model| model.equation));
        Ok(())
    }

    #[test]
    fn a_part_without_a_model_has_a_reason() -> Result<(), String> {
        let found = of("{preset = \"linux/bbr\"}")?;
        assert_eq!(found["lines"].as_array().map(Vec::len), Some(0), "{found}");
        let why = found["unmodelled"][0]["why"].as_str().unwrap_or_default();
        assert!(why.starts_with("the controller is bbrv1, but models require Reno, or CUBIC alone; the nearest answer"), "{why}");
        Ok(())
    }
}
