//! Properties that every network must have, on random networks with fixed seeds. Each property has 400 networks of its own, or the number
//! in `TAILBACK_SOAK`, such as `TAILBACK_SOAK=1000000`.

#![allow(clippy::expect_used, clippy::panic, reason = "tests may panic")]

use crate::common::{
    TestRandom, dumbbell, first, flow, group, link, long_parking_lot, random_network, random_parking_lot, random_trunk, reno,
    tcp, with_access_as_ports,
};
use std::num::NonZeroUsize;
use tailback_core::network::{AccessLink, Buffer, Change, ChangeKind, Flow, Network, Port, PortId, Recording, Trace, Transport};
use tailback_core::primitives::units::{Rate, Segments, Time, TimeDelta};
use tailback_core::record::{Column, Table};
use tailback_core::tcp::{Recovery, TcpSpec, WindowValidation};
use tailback_core::{Engine, NotParallel, ParallelEngine, Results, trace_rows};

const SEEDS: u64 = 250;

/// Largest payload of a packet of a random network, in bytes.
const MAX_PAYLOAD: f64 = 5000.0;

/// Threads wait for one another, for a long time on a busy machine.
const SHARED_ONE_IN: usize = 4;

/// Different networks for each property find more errors than the same networks for all.
fn seeds(property: u64) -> std::ops::Range<u64> {
    let soak = std::env::var("TAILBACK_SOAK").ok().and_then(|count| count.parse().ok());
    soak.map_or(SEEDS * property..SEEDS * (property + 1), |count| 0..count)
}

fn run(network: &Network) -> Results {
    let mut engine = Engine::new(network.clone());
    engine.run_until(Time::NEVER);
    engine.results().unwrap_or_else(|violation| panic!("seed {}: {violation}", network.seed))
}

/// Every share is from 0 to 1, and no mean exceeds its maximum.
fn shares_and_means_are_possible(seed: u64, results: &Results) {
    for table in results.tables() {
        for share in ["loss_rate", "utilisation", "active_share", "fairness"] {
            for value in table.floats(share).unwrap_or_default() {
                assert!(value.is_nan() || (0.0..=1.0 + 1e-12).contains(&value), "seed {seed}: {share} {value} in {}", table.name);
            }
        }
        for (mean, max) in [("mean_queue_units", "max_queue_units"), ("mean_queue_cells", "max_queue_cells")] {
            let [means, maxima] = [mean, max].map(|column| table.floats(column).unwrap_or_default());
            for (mean, max) in means.iter().zip(&maxima) {
                assert!(mean <= &(max + 1e-9), "seed {seed}: a mean of {mean} and a maximum of {max} in {}", table.name);
            }
        }
    }
}

/// No traced queue exceeds its buffer, and the largest of its rows is the maximum of the table. An idle transmitter accepts a unit even if
/// the units in service fill the buffer.
fn traced_queues_fit_and_have_their_maxima(seed: u64, network: &Network, results: &Results) {
    let Some(trace) = results.traces.iter().find(|trace| trace.name == "queue") else { return };
    let column = |name: &str| trace.floats(name).expect("a column of numbers");
    let rows: Vec<(f64, f64)> = column("time_s").into_iter().zip(column("queue_units")).collect();
    let (of_ports, warmup) = (trace.words("queue").expect("a column of words"), network.warmup.seconds());
    let maxima = results.queues.floats("max_queue_units").expect("a column of numbers");
    for ((id, port), max) in PortId::enumerate(&network.ports).zip(maxima) {
        let own: Vec<(f64, f64)> =
            rows.iter().zip(&of_ports).filter(|(_, name)| **name == port.name).map(|(row, _)| *row).collect();
        let in_warmup = own.partition_point(|row| row.0 < warmup);
        let is_unchanged_at_warmup = own.get(in_warmup).is_none_or(|row| row.0 > warmup);
        let at_warmup = own[..in_warmup].last().filter(|_| is_unchanged_at_warmup);
        let largest = own[in_warmup..].iter().chain(at_warmup).map(|row| row.1).fold(0.0, f64::max);
        assert!(largest == max, "seed {seed}: {largest} in the trace of `{}`, {max} in the table", port.name);
        let is_constant = !network.changes.iter().any(|change| matches!(change.what, ChangeKind::Buffer(of, _) if of == id));
        if let (Buffer::Units(places), true) = (port.buffer, is_constant) {
            let idle = if port.counts_in_service { port.transmitters.into() } else { 0 };
            let fullest = own.iter().map(|row| row.1).fold(0.0, f64::max);
            assert!(fullest <= places.max(idle) as f64, "seed {seed}: {fullest} of {places} in the trace of `{}`", port.name);
        }
    }
}

/// No transfer is faster than the slowest link on its path. If the measurement interval begins in the middle of a flow, packets may be queued
/// behind the slowest link and one is partly transmitted, so that only the last link limits the goodput. Links that copy packets or follow
/// a trace have no such limit.
fn goodput_is_possible(seed: u64, network: &Network, results: &Results) {
    let column = |name: &str| results.flows.floats(name).expect("a column of numbers");
    let (goodputs, delivered) = (column("goodput_bps"), column("delivered_bytes"));
    let (starts, transfer_rates) = (column("start_s"), column("transfer_rate_bps"));
    let changes = |what: fn(&ChangeKind) -> bool| network.changes.iter().any(|change| what(&change.what));
    let delays_change = changes(|what| matches!(what, ChangeKind::Delay(..)));
    let rate = |port: PortId| {
        let changed = |change: &Change| match change.what {
            ChangeKind::Rate(other, rate) if other == port => Some(rate.0),
            _ => None,
        };
        let highest = network.changes.iter().filter_map(changed).fold(network.ports[port].rate.0, u64::max);
        (highest * u64::from(network.ports[port].transmitters)) as f64
    };
    for (index, flow) in network.flows.iter().enumerate() {
        let (goodput, transfer_rate) = (goodputs[index], transfer_rates[index]);
        assert!(goodput.is_finite(), "seed {seed}: a goodput of {goodput} of flow {index}");
        let path = &network.paths[flow.forward as usize];
        let is_limited = |port: &Port| port.varying.is_none() && port.impairments.duplication == 0.0;
        let is_rerouted = changes(|what| matches!(what, ChangeKind::Route(..)));
        if is_rerouted || !path.iter().all(|&port| is_limited(&network.ports[port])) {
            continue;
        }
        let access = |link: AccessLink| link.rate.map_or(f64::INFINITY, |rate| rate.0 as f64);
        let last = path.last().map_or(f64::INFINITY, |&port| rate(port)).min(access(flow.receiver_access));
        let slowest = path.iter().map(|&port| rate(port)).fold(last.min(access(flow.sender_access)), f64::min);
        let has_jitter = path.iter().any(|&port| network.ports[port].impairments.jitter.is_some());
        assert!(
            transfer_rate.is_nan() || transfer_rate <= slowest * (1.0 + 1e-9),
            "seed {seed}: {transfer_rate} of flow {index} over {slowest} bit/s"
        );
        if starts[index] >= network.warmup.seconds() {
            assert!(goodput <= slowest * (1.0 + 1e-9), "seed {seed}: {goodput} of flow {index} over {slowest} bit/s");
        } else if goodput > 0.0 && !has_jitter && !delays_change {
            let bits = 8.0 * delivered[index];
            let carried = last * bits / goodput + 8.0 * MAX_PAYLOAD;
            assert!(bits <= carried, "seed {seed}: {goodput} of flow {index} over {last} bit/s at the end");
        }
    }
}

fn same(seed: u64, what: &str, a: &Results, b: &Results) {
    for (left, right) in a.tables().zip(b.tables()) {
        assert!(
            left.bytes() == right.bytes(),
            "seed {seed}, {what}: table {} differs\n{}",
            left.name,
            first_difference(left, right)
        );
    }
}

fn first_difference(a: &Table, b: &Table) -> String {
    if a.rows() != b.rows() {
        return format!("{} rows against {}", a.rows(), b.rows());
    }
    for ((name, _), row) in a.columns.iter().flat_map(|column| (0..a.rows()).map(move |row| (column, row))) {
        let (x, y) = (a.floats(name), b.floats(name));
        if let (Some(x), Some(y)) = (x, y)
            && x[row].to_bits() != y[row].to_bits()
        {
            return format!("{name}[{row}]: {} against {}", x[row], y[row]);
        }
        if let (Some(x), Some(y)) = (a.words(name), b.words(name))
            && x[row] != y[row]
        {
            return format!("{name}[{row}]: {} against {}", x[row], y[row]);
        }
    }
    "in the lists of words".to_string()
}

#[test]
fn conserves_and_repeats() {
    // Number of networks with edges that received CI, and that held acknowledgements.
    let (mut congested, mut held) = (0, 0);
    for seed in seeds(0) {
        let network = random_network(seed);
        let results = run(&network);
        same(seed, "a second run", &results, &run(&network));
        for (trace, max) in results.traces.iter().zip(trace_rows(&network)) {
            assert!(trace.rows() as u64 <= max, "seed {seed}: {} rows in {}, {max} at most", trace.rows(), trace.name);
        }
        dropped_acknowledgements_are_counted_alike(seed, &network, &results);
        shares_and_means_are_possible(seed, &results);
        traced_queues_fit_and_have_their_maxima(seed, &network, &results);
        goodput_is_possible(seed, &network, &results);
        if let Some(edges) = &results.edges {
            let some = |column: &str| edges.floats(column).expect("a column of numbers").iter().any(|&count| count > 0.0);
            congested += u32::from(some("congested_rm_cells"));
            held += u32::from(some("held_acks"));
        }
    }
    assert!(congested > 2 && held > 4, "{congested} with CI, {held} that held acknowledgements");
}

/// Stopped flows leave long queues, which drain after the stop and after the warm-up.
#[test]
fn goodput_of_stopped_flows_is_possible() {
    let mut stopped = 0;
    for seed in seeds(7).step_by(4) {
        let mut network = random_network(seed);
        network.ports.iter_mut().for_each(|port| port.buffer = Buffer::Unlimited);
        let stop = Time(network.duration.0 / 5);
        for flow in network.flows.iter_mut().filter(|flow| flow.start < stop) {
            flow.stop = stop;
        }
        let results = run(&network);
        goodput_is_possible(seed, &network, &results);
        let goodputs = results.flows.floats("goodput_bps").expect("a column of numbers");
        stopped += goodputs.iter().zip(&network.flows).filter(|(goodput, flow)| **goodput > 0.0 && flow.stop == stop).count();
    }
    assert!(stopped > 100, "{stopped} were stopped");
}

/// Flows, groups, queues and the trace of drops. In cells, queues and the trace count each cell.
fn dropped_acknowledgements_are_counted_alike(seed: u64, network: &Network, results: &Results) {
    let sum = |table: &Table| table.floats("dropped_acks").expect("a column of numbers").iter().sum::<f64>();
    let (of_flows, of_queues) = (sum(&results.flows), sum(&results.queues));
    assert_eq!(of_flows, sum(&results.groups), "seed {seed}");
    if network.groups.iter().all(|group| group.framing.is_none()) {
        assert_eq!(of_flows, of_queues, "seed {seed}");
    }
    if let Some(drops) = results.traces.iter().find(|trace| trace.name == "drops") {
        let kinds = drops.words("kind").expect("a column of words").into_iter();
        let times = drops.floats("time_s").expect("a column of numbers");
        let warmup = network.warmup.seconds();
        let traced = kinds.zip(times).filter(|&(kind, time)| kind == "ack" && time >= warmup).count();
        assert_eq!(of_queues, traced as f64, "seed {seed}");
    }
}

#[test]
fn slices_and_snapshots_change_no_byte() {
    for seed in seeds(1) {
        let network = random_network(seed);
        let whole = run(&network);
        let mut dice = TestRandom::new(seed + (1 << 32));
        let mut engine = Engine::new(network.clone());
        for _ in 0..dice.pick(1, 6) {
            let until = Time(engine.now().0 + dice.pick(0, network.duration.0 / 2));
            if dice.chance(2) {
                // Stops anywhere within an instant.
                let (events, before) = (dice.pick(0, 2000), engine.events());
                let done = engine.run_for(until, events);
                assert!(engine.events() - before == events || done && engine.events() - before < events);
            } else {
                engine.run_until(until);
            }
            if dice.chance(2) {
                let bytes = postcard::to_stdvec(&engine).expect("an engine is plain data");
                engine = postcard::from_bytes(&bytes).expect("a serialised engine can be restored");
            } else {
                let copy = engine.clone();
                engine.run_until(Time::NEVER);
                engine = copy;
            }
            engine.results().expect("conservation holds at any time");
        }
        engine.run_until(Time::NEVER);
        same(seed, "slices", &whole, &engine.results().expect("conservation"));
    }
}

#[test]
fn hops_computed_ahead_equal_stepped_hops() {
    for seed in seeds(2) {
        let network = random_network(seed);
        let stepped = Network { stepped: true, ..network.clone() };
        same(seed, "stepped", &run(&network), &run(&stepped));
    }
}

/// A recovery that needs nothing else of the sender, so that its acknowledgements could be processed like those of any greedy flow.
#[test]
fn queues_of_hosts_limit_windows_with_and_without_steps() {
    let of = |window_validation| {
        let spec = TcpSpec { window_validation, ..tcp(Recovery::NewReno) };
        let sender_access = AccessLink { rate: Some(Rate(8_000_000)), delay: TimeDelta::ZERO };
        let flows = vec![Flow { sender_access, ..flow(0, 0, 1) }];
        let bottleneck = link("bottleneck", 8, TimeDelta::from_millis(1), Buffer::Unlimited);
        dumbbell(bottleneck, group("greedy", reno(spec)), flows, TimeDelta::from_millis(20))
    };
    let limited = of(WindowValidation::Linux);
    let results = run(&limited);
    same(limited.seed, "stepped", &results, &run(&Network { stepped: true, ..limited.clone() }));
    let [sent, unlimited] = [results, run(&of(WindowValidation::None))].map(|results| first(&results.flows, "sent_packets"));
    assert!(sent < unlimited, "{sent} with a queue that limits the window, {unlimited} without");
}

#[test]
fn hops_computed_ahead_equal_stepped_hops_on_trunks() {
    for seed in 0..120 {
        let network = random_trunk(seed);
        let (whole, stepped) = (run(&network), run(&Network { stepped: true, ..network.clone() }));
        same(seed, "stepped", &whole, &stepped);
        assert!(stepped.events > whole.events, "seed {seed}: no hop was computed ahead");
        if seed.is_multiple_of(SHARED_ONE_IN as u64) {
            shared_runs_equal_one(seed, &network);
        }
    }
}

#[test]
fn any_number_of_threads_gives_identical_bytes() {
    let some = seeds(3).step_by(SHARED_ONE_IN);
    let shared: u32 = some.map(|seed| shared_runs_equal_one(seed, &random_network(seed))).sum();
    assert!(u64::from(shared) > SEEDS / SHARED_ONE_IN as u64, "{shared} were shared");
}

#[test]
fn any_number_of_threads_gives_identical_bytes_on_parking_lots() {
    let shared: u32 = (0..40).map(|seed| shared_runs_equal_one(seed, &random_parking_lot(seed))).sum();
    assert!(shared > 40, "{shared} were shared");
}

/// The network of a benchmark: packets of many flows arrive at one instant, while checks of other timers take place.
#[test]
fn checks_that_are_not_events_do_not_affect_the_order() {
    let network = long_parking_lot();
    let whole = run(&network);
    for threads in [2, 3] {
        let parallel = ParallelEngine::new(Engine::new(network.clone()), NonZeroUsize::new(threads).expect("not zero"));
        let mut parallel = parallel.expect("it can be divided");
        parallel.run_until(Time::NEVER);
        let shared = parallel.engine().results().expect("conservation holds");
        same(0, "threads", &whole, &shared);
        assert_eq!(whole.events, shared.events);
    }
}

/// A run that is divided among different numbers of threads, merged again, and read in between. Returns how often it was divided.
fn shared_runs_equal_one(seed: u64, network: &Network) -> u32 {
    let whole = run(network);
    let mut dice = TestRandom::new(seed + (3 << 32));
    let mut engine = Engine::new(network.clone());
    let mut shared = 0;
    loop {
        let threads = NonZeroUsize::new([2, 2, 3, 16][dice.pick(0, 3) as usize]).expect("not zero");
        let mut parallel = match ParallelEngine::new(engine, threads) {
            Ok(parallel) => parallel,
            Err(refused) => {
                assert!(matches!(refused.1, NotParallel::Routes | NotParallel::NoDelay), "seed {seed}: {}", refused.1);
                return shared;
            }
        };
        shared += 1;
        let done = match dice.pick(0, 3) {
            0 => parallel.run_for(Time::NEVER, dice.pick(0, 3000)),
            1 => {
                parallel.run_until(Time(parallel.now().0 + dice.pick(0, network.duration.0 / 2)));
                false
            }
            _ => parallel.run_for(Time::NEVER, u64::MAX),
        };
        engine = parallel.engine();
        let results = engine.results().unwrap_or_else(|violation| panic!("seed {seed}: {violation}"));
        if done {
            same(seed, "threads", &whole, &results);
            assert_eq!(whole.events, results.events, "seed {seed}");
            return shared;
        }
        if dice.chance(2) {
            engine.run_for(Time(engine.now().0 + dice.pick(0, network.duration.0 / 3)), u64::MAX);
        }
    }
}

#[test]
fn traces_do_not_affect_other_results() {
    for seed in seeds(4) {
        let network = random_network(seed);
        let all = run(&network);
        let with = |traces: Vec<Trace>| {
            let record = Recording { traces, ..network.record.clone() };
            run(&Network { record, ..network.clone() })
        };
        if all.traces.is_empty() {
            continue;
        }
        let flow = TestRandom::new(seed + (2 << 32)).pick(0, network.flows.len() as u64 - 1) as u32;
        let of_flows = network.record.traces.iter().filter(|trace| !trace.kind.is_of_ports());
        let one = with(of_flows.map(|trace| Trace { of: vec![flow], ..trace.clone() }).collect());
        for run in [&with(Vec::new()), &one] {
            let counted = Results { traces: Vec::new(), ..all.clone() };
            same(seed, "other traces", &counted, &Results { traces: Vec::new(), events: all.events, ..run.clone() });
        }
        let name =
            |table: &Table| (table.words("group").expect("a column")[flow as usize].to_string(), place(table)[flow as usize]);
        let (group, index) = name(&all.flows);
        for table in &one.traces {
            let mut of_flow = all.traces.iter().find(|other| other.name == table.name).expect("the same kinds").clone();
            let groups = of_flow.words("group").expect("a column").into_iter().map(|word| word == group);
            let rows: Vec<bool> = groups.zip(place(&of_flow)).map(|(is_of_group, at)| is_of_group && at == index).collect();
            of_flow.keep(&rows);
            assert!(of_flow.bytes() == table.bytes(), "seed {seed}: {}\n{}", table.name, first_difference(&of_flow, table));
        }
    }
}

/// The index of each flow within its group.
fn place(table: &Table) -> Vec<f64> {
    table.floats("flow").expect("a column of numbers")
}

#[test]
fn intermediate_traces_are_a_prefix_of_the_final_traces() {
    for seed in seeds(5) {
        let network = random_network(seed);
        let mut engine = Engine::new(network.clone());
        engine.run_until(Time(TestRandom::new(seed + (3 << 32)).pick(0, network.duration.0)));
        let (so_far, now) = (engine.results().expect("conservation").traces, engine.now().seconds());
        for (before, mut whole) in so_far.iter().zip(run(&network).traces) {
            // A bin may be unfinished, and the fate of a packet may be unknown.
            if !["throughput", "packets"].contains(&before.name.as_str()) {
                let times = whole.floats("time_s").expect("a column of numbers");
                whole.keep(&times.iter().map(|&time| time < now).collect::<Vec<_>>());
                assert!(whole.bytes() == before.bytes(), "seed {seed}: {}\n{}", whole.name, first_difference(&whole, before));
            }
        }
    }
}

#[test]
fn private_access_equals_expanded_access_links() {
    for seed in seeds(6) {
        let mut network = random_network(seed);
        // The queue of an access link holds 1000 packets, and that of a port would hold cells.
        let in_cells = network.groups.iter_mut().filter(|group| group.framing.is_some());
        let may_overflow = in_cells.fold(false, |some, group| match &mut group.transport {
            Transport::Tcp(spec, _) => {
                spec.receiver_window = spec.receiver_window.min(Segments(1000));
                some
            }
            Transport::Datagram(_) => true,
        });
        if may_overflow {
            continue;
        }
        let expanded = with_access_as_ports(&network);
        let fused = run(&network);
        for stepped in [false, true] {
            let mut unfused = run(&Network { stepped, ..expanded.clone() });
            // Access queues have rows of their own.
            unfused.queues = shared_rows(&unfused.queues, network.ports.len());
            if let Some(table) = &mut unfused.queue_flows {
                let names: Vec<&str> = network.ports.iter().map(|port| port.name.as_str()).collect();
                let shared =
                    table.words("queue").expect("a column").into_iter().map(|name| names.contains(&name)).collect::<Vec<_>>();
                table.keep(&shared);
            }
            same(seed, "access links expanded", &fused, &unfused);
        }
    }
}

fn shared_rows(table: &Table, count: usize) -> Table {
    let cut = |column: &Column| match column {
        Column::Float(values) => Column::Float(values[..count].to_vec()),
        Column::Integer(values) => Column::Integer(values[..count].to_vec()),
        Column::Word(values, words) => Column::Word(values[..count].to_vec(), words.clone()),
    };
    Table { name: table.name.clone(), columns: table.columns.iter().map(|(name, column)| (name.clone(), cut(column))).collect() }
}
