//! Identification of packets, for the schemes that depend on it: the IP ID, or a checksum of the payload where there is none.

use crate::primitives::random::Stream;
use crate::primitives::segment_number::SegmentNumber;
use crate::settings::words;
use serde::{Deserialize, Serialize};

words! {
    /// How senders assign the identification of packets, from which probes are derived.
    pub enum Identification ("identification") {
        /// IP IDs counted from a random start, as on many systems. With thresholds by bit reversal this is random bit-reversed counting.
        Counting = "counting",
        /// IP IDs counted from 1: pure bit-reversed counting.
        FromOne = "from_one",
        /// As `counting`, but with the two bytes swapped, as written by hosts that do not convert to network byte order.
        ByteSwapped = "byte_swapped",
        /// Random IP IDs.
        Random = "random",
        /// No IP ID, but a checksum of the payload; a retransmission has the same checksum.
        Checksum = "checksum",
    }
}

/// Identification state of a sender.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Numbering {
    stream: Stream,
    sent: u64,
}

impl Numbering {
    pub fn new(stream: Stream) -> Numbering {
        Numbering { stream, sent: 0 }
    }

    /// Identification of the next packet, which carries this segment.
    #[inline]
    pub fn next(&mut self, how: Identification, segment: SegmentNumber) -> u16 {
        let number = self.sent;
        self.sent += 1;
        // Draw 0 is the start of the count.
        let counted = |stream: &Stream| (1 + stream.bits(0) % 65_535 + number) as u16;
        match how {
            Identification::Counting => counted(&self.stream),
            Identification::FromOne => (1 + number) as u16,
            Identification::ByteSwapped => counted(&self.stream).swap_bytes(),
            Identification::Random => self.stream.bits(1 + number) as u16,
            Identification::Checksum => self.stream.bits((1 << 63) + u64::from(segment.0)) as u16,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};

    #[test]
    fn counters_increment_and_a_checksum_depends_on_the_segment() {
        let stream = Stream::new(Entity { seed: 1, name: "sender", index: 0 }, Purpose::Price);
        let first = |how, segments: [u32; 3]| {
            let mut numbering = Numbering::new(stream);
            segments.map(|segment| numbering.next(how, SegmentNumber(segment)))
        };
        assert_eq!(first(Identification::FromOne, [7, 8, 7]), [1, 2, 3]);
        let counted = first(Identification::Counting, [7, 8, 7]);
        assert_eq!([counted[1], counted[2]], [counted[0].wrapping_add(1), counted[0].wrapping_add(2)]);
        assert_eq!(first(Identification::ByteSwapped, [7, 8, 7]), counted.map(u16::swap_bytes));
        let summed = first(Identification::Checksum, [7, 8, 7]);
        assert!(summed[0] == summed[2] && summed[0] != summed[1]);
        let drawn = first(Identification::Random, [7, 7, 7]);
        assert!(drawn[0] != drawn[1] && drawn[1] != drawn[2]);
    }
}
