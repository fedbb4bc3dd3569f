//! Buffer sizing: the bottleneck and its flows as a few values, without a network.

use crate::decode::{Decode, Decoder};
use crate::distribution::Distribution;
use crate::presets::{Preset, preset};
use crate::probability::Probability;
use crate::problem::{Errors, Report};
use crate::quantity::{Duration, Rate, Size};
use crate::record::record;
use crate::schema::PresetName;
use crate::tree;
use crate::values::Integer;

record! {
    /// A bottleneck, its flows, and the target utilisation.
    pub struct BufferQuestion {
        /// Bit rate of each transmitter.
        rate: Rate,
        /// Round-trip time without queueing, with serialisation.
        base_rtt: Distribution<Duration>,
        /// Number of long-lived flows.
        flows: Integer<1, 1_000_000_000>,
        /// Target utilisation; 100 % for a link that is never idle.
        target: Probability,
        /// Number of transmitters that share the buffer: 1 for a link, K for a trunk of K wavelengths.
        transmitters: Integer<1, 1_000_000> = Integer(1),
        /// Number of input links, each with the rate of one transmitter. Default: unlimited.
        inputs: Option<Integer<1, 1_000_000>>,
        /// Size of a packet on the wire.
        packet_size: Size = Size::new(1500),
        /// Bit rate of the access link of each sender.
        access_rate: Option<Rate>,
        /// Whether senders pace their packets.
        paced: Option<bool>,
        /// Maximum window of a flow, in packets.
        window: Option<Integer<1, 1_073_741_824>>,
        /// TCP presets of the flows, in equal shares. Default: windows that halve, as those of Reno.
        preset: Vec<PresetName> = Vec::new(),
    }
}

const UNKNOWN: &str = "`base_rtt` has a distribution without a known harmonic mean";

impl BufferQuestion {
    /// The presets of the flows.
    pub fn presets(&self) -> impl Iterator<Item = &'static Preset> {
        self.preset.iter().map(|&name| preset(name))
    }

    /// Reads JSON. `file` is the name that messages show; empty if there is none.
    ///
    /// # Errors
    /// All errors, each with its key.
    pub fn from_json(text: &str, file: &str) -> Result<BufferQuestion, Errors> {
        let (node, source) = tree::from_json(text, file)?;
        let mut decoder = Decoder::new(Report::new(&source));
        let question = BufferQuestion::decode(&node, &mut decoder);
        let mut report = decoder.report;
        if let Some(question) = question {
            question.check(&mut report);
            if report.is_empty() {
                return Ok(question);
            }
        }
        Err(report.finish())
    }

    fn check(&self, report: &mut Report) {
        if self.target.0 == 0.0 && report.is_valid("target") {
            report.add("target", "`target` is zero").given("0").expected("a share above 0, such as `80 %`");
        }
        if self.packet_size.bytes() == 0 && report.is_valid("packet_size") {
            report.add("packet_size", "`packet_size` is zero").given(self.packet_size.to_string()).expected("at least 1 B");
        }
        if self.preset.len() as u64 > self.flows.0 && report.is_valid("flows") && report.is_valid("preset") {
            let given = format!("{} presets, {} flows", self.preset.len(), self.flows.0);
            report.add("preset", "there are more presets than flows").given(given).expected("at most one preset per flow");
        }
        let without = match self.base_rtt {
            Distribution::Exponential(_) => {
                Some(("exponential", "`base_rtt` has no lower bound, so that its harmonic mean is 0"))
            }
            Distribution::BoundedPareto { .. } => Some(("bounded_pareto", UNKNOWN)),
            Distribution::Cdf(_) => Some(("cdf", UNKNOWN)),
            _ => None,
        };
        if let Some((word, why)) = without.filter(|_| report.is_valid("base_rtt")) {
            report.add("base_rtt", why).given(word).one_of("", ["uniform", "evenly", "lognormal", "pareto"]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<BufferQuestion, String> {
        BufferQuestion::from_json(text, "").map_err(|errors| errors.to_string())
    }

    #[test]
    fn units_are_read_and_absent_keys_have_defaults() {
        let question = read(r#"{"rate": "40 Gbps", "base_rtt": "100 ms", "flows": 4000, "target": "80 %"}"#).unwrap();
        assert_eq!(question.rate, Rate::new(40_000_000_000));
        assert_eq!(question.base_rtt, Distribution::Fixed(Duration::new(100_000_000_000)));
        assert_eq!(
            (question.target, question.transmitters, question.packet_size),
            (Probability(0.8), Integer(1), Size::new(1500))
        );
        assert_eq!(question.inputs, None);
    }

    #[test]
    fn presets_are_read_with_their_controllers() {
        let question = r#"{"rate": "40 Gbps", "base_rtt": "100 ms", "flows": 1, "target": "80 %", "preset": PRESET}"#;
        let of = |presets: &str| read(&question.replace("PRESET", presets));
        let found = of(r#"["linux/cubic"]"#).unwrap();
        assert_eq!(found.presets().map(|preset| preset.name.word()).collect::<Vec<_>>(), ["linux/cubic"]);
        assert!(of(r#"["cubik"]"#).unwrap_err().contains("did you mean `cubic`?"));
        assert!(of(r#"["cubic", "sack"]"#).unwrap_err().contains("more presets than flows"));
    }

    #[test]
    fn all_errors_are_reported_with_their_keys() {
        let errors = read(r#"{"rate": "40 Gbits", "base_rtt": 0.1, "flows": 0, "target": "120 %", "input": 3}"#).unwrap_err();
        for part in ["rate", "Gbps", "base_rtt", "flows", "target", "did you mean `inputs`?"] {
            assert!(errors.contains(part), "{part}: {errors}");
        }
    }

    #[test]
    fn values_that_no_rule_accepts_are_refused() {
        let errors =
            read(r#"{"rate": "1 Gbps", "base_rtt": {"exponential": "1 ms"}, "flows": 1, "target": 0, "packet_size": "0 B"}"#)
                .unwrap_err();
        for part in ["base_rtt", "target", "packet_size"] {
            assert!(errors.contains(&format!("at       {part}")), "{part}: {errors}");
        }
    }
}
