//! `queue = {...}`: the buffer of a port, and the policy that guards it.
//!
//! A policy's settings are its record here, one line in [`Policy`], and one line in [`Policy::spec`].

use crate::decode::{Decode, Decoder};
use crate::problem::Report;
use crate::quantity::{
    CELL_UNITS, Complaint, Duration, PACKET_UNITS, Percent, Probability, Size, cells, complaint, packets, pattern,
};
use crate::record::{record, tagged, words};
use crate::tree::Node;
use crate::user::{self, Parameters, UserName};
use crate::values::Whole;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use tailback_core::base::units::Span;
use tailback_core::network::CELL_BYTES;
use tailback_core::queue::{self, BpdSpec, CodelSpec, EpdPerVcSpec, EpdSpec, PieSpec, PolicySpec, RedSpec, SpdSpec};

record! {
    /// A queue.
    pub struct Queue {
        /// Waiting places: packets, cells, bytes, `unlimited`, or a percentage of rate times `bdp_rtt`. `0 packets` means no waiting.
        buffer: Buffer,
        /// Whether the packet or cell being sent holds a waiting place. Without this key it does where the buffer is in cells.
        counts_in_service: Option<bool>,
        /// Round-trip time that a `buffer` in percent refers to.
        bdp_rtt: Option<Duration>,
        /// Packet size that a `buffer` in percent is counted in.
        bdp_packet: Size = Size::new(1500),
    }
    with
    /// What decides which packets or cells may enter.
    policy: Policy
}

impl Queue {
    pub(crate) fn counts_in_service(&self) -> bool {
        self.counts_in_service.unwrap_or(matches!(self.buffer, Buffer::Cells(_)))
    }
}

tagged! {
    /// Queue policy.
    pub enum Policy ("queue policy") by "policy" = "drop_tail" {
        "drop_tail" => DropTail,
        "ppd" => Ppd,
        "epd" => Epd,
        "epd_per_vc" => EpdPerVc,
        "bpd" => Bpd,
        "spd" => Spd,
        "red" => Red,
        "codel" => Codel,
        "pie" => Pie,
        user UserPolicy,
    }
}

record! {
    /// Accepts whatever fits.
    pub struct DropTail {}
}

record! {
    /// Partial packet discard: when a cell does not fit, the rest of its packet is discarded too, but for the last cell.
    pub struct Ppd {}
}

record! {
    /// Early packet discard: from the threshold on no packet may begin. With partial packet discard.
    pub struct Epd {
        /// Cells in the buffer from which no packet may begin.
        threshold: Threshold,
    }
}

record! {
    /// Early packet discard with per-VC accounting: past the threshold, only VCs that hold their share of it lose packets.
    pub struct EpdPerVc {
        /// Cells in the buffer from which no packet may begin of a VC that holds its share: this over the number of active VCs.
        threshold: Threshold,
        /// Which VCs are active.
        active: ActiveVcs = ActiveVcs::Configured,
    }
}

words! {
    /// Which VCs share a threshold.
    pub enum ActiveVcs ("set of VCs") {
        /// All whose route crosses the link.
        Configured = "configured",
        /// Those with cells in the buffer.
        Backlogged = "backlogged",
    }
}

record! {
    /// Balanced packet discard: early packet discard that spares the VCs that have just lost a packet.
    pub struct Bpd {
        /// Cells in the buffer from which packets of most VCs may not begin.
        lower: Threshold,
        /// Cells in the buffer from which those of a VC that has just lost may not.
        upper: Threshold,
        /// For how many packets after a loss a VC is judged by `upper`.
        gap: Whole<0, 1_000_000>,
    }
}

record! {
    /// Single packet discard: one early loss for each VC whose own queue builds up. With early packet discard behind it.
    pub struct Spd {
        /// Cells of the VC itself from which one packet is discarded; `none` turns this off.
        dropping_threshold: DroppingThreshold,
        /// Cells in the buffer from which no packet may begin.
        epd_threshold: Threshold,
        /// Cells in the buffer that must be exceeded for the single discard.
        congestion_threshold: Threshold,
        /// How the printed code is read.
        reading: SpdReading = SpdReading::Corrected,
    }
}

words! {
    /// How the printed code of single packet discard is read.
    pub enum SpdReading ("reading") {
        /// As the text describes: one packet, and no other until the VC's own queue has been empty.
        Corrected = "corrected",
        /// To the letter: every packet that begins while the queue is built up.
        Printed = "printed",
    }
}

record! {
    /// Random early detection: marks at random, the likelier the longer the average queue. Discards what is not ECN-capable.
    pub struct Red {
        /// Average queue below which nothing is marked.
        lower: Level,
        /// Average queue at which the probability is `max_probability`; above it grows on (`gentle`) or is 1.
        upper: Level,
        /// Probability of a mark as the average reaches `upper`.
        max_probability: Probability = Probability(0.1),
        /// Of a new sample in the average.
        weight: Probability = Probability(0.002),
        /// From `upper` to twice that the probability grows to 1.
        gentle: bool = true,
        /// Typical packet: what an idle time is counted in.
        packet: Size = Size::new(1000),
    }
}

record! {
    /// Controlled delay (RFC 8289): marks when no wait of an interval was within the target. Discards what is not ECN-capable.
    pub struct Codel {
        /// Wait that is good enough.
        target: Duration = Duration::new(5_000_000_000),
        /// How long waits have to exceed it: about the longest usual round-trip time.
        interval: Duration = Duration::new(100_000_000_000),
    }
}

record! {
    /// Proportional integral controller enhanced (RFC 8033): the probability of a mark follows the delay. Discards what is not ECN-capable.
    pub struct Pie {
        /// Delay to hold.
        target: Duration = Duration::new(15_000_000_000),
        /// Time between updates of the probability, at least 1 us.
        period: Duration = Duration::new(15_000_000_000),
        /// A burst of this length after a calm passes unmarked.
        burst: Duration = Duration::new(150_000_000_000),
        /// Highest probability at which packets are marked; above it they are discarded.
        max_marked: Probability = Probability(0.1),
        /// Typical packet: a queue of two of them is none.
        packet: Size = Size::new(1000),
    }
}

record! {
    /// A policy in Python.
    pub struct UserPolicy {
        /// `user:NAME`: a policy in Python that is registered by that name.
        policy: UserName,
        /// What the policy is made with (of `user:NAME`).
        parameters: Parameters = Parameters::default(),
    }
}

impl Policy {
    /// As the core takes it. `buffer` is that of the queue, and `at` the queue's place.
    pub(crate) fn spec(&self, buffer: Buffer, at: &str, report: &mut Report) -> PolicySpec {
        let judges_frames =
            matches!(self, Policy::Ppd(_) | Policy::Epd(_) | Policy::EpdPerVc(_) | Policy::Bpd(_) | Policy::Spd(_));
        if judges_frames {
            check_cells(buffer, at, report);
        }
        let cells = |key: &str, threshold: Threshold, report: &mut Report| threshold.cells(buffer, at, key, report);
        match self {
            Policy::DropTail(DropTail {}) => PolicySpec::DropTail(()),
            Policy::Red(red) => PolicySpec::Red(red.spec(buffer, at, report)),
            Policy::Codel(codel) => PolicySpec::Codel(codel.spec(at, report)),
            Policy::Pie(pie) => PolicySpec::Pie(pie.spec(at, report)),
            Policy::UserPolicy(UserPolicy { policy, parameters }) => PolicySpec::User(user::code(policy, parameters, at.into())),
            Policy::Ppd(Ppd {}) => PolicySpec::Ppd(()),
            Policy::Epd(epd) => PolicySpec::Epd(EpdSpec { threshold: cells("threshold", epd.threshold, report) }),
            Policy::EpdPerVc(epd) => PolicySpec::EpdPerVc(EpdPerVcSpec {
                threshold: cells("threshold", epd.threshold, report),
                active: match epd.active {
                    ActiveVcs::Configured => queue::ActiveVcs::Configured,
                    ActiveVcs::Backlogged => queue::ActiveVcs::Backlogged,
                },
            }),
            Policy::Bpd(bpd) => {
                let (lower, upper) = (cells("lower", bpd.lower, report), cells("upper", bpd.upper, report));
                bpd.check_order(lower, upper, at, report);
                PolicySpec::Bpd(BpdSpec { lower, upper, gap: bpd.gap.0 as u32 })
            }
            Policy::Spd(spd) => PolicySpec::Spd(SpdSpec {
                dropping_threshold: match spd.dropping_threshold {
                    DroppingThreshold::At(threshold) => Some(cells("dropping_threshold", threshold, report)),
                    DroppingThreshold::None => None,
                },
                epd_threshold: cells("epd_threshold", spd.epd_threshold, report),
                congestion_threshold: cells("congestion_threshold", spd.congestion_threshold, report),
                reading: match spd.reading {
                    SpdReading::Corrected => queue::SpdReading::Corrected,
                    SpdReading::Printed => queue::SpdReading::Printed,
                },
            }),
        }
    }
}

/// A policy that discards frames needs a buffer of their parts.
fn check_cells(buffer: Buffer, at: &str, report: &mut Report) {
    let at = format!("{at}.buffer");
    if matches!(buffer, Buffer::Packets(_) | Buffer::Share(_)) && report.sound(&at) {
        let problem = report.add(at, "a buffer in packets, for a policy that judges cells");
        problem.given(buffer.to_string()).expected("a buffer in cells such as `1200 cells`, or in bytes");
    }
}

impl Bpd {
    fn check_order(&self, lower: u64, upper: u64, at: &str, report: &mut Report) {
        let places = ["buffer", "lower", "upper"].map(|key| format!("{at}.{key}"));
        if lower > upper && places.iter().all(|place| report.sound(place)) {
            let given = format!("lower = {}, upper = {}", self.lower, self.upper);
            report.add(&places[1], "thresholds out of order").given(given).expected("`lower` no higher than `upper`");
        }
    }
}

impl Red {
    fn spec(&self, buffer: Buffer, at: &str, report: &mut Report) -> RedSpec {
        let [lower, upper] =
            [("lower", self.lower), ("upper", self.upper)].map(|(key, level)| level.units(buffer, at, key, report));
        let places = ["buffer", "lower", "upper"].map(|key| format!("{at}.{key}"));
        if lower >= upper && places.iter().all(|place| report.sound(place)) {
            let given = format!("lower = {}, upper = {}", self.lower, self.upper);
            report.add(&places[1], "thresholds out of order").given(given).expected("`lower` below `upper`");
        }
        for (key, value) in [("weight", self.weight), ("max_probability", self.max_probability)] {
            let place = format!("{at}.{key}");
            if value.0 == 0.0 && report.sound(&place) {
                report.add(place, "with nothing of it RED never marks").given("0").expected("above 0, at most 1");
            }
        }
        RedSpec {
            lower,
            upper,
            weight: self.weight.0,
            probability: self.max_probability.0,
            gentle: self.gentle,
            packet: typical(self.packet, at, report),
        }
    }
}

impl Codel {
    fn spec(&self, at: &str, report: &mut Report) -> CodelSpec {
        CodelSpec {
            target: at_least(Span(1), self.target, at, "target", report),
            interval: at_least(Span(1), self.interval, at, "interval", report),
        }
    }
}

impl Pie {
    fn spec(&self, at: &str, report: &mut Report) -> PieSpec {
        PieSpec {
            target: at_least(Span(1), self.target, at, "target", report),
            period: at_least(Span::from_micros(1), self.period, at, "period", report),
            burst: self.burst.span(),
            most_marked: self.max_marked.0,
            packet: typical(self.packet, at, report),
        }
    }
}

fn at_least(least: Span, given: Duration, at: &str, key: &str, report: &mut Report) -> Span {
    let place = format!("{at}.{key}");
    if given.span() < least && report.sound(&place) {
        let expected = if least == Span(1) { "more than 0 ms".into() } else { format!("at least {}", Duration::new(least.0)) };
        report.add(place, "a duration too short").given(given.to_string()).expected(expected);
    }
    given.span()
}

/// Bytes of a typical packet.
fn typical(packet: Size, at: &str, report: &mut Report) -> u32 {
    let place = format!("{at}.packet");
    match packet.bytes() {
        bytes @ 1..=1_000_000 => return bytes as u32,
        _ if report.sound(&place) => {
            report.add(place, "a size out of range").given(packet.to_string()).expected("1 B to 1 MB");
        }
        _ => {}
    }
    1
}

/// A length of the queue: packets or cells, as the buffer is counted in, or a percentage of the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Level {
    Packets(u64),
    Cells(u64),
    /// Of the buffer.
    Share(Percent),
}

impl Default for Level {
    fn default() -> Level {
        Level::Packets(0)
    }
}

impl Level {
    /// In what the buffer is counted in. What does not fit the buffer is reported.
    fn units(self, buffer: Buffer, at: &str, key: &str, report: &mut Report) -> u64 {
        let (place, buffer_at) = (format!("{at}.{key}"), format!("{at}.buffer"));
        if !report.sound(&place) || !report.sound(&buffer_at) {
            return 0;
        }
        let (units, whole) = match (self, buffer) {
            (Level::Packets(count), Buffer::Packets(whole)) | (Level::Cells(count), Buffer::Cells(whole)) => (count, whole),
            (Level::Share(share), Buffer::Packets(whole) | Buffer::Cells(whole)) => (share.of(whole), whole),
            (Level::Packets(count), Buffer::Share(_)) => return count,
            (_, Buffer::Bytes(_) | Buffer::Unlimited) => {
                let problem = report.add(buffer_at, "RED counts what the queue holds");
                problem.given(buffer.to_string()).expected("a buffer in packets or cells such as `100 packets`");
                return 0;
            }
            (_, Buffer::Share(_)) => {
                let problem = report.add(place, "a threshold in packets is needed beside this buffer");
                problem.given(self.to_string()).expected("a threshold such as `20 packets`");
                return 0;
            }
            (Level::Packets(_) | Level::Cells(_), _) => {
                let problem = report.add(place, "threshold and buffer are counted in different units");
                problem.given(format!("{self}, of {buffer}")).expected("packets or cells for both");
                return 0;
            }
        };
        if units > whole {
            let problem = report.add(place, "a threshold beyond the buffer");
            problem.given(self.to_string()).expected(format!("at most the buffer, {buffer}"));
        }
        units
    }
}

impl Decode for Level {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Level> {
        let complaint = match node {
            Node::Text(text) => {
                let level = packets(text).map(Level::Packets).or_else(|| cells(text).map(Level::Cells));
                match level.or_else(|| Percent::read(text).map(Level::Share)) {
                    Some(level) => return Some(level),
                    None => complaint(text, "a threshold", RANGES),
                }
            }
            Node::Integer(_) | Node::Float(_) => {
                Complaint { message: "a threshold without a unit".into(), unit: None, range: None }
            }
            _ => Complaint { message: "not a threshold".into(), unit: None, range: None },
        };
        let problem = decoder.fault(complaint.message).given(node.to_string());
        problem.one_of(complaint.unit.unwrap_or_default(), ["packets", "cells", "%"]);
        problem.expected(complaint.range.map_or_else(Level::expected, String::from));
        None
    }

    fn expected() -> String {
        "`20 packets`, `400 cells` or `25 %` (of the buffer)".into()
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Level::Packets(count) => write!(out, "{count} packets"),
            Level::Cells(count) => write!(out, "{count} cells"),
            Level::Share(share) => write!(out, "{share}"),
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Level {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let units = PACKET_UNITS.iter().chain(CELL_UNITS).map(|(unit, _)| *unit).chain(["%"]);
        schemars::json_schema!({"type": "string", "description": Level::expected(), "pattern": pattern(units)})
    }
}

/// A number of cells, or a percentage of the buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    Cells(u64),
    /// Of the buffer.
    Share(Percent),
}

impl Default for Threshold {
    fn default() -> Threshold {
        Threshold::Cells(0)
    }
}

impl Threshold {
    fn read(text: &str) -> Option<Threshold> {
        cells(text).map(Threshold::Cells).or_else(|| Percent::read(text).map(Threshold::Share))
    }

    /// In cells. A percentage of nothing, and more than the buffer, is reported.
    fn cells(self, buffer: Buffer, at: &str, key: &str, report: &mut Report) -> u64 {
        let (place, of) = (format!("{at}.{key}"), buffer.cells());
        let threshold = match (self, of) {
            (Threshold::Cells(cells), _) => cells,
            (Threshold::Share(share), Some(whole)) => share.of(whole),
            (Threshold::Share(_), None) => {
                // What is wrong with the buffer has been said, unless it is that it has no end.
                if buffer == Buffer::Unlimited && report.sound(&format!("{at}.buffer")) {
                    let problem = report.add(place, "a threshold in percent of an unlimited buffer");
                    problem.given(self.to_string()).expected("a threshold in cells such as `480 cells`, or a finite buffer");
                }
                return 0;
            }
        };
        if let Some(whole) = of.filter(|&whole| threshold > whole) {
            let problem = report.add(place, "a threshold beyond the buffer");
            problem.given(self.to_string()).expected(format!("at most the buffer, {whole} cells"));
        }
        threshold
    }
}

/// What fits, by unit: of a threshold, and with the first two of a buffer.
const RANGES: &[(&str, &str)] = &[
    ("packets", "0 to 1000000000000 packets"),
    ("packet", "0 to 1000000000000 packets"),
    ("cells", "0 to 1000000000000 cells"),
    ("cell", "0 to 1000000000000 cells"),
    ("%", "0 to 100000 %"),
];

impl Decode for Threshold {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Threshold> {
        threshold(node, &["cells", "%"], &Threshold::expected(), decoder)
    }

    fn expected() -> String {
        "`480 cells` or `40 %` (of the buffer)".into()
    }
}

/// Reads a threshold; if it is none, says what would be.
fn threshold(node: &Node, words: &[&str], expected: &str, decoder: &mut Decoder) -> Option<Threshold> {
    let complaint = match node {
        Node::Text(text) => match Threshold::read(text) {
            Some(threshold) => return Some(threshold),
            None => complaint(text, "a threshold", &RANGES[2..]),
        },
        Node::Integer(_) | Node::Float(_) => Complaint { message: "a threshold without a unit".into(), unit: None, range: None },
        _ => Complaint { message: "not a threshold".into(), unit: None, range: None },
    };
    let problem = decoder.fault(complaint.message).given(node.to_string());
    problem.one_of(complaint.unit.unwrap_or_default(), words.iter().copied());
    problem.expected(complaint.range.unwrap_or(expected));
    None
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Threshold::Cells(count) => write!(out, "{count} cells"),
            Threshold::Share(share) => write!(out, "{share}"),
        }
    }
}

impl Serialize for Threshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Threshold {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Threshold".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let units = CELL_UNITS.iter().map(|(unit, _)| *unit).chain(["%"]);
        schemars::json_schema!({"type": "string", "description": Threshold::expected(), "pattern": pattern(units)})
    }
}

/// A threshold, or `none`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum DroppingThreshold {
    At(Threshold),
    #[default]
    None,
}

impl Decode for DroppingThreshold {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<DroppingThreshold> {
        match node {
            Node::Text(text) if text == "none" => Some(DroppingThreshold::None),
            _ => {
                let expected = DroppingThreshold::expected();
                threshold(node, &["cells", "%", "none"], &expected, decoder).map(DroppingThreshold::At)
            }
        }
    }

    fn expected() -> String {
        "`20 cells`, `2 %` (of the buffer) or `none`".into()
    }
}

impl Serialize for DroppingThreshold {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            DroppingThreshold::At(threshold) => threshold.serialize(serializer),
            DroppingThreshold::None => serializer.serialize_str("none"),
        }
    }
}

impl JsonSchema for DroppingThreshold {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "DroppingThreshold".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": DroppingThreshold::expected(),
            "anyOf": [generator.subschema_for::<Threshold>(), {"const": "none"}],
        })
    }
}

/// Waiting places of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Buffer {
    Packets(u64),
    Cells(u64),
    Bytes(Size),
    /// Of rate times `bdp_rtt`.
    Share(Percent),
    #[default]
    Unlimited,
}

impl Buffer {
    /// Whether it can only hold packets.
    pub(crate) fn is_in_packets(self) -> bool {
        matches!(self, Buffer::Packets(_))
    }

    /// Whether it can only hold cells.
    pub(crate) fn is_in_cells(self) -> bool {
        matches!(self, Buffer::Cells(_))
    }

    /// Whole cells that fit; `None` if it has no end or is in packets.
    fn cells(self) -> Option<u64> {
        match self {
            Buffer::Cells(count) => Some(count),
            Buffer::Bytes(size) => Some(size.bytes() / u64::from(CELL_BYTES)),
            Buffer::Packets(_) | Buffer::Share(_) | Buffer::Unlimited => None,
        }
    }
}

impl Decode for Buffer {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<Buffer> {
        match node {
            Node::Text(text) if text == "unlimited" => Some(Buffer::Unlimited),
            Node::Text(text) if packets(text).is_some() => packets(text).map(Buffer::Packets),
            Node::Text(text) if cells(text).is_some() => cells(text).map(Buffer::Cells),
            Node::Text(text) if Percent::read(text).is_some() => Percent::read(text).map(Buffer::Share),
            Node::Text(text) if text.ends_with('B') => Size::decode(node, decoder).map(Buffer::Bytes),
            Node::Text(text) => {
                let complaint = complaint(text, "a buffer", RANGES);
                let problem = decoder.fault(complaint.message).given(node.to_string());
                let unit = complaint.unit.unwrap_or_default();
                problem.one_of(unit, ["packets", "cells", "kB", "%", "unlimited"]);
                problem.expected(complaint.range.map_or_else(Buffer::expected, String::from));
                None
            }
            Node::Integer(_) | Node::Float(_) => decoder.misfit(node, "a buffer without a unit"),
            _ => decoder.misfit(node, "not a buffer"),
        }
    }

    fn expected() -> String {
        "`100 packets`, `1200 cells`, `50 kB`, `50 %` (of rate times `bdp_rtt`) or `unlimited`".into()
    }
}

impl std::fmt::Display for Buffer {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Buffer::Packets(count) => write!(out, "{count} packets"),
            Buffer::Cells(count) => write!(out, "{count} cells"),
            Buffer::Bytes(size) => write!(out, "{size}"),
            Buffer::Share(share) => write!(out, "{share}"),
            Buffer::Unlimited => out.write_str("unlimited"),
        }
    }
}

impl Serialize for Buffer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl JsonSchema for Buffer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Buffer".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let units = PACKET_UNITS.iter().chain(CELL_UNITS).map(|(unit, _)| *unit).chain(["%"]);
        schemars::json_schema!({
            "description": Buffer::expected(),
            "anyOf": [
                {"const": "unlimited"},
                {"type": "string", "pattern": pattern(units)},
                generator.subschema_for::<Size>(),
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tailback_core::queue::POLICY_NAMES;

    #[test]
    fn every_policy_of_the_core_can_be_written() {
        let schema = serde_json::to_string(&crate::json_schema()).unwrap();
        for name in POLICY_NAMES {
            assert!(schema.contains(&format!("\"const\":\"{name}\"")), "{name}");
        }
    }

    /// A queue from JSON, its policy as the core takes it, and what is wrong with it as place and message.
    fn read(json: &str) -> (Queue, PolicySpec, Vec<(String, String)>) {
        let (node, source) = crate::tree::from_json(json, "").unwrap();
        let mut decoder = Decoder::new(Report::new(&source));
        let queue = decoder.inside("queue", |decoder| Queue::decode(&node, decoder)).unwrap();
        let mut report = decoder.report;
        let spec = queue.policy.spec(queue.buffer, "queue", &mut report);
        let problems = report.finish().list.into_iter().map(|problem| (problem.at, problem.message)).collect();
        (queue, spec, problems)
    }

    fn spec(json: &str) -> PolicySpec {
        let (queue, spec, problems) = read(json);
        assert_eq!(problems, []);
        let (again, same, _) = read(&serde_json::to_string(&queue).unwrap());
        assert_eq!((again, &same), (queue, &spec));
        spec
    }

    #[test]
    fn thresholds_are_cells_or_shares_of_the_buffer() {
        let bpd = |buffer: &str| {
            let json = r#"{"policy": "bpd", "buffer": "BUFFER", "lower": "40 %", "upper": "900 cells", "gap": 25}"#;
            spec(&json.replace("BUFFER", buffer))
        };
        let of_cells = |lower| PolicySpec::Bpd(BpdSpec { lower, upper: 900, gap: 25 });
        assert_eq!(bpd("1200 cells"), of_cells(480));
        // 40 % of 1001 cells are 400.4, of 1004 cells 401.6.
        assert_eq!((bpd("1001 cells"), bpd("1004 cells")), (of_cells(400), of_cells(402)));
        // 50000 / 53 = 943.4: 943 whole cells, of which 40 % are 377.2.
        assert_eq!(bpd("50 kB"), of_cells(377));
    }

    #[test]
    fn half_a_cell_is_rounded_up() {
        // 14.5 % of 100 cells; as 0.145 x 100 in floating point it would be below 14.5.
        let epd = spec(r#"{"policy": "epd", "buffer": "100 cells", "threshold": "14.5 %"}"#);
        assert_eq!(epd, PolicySpec::Epd(EpdSpec { threshold: 15 }));
    }

    #[test]
    fn all_settings_reach_the_core() {
        let json = r#"{"policy": "spd", "buffer": "1000 cells", "dropping_threshold": "20 cells", "epd_threshold": "70 %",
            "congestion_threshold": "200 cells", "reading": "printed"}"#;
        let printed = SpdSpec {
            dropping_threshold: Some(20),
            epd_threshold: 700,
            congestion_threshold: 200,
            reading: queue::SpdReading::Printed,
        };
        assert_eq!(spec(json), PolicySpec::Spd(printed));
        let off = json.replace("\"20 cells\"", "\"none\"").replace(", \"reading\": \"printed\"", "");
        let corrected = SpdSpec { dropping_threshold: None, reading: queue::SpdReading::Corrected, ..printed };
        assert_eq!(spec(&off), PolicySpec::Spd(corrected));
        let per_vc =
            |rest: &str| spec(&format!(r#"{{"policy": "epd_per_vc", "buffer": "1000 cells", "threshold": "70 %"{rest}}}"#));
        let of_vcs = |active| PolicySpec::EpdPerVc(EpdPerVcSpec { threshold: 700, active });
        assert_eq!(per_vc(""), of_vcs(queue::ActiveVcs::Configured));
        assert_eq!(per_vc(r#", "active": "backlogged""#), of_vcs(queue::ActiveVcs::Backlogged));
        assert_eq!(spec(r#"{"policy": "ppd", "buffer": "unlimited"}"#), PolicySpec::Ppd(()));
    }

    #[test]
    fn the_unit_in_service_holds_a_place_where_the_buffer_is_in_cells() {
        let counts = |json: &str| read(json).0.counts_in_service();
        assert!(counts(r#"{"buffer": "9 cells"}"#));
        assert!(!counts(r#"{"buffer": "9 cells", "counts_in_service": false}"#));
        assert!(
            !counts(r#"{"buffer": "9 packets"}"#) && !counts(r#"{"buffer": "9 kB"}"#) && !counts(r#"{"buffer": "unlimited"}"#)
        );
    }

    #[test]
    fn settings_of_active_queue_management_reach_the_core() {
        let red = |rest: &str| spec(&format!(r#"{{"policy": "red", "buffer": "80 packets", "lower": "25 %"{rest}}}"#));
        let usual = RedSpec { lower: 20, upper: 60, weight: 0.002, probability: 0.1, gentle: true, packet: 1000 };
        assert_eq!(red(r#", "upper": "60 packets""#), PolicySpec::Red(usual));
        let given = r#", "upper": "75 %", "weight": 0.01, "max_probability": 0.02, "gentle": false, "packet": "500 B""#;
        let other = RedSpec { weight: 0.01, probability: 0.02, gentle: false, packet: 500, ..usual };
        assert_eq!(red(given), PolicySpec::Red(other));
        // RFC 8289 sections 4.2 and 4.3, RFC 8033 sections 4 and 5.1.
        let ms = Span::from_millis;
        let codel = CodelSpec { target: ms(5), interval: ms(100) };
        assert_eq!(spec(r#"{"policy": "codel", "buffer": "unlimited"}"#), PolicySpec::Codel(codel));
        let pie = PieSpec { target: ms(15), period: ms(15), burst: ms(150), most_marked: 0.1, packet: 1000 };
        assert_eq!(spec(r#"{"policy": "pie", "buffer": "50 kB"}"#), PolicySpec::Pie(pie));
    }

    #[test]
    fn thresholds_may_be_the_whole_buffer_and_equal() {
        let json = r#"{"policy": "bpd", "buffer": "60 cells", "lower": "100 %", "upper": "60 cells", "gap": 0}"#;
        assert_eq!(spec(json), PolicySpec::Bpd(BpdSpec { lower: 60, upper: 60, gap: 0 }));
    }

    #[test]
    fn a_fault_is_not_blamed_on_its_neighbours() {
        // A buffer, or a threshold, that cannot be read says nothing of what else stands there.
        let (.., problems) = read(r#"{"policy": "bpd", "buffer": 1200, "lower": "40 %", "upper": "90 %", "gap": 25}"#);
        assert_eq!(problems, [("queue.buffer".into(), "a buffer without a unit".into())]);
        let (.., problems) = read(r#"{"policy": "bpd", "buffer": "9 cells", "lower": "4 cells", "upper": 8, "gap": 25}"#);
        assert_eq!(problems, [("queue.upper".into(), "a threshold without a unit".into())]);
    }
}
