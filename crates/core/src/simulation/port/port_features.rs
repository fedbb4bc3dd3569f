//! Features of a port other than the buffer, resolved at compile time so that rare features have no cost.

pub(super) trait PortFeatures {
    /// The policy may discard units that fit.
    const HAS_POLICY: bool;
    /// There may be listed drops, random loss or percentiles.
    const HAS_OBSERVERS: bool;
    /// There may be a trace.
    const HAS_TRACE: bool;
}

pub(super) struct Plain;
pub(super) struct Decides;
pub(super) struct Traces;
pub(super) struct Observes;

impl PortFeatures for Plain {
    const HAS_POLICY: bool = false;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = false;
}

impl PortFeatures for Decides {
    const HAS_POLICY: bool = true;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = false;
}

impl PortFeatures for Traces {
    const HAS_POLICY: bool = false;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = true;
}

impl PortFeatures for Observes {
    const HAS_POLICY: bool = true;
    const HAS_OBSERVERS: bool = true;
    const HAS_TRACE: bool = true;
}
