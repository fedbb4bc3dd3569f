//! TCP: sender, receiver, retransmission timer and loss recovery. Congestion controllers are in `congestion`.

#[cfg(test)]
mod bench;
mod delivery_rate;
pub(crate) mod handshake;
#[cfg(test)]
mod lossy_path;
mod pacer;
mod prr;
mod rack;
pub(crate) mod receiver;
pub(crate) mod recovery;
mod reduction;
pub(crate) mod scoreboard;
pub(crate) mod sender;
pub(crate) mod signal_reader;
pub(crate) mod slow_start;
mod spec;
pub(crate) mod timer;
pub(crate) mod validation;

pub use spec::*;
