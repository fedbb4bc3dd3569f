//! A bandwidth-delay product, of the mean or of the longest round trip.

use super::{Bottleneck, BufferSize};
use crate::model::models;
use crate::parameter::{NonNegative, ParameterError, Positive};

/// For the two models of the longest round trip.
const WORST_CASE: [&str; 3] = [
    "drop-tail, and at most one loss per flow when the buffer overflows",
    "no timeout, and no other bottleneck",
    "the worst case: the flow with the longest round trip may hold the whole link",
];

models! {
    /// Bandwidth-delay product of the mean round trip.
    pub fn bandwidth_delay_buffer(bottleneck: Bottleneck, mean_rtt_s: Positive) -> Result<BufferSize, ParameterError> {
        BufferSize::of(bottleneck.packets_per_s() * mean_rtt_s.get())
    }
    quantity: "bandwidth-delay product";
    equation: "C RTT_mean";
    source: "Villamizar and Song, High Performance TCP in ANSNET, CCR 24(5), 1994";
    assumes: ["flows halve together, or there is only one: the trough of the sawtooth still fills the link", "full utilisation is required"];
    idea: "absorbs the reduction of all windows when all flows halve at once, so that the link never idles";
    example: ">>> tb.models.bandwidth_delay_buffer(rate_bps=40e9, packet_bytes=1040, mean_rtt_s=0.05).buffer\n240385";

    /// Smallest whole number above the bandwidth-delay product of the longest round trip: the queue never runs empty.
    pub fn full_utilisation_buffer(bottleneck: Bottleneck, max_rtt_s: Positive) -> Result<BufferSize, ParameterError> {
        let product = bottleneck.packets_per_s() * max_rtt_s.get();
        let nearest = product.round();
        // As in `whole_packets`: a number that differs from a whole one only by rounding is whole.
        let above = if (product - nearest).abs() <= 1e-9 * nearest { nearest + 1.0 } else { product.floor() + 1.0 };
        BufferSize::of(above)
    }
    quantity: "never idle";
    equation: "more than C RTT_max";
    source: "cui-thesis, equations (3.28) and (3.29)";
    assumes: WORST_CASE;
    idea: "as the bandwidth-delay product, even if the flow with the longest round trip has the link to itself";
    example: ">>> tb.models.full_utilisation_buffer(rate_bps=10e6, packet_bytes=1000, max_rtt_s=0.1).buffer\n126";

    /// Worst-case queue after a buffer overflow, once all flows have responded, in packets.
    pub fn min_queue(bottleneck: Bottleneck, max_rtt_s: Positive, buffer: NonNegative) -> f64 {
        (0.5 * (buffer.get() - bottleneck.packets_per_s() * max_rtt_s.get())).max(0.0)
    }
    quantity: "queue after an overflow";
    equation: "max(0, (B - C RTT_max) / 2)";
    source: "cui-thesis, equation (3.28)";
    assumes: WORST_CASE;
    returns: "Packets.";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parameter::Servers;
    use crate::sizing::Link;

    fn trunk(transmitters: u64, rate_bps: f64, packet_bytes: f64) -> Result<Bottleneck, ParameterError> {
        let link =
            Link { rate_bps: Positive::new("rate_bps", rate_bps)?, packet_bytes: Positive::new("packet_bytes", packet_bytes)? };
        Ok(Bottleneck { transmitters: Servers::new(transmitters)?, link })
    }

    #[test]
    fn forty_gbps_over_50_ms() -> Result<(), ParameterError> {
        // 40e9 * 0.05 / 8320 = 240384.6: table 3.1.
        let asked = bandwidth_delay_buffer(trunk(1, 40e9, 1040.0)?, Positive::new("rtt", 0.05)?)?;
        assert_eq!(asked.buffer, 240_385);
        Ok(())
    }

    #[test]
    fn a_full_link_needs_more_than_the_longest_round_trip() -> Result<(), ParameterError> {
        // 10 Mbps and 100 ms hold 125 packets of 1000 bytes.
        let (link, rtt) = (trunk(1, 10e6, 1000.0)?, Positive::new("rtt", 0.1)?);
        assert_eq!(full_utilisation_buffer(link, rtt)?.buffer, 126);
        assert_eq!(min_queue(link, rtt, NonNegative::new("buffer", 225.0)?), 50.0);
        assert_eq!(min_queue(link, rtt, NonNegative::new("buffer", 100.0)?), 0.0);
        assert_eq!(full_utilisation_buffer(trunk(4, 10e6, 1000.0)?, Positive::new("rtt", 0.100_1)?)?.buffer, 501);
        Ok(())
    }
}
