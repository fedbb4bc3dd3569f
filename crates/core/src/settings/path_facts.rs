//! The path of a flow, as far as it decides whether the settings of its controller make sense.

use crate::primitives::units::{Bytes, Rate, TimeDelta, Units};

/// The path of a flow and its receiver's acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathFacts {
    /// Round-trip time of a full packet and its acknowledgement with empty queues.
    pub base_rtt: TimeDelta,
    /// The flow's share of the slowest link.
    pub share: Rate,
    /// Rate of the slowest link.
    pub bottleneck: Rate,
    /// A full packet on the wire.
    pub packet: Bytes,
    /// Number of links on the path of its packets.
    pub hops: u32,
    /// Maximum delay of an acknowledgement by the receiver.
    pub ack_delay: TimeDelta,
    /// Buffer of the slowest link in full packets; `None` if it is unlimited.
    pub buffer: Option<Units>,
    /// Number of flows without end that share the slowest link with the flow; 1 for a flow with an end.
    pub sharing: u64,
}

impl PathFacts {
    /// The bandwidth-delay product in segments.
    pub fn pipe(&self) -> f64 {
        self.bottleneck.0 as f64 * self.base_rtt.seconds() / (8.0 * self.packet.0 as f64)
    }

    /// The flow's share of the bandwidth-delay product, in segments.
    pub fn share_of_pipe(&self) -> f64 {
        self.share.0 as f64 * self.base_rtt.seconds() / (8.0 * self.packet.0 as f64)
    }

    /// Whether flows that each keep this number of segments queued fill the buffer of the slowest link.
    pub fn overflows(&self, queued_by_each: f64) -> bool {
        self.buffer.is_some_and(|places| queued_by_each * self.sharing as f64 > places.0 as f64)
    }

    /// The buffer of the slowest link and the flows that share it, in words.
    pub fn buffer_in_words(&self) -> String {
        let places = self.buffer.unwrap_or_default().0;
        if self.sharing == 1 {
            format!("buffer of {places} packets")
        } else {
            format!("buffer of {places} packets for {} flows", self.sharing)
        }
    }

    /// Transmission time of a full packet on the slowest link.
    pub fn packet_time(&self) -> TimeDelta {
        self.bottleneck.time_to_send(self.packet)
    }

    /// Time in which the slowest link sends the content of its full buffer; `None` if it is unlimited.
    pub fn max_wait(&self) -> Option<TimeDelta> {
        self.buffer.map(|places| TimeDelta(self.packet_time().0.saturating_mul(places.0)))
    }
}

/// A duration for a message, rounded up to microseconds.
pub(crate) fn microseconds(duration: TimeDelta) -> String {
    format!("{} us", duration.0.div_ceil(1_000_000))
}
