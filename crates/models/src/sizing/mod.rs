//! How much buffer a bottleneck needs: one file a rule, and beside each rule its inverse questions where it has them.
//!
//! Every rule answers in packets, as the real number that its equation gives; [`whole_packets`] makes it a buffer. A rule that has
//! no answer (a target that it cannot promise at all) is a [`ParameterError`] that says which parameter would have to change.

mod appenzeller;
mod bandwidth_delay;
mod beheshti;
mod cui_link;
mod cui_trunk;
mod enachescu;
mod gorinsky;
mod inverse;
mod synchronised;

pub use appenzeller::{APPENZELLER, appenzeller_buffer, appenzeller_flows, appenzeller_utilisation};
pub use bandwidth_delay::{BANDWIDTH_DELAY, FULL_UTILISATION, bandwidth_delay_buffer, full_utilisation_buffer, least_queue};
pub use beheshti::{BEHESHTI, beheshti_buffer};
pub use cui_link::{CUI_LINK, cui_link_buffer, cui_link_flows, cui_link_utilisation};
pub use cui_trunk::{CUI_TRUNK, Inputs, cui_switch_buffer, cui_trunk_buffer, cui_trunk_flows, cui_trunk_utilisation};
pub use enachescu::{ENACHESCU, OverProvision, enachescu_buffer, enachescu_flows, enachescu_utilisation, enachescu_window};
pub use gorinsky::{GORINSKY, gorinsky_buffer};
pub use synchronised::{SYNCHRONISED, synchronised_buffer, synchronised_utilisation};

use crate::parameter::{Count, ParameterError, Positive, Servers};

/// What a rule is, in words.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    pub name: &'static str,
    /// What the buffer is for, which is why rules differ.
    pub idea: &'static str,
    /// In plain text, in the names of the parameters.
    pub equation: &'static str,
    /// Where it is written.
    pub source: &'static str,
    /// What has to hold for it to be meant.
    pub assumes: &'static [&'static str],
}

/// All rules, from those that know most of the network to those that know least.
pub const RULES: [&Rule; 9] =
    [&CUI_TRUNK, &CUI_LINK, &ENACHESCU, &APPENZELLER, &SYNCHRONISED, &BANDWIDTH_DELAY, &FULL_UTILISATION, &GORINSKY, &BEHESHTI];

/// What leaves the bottleneck, and how many share it.
#[derive(Clone, Copy, Debug)]
pub struct Bottleneck {
    /// Transmitters K that share the buffer: 1 for a link, the wavelength channels of a trunk.
    pub transmitters: Servers,
    /// Bit rate of one transmitter.
    pub rate_bps: Positive,
    /// Size of a packet on the wire.
    pub packet_bytes: Positive,
    /// Long-lived flows N.
    pub flows: Count,
}

impl Bottleneck {
    /// C: what all transmitters together send.
    pub(crate) fn packets_per_s(&self) -> f64 {
        f64::from(self.transmitters.get()) * self.rate_bps.get() / (8.0 * self.packet_bytes.get())
    }

    /// Packets that one flow has under way on average if the bottleneck is full and its queue empty: C RTT / N.
    pub(crate) fn share(&self, rtt_s: Positive) -> f64 {
        self.packets_per_s() * rtt_s.get() / self.flows.get() as f64
    }
}

/// The smallest whole number of packets that is not below what an equation gives; 0 where it asks for nothing.
///
/// A billionth more than a whole number is that number: 10 Mbps and 0.1 s are no binary fractions, and 125 packets shall not
/// become 126 for that.
///
/// Error: a buffer of 2^53 packets or more, which is a target closer to 1 than numbers resolve.
pub fn whole_packets(packets: f64) -> Result<u64, ParameterError> {
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
