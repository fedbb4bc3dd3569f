//! A price scheme without a network.

use crate::decode::{Decode, Decoder};
use crate::member::Member;
use crate::problem::{Errors, Report};
use crate::record::record;
use crate::schema::Scheme;
use crate::tree;
use crate::values::Word;
use tailback_core::price::{Identification, SchemeSpec};

record! {
    /// A price scheme and the identification of its probes.
    pub struct ProbeQuestion {
        /// Identification of packets, from which probes are derived.
        identification: Word<Identification> = Word(Identification::Counting),
    }
    with
    /// The scheme.
    scheme: Scheme
}

impl ProbeQuestion {
    /// Reads JSON.
    ///
    /// # Errors
    /// All errors, each with its key.
    pub fn from_json(text: &str) -> Result<(SchemeSpec, Identification), Errors> {
        let (node, source) = tree::from_json(text, "")?;
        let mut decoder = Decoder::new(Report::new(&source));
        let question = ProbeQuestion::decode(&node, &mut decoder);
        let mut report = decoder.report;
        if let Some(ProbeQuestion { identification, scheme: Member::BuiltIn(config, _) }) = question {
            let values = config.values(None, &mut report);
            let spec = SchemeSpec::read(config.name(), &values);
            if let Some(spec) = spec {
                config.complain(spec.check(), &values, "", None, &mut report);
                if report.is_empty() {
                    return Ok((spec, identification.0));
                }
            }
        }
        Err(report.finish())
    }
}
