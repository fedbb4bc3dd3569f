//! An interactive run: it advances on request, and reports new events.

use super::fault::Fault;
use super::observations::Observations;
use super::observed_entities::{DetailLevel, ObservedEntities, PreparedRun, RunSpec, instant, read};
use super::rows::{count, floats, integers, word, words};
use super::tables;
use crate::hashes::digest;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use tailback_core::network::{FlowId, Network, PortId};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::queue::DropReason;
use tailback_core::record::Table;
use tailback_core::user_code::Failure;
use tailback_core::{Engine, PacketInFlight, PacketLocation, Results};

/// Conditions for an automatic stop, at the instant after the first match.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Breakpoints {
    timeout: bool,
    loss: bool,
    /// A queue holds more than this number of units.
    queue_above: Option<u64>,
}

impl Breakpoints {
    fn are_set(&self) -> bool {
        self.timeout || self.loss || self.queue_above.is_some()
    }

    /// The first matching row, and its description. `held`: occupancy of each port before.
    fn first_hit(&self, tables: &[Table], held: impl Fn(u32) -> f64) -> Option<(f64, String)> {
        let of_table = |table: &Table| match table.name.as_str() {
            "state" if self.timeout => {
                let row = (0..count(table)).find(|&row| word(words(table, "state"), row) == "timeout")?;
                let (group, flow) = (word(words(table, "group"), row), integers(table, "flow")[row]);
                Some((floats(table, "time_s")[row], format!("a timeout of {group} {flow}")))
            }
            "drops" if self.loss => {
                let time = *floats(table, "time_s").first()?;
                let (queue, reason) = (word(words(table, "queue"), 0), word(words(table, "reason"), 0));
                Some((time, format!("a loss at {queue} ({reason})")))
            }
            "queue" => {
                let most = self.queue_above?;
                let (units, queues) = (integers(table, "queue_units"), words(table, "queue"));
                // The threshold is crossed from below. The words are all ports, in order.
                let mut before: HashMap<u32, f64> = HashMap::new();
                let row = (0..units.len()).find(|&row| {
                    let (port, now) = (queues.0[row], units[row] as f64);
                    let last = before.insert(port, now).unwrap_or_else(|| held(port));
                    now > most as f64 && last <= most as f64
                })?;
                Some((floats(table, "time_s")[row], format!("{} holds {}", word(words(table, "queue"), row), units[row])))
            }
            _ => None,
        };
        tables.iter().filter_map(of_table).min_by(|one, other| one.0.total_cmp(&other.0))
    }
}

/// Size of a step.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Event,
    /// Until a packet is sent.
    Packet,
    /// A round trip of the first flow.
    RoundTrip,
}

pub(super) struct Session {
    engine: Engine,
    /// For a scenario with traces of its own: the same run with these traces, for its results.
    measured: Option<Engine>,
    look: DetailLevel,
    observed: ObservedEntities,
    observations: Observations,
    network: Network,
    content_hash: String,
    seed: u64,
    end: Time,
}

impl Session {
    pub(super) fn new(of: &RunSpec, look: DetailLevel) -> Result<Session, Fault> {
        let PreparedRun { scenario, mut network } = read(of)?;
        let measured = (!network.record.traces.is_empty()).then(|| Engine::new(network.clone()));
        network.stepped = look == DetailLevel::Packets;
        let observed = ObservedEntities::of(&network, of.follow);
        network.record.traces = observed.traces(&network, look);
        let engine = Engine::new(network.clone());
        refuse_user_code(engine.failure())?;
        let end = Time::ZERO + network.duration;
        Ok(Session {
            engine,
            measured,
            look,
            observations: Observations::new(&network, &observed),
            observed,
            network,
            content_hash: scenario.content_hash(""),
            seed: of.seed,
            end,
        })
    }

    pub(super) fn opened(&self) -> Value {
        json!({
            "duration_s": self.end.seconds(),
            "flows": self.observed.flows,
            "ports": self.observed.ports,
            "bin_s": self.observed.bin.seconds(),
            "close": self.look == DetailLevel::Packets,
        })
    }

    /// Runs on. A match of `breaks` stops it immediately.
    pub(super) fn advance(&mut self, until_s: f64, events: u64, breaks: &Breakpoints) -> Result<Value, Fault> {
        let until = instant(until_s)?;
        let before = breaks.are_set().then(|| self.engine.clone());
        self.engine.run_for(until, events);
        let mut tables = self.engine.take_traces();
        let mut hit = None;
        if let Some(before) = before
            && let Some((time_s, what)) = breaks.first_hit(&tables, |port| self.observations.last("queue", port).unwrap_or(0.0))
        {
            self.engine = before;
            // Includes all events at that instant.
            self.engine.run_until(instant(time_s)? + TimeDelta(1));
            tables = self.engine.take_traces();
            hit = Some(what);
        }
        self.take_in(&tables);
        Ok(json!({"now_s": self.engine.now().seconds(), "done": self.is_done(), "hit": hit}))
    }

    pub(super) fn step(&mut self, step: Step) -> Result<Value, Fault> {
        match step {
            Step::Event => {
                self.engine.run_for(self.end, 1);
            }
            Step::Packet => {
                let sent = self.sent();
                // A flow may be idle for long: limits the number of events.
                for _ in 0..100_000 {
                    if self.engine.run_for(self.end, 1) || self.sent() != sent {
                        break;
                    }
                }
            }
            Step::RoundTrip => {
                let first = self.observed.flows.first().map(|&flow| &self.network.flows[flow]);
                let rtt = first.map_or(TimeDelta(1), |flow| self.network.base_rtt(flow));
                self.engine.run_until(self.engine.now() + TimeDelta(rtt.0.max(1)));
            }
        }
        let tables = self.engine.take_traces();
        self.take_in(&tables);
        Ok(json!({"now_s": self.engine.now().seconds(), "done": self.is_done(), "hit": null}))
    }

    fn sent(&self) -> u64 {
        self.observed.flows.iter().map(|&flow| u64::from(self.engine.sent_so_far(flow))).sum()
    }

    fn take_in(&mut self, tables: &[Table]) {
        self.observations.note(tables, self.engine.now().seconds());
        if let Some(measured) = &mut self.measured {
            measured.run_until(self.engine.now());
        }
    }

    fn is_done(&self) -> bool {
        self.engine.now() >= self.end
    }

    /// New data, and the current state; the points of curves are in `numbers`. `packets`: maximum number of packets in flight to
    /// report.
    pub(super) fn read(&mut self, packets: usize, numbers: &mut Vec<f64>) -> Value {
        let mut answer = self.observations.read(numbers);
        answer.insert("now_s".into(), json!(self.engine.now().seconds()));
        answer.insert("events".into(), json!(self.engine.events()));
        answer.insert("done".into(), json!(self.is_done()));
        answer.insert("flows".into(), self.observed.flows.iter().map(|&flow| self.flow(flow)).collect());
        answer.insert("ports".into(), self.observed.ports.iter().map(|&port| self.port(port)).collect());
        if self.look == DetailLevel::Packets && packets > 0 {
            answer.insert("packets".into(), self.packets(packets));
        }
        Value::Object(answer)
    }

    fn flow(&self, flow: FlowId) -> Value {
        let state = self.engine.sender_state(flow);
        // A sender may have been computed further ahead than is shown; traces have not.
        let now_or_traced = |now: Option<f64>, quantity| match self.look {
            DetailLevel::Packets => now,
            DetailLevel::Ports => self.observations.last(quantity, flow.0),
        };
        json!({
            "flow": flow,
            "cwnd": now_or_traced(state.map(|state| state.cwnd), "cwnd"),
            "ssthresh": now_or_traced(state.map(|state| state.ssthresh), "ssthresh").filter(|value| *value < 1e9),
            "in_flight": now_or_traced(state.map(|state| f64::from(state.in_flight.0)), "in_flight"),
            "rtt_s": self.observations.last("rtt", flow.0),
            "goodput_bps": self.observations.last("goodput", flow.0),
            "sent": self.engine.sent_so_far(flow),
            "lost": self.observations.lost_of_flows.get(&flow.0).copied().unwrap_or(0),
            "timer_s": state.and_then(|state| state.timer).map(Time::seconds),
        })
    }

    fn port(&self, port: PortId) -> Value {
        let counts = self.engine.port_state(port);
        let described = self.network.ports.get(port.index());
        let capacity = described.map_or(0, |port| port.rate.0.saturating_mul(port.transmitters.into())) as f64;
        let sent = counts.map_or(0.0, |counts| counts.departed_bytes.0 as f64 * 8.0);
        let discarded: Map<String, Value> = counts.map_or_else(Map::new, |counts| {
            let of = DropReason::ALL.into_iter().zip(counts.discarded).filter(|(_, units)| units.0 > 0);
            of.map(|(reason, units)| (reason.name().into(), json!(units.0))).collect()
        });
        let queue = self.observations.last("queue", port.0).unwrap_or(0.0);
        json!({
            "port": port,
            "queue": queue,
            "departed": counts.map(|counts| counts.departed.0),
            "departed_bits": sent,
            "marked": counts.map(|counts| counts.marked.0),
            "discarded": discarded,
            "utilisation": (sent / (capacity * self.engine.now().seconds()).max(1.0)).min(1.0),
        })
    }

    /// Six numbers per packet: flow, kind (1 acknowledgement, 2 retransmission, 4 marked), location (0 from its end, 1 waiting, 2
    /// in transmission, 3 after a port, 4 to its end), port, position (fraction of the way, or places from the head of the
    /// queue), segment.
    fn packets(&self, most: usize) -> Value {
        let mut count = 0;
        self.engine.for_each_packet(|_| count += 1);
        // Every n-th packet if there are more than can be drawn.
        let every = count / most.max(1) + 1;
        let (mut place, mut numbers) = (0, Vec::new());
        let now = self.engine.now();
        self.engine.for_each_packet(|seen| {
            if place % every == 0 {
                let (at, port, far) = position(&seen, now);
                let kind = u8::from(seen.is_ack) + 2 * u8::from(seen.is_retransmission) + 4 * u8::from(seen.is_marked);
                numbers.extend([json!(seen.flow), json!(kind), json!(at), json!(port), json!(far), json!(seen.segment)]);
            }
            place += 1;
        });
        json!({"of": count, "numbers": numbers})
    }

    /// All tables up to now, as in the command line, and the data that make them comparable.
    pub(super) fn results(&mut self) -> Result<Value, Fault> {
        let mut results = match &self.measured {
            Some(measured) => self.results_of(measured)?,
            None => Results { traces: Vec::new(), ..self.results_of(&self.engine)? },
        };
        results.events = self.engine.events();
        Ok(json!({
            "tables": results.tables().map(tables::table).collect::<Vec<_>>(),
            "hash": digest(&results.bytes()),
            "scenario": self.content_hash,
            "complete": results.complete,
            "simulated_s": results.simulated_s,
            "events": results.events,
        }))
    }

    fn results_of(&self, engine: &Engine) -> Result<Results, Fault> {
        engine.results().map_err(|error| {
            let (scenario, seed) = (&self.content_hash, self.seed);
            Fault { is_bug: true, ..Fault::whole(&format!("{error}, scenario {scenario}, seed {seed}"), None, None) }
        })
    }
}

/// A page has only the core, without user code.
pub(super) fn refuse_user_code(failure: Option<Failure>) -> Result<(), Fault> {
    failure.map_or(Ok(()), |failure| Err(Fault::whole(&failure.to_string(), None, None)))
}

fn position(seen: &PacketInFlight, now: Time) -> (u8, u32, f64) {
    let far = || if seen.delay.0 == 0 { 1.0 } else { (1.0 - seen.time.since(now).seconds() / seen.delay.seconds()).max(0.0) };
    // A thousandth of a link is less than a pixel.
    let far = || (far() * 1000.0).round() / 1000.0;
    match seen.place {
        PacketLocation::SourceAccess => (0, 0, far()),
        PacketLocation::Queued(port, behind) => (1, port.0, behind.into()),
        PacketLocation::InService(port) => (2, port.0, 0.0),
        PacketLocation::OnLink(port) => (3, port.0, far()),
        PacketLocation::DestinationAccess => (4, 0, far()),
    }
}
