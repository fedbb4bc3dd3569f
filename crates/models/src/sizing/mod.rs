//! Buffer sizing rules: one file per rule, together with its inverses where they exist.
//!
//! Every rule returns a number of packets, as a whole number and as the real number of its equation. A rule without a solution (a
//! target that it cannot guarantee) returns a [`ParameterError`] that names the parameter to change.

mod appenzeller;
mod bandwidth_delay;
mod bbr;
mod beheshti;
mod cubic;
mod cui_link;
mod cui_trunk;
mod enachescu;
mod gorinsky;
mod inverse;
mod synchronised;
mod unpaced;

use crate::model::{answers, arguments, family};
use crate::parameter::{Count, ParameterError, Positive, Servers};

// From the rules that use most parameters of the network to those that use fewest.
family! { cui_trunk, cui_link, unpaced, enachescu, appenzeller, synchronised, cubic, bbr, bandwidth_delay, gorinsky, beheshti }

arguments! {
    /// One transmitter and its packets.
    pub struct Link {
        /// Bit rate of one transmitter.
        rate_bps: Positive,
        /// Size of a packet on the wire.
        packet_bytes: Positive,
    }
}

arguments! {
    /// Output side of a bottleneck.
    pub struct Bottleneck {
        /// K, transmitters that share the buffer: 1 for a link, the number of wavelength channels for a trunk.
        transmitters: Servers = 1,
        link: Link,
    }
}

answers! {
    /// Buffer required by a rule.
    pub struct BufferSize {
        /// Packets: the equation's value rounded up, 0 where no buffer is required.
        buffer: u64,
        /// Value of the equation; below 0 where no buffer is required.
        unrounded: f64,
        /// Upper end, for a rule that gives a range.
        max_buffer: Option<u64>,
        /// Packets for all M / K trunks of a switch; trunk rule only.
        switch: Option<f64>,
    }
}

impl Link {
    /// Packet rate of `transmitters` transmitters: mu for one, C for all.
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

/// Mean number of packets that one flow has in flight if the bottleneck is full and its queue empty: C RTT / N.
pub(crate) fn share(packets_per_s: f64, flows: Count, rtt_s: Positive) -> f64 {
    packets_per_s * rtt_s.get() / flows.get() as f64
}

impl BufferSize {
    pub(crate) fn of(unrounded: f64) -> Result<BufferSize, ParameterError> {
        Ok(BufferSize { buffer: whole_packets(unrounded)?, unrounded, max_buffer: None, switch: None })
    }
}

/// An equation's number of packets rounded up; 0 where it is negative.
///
/// A billionth more than a whole number counts as that number: 10 Mbps and 0.1 s are no binary fractions, and rounding must not
/// turn 125 packets into 126.
///
/// Error: a buffer of 2^53 packets or more, which means that the target is closer to 1 than floating point resolves.
pub(crate) fn whole_packets(packets: f64) -> Result<u64, ParameterError> {
    let nearest = packets.round();
    let whole = if (packets - nearest).abs() <= 1e-9 * nearest.abs() { nearest } else { packets.ceil() };
    match whole {
        _ if whole <= 0.0 => Ok(0),
        _ if whole < 9_007_199_254_740_992.0 => Ok(whole as u64),
        _ => Err(ParameterError::new("buffer", packets, "below 2^53 packets: reduce the target utilisation")),
    }
}

/// The number of flows rounded up.
pub(crate) fn whole_flows(flows: f64) -> Result<u64, ParameterError> {
    match whole_packets(flows) {
        Ok(flows) => Ok(flows.max(1)),
        Err(_) => {
            Err(ParameterError::new("flows", flows, "below 2^53 flows: reduce the target utilisation or increase the buffer"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_round_up_and_rounding_errors_do_not() {
        assert_eq!(whole_packets(240_384.6), Ok(240_385));
        assert_eq!(whole_packets(125.000_000_000_000_01), Ok(125));
        assert_eq!(whole_packets(125.001), Ok(126));
        assert_eq!(whole_packets(0.2), Ok(1));
    }

    #[test]
    fn negative_results_become_zero() {
        assert_eq!((whole_packets(0.0), whole_packets(-3.5)), (Ok(0), Ok(0)));
    }

    #[test]
    fn a_buffer_out_of_integer_range_is_refused() {
        assert_eq!(whole_packets(f64::INFINITY).map_err(|error| error.name), Err("buffer"));
        assert_eq!(whole_flows(f64::INFINITY).map_err(|error| error.name), Err("flows"));
    }
}
