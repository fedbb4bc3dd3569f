//! Settings of sources: datagrams without a transport, and applications above one.

use crate::base::units::{Rate, Span};
use crate::user_code::UserCode;
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
    /// When it hands over data; never [`Arrivals::Alternating`], [`Arrivals::External`] or [`Arrivals::User`].
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
    /// A packet that is sent at this rate, an exponential idle time, and so on. Of datagrams only.
    Alternating { rate: Rate, mean_idle: Span },
    /// Only what `Engine::inject` hands in.
    External,
    /// When and how much, code says that the core does not know.
    User(UserCode),
}

impl Arrivals {
    /// How many there are in a second, on average, if a packet has `wire_bytes` on average; `None` where others decide.
    pub fn per_second(&self, wire_bytes: f64) -> Option<f64> {
        match *self {
            Arrivals::Constant { gap } | Arrivals::Poisson { mean_gap: gap } => Some(1.0 / gap.seconds()),
            Arrivals::OnOff { gap, mean_on, mean_off } => {
                Some(mean_on.seconds() / (mean_on.seconds() + mean_off.seconds()) / gap.seconds())
            }
            Arrivals::Alternating { rate, mean_idle } => Some(1.0 / (8.0 * wire_bytes / rate.0 as f64 + mean_idle.seconds())),
            Arrivals::External | Arrivals::User(_) => None,
        }
    }
}

/// Payload bytes per datagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PacketSize {
    Fixed(u32),
    /// Exponential with this mean, so that service is exponential (M/M/1/K); at least 1 byte, at most `maximum`.
    ///
    /// Rounded to the nearest byte, which takes nothing from the mean and adds 1/12 of a square byte to the variance. That none are
    /// empty adds less than half a byte over the mean: 5e-7 of a mean of 1000 bytes.
    Exponential {
        mean: f64,
        maximum: u32,
    },
    /// As the source says with each packet; at most `maximum`.
    Given {
        maximum: u32,
    },
}

impl PacketSize {
    /// Mean payload; `None` where others decide.
    pub fn mean(&self) -> Option<f64> {
        match *self {
            PacketSize::Fixed(bytes) => Some(bytes.into()),
            PacketSize::Exponential { mean, .. } => Some(mean),
            PacketSize::Given { .. } => None,
        }
    }
}
