//! The numbers of segments in a real TCP flow, by which a scenario lists its drops.

use crate::ip;
use std::collections::HashMap;
use tailback_core::DatagramContents;
use tailback_core::primitives::segment_number::SegmentNumber;
use tailback_core::primitives::units::{Bytes, Segments};

/// The segments of a flow that a scenario lists, and how it numbers them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedSegments {
    pub numbers: Vec<SegmentNumber>,
    pub mss: Bytes,
    /// Number of the first data segment: 1 if the SYN has a number, otherwise 0.
    pub first_data: SegmentNumber,
}

/// The listed segments that a flow has sent.
pub(crate) struct SegmentNumbers {
    mss: Bytes,
    first_data: SegmentNumber,
    /// Sequence number of the first byte.
    origin: Option<u32>,
    /// Transmissions of each listed segment.
    transmissions: HashMap<SegmentNumber, u32>,
}

impl SegmentNumbers {
    pub(crate) fn new(listed: &ListedSegments) -> SegmentNumbers {
        let transmissions = listed.numbers.iter().map(|&number| (number, 0)).collect();
        SegmentNumbers { mss: listed.mss, first_data: listed.first_data, origin: None, transmissions }
    }

    /// The segment in a packet that is sent now. Acknowledgements without data have no number.
    pub(crate) fn identify(&mut self, packet: &[u8]) -> DatagramContents {
        let number = self.number(packet);
        let listed = number.and_then(|segment| Some((segment, self.transmissions.get_mut(&segment)?)));
        let Some((segment, transmission)) = listed else { return DatagramContents::Unlisted };
        *transmission += 1;
        DatagramContents::Segment { segment, transmission: *transmission }
    }

    fn number(&mut self, packet: &[u8]) -> Option<SegmentNumber> {
        let SegmentNumbers { mss, first_data, .. } = *self;
        let sent = ip::tcp_segment(packet)?;
        if sent.is_syn {
            self.origin = Some(sent.sequence.wrapping_add(1));
            return (first_data > SegmentNumber::FIRST).then(|| first_data.previous());
        }
        let position = sent.sequence.wrapping_sub(self.origin?);
        (sent.payload > 0).then(|| first_data + Segments(position / mss.0.max(1) as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ip::tests::packet;
    use std::net::Ipv4Addr;

    const SYN: u8 = 2;
    const ACK: u8 = 16;

    /// A packet with this sequence number, payload and flags.
    fn tcp(sequence: u32, payload: u16, flags: u8) -> Vec<u8> {
        let ends = (Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2));
        let mut packet = packet(ends, 20 + 32 + payload, 0);
        packet[9] = 6;
        packet[24..28].copy_from_slice(&sequence.to_be_bytes());
        (packet[32], packet[33]) = (8 << 4, flags);
        packet
    }

    #[test]
    fn data_is_numbered_from_the_syn_across_the_end_of_the_sequence_space() {
        let isn = u32::MAX - 700;
        let sent = [
            tcp(isn, 0, SYN),
            tcp(isn + 1, 0, ACK),
            tcp(isn + 1, 1000, ACK),
            tcp(isn.wrapping_add(1001), 1000, ACK),
            tcp(isn + 1, 1000, ACK),
            tcp(isn.wrapping_add(2001), 0, ACK),
        ];
        let numbers = |first_data| {
            let listed = ListedSegments {
                numbers: [0, 1, 2].map(SegmentNumber).into(),
                mss: Bytes(1000),
                first_data: SegmentNumber(first_data),
            };
            let mut numbers = SegmentNumbers::new(&listed);
            sent.iter().map(|packet| numbers.identify(packet)).collect::<Vec<_>>()
        };
        let segment = |number, transmission| DatagramContents::Segment { segment: SegmentNumber(number), transmission };
        let unlisted = DatagramContents::Unlisted;
        assert_eq!(numbers(1), [segment(0, 1), unlisted, segment(1, 1), segment(2, 1), segment(1, 2), unlisted]);
        // A scenario without a handshake does not number the SYN.
        assert_eq!(numbers(0), [unlisted, unlisted, segment(0, 1), segment(1, 1), segment(0, 2), unlisted]);
    }

    #[test]
    fn other_packets_have_no_number() {
        let listed = ListedSegments { numbers: [0, 1].map(SegmentNumber).into(), mss: Bytes(1000), first_data: SegmentNumber(1) };
        let mut numbers = SegmentNumbers::new(&listed);
        let mut udp = tcp(7, 1000, ACK);
        udp[9] = 17;
        // Data before its SYN, and a truncated header.
        for packet in [udp, tcp(7, 1000, ACK), tcp(7, 0, SYN)[..30].to_vec()] {
            assert_eq!(numbers.identify(&packet), DatagramContents::Unlisted);
        }
        numbers.identify(&tcp(7, 0, SYN));
        // Segment 2 is not listed.
        assert_eq!(numbers.identify(&tcp(1008, 1000, ACK)), DatagramContents::Unlisted);
    }
}
