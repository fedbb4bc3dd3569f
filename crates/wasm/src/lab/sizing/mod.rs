//! Every rule for the buffer of a bottleneck, side by side, and which of them is meant for the case: what `tailback size-buffer` answers.
//!
//! The command's judgement is Python, in `tailback.prediction`, which no page has. It is said once more here, in the same words, and
//! tests/browser/test_sizing.py asks both the same questions: they must not differ in a number or a word. `question.rs` is what is asked,
//! `judgement.rs` what each rule answers and what speaks against it, `advice.rs` which one to take.

mod advice;
mod judgement;
mod limits;
mod question;
mod trunk_map;
mod words;

use super::fault::Fault;
use judgement::Answer;
use question::Question;
use serde_json::{Value, json};

pub(super) fn rules(asked: &Value) -> Result<Value, Fault> {
    let question = Question::read(asked)?;
    let answers = judgement::answers(&question);
    let (recommended, advice) = advice::advice(&question, &answers);
    let rules: Vec<Value> = answers.iter().map(|answer| described(answer, &question)).collect();
    Ok(json!({"asked": question.to_string(), "rules": rules, "recommended": recommended, "advice": advice}))
}

fn described(answer: &Answer, question: &Question) -> Value {
    let bytes = answer.packets.map(|packets| packets as f64 * question.packet_bytes);
    json!({
        "rule": answer.rule,
        "idea": answer.model.idea,
        "equation": answer.model.equation,
        "source": answer.model.source,
        "assumes": answer.model.assumes,
        "packets": answer.packets,
        "most": answer.most,
        "bytes": bytes,
        "delay_s": bytes.map(|bytes| 8.0 * bytes / question.capacity_bps()),
        "meant": answer.meant,
        "why": answer.why,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(changes: &Value) -> Value {
        let mut question = json!({"rate": "1 Gbps", "base_rtt": "100 ms", "flows": 100, "target": "98 %", "packet": "1000 B"});
        for (key, value) in changes.as_object().into_iter().flatten() {
            question[key] = value.clone();
        }
        rules(&question).unwrap_or_default()
    }

    fn of<'a>(answer: &'a Value, name: &str) -> &'a Value {
        let mut rules = answer["rules"].as_array().into_iter().flatten();
        rules.find(|rule| rule["rule"] == name).unwrap_or(&Value::Null)
    }

    #[test]
    fn a_hundred_flows_need_a_tenth_of_the_product_or_about_that() {
        let answer = asked(&json!({}));
        // 1 Gbit/s x 0.1 s / 8000 bit = 12,500 packets.
        assert_eq!(of(&answer, "bandwidth_delay")["packets"], 12_500);
        assert!(of(&answer, "appenzeller")["packets"].as_u64().is_some_and(|packets| (900..1500).contains(&packets)), "{answer}");
        assert_eq!(answer["recommended"], "appenzeller");
    }

    #[test]
    fn what_speaks_against_a_rule_stands_beside_it() {
        let answer = asked(&json!({"flows": 2, "paced": false, "access_rate": "1 Gbps"}));
        assert_eq!(of(&answer, "appenzeller")["why"], "fewer than 100 flows may halve together");
        assert_eq!((&of(&answer, "beheshti")["packets"], &of(&answer, "beheshti")["most"]), (&json!(10), &json!(20)));
        assert_eq!(of(&answer, "gorinsky")["packets"], 4);
        assert_eq!(of(&answer, "enachescu")["packets"], Value::Null);
        assert!(of(&answer, "cui_link")["why"].as_str().is_some_and(|why| why.contains("; asks for far too much above 95 %")));
    }

    #[test]
    fn round_trips_may_differ() {
        let answer = asked(&json!({"base_rtt": "{uniform = [\"60 ms\", \"180 ms\"]}"}));
        // cui-thesis, section 3.3.2: (b - a) / ln(b / a).
        assert!(answer["asked"].as_str().is_some_and(|asked| asked.contains("120 ms (mean; harmonic 109.2 ms)")), "{answer}");
    }
}
