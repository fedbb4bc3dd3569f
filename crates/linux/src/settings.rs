//! The parameters of the stack `linux` in a scenario.

use crate::kernels::{self, Kernel};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::Path;
use tailback_core::primitives::units::TimeDelta;

/// Parameters. All have defaults.
#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parameters {
    congestion: String,
    /// The beginning of a version; the newest kernel by default.
    kernel: Option<String>,
    /// Timer ticks per second.
    hz: u32,
    /// Values by names such as `net.ipv4.tcp_sack`, whose parts may be nested: TOML reads `{net.ipv4.tcp_sack = 0}` so.
    sysctl: Map<String, Value>,
    /// Segments that the device receives as one packet to split (`gso_max_segs`).
    gso: u32,
    /// Whether the connection negotiates ECN.
    ecn: bool,
    /// Whether receivers acknowledge every segment.
    quickack: bool,
    /// Milliseconds between the reads of a receiver; it reads at once by default.
    read_interval_ms: Option<f64>,
    /// Memory of the kernel in MB.
    memory: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters {
            congestion: "cubic".into(),
            kernel: None,
            hz: 1000,
            sysctl: Map::new(),
            gso: 1,
            ecn: false,
            quickack: false,
            read_interval_ms: None,
            memory: 128,
        }
    }
}

/// Settings of the kernel at one end of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) kernel: Kernel,
    pub(crate) congestion: String,
    /// Files below `/proc/sys` and their contents, in the order in which they are written.
    pub(crate) sysctls: Vec<(String, String)>,
    pub(crate) gso: u32,
    pub(crate) quickack: bool,
    /// Between the reads of a receiver.
    pub(crate) read_interval: Option<TimeDelta>,
    /// MB.
    pub(crate) memory: u64,
}

/// Valid intervals between reads: from the time that a few system calls take in a kernel's own time.
const READ_INTERVALS_MS: RangeInclusive<f64> = 0.01..=10_000.0;

/// Pages of a MB.
const PAGES: u64 = 256;

impl Settings {
    /// The settings for parameters (JSON), with a kernel of the user's folder.
    ///
    /// # Errors
    /// A parameter is unknown or has an invalid value, or the kernel is not built. The text begins with the parameter.
    pub(crate) fn of(parameters: &str) -> Result<Settings, String> {
        Settings::with_kernels(parameters, &kernels::folder())
    }

    fn with_kernels(parameters: &str, folder: &Path) -> Result<Settings, String> {
        let Parameters { congestion, kernel, hz, sysctl, gso, ecn, quickack, read_interval_ms, memory } = parse(parameters)?;
        let key = |version: &Option<String>| {
            version.as_ref().map_or(format!("`hz` is {hz}"), |version| format!("`kernel` is \"{version}\""))
        };
        let given = key(&kernel);
        let kernel = Kernel::find(folder, kernel.as_deref(), hz).map_err(|problem| format!("{given}: {problem}"))?;
        let known = &kernel.manifest.congestion;
        if !known.contains(&congestion) {
            let valid = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
            return Err(format!("`congestion` is \"{congestion}\", which this kernel does not have; expected one of {valid}"));
        }
        within("gso", gso.into(), 1..=65_535, "segments")?;
        within("memory", memory, 32..=4096, "MB")?;
        if let Some(interval) = read_interval_ms.filter(|interval| !READ_INTERVALS_MS.contains(interval)) {
            let (least, most) = (READ_INTERVALS_MS.start(), READ_INTERVALS_MS.end());
            return Err(format!("`read_interval_ms` is {interval}; expected {least} to {most} ms"));
        }
        let read_interval = read_interval_ms.map(|interval| TimeDelta((interval * 1e9).round() as u64));
        Ok(Settings { sysctls: sysctls(&sysctl, ecn, memory)?, kernel, congestion, gso, quickack, read_interval, memory })
    }
}

fn within(key: &str, value: u64, valid: RangeInclusive<u64>, unit: &str) -> Result<(), String> {
    if valid.contains(&value) {
        return Ok(());
    }
    Err(format!("`{key}` is {value}; expected {} to {} {unit}", valid.start(), valid.end()))
}

/// Parses parameters one by one, so that an error about a value begins with its key.
fn parse(parameters: &str) -> Result<Parameters, String> {
    let given: Map<String, Value> =
        serde_json::from_str(parameters).map_err(|error| format!("the parameters are not an object: {error}"))?;
    for (key, value) in &given {
        let alone = Value::Object(Map::from_iter([(key.clone(), value.clone())]));
        if let Err(error) = serde_json::from_value::<Parameters>(alone) {
            let text =
                error.to_string().replace("u32", "a whole number").replace("u64", "a whole number").replace("f64", "a number");
            return Err(if text.starts_with("unknown field") { text } else { format!("`{key}` is {value}: {text}") });
        }
    }
    serde_json::from_value(Value::Object(given)).map_err(|error| error.to_string())
}

/// Files and contents: the defaults of Tailback, and the user's, which replace them.
fn sysctls(given: &Map<String, Value>, ecn: bool, memory: u64) -> Result<Vec<(String, String)>, String> {
    // Of the memory, TCP may use half; Linux would allow about 9 %, which is less than the buffers of one fast connection.
    let pages = memory * PAGES;
    let own = [
        // There is no earlier connection whose metrics could apply.
        ("net/ipv4/tcp_no_metrics_save", "1".into()),
        ("net/ipv4/tcp_mem", format!("{} {} {}", pages * 3 / 8, pages * 7 / 16, pages / 2)),
        // Buffers above the bandwidth-delay product, so that the congestion window is the limit.
        ("net/ipv4/tcp_rmem", "4096 6291456 33554432".into()),
        ("net/ipv4/tcp_wmem", "4096 4194304 33554432".into()),
        ("net/ipv4/tcp_autocorking", "0".into()),
        ("net/ipv4/tcp_ecn", if ecn { "1" } else { "0" }.into()),
    ];
    let mut all: Vec<(String, String)> = own.into_iter().map(|(file, value)| (file.to_owned(), value)).collect();
    for (name, value) in &flattened(given, "") {
        let is_valid = |name: &str| {
            !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
        };
        if !name.split('.').all(is_valid) {
            return Err(format!("`sysctl` has the name \"{name}\"; expected a name such as `net.ipv4.tcp_sack`"));
        }
        let text = match value {
            Value::String(text) if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(is_on) => u8::from(*is_on).to_string(),
            other => {
                return Err(format!(
                    "`sysctl` gives {name} the value {other}; expected a number, true, false, or a text without control characters"
                ));
            }
        };
        if name == "net.ipv4.tcp_congestion_control" {
            return Err(format!("`sysctl` sets {name}, which has no effect; expected the key `congestion` instead"));
        }
        let file = name.replace('.', "/");
        all.retain(|(known, _)| *known != file);
        all.push((file, text));
    }
    Ok(all)
}

/// Names with all their parts, and values.
fn flattened(given: &Map<String, Value>, before: &str) -> BTreeMap<String, Value> {
    let one = |(name, value): (&String, &Value)| {
        let name = format!("{before}{name}");
        match value {
            Value::Object(nested) => flattened(nested, &format!("{name}.")),
            _ => BTreeMap::from([(name, value.clone())]),
        }
    };
    given.iter().flat_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::tests::stored;

    fn refused(parameters: &str) -> String {
        stored("6.12.30", 1000, |folder| Settings::with_kernels(parameters, folder)).unwrap_err()
    }

    #[test]
    fn settings_of_the_user_replace_those_of_tailback() {
        let text = r#"{"congestion": "htcp", "kernel": "6.12", "ecn": true, "sysctl": {"net": {"ipv4": {"tcp_ecn": 0}}, "net.ipv4.tcp_rmem": "1 2 3"}}"#;
        let settings = stored("6.12.30", 1000, |folder| Settings::with_kernels(text, folder)).unwrap();
        assert_eq!((settings.congestion.as_str(), settings.gso), ("htcp", 1));
        let value = |file: &str| {
            settings.sysctls.iter().filter(|(name, _)| name == file).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(value("net/ipv4/tcp_ecn"), ["0"]);
        assert_eq!(value("net/ipv4/tcp_rmem"), ["1 2 3"]);
        assert_eq!(value("net/ipv4/tcp_mem"), ["12288 14336 16384"]);
    }

    #[test]
    fn errors_begin_with_the_key_and_name_valid_values() {
        assert!(refused(r#"{"tick": 1}"#).starts_with("unknown field `tick`, expected one of `congestion`, `kernel`, `hz`"));
        assert_eq!(refused(r#"{"gso": 0}"#), "`gso` is 0; expected 1 to 65535 segments");
        assert_eq!(refused(r#"{"memory": 1}"#), "`memory` is 1; expected 32 to 4096 MB");
        assert_eq!(refused(r#"{"read_interval_ms": 0}"#), "`read_interval_ms` is 0; expected 0.01 to 10000 ms");
        assert!(refused(r#"{"hz": "fast"}"#).starts_with("`hz` is \"fast\": invalid type: string"));
        let text = refused(r#"{"congestion": "prague"}"#);
        assert_eq!(text, "`congestion` is \"prague\", which this kernel does not have; expected one of `htcp`, `cubic`");
        assert!(refused(r#"{"kernel": "7.2"}"#).starts_with("`kernel` is \"7.2\": there is no kernel 7.2 with 1000 Hz"));
        assert!(refused(r#"{"hz": 250}"#).starts_with("`hz` is 250: there is no kernel with 250 Hz"));
        assert!(refused(r#"{"sysctl": {"../x": 1}}"#).contains("expected a name such as"));
        assert!(refused(r#"{"sysctl": {"a.b": "1\n2"}}"#).contains("expected a number"));
        let text = refused(r#"{"sysctl": {"net": {"ipv4": {"tcp_congestion_control": "reno"}}}}"#);
        assert!(text.ends_with("expected the key `congestion` instead"));
        assert!(refused("[]").starts_with("the parameters are not an object"));
    }
}
