//! Return of a price to the sender as one bit per acknowledgement: whether the price exceeds a threshold that both ends derive from the
//! checksum of the data packet, as in ADPM (cui-thesis section 5.3.1).

use super::mapping::MappedPrice;
use crate::primitives::random::Stream;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::PriceBit;
use serde::{Deserialize, Serialize};

const THRESHOLDS: f64 = 65_536.0;

impl PriceBit {
    /// The bit in the acknowledgement of this segment.
    pub(crate) fn of(price: MappedPrice, segment: SegmentNumber) -> PriceBit {
        let threshold = Stream::default().bits(segment.0.into()) as u16;
        PriceBit { threshold, is_above: price.0 * THRESHOLDS > f64::from(threshold) }
    }
}

/// The sender's estimate from the bits. It is the highest price before the first bit, so the sender starts slowly.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct BitReader {
    /// Estimate in units of 1/65536.
    estimate: u16,
}

impl Default for BitReader {
    fn default() -> BitReader {
        BitReader { estimate: u16::MAX }
    }
}

impl BitReader {
    pub(crate) fn read(&mut self, bit: PriceBit) -> MappedPrice {
        if bit.is_above == (bit.threshold > self.estimate) {
            self.estimate = bit.threshold;
        }
        MappedPrice(f64::from(self.estimate) / THRESHOLDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_acknowledgements_determine_the_price_to_a_hundredth() {
        let mut reader = BitReader::default();
        for price in [0.3, 0.8, 0.0] {
            let path_price =
                (0..1000).map(|segment| reader.read(PriceBit::of(MappedPrice(price), SegmentNumber(segment)))).last();
            assert!(path_price.is_some_and(|path_price| (path_price.0 - price).abs() < 0.01), "{price}: {path_price:?}");
        }
    }
}
