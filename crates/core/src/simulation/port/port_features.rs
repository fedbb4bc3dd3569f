//! Features of a port other than the buffer, resolved at compile time so that rare features have no cost.

pub(super) trait PortFeatures {
    /// The policy may discard units that fit.
    const HAS_POLICY: bool;
    /// There may be listed drops, random loss or percentiles.
    const HAS_OBSERVERS: bool;
    /// There may be a trace.
    const HAS_TRACE: bool;
}

pub(super) struct DropTailPort;
/// Percentiles of waiting times.
pub(super) struct TimedPort;
pub(super) struct PolicyPort;
pub(super) struct TracedPort;
pub(super) struct FullPort;

impl PortFeatures for DropTailPort {
    const HAS_POLICY: bool = false;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = false;
}

impl PortFeatures for TimedPort {
    const HAS_POLICY: bool = false;
    const HAS_OBSERVERS: bool = true;
    const HAS_TRACE: bool = false;
}

impl PortFeatures for PolicyPort {
    const HAS_POLICY: bool = true;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = false;
}

impl PortFeatures for TracedPort {
    const HAS_POLICY: bool = false;
    const HAS_OBSERVERS: bool = false;
    const HAS_TRACE: bool = true;
}

impl PortFeatures for FullPort {
    const HAS_POLICY: bool = true;
    const HAS_OBSERVERS: bool = true;
    const HAS_TRACE: bool = true;
}
