//! Predictions of closed forms for an open scenario: lines drawn over its curves, each with its model and assumptions.
//!
//! Conditions and numbers are those of `tailback predict`; a test compares them. That command covers more cases (closed loops,
//! trunks, windows of several flows that nothing limits, FAST and Vegas flows that start one after the other), and the page
//! refers to it for these.

mod bottleneck;
mod datagrams;
mod delay_based;
mod fair_shares;
mod random_loss;
mod reno;

use super::observed_entities::ObservedEntities;
use bottleneck::{Saturated, greedy_tcp};
use serde_json::{Value, json};
use tailback_core::network::{Network, Transport};
use tailback_models::model::evaluate;

/// A number that a curve is compared with.
#[derive(Debug)]
pub(super) struct Line {
    panel: Panel,
    /// The flow, or the port.
    of: u32,
    /// In the unit of the panel's curves: segments, packets, bit/s.
    value: f64,
    label: &'static str,
    theory: Theory,
}

#[derive(Clone, Copy, Debug)]
enum Panel {
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
struct Theory {
    name: &'static str,
    equation: String,
    source: &'static str,
    assumes: Vec<String>,
}

impl Theory {
    /// From a model, with additional assumptions.
    fn of(model: &str, also: &[&str]) -> Option<Theory> {
        let model = tailback_models::named(model)?;
        Some(Theory {
            name: model.name,
            equation: model.equation.into(),
            source: model.source,
            assumes: model.assumes.iter().chain(also).map(|text| (*text).to_string()).collect(),
        })
    }
}

/// One number of a model's result.
fn number(model: &str, field: usize, known: &[(&str, f64)]) -> Result<f64, String> {
    let of = tailback_models::named(model).ok_or_else(|| format!("no model `{model}`"))?;
    let answer = evaluate(of, |name| known.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))?;
    answer.get(field).copied().ok_or_else(|| format!("{model} has no result {field}"))
}

/// All lines, and the reason if there are none for the run itself.
pub(super) fn all(network: &Network, observed: &ObservedEntities) -> Value {
    let (lines, why) = match lines(network, observed) {
        Ok(lines) => (lines, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    let shares = fair_shares::lines(network, observed);
    json!({"lines": lines.iter().chain(&shares).map(as_json).collect::<Vec<_>>(), "none": why})
}

fn as_json(line: &Line) -> Value {
    let Theory { name, equation, source, assumes } = &line.theory;
    json!({
        "panel": line.panel.name(), "of": line.of, "value": line.value, "label": line.label,
        "model": name, "equation": equation, "source": source, "assumes": assumes,
    })
}

fn lines(network: &Network, observed: &ObservedEntities) -> Result<Vec<Line>, String> {
    if !network.changes.is_empty() {
        return Err("models describe a steady state, and this scenario changes during the run".into());
    }
    if network.groups.iter().all(|group| matches!(group.transport, Transport::Datagram(_))) {
        return datagrams::lines(network, observed);
    }
    let flows = greedy_tcp(network)?;
    if network.ports.iter().any(|port| port.random_loss > 0.0) {
        return random_loss::lines(network, observed, &flows);
    }
    let saturated = Saturated::of(network, flows)?;
    if saturated.is_delay_based() { delay_based::lines(&saturated, observed) } else { reno::lines(&saturated, observed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_scenario::Scenario;

    fn of(toml: &str) -> Result<Vec<Line>, String> {
        let network = Scenario::from_toml(toml, "").and_then(|scenario| scenario.build()).map_err(|error| error.to_string())?;
        lines(&network, &ObservedEntities::of(&network, None))
    }

    fn value(lines: &[Line], label: &str) -> Option<f64> {
        lines.iter().find(|line| line.label == label).map(|line| line.value)
    }

    fn dumbbell(queue: &str, flows: &str) -> String {
        format!(
            "duration = \"9 s\"\n[topology]\ndumbbell = {{rate = \"8 Mbps\", delay = \"1 ms\", queue = {{{queue}}}}}\n[flows.a]\nfrom = \"left\"\nto = \"right\"\n{flows}\n"
        )
    }

    #[test]
    fn one_flow_with_half_a_product_of_buffer_nearly_fills_its_link() -> Result<(), String> {
        // 1000 B at 8 Mbit/s take 1 ms, an acknowledgement of 40 B 0.04 ms: in 101.04 ms there are 101.04 packets.
        let tcp = "propagation_rtt = \"100 ms\"\ntcp = {preset = \"sack\", mss = \"960 B\", header = \"40 B\", receiver_window = 100000}";
        let found = of(&dumbbell("buffer = \"50 packets\"", tcp))?;
        let peak = value(&found, "largest window").ok_or("no peak")?;
        assert!((peak - 151.04).abs() < 1e-6, "{peak}");
        // Half of a buffer of 100 packets fills 27/28 of the link.
        let b: f64 = 50.0 / 101.04;
        let part = 0.75 * (1.0 + b) * (1.0 + b) / (1.0 + b + b * b);
        assert!((part - 27.0 / 28.0).abs() < 1e-3);
        let goodput = value(&found, "mean goodput").ok_or("no goodput")?;
        assert!((goodput / (8e6 * 0.96 * part) - 1.0).abs() < 1e-9, "{goodput}");
        Ok(())
    }

    #[test]
    fn two_flows_of_fast_keep_two_alphas() -> Result<(), String> {
        let tcp =
            "count = 2\npropagation_rtt = \"100 ms\"\ntcp = {preset = \"sack\", controller = {kind = \"fast\", alpha = 20}}";
        let found = of(&dumbbell("buffer = \"500 packets\"", tcp))?;
        assert_eq!(value(&found, "queue in equilibrium"), Some(40.0));
        Ok(())
    }

    #[test]
    fn uncovered_scenarios_report_the_reason() {
        let tcp = "propagation_rtt = \"100 ms\"\ntcp = {preset = \"sack\"}";
        let red = of(&dumbbell("policy = \"codel\", buffer = \"50 packets\"", tcp));
        assert!(red.is_err_and(|why| why.contains("the policy is codel")));
        let cubic = of(&dumbbell("buffer = \"50 packets\"", "propagation_rtt = \"100 ms\"\ntcp = {preset = \"cubic\"}"));
        assert!(cubic.is_err_and(|why| why.contains("the controller is cubic")));
    }
}
