//! The memory estimate of a run against its memory, for scenarios of different kinds.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use tailback_core::primitives::units::Time;
use tailback_core::{Engine, memory_estimate, trace_rows};
use tailback_scenario::Scenario;

/// The system's allocator, which counts allocated bytes.
struct Counting;

static ALLOCATED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let now = ALLOCATED.fetch_add(bytes, Relaxed) + bytes;
    PEAK.fetch_max(now, Relaxed);
}

// SAFETY: all calls are those of the system's allocator.
#[expect(unsafe_code, clippy::undocumented_unsafe_blocks, reason = "each function passes on its arguments")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        ALLOCATED.fetch_sub(layout.size(), Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // Large blocks move without a copy.
        if let Some(more) = bytes.checked_sub(layout.size()) {
            grow(more);
        } else {
            ALLOCATED.fetch_sub(layout.size() - bytes, Relaxed);
        }
        unsafe { System.realloc(place, layout, bytes) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const WIRED: &str = "from = \"left\"\nto = \"right\"\n";

fn dumbbell(settings: &str, rest: &str) -> String {
    format!("[topology.dumbbell]\n{settings}\n{rest}")
}

const ALL_TRACES: &str = "[\"cwnd\", \"rtt\", \"in_flight\", \"segments\", \"acks\", \"queue\", \"drops\"]";

fn scenarios() -> Vec<(&'static str, String)> {
    let link = "rate = \"100 Mbps\"\ndelay = \"20 ms\"\nqueue = {buffer = \"200 packets\"}";
    let tcp = |count: u32, more: &str| format!("[flows.web]\ncount = {count}\n{WIRED}tcp = {{preset = \"sack\"}}\n{more}\n");
    let spread = "start = {uniform = [\"0 s\", \"1 s\"]}";
    let traced = |count, traces: &str, seconds| {
        format!("duration = \"{seconds} s\"\n{}[record]\ntraces = {traces}\n", dumbbell(link, &tcp(count, spread)))
    };
    let arrivals = |settings: &str| {
        format!(
            "duration = \"200 s\"\n{}",
            dumbbell(
                settings,
                &format!(
                    "[flows.web]\n{WIRED}tcp = {{preset = \"sack\"}}\narrivals = {{mean_interval = \"1 ms\"}}\nsize = \"10 kB\"\n"
                )
            )
        )
    };
    let unlimited = "rate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {buffer = \"unlimited\"}";
    let flood = |seconds, kind: &str, tcp: &str| {
        let sources = format!(
            "[flows.udp]\n{WIRED}source = {{kind = \"{kind}\", rate = \"150 Mbps\", packet_size = \"200 B\"}}\n[flows.web]\n{WIRED}tcp = {tcp}\n"
        );
        format!("duration = \"{seconds} s\"\n{}", dumbbell(unlimited, &sources))
    };
    let cubic = |count, traces: &str, seconds| traced(count, traces, seconds).replace("\"sack\"", "\"linux/cubic\"");
    vec![
        ("100,000 flows", format!("duration = \"1 s\"\n{}", dumbbell(link, &tcp(100_000, spread)))),
        ("200,000 arrivals", arrivals(link)),
        (
            "many arrivals at a slow link",
            arrivals("rate = \"20 Mbps\"\ndelay = \"20 ms\"\nqueue = {buffer = \"200 packets\"}"),
        ),
        (
            "an unlimited queue",
            format!(
                "duration = \"100 s\"\n{}",
                dumbbell(
                    "rate = \"1 Mbps\"\ndelay = \"20 ms\"\nqueue = {buffer = \"unlimited\", scheduler = {kind = \"flow_queue\", queues = 1024}}",
                    &format!("[flows.udp]\n{WIRED}count = 4\nsource = {{kind = \"poisson\", rate = \"5 Mbps\", packet_size = \"1000 B\"}}\n")
                )
            ),
        ),
        (
            "a long pipe",
            format!(
                "duration = \"5 s\"\n{}",
                dumbbell(
                    "rate = \"1 Gbps\"\ndelay = \"100 ms\"\nqueue = {buffer = \"100 %\", bdp_rtt = \"200 ms\"}",
                    &tcp(400, spread).replace("\"sack\"", "\"sack\", receiver_window = 100000")
                )
            ),
        ),
        ("traces of 100 flows", traced(100, "[\"cwnd\", \"rtt\", \"in_flight\"]", 20)),
        ("a trace of a queue", traced(10, "[\"queue\"]", 60)),
        ("packet traces", traced(10, "[\"packets\"]", 20)),
        ("segments and acknowledgements", traced(4, "[\"segments\", \"acks\", \"drops\"]", 30)),
        (
            "CUBIC with RACK",
            format!("duration = \"5 s\"\n{}", dumbbell(link, &tcp(20_000, spread).replace("\"sack\"", "\"linux/cubic\""))),
        ),
        ("BBR", format!("duration = \"5 s\"\n{}", dumbbell(link, &tcp(5_000, spread).replace("\"sack\"", "\"linux/bbr\"")))),
        ("datagrams and TCP into an unlimited queue", flood(30, "constant", "{preset = \"sack\"}")),
        ("random datagrams and TCP into an unlimited queue", flood(10, "poisson", "{preset = \"sack\"}")),
        (
            "500 TCP flows into an unlimited queue",
            format!("duration = \"60 s\"\n{}", dumbbell(unlimited, &tcp(500, "").replace("\"sack\"", "\"linux/cubic\""))),
        ),
        (
            "CoDel without a limit, and bursts",
            format!(
                "duration = \"10 s\"\n{}",
                dumbbell(
                    &unlimited.replace("\"unlimited\"", "\"unlimited\", policy = \"codel\""),
                    &format!(
                        "[flows.udp]\n{WIRED}source = {{kind = \"on_off\", rate = \"200 Mbps\", packet_size = \"200 B\", mean_on = \"1 s\", mean_off = \"1 s\"}}\n"
                    )
                )
            ),
        ),
        ("all traces of 50 flows", cubic(50, ALL_TRACES, 20)),
        ("all traces of 10 flows", traced(10, ALL_TRACES, 40)),
        (
            "cells of many circuits",
            format!(
                "duration = \"2 s\"\n{}",
                dumbbell(
                    "rate = \"150 Mbps\"\ndelay = \"5 ms\"\nqueue = {buffer = \"20000 cells\", policy = \"epd\", threshold = \"16000 cells\"}",
                    &format!("[flows.vc]\n{WIRED}count = 2000\nframing = {{}}\n{spread}\ntcp = {{preset = \"bpd-2001/reno\"}}\n")
                )
            ),
        ),
        (
            "cells of a few circuits",
            format!(
                "duration = \"5 s\"\n{}",
                dumbbell(
                    "rate = \"150 Mbps\"\ndelay = \"20 ms\"\nqueue = {buffer = \"20000 cells\"}",
                    &format!("[flows.vc]\n{WIRED}count = 20\nframing = {{}}\n{spread}\ntcp = {{preset = \"sack\"}}\n")
                )
            ),
        ),
        (
            "available bit rate",
            format!(
                "duration = \"2 s\"\n{}",
                dumbbell(
                    "rate = \"150 Mbps\"\ndelay = \"5 ms\"\nqueue = {buffer = \"20000 cells\"}",
                    &format!("[flows.vc]\n{WIRED}count = 500\nframing = {{}}\nabr = {{buffer = \"20 packets\", pcr = \"20 Mbps\"}}\n{spread}\ntcp = {{preset = \"sack\"}}\n")
                )
            ),
        ),
        (
            "a fat tree",
            "duration = \"20 ms\"\n[topology.fat_tree]\nk = 16\nrate = \"10 Gbps\"\ndelay = \"1 us\"\n\
             queue = {buffer = \"100 packets\"}\nhost_queue = {buffer = \"50 packets\"}\n[flows.all]\ntraffic = {permutation = \"host*\"}\ncount = 20480\ntcp = {preset = \"sack\"}\n"
                .to_string(),
        ),
    ]
}

#[test]
fn estimates_are_between_one_and_two_times_the_memory() {
    let (mut wrong, mut all) = (Vec::new(), Vec::new());
    for (name, text) in scenarios() {
        let before = ALLOCATED.load(Relaxed);
        PEAK.store(before, Relaxed);
        let scenario = Scenario::from_toml(&text, "").unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"));
        let network = scenario.build().unwrap_or_else(|errors| panic!("{name}: {errors}\n{text}"));
        let built = (ALLOCATED.load(Relaxed) - before, PEAK.load(Relaxed) - before);
        let (estimate, of_estimate) = (memory_estimate(&network), trace_rows(&network));
        PEAK.store(ALLOCATED.load(Relaxed), Relaxed);
        let mut engine = Engine::new(network);
        engine.run_until(Time::NEVER);
        let ran = PEAK.load(Relaxed) - before;
        let results = engine.results().unwrap_or_else(|error| panic!("{name}: {error}"));
        let peak = PEAK.load(Relaxed) - before;
        let rows: Vec<usize> = results.traces.iter().map(|table| table.rows()).collect();
        drop((engine, results, scenario));
        let ratio = estimate.total() as f64 / peak as f64;
        let line = format!(
            "{name:32} estimate {:8.1} MB, real {:8.1} MB, ratio {ratio:.2}; built {:.1}, while built {:.1}, ran {:.1}, rows {rows:?} of {of_estimate:?}, {estimate:?}",
            estimate.total() as f64 / 1e6,
            peak as f64 / 1e6,
            built.0 as f64 / 1e6,
            built.1 as f64 / 1e6,
            ran as f64 / 1e6,
        );
        all.push(line.clone());
        if !(1.0..=2.0).contains(&ratio) {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "{}\nof\n{}", wrong.join("\n"), all.join("\n"));
}
