//! Runs a scenario and prints the packets sent, the packets that its first link has carried and the number of events, as one line of JSON.
//! Under callgrind it shows the cost of a packet; unlike the benchmarks of the core it can use presets.
//!
//!     cargo run --release -p tailback-scenario --example cost -- examples/cubic.toml

#![expect(clippy::print_stdout, reason = "the program prints a line of results")]

use tailback_core::Engine;
use tailback_core::primitives::units::Time;
use tailback_scenario::Scenario;

fn main() -> Result<(), String> {
    let path = std::env::args().nth(1).ok_or("usage: cost SCENARIO.toml")?;
    let text = std::fs::read(&path).map_err(|error| format!("{path}: {error}"))?;
    let scenario = Scenario::from_toml_bytes(&text, &path).map_err(|errors| errors.to_string())?;
    let network = scenario.build().map_err(|errors| errors.to_string())?;
    let end = Time::ZERO + network.duration;
    let mut engine = Engine::new(network);
    engine.run_until(end);
    let events = engine.events();
    let results = engine.results().map_err(|error| error.to_string())?;
    let carried = results.queues.floats("departed_units").and_then(|of_ports| of_ports.first().copied()).unwrap_or(f64::NAN);
    let sent: f64 = results.flows.floats("sent_packets").map_or(f64::NAN, |of_flows| of_flows.iter().sum());
    println!("{{\"sent\": {sent}, \"delivered\": {carried}, \"events\": {events}}}");
    Ok(())
}
