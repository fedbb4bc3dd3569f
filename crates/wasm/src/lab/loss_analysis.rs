//! Explains the loss of a packet and the sender's reaction, by a separate run up to the loss and several round trips beyond, with
//! the relevant traces.

use super::fault::Fault;
use super::observed_entities::{PreparedRun, RunSpec, instant, read};
use super::rows::{count, floats, integers, word, words};
use super::session::refuse_user_code;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::VecDeque;
use tailback_core::Engine;
use tailback_core::network::{Buffer, FlowId, Network, PortId, Trace, TraceKind};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::record::Table;

/// The loss to explain, as named in the trace of drops.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Loss {
    time_s: f64,
    port: PortId,
    flow: FlowId,
    segment: u64,
    transmission: u64,
}

/// Rows stored from before the loss.
const MAX_STORED: usize = 20_000;
/// Maximum number of steps of the sender that are reported.
const MAX_STEPS: usize = 60;

pub(super) struct LossAnalysis {
    engine: Engine,
    loss: Loss,
    at: Time,
    until: Time,
    port: PortSummary,
    /// Congestion windows before the loss.
    windows: VecDeque<(f64, f64)>,
    /// Sending time of the lost transmission, if seen.
    sent_s: Option<f64>,
    /// Occupancy of the queue: the last value before the loss.
    held: Option<u64>,
    reason: Option<String>,
    steps: Vec<Value>,
    /// State of the sender, and its start.
    state: Option<(f64, String)>,
    /// The segment that the receiver expects, and the number of duplicates received for it.
    expected: u64,
    duplicates: u64,
    has_begun: bool,
    resent: bool,
    repaired: bool,
}

struct PortSummary {
    name: String,
    policy: Option<String>,
    buffer: Option<u64>,
    unit: &'static str,
}

impl LossAnalysis {
    pub(super) fn new(of: &RunSpec, loss: Loss) -> Result<LossAnalysis, Fault> {
        let PreparedRun { mut network, .. } = read(of)?;
        let at = instant(loss.time_s)?;
        let (Some(flow), Some(port)) = (network.flows.get(loss.flow.index()), network.ports.get(loss.port.index())) else {
            return Err(Fault::of_page("no such flow or queue"));
        };
        let (buffer, unit) = match network.buffer_at(loss.port, at) {
            Buffer::Units(units) => (Some(units), "units"),
            Buffer::Bytes(bytes) => (Some(bytes), "bytes"),
            Buffer::Unlimited => (None, "units"),
        };
        let port = PortSummary { name: port.name.clone(), policy: port.policy.name().map(str::to_string), buffer, unit };
        // A timeout may take long, and may be repeated.
        let beyond = TimeDelta((network.base_rtt(flow).0.saturating_mul(30)).max(4_000_000_000_000));
        let until = (at + beyond).min(Time::ZERO + network.duration);
        network.record.traces = traces(&loss, &network);
        let engine = Engine::new(network);
        refuse_user_code(engine.failure())?;
        Ok(LossAnalysis {
            engine,
            loss,
            at,
            until,
            port,
            windows: VecDeque::new(),
            sent_s: None,
            held: None,
            reason: None,
            steps: Vec::new(),
            state: None,
            expected: 0,
            duplicates: 0,
            has_begun: false,
            resent: false,
            repaired: false,
        })
    }

    /// Advances by `events` events; returns the result once it is known.
    pub(super) fn advance(&mut self, events: u64) -> Value {
        let end = self.engine.run_for(self.until, events);
        let tables = self.engine.take_traces();
        let mut rows: Vec<TimedEvent> = tables.iter().flat_map(|table| self.rows(table)).collect();
        // At one instant: first the acknowledgement, then the sender's reaction.
        rows.sort_by(|one, other| one.0.total_cmp(&other.0).then_with(|| one.1.rank().cmp(&other.1.rank())));
        for (time_s, what) in rows {
            self.note(time_s, what);
        }
        if end || self.repaired || self.steps.len() >= MAX_STEPS {
            return self.answer();
        }
        json!({"done": false, "share": self.engine.now().seconds() / self.until.seconds().max(1e-12)})
    }

    fn answer(&self) -> Value {
        let before = self.sent_s.and_then(|sent| self.windows.iter().rev().find(|window| window.0 <= sent));
        json!({
            "done": true,
            "queue": self.port.name,
            "policy": self.port.policy,
            "buffer": self.port.buffer,
            "unit": self.port.unit,
            "reason": self.reason,
            "held": self.held,
            "time_s": self.loss.time_s,
            "segment": self.loss.segment,
            "transmission": self.loss.transmission,
            "sent_s": self.sent_s,
            "window_when_sent": before.map(|window| window.1),
            "window_when_lost": self.windows.iter().rev().find(|window| window.0 <= self.loss.time_s).map(|window| window.1),
            "after": self.steps,
            "repaired": self.repaired,
        })
    }

    fn rows(&self, table: &Table) -> Vec<TimedEvent> {
        let times = floats(table, "time_s");
        let row = |row: usize| -> Option<TimedEvent> {
            let what = match table.name.as_str() {
                "cwnd" => TraceEvent::Cwnd(floats(table, "cwnd_packets")[row]),
                "ssthresh" => TraceEvent::Ssthresh(floats(table, "ssthresh_packets")[row]),
                "state" => TraceEvent::State(word(words(table, "state"), row).to_string()),
                "segments" => TraceEvent::SegmentSent(integers(table, "segment")[row], integers(table, "transmission")[row]),
                "acks" => TraceEvent::AckReceived(integers(table, "ack")[row], integers(table, "duplicate")[row] == 1),
                "queue" => TraceEvent::QueueLength(integers(table, "queue_units")[row]),
                "drops" => {
                    let is_it = integers(table, "segment")[row] == self.loss.segment
                        && integers(table, "transmission")[row] == self.loss.transmission
                        && times[row] == self.loss.time_s;
                    is_it.then(|| TraceEvent::Drop(word(words(table, "reason"), row).to_string()))?
                }
                _ => return None,
            };
            Some((times[row], what))
        };
        (0..count(table)).filter_map(row).collect()
    }

    fn note(&mut self, time_s: f64, what: TraceEvent) {
        let is_before = time_s < self.loss.time_s;
        if !is_before && !self.has_begun {
            self.has_begun = true;
            self.begin();
        }
        match what {
            TraceEvent::Cwnd(window) => {
                if !is_before && self.windows.back().is_some_and(|before| window < before.1) {
                    self.report(time_s, json!({"window": window, "before": self.windows.back().map(|before| before.1)}));
                }
                self.windows.push_back((time_s, window));
                if self.windows.len() > MAX_STORED {
                    self.windows.pop_front();
                }
            }
            TraceEvent::Ssthresh(threshold) if !is_before => self.report(time_s, json!({"ssthresh": threshold})),
            TraceEvent::State(state) => {
                if !is_before {
                    self.report(time_s, json!({"state": state}));
                }
                self.state = Some((time_s, state));
            }
            TraceEvent::SegmentSent(segment, transmission) if segment == self.loss.segment => {
                if transmission == self.loss.transmission {
                    self.sent_s = Some(time_s);
                } else if transmission > self.loss.transmission && !self.resent {
                    self.resent = true;
                    self.report(time_s, json!({"resent": transmission}));
                }
            }
            TraceEvent::AckReceived(ack, is_duplicate) => {
                self.duplicates = if ack == self.expected { self.duplicates } else { 0 } + u64::from(is_duplicate);
                self.expected = ack;
                if is_before {
                    return;
                }
                // The repair of an earlier loss no longer counts them.
                if is_duplicate && !self.resent && !self.is_repairing() && self.duplicates <= 3 {
                    self.report(time_s, json!({"duplicate": self.duplicates, "ack": ack}));
                }
                if ack > self.loss.segment && !self.repaired {
                    self.repaired = true;
                    self.report(time_s, json!({"acked": ack}));
                }
            }
            // At one instant, departures precede accepted arrivals, as far as there is space.
            TraceEvent::QueueLength(units) if time_s <= self.loss.time_s => self.held = Some(units),
            TraceEvent::Drop(reason) => self.reason = Some(reason),
            _ => {}
        }
    }

    /// The sender's state when the packet was lost, if it was repairing an earlier loss: it reduces its window once for both.
    fn begin(&mut self) {
        if let Some((since, state)) = self.state.clone().filter(|_| self.is_repairing()) {
            let at = self.loss.time_s;
            self.report(at, json!({"already": state, "since_s": at - since, "ack": self.expected}));
        }
    }

    fn is_repairing(&self) -> bool {
        self.state.as_ref().is_some_and(|(_, state)| state == "recovery" || state == "timeout")
    }

    fn report(&mut self, time_s: f64, what: Value) {
        if !self.repaired || what.get("acked").is_some() {
            self.steps.push(json!({"time_s": time_s, "after_s": time_s - self.at.seconds(), "what": what}));
        }
    }
}

type TimedEvent = (f64, TraceEvent);

enum TraceEvent {
    Cwnd(f64),
    Ssthresh(f64),
    State(String),
    /// Segment and transmission.
    SegmentSent(u64, u64),
    /// The next expected segment, and whether it is a duplicate.
    AckReceived(u64, bool),
    QueueLength(u64),
    Drop(String),
}

impl TraceEvent {
    fn rank(&self) -> u8 {
        match self {
            TraceEvent::AckReceived(..) => 0,
            TraceEvent::SegmentSent(..) => 2,
            _ => 1,
        }
    }
}

fn traces(loss: &Loss, network: &Network) -> Vec<Trace> {
    let kinds = [TraceKind::Cwnd, TraceKind::Ssthresh, TraceKind::State, TraceKind::Segments, TraceKind::Acks];
    let mut traces: Vec<Trace> = kinds.into_iter().map(|kind| Trace { kind, of: vec![loss.flow.0] }).collect();
    let port = loss.port.0.min(network.ports.len() as u32 - 1);
    traces.extend([TraceKind::Queue, TraceKind::Drops].map(|kind| Trace { kind, of: vec![port] }));
    traces
}
