//! Shared parts of schedulers, and a port for their tests.

#[cfg(test)]
pub(super) mod model_port;
pub(super) mod round_robin;
pub(super) mod virtual_times;
