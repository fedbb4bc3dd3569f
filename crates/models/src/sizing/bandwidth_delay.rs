//! A bandwidth-delay product, of the mean or of the longest round trip.

use super::{Bottleneck, Rule};
use crate::parameter::{NonNegative, Positive};

pub const BANDWIDTH_DELAY: Rule = Rule {
    name: "bandwidth_delay",
    idea: "holds what all flows together give up when all halve at once, so that the link never idles",
    equation: "C RTT_mean",
    source: "Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994",
    assumes: &["flows halve together, or there is one: the trough of the sawtooth still fills the link", "a full link is wanted"],
};

pub const FULL_UTILISATION: Rule = Rule {
    name: "full_utilisation",
    idea: "the same even if the flow with the longest round trip has the link for itself",
    equation: "more than C RTT_max",
    source: "cui-thesis, equations (3.28) and (3.29)",
    assumes: &[
        "drop-tail, and at most one loss of each flow when the buffer overflows",
        "no timeout, and no other bottleneck",
        "the worst case: the flow with the longest round trip may hold the whole link",
    ],
};

/// Packets: C times the mean round trip without queueing. The flows do not matter.
pub fn bandwidth_delay_buffer(bottleneck: &Bottleneck, mean_rtt_s: Positive) -> f64 {
    bottleneck.packets_per_s() * mean_rtt_s.get()
}

/// The least whole number of packets with which the queue never runs empty: the first above C times the longest round trip
/// without queueing (3.29). The flows do not matter.
pub fn full_utilisation_buffer(bottleneck: &Bottleneck, max_rtt_s: Positive) -> f64 {
    let product = bandwidth_delay_buffer(bottleneck, max_rtt_s);
    let nearest = product.round();
    // As in `whole_packets`: what is a whole number but for rounding is one.
    if (product - nearest).abs() <= 1e-9 * nearest { nearest + 1.0 } else { product.floor() + 1.0 }
}

/// Packets that are left in a buffer that has just overflowed and been answered by all flows, in the worst case: (3.28).
pub fn least_queue(bottleneck: &Bottleneck, max_rtt_s: Positive, buffer: NonNegative) -> f64 {
    (0.5 * (buffer.get() - bandwidth_delay_buffer(bottleneck, max_rtt_s))).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::{Count, ParameterError, Servers};
    use crate::sizing::whole_packets;

    fn trunk(transmitters: u64, rate_bps: f64, packet_bytes: f64) -> Result<Bottleneck, ParameterError> {
        Ok(Bottleneck {
            transmitters: Servers::new(transmitters)?,
            rate_bps: Positive::new("rate_bps", rate_bps)?,
            packet_bytes: Positive::new("packet_bytes", packet_bytes)?,
            flows: Count::new("flows", 1)?,
        })
    }

    #[test]
    fn forty_gbps_over_50_ms() -> Result<(), ParameterError> {
        // 40e9 * 0.05 / 8320 = 240384.6: table 3.1.
        let packets = bandwidth_delay_buffer(&trunk(1, 40e9, 1040.0)?, Positive::new("rtt", 0.05)?);
        assert_eq!(whole_packets(packets), Ok(240_385));
        Ok(())
    }

    #[test]
    fn a_full_link_needs_more_than_the_longest_round_trip() -> Result<(), ParameterError> {
        // 10 Mbps and 100 ms hold 125 packets of 1000 bytes.
        let (link, rtt) = (trunk(1, 10e6, 1000.0)?, Positive::new("rtt", 0.1)?);
        assert_eq!(full_utilisation_buffer(&link, rtt), 126.0);
        assert_eq!(least_queue(&link, rtt, NonNegative::new("buffer", 225.0)?), 50.0);
        assert_eq!(least_queue(&link, rtt, NonNegative::new("buffer", 100.0)?), 0.0);
        assert_eq!(full_utilisation_buffer(&trunk(4, 10e6, 1000.0)?, Positive::new("rtt", 0.100_1)?), 501.0);
        Ok(())
    }
}
