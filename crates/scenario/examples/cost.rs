//! Runs a scenario and prints the packets sent, the traffic of its first link and the cost of the run, all after the warm-up, as one line of
//! JSON.
//! Under callgrind it shows the cost of a packet; unlike the benchmarks of the core it can use presets.
//!
//!     cargo run --release -p tailback-scenario --example cost -- examples/cubic.toml threads=2

#![expect(clippy::print_stdout, reason = "the program prints a line of results")]

#[path = "../../core/examples/measured/mod.rs"]
mod measured;

use measured::{Settings, peak_rss_kb};
use tailback_core::Engine;
use tailback_core::primitives::units::Time;
use tailback_scenario::Scenario;

fn main() -> Result<(), String> {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().ok_or("usage: cost SCENARIO.toml [threads=N]")?;
    let settings = Settings::read(&[("threads", 1.0)], arguments)?;
    let text = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::from_toml_bytes(&text, &path).map_err(|errors| errors.to_string())?;
    let network = scenario.build().map_err(|errors| errors.to_string())?;
    let (warmup, end) = (Time::ZERO + network.warmup, Time::ZERO + network.duration);
    let threads = settings.get("threads");
    let (engine, _) = measured::run(Engine::new(network), warmup, threads);
    let before = engine.events();
    let (engine, cost) = measured::run(engine, end, threads);

    let events = engine.events() - before;
    let results = engine.results().map_err(|error| error.to_string())?;
    let first_link = |name: &str| results.queues.floats(name).and_then(|of_ports| of_ports.first().copied()).unwrap_or(f64::NAN);
    let sent: f64 = results.flows.floats("sent_packets").map_or(f64::NAN, |of_flows| of_flows.iter().sum());
    println!(
        "{{\"sent\": {sent}, \"delivered\": {}, \"drops\": {}, \"utilisation\": {}, \"loss\": {:e}, {}, \"peak_rss_kb\": {}, \
         \"events\": {events}}}",
        first_link("departed_units"),
        first_link("dropped_units"),
        first_link("utilisation"),
        first_link("loss_rate"),
        cost.json(),
        peak_rss_kb(),
    );
    Ok(())
}
