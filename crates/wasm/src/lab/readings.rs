//! What the page has not read yet: curves, changes of state, losses.

use super::rows::{count, floats, integers, word, words};
use super::series::Series;
use super::watched::{BINS, Followed};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use tailback_core::network::Network;
use tailback_core::queue::Reason;
use tailback_core::record::Table;

/// Losses and changes of state that are told one by one between two readings; of more, the last ones.
const TOLD: usize = 400;

#[derive(Clone, Debug)]
pub(super) struct Readings {
    duration_s: f64,
    /// Of a flow, by the name of its group and its number there.
    flows: HashMap<(String, u64), u32>,
    ports: HashMap<String, u32>,
    /// By quantity and flow or port.
    series: BTreeMap<(&'static str, u32), Series>,
    states: Vec<Value>,
    drops: Vec<Value>,
    /// By bin of time and reason; and which bins have changed.
    lost: BTreeMap<u64, [u64; Reason::ALL.len()]>,
    changed: Vec<u64>,
    /// By flow, while the run lasts.
    pub(super) lost_of_flows: HashMap<u32, u64>,
    goodput_until: HashMap<u32, f64>,
}

/// Traces that become curves: table, column, and what the page calls them.
const CURVES: [(&str, &str, &str); 4] = [
    ("cwnd", "cwnd_packets", "cwnd"),
    ("ssthresh", "ssthresh_packets", "ssthresh"),
    ("rtt", "rtt_s", "rtt"),
    ("in_flight", "in_flight_packets", "in_flight"),
];

impl Readings {
    pub(super) fn new(network: &Network) -> Readings {
        let mut counted = vec![0u64; network.groups.len()];
        let flows = (0..).zip(&network.flows).map(|(index, flow)| {
            let group = flow.group as usize;
            counted[group] += 1;
            ((network.groups[group].name.clone(), counted[group] - 1), index)
        });
        Readings {
            duration_s: network.duration.seconds(),
            flows: flows.collect(),
            ports: (0..).zip(&network.ports).map(|(index, port)| (port.name.clone(), index)).collect(),
            series: BTreeMap::new(),
            states: Vec::new(),
            drops: Vec::new(),
            lost: BTreeMap::new(),
            changed: Vec::new(),
            lost_of_flows: HashMap::new(),
            goodput_until: HashMap::new(),
        }
    }

    /// Take in what has been traced.
    pub(super) fn note(&mut self, tables: &[Table], followed: &Followed, now_s: f64) {
        for table in tables {
            match table.name.as_str() {
                "queue" => self.note_queues(table),
                "drops" => self.note_drops(table),
                "state" => self.note_states(table),
                "throughput" => self.note_goodput(table, followed, now_s),
                name => {
                    if let Some(&(_, column, quantity)) = CURVES.iter().find(|curve| curve.0 == name) {
                        self.note_curve(table, column, quantity);
                    }
                }
            }
        }
    }

    fn flow(&self, table: &Table, row: usize) -> Option<u32> {
        let group = word(words(table, "group"), row).to_string();
        self.flows.get(&(group, *integers(table, "flow").get(row)?)).copied()
    }

    fn curve(&mut self, quantity: &'static str, of: u32) -> &mut Series {
        let duration = self.duration_s;
        self.series.entry((quantity, of)).or_insert_with(|| Series::new(duration))
    }

    fn note_curve(&mut self, table: &Table, column: &str, quantity: &'static str) {
        let (times, values, whole) = (floats(table, "time_s"), floats(table, column), integers(table, column));
        let (groups, flows) = (words(table, "group").0, integers(table, "flow"));
        let mut known: Option<((u32, u64), u32)> = None;
        for row in 0..times.len() {
            let name = (groups[row], flows[row]);
            let flow = match known {
                Some((before, flow)) if before == name => flow,
                _ => {
                    let Some(flow) = self.flow(table, row) else { continue };
                    known = Some((name, flow));
                    flow
                }
            };
            let value = values.get(row).copied().unwrap_or_else(|| whole[row] as f64);
            self.curve(quantity, flow).note(times[row], value);
        }
    }

    fn note_queues(&mut self, table: &Table) {
        let (times, units, names) = (floats(table, "time_s"), integers(table, "queue_units"), words(table, "queue"));
        // The words are all ports, in their order.
        let ports: Vec<Option<u32>> = names.1.iter().map(|name| self.ports.get(name).copied()).collect();
        for row in 0..times.len() {
            if let Some(port) = ports[names.0[row] as usize] {
                self.curve("queue", port).note(times[row], units[row] as f64);
            }
        }
    }

    fn note_drops(&mut self, table: &Table) {
        let (times, segments) = (floats(table, "time_s"), integers(table, "segment"));
        let transmissions = integers(table, "transmission");
        for row in 0..count(table) {
            let (reason, queue) = (word(words(table, "reason"), row), word(words(table, "queue"), row));
            let bin = (times[row] / self.duration_s * BINS as f64) as u64;
            let number = Reason::ALL.iter().position(|known| known.name() == reason).unwrap_or_default();
            self.lost.entry(bin).or_default()[number] += 1;
            self.changed.push(bin);
            let flow = self.flow(table, row);
            if let Some(flow) = flow {
                *self.lost_of_flows.entry(flow).or_default() += 1;
            }
            // What the queue held, where it is followed.
            let port = self.ports.get(queue).copied();
            self.drops.push(json!({
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

    /// Bins that are over.
    fn note_goodput(&mut self, table: &Table, followed: &Followed, now_s: f64) {
        let (times, rates) = (floats(table, "time_s"), floats(table, "throughput_bps"));
        let width = followed.bin.seconds();
        for row in 0..times.len() {
            let Some(flow) = self.flow(table, row) else { continue };
            let until = self.goodput_until.get(&flow).copied().unwrap_or(-1.0);
            let end = times[row] + width;
            if times[row] > until && (end <= now_s || now_s >= self.duration_s) {
                self.goodput_until.insert(flow, times[row]);
                // It is the mean over the bin, so it stands in its middle.
                self.curve("goodput", flow).note(times[row] + width / 2.0, rates[row]);
            }
        }
    }

    pub(super) fn last(&self, quantity: &'static str, of: u32) -> Option<f64> {
        self.series.get(&(quantity, of)).and_then(|series| series.last)
    }

    /// What is new since the last reading.
    pub(super) fn read(&mut self) -> Map<String, Value> {
        let series: Map<String, Value> = self
            .series
            .iter_mut()
            .filter_map(|((quantity, of), series)| Some((format!("{quantity}:{of}"), series.read()?)))
            .collect();
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let lost: Vec<Value> = changed.iter().map(|bin| json!([bin, self.lost.get(bin)])).collect();
        Map::from_iter([
            ("series".into(), Value::Object(series)),
            ("states".into(), Value::Array(std::mem::take(&mut self.states))),
            ("drops".into(), Value::Array(std::mem::take(&mut self.drops))),
            ("lost".into(), Value::Array(lost)),
        ])
    }
}

/// Keep the last ones.
fn cut(told: &mut Vec<Value>) {
    if told.len() > TOLD {
        told.drain(..told.len() - TOLD);
    }
}
