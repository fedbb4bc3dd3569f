//! Short forms of tables: text or a number in place of a table with one usual meaning.
//!
//! `tcp = "linux/cubic"` is a preset, `queue = "codel"` a policy with the buffer of Linux, `queue = "100 packets"` a buffer,
//! `jitter = "5 ms"` a uniform delay from 0 to that time, and `loss = "1 %"` a probability.

use crate::tree::Node;
use indexmap::IndexMap;
use serde_json::{Value, json};
use tailback_core::queue::PolicySpec;

/// Buffer of a queue that is given by its policy alone: the default of Linux's `codel`, `pie` and `pfifo_fast` (tc-codel(8), tc-pie(8)).
pub(crate) const USUAL_BUFFER: &str = "1000 packets";

/// The table that this value stands for, in place of a table of this type.
pub(crate) fn table(of: &str, value: &Node) -> Option<IndexMap<String, Node>> {
    let text = |text: &str| Node::Text(text.into());
    let table = |keys: &[(&str, Node)]| IndexMap::from_iter(keys.iter().map(|(key, node)| ((*key).to_string(), node.clone())));
    match (of, value) {
        ("Tcp", Node::Text(_)) => Some(table(&[("preset", value.clone())])),
        ("Queue", Node::Text(buffer)) if buffer == "unlimited" || begins_with_digit(buffer) => {
            Some(table(&[("buffer", value.clone())]))
        }
        ("Queue", Node::Text(policy)) if policies().contains(&policy.as_str()) => {
            Some(table(&[("policy", value.clone()), ("buffer", text(USUAL_BUFFER))]))
        }
        ("Jitter", Node::Text(longest)) if begins_with_digit(longest) => {
            let range = Node::List(vec![text("0 s"), value.clone()]);
            Some(table(&[("delay", Node::Table(table(&[("uniform", range)])))]))
        }
        ("Loss" | "ChanceLoss", Node::Text(share)) if begins_with_digit(share) => Some(table(&[("probability", value.clone())])),
        ("Loss" | "ChanceLoss", Node::Integer(_) | Node::Float(_)) => Some(table(&[("probability", value.clone())])),
        _ => None,
    }
}

/// The table, as JSON, that a value of this key stands for; `None` if it has no short form.
pub fn long_form(key: &str, json: &str) -> Option<String> {
    let of = match key {
        "tcp" => "Tcp",
        "jitter" => "Jitter",
        "loss" => "Loss",
        "queue" | "host_queue" | "edge_queue" => "Queue",
        _ => return None,
    };
    let value: Node = serde_json::from_str(json).ok()?;
    serde_json::to_string(&Node::Table(table(of, &value)?)).ok()
}

/// Name and schema of the short forms of a type.
pub(crate) fn schema(of: &str) -> Option<(&'static str, Value)> {
    let number = "^[0-9].*$";
    match of {
        "Queue" => Some((
            "QueueName",
            json!({
                "description": format!("Short form of a queue: its `buffer`, or its `policy` with a buffer of `{USUAL_BUFFER}`."),
                "anyOf": [{"enum": policies()}, {"const": "unlimited"}, {"type": "string", "pattern": number}],
            }),
        )),
        "Jitter" => {
            let description = "Short form of `jitter`: a uniform delay from 0 to this duration.";
            Some(("JitterMaximum", json!({"description": description, "type": "string", "pattern": number})))
        }
        "Loss" | "ChanceLoss" => Some((
            "LossProbability",
            json!({
                "description": "Short form of `loss`: its `probability`.",
                "anyOf": [{"type": "number", "minimum": 0, "maximum": 1}, {"type": "string", "pattern": number}],
            }),
        )),
        _ => None,
    }
}

/// Names of all queue policies.
fn policies() -> Vec<&'static str> {
    PolicySpec::MEMBERS.iter().map(|member| member.name).collect()
}

fn begins_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use crate::Scenario;

    fn json(rest: &str, flow: &str) -> String {
        let text = format!(
            "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"9 ms\"\n{rest}\n[flows.web]\n{flow}\n"
        );
        Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{errors}")).to_json()
    }

    #[test]
    fn short_forms_are_the_same_as_their_tables() {
        let (queue, tcp) = ("queue = {buffer = \"9 packets\"}", "tcp = {preset = \"sack\"}");
        for (short, long) in [
            ("queue = \"codel\"", "queue = {policy = \"codel\", buffer = \"1000 packets\"}"),
            ("queue = \"9 packets\"", queue),
            ("queue = \"unlimited\"", "queue = {buffer = \"unlimited\"}"),
        ] {
            assert_eq!(json(short, tcp), json(long, tcp), "{short}");
        }
        for (short, long) in [
            ("jitter = \"5 ms\"", "jitter = {delay = {uniform = [\"0 s\", \"5 ms\"]}}"),
            ("loss = \"1 %\"", "loss = {probability = 0.01}"),
            ("loss = 0.01", "loss = {probability = 0.01}"),
        ] {
            assert_eq!(json(&format!("{queue}\n{short}"), tcp), json(&format!("{queue}\n{long}"), tcp), "{short}");
        }
        assert_eq!(json(queue, "tcp = \"linux/cubic\""), json(queue, "tcp = {preset = \"linux/cubic\"}"));
    }

    #[test]
    fn the_long_form_of_a_key_is_its_table() {
        let long = super::long_form("host_queue", "\"9 packets\"");
        assert_eq!(long.as_deref(), Some("{\"buffer\":\"9 packets\"}"));
        assert_eq!((super::long_form("queue", "\"nothing\""), super::long_form("rate", "\"9 Mbps\"")), (None, None));
    }

    #[test]
    fn a_policy_that_needs_settings_has_no_short_form() {
        let text = "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"9 ms\"\nqueue = \"red\"\n";
        let errors = Scenario::from_toml(text, "").unwrap_err().to_string();
        assert!(errors.contains("`min_threshold` is missing"), "{errors}");
    }
}
