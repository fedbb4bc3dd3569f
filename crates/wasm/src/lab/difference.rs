//! The first event at which two runs differ.

use super::fault::Fault;
use super::observed_entities::{RunSpec, read};
use super::session::refuse_user_code;
use serde_json::{Value, json};
use tailback_core::{ComparisonState, EventComparison, RunEvent};

pub(super) struct Difference(EventComparison);

impl Difference {
    pub(super) fn new(left: &RunSpec, right: &RunSpec) -> Result<Difference, Fault> {
        let networks = [read(left)?.network, read(right)?.network];
        let comparison = EventComparison::new(networks);
        refuse_user_code(comparison.failure())?;
        Ok(Difference(comparison))
    }

    /// Advances by `events` events; returns the result once it is known.
    pub(super) fn advance(&mut self, events: u64) -> Value {
        let described = |event: &RunEvent| json!({"time_s": event.time_s, "what": event.what});
        match self.0.advance(events) {
            ComparisonState::EqualSoFar(share) => json!({"done": false, "share": share}),
            ComparisonState::Equal => json!({"done": true, "same": true}),
            ComparisonState::Different(left, right) => {
                let time_s = left.iter().chain(right).map(|event| event.time_s).fold(f64::INFINITY, f64::min);
                let [left, right] = [left, right].map(|event| event.as_ref().map(described));
                json!({"done": true, "same": false, "time_s": time_s, "left": left, "right": right})
            }
        }
    }
}
