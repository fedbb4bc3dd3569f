//! Changes of the tree of a scenario that follow the JSON Schema: keys are added with random values of their types, removed, moved and
//! repeated, so that most scenarios can be decoded and fail, if at all, while they are checked as a whole.

use super::Chance;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

pub struct Mutator {
    schema: Value,
    valid: Vec<Value>,
    invalid: Vec<Value>,
    /// Their values by the definition that they follow.
    known: BTreeMap<String, Vec<Value>>,
}

/// Depth of generated tables.
const DEPTH: usize = 4;

impl Mutator {
    pub fn new(valid: &[String], invalid: &[String]) -> Mutator {
        let tree = |text: &String| serde_json::from_str(&tailback_scenario::toml_as_json(text).unwrap()).unwrap();
        let mut mutator = Mutator {
            schema: tailback_scenario::json_schema(),
            valid: valid.iter().map(tree).collect(),
            invalid: invalid.iter().map(tree).collect(),
            known: BTreeMap::new(),
        };
        let mut known = BTreeMap::new();
        let all = mutator.valid.iter().chain(&mutator.invalid);
        all.for_each(|scenario| mutator.collect(scenario, &mutator.schema, &mut known));
        mutator.known = known;
        mutator
    }

    /// Adds a value and the values inside it to those of their definitions.
    fn collect(&self, value: &Value, schema: &Value, known: &mut BTreeMap<String, Vec<Value>>) {
        if let Some(place) = definition(schema) {
            known.entry(place.into()).or_default().push(value.clone());
        }
        let branches = self.branches(schema);
        for (key, value) in value.as_object().into_iter().flatten() {
            if let Some(schema) = branches.iter().find_map(|branch| property(branch, key)) {
                self.collect(value, schema, known);
            }
        }
    }

    /// A scenario with few changes that was valid, or one with many that was not, in TOML.
    pub fn scenario(&self, chance: &mut Chance) -> String {
        let (from, most) = if chance.below(2) == 0 { (&self.valid, 2) } else { (&self.invalid, 8) };
        let mut scenario = from[chance.below(from.len())].clone();
        for _ in 0..=chance.below(most) {
            let names = names(&scenario);
            self.change(&mut scenario, &self.schema, &names, chance);
            // A TOML text is always a table.
            if !scenario.is_object() {
                scenario = json!({});
            }
        }
        toml::to_string(&scenario).unwrap()
    }

    /// A value of this key of the scenario.
    pub fn generated(&self, key: &str, names: &[String], chance: &mut Chance) -> Value {
        self.generate(&self.schema["properties"][key], DEPTH, names, chance)
    }

    /// Changes a value or one inside it.
    pub fn damage(&self, scenario: &mut Value, names: &[String], chance: &mut Chance) {
        self.change(scenario, &self.schema, names, chance);
    }

    /// Changes this value or one inside it, each with the same chance. `schema` is that of the value.
    fn change(&self, value: &mut Value, schema: &Value, names: &[String], chance: &mut Chance) {
        let branches = self.branches(schema);
        let mut position = chance.below(size(value));
        match value {
            Value::Object(entries) if position > 0 => {
                for (key, value) in entries {
                    if position > size(value) {
                        position -= size(value);
                        continue;
                    }
                    let schemas: Vec<&Value> = branches.iter().filter_map(|branch| property(branch, key)).collect();
                    if let Some(schema) = chance.one(&schemas) {
                        self.change(value, schema, names, chance);
                    }
                    return;
                }
            }
            Value::Array(items) if position > 0 => {
                let item = chance.below(items.len());
                if let Some(schema) = branches.iter().find_map(|branch| branch.get("items")) {
                    self.change(&mut items[item], schema, names, chance);
                }
            }
            // A value of some other kind.
            _ if chance.below(16) == 0 => {
                let others = [json!(0), json!(-1), json!(true), json!(""), json!([]), json!({}), json!("5"), json!(0.5)];
                *value = others[chance.below(others.len())].clone();
            }
            Value::Object(entries) => {
                let known: Vec<(String, &Value)> = branches.iter().flat_map(|branch| properties(branch, names, chance)).collect();
                let given: Vec<String> = entries.keys().cloned().collect();
                let (Some((key, schema)), Some(other)) = (chance.one(&known), chance.one(&given)) else { return };
                match chance.below(4) {
                    0 => _ = entries.remove(other),
                    1 => _ = entries.insert(key.clone(), entries[other].clone()),
                    _ => _ = entries.insert(key.clone(), self.generate(schema, DEPTH, names, chance)),
                }
            }
            Value::Array(items) if chance.below(2) == 0 && !items.is_empty() => {
                let item = chance.below(items.len());
                match chance.below(2) {
                    0 => _ = items.remove(item),
                    _ => items.push(items[item].clone()),
                }
            }
            _ => *value = self.generate(schema, DEPTH, names, chance),
        }
    }

    /// A value of a schema: one of the examples, or a random one.
    fn generate(&self, schema: &Value, depth: usize, names: &[String], chance: &mut Chance) -> Value {
        let known = definition(schema).and_then(|place| self.known.get(place)).filter(|_| chance.below(2) == 0);
        if let Some(value) = known.and_then(|known| chance.one(known)) {
            return value.clone();
        }
        let branches = self.branches(schema);
        let Some(&schema) = chance.one(&branches) else { return json!(0) };
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(Value::Array(words)) = schema.get("enum") {
            return words[chance.below(words.len())].clone();
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("object") => {
                let required: Vec<&str> = list(schema.get("required")).iter().filter_map(Value::as_str).collect();
                let rarity = if depth == 0 { usize::MAX } else { 6 };
                let mut entries = Map::new();
                for (key, schema) in properties(schema, names, chance) {
                    if required.contains(&key.as_str()) || chance.below(rarity) == 0 {
                        entries.insert(key, self.generate(schema, depth.saturating_sub(1), names, chance));
                    }
                }
                Value::Object(entries)
            }
            Some("array") => {
                let fixed = list(schema.get("prefixItems"));
                let first: Vec<Value> = fixed.iter().map(|item| self.generate(item, depth, names, chance)).collect();
                let others = schema.get("items").filter(|items| items.is_object()).map_or(0, |_| chance.below(4));
                let rest = (0..others).map(|_| self.generate(&schema["items"], depth.saturating_sub(1), names, chance));
                Value::Array(first.into_iter().chain(rest.collect::<Vec<_>>()).collect())
            }
            Some("boolean") => json!(chance.below(2) == 1),
            Some("integer") => {
                let [minimum, maximum] = ["minimum", "maximum"].map(|bound| schema.get(bound).and_then(Value::as_i64));
                let minimum = minimum.unwrap_or(0);
                let maximum = maximum.unwrap_or(i64::MAX / 2);
                json!([minimum, minimum + 1, 3, 10, 1000, maximum, maximum + 1][chance.below(7)])
            }
            Some("number") => json!([0.0, 1e-9, 0.5, 1.0, 2.0, 100.0, 1e12][chance.below(7)]),
            _ => json!(text(schema.get("pattern").and_then(Value::as_str).unwrap_or_default(), names, chance)),
        }
    }

    /// The alternatives of a schema, with references replaced.
    fn branches<'a>(&'a self, schema: &'a Value) -> Vec<&'a Value> {
        if let Some(place) = definition(schema) {
            return self.branches(self.schema.pointer(place.trim_start_matches('#')).unwrap());
        }
        // Alternatives that only list required keys describe no value.
        let alternatives = ["anyOf", "oneOf"].iter().flat_map(|key| list(schema.get(key)));
        let found: Vec<&Value> =
            alternatives.filter(|branch| branch.get("required").is_none() || branch.get("type").is_some()).collect();
        if found.is_empty() { vec![schema] } else { found.into_iter().flat_map(|branch| self.branches(branch)).collect() }
    }
}

/// Number of values in a value, with itself.
fn size(value: &Value) -> usize {
    match value {
        Value::Object(entries) => 1 + entries.values().map(size).sum::<usize>(),
        Value::Array(items) => 1 + items.iter().map(size).sum::<usize>(),
        _ => 1,
    }
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Path of the definition that a schema refers to.
fn definition(schema: &Value) -> Option<&str> {
    schema.get("$ref").and_then(Value::as_str)
}

/// Schema of a key of a table.
fn property<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let of_any = ["patternProperties", "additionalProperties"].iter().find_map(|kind| any_key(schema, kind));
    schema.get("properties").and_then(|keys| keys.get(key)).or(of_any)
}

/// Schema of the values of a table with free keys.
fn any_key<'a>(schema: &'a Value, kind: &str) -> Option<&'a Value> {
    let found = schema.get(kind)?;
    let inner = if kind == "patternProperties" { found.as_object()?.values().next()? } else { found };
    inner.is_object().then_some(inner)
}

/// Keys of a table with their schemas; one drawn name if it has free keys.
fn properties<'a>(schema: &'a Value, names: &[String], chance: &mut Chance) -> Vec<(String, &'a Value)> {
    let fixed = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let mut all: Vec<(String, &Value)> = fixed.map(|(key, schema)| (key.clone(), schema)).collect();
    if let Some(schema) = ["patternProperties", "additionalProperties"].iter().find_map(|kind| any_key(schema, kind)) {
        all.push((name(names, chance), schema));
    }
    all
}

/// A text that follows one of the schema's patterns: a number with a unit, or a name.
fn text(pattern: &str, names: &[String], chance: &mut Chance) -> String {
    const NUMBERS: [&str; 10] = ["0", "1", "2", "5", "10", "64", "1500", "0.5", "100000", "1e15"];
    match pattern.strip_prefix("^[0-9]").and_then(|rest| rest.rsplit_once('(')) {
        Some((_, units)) => {
            let units: Vec<&str> = units.trim_end_matches(")$").split('|').collect();
            format!("{} {}", NUMBERS[chance.below(NUMBERS.len())], units[chance.below(units.len())])
        }
        None => name(names, chance),
    }
}

fn name(names: &[String], chance: &mut Chance) -> String {
    chance.one(names).cloned().unwrap_or_default()
}

/// All keys and short texts of a scenario, and names of generated nodes and links.
pub fn names(scenario: &Value) -> Vec<String> {
    let mut found: Vec<String> =
        ["left", "right", "host*", "host1", "host2", "bottleneck", "bottleneck.reverse", "*", "web", "web[0]"]
            .map(String::from)
            .into();
    let mut rest = vec![scenario];
    while let Some(value) = rest.pop() {
        match value {
            Value::Object(entries) => {
                found.extend(entries.keys().cloned());
                rest.extend(entries.values());
            }
            Value::Array(items) => rest.extend(items),
            Value::String(text) if text.len() < 20 => found.push(text.clone()),
            _ => {}
        }
    }
    found
}
