//! The buffer calculator: the same results as `tailback size-buffer`, from the same crate (`tailback_sizing`).
//! tests/browser/test_sizing.py sends both the same questions: numbers and texts must be identical.

mod sizing_case;

use super::fault::Fault;
use serde_json::{Value, json};
use tailback_sizing::{SizingCase, SizingResult};

pub(super) fn rules(asked: &Value) -> Result<Value, Fault> {
    let case = sizing_case::read(asked)?;
    let answers = tailback_sizing::answers(&case);
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
