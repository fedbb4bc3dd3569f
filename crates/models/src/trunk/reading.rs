//! What the detailed model leaves open.

use crate::parameter::ParameterError;

/// How long a packet takes to leave that had to wait; section 3.6.1 does not say. One that need not wait leaves as it comes. Without
/// a buffer there is no difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// As long as it took to come, as a packet of some length does.
    OwnLength,
    /// An exponential time drawn anew; its input link receives on for as long as it would have.
    Fresh,
    /// An exponential time drawn anew, at whose end its input link has received it too, if it had not before.
    Coupled,
}

impl Reading {
    pub const ALL: [Reading; 3] = [Reading::OwnLength, Reading::Fresh, Reading::Coupled];

    pub fn name(self) -> &'static str {
        match self {
            Reading::OwnLength => "own_length",
            Reading::Fresh => "fresh",
            Reading::Coupled => "coupled",
        }
    }

    /// The reading of that [`name`](Reading::name).
    pub fn named(name: &str) -> Result<Reading, ParameterError> {
        let reading = Reading::ALL.into_iter().find(|reading| reading.name() == name);
        reading.ok_or_else(|| ParameterError::new("reading", format!("\"{name}\""), "one of own_length, fresh, coupled"))
    }
}
