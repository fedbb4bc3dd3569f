//! Rate of a link: a number, a delivery trace from a Mahimahi file (`rate = {trace = "cell.trace"}`), or a table of rates, delays and losses
//! over time (`rate_table.rs`) if the name of the file ends in `.csv`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. Each line has the
//! millisecond of one opportunity to send 1500 bytes of IP. The scenario stores the content as `rate = {opportunities = [[1, 2], [4, 1]]}`: two
//! opportunities in millisecond 1, and one in millisecond 4.

use crate::decode::{Decode, Decoder, kind};
use crate::distribution::csv_column::bytes_up_to;
use crate::problem::RepeatedErrors;
use crate::quantity::Rate;
use crate::rate_table::RateTable;
use crate::tree::Node;
use crate::values::whole;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::json;
use tailback_core::network::{Accounting, DeliveryTrace, Opportunities, TraceFault, VaryingRate};
use tailback_core::primitives::units;

/// Rate of a link.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkRate {
    Fixed(Rate),
    Trace(DeliveryTrace),
    Table(RateTable),
}

impl LinkRate {
    /// The rate, or the mean of a trace.
    pub(crate) fn mean(&self) -> units::Rate {
        match self {
            LinkRate::Fixed(rate) => rate.rate(),
            LinkRate::Trace(trace) => trace.mean_rate(),
            LinkRate::Table(table) => table.schedule().mean_rate(),
        }
    }

    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self, LinkRate::Fixed(_))
    }

    /// The rate as the engine uses it, if it varies.
    pub(crate) fn varying(&self) -> Option<VaryingRate> {
        match self {
            LinkRate::Fixed(_) => None,
            LinkRate::Trace(trace) => Some(VaryingRate::Opportunities(trace.clone())),
            LinkRate::Table(table) => Some(VaryingRate::Schedule(table.schedule())),
        }
    }

    pub(crate) fn table(&self) -> Option<&RateTable> {
        if let LinkRate::Table(table) = self { Some(table) } else { None }
    }
}

impl std::fmt::Display for LinkRate {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LinkRate::Fixed(rate) => write!(out, "{rate}"),
            LinkRate::Trace(_) => write!(out, "{} bps, the mean of its trace", self.mean().0),
            LinkRate::Table(_) => write!(out, "{} bps, the mean of its table", self.mean().0),
        }
    }
}

impl From<Rate> for LinkRate {
    fn from(rate: Rate) -> LinkRate {
        LinkRate::Fixed(rate)
    }
}

impl Default for LinkRate {
    fn default() -> LinkRate {
        LinkRate::Fixed(Rate::default())
    }
}

/// The bytes of an opportunity.
const ACCOUNTINGS: [(&str, Accounting); 2] = [("mahimahi", Accounting::Mahimahi), ("ip", Accounting::Ip)];

const WORDS: &[&str] = &["trace", "opportunities", "table"];

impl Decode for LinkRate {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<LinkRate> {
        if !matches!(node, Node::Table(_)) {
            return Rate::decode(node, decoder).map(LinkRate::Fixed);
        }
        if let Node::Table(entries) = node
            && let (Some(Node::Text(file)), Some(rate), 2) = (entries.get("trace"), entries.get("rate"), entries.len())
            && file.ends_with(".csv")
        {
            let rate = decoder.inside("rate", |decoder| Rate::decode(rate, decoder))?;
            return decoder.inside("trace", |decoder| RateTable::read(file, Some(rate), decoder)).map(LinkRate::Table);
        }
        if let Node::Table(entries) = node
            && let (Some(accounting), 2) = (entries.get("accounting"), entries.len())
            && let Some((key, rest)) = entries.iter().find(|(key, _)| ["trace", "opportunities"].contains(&key.as_str()))
            && !matches!(rest, Node::Text(file) if file.ends_with(".csv"))
        {
            let words = ACCOUNTINGS.map(|(word, _)| word);
            let word = decoder.inside("accounting", |decoder| decoder.word(accounting, "way to count bytes", &words));
            let trace = decoder.inside(key, |decoder| if key == "trace" { read(rest, decoder) } else { listed(rest, decoder) });
            let (_, accounting) = ACCOUNTINGS.into_iter().find(|(other, _)| Some(*other) == word)?;
            return trace.map(|trace| LinkRate::Trace(trace.with_accounting(accounting)));
        }
        let (word, value) = decoder.variant::<LinkRate>(node, WORDS)?;
        decoder.inside(word, |decoder| match (word, value) {
            ("trace", Node::Text(file)) if file.ends_with(".csv") => RateTable::read(file, None, decoder).map(LinkRate::Table),
            ("trace", _) => read(value, decoder).map(LinkRate::Trace),
            ("table", _) => RateTable::decode(value, decoder).map(LinkRate::Table),
            _ => listed(value, decoder).map(LinkRate::Trace),
        })
    }

    fn expected() -> String {
        format!(
            "{}, {{trace = \"FILE\"}}, {{opportunities = [[millisecond, count], ...]}} or {{table = {{at = [...], rate = [...]}}}}",
            Rate::expected()
        )
    }
}

impl Serialize for LinkRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            LinkRate::Fixed(rate) => rate.serialize(serializer),
            LinkRate::Trace(trace) => {
                let pairs: Vec<[u32; 2]> = trace.instants().iter().map(|at| [at.millisecond, at.count]).collect();
                match ACCOUNTINGS
                    .iter()
                    .find(|(_, accounting)| *accounting == trace.accounting() && *accounting != Accounting::default())
                {
                    Some((word, _)) => json!({"opportunities": pairs, "accounting": word}).serialize(serializer),
                    None => json!({"opportunities": pairs}).serialize(serializer),
                }
            }
            LinkRate::Table(table) => json!({"table": table}).serialize(serializer),
        }
    }
}

impl JsonSchema for LinkRate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "LinkRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = generator.subschema_for::<Rate>();
        let columns = generator.subschema_for::<RateTable>();
        let whole = |min: u32| json!({"type": "integer", "minimum": min, "maximum": u32::MAX});
        let pair = json!({"type": "array", "prefixItems": [whole(0), whole(1)], "minItems": 2, "maxItems": 2});
        let table = |word: &str, value| {
            let properties = json!({word: value});
            json!({"type": "object", "properties": properties, "required": [word], "additionalProperties": false})
        };
        let words = ACCOUNTINGS.map(|(word, _)| word);
        let trace = |word: &str, value| {
            let properties = json!({word: value, "accounting": {"enum": words, "default": words[0]}});
            json!({"type": "object", "properties": properties, "required": [word], "additionalProperties": false})
        };
        schemars::json_schema!({
            "description": "A bit rate, or a trace: `trace` names a Mahimahi file, which has the millisecond of an opportunity to send 1500 bytes in \
                each line, and `opportunities` lists milliseconds with their numbers of opportunities. The trace repeats after its last \
                millisecond. An opportunity has 1504 bytes, of which each packet uses 4 for a header, as in Mahimahi, or with \
                `accounting = \"ip\"` 1500 bytes of IP packets. If the name ends in `.csv`, the file is a table of rates, delays and losses over time, as is `table`; `rate` is then the rate of all rows of a file without rates. Times count from the first row.",
            "anyOf": [
                rate,
                trace("trace", json!({"type": "string"})),
                json!({
                    "type": "object",
                    "properties": {"trace": {"type": "string", "pattern": "\\.csv$"}, "rate": generator.subschema_for::<Rate>()},
                    "required": ["trace", "rate"],
                    "additionalProperties": false,
                }),
                trace("opportunities", json!({"type": "array", "items": pair, "minItems": 1})),
                table("table", columns.to_value()),
            ],
        })
    }
}

/// Maximum size of a file: one minute of 1 Gbit/s takes about 30 MB. In a scenario its instants take at most twice as much.
const MAX_BYTES: u64 = 32 << 20;

/// Maximum number of instants, that of a file of maximum size.
const MAX_INSTANTS: usize = MAX_BYTES as usize / 2;

fn read(node: &Node, decoder: &mut Decoder) -> Option<DeliveryTrace> {
    let file = String::decode(node, decoder)?;
    let bytes = bytes_up_to(MAX_BYTES, &file, "a Mahimahi trace, relative to the scenario's directory", decoder)?;
    let instants = of_lines(&bytes, &file, decoder)?;
    let fault = match DeliveryTrace::new(instants) {
        Ok(trace) => return Some(trace),
        Err(fault) => fault,
    };
    let expected = "the millisecond of one opportunity in each line, and a last one above 0";
    let predicate = if fault == TraceFault::Empty { EMPTY } else { NO_LENGTH };
    decoder.wrong(predicate).given(file).expected(expected);
    None
}

/// Reads the instants of a file, which must be in ascending order.
fn of_lines(bytes: &[u8], file: &str, decoder: &mut Decoder) -> Option<Vec<Opportunities>> {
    let mut instants: Vec<Opportunities> = Vec::new();
    let mut faults = RepeatedErrors::default();
    let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')).filter(|_| !text.is_empty()) {
        let fault = match (of_line(line), instants.last_mut()) {
            (Ok(millisecond), Some(last)) if millisecond == last.millisecond && last.count < u32::MAX => {
                last.count += 1;
                continue;
            }
            (Ok(millisecond), last) if last.as_ref().is_none_or(|last| millisecond > last.millisecond) => {
                instants.push(Opportunities { millisecond, count: 1 });
                continue;
            }
            (Ok(_), _) => LineFault {
                message: "the millisecond is earlier than the one before",
                expected: "milliseconds in ascending order",
            },
            (Err(fault), _) => fault,
        };
        decoder.among(&mut faults, &format!("[{file} line {number}]"), |decoder| {
            _ = decoder.fault(fault.message).given(shown(line)).expected(fault.expected);
        });
    }
    if let Some(problem) = decoder.rest(&faults, "lines") {
        problem.given(file).expected("a millisecond in each line");
    }
    (!faults.any()).then_some(instants)
}

/// A line in a message. Only numbers are quoted, because a shared scenario may name any file of its reader.
fn shown(line: &[u8]) -> String {
    const LONGEST: usize = 40;
    let is_number = line.iter().all(|byte| byte.is_ascii_digit() || b"+-.,;eE \t\r".contains(byte));
    match std::str::from_utf8(line) {
        Ok(number) if is_number && number.len() <= LONGEST => format!("`{}`", number.escape_debug()),
        _ => format!("{} bytes of text", line.len()),
    }
}

struct LineFault {
    message: &'static str,
    expected: &'static str,
}

fn of_line(line: &[u8]) -> Result<u32, LineFault> {
    const EXPECTED: &str = "a millisecond from the start of the trace, such as `12`";
    let line = line.trim_ascii();
    let number = std::str::from_utf8(line).unwrap_or_default();
    let is_whole = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let message = match number.strip_prefix('-') {
        Some(rest) if is_whole(rest) => "the millisecond is negative",
        _ if is_whole(number) => match number.parse() {
            Ok(millisecond) => return Ok(millisecond),
            Err(_) => {
                return Err(LineFault { message: "the millisecond is out of range", expected: "0 to 4294967295 (49 days)" });
            }
        },
        _ => "the line is not a millisecond",
    };
    Err(LineFault { message, expected: EXPECTED })
}

/// Reads a list in the scenario.
fn listed(node: &Node, decoder: &mut Decoder) -> Option<DeliveryTrace> {
    let Node::List(items) = node else {
        decoder.wrong(format!("must be a list, not {}", kind(node))).given(node.to_string()).expected(LinkRate::expected());
        return None;
    };
    if items.len() > MAX_INSTANTS {
        decoder.wrong("is too long").given(format!("{} instants", items.len())).expected(format!("at most {MAX_INSTANTS}"));
        return None;
    }
    let instants = decoder.entries(items, || PAIR.into(), pair)?;
    let shown = |index: usize| instants.get(index).map_or("[]".into(), |at| format!("[{}, {}]", at.millisecond, at.count));
    let first = shown(0);
    let (place, given, predicate, expected) = match DeliveryTrace::new(instants.clone()) {
        Ok(trace) => return Some(trace),
        Err(TraceFault::Empty) => (None, first, EMPTY, "at least one [millisecond, opportunities]"),
        Err(TraceFault::NoLength) => (None, first, NO_LENGTH, "a last millisecond above 0"),
        Err(TraceFault::Nothing(index)) => (Some(index), shown(index), "has no opportunity", "at least 1, or no entry"),
        Err(TraceFault::Unsorted(index)) => {
            (Some(index), shown(index), "is not later than the entry before", "milliseconds in ascending order")
        }
    };
    let fault = |decoder: &mut Decoder| _ = decoder.wrong(predicate).given(given.clone()).expected(expected);
    match place {
        Some(index) => decoder.inside(&format!("[{index}]"), fault),
        None => fault(decoder),
    };
    None
}

const EMPTY: &str = "contains no opportunities";
const NO_LENGTH: &str = "ends at millisecond 0";
const PAIR: &str = "[millisecond, opportunities], such as [12, 3]";

fn pair(node: &Node, decoder: &mut Decoder) -> Option<Opportunities> {
    let items = if let Node::List(items) = node { items.as_slice() } else { &[] };
    let [millisecond, count] = items else {
        decoder.wrong("must be a list of two numbers").given(node.to_string()).expected(PAIR);
        return None;
    };
    let mut number = |place: &str, node| decoder.inside(place, |decoder| whole(node, 0..=u32::MAX.into(), decoder));
    let (millisecond, count) = (number("[0]", millisecond), number("[1]", count));
    Some(Opportunities { millisecond: millisecond? as u32, count: count? as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::location::Source;
    use crate::problem::Report;

    fn instants(lines: &[u8]) -> Result<Vec<(u32, u32)>, Vec<String>> {
        let source = Source::default();
        let mut decoder = Decoder::new(Report::new(&source));
        let read = of_lines(lines, "cell.trace", &mut decoder);
        let faults = decoder.report.finish().list;
        let pairs = |instants: Vec<Opportunities>| instants.iter().map(|at| (at.millisecond, at.count)).collect();
        read.map(pairs).ok_or_else(|| faults.iter().map(|fault| format!("{} {}", fault.at, fault.message)).collect())
    }

    #[test]
    fn each_line_is_an_opportunity() {
        assert_eq!(instants(b"0\n3\n3\n7\n"), Ok(vec![(0, 1), (3, 2), (7, 1)]));
        // Without a final line break, and with CRLF.
        assert_eq!(instants(b"1\r\n2"), Ok(vec![(1, 1), (2, 1)]));
        assert_eq!(instants(b""), Ok(vec![]));
    }

    #[test]
    fn invalid_lines_are_reported_with_their_numbers() {
        let faults = |lines| instants(lines).unwrap_err();
        assert_eq!(faults(b"1\n-2\n"), ["[cell.trace line 2] the millisecond is negative"]);
        assert_eq!(faults(b"5\n4\n6\n"), ["[cell.trace line 2] the millisecond is earlier than the one before"]);
        assert_eq!(faults(b"1\n\n2\n"), ["[cell.trace line 2] the line is not a millisecond"]);
        assert_eq!(faults(b"1.5\n"), ["[cell.trace line 1] the line is not a millisecond"]);
        assert_eq!(faults(b"4294967296\n"), ["[cell.trace line 1] the millisecond is out of range"]);
        assert_eq!(faults(&[0x7f, b'E', b'L', b'F', 0, 0xff]), ["[cell.trace line 1] the line is not a millisecond"]);
    }

    #[test]
    fn only_the_first_errors_are_reported_one_by_one() {
        let faults = instants("x\n".repeat(1000).as_bytes()).unwrap_err();
        assert_eq!(faults.len(), 21);
        assert!(faults.contains(&" 980 more lines have similar errors".into()));
    }
}
