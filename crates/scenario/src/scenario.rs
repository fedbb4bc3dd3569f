//! The scenario as a whole: reading, validation and normalised form.

use crate::decode::{Decode, Decoder};
use crate::location::Source;
use crate::network;
use crate::problem::{Errors, Problem, Report, Warnings};
use crate::quantity::Duration;
use crate::schema::{Description, FlowTcp};
use crate::tree;
use crate::user_code::UserCodeProblem;
use crate::values::Name;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::json;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use tailback_core::network::{CodeKind, Network};
use tailback_core::user_code::UserCode;

/// Hash of the sources of this crate.
pub const SOURCES: &str = env!("TAILBACK_SOURCES");

/// A decoded scenario. Two scenarios with the same content are equal.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    pub description: Description,
    source: Source,
}

impl Scenario {
    /// Reads TOML. Messages name `file`, unless it is empty.
    ///
    /// # Errors
    /// All errors, including errors that [`Scenario::build`] finds in the decoded parts.
    pub fn from_toml(text: &str, file: &str) -> Result<Scenario, Errors> {
        let (node, source) = tree::from_toml(text, file)?;
        Scenario::decode(&node, source)
    }

    /// Reads TOML from any bytes.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], or if the bytes are not UTF-8.
    pub fn from_toml_bytes(bytes: &[u8], file: &str) -> Result<Scenario, Errors> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Scenario::from_toml(text, file),
            Err(_) => {
                let problem = Problem::new("", "the file is not text").expecting("a scenario in TOML, encoded as UTF-8");
                Err(Errors::one(file, problem))
            }
        }
    }

    /// Reads JSON of the same structure. Messages name `file`, unless it is empty.
    ///
    /// # Errors
    /// As [`Scenario::from_toml`], without locations.
    pub fn from_json(text: &str, file: &str) -> Result<Scenario, Errors> {
        let (node, source) = tree::from_json(text, file)?;
        Scenario::decode(&node, source)
    }

    /// Reads JSON that was derived from a TOML text, for example by replacing the name of a file with its content. Errors have locations in
    /// the TOML text.
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

    /// Paths of the values that were read from further files. Their contents are part of the scenario.
    pub fn from_files(&self) -> &[String] {
        &self.source.from_files
    }

    fn decode(node: &tree::Node, mut source: Source) -> Result<Scenario, Errors> {
        let mut decoder = Decoder::new(Report::new(&source));
        // A value that is not a table has no parts to check.
        let Some(mut description) = Description::decode(node, &mut decoder) else { return Err(decoder.report.finish()) };
        let Decoder { mut report, from_files, .. } = decoder;
        description.settle_flow_tables(&mut report);
        description.settle_flow_ends();
        if report.is_empty() {
            source.from_files = from_files;
            return Ok(Scenario { description, source });
        }
        // Some parts are placeholders: this only finds further errors.
        check_flows(&description, &mut report);
        network::network(&description, &mut report);
        Err(report.finish())
    }

    /// Builds the network that the core runs.
    ///
    /// # Errors
    /// All errors of the scenario as a whole: unknown names, invalid routes, conflicts between values.
    pub fn build(&self) -> Result<Network, Errors> {
        self.build_with_warnings().map(|(network, _)| network)
    }

    /// Builds the network, with warnings about likely mistakes, such as settings that disable a queue policy.
    ///
    /// # Errors
    /// As [`Scenario::build`].
    pub fn build_with_warnings(&self) -> Result<(Network, Warnings), Errors> {
        let mut report = Report::new(&self.source);
        check_flows(&self.description, &mut report);
        for (name, flow) in &self.description.flows {
            if flow.tcp.as_ref().is_some_and(|tcp| tcp.stack().is_some()) {
                let problem = report.add(
                    format!("flows.{name}.tcp.stack"),
                    "`stack` runs in simulations of the Python package only, not in models, exports, fair rates and the lab",
                );
                problem.expected("simulated TCP with a `preset`");
            }
        }
        self.built(report)
    }

    /// The same network with `nodes` and `links` in place of the generators of `topology`.
    ///
    /// # Errors
    /// As [`Scenario::build`].
    pub fn expanded(&self) -> Result<Scenario, Errors> {
        self.check()?;
        let description = network::expanded(&self.description, &mut Report::new(&self.source));
        Ok(Scenario { description, source: self.source.clone() })
    }

    /// Minimum memory of the network in bytes, computed without building it; 0 if the scenario has an error before.
    pub fn min_bytes(&self) -> u64 {
        network::min_bytes(&self.description)
    }

    /// Checks the network, which may have no flows.
    ///
    /// # Errors
    /// As [`Scenario::build`], except for a scenario without flows.
    pub fn check(&self) -> Result<Warnings, Errors> {
        self.built(Report::new(&self.source)).map(|(_, warnings)| warnings)
    }

    /// Sending and receiving node of each flow, in the order of the flows.
    ///
    /// # Errors
    /// Errors in nodes and traffic patterns.
    pub fn ends(&self) -> Result<Vec<(Name, Name)>, Errors> {
        let mut report = Report::new(&self.source);
        let ends = network::ends(&self.description, &mut report);
        if report.is_empty() { Ok(ends) } else { Err(report.finish()) }
    }

    /// End nodes of each port, in the order of the network.
    ///
    /// # Errors
    /// Errors in nodes and links.
    pub fn port_ends(&self) -> Result<Vec<(Name, Name)>, Errors> {
        let mut report = Report::new(&self.source);
        let ends = network::ports(&self.description, &mut report);
        if report.is_empty() { Ok(ends) } else { Err(report.finish()) }
    }

    /// Notes about results that are easily misinterpreted; none if the network cannot be built.
    pub fn notes(&self) -> Warnings {
        let (mut report, mut aside) = (Report::new(&self.source), Report::new(&self.source));
        network::notes(&self.description, &mut report, &mut aside);
        report.warnings()
    }

    /// Names of the queues that are unlimited for the whole run, each with the longest base RTT in seconds of the flows that cross it; none if
    /// the network cannot be built.
    pub fn unlimited_queues(&self) -> Vec<(String, f64)> {
        let mut aside = Report::new(&self.source);
        let network = network::network(&self.description, &mut aside).filter(|_| aside.is_empty());
        network.as_ref().map_or_else(Vec::new, network::unlimited_queues)
    }

    /// Whether results may depend on the seed; false only if nothing is random.
    pub fn is_random(&self) -> bool {
        network::may_be_random(&self.description, &mut Report::new(&self.source))
    }

    pub(crate) fn built(&self, mut report: Report) -> Result<(Network, Warnings), Errors> {
        match network::network(&self.description, &mut report) {
            Some(network) if report.is_empty() => Ok((network, report.warnings())),
            _ => Err(report.finish()),
        }
    }

    /// The normalised form as JSON: with all defaults and preset values, units as text, and a fixed order of keys. Reading it gives the same
    /// normalised form and content hash.
    pub fn to_json(&self) -> String {
        let mut description = self.description.clone();
        for flow in description.flows.values_mut() {
            flow.jitter = flow.jitter.or(Some(Duration::new(network::jitter(flow).0)));
            if let Some(FlowTcp::Simulated(tcp)) = &mut flow.tcp {
                *tcp = network::filled(tcp);
            }
        }
        // Maps have text keys and no number is NaN, so that this cannot fail.
        serde_json::to_string(&description).unwrap_or_default()
    }

    /// The user code that the scenario names, with paths.
    pub fn user_code(&self) -> Vec<(CodeKind, UserCode)> {
        self.description.user_code()
    }

    /// Checks the user code of the scenario with a function of its host.
    ///
    /// # Errors
    /// All errors of user code, each with its path.
    pub fn check_code(&self, judge: impl Fn(CodeKind, &UserCode) -> Option<UserCodeProblem>) -> Result<(), Errors> {
        let mut report = Report::new(&self.source);
        for (kind, code) in self.user_code() {
            if let Some(objection) = judge(kind, &code) {
                objection.report(kind, &code, &mut report);
            }
        }
        if report.is_empty() { Ok(()) } else { Err(report.finish()) }
    }

    /// SHA-256 in hexadecimal of the normalised form, the version, the sources of the core and of this crate, and `code`, the sources of
    /// user code. Equal hashes mean equal results.
    pub fn content_hash(&self, code: &str) -> String {
        let mut hash = Sha256::new();
        hash.update(env!("CARGO_PKG_VERSION"));
        hash.update([0]);
        hash.update(tailback_core::SOURCES);
        hash.update(SOURCES);
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
    // A name, not an address: the schema is published with the documentation, wherever that is hosted.
    let version = concat!(env!("CARGO_PKG_VERSION_MAJOR"), ".", env!("CARGO_PKG_VERSION_MINOR"));
    schema.insert("$id".into(), format!("urn:tailback:scenario:{version}").into());
    schema.insert("title".into(), "Tailback scenario".into());
    // Flow groups have an empty default only because a scenario may be checked without flows.
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
        flow["anyOf"] = json!([{"properties": {"traffic": false}}, {"properties": {"from": false, "to": false}}]);
    }
    // Keys that exclude each other.
    for (table, keys) in [("Flow", ["tcp", "source"]), ("Event", ["link", "group"])] {
        if let Some(table) = schema.pointer_mut(&format!("/$defs/{table}")) {
            table["oneOf"] = keys.map(|key| json!({"required": [key]})).into_iter().collect();
        }
    }
    schema.to_value()
}

/// Reports a scenario without flows.
pub(crate) fn check_flows(description: &Description, report: &mut Report) {
    if description.flows.is_empty() && report.is_valid("flows") {
        let problem = report.add("flows", "the scenario has no `flows`").expected("at least one [flows.NAME]");
        problem.hint("`tailback emulate` accepts a scenario without flows");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::network::{Buffer, PortId};
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
        assert_eq!(network.paths, [vec![PortId(0)], vec![PortId(1)]]);
        // RTTs of 60 and 80 ms, with 20 ms at the bottleneck.
        let delays: Vec<_> = network.flows.iter().map(|flow| flow.sender_access.delay).collect();
        assert_eq!(delays, [TimeDelta::from_millis(20), TimeDelta::from_millis(30)]);
    }

    #[test]
    fn the_hash_depends_on_the_content_not_on_the_notation() {
        let same = DUMBBELL.replace("10 Mbps", "10000kbit/s").replace("count = 2", "jitter = \"0 s\"\ncount = 2");
        let other = DUMBBELL.replace("10 Mbps", "11 Mbps");
        let hash = |text: &str| Scenario::from_toml(text, "").unwrap().content_hash("");
        assert_eq!(hash(DUMBBELL), hash(&same));
        assert_ne!(hash(DUMBBELL), hash(&other));
        assert_eq!(hash(DUMBBELL).len(), 64);
    }

    #[test]
    fn the_normalised_form_has_the_values_of_presets() {
        let text = DUMBBELL.replace("preset = \"newreno\"", "preset = \"bpd-2001/reno\", timer = {tick = \"300 ms\"}");
        let scenario = Scenario::from_toml(&text, "").unwrap();
        let json: serde_json::Value = serde_json::from_str(&scenario.to_json()).unwrap();
        let tcp = &json["flows"]["web"]["tcp"];
        let settings = [&tcp["preset"], &tcp["mss"], &tcp["receiver_window"], &tcp["initial_ssthresh"], &tcp["delayed_ack"]];
        assert_eq!(json!(settings), json!(["bpd-2001/reno", "536 B", 122, 122.0, false]));
        let timer = json!({"form": "coarse_ns", "tick": "300 ms", "min_rto": "600 ms", "max_rto": "64 s", "initial_rto": "3 s",
            "newreno_variant": "impatient", "peak_deviation": false, "max_backoff": 64, "probe_margin": "0 ms", "jiffy": "0 ms",
            "after_pacing": false});
        assert_eq!(tcp["timer"], timer);
        let again = Scenario::from_json(&scenario.to_json(), "").unwrap();
        assert_eq!((again.to_json(), again.content_hash("")), (scenario.to_json(), scenario.content_hash("")));
        assert_eq!(again.build().unwrap(), scenario.build().unwrap());
    }

    #[test]
    fn an_expanded_scenario_describes_the_same_network() {
        let tree = DUMBBELL
            .replace("duration", "routing = \"ecmp\"\nduration")
            .replace("dumbbell", "fat_tree")
            .replace("{rate", "{k = 4, loss = {probability = \"1 %\"}, host_rate = \"1 Gbps\", rate");
        let tree = tree.replace("\"left\"", "\"host0\"").replace("\"right\"", "\"host9\"").replace("50 ms", "150 ms");
        let tree = tree.replace("90 ms", "190 ms");
        for text in [DUMBBELL, &tree] {
            let scenario = Scenario::from_toml(text, "").unwrap();
            let expanded = Scenario::from_json(&scenario.expanded().unwrap().to_json(), "").unwrap();
            assert_eq!(expanded.description.topology, crate::schema::Topology::default());
            assert_eq!(expanded.build().unwrap(), scenario.build().unwrap());
        }
        let errors = Scenario::from_toml(&DUMBBELL.replace("count = 2", "route = [\"x\"]"), "").unwrap().expanded().unwrap_err();
        assert_eq!(errors.list[0].at, "flows.web.route[0]");
    }

    #[test]
    fn errors_of_values_and_of_the_whole_are_found_together() {
        let text = DUMBBELL.replace("\"10 Mbps\"", "10").replace("to = \"right\"", "to = \"rigth\"");
        let errors = Scenario::from_toml(&text, "d.toml").unwrap_err();
        let found: Vec<_> = errors.list.iter().map(|problem| (problem.at.as_str(), problem.line())).collect();
        assert_eq!(found, [("topology.dumbbell.rate", Some(4)), ("flows.web.to", Some(8))]);
    }

    #[test]
    fn a_scenario_that_is_not_a_table_is_a_single_error() {
        let errors = Scenario::from_json("[]", "").unwrap_err();
        assert_eq!(
            errors.list.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>(),
            ["the scenario must be a table, not a list"]
        );
    }

    #[test]
    fn bytes_that_are_not_text_are_refused() {
        let errors = Scenario::from_toml_bytes(&[b'a', 0xff], "noise").unwrap_err();
        assert_eq!(errors.list[0].message, "the file is not text");
    }
}
