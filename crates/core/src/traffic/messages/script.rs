//! Writes at given times, which may repeat.

use super::interface::Messages;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// One write of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedWrite {
    /// Time after the start of the flow, or of a repetition; not before the previous write.
    pub at: TimeDelta,
    /// At least 1 byte.
    pub size: Bytes,
}

/// The writes of a flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScriptSpec {
    /// At least one.
    pub writes: Arc<[ScriptedWrite]>,
    /// Time from one repetition to the next, longer than the last write's time.
    pub repeat: Option<TimeDelta>,
    /// Number of writes, including repetitions.
    pub count: u32,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Script(ScriptSpec);

impl Script {
    fn write(&self, message: u32) -> ScriptedWrite {
        self.0.writes[message as usize % self.0.writes.len()]
    }

    fn at(&self, message: u32) -> TimeDelta {
        let round = u64::from(message) / self.0.writes.len() as u64;
        let passed = self.0.repeat.unwrap_or(TimeDelta::ZERO).0.saturating_mul(round);
        TimeDelta(self.write(message).at.0.saturating_add(passed))
    }
}

impl From<ScriptSpec> for Script {
    fn from(spec: ScriptSpec) -> Script {
        Script(spec)
    }
}

impl Messages for Script {
    fn count(&self) -> u32 {
        self.0.count
    }

    fn size(&self, message: u32) -> Bytes {
        self.write(message).size
    }

    fn first(&mut self, start: Time) -> Vec<Time> {
        if self.0.count == 0 { Vec::new() } else { vec![start + self.at(0)] }
    }

    fn after_write(&self, message: u32, start: Time) -> Option<Time> {
        (message + 1 < self.0.count).then(|| start + self.at(message + 1))
    }

    fn is_transfer(&self) -> bool {
        self.0.repeat.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_repeat_with_the_period() {
        let write = |at, size| ScriptedWrite { at: TimeDelta(at), size: Bytes(size) };
        let mut script =
            Script(ScriptSpec { writes: [write(1, 10), write(4, 20)].into(), repeat: Some(TimeDelta(100)), count: 5 });
        assert_eq!(script.first(Time(7)), [Time(8)]);
        let times: Vec<_> = (0..5).map(|message| script.after_write(message, Time(7))).collect();
        assert_eq!(times, [Some(Time(11)), Some(Time(108)), Some(Time(111)), Some(Time(208)), None]);
        assert_eq!([3, 4].map(|message| script.size(message)), [Bytes(20), Bytes(10)]);
    }
}
