//! TCP: sender, receiver, retransmission timer and loss recovery. Congestion controllers are in `congestion`.

mod alone;
#[cfg(test)]
mod bench;
mod delivery_rate;
pub(crate) mod handshake;
#[cfg(test)]
mod linux_receiver;
#[cfg(test)]
mod lossy_path;
pub(crate) mod observed;
pub(crate) mod out_of_order;
mod pacer;
pub(crate) mod receiver;
pub(crate) mod recovery;
pub(crate) mod scoreboard;
mod send_times;
pub(crate) mod sender;
pub(crate) mod sequence;
pub(crate) mod signal_reader;
pub(crate) mod slow_start;
mod spec;
mod steps;
pub(crate) mod timer;
pub(crate) mod validation;

pub use alone::{AckFields, CongestionState, Departure, LoneSender, SenderSnapshot};
pub use spec::*;
