//! Settings of sources: datagrams without a transport, and applications above one.

use crate::base::units::Span;
use crate::code::UserCode;
use serde::{Deserialize, Serialize};

/// Datagrams of a flow group: no acknowledgement, no retransmission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramSpec {
    pub arrivals: Arrivals,
    pub packet: PacketSize,
    /// Bytes of headers that count on the wire and not as payload.
    pub header: u32,
}

/// An application above a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApplicationSpec {
    /// When it hands over data; never [`Arrivals::External`] or [`Arrivals::User`].
    pub arrivals: Arrivals,
    /// Segments that it hands over at a time, at least 1.
    pub burst: u32,
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    /// Evenly spaced; the gap between packets.
    Constant { gap: Span },
    /// Exponential gaps with this mean.
    Poisson { mean_gap: Span },
    /// Exponential bursts of evenly spaced packets and exponential silences.
    OnOff { gap: Span, mean_on: Span, mean_off: Span },
    /// Only what `Engine::inject` hands in.
    External,
    /// When and how much, code says that the core does not know.
    User(UserCode),
}

impl Arrivals {
    /// How many there are in a second, on average; `None` where others decide.
    pub fn per_second(&self) -> Option<f64> {
        match *self {
            Arrivals::Constant { gap } | Arrivals::Poisson { mean_gap: gap } => Some(1.0 / gap.seconds()),
            Arrivals::OnOff { gap, mean_on, mean_off } => {
                Some(mean_on.seconds() / (mean_on.seconds() + mean_off.seconds()) / gap.seconds())
            }
            Arrivals::External | Arrivals::User(_) => None,
        }
    }
}

/// Payload bytes per datagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PacketSize {
    Fixed(u32),
    /// Exponential with this mean, so that service is exponential (M/M/1/K); at least 1 byte, at most `maximum`.
    Exponential {
        mean: f64,
        maximum: u32,
    },
    /// As the source says with each packet; at most `maximum`.
    Given {
        maximum: u32,
    },
}
