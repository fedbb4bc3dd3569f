//! Settings of sources: datagrams without a transport, and applications above one.

use super::process::ProcessSpec;
use crate::primitives::units::{Bytes, TimeDelta};
use crate::user_code::UserCode;
use serde::{Deserialize, Serialize};

/// Datagrams of a flow group: no acknowledgements, no retransmissions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DatagramSpec {
    pub arrivals: Arrivals,
    pub packet: PacketSize,
    /// Header bytes, which count on the wire and not as payload.
    pub header: Bytes,
}

/// An application above a transport.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ApplicationSpec {
    Bursts(BurstSpec),
    /// Messages, which [`Network::messages`](crate::network::Network::messages) has for each flow.
    Messages,
}

/// Bursts of full segments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BurstSpec {
    /// Process of the bursts; never one that supports only datagrams ([`ProcessSpec::is_of_datagrams`]).
    pub process: ProcessSpec,
    /// Segments per burst, at least 1.
    pub burst: u32,
}

impl BurstSpec {
    /// Gap between bursts while the application sends.
    pub fn gap(&self, mss: Bytes) -> TimeDelta {
        self.process.rate().time_to_send(self.burst_size(mss))
    }

    /// Mean number of bursts per second.
    pub fn per_second(&self, mss: Bytes) -> f64 {
        self.process.per_second(self.burst_size(mss))
    }

    fn burst_size(&self, mss: Bytes) -> Bytes {
        Bytes(u64::from(self.burst) * mss.0)
    }
}

/// Times at which a source sends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Arrivals {
    Process(ProcessSpec),
    /// Only datagrams passed to `Engine::inject`.
    External,
    /// Times and sizes from user code.
    User(UserCode),
}

impl DatagramSpec {
    /// Mean size of a datagram with its header; `None` if it is determined elsewhere.
    pub fn wire_bytes(&self) -> Option<Bytes> {
        // Means are whole numbers.
        self.packet.mean().map(|payload| Bytes(payload as u64) + self.header)
    }

    /// Mean number of datagrams that carry this payload; of at least 1 byte each if their size is determined elsewhere.
    pub fn datagrams_of(&self, size: Bytes) -> f64 {
        (size.0 as f64 / self.packet.mean().unwrap_or(1.0)).ceil()
    }

    /// Mean number of datagrams per second; `None` if it is determined elsewhere.
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
    /// Exponentially distributed with this mean, so that service times are exponential (M/M/1/K); at least 1 byte, at most `maximum`.
    ///
    /// Rounding to the nearest byte leaves the mean unchanged and adds 1/12 of a square byte to the variance. The minimum of 1 byte adds
    /// less than half a byte over the mean: 5e-7 of a mean of 1000 bytes.
    Exponential {
        /// Mean in bytes.
        mean: f64,
        maximum: Bytes,
    },
    /// Given by the source for each packet; at most `maximum`.
    Given {
        maximum: Bytes,
    },
}

impl PacketSize {
    /// Mean payload in bytes; `None` if it is determined elsewhere.
    pub fn mean(&self) -> Option<f64> {
        match *self {
            PacketSize::Fixed(bytes) => Some(bytes.0 as f64),
            PacketSize::Exponential { mean, .. } => Some(mean),
            PacketSize::Given { .. } => None,
        }
    }
}
