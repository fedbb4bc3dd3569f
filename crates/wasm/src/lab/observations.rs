//! Data that the page has not read yet: curves, state changes, losses.

use super::observed_entities::{BINS, ObservedEntities};
use super::rows::{count, floats, integers, word, words};
use super::series::Series;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use tailback_core::network::GroupId;
use tailback_core::network::Network;
use tailback_core::queue::DropReason;
use tailback_core::record::{Column, Table};

/// Maximum number of losses and state changes reported individually between two updates: the most recent ones. In addition, the
/// first loss in each 1/2048 of the run is reported, so that every possible mark has one.
const MAX_REPORTED: usize = 400;
const MARKS: f64 = 2048.0;

#[derive(Clone, Debug)]
pub(super) struct Observations {
    duration_s: f64,
    /// The first flow of each group.
    first_flows: Vec<u32>,
    /// By quantity, and by the index of the flow or port among the observed ones.
    series: [Vec<Series>; QUANTITIES.len()],
    observed: ObservedEntities,
    /// Index of each flow and port among the observed ones.
    flow_places: Vec<u32>,
    port_places: Vec<u32>,
    states: Vec<Value>,
    drops: Vec<Value>,
    /// The first loss in each interval, and the number of intervals completed.
    first_drops: Vec<Value>,
    spans: u64,
    /// By time bin and reason; and the bins that have changed.
    lost: BTreeMap<u64, [u64; DropReason::ALL.len()]>,
    changed: Vec<u64>,
    /// By flow, while the run lasts.
    pub(super) lost_of_flows: HashMap<u32, u64>,
    /// By index: the last goodput bin processed.
    goodput_until: Vec<f64>,
}

/// Quantities of curves, by the page's names.
const QUANTITIES: [&str; 6] = ["cwnd", "ssthresh", "rtt", "in_flight", "goodput", "queue"];
/// Columns of the corresponding traces.
const COLUMNS: [&str; 4] = ["cwnd_packets", "ssthresh_packets", "rtt_s", "in_flight_packets"];
const GOODPUT: usize = 4;
const QUEUE: usize = 5;
/// Not observed.
const NOWHERE: u32 = u32::MAX;

impl Observations {
    pub(super) fn new(network: &Network, observed: &ObservedEntities) -> Observations {
        let duration_s = network.duration.seconds();
        let series = |count: usize| vec![Series::new(duration_s); count];
        Observations {
            duration_s,
            first_flows: GroupId::all(network.groups.len())
                .map(|group| network.flows.partition_point(|flow| flow.group < group) as u32)
                .collect(),
            series: std::array::from_fn(|quantity| {
                series(if quantity == QUEUE { observed.ports.len() } else { observed.flows.len() })
            }),
            flow_places: places(observed.flows.iter().map(|flow| flow.0), network.flows.len()),
            port_places: places(observed.ports.iter().map(|port| port.0), network.ports.len()),
            states: Vec::new(),
            drops: Vec::new(),
            first_drops: Vec::new(),
            spans: 0,
            lost: BTreeMap::new(),
            changed: Vec::new(),
            lost_of_flows: HashMap::new(),
            goodput_until: vec![-1.0; observed.flows.len()],
            observed: observed.clone(),
        }
    }

    /// Processes trace rows.
    pub(super) fn note(&mut self, tables: &[Table], now_s: f64) {
        for table in tables {
            match table.name.as_str() {
                "queue" => self.note_queues(table),
                "drops" => self.note_drops(table),
                "state" => self.note_states(table),
                "throughput" => self.note_goodput(table, now_s),
                name => {
                    if let Some(quantity) = QUANTITIES[..COLUMNS.len()].iter().position(|known| *known == name) {
                        self.note_curve(table, quantity);
                    }
                }
            }
        }
    }

    /// The flow of a row: words of groups are in the order of the groups.
    fn flow(&self, table: &Table, row: usize) -> Option<u32> {
        let group = *words(table, "group").0.get(row)?;
        Some(self.first_flows.get(group as usize)? + *integers(table, "flow").get(row)? as u32)
    }

    fn note_curve(&mut self, table: &Table, quantity: usize) {
        match table.column(COLUMNS[quantity]) {
            // A threshold that has not been set is infinite, and cannot be drawn.
            Some(Column::Float(values)) => {
                self.note_values(table, quantity, values.iter().copied().map(|value| value.is_finite().then_some(value)));
            }
            Some(Column::Integer(values)) => self.note_values(table, quantity, values.iter().map(|&value| Some(value as f64))),
            _ => {}
        }
    }

    fn note_values(&mut self, table: &Table, quantity: usize, values: impl Iterator<Item = Option<f64>>) {
        let (groups, flows) = (words(table, "group").0, integers(table, "flow"));
        let Observations { first_flows, flow_places, series, .. } = self;
        let curves = &mut series[quantity];
        for (((&time, &group), &flow), value) in floats(table, "time_s").iter().zip(groups).zip(flows).zip(values) {
            if let (Some(value), Some(first)) = (value, first_flows.get(group as usize))
                && let Some(&place) = flow_places.get((first + flow as u32) as usize)
                && let Some(curve) = curves.get_mut(place as usize)
            {
                curve.note(time, value);
            }
        }
    }

    fn note_queues(&mut self, table: &Table) {
        let (times, units) = (floats(table, "time_s"), integers(table, "queue_units"));
        let Observations { port_places, series, .. } = self;
        let curves = &mut series[QUEUE];
        // The words are all ports, in order.
        for ((&time, &port), &units) in times.iter().zip(words(table, "queue").0).zip(units) {
            if let Some(&place) = port_places.get(port as usize)
                && let Some(curve) = curves.get_mut(place as usize)
            {
                curve.note(time, units as f64);
            }
        }
    }

    fn note_drops(&mut self, table: &Table) {
        let (times, segments) = (floats(table, "time_s"), integers(table, "segment"));
        let transmissions = integers(table, "transmission");
        let rows = count(table);
        // The lab explains losses of data.
        for row in (0..rows).filter(|&row| word(words(table, "kind"), row) == "data") {
            let (reason, queue) = (word(words(table, "reason"), row), word(words(table, "queue"), row));
            let bin = (times[row] / self.duration_s * BINS as f64) as u64;
            let Some(number) = DropReason::ALL.iter().position(|known| known.name() == reason) else {
                unreachable!("the table of drops has the reason `{reason}`")
            };
            self.lost.entry(bin).or_default()[number] += 1;
            self.changed.push(bin);
            let flow = self.flow(table, row);
            if let Some(flow) = flow {
                *self.lost_of_flows.entry(flow).or_default() += 1;
            }
            let span = (times[row] / self.duration_s * MARKS) as u64;
            let is_first = span >= self.spans;
            // Further rows would be dropped anyway.
            if !is_first && row + MAX_REPORTED < rows {
                continue;
            }
            self.spans = self.spans.max(span + 1);
            let port = words(table, "queue").0[row];
            let list = if is_first { &mut self.first_drops } else { &mut self.drops };
            list.push(json!({
                "time_s": times[row], "queue": queue, "port": port, "flow": flow, "reason": reason,
                "group": word(words(table, "group"), row), "index": integers(table, "flow").get(row),
                "segment": segments[row], "transmission": transmissions[row],
            }));
        }
        self.changed.dedup();
        cut(&mut self.drops);
    }

    fn note_states(&mut self, table: &Table) {
        for row in 0..count(table) {
            let state = word(words(table, "state"), row);
            self.states.push(json!({"time_s": floats(table, "time_s")[row], "flow": self.flow(table, row), "state": state}));
        }
        cut(&mut self.states);
    }

    /// Completed bins.
    fn note_goodput(&mut self, table: &Table, now_s: f64) {
        let (times, rates) = (floats(table, "time_s"), floats(table, "throughput_bps"));
        let width = self.observed.bin.seconds();
        for row in 0..times.len() {
            let Some(flow) = self.flow(table, row) else { continue };
            let place = self.flow_places.get(flow as usize).copied().unwrap_or(NOWHERE) as usize;
            let Some(until) = self.goodput_until.get_mut(place) else { continue };
            let end = times[row] + width;
            if times[row] > *until && (end <= now_s || now_s >= self.duration_s) {
                *until = times[row];
                // It is the mean over the bin, and is drawn at its middle.
                self.series[GOODPUT][place].note(times[row] + width / 2.0, rates[row]);
            }
        }
    }

    /// The last value of a flow, or of a port.
    pub(super) fn last(&self, quantity: &str, of: u32) -> Option<f64> {
        let quantity = QUANTITIES.iter().position(|known| *known == quantity)?;
        let places = if quantity == QUEUE { &self.port_places } else { &self.flow_places };
        self.series[quantity].get(*places.get(of as usize)? as usize)?.last()
    }

    /// New data since the last update; the points of curves are in `numbers`.
    pub(super) fn read(&mut self, numbers: &mut Vec<f64>) -> Map<String, Value> {
        let mut series = Map::new();
        for (quantity, curves) in self.series.iter_mut().enumerate() {
            for (place, curve) in curves.iter_mut().enumerate() {
                let of = if quantity == QUEUE { self.observed.ports[place].0 } else { self.observed.flows[place].0 };
                if let Some(read) = curve.read(numbers) {
                    series.insert(format!("{}:{of}", QUANTITIES[quantity]), read);
                }
            }
        }
        let mut drops = std::mem::take(&mut self.first_drops);
        drops.append(&mut self.drops);
        drops.sort_by(|one, other| time_of(one).total_cmp(&time_of(other)));
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let lost: Vec<Value> = changed.iter().map(|bin| json!([bin, self.lost.get(bin)])).collect();
        Map::from_iter([
            ("series".into(), Value::Object(series)),
            ("states".into(), Value::Array(std::mem::take(&mut self.states))),
            ("drops".into(), Value::Array(drops)),
            ("lost".into(), Value::Array(lost)),
        ])
    }
}

fn time_of(drop: &Value) -> f64 {
    drop["time_s"].as_f64().unwrap_or_default()
}

/// Keeps the most recent entries.
fn cut(reports: &mut Vec<Value>) {
    if reports.len() > MAX_REPORTED {
        reports.drain(..reports.len() - MAX_REPORTED);
    }
}

/// By index of a flow or port: its place among the observed ones.
fn places(of: impl Iterator<Item = u32>, all: usize) -> Vec<u32> {
    let mut places = vec![NOWHERE; all];
    (0..).zip(of).for_each(|(place, index)| places[index as usize] = place);
    places
}
