//! Features of a port other than the buffer, resolved at compile time so that rare features have no cost.

pub(super) trait Care {
    /// The policy may discard units that fit.
    const DECIDES: bool;
    /// There may be listed drops, random loss or percentiles.
    const OBSERVES: bool;
    /// There may be a trace.
    const TRACES: bool;
}

pub(super) struct Plain;
pub(super) struct Decides;
pub(super) struct Traces;
pub(super) struct Observes;

impl Care for Plain {
    const DECIDES: bool = false;
    const OBSERVES: bool = false;
    const TRACES: bool = false;
}

impl Care for Decides {
    const DECIDES: bool = true;
    const OBSERVES: bool = false;
    const TRACES: bool = false;
}

impl Care for Traces {
    const DECIDES: bool = false;
    const OBSERVES: bool = false;
    const TRACES: bool = true;
}

impl Care for Observes {
    const DECIDES: bool = true;
    const OBSERVES: bool = true;
    const TRACES: bool = true;
}
