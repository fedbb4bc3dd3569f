//! Shared code of the benchmarks: settings as `name=value`, and the cost of a run.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};
use tailback_core::primitives::units::Time;
use tailback_core::{Engine, ParallelEngine};

/// Settings of the command line, in the units of the program's table.
pub struct Settings(HashMap<&'static str, f64>);

impl Settings {
    /// The defaults, overridden by `arguments`.
    pub fn read(defaults: &[(&'static str, f64)], arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
        let mut settings: HashMap<&'static str, f64> = defaults.iter().copied().collect();
        for argument in arguments {
            let (name, value) = argument.split_once('=').ok_or(format!("`{argument}` is not of the form name=value"))?;
            let value: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            let (_, setting) =
                settings.iter_mut().find(|(known, _)| **known == name).ok_or(format!("unknown setting `{name}`"))?;
            *setting = value;
        }
        Ok(Settings(settings))
    }

    /// A setting that has a default.
    pub fn get(&self, name: &str) -> f64 {
        self.0[name]
    }
}

/// The cost of a run. With several threads, CPU seconds cover only the first.
pub struct Cost {
    pub cpu_s: f64,
    pub wall_s: f64,
    /// Time to divide the run among the threads, and to merge the parts.
    pub sharing_wall_s: f64,
    pub threads: usize,
    /// With several threads: number of epochs, and the number of events on the critical path.
    pub epochs: u64,
    pub critical_events: u64,
}

impl Cost {
    /// Members of a JSON object.
    pub fn json(&self) -> String {
        let Cost { cpu_s, wall_s, sharing_wall_s, threads, epochs, critical_events } = self;
        format!(
            "\"run_cpu_s\": {cpu_s:.6}, \"run_wall_s\": {wall_s:.6}, \"sharing_wall_s\": {sharing_wall_s:.6}, \"threads\": {threads}, \
             \"epochs\": {epochs}, \"critical_events\": {critical_events}"
        )
    }
}

/// Run to this time on this number of threads.
pub fn run(engine: Engine, end: Time, threads: f64) -> (Engine, Cost) {
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    let threads = NonZeroUsize::new(threads as usize).unwrap_or(NonZeroUsize::MIN);
    let (engine, sharing_wall_s, threads, epochs, critical_events) = match ParallelEngine::new(engine, threads) {
        Ok(mut parallel) => {
            let shared = wall.elapsed();
            parallel.run_until(end);
            let done = Instant::now();
            let engine = parallel.engine();
            let sharing_wall_s = (shared + done.elapsed()).as_secs_f64();
            (engine, sharing_wall_s, parallel.threads(), parallel.epochs(), parallel.critical_events())
        }
        Err(whole) => {
            let (mut engine, _) = *whole;
            engine.run_until(end);
            let events = engine.events();
            (engine, 0.0, 1, 0, events)
        }
    };
    let (cpu_s, wall_s) = (cpu_seconds() - cpu, wall.elapsed().as_secs_f64());
    (engine, Cost { cpu_s, wall_s, sharing_wall_s, threads, epochs, critical_events })
}

/// CPU time of this process up to now, without its other threads. The kernel updates it when the process stops running, hence the short
/// sleep.
pub fn cpu_seconds() -> f64 {
    std::thread::sleep(Duration::from_micros(1));
    let line = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = line.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |nanoseconds| nanoseconds * 1e-9)
}

/// Peak resident memory of this process in kB of 1024 bytes; 0 if the kernel does not report it.
pub fn peak_rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
