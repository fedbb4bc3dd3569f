//! The first event at which two runs differ: both run in parallel, and the actions of their senders and queues are compared row
//! by row.

use super::fault::Fault;
use super::observed_entities::{PreparedRun, RunSpec, read};
use super::rows::{count, floats, integers, word, words};
use super::session::refuse_user_code;
use serde_json::{Value, json};
use tailback_core::Engine;
use tailback_core::network::{Network, Trace, TraceKind};
use tailback_core::primitives::units::Time;
use tailback_core::record::Table;

/// Number of flows and queues that are compared, in order; with more, a difference would be detected slightly later at another
/// one.
const MAX: u32 = 64;

pub(super) struct Difference {
    left: Engine,
    right: Engine,
    until: Time,
    found: Option<Value>,
}

impl Difference {
    pub(super) fn new(left: &RunSpec, right: &RunSpec) -> Result<Difference, Fault> {
        let engine = |of: &RunSpec| -> Result<(Engine, Time), Fault> {
            let PreparedRun { mut network, .. } = read(of)?;
            network.record.traces = traces(&network);
            let end = Time::ZERO + network.duration;
            let engine = Engine::new(network);
            refuse_user_code(&engine)?;
            Ok((engine, end))
        };
        let ((left, left_end), (right, right_end)) = (engine(left)?, engine(right)?);
        Ok(Difference { left, right, until: left_end.min(right_end), found: None })
    }

    /// Advances by `events` events; returns the result once it is known.
    pub(super) fn advance(&mut self, events: u64) -> Value {
        if self.found.is_none() {
            let end = self.left.run_for(self.until, events);
            self.right.run_until(self.left.now());
            let rows = |engine: &mut Engine| {
                let mut rows: Vec<Row> = engine.take_traces().iter().flat_map(rows_of).collect();
                // Events at one instant are ordered by their text, so that both engines agree.
                rows.sort_by(|one, other| one.time_s.total_cmp(&other.time_s).then_with(|| one.what.cmp(&other.what)));
                rows
            };
            let (left, right) = (rows(&mut self.left), rows(&mut self.right));
            self.found = first(&left, &right).or_else(|| end.then(|| json!({"done": true, "same": true})));
        }
        let share = self.left.now().seconds() / self.until.seconds().max(1e-12);
        self.found.clone().unwrap_or_else(|| json!({"done": false, "share": share}))
    }
}

/// An event, described in words.
#[derive(Debug, PartialEq)]
struct Row {
    time_s: f64,
    what: String,
}

fn first(left: &[Row], right: &[Row]) -> Option<Value> {
    let place = (0..left.len().max(right.len())).find(|&place| left.get(place) != right.get(place))?;
    let (left, right) = (left.get(place), right.get(place));
    let time_s = left.into_iter().chain(right).map(|row| row.time_s).fold(f64::INFINITY, f64::min);
    let described = |row: Option<&Row>| row.map(|row| json!({"time_s": row.time_s, "what": row.what}));
    Some(json!({"done": true, "same": false, "time_s": time_s, "left": described(left), "right": described(right)}))
}

fn rows_of(table: &Table) -> Vec<Row> {
    let times = floats(table, "time_s");
    let flow = |row: usize| format!("{} {}", word(words(table, "group"), row), integers(table, "flow")[row]);
    let what = |row: usize| match table.name.as_str() {
        "segments" => {
            let again = if integers(table, "transmission")[row] > 1 { " again" } else { "" };
            format!("{} sends segment {}{again}", flow(row), integers(table, "segment")[row])
        }
        "acks" => format!("{} receives an acknowledgement of everything before {}", flow(row), integers(table, "ack")[row]),
        "cwnd" => format!("{} has a window of {}", flow(row), floats(table, "cwnd_packets")[row]),
        "queue" => format!("{} holds {}", word(words(table, "queue"), row), integers(table, "queue_units")[row]),
        _ => {
            let (queue, reason) = (word(words(table, "queue"), row), word(words(table, "reason"), row));
            format!("{queue} discards segment {} of {} ({reason})", integers(table, "segment")[row], flow(row))
        }
    };
    (0..count(table)).map(|row| Row { time_s: times[row], what: what(row) }).collect()
}

fn traces(network: &Network) -> Vec<Trace> {
    let flows = || (0..network.flows.len() as u32).take(MAX as usize).collect::<Vec<u32>>();
    let ports = || (0..network.ports.len() as u32).take(MAX as usize).collect::<Vec<u32>>();
    let of_flows = [TraceKind::Segments, TraceKind::Acks, TraceKind::Cwnd].map(|kind| Trace { kind, of: flows() });
    let of_ports = [TraceKind::Queue, TraceKind::Drops].map(|kind| Trace { kind, of: ports() });
    of_flows.into_iter().chain(of_ports).collect()
}
