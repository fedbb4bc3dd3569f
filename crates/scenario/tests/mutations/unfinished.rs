//! Scenarios of every generator of topologies that lack keys or have wrong ones, with events, traces and drops of the links and flow groups
//! that would exist without these errors.

use super::Chance;
use super::structure::{Mutator, names};
use serde_json::{Map, Value, json};
use tailback_scenario::{Scenario, Topology, toml_as_json};

/// A valid scenario with the names of its links and flow groups.
#[derive(Clone)]
pub struct Example {
    scenario: Value,
    links: Vec<String>,
    groups: Vec<String>,
}

/// The examples of all generators, and these texts.
pub fn examples(texts: &[String]) -> Vec<Example> {
    let of_generator = |one: &tailback_scenario::TopologyInfo| {
        let ends = match one.name {
            "graph" => "from = [\"a\", \"b\"]\nto = [\"c\", \"c\"]",
            "dumbbell" => "from = \"left\"\nto = \"right\"",
            "dwdm" => "from = \"edge*\"\nto = \"far\"",
            "parking_lot" | "chain" => "traffic = {random_pairs = \"n*\"}\ncount = 3",
            "waxman" => "traffic = {permutation = \"router*\"}",
            _ => "traffic = {incast = {nodes = \"host*\", senders = 2}}",
        };
        let flows = format!("[flows.web]\n{ends}\nsize = \"20 kB\"\ntcp = {{preset = \"newreno\"}}\n");
        format!("duration = \"1 s\"\n[topology.{}]\n{}\n{flows}", one.name, one.example)
    };
    let generated = Topology::ALL.iter().map(of_generator);
    generated.chain(texts.iter().cloned()).map(|text| example(&text)).collect()
}

fn example(text: &str) -> Example {
    let network = Scenario::from_toml(text, "").and_then(|scenario| scenario.build());
    let network = network.unwrap_or_else(|errors| panic!("{errors}\n{text}"));
    Example {
        scenario: serde_json::from_str(&toml_as_json(text).unwrap()).unwrap(),
        links: network.ports.into_iter().map(|port| port.name).collect(),
        groups: network.groups.into_iter().map(|group| group.name).collect(),
    }
}

/// One of the examples in TOML, with errors and with further parts that refer to its links and groups.
pub fn scenario(mutator: &Mutator, examples: &[Example], chance: &mut Chance) -> String {
    let Example { mut scenario, links, groups } = chance.one(examples).unwrap().clone();
    let names = [names(&scenario), links.clone(), groups.clone()].concat();
    for _ in 0..chance.below(3) {
        mutator.damage(&mut scenario, &names, chance);
    }
    if !scenario.is_object() {
        scenario = json!({});
    }
    for _ in 0..chance.below(3) {
        remove_one(&mut scenario, chance);
    }
    let events: Vec<Value> = (0..=chance.below(3)).map(|_| event(&links, &groups, chance)).collect();
    scenario["timeline"] = json!(events);
    if chance.below(3) == 0 {
        scenario["record"] = mutator.generated("record", &names, chance);
    }
    if chance.below(3) == 0 {
        scenario["routing"] = json!(["ecmp", "shortest"][chance.below(2)]);
    }
    toml::to_string(&scenario).unwrap()
}

/// Removes a key of the scenario, or of a table inside it.
fn remove_one(value: &mut Value, chance: &mut Chance) {
    let Value::Object(entries) = value else { return };
    let keys: Vec<String> = entries.keys().cloned().collect();
    let Some(key) = chance.one(&keys) else { return };
    if entries[key].is_object() && chance.below(8) > 0 {
        remove_one(&mut entries[key], chance);
    } else {
        entries.remove(key);
    }
}

/// An event of a link or of a group.
fn event(links: &[String], groups: &[String], chance: &mut Chance) -> Value {
    let mut event = Map::new();
    let times = ["0 s", "1 ms", "0.5 s", "1 s", "1 h"];
    event.insert("at".into(), json!(times[chance.below(times.len())]));
    let link = |chance: &mut Chance| json!(chance.one(links));
    if chance.below(4) == 0 {
        event.insert("group".into(), json!(chance.one(groups)));
        match chance.below(3) {
            0 => _ = event.insert("start".into(), json!(true)),
            1 => _ = event.insert("stop".into(), json!(true)),
            _ => {
                let route: Vec<Value> = (0..=chance.below(2)).map(|_| link(chance)).collect();
                event.insert("route".into(), json!(route));
            }
        }
        return Value::Object(event);
    }
    event.insert("link".into(), link(chance));
    let (key, value) = match chance.below(8) {
        0 => ("rate", json!("1 Mbps")),
        1 => ("delay", json!("2 ms")),
        2 => ("loss", json!("5 %")),
        3 => ("buffer", json!("7 packets")),
        4 | 5 => ("down", json!(true)),
        _ => ("up", json!(true)),
    };
    event.insert(key.into(), value);
    if matches!(key, "down" | "up") && chance.below(3) > 0 {
        event.insert("reroute_after".into(), json!(times[chance.below(times.len())]));
    }
    Value::Object(event)
}
