//! How much buffer a bottleneck needs: one file a rule, and beside each rule its inverse questions where it has them.
//!
//! Every rule answers in packets, as a whole number and as the real one that its equation gives. A rule that has no answer (a target that
//! it cannot promise at all) is a [`ParameterError`] that says which parameter would have to change.

mod appenzeller;
mod bandwidth_delay;
mod beheshti;
mod cui_link;
mod cui_trunk;
mod enachescu;
mod gorinsky;
mod inverse;
mod synchronised;
mod unpaced;

use crate::model::{answers, arguments, family};
use crate::parameter::{Count, ParameterError, Positive, Servers};

// From the rules that know most of the network to those that know least.
family! { cui_trunk, cui_link, unpaced, enachescu, appenzeller, synchronised, bandwidth_delay, gorinsky, beheshti }

arguments! {
    /// One transmitter and what it sends.
    pub struct Link {
        /// Bit rate of one transmitter.
        rate_bps: Positive,
        /// Size of a packet on the wire.
        packet_bytes: Positive,
    }
}

arguments! {
    /// What leaves the bottleneck.
    pub struct Bottleneck {
        /// K, transmitters that share the buffer: 1 for a link, the wavelength channels of a trunk.
        transmitters: Servers = 1,
        link: Link,
    }
}

answers! {
    /// What a rule asks for.
    pub struct BufferSize {
        /// Packets: the smallest whole number that is not below what the equation gives, 0 where it asks for nothing.
        buffer: u64,
        /// What the equation gives; below 0 where no buffer is needed.
        unrounded: f64,
        /// The other end, for a rule that gives a range.
        most: Option<u64>,
        /// Packets for all M / K trunks of a switch, of the trunk rule.
        switch: Option<f64>,
    }
}

impl Link {
    /// What so many transmitters send together: mu of one, C of all.
    pub(crate) fn packets_per_s(&self, transmitters: Servers) -> f64 {
        f64::from(transmitters.get()) * self.rate_bps.get() / (8.0 * self.packet_bytes.get())
    }
}

impl Bottleneck {
    /// C.
    pub(crate) fn packets_per_s(&self) -> f64 {
        self.link.packets_per_s(self.transmitters)
    }
}

/// Packets that one flow has under way on average if the bottleneck is full and its queue empty: C RTT / N.
pub(crate) fn share(packets_per_s: f64, flows: Count, rtt_s: Positive) -> f64 {
    packets_per_s * rtt_s.get() / flows.get() as f64
}

impl BufferSize {
    pub(crate) fn of(unrounded: f64) -> Result<BufferSize, ParameterError> {
        Ok(BufferSize { buffer: whole_packets(unrounded)?, unrounded, most: None, switch: None })
    }
}

/// The smallest whole number of packets that is not below what an equation gives; 0 where it asks for nothing.
///
/// A billionth more than a whole number is that number: 10 Mbps and 0.1 s are no binary fractions, and 125 packets shall not
/// become 126 for that.
///
/// Error: a buffer of 2^53 packets or more, which is a target closer to 1 than numbers resolve.
pub(crate) fn whole_packets(packets: f64) -> Result<u64, ParameterError> {
    let nearest = packets.round();
    let whole = if (packets - nearest).abs() <= 1e-9 * nearest.abs() { nearest } else { packets.ceil() };
    match whole {
        _ if whole <= 0.0 => Ok(0),
        _ if whole < 9_007_199_254_740_992.0 => Ok(whole as u64),
        _ => Err(ParameterError::new("buffer", packets, "below 2^53 packets: ask for less utilisation")),
    }
}

/// The smallest whole number of flows that is not below `flows`.
pub(crate) fn whole_flows(flows: f64) -> Result<u64, ParameterError> {
    match whole_packets(flows) {
        Ok(flows) => Ok(flows.max(1)),
        Err(_) => Err(ParameterError::new("flows", flows, "below 2^53 flows: ask for less utilisation or more buffer")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_packet_takes_a_whole_place_and_a_rounding_error_none() {
        assert_eq!(whole_packets(240_384.6), Ok(240_385));
        assert_eq!(whole_packets(125.000_000_000_000_01), Ok(125));
        assert_eq!(whole_packets(125.001), Ok(126));
        assert_eq!(whole_packets(0.2), Ok(1));
    }

    #[test]
    fn nothing_is_the_least() {
        assert_eq!((whole_packets(0.0), whole_packets(-3.5)), (Ok(0), Ok(0)));
    }

    #[test]
    fn a_buffer_beyond_all_numbers_is_refused() {
        assert_eq!(whole_packets(f64::INFINITY).map_err(|error| error.name), Err("buffer"));
        assert_eq!(whole_flows(f64::INFINITY).map_err(|error| error.name), Err("flows"));
    }
}
