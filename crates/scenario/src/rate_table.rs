//! Rate, delay and loss of a link over time: `rate = {trace = "leo.csv"}`.
//!
//! The file name is relative to the directory of the scenario, or to the current directory if the scenario is in no file. The first line names
//! the columns `at` and `rate`, and optionally `delay` and `loss`; cells have units, or the column's name ends in one (`at_s`, `rate_Mbps`).
//! The content becomes part of the scenario.

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
use tailback_core::network::{DeliveryTrace, Opportunities};
use tailback_core::primitives::units::{self, TimeDelta};

/// A table of rates. Copies share its data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RateTable(Arc<RateColumns>);

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

/// Maximum length of a run with such a table in milliseconds: 4.6 hours.
const MAX_MILLISECONDS: u64 = 1 << 24;

/// Picoseconds of a millisecond.
const MILLISECOND: u64 = 1_000_000_000;

impl RateTable {
    /// Time after which the table repeats, in picoseconds.
    fn period(&self) -> u64 {
        let at = &self.0.at;
        let [before, last] = [at[at.len() - 2].base(), at[at.len() - 1].base()];
        last + (last - before)
    }

    /// Begin, end and row of each interval up to `end`, in picoseconds.
    fn intervals(&self, end: u64) -> impl Iterator<Item = (u64, u64, usize)> + '_ {
        let (at, period) = (&self.0.at, self.period());
        let of_pass = move |pass: u64| {
            (0..at.len()).map(move |row| {
                let until = at.get(row + 1).map_or(period, |next| next.base());
                (pass * period + at[row].base(), pass * period + until, row)
            })
        };
        (0..).flat_map(of_pass).take_while(move |&(begin, ..)| begin < end)
    }

    /// The mean over a period, rounded, at least 1 bit/s.
    pub(crate) fn mean(&self) -> units::Rate {
        let bits = self.intervals(self.period()).map(|(begin, end, row)| u128::from(end - begin) * u128::from(self.bps(row)));
        units::Rate(((bits.sum::<u128>() / u128::from(self.period())) as u64).max(1))
    }

    fn bps(&self, row: usize) -> u64 {
        self.0.rate[row].0.base()
    }

    /// Transmission opportunities for a run; `None` if it is too long. An opportunity is in the millisecond in which another 1500 bytes
    /// are complete.
    pub(crate) fn trace(&self, duration: TimeDelta) -> Option<DeliveryTrace> {
        let last = duration.0.div_ceil(MILLISECOND) + 1;
        if last > MAX_MILLISECONDS {
            return None;
        }
        let opportunity = u128::from(DeliveryTrace::OPPORTUNITY.0) * 8 * 1_000_000_000_000;
        let (mut instants, mut waiting) = (Vec::new(), 0);
        for (begin, end, row) in self.intervals(last * MILLISECOND) {
            let mut now = begin;
            while now < end {
                // The end of the millisecond, and of the row.
                let next = (now / MILLISECOND + 1) * MILLISECOND;
                let until = next.min(end);
                waiting += u128::from(until - now) * u128::from(self.bps(row));
                if until == next {
                    let (millisecond, count) = ((next / MILLISECOND) as u32, (waiting / opportunity) as u32);
                    waiting %= opportunity;
                    if count > 0 {
                        instants.push(Opportunities { millisecond, count });
                    }
                }
                now = until;
            }
        }
        // Traces repeat after their last opportunity, which therefore is after the end of the run.
        let end = (last + 1) as u32;
        instants.retain(|instant| instant.millisecond < end);
        instants.push(Opportunities { millisecond: end, count: 1 });
        DeliveryTrace::new(instants).ok()
    }

    /// Changes of delay and loss in a run, from 0 s on.
    pub(crate) fn changes(&self, duration: TimeDelta) -> impl Iterator<Item = RowChange> + '_ {
        let RateColumns { delay, loss, .. } = &*self.0;
        let (mut old_delay, mut old_loss) = (None, None);
        self.intervals(duration.0).filter_map(move |(begin, _, row)| {
            let delay = delay.as_ref().map(|delays| delays[row]).filter(|delay| old_delay.replace(*delay) != Some(*delay));
            let loss = loss.as_ref().map(|losses| losses[row]).filter(|loss| old_loss.replace(*loss) != Some(*loss));
            (delay.is_some() || loss.is_some()).then_some(RowChange { at: TimeDelta(begin), delay, loss })
        })
    }

    /// The delay of the first row.
    pub(crate) fn first_delay(&self) -> Option<Duration> {
        self.0.delay.as_ref().and_then(|delays| delays.first().copied())
    }

    /// Reads a CSV file.
    pub(crate) fn read(file: &str, decoder: &mut Decoder) -> Option<RateTable> {
        let names = csv_rows::Names { required: ["at", "rate"], optional: ["delay", "loss"] };
        let mut columns = RateColumns { delay: Some(Vec::new()), loss: Some(Vec::new()), ..RateColumns::default() };
        let row = |[at, rate]: [Node; 2], [delay, loss]: [Option<Node>; 2], decoder: &mut Decoder| {
            let at = decoder.inside("at", |decoder| Duration::decode(&at, decoder));
            let rate = decoder.inside("rate", |decoder| TableRate::decode(&rate, decoder));
            let delay = delay.map(|delay| decoder.inside("delay", |decoder| Duration::decode(&delay, decoder)));
            let loss = loss.map(|loss| decoder.inside("loss", |decoder| Probability::decode(&csv_rows::number(&loss), decoder)));
            Some((at?, rate?, delay, loss))
        };
        for (_, (at, rate, delay, loss)) in csv_rows::read_some(file, names, &RateTable::expected(), decoder, row)? {
            columns.at.push(at);
            columns.rate.push(rate);
            columns.delay = columns.delay.zip(delay.flatten()).map(|(delays, delay)| with(delays, delay));
            columns.loss = columns.loss.zip(loss.flatten()).map(|(losses, loss)| with(losses, loss));
        }
        RateTable::checked(columns, decoder)
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
        Some(RateTable(Arc::new(columns)))
    }
}

fn with<T>(mut list: Vec<T>, value: T) -> Vec<T> {
    list.push(value);
    list
}

impl Serialize for RateTable {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl Decode for RateTable {
    fn decode(node: &Node, decoder: &mut Decoder) -> Option<RateTable> {
        let columns = RateColumns::decode(node, decoder)?;
        RateTable::checked(columns, decoder)
    }

    fn expected() -> String {
        "a CSV file with columns `at`, `rate`, and optionally `delay` and `loss`, or a table of these lists".into()
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

    fn table(rows: &[(u64, u64)]) -> RateTable {
        let at = rows.iter().map(|(ms, _)| Duration::new(ms * MILLISECOND)).collect();
        let rate = rows.iter().map(|(_, bps)| TableRate(Rate::new(*bps))).collect();
        RateTable(Arc::new(RateColumns { at, rate, delay: None, loss: None }))
    }

    #[test]
    fn an_opportunity_is_where_another_packet_is_complete() {
        // 12 Mbit/s are a packet per millisecond; 6 Mbit/s a packet in two; the last row lasts 2 ms, like the one before.
        let table = table(&[(0, 12_000_000), (3, 0), (5, 6_000_000)]);
        let trace = table.trace(TimeDelta::from_millis(12)).unwrap();
        let found: Vec<(u32, u32)> = trace.instants().iter().map(|at| (at.millisecond, at.count)).collect();
        assert_eq!(found, [(1, 1), (2, 1), (3, 1), (7, 1), (8, 1), (9, 1), (10, 1), (14, 1)]);
        // 48 kbit in 7 ms.
        assert_eq!(table.mean(), units::Rate(6_857_142));
    }

    #[test]
    fn a_rate_changes_within_a_millisecond() {
        let table = RateTable(Arc::new(RateColumns {
            at: vec![Duration::new(0), Duration::new(MILLISECOND / 2)],
            rate: vec![TableRate(Rate::new(36_000_000)), TableRate(Rate::new(12_000_000))],
            delay: None,
            loss: None,
        }));
        let trace = table.trace(TimeDelta::from_millis(2)).unwrap();
        assert_eq!(trace.instants()[0], Opportunities { millisecond: 1, count: 2 });
    }

    #[test]
    fn equal_rows_are_no_change() {
        let delay = |ms: u64| Duration::new(ms * MILLISECOND);
        let columns = RateColumns {
            at: vec![delay(0), delay(10), delay(20)],
            rate: vec![TableRate(Rate::new(1)); 3],
            delay: Some(vec![delay(5), delay(5), delay(7)]),
            loss: None,
        };
        let table = RateTable(Arc::new(columns));
        let found: Vec<u64> = table.changes(TimeDelta::from_millis(61)).map(|change| change.at.0 / MILLISECOND).collect();
        // Each pass of 30 ms has 5 ms of delay from its begin, and 7 ms from 20 ms on.
        assert_eq!(found, [0, 20, 30, 50, 60]);
    }
}
