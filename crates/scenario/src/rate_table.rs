//! Rate, delay and loss of a link over time: `rate = {trace = "leo.csv"}`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. The first line names
//! the columns `at` and `rate`, and optionally `delay` and `loss`; cells have units, or the column's name ends in one (`at_s`, `rate_Mbps`).
//! A file without a column `rate` needs the rate of all rows: `rate = {trace = "rtt.csv", rate = "10 Mbps"}`. Times count from the first row,
//! because traces begin at the time of day at which they were recorded. The content becomes part of the scenario.

use crate::decode::{Decode, Decoder};
use crate::distribution::csv_rows;
use crate::probability::Probability;
use crate::quantity::{Duration, Quantity, Rate};
use crate::record::record;
use crate::tree::Node;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use std::borrow::Cow;
use std::sync::Arc;
use tailback_core::network::{RateSchedule, RateStep};
use tailback_core::primitives::units::{self, TimeDelta};

/// A table of rates. Copies share its data.
#[derive(Clone, Debug, PartialEq)]
pub struct RateTable {
    columns: Arc<RateColumns>,
    schedule: RateSchedule,
}

record! {
    /// Rate, delay and loss of a link over time, with one value per row. A row holds until the next one, and the last one as long as the one before it. Then the table repeats.
    pub struct RateColumns {
        /// Times of the rows, ascending from 0 s.
        at: Vec<Duration>,
        /// Rate of the link, or `0 bps`.
        rate: Vec<TableRate>,
        /// One-way propagation delay. Packets stay in order. Default: that of the link.
        delay: Option<Vec<Duration>>,
        /// Probability of loss of each packet. Default: that of the link.
        loss: Option<Vec<Probability>>,
    }
}

/// A rate, which may be zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct TableRate(Rate);

/// A change of delay or loss at the beginning of a row, or of both.
pub(crate) struct RowChange {
    pub at: TimeDelta,
    pub delay: Option<Duration>,
    pub loss: Option<Probability>,
}

impl RateTable {
    /// Begin of each row up to `end` in picoseconds, with its index.
    fn begins(&self, end: u64) -> impl Iterator<Item = (u64, usize)> + '_ {
        let (at, period) = (&self.columns.at, period(&self.columns.at));
        let of_pass =
            move |pass: u64| (0..at.len()).map(move |row| (pass.saturating_mul(period).saturating_add(at[row].base()), row));
        (0..).flat_map(of_pass).take_while(move |&(begin, _)| begin < end)
    }

    /// The rate over time.
    pub(crate) fn schedule(&self) -> RateSchedule {
        self.schedule.clone()
    }

    /// Changes of delay and loss in a run, from 0 s on.
    pub(crate) fn changes(&self, duration: TimeDelta) -> impl Iterator<Item = RowChange> + '_ {
        let RateColumns { delay, loss, .. } = &*self.columns;
        let (mut old_delay, mut old_loss) = (None, None);
        let end = if delay.is_some() || loss.is_some() { duration.0 } else { 0 };
        self.begins(end).filter_map(move |(begin, row)| {
            let delay = delay.as_ref().map(|delays| delays[row]).filter(|delay| old_delay.replace(*delay) != Some(*delay));
            let loss = loss.as_ref().map(|losses| losses[row]).filter(|loss| old_loss.replace(*loss) != Some(*loss));
            (delay.is_some() || loss.is_some()).then_some(RowChange { at: TimeDelta(begin), delay, loss })
        })
    }

    /// The delay of the first row.
    pub(crate) fn first_delay(&self) -> Option<Duration> {
        self.columns.delay.as_ref().and_then(|delays| delays.first().copied())
    }

    /// Reads a CSV file. `given` is the rate of all rows of a file without rates.
    pub(crate) fn read(file: &str, given: Option<Rate>, decoder: &mut Decoder) -> Option<RateTable> {
        let names = csv_rows::Names { required: ["at"], optional: ["rate", "delay", "loss"] };
        let (mut origin, mut has_rates) = (Origin::default(), false);
        let mut columns = RateColumns { delay: Some(Vec::new()), loss: Some(Vec::new()), ..RateColumns::default() };
        let row = |[at]: [Node; 1], [rate, delay, loss]: [Option<Node>; 3], decoder: &mut Decoder| {
            let at = decoder.inside("at", |decoder| Duration::decode(&origin.relative(at), decoder));
            has_rates |= rate.is_some();
            let rate = match rate {
                Some(rate) => decoder.inside("rate", |decoder| TableRate::decode(&rate, decoder)),
                None => Some(TableRate(given.unwrap_or_default())),
            };
            let delay = delay.map(|delay| decoder.inside("delay", |decoder| Duration::decode(&delay, decoder)));
            let loss = loss.map(|loss| decoder.inside("loss", |decoder| Probability::decode(&csv_rows::number(&loss), decoder)));
            Some((at?, rate?, delay, loss))
        };
        let rows = csv_rows::read_some(file, names, &RateTable::expected(), decoder, row)?;
        if has_rates == given.is_some() {
            let (message, expected) = match has_rates {
                true => ("has a column `rate`, which cannot be used with the key `rate`", "one of both"),
                false => {
                    ("has no column `rate`", "a column `rate`, or the rate of all rows: `{trace = \"FILE\", rate = \"10 Mbps\"}`")
                }
            };
            decoder.fault(format!("`{file}` {message}")).given(file).expected(expected);
            return None;
        }
        for (_, (at, rate, delay, loss)) in rows {
            columns.at.push(at);
            columns.rate.push(rate);
            columns.delay = columns.delay.zip(delay.flatten()).map(|(delays, delay)| with(delays, delay));
            columns.loss = columns.loss.zip(loss.flatten()).map(|(losses, loss)| with(losses, loss));
        }
        RateTable::checked(columns, decoder)
    }

    pub(crate) fn decode(node: &Node, decoder: &mut Decoder) -> Option<RateTable> {
        let columns = RateColumns::decode(node, decoder)?;
        RateTable::checked(columns, decoder)
    }

    fn expected() -> String {
        "a CSV file with columns `at`, `rate` (or the key `rate`), and optionally `delay` and `loss`, or a table of these lists"
            .into()
    }

    fn checked(columns: RateColumns, decoder: &mut Decoder) -> Option<RateTable> {
        if !decoder.is_valid() {
            return None;
        }
        let RateColumns { at, rate, delay, loss } = &columns;
        let lengths = [Some(rate.len()), delay.as_ref().map(Vec::len), loss.as_ref().map(Vec::len)];
        if let Some(other) = lengths.into_iter().flatten().find(|&length| length != at.len()) {
            let given = format!("{} and {other}", at.len());
            decoder.wrong("has columns of different lengths").given(given).expected("one value per row");
            return None;
        }
        let fault = match at.windows(2).position(|pair| pair[1] <= pair[0]) {
            _ if at.len() < 2 => Some(("has fewer than two rows", format!("{} rows", at.len()))),
            _ if at[0].base() != 0 => Some(("does not begin at 0 s", at[0].to_string())),
            Some(place) => Some(("is not in the order of time", format!("{} after {}", at[place + 1], at[place]))),
            None if rate.iter().all(|rate| rate.0.base() == 0) => Some(("has no rate above 0", "0 bps in all rows".into())),
            None => None,
        };
        if let Some((predicate, given)) = fault {
            decoder
                .wrong(predicate)
                .given(given)
                .expected("at least two rows with ascending times from 0 s on, and a rate above 0");
            return None;
        }
        let step = |(at, rate): (&Duration, &TableRate)| RateStep { at: at.time_delta(), rate: units::Rate(rate.0.base()) };
        let steps = at.iter().zip(rate).map(step).collect();
        let schedule = RateSchedule::new(steps, TimeDelta(period(at))).ok()?;
        Some(RateTable { columns: Arc::new(columns), schedule })
    }
}

/// The time of the first row of a file in seconds, from which all times count. A time of day has too many seconds for a [`Duration`].
#[derive(Default)]
struct Origin(Option<f64>);

impl Origin {
    /// A time as in the file, relative to the first.
    fn relative(&mut self, at: Node) -> Node {
        let seconds = at.as_text().and_then(|text| {
            let text = text.trim();
            let end = text.rfind(|letter: char| letter.is_ascii_digit() || letter == '.')? + 1;
            let unit = text[end..].trim();
            let (_, in_seconds) = IN_SECONDS.iter().find(|(known, _)| *known == unit)?;
            Some(text[..end].parse::<f64>().ok()? * in_seconds)
        });
        let Some(seconds) = seconds else { return at };
        let first = *self.0.get_or_insert(seconds);
        if first == 0.0 { at } else { Node::Text(format!("{:.9} s", seconds - first)) }
    }
}

/// Units of time in seconds.
const IN_SECONDS: [(&str, f64); 7] =
    [("ps", 1e-12), ("ns", 1e-9), ("us", 1e-6), ("ms", 1e-3), ("s", 1.0), ("min", 60.0), ("h", 3600.0)];

/// Time after which a table with these rows repeats, in picoseconds.
fn period(at: &[Duration]) -> u64 {
    let [before, last] = [at[at.len() - 2].base(), at[at.len() - 1].base()];
    last.saturating_add(last - before)
}

fn with<T>(mut list: Vec<T>, value: T) -> Vec<T> {
    list.push(value);
    list
}

impl Serialize for RateTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.columns.serialize(serializer)
    }
}

impl Decode for TableRate {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<TableRate> {
        if let Node::Text(text) = node
            && text.split_once(' ').and_then(|(number, _)| number.parse().ok()) == Some(0.0)
        {
            return Some(TableRate(Rate::new(0)));
        }
        Rate::decode(node, decoder).map(TableRate)
    }

    fn expected() -> String {
        format!("{}, or `0 bps`", Rate::expected())
    }
}

impl JsonSchema for RateTable {
    fn schema_name() -> Cow<'static, str> {
        "RateTable".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        RateColumns::json_schema(generator)
    }
}

impl JsonSchema for TableRate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "TableRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Rate>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::location::Source;
    use crate::problem::Report;
    use tailback_core::primitives::units::Time;

    const MILLISECOND: u64 = 1_000_000_000;

    fn table(columns: RateColumns) -> RateTable {
        let source = Source::default();
        RateTable::checked(columns, &mut Decoder::new(Report::new(&source))).expect("a table")
    }

    #[test]
    fn the_last_row_lasts_as_long_as_the_one_before_it() {
        let at = [0, 3, 5].map(|ms| Duration::new(ms * MILLISECOND)).to_vec();
        let rate = [12_000_000, 0, 6_000_000].map(|bps| TableRate(Rate::new(bps))).to_vec();
        let schedule = table(RateColumns { at, rate, delay: None, loss: None }).schedule();
        // 36 kbit in 3 ms, nothing in 2 ms, and 12 kbit in 2 ms.
        assert_eq!(schedule.mean_rate(), units::Rate(6_857_142));
        // From 2 ms on: 12 kbit until the pause, and 6 kbit after it.
        let sent = schedule.capacity_before(Time(2 * MILLISECOND)) + RateSchedule::capacity_of(units::Bytes(18_000 / 8));
        assert_eq!(schedule.time_of(sent), Time(6 * MILLISECOND));
    }

    #[test]
    fn times_count_from_the_first_row() {
        let relative = |times: &[&str]| {
            let mut origin = Origin::default();
            times.iter().map(|time| origin.relative(Node::Text((*time).into())).to_string()).collect::<Vec<_>>()
        };
        let of_day = relative(&["1700000000.25 s", "1700000001.5 s"]);
        assert_eq!(of_day, ["\"0.000000000 s\"", "\"1.250000000 s\""]);
        assert_eq!(relative(&["0 s", "100 ms"]), ["\"0 s\"", "\"100 ms\""]);
        assert_eq!(relative(&["5 s", "6000 ms", "4 s"])[1..], ["\"1.000000000 s\"", "\"-1.000000000 s\""]);
    }

    #[test]
    fn equal_rows_are_no_change() {
        let delay = |ms: u64| Duration::new(ms * MILLISECOND);
        let table = table(RateColumns {
            at: vec![delay(0), delay(10), delay(20)],
            rate: vec![TableRate(Rate::new(1)); 3],
            delay: Some(vec![delay(5), delay(5), delay(7)]),
            loss: None,
        });
        let found: Vec<u64> = table.changes(TimeDelta::from_millis(61)).map(|change| change.at.0 / MILLISECOND).collect();
        // Each pass of 30 ms has 5 ms of delay from its begin, and 7 ms from 20 ms on.
        assert_eq!(found, [0, 20, 30, 50, 60]);
    }
}
