//! The first event at which two runs differ: both run in parallel, and the actions of their senders and queues are compared row
//! by row.

use super::state::Engine;
use super::user_code_factory::{Code, NoUserCode};
use crate::network::{Network, Trace, TraceKind};
use crate::primitives::units::Time;
use crate::record::{Column, Table};
use crate::user_code::Failure;

/// Number of flows and queues that are compared, in order; with more, a difference would be detected slightly later at another
/// one.
const MAX: u32 = 64;

/// Two runs that advance in parallel until the end of the shorter one, or until they differ.
pub struct EventComparison {
    left: Engine,
    right: Engine,
    until: Time,
    state: ComparisonState,
}

/// Progress of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub enum ComparisonState {
    /// The runs are equal up to this share of the shorter one.
    EqualSoFar(f64),
    /// The runs are equal up to the end of the shorter one.
    Equal,
    /// The first event of each run that the other does not have; none if that run has no further events.
    Different(Option<RunEvent>, Option<RunEvent>),
}

/// An event, described in words.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEvent {
    /// In seconds.
    pub time_s: f64,
    pub what: String,
}

impl EventComparison {
    /// Prepare both runs. Their recordings are replaced. Networks with user code need [`EventComparison::with_code`].
    pub fn new(networks: [Network; 2]) -> EventComparison {
        EventComparison::with_code(networks, &NoUserCode)
    }

    /// Prepare both runs with user code, as [`Engine::with_code`].
    pub fn with_code(networks: [Network; 2], code: &dyn Code) -> EventComparison {
        let [left, right] = networks.map(|mut network| {
            network.record.traces = traces(&network);
            let end = Time::ZERO + network.duration;
            (Engine::with_code(network, code), end)
        });
        let until = left.1.min(right.1);
        EventComparison { left: left.0, right: right.0, until, state: ComparisonState::EqualSoFar(0.0) }
    }

    /// The failure of user code in one of the runs, if any.
    pub fn failure(&self) -> Option<Failure> {
        self.left.failure().or_else(|| self.right.failure())
    }

    /// Advance by `events` events, unless the result is known.
    pub fn advance(&mut self, events: u64) -> &ComparisonState {
        if matches!(self.state, ComparisonState::EqualSoFar(_)) {
            let at_end = self.left.run_for(self.until, events);
            // Traces end at the time that an engine has reached, so that both have the same period.
            self.right.run_until(self.left.now());
            let (mut left, mut right) = (rows(&mut self.left), rows(&mut self.right));
            self.state = match (0..left.len().max(right.len())).find(|&place| left.get(place) != right.get(place)) {
                Some(place) => {
                    let event = |rows: &mut Vec<RunEvent>| (place < rows.len()).then(|| rows.swap_remove(place));
                    ComparisonState::Different(event(&mut left), event(&mut right))
                }
                None if at_end => ComparisonState::Equal,
                None => ComparisonState::EqualSoFar(self.left.now().seconds() / self.until.seconds().max(1e-12)),
            };
        }
        &self.state
    }
}

fn rows(engine: &mut Engine) -> Vec<RunEvent> {
    let mut rows: Vec<RunEvent> = engine.take_traces().iter().flat_map(rows_of).collect();
    // Events at one instant are ordered by their text, so that both engines agree.
    rows.sort_by(|one, other| one.time_s.total_cmp(&other.time_s).then_with(|| one.what.cmp(&other.what)));
    rows
}

fn rows_of(table: &Table) -> Vec<RunEvent> {
    let times = floats(table, "time_s");
    let flow = |row: usize| format!("{} {}", word(table, "group", row), integers(table, "flow")[row]);
    let what = |row: usize| match table.name.as_str() {
        "segments" => {
            let again = if integers(table, "transmission")[row] > 1 { " again" } else { "" };
            format!("{} sends segment {}{again}", flow(row), integers(table, "segment")[row])
        }
        "acks" => format!("{} receives an acknowledgement of everything before {}", flow(row), integers(table, "ack")[row]),
        "cwnd" => format!("{} has a window of {}", flow(row), floats(table, "cwnd_packets")[row]),
        "queue" => format!("{} holds {}", word(table, "queue", row), integers(table, "queue_units")[row]),
        _ => {
            let (queue, reason) = (word(table, "queue", row), word(table, "reason", row));
            format!("{queue} discards segment {} of {} ({reason})", integers(table, "segment")[row], flow(row))
        }
    };
    times.iter().enumerate().map(|(row, &time_s)| RunEvent { time_s, what: what(row) }).collect()
}

fn traces(network: &Network) -> Vec<Trace> {
    let flows = || (0..network.flows.len() as u32).take(MAX as usize).collect::<Vec<u32>>();
    let ports = || (0..network.ports.len() as u32).take(MAX as usize).collect::<Vec<u32>>();
    let of_flows = [TraceKind::Segments, TraceKind::Acks, TraceKind::Cwnd].map(|kind| Trace { kind, of: flows() });
    let of_ports = [TraceKind::Queue, TraceKind::Drops].map(|kind| Trace { kind, of: ports() });
    of_flows.into_iter().chain(of_ports).collect()
}

fn integers<'a>(table: &'a Table, name: &str) -> &'a [u64] {
    if let Some(Column::Integer(values)) = table.column(name) { values } else { &[] }
}

fn floats<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    if let Some(Column::Float(values)) = table.column(name) { values } else { &[] }
}

fn word<'a>(table: &'a Table, name: &str, row: usize) -> &'a str {
    let Some(Column::Word(values, words)) = table.column(name) else { return "" };
    values.get(row).and_then(|&value| words.get(value as usize)).map_or("", String::as_str)
}
