//! Sources without a transport: what theory needs, and background load.

use crate::base::units::{Rate, Span};
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

/// Mean offered wire rate of a source; `None` where others decide. Used in checks and estimates.
pub fn mean_rate(spec: &DatagramSpec) -> Option<Rate> {
    let payload = match spec.packet {
        PacketSize::Fixed(bytes) => f64::from(bytes),
        PacketSize::Exponential { mean, .. } => mean,
        PacketSize::Given { .. } => return None,
    };
    let bits = 8.0 * (payload + f64::from(spec.header));
    let rate = match spec.arrivals {
        Arrivals::Constant { gap } => bits / gap.seconds(),
        Arrivals::Poisson { mean_gap } => bits / mean_gap.seconds(),
        Arrivals::OnOff { gap, mean_on, mean_off } => {
            bits / gap.seconds() * mean_on.seconds() / (mean_on.seconds() + mean_off.seconds())
        }
        Arrivals::External | Arrivals::User(_) => return None,
    };
    Some(Rate(rate as u64))
}
