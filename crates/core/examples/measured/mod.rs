//! What the programs of the benchmark have in common: settings as `name=value`, and what a run cost.

use std::collections::HashMap;
use std::time::Duration;

/// What the command line says, in the units of the program's table.
pub struct Settings(HashMap<&'static str, f64>);

impl Settings {
    /// The defaults, and what `arguments` put in their place.
    pub fn read(defaults: &[(&'static str, f64)], arguments: impl Iterator<Item = String>) -> Result<Settings, String> {
        let mut settings: HashMap<&'static str, f64> = defaults.iter().copied().collect();
        for argument in arguments {
            let (name, value) = argument.split_once('=').ok_or(format!("`{argument}` is not of the form name=value"))?;
            let value: f64 = value.parse().map_err(|_| format!("`{value}` is not a number"))?;
            let (_, setting) =
                settings.iter_mut().find(|(known, _)| **known == name).ok_or(format!("there is no setting `{name}`"))?;
            *setting = value;
        }
        Ok(Settings(settings))
    }

    /// A setting that has a default.
    pub fn get(&self, name: &str) -> f64 {
        self.0[name]
    }
}

/// CPU time of this process so far. The kernel brings it up to date when the process stops running: hence the nap.
pub fn cpu_seconds() -> f64 {
    std::thread::sleep(Duration::from_micros(1));
    let line = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let nanoseconds = line.split(' ').next().and_then(|first| first.parse::<f64>().ok());
    nanoseconds.map_or(0.0, |nanoseconds| nanoseconds * 1e-9)
}

/// Most memory that this process has held, in kB of 1024 bytes; 0 where the kernel does not tell.
pub fn peak_rss_kb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    peak.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
