//! The lab as used by the page: requests in JSON, with the same results as an uninterrupted run.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use serde_json::{Value, json};
use tailback_core::network::{Network, PortId};
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_core::queue::DropReason;
use tailback_core::record::{Column, Table};
use tailback_core::{Engine, PacketLocation};
use tailback_scenario::Scenario;
use tailback_wasm::hashes;
use tailback_wasm::lab::Lab;

/// Two flows fill a small buffer; all traces except packets are recorded.
const TWO: &str = r#"
duration = "4 s"
seed = 1
[topology]
dumbbell = {rate = "4 Mbps", delay = "10 ms", queue = {buffer = "8 packets"}}
[flows.near]
from = "left"
to = "right"
propagation_rtt = "40 ms"
jitter = "1 ms"
tcp = {preset = "newreno"}
[flows.far]
from = "left"
to = "right"
propagation_rtt = "90 ms"
jitter = "1 ms"
tcp = {preset = "sack"}
[record]
traces = ["cwnd", "ssthresh", "rtt", "in_flight", "segments", "acks", "state", "queue", "drops", "packets"]
"#;

/// A single flow, whose sender is computed ahead.
fn one() -> String {
    TWO.replace("[flows.far]", "[flows.gone]").split("[flows.gone]").next().unwrap_or_default().to_string()
        + "[record]\ntraces = [\"cwnd\", \"rtt\", \"queue\", \"drops\", \"segments\"]\n"
}

fn network(toml: &str) -> Network {
    Scenario::from_toml(toml, "").unwrap().build().unwrap()
}

fn ask(lab: &mut Lab, request: &Value) -> Value {
    lab.answer(request.to_string().as_bytes()).unwrap_or_else(|fault| panic!("{request}: {fault:?}"))
}

fn opened(lab: &mut Lab, toml: &str, close: bool) {
    ask(lab, &json!({"ask": "open", "name": "A", "scenario": {"toml": toml, "seed": 1}, "close": close}));
}

fn run(lab: &mut Lab, events: u64) -> Value {
    loop {
        let at = ask(lab, &json!({"ask": "advance", "name": "A", "until_s": 1e6, "events": events, "breaks": {}}));
        ask(lab, &json!({"ask": "read", "name": "A", "packets": 100}));
        if at["done"] == json!(true) {
            return ask(lab, &json!({"ask": "results", "name": "A"}));
        }
    }
}

#[test]
fn rows_taken_during_a_run_are_those_of_the_whole_run_each_once() {
    for (toml, stepped) in [(TWO.to_string(), false), (TWO.to_string(), true), (one(), false), (one(), true)] {
        let network = Network { stepped, ..network(&toml) };
        let end = Time::ZERO + network.duration;
        let mut whole = Engine::new(network.clone());
        whole.run_until(end);
        let expected = whole.results().unwrap().traces;
        let mut engine = Engine::new(network);
        let mut taken: Vec<Table> = Vec::new();
        // Slices of odd lengths, within instants and round trips.
        for slice in 1.. {
            engine.run_until(Time(slice * 7_654_321_000));
            engine.run_for(end, 3);
            for table in engine.take_traces() {
                match taken.iter_mut().find(|known| known.name == table.name) {
                    Some(known) => append(known, table),
                    None => taken.push(table),
                }
            }
            if engine.now() >= end {
                break;
            }
        }
        for (expected, taken) in expected.iter().zip(&taken) {
            // The fate of a packet may be known only after it was reported, and words are numbered in order of occurrence.
            if expected.name == "packets" {
                assert_eq!(expected.floats("segment"), taken.floats("segment"));
            } else {
                assert_eq!(expected, taken, "{}, stepped: {stepped}", expected.name);
            }
        }
        assert_eq!(expected.len(), taken.len());
    }
}

fn append(table: &mut Table, more: Table) {
    for ((_, column), (_, other)) in table.columns.iter_mut().zip(more.columns) {
        match (column, other) {
            (Column::Float(values), Column::Float(more)) => values.extend(more),
            (Column::Integer(values), Column::Integer(more)) => values.extend(more),
            (Column::Word(values, _), Column::Word(more, _)) => values.extend(more),
            (column, other) => panic!("{column:?} and {other:?}"),
        }
    }
}

#[test]
fn every_packet_in_flight_is_reported_once_at_its_location() {
    let network = Network { stepped: true, ..network(TWO) };
    let mut engine = Engine::new(network);
    for millis in 1..3000 {
        engine.run_until(Time::ZERO + TimeDelta::from_millis(millis));
        let (mut data, mut waiting) = (0, 0);
        engine.for_each_packet(|seen| {
            data += u64::from(!seen.is_ack);
            waiting += u64::from(matches!(seen.place, PacketLocation::Queued(PortId(0), _)));
            if matches!(seen.place, PacketLocation::OnLink(_) | PacketLocation::DestinationAccess) {
                assert!(seen.time >= engine.now() && seen.time.since(engine.now()) <= seen.delay, "{seen:?}");
            }
        });
        let results = engine.results().unwrap();
        let sum = |table: &Table, column: &str| table.floats(column).unwrap().iter().sum::<f64>() as u64;
        let arrived = sum(&results.flows, "delivered_packets") + sum(&results.flows, "spurious_retransmissions");
        let discarded = results.queues.floats("dropped_units").unwrap()[0] as u64;
        assert_eq!(data, sum(&results.flows, "sent_packets") - arrived - discarded, "at {millis} ms");
        let held = results.traces.iter().find(|table| table.name == "queue").and_then(|queue| queue.floats("queue_units"));
        assert_eq!(waiting, held.unwrap().last().map_or(0, |&held| held as u64), "at {millis} ms");
    }
}

#[test]
fn results_do_not_depend_on_slicing_or_level_of_detail() {
    let expected = hashes(TWO.as_bytes(), 1).unwrap()["results"].clone();
    for (close, events) in [(false, 100_000), (false, 17), (true, 100_000), (true, 91)] {
        let mut lab = Lab::default();
        opened(&mut lab, TWO, close);
        assert_eq!(run(&mut lab, events)["hash"], json!(expected), "{close} {events}");
    }
}

#[test]
fn a_break_stops_the_instant_after_its_condition() {
    let mut lab = Lab::default();
    for close in [false, true] {
        opened(&mut lab, TWO, close);
        let hit =
            ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 4, "events": 1_000_000, "breaks": {"loss": true}}));
        assert_eq!(hit["hit"], json!("a loss at bottleneck (full)"));
        let read = ask(&mut lab, &json!({"ask": "read", "name": "A", "packets": 0}));
        let times: Vec<f64> = read["drops"].as_array().unwrap().iter().filter_map(|drop| drop["time_s"].as_f64()).collect();
        assert!(!times.is_empty() && times.iter().all(|time| hit["now_s"].as_f64().unwrap() - time < 1e-9), "{hit} {times:?}");
        // The run itself is not affected.
        assert_eq!(run(&mut lab, 1000)["hash"], json!(hashes(TWO.as_bytes(), 1).unwrap()["results"]));
    }
}

#[test]
fn a_queue_threshold_stops_the_run_at_each_crossing() {
    let mut lab = Lab::default();
    opened(&mut lab, TWO, false);
    let mut hits = 0;
    loop {
        let at = ask(
            &mut lab,
            &json!({"ask": "advance", "name": "A", "until_s": 1e6, "events": 100_000, "breaks": {"queue_above": 6}}),
        );
        if at["done"] == json!(true) {
            break;
        }
        assert_eq!(at["hit"], json!("bottleneck holds 7"));
        hits += 1;
    }
    let whole = network(TWO);
    let mut engine = Engine::new(whole);
    engine.run_until(Time::ZERO + TimeDelta::from_millis(4000));
    let results = engine.results().unwrap();
    let queue = results.traces.iter().find(|table| table.name == "queue").unwrap().floats("queue_units").unwrap();
    assert_eq!(hits, queue.windows(2).filter(|pair| pair[0] <= 6.0 && pair[1] > 6.0).count());
}

#[test]
fn thresholds_are_tracked_per_queue() {
    // Both receive more than their rates, and only grow.
    let toml = r#"
        duration = "1 s"
        [topology]
        chain = {rates = ["4 Mbps", "1 Mbps"], delays = ["1 ms", "1 ms"], queue = {buffer = "unlimited"}}
        [flows.load]
        from = "n0"
        to = "n2"
        source = {kind = "constant", rate = "6 Mbps", packet_size = "1000 B"}
    "#;
    let mut lab = Lab::default();
    opened(&mut lab, toml, false);
    let mut hits = Vec::new();
    loop {
        let at =
            ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 1e6, "events": 7, "breaks": {"queue_above": 20}}));
        hits.extend(at["hit"].as_str().map(String::from));
        if at["done"] == json!(true) {
            break;
        }
    }
    hits.sort();
    let mut engine = Engine::new(network(&format!("{toml}\n[record]\ntraces = [\"queue\"]\n")));
    engine.run_until(Time::ZERO + TimeDelta::from_millis(1000));
    let trace = &engine.results().unwrap().traces[0];
    let crossings = |name: &str| {
        let rows = trace.words("queue").unwrap().into_iter().zip(trace.floats("queue_units").unwrap());
        let units: Vec<f64> = rows.filter(|(queue, _)| *queue == name).map(|(_, units)| units).collect();
        units.windows(2).filter(|pair| pair[0] <= 20.0 && pair[1] > 20.0).count()
    };
    let expected = |name: &str| vec![format!("{name} holds 21"); crossings(name)];
    assert!(crossings("link1") > 0 && crossings("link2") > 0);
    assert_eq!(hits, [expected("link1"), expected("link2")].concat());
}

#[test]
fn a_loss_is_explained_by_the_queue_and_the_senders_reaction() {
    let mut lab = Lab::default();
    opened(&mut lab, TWO, false);
    run(&mut lab, 1_000_000);
    opened(&mut lab, TWO, false);
    ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 4, "events": 1_000_000, "breaks": {"loss": true}}));
    let read = ask(&mut lab, &json!({"ask": "read", "name": "A", "packets": 0}));
    let drop = &read["drops"][0];
    let loss = json!({
        "time_s": drop["time_s"], "port": drop["port"], "flow": drop["flow"], "segment": drop["segment"],
        "transmission": drop["transmission"],
    });
    ask(&mut lab, &json!({"ask": "why", "name": "why", "scenario": {"toml": TWO, "seed": 1}, "loss": loss}));
    let answer = loop {
        let answer = ask(&mut lab, &json!({"ask": "advance_question", "name": "why", "events": 50}));
        if answer["done"] == json!(true) {
            break answer;
        }
    };
    assert_eq!((&answer["queue"], &answer["reason"], &answer["held"]), (&json!("bottleneck"), &json!("full"), &json!(8)));
    assert!(answer["sent_s"].as_f64() < drop["time_s"].as_f64(), "{answer}");
    let steps: Vec<&Value> = answer["after"].as_array().unwrap().iter().map(|step| &step["what"]).collect();
    let place = |key: &str| steps.iter().position(|step| step.get(key).is_some());
    assert!(place("resent").is_some() && place("resent") < place("acked"), "{answer}");
    // Three duplicates trigger the retransmission (RFC 5681 section 3.2).
    assert_eq!(steps.iter().filter(|step| step.get("duplicate").is_some()).count(), 3, "{answer}");
    assert_eq!(answer["repaired"], json!(true));
}

#[test]
fn a_loss_during_the_recovery_of_another_is_reported_as_such() {
    let mut lab = Lab::default();
    opened(&mut lab, TWO, false);
    ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 1000, "events": 10_000_000, "breaks": {}}));
    let drops = ask(&mut lab, &json!({"ask": "read", "name": "A", "packets": 0}))["drops"].as_array().unwrap().clone();
    let mut already = 0;
    for drop in &drops {
        let loss = json!({
            "time_s": drop["time_s"], "port": drop["port"], "flow": drop["flow"], "segment": drop["segment"],
            "transmission": drop["transmission"],
        });
        ask(&mut lab, &json!({"ask": "why", "name": "why", "scenario": {"toml": TWO, "seed": 1}, "loss": loss}));
        let answer = ask(&mut lab, &json!({"ask": "advance_question", "name": "why", "events": 10_000_000}));
        let steps: Vec<&Value> = answer["after"].as_array().unwrap().iter().map(|step| &step["what"]).collect();
        let is_first = |step: &&Value| step.get("already").is_some_and(|state| state == "recovery");
        if steps.first().is_some_and(is_first) {
            already += 1;
            // The third duplicate that started that recovery came earlier.
            let until_repaired = steps.iter().take_while(|step| step.get("state").is_none());
            assert_eq!(until_repaired.filter(|step| step.get("duplicate").is_some()).count(), 0, "{answer}");
            assert!(steps[0]["ack"].as_u64() <= drop["segment"].as_u64(), "{answer}");
        }
    }
    assert!(already > 0, "{drops:?}");
}

fn difference(left: &str, right: &str) -> Value {
    let mut lab = Lab::default();
    let of = |toml: &str| json!({"toml": toml, "seed": 1});
    ask(&mut lab, &json!({"ask": "difference", "name": "d", "left": of(left), "right": of(right)}));
    loop {
        let answer = ask(&mut lab, &json!({"ask": "advance_question", "name": "d", "events": 100}));
        if answer["done"] == json!(true) {
            return answer;
        }
    }
}

#[test]
fn two_runs_first_differ_where_a_smaller_buffer_is_full() {
    assert_eq!(difference(TWO, TWO)["same"], json!(true));
    let answer = difference(TWO, &TWO.replace("8 packets", "5 packets"));
    assert_eq!(answer["same"], json!(false));
    let event = |side: &str| answer[side]["what"].as_str().unwrap_or_default().to_string();
    assert!(event("left") == "bottleneck holds 6" || event("right").contains("bottleneck discards"), "{answer}");
}

#[test]
fn a_fork_is_the_same_run_up_to_its_change() {
    let mut lab = Lab::default();
    let change = json!({"at": "2 s", "link": "bottleneck", "rate": "2 Mbps"});
    let forked = ask(&mut lab, &json!({"ask": "change", "toml": TWO, "change": change}))["toml"].as_str().unwrap().to_string();
    let answer = difference(TWO, &forked);
    assert!((2.0..2.1).contains(&answer["time_s"].as_f64().unwrap()), "{answer}");
}

#[test]
fn scenario_errors_are_reported_as_everywhere_else() {
    let mut lab = Lab::default();
    let request = json!({"ask": "describe", "scenario": {"toml": TWO.replace("4 Mbps", "4 Mbits"), "seed": 1}});
    let fault = lab.answer(request.to_string().as_bytes()).unwrap_err();
    let problem = &fault.problems[0];
    assert_eq!(
        (problem.at.as_str(), problem.line(), problem.given.as_deref()),
        ("topology.dumbbell.rate", Some(5), Some("\"4 Mbits\""))
    );
    assert!(!fault.is_bug);
    // 400 Gbit/s times 9 s are 3 * 10^8 packets in flight.
    let huge = TWO
        .replace("8 packets", "unlimited")
        .replace("4 Mbps", "400 Gbps")
        .replace("90 ms", "9 s")
        .replace("[flows.far]", "[flows.far]\ncount = 3000");
    let request = json!({"ask": "open", "name": "A", "scenario": {"toml": huge, "seed": 1}, "close": false});
    let fault = lab.answer(request.to_string().as_bytes()).unwrap_err();
    assert_eq!(fault.problems[0].message, "the scenario needs more memory than the lab allows for a run");
}

#[test]
fn an_invalid_request_is_a_bug_of_the_page() {
    let mut lab = Lab::default();
    for request in ["", "{}", "[1]", r#"{"ask": "dance"}"#, r#"{"ask": "read", "name": "Z", "packets": 1}"#, "\u{0}"] {
        assert!(lab.answer(request.as_bytes()).unwrap_err().is_bug, "{request}");
    }
}

#[test]
fn every_experiment_with_a_scenario_can_be_opened() {
    let kept = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/lab/experiments.json")).unwrap();
    let experiments: Vec<Value> = serde_json::from_str(&kept).unwrap();
    let mut opened = 0;
    for toml in experiments.iter().filter_map(|experiment| experiment["toml"].as_str()) {
        let mut lab = Lab::default();
        let described = ask(&mut lab, &json!({"ask": "describe", "scenario": {"toml": toml, "seed": 1}}));
        ask(&mut lab, &json!({"ask": "open", "name": "A", "scenario": {"toml": toml, "seed": 1}, "close": false}));
        let at = ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 1e6, "events": 20000, "breaks": {}}));
        assert!(at["now_s"].as_f64() > Some(0.0), "{}", described["name"]);
        opened += 1;
    }
    assert!(opened > 50, "{opened}");
}

#[test]
fn flows_are_observed_from_the_requested_one_on() {
    let toml = TWO.replace("[flows.near]", "[flows.near]\ncount = 20");
    let mut lab = Lab::default();
    let of = |follow: u32| json!({"ask": "describe", "scenario": {"toml": toml, "seed": 1, "follow": follow}});
    assert_eq!(ask(&mut lab, &of(11))["observed"]["flows"], json!([11, 12, 13, 14, 15, 16, 17, 18]));
    assert_eq!(ask(&mut lab, &of(20))["observed"]["flows"], json!([20]));
    let beyond = lab.answer(of(21).to_string().as_bytes()).unwrap_err();
    assert_eq!(serde_json::to_value(&beyond).unwrap()["problems"][0]["expected"], json!("0 to 20"));
}

#[test]
fn each_part_of_a_run_with_thousands_of_losses_has_a_reported_loss() {
    let toml = TWO.replace("\"4 s\"", "\"40 s\"").replace("[flows.near]", "[flows.near]\ncount = 40");
    let mut engine = Engine::new(network(&toml));
    engine.run_until(Time::ZERO + TimeDelta::from_seconds(40.0));
    let results = engine.results().unwrap();
    let drops = results.traces.iter().find(|table| table.name == "drops").unwrap();
    let Some(Column::Float(all)) = drops.column("time_s") else { panic!("drops have times") };
    assert!(all.len() > 2000);
    let mut lab = Lab::default();
    opened(&mut lab, &toml, false);
    // Without an update in between, as when a run catches up.
    ask(&mut lab, &json!({"ask": "advance", "name": "A", "until_s": 40.0, "events": 100_000_000, "breaks": {}}));
    let read = ask(&mut lab, &json!({"ask": "read", "name": "A", "packets": 0}));
    let reported: Vec<f64> = read["drops"].as_array().unwrap().iter().filter_map(|drop| drop["time_s"].as_f64()).collect();
    assert!(reported.is_sorted());
    assert!(reported.len() < all.len());
    let parts =
        |times: &[f64]| times.iter().map(|time| (time / 40.0 * 2048.0) as u64).collect::<std::collections::BTreeSet<u64>>();
    assert_eq!(parts(&reported), parts(all));
}

#[test]
fn the_page_knows_the_reasons_of_drops_in_the_order_of_the_core() {
    let page = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../web/lab/answers.ts")).unwrap();
    let names = DropReason::ALL.map(|reason| format!("\"{}\"", reason.name())).join(", ");
    assert!(page.contains(&format!("REASONS = [{names}]")), "{names}");
}
