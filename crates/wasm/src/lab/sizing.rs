//! Every rule for the buffer of a bottleneck, side by side, with what each assumes.
//!
//! Differs from `tailback size-buffer`: all round trips are one, and no rule is recommended; what a rule assumes is told instead.

use super::fault::Fault;
use super::theory::evaluate;
use serde_json::{Value, json};
use tailback_models::Model;
use tailback_scenario::{BufferQuestion, Distribution};

/// What the rules go by, under the names of their parameters.
type Known = [(&'static str, Option<f64>)];

/// Inputs that stand for a number so large that it does not matter.
const COUNTLESS: f64 = 1e9;

pub(super) fn rules(question: &Value) -> Result<Value, Fault> {
    let question = BufferQuestion::from_json(&question.to_string(), "")?;
    let Distribution::Fixed(rtt) = &question.base_rtt else {
        return Err(Fault::whole("one round trip for all flows", None, Some("a time such as `100 ms`".into())));
    };
    let (rate, packet) = (question.rate.rate().0 as f64, question.packet.bytes() as f64);
    let transmitters = question.transmitters.0;
    let rtt_s = Some(rtt.span().seconds());
    let inputs = question.inputs.map(|inputs| inputs.0 as f64);
    let known: &Known = &[
        ("transmitters", Some(transmitters as f64)),
        ("rate_bps", Some(rate)),
        ("packet_bytes", Some(packet)),
        ("flows", Some(question.flows.0 as f64)),
        ("mean_rtt_s", rtt_s),
        ("harmonic_rtt_s", rtt_s),
        ("max_rtt_s", rtt_s),
        ("utilisation", Some(question.target.0)),
        ("inputs", inputs.or(Some(COUNTLESS))),
        ("window", question.window.map(|window| window.0 as f64)),
        ("over_provision", None),
    ];
    let all = tailback_models::families().into_iter().filter(|(family, _)| *family == "sizing").flat_map(|(_, models)| models);
    let rules = all.filter(|model| !model.idea.is_empty() && applies(model, transmitters, inputs));
    let answers: Vec<Value> = rules.map(|model| answered(model, known, 8.0 * packet / (rate * transmitters as f64))).collect();
    Ok(json!({"rules": answers}))
}

/// A rule for one link is none for a trunk, and one for the inputs of a switch needs to know them.
fn applies(model: &Model, transmitters: u64, inputs: Option<f64>) -> bool {
    let asks = |name| (model.parameters)().iter().any(|parameter| parameter.name == name);
    let of_a_trunk = asks("transmitters") || !asks("rate_bps");
    (transmitters == 1 || of_a_trunk) && (model.name != "gorinsky_buffer" || inputs.is_some())
}

fn answered(model: &Model, known: &Known, service_s: f64) -> Value {
    let given = |name: &str| known.iter().find(|(known, _)| *known == name).and_then(|(_, value)| *value);
    let (answer, refused) = match evaluate(model, given) {
        Ok(answer) => (answer, None),
        Err(why) => (Vec::new(), Some(why)),
    };
    // The answer of every rule begins with its packets.
    let packets = answer.first().copied();
    json!({
        "rule": model.name.trim_end_matches("_buffer"),
        "idea": model.idea,
        "equation": model.equation,
        "source": model.source,
        "assumes": model.assumes,
        "packets": packets,
        "delay_s": packets.map(|packets| packets * service_s),
        "refused": refused,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hundred_flows_need_a_tenth_of_the_product_or_about_that() {
        let question = json!({"rate": "1 Gbps", "base_rtt": "100 ms", "flows": 100, "target": "98 %", "packet": "1000 B"});
        let answer = rules(&question).unwrap_or_default();
        let packets = |name: &str| {
            let rules = answer["rules"].as_array().into_iter().flatten();
            rules.filter(|rule| rule["rule"] == name).filter_map(|rule| rule["packets"].as_f64()).next()
        };
        // 1 Gbit/s x 0.1 s / 8000 bit = 12,500 packets.
        assert_eq!(packets("bandwidth_delay"), Some(12_500.0));
        assert!(packets("appenzeller").is_some_and(|packets| (900.0..1500.0).contains(&packets)), "{answer}");
    }
}
