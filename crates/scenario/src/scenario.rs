//! The scenario as a whole, and its ways in and out.

use crate::decode::{Decode, Decoder};
use crate::flow_table;
use crate::location::Source;
use crate::network;
use crate::problem::{Errors, Problem, Report, Warnings};
use crate::quantity::Duration;
use crate::record::record;
use crate::schema::{Event, Flow, Link, Node, Prices, Record, Routing, Topology};
use crate::tree;
use crate::user_code::{self, Objection};
use crate::values::{Integer, Name};
use indexmap::IndexMap;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write;
use tailback_core::network::{CodeKind, Network};
use tailback_core::user_code::UserCode;

record! {
    /// A network, what runs in it, and what to record: everything that a run needs. Times, rates and sizes are text with a unit,
    /// such as `10 ms`, `75 Mbps`, `50 kB`.
    pub struct Description {
        /// What the scenario is about, in a few words.
        name: String = String::new(),
        /// Length of the run.
        duration: Duration,
        /// Results count from here.
        warmup: Duration = Duration::new(0),
        /// Seed of all random streams.
        seed: Integer<0, 9007199254740991> = Integer(1),
        /// Common networks in one line.
        topology: Topology = Topology::default(),
        /// Nodes by name.
        nodes: BTreeMap<Name, Node> = BTreeMap::new(),
        /// Links by name.
        links: BTreeMap<Name, Link> = BTreeMap::new(),
        /// Which way packets take where no `route` is given.
        routing: Routing = Routing::Shortest,
        /// How prices of congestion travel, where queues tell any.
        prices: Option<Prices>,
        /// Flow groups by name. Their order is that of every table of results.
        flows: IndexMap<Name, Flow> = IndexMap::new(),
        /// Changes while the network runs.
        timeline: Vec<Event> = Vec::new(),
        /// What to keep in addition to the counters.
        record: Record = Record::default(),
    }
}

/// A scenario whose every part could be read. Equal if it says the same, wherever it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub description: Description,
    source: Source,
}

impl Scenario {
    /// Reads TOML. `file` is the name that messages show; empty if there is none.
    ///
    /// # Errors
    /// Everything that is wrong, including what [`Scenario::build`] would find in the parts that could be read.
    pub fn from_toml(text: &str, file: &str) -> Result<Scenario, Errors> {
        let (node, source) = tree::from_toml(text, file)?;
        Scenario::decode(&node, source)
    }

    /// Reads TOML from the bytes of a file, which may be anything.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], or that the bytes are not text.
    pub fn from_toml_bytes(bytes: &[u8], file: &str) -> Result<Scenario, Errors> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Scenario::from_toml(text, file),
            Err(_) => {
                let problem = Problem::new("", "the file is not text").expecting("a scenario in TOML, encoded as UTF-8");
                Err(Errors::one(file, problem))
            }
        }
    }

    /// Reads JSON of the same shape. `file` is the name that messages show; empty if there is none.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`]; places have no lines.
    pub fn from_json(text: &str, file: &str) -> Result<Scenario, Errors> {
        let (node, source) = tree::from_json(text, file)?;
        Scenario::decode(&node, source)
    }

    /// Reads JSON that was made of a TOML text, which stands for a part of it, such as a table in another file. Places have the lines of
    /// that text.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`].
    pub fn from_json_of_toml(json: &str, toml: &str, file: &str) -> Result<Scenario, Errors> {
        let (node, _) = tree::from_json(json, file)?;
        let (_, source) = tree::from_toml(toml, file)?;
        Scenario::decode(&node, source)
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    fn decode(node: &tree::Node, source: Source) -> Result<Scenario, Errors> {
        let mut decoder = Decoder::new(Report::new(&source));
        // What is no table at all has no parts that could be wrong too.
        let Some(mut description) = Description::decode(node, &mut decoder) else { return Err(decoder.report.finish()) };
        let mut report = decoder.report;
        flow_table::settle(&mut description, &mut report);
        if report.is_empty() {
            return Ok(Scenario { description, source });
        }
        // Some parts are placeholders, so nothing comes of this but further problems.
        check_flows(&description, &mut report);
        network::network(&description, &mut report);
        Err(report.finish())
    }

    /// The network that the core runs.
    ///
    /// # Errors
    /// Everything that makes no sense: names that do not exist, routes that lead nowhere, values that do not go together.
    pub fn build(&self) -> Result<Network, Errors> {
        self.build_with_warnings().map(|(network, _)| network)
    }

    /// The network, and what runs but is hardly what was meant, such as a setting that makes a queue policy another one.
    ///
    /// # Errors
    /// As [`Scenario::build`].
    pub fn build_with_warnings(&self) -> Result<(Network, Warnings), Errors> {
        let mut report = Report::new(&self.source);
        check_flows(&self.description, &mut report);
        self.built(report)
    }

    /// Bytes that the network takes at least once it is built, counted without building it; 0 if [`Scenario::build`] refuses to count so far.
    pub fn min_bytes(&self) -> u64 {
        network::min_bytes(&self.description)
    }

    /// Whether it is a network, be it that nothing is sent there yet.
    ///
    /// # Errors
    /// As [`Scenario::build`], but for a scenario without flows.
    pub fn check(&self) -> Result<Warnings, Errors> {
        self.built(Report::new(&self.source)).map(|(_, warnings)| warnings)
    }

    /// The nodes where each flow begins and ends, in the order of the flows.
    ///
    /// # Errors
    /// What [`Scenario::build`] finds in nodes and in who sends to whom.
    pub fn ends(&self) -> Result<Vec<(Name, Name)>, Errors> {
        let mut report = Report::new(&self.source);
        let ends = network::ends(&self.description, &mut report);
        if report.is_empty() { Ok(ends) } else { Err(report.finish()) }
    }

    /// The nodes where each port begins and ends, in the order of the network's ports.
    ///
    /// # Errors
    /// What [`Scenario::build`] finds in nodes and links.
    pub fn port_ends(&self) -> Result<Vec<(Name, Name)>, Errors> {
        let mut report = Report::new(&self.source);
        let ends = network::ports(&self.description, &mut report);
        if report.is_empty() { Ok(ends) } else { Err(report.finish()) }
    }

    /// What runs as it is meant, and whose results are easily misread; nothing where there is no network.
    pub fn notes(&self) -> Warnings {
        let (mut report, mut aside) = (Report::new(&self.source), Report::new(&self.source));
        network::notes(&self.description, &mut report, &mut aside);
        report.warnings()
    }

    /// Whether seeds make a difference; false only if it is certain that nothing is drawn.
    pub fn is_random(&self) -> bool {
        network::may_be_random(&self.description, &mut Report::new(&self.source))
    }

    fn built(&self, mut report: Report) -> Result<(Network, Warnings), Errors> {
        match network::network(&self.description, &mut report) {
            Some(network) if report.is_empty() => Ok((network, report.warnings())),
            _ => Err(report.finish()),
        }
    }

    /// The normalised form as JSON: defaults and what presets stand for filled in, units as text, one order of keys. Read again, it
    /// is its own normalised form, with the same content hash.
    pub fn to_json(&self) -> String {
        let mut description = self.description.clone();
        for tcp in description.flows.values_mut().filter_map(|flow| flow.tcp.as_mut()) {
            *tcp = network::filled(tcp);
        }
        // Maps have text for keys and no number is NaN, so nothing can fail here.
        serde_json::to_string(&description).unwrap_or_default()
    }

    /// The user code that the scenario names, each with its place.
    pub fn user_code(&self) -> Vec<(CodeKind, UserCode)> {
        user_code::named_in(&self.description)
    }

    /// Whether whoever brings user code along has something against what the scenario names.
    ///
    /// # Errors
    /// All objections, each with its place.
    pub fn check_code(&self, judge: impl Fn(CodeKind, &UserCode) -> Option<Objection>) -> Result<(), Errors> {
        let mut report = Report::new(&self.source);
        for (kind, code) in self.user_code() {
            if let Some(objection) = judge(kind, &code) {
                objection.report(kind, &code, &mut report);
            }
        }
        if report.is_empty() { Ok(()) } else { Err(report.finish()) }
    }

    /// SHA-256 in hexadecimal of the normalised form, the version, the sources of the core and of this crate, which makes a network of it,
    /// and `code`, which stands for the sources of user code and is empty without any: equal hashes mean equal results.
    pub fn content_hash(&self, code: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update([0]);
        hash.update(tailback_core::SOURCES);
        hash.update(crate::SOURCES);
        hash.update([0]);
        hash.update(self.to_json());
        if !code.is_empty() {
            hash.update([0]);
            hash.update(code);
        }
        hash.finalize().iter().fold(String::new(), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

/// The JSON Schema (draft 2020-12) of a scenario.
pub fn json_schema() -> serde_json::Value {
    let mut generator = SchemaGenerator::from(SchemaSettings::draft2020_12());
    let mut schema = generator.root_schema_for::<Description>();
    schema.insert("title".into(), "Tailback scenario".into());
    // Flow groups have an empty default only so that the building can say that nothing would be sent.
    if let Some(required) = schema.pointer_mut("/required").and_then(|keys| keys.as_array_mut()) {
        required.push("flows".into());
    }
    if let Some(flows) = schema.pointer_mut("/properties/flows").and_then(|flows| flows.as_object_mut()) {
        flows.remove("default");
        flows.insert("minProperties".into(), 1.into());
    }
    if let Some(traffic) = schema.pointer_mut("/$defs/Traffic") {
        (traffic["minProperties"], traffic["maxProperties"]) = (1.into(), 1.into());
    }
    if let Some(flow) = schema.pointer_mut("/$defs/Flow") {
        let ends = json!({"required": ["from", "to"], "properties": {"traffic": false}});
        flow["anyOf"] = json!([ends, {"required": ["traffic"], "properties": {"from": false, "to": false}}]);
    }
    // What the presence of one key says about another.
    for (table, keys) in [("Flow", ["tcp", "source"]), ("Event", ["link", "group"])] {
        if let Some(table) = schema.pointer_mut(&format!("/$defs/{table}")) {
            table["oneOf"] = keys.map(|key| json!({"required": [key]})).into_iter().collect();
        }
    }
    schema.to_value()
}

/// Whether anything is sent.
fn check_flows(description: &Description, report: &mut Report) {
    if description.flows.is_empty() && report.sound("flows") {
        let problem = report.add("flows", "the scenario has no `flows`").expected("at least one [flows.NAME]");
        problem.hint("`tailback emulate` accepts a scenario without flows");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::network::Buffer;
    use tailback_core::primitives::units::TimeDelta;

    const DUMBBELL: &str = r#"
duration = "10 s"
[topology]
dumbbell = {rate = "10 Mbps", delay = "10 ms", queue = {buffer = "50 %", bdp_rtt = "100 ms"}}
[flows.web]
count = 2
from = "left"
to = "right"
propagation_rtt = {evenly = ["50 ms", "90 ms"]}
tcp = {preset = "newreno"}
"#;

    #[test]
    fn a_dumbbell_becomes_two_ports_and_two_flows() {
        let scenario = Scenario::from_toml(DUMBBELL, "d.toml").unwrap();
        let network = scenario.build().unwrap();
        assert_eq!(network.ports.iter().map(|port| port.name.as_str()).collect::<Vec<_>>(), ["bottleneck", "bottleneck.reverse"]);
        // 50 % of 10 Mbit/s x 100 ms / 1500 B = 41.67 packets.
        assert_eq!(network.ports[0].buffer, Buffer::Units(42));
        assert_eq!(network.ports[1].buffer, Buffer::Unlimited);
        assert_eq!(network.paths, [vec![0], vec![1]]);
        // RTTs of 60 and 80 ms, of which 20 ms are the bottleneck's.
        let delays: Vec<_> = network.flows.iter().map(|flow| flow.sender_access.delay).collect();
        assert_eq!(delays, [TimeDelta::from_millis(20), TimeDelta::from_millis(30)]);
    }

    #[test]
    fn the_hash_depends_on_what_is_said_not_on_how() {
        let same = DUMBBELL.replace("10 Mbps", "10000kbit/s").replace("count = 2", "jitter = \"0 s\"\ncount = 2");
        let other = DUMBBELL.replace("10 Mbps", "11 Mbps");
        let hash = |text: &str| Scenario::from_toml(text, "").unwrap().content_hash("");
        assert_eq!(hash(DUMBBELL), hash(&same));
        assert_ne!(hash(DUMBBELL), hash(&other));
        assert_eq!(hash(DUMBBELL).len(), 64);
    }

    #[test]
    fn the_normalised_form_shows_what_the_presets_stand_for() {
        let text = DUMBBELL.replace("preset = \"newreno\"", "preset = \"bpd-2001/reno\", timer = {tick = \"300 ms\"}");
        let scenario = Scenario::from_toml(&text, "").unwrap();
        let json: serde_json::Value = serde_json::from_str(&scenario.to_json()).unwrap();
        let tcp = &json["flows"]["web"]["tcp"];
        let settings = [&tcp["preset"], &tcp["mss"], &tcp["receiver_window"], &tcp["initial_ssthresh"], &tcp["delayed_ack"]];
        assert_eq!(json!(settings), json!(["bpd-2001/reno", "536 B", 122, 122.0, false]));
        let timer = json!({"form": "coarse_ns", "tick": "300 ms", "min_rto": "600 ms", "max_rto": "64 s", "initial_rto": "3 s",
            "newreno_variant": "impatient", "max_backoff": 64});
        assert_eq!(tcp["timer"], timer);
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!((again.to_json(), again.content_hash("")), (scenario.to_json(), scenario.content_hash("")));
        assert_eq!(again.build().unwrap(), scenario.build().unwrap());
    }

    #[test]
    fn faults_of_shape_and_of_meaning_are_found_together() {
        let text = DUMBBELL.replace("\"10 Mbps\"", "10").replace("to = \"right\"", "to = \"rigth\"");
        let errors = Scenario::from_toml(&text, "d.toml").unwrap_err();
        let found: Vec<_> = errors.list.iter().map(|problem| (problem.at.as_str(), problem.line())).collect();
        assert_eq!(found, [("topology.dumbbell.rate", Some(4)), ("flows.web.to", Some(8))]);
    }

    #[test]
    fn what_is_no_table_is_a_single_fault() {
        let errors = Scenario::from_json("[]", "").unwrap_err();
        assert_eq!(
            errors.list.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>(),
            ["the scenario must be a table, not a list"]
        );
    }

    #[test]
    fn bytes_that_are_no_text_are_refused() {
        let errors = Scenario::from_toml_bytes(&[b'a', 0xff], "noise").unwrap_err();
        assert_eq!(errors.list[0].message, "the file is not text");
    }
}
