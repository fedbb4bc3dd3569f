//! Settings of sources: datagrams without a transport, and applications above one.

use super::process::ProcessSpec;
use crate::primitives::units::{Bytes, Span};
use crate::user_code::UserCode;
use serde::{Deserialize, Serialize};

/// Datagrams of a flow group: no acknowledgement, no retransmission.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramSpec {
    pub arrivals: Arrivals,
    pub packet: PacketSize,
    /// Headers that count on the wire and not as payload.
    pub header: Bytes,
}

/// An application above a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApplicationSpec {
    /// When it hands over data; never a process that only datagrams have ([`ProcessSpec::is_of_datagrams`]).
    pub process: ProcessSpec,
    /// Segments that it hands over at a time, at least 1.
    pub burst: u32,
}

impl ApplicationSpec {
    /// From one burst to the next while it sends.
    pub fn gap(&self, mss: Bytes) -> Span {
        self.process.rate().time_to_send(self.burst_size(mss))
    }

    /// Bursts in a second, on average.
    pub fn per_second(&self, mss: Bytes) -> f64 {
        self.process.per_second(self.burst_size(mss))
    }

    fn burst_size(&self, mss: Bytes) -> Bytes {
        Bytes(u64::from(self.burst) * mss.0)
    }
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    Process(ProcessSpec),
    /// Only what `Engine::inject` hands in.
    External,
    /// When and how much, code says that the core does not know.
    User(UserCode),
}

impl DatagramSpec {
    /// Mean size of a datagram with its header; `None` where others decide.
    pub fn wire_bytes(&self) -> Option<Bytes> {
        // Means are whole numbers.
        self.packet.mean().map(|payload| Bytes(payload as u64) + self.header)
    }

    /// Datagrams in a second, on average; `None` where others decide.
    pub fn per_second(&self) -> Option<f64> {
        match &self.arrivals {
            Arrivals::Process(process) => self.wire_bytes().map(|bytes| process.per_second(bytes)),
            Arrivals::External | Arrivals::User(_) => None,
        }
    }
}

/// Payload of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum PacketSize {
    Fixed(Bytes),
    /// Exponential with this mean, so that service is exponential (M/M/1/K); at least 1 byte, at most `maximum`.
    ///
    /// Rounded to the nearest byte, which takes nothing from the mean and adds 1/12 of a square byte to the variance. That none are
    /// empty adds less than half a byte over the mean: 5e-7 of a mean of 1000 bytes.
    Exponential {
        /// Bytes.
        mean: f64,
        maximum: Bytes,
    },
    /// As the source says with each packet; at most `maximum`.
    Given {
        maximum: Bytes,
    },
}

impl PacketSize {
    /// Mean payload in bytes; `None` where others decide.
    pub fn mean(&self) -> Option<f64> {
        match *self {
            PacketSize::Fixed(bytes) => Some(bytes.0 as f64),
            PacketSize::Exponential { mean, .. } => Some(mean),
            PacketSize::Given { .. } => None,
        }
    }
}
