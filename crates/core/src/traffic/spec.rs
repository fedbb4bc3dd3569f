//! Settings of sources: datagrams without a transport, and applications above one.

use super::process::ProcessSpec;
use crate::primitives::units::Span;
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
    /// When it hands over data; never a process that only datagrams have ([`ProcessSpec::is_of_datagrams`]).
    pub process: ProcessSpec,
    /// Segments that it hands over at a time, at least 1.
    pub burst: u32,
}

impl ApplicationSpec {
    /// From one burst to the next while it sends, of segments of `mss` bytes.
    pub fn gap(&self, mss: u32) -> Span {
        self.process.rate().time_to_send(self.burst_bytes(mss))
    }

    /// Bursts in a second, on average, of segments of `mss` bytes.
    pub fn per_second(&self, mss: u32) -> f64 {
        self.process.per_second(self.burst_bytes(mss))
    }

    fn burst_bytes(&self, mss: u32) -> u64 {
        u64::from(self.burst) * u64::from(mss)
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
    /// Mean bytes of a datagram with its header; `None` where others decide.
    pub fn wire_bytes(&self) -> Option<u64> {
        // Means are whole numbers.
        self.packet.mean().map(|payload| payload as u64 + u64::from(self.header))
    }

    /// Datagrams in a second, on average; `None` where others decide.
    pub fn per_second(&self) -> Option<f64> {
        match &self.arrivals {
            Arrivals::Process(process) => self.wire_bytes().map(|bytes| process.per_second(bytes)),
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
