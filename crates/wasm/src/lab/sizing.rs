//! The buffer calculator: the same results as `tailback size-buffer`, from the same crate.
//! tests/browser/test_sizing.py sends both the same questions: numbers and texts must be identical.

use super::fault::Fault;
use serde_json::{Value, json};
use tailback_prediction::sizing::{self, SizingCase, SizingResult};
use tailback_scenario::BufferQuestion;

pub(super) fn rules(asked: &Value) -> Result<Value, Fault> {
    let question = BufferQuestion::from_json(&with_values(asked).to_string(), "")?;
    let case = SizingCase::of_question(&question).map_err(|_| without_length())?;
    let answers = sizing::answers(&case);
    let rules: Vec<Value> = answers.rules.iter().map(|answer| described(answer, &case)).collect();
    Ok(json!({"asked": case.to_string(), "rules": rules, "recommended": answers.recommended, "advice": answers.advice}))
}

fn described(answer: &SizingResult, case: &SizingCase) -> Value {
    let bytes = answer.packets.map(|packets| packets as f64 * case.packet_bytes);
    json!({
        "rule": answer.rule,
        "idea": answer.model.idea,
        "equation": answer.model.equation,
        "source": answer.model.source,
        "assumes": answer.model.assumes,
        "packets": answer.packets,
        "max_packets": answer.max_packets,
        "bytes": bytes,
        "delay_s": bytes.map(|bytes| 8.0 * bytes / case.capacity_bps()),
        "applies": answer.applies,
        "why": answer.why,
    })
}

fn without_length() -> Fault {
    let mut fault = Fault::whole("a round trip is zero", None, Some("times above 0, such as `100 ms`".into()));
    for problem in &mut fault.problems {
        problem.at = "base_rtt".into();
    }
    fault
}

/// Parses round trips given as a list or a table in the scenario's syntax.
fn with_values(asked: &Value) -> Value {
    let mut asked = asked.clone();
    let text = asked["base_rtt"].as_str().unwrap_or_default().trim_start();
    if text.starts_with(['{', '[']) {
        let read = toml::from_str::<toml::Table>(&format!("value = {text}")).ok();
        if let Some(value) = read.and_then(|table| serde_json::to_value(table.get("value")?).ok()) {
            asked["base_rtt"] = value;
        }
    }
    asked
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(changes: &Value) -> Value {
        let mut case = json!({"rate": "1 Gbps", "base_rtt": "100 ms", "flows": 100, "target": "98 %", "packet_size": "1000 B"});
        for (key, value) in changes.as_object().into_iter().flatten() {
            case[key] = value.clone();
        }
        rules(&case).unwrap_or_default()
    }

    #[test]
    fn round_trips_may_differ() {
        let answer = asked(&json!({"base_rtt": "{uniform = [\"60 ms\", \"180 ms\"]}"}));
        // cui-thesis, section 3.3.2: (b - a) / ln(b / a).
        assert!(answer["asked"].as_str().is_some_and(|asked| asked.contains("120 ms (mean; harmonic 109.2 ms)")), "{answer}");
    }
}
