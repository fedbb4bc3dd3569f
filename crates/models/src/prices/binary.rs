//! Prices with a fixed number of levels: the quantiser alone, Thommes and Coates (TPM), Ryu, Cho and others (RPM).

use super::keyword::keyword;
use super::{Price, none_of};
use crate::model::{answers, arguments, models};
use crate::parameter::{Count, Integer, ParameterError};

keyword! {
    /// Information that one TPM packet carries.
    pub enum TpmMarking as "marking" {
        /// One bit of the price of one router.
        OneBit {
            word: "one_bit",
            title: "one bit",
            help: "a packet is marked or not: one bit of the price of one router",
            source: "cui-thesis, section 5.4"
        },
        /// Both ECN bits.
        TwoBits {
            word: "two_bits",
            title: "two bits",
            help: "both ECN bits: two packets carry one bit of the prices of six routers",
            source: "cui-thesis, equation (2.9)"
        },
    }
}

keyword! {
    /// Value that a TPM receiver assumes for a bit not received yet; the document does not specify it.
    pub enum UnseenBit as "unseen" {
        /// No mark.
        Zero {
            word: "zero",
            title: "zero",
            help: "as 0: estimates start at the lowest price and are too low",
            source: ""
        },
        /// The mean.
        Half {
            word: "half",
            title: "half",
            help: "as 1/2, the mean over all prices: estimates start in the middle",
            source: ""
        },
    }
}

answers! {
    /// Error of a quantiser.
    pub struct QuantiserError {
        /// Mean error: 1/(4k).
        mean: f64,
        /// Mean of its square: 1/(12 k^2).
        mean_square: f64,
        /// The largest: 1/(2k).
        largest: f64,
    }
}

answers! {
    /// Packet types in TPM.
    pub struct TpmProbeTypes {
        /// T, number of packet types.
        types: u64,
        /// Mean number of packets until every type has been received, with types drawn uniformly. Types in sequence take `types`
        /// packets.
        random_packets: f64,
    }
}

answers! {
    /// Mean square error of a scheme with a fixed quantiser.
    pub struct BinaryError {
        /// After `probes` packets.
        mean_square: f64,
        /// Quantisation error, which remains after any number of packets.
        floor: f64,
    }
}

arguments! {
    /// A path with TPM.
    pub struct Tpm {
        /// k, packets received.
        probes: Integer,
        /// b, bits of a router's price, 1 to 52.
        bits: Count,
        /// n, routers on the path, with independent prices.
        hops: Count,
        /// h, largest number of routers that packet types provide for.
        max_hops: Count = 30,
        /// Assumed value of bits that have not been received.
        unseen: UnseenBit = "zero",
    }
}

arguments! {
    /// A path with RPM.
    pub struct Rpm {
        /// k, packets received.
        probes: Integer,
        /// n, levels of the price.
        levels: Count,
        /// The receiver's estimate before the first mark.
        initial: Price = 0,
    }
}

models! {
    /// Error of a quantiser with uniform levels, each decoded as its midpoint.
    pub fn quantiser_error(
        /// k, levels between 0 and 1.
        levels: Count,
    ) -> QuantiserError {
        let levels = levels.get() as f64;
        QuantiserError { mean: 1.0 / (4.0 * levels), mean_square: 1.0 / (12.0 * levels * levels), largest: 1.0 / (2.0 * levels) }
    }
    quantity: "error of a quantiser";
    equation: "mean 1/(4k), mean square 1/(12 k^2)";
    source: "cui-thesis, section 5.2.2";
    assumes: ["prices uniform in 0 to 1"];

    /// Packet types in the scheme of Thommes and Coates (TPM), which carries the bits of each router's price.
    pub fn tpm_probe_types(
        /// b, bits of a router's price.
        bits: Count,
        /// h, largest number of routers that packet types provide for.
        max_hops: Count = 30,
        /// Information that one packet carries.
        marking: TpmMarking = "one_bit",
    ) -> Result<TpmProbeTypes, ParameterError> {
        let packets = match marking {
            TpmMarking::OneBit => Some(max_hops.get()),
            TpmMarking::TwoBits => max_hops.get().div_ceil(6).checked_mul(2),
        };
        let types = packets.and_then(|packets| packets.checked_mul(bits.get())).filter(|&types| types <= MAX_TYPES);
        let types = types.ok_or_else(|| ParameterError::new("bits", bits.get(), "fewer bits: the number of packet types is limited to 2^53"))?;
        Ok(TpmProbeTypes { types, random_packets: types as f64 * harmonic(types) })
    }
    quantity: "packet types in TPM";
    equation: "one bit: b h; two bits: 2 b ceil(h/6); until all were drawn: T (1 + 1/2 + ... + 1/T)";
    source: "cui-thesis, section 2.3.5 and equation (2.9); section 5.4 for one bit";
    assumes: ["no packet is lost"];
    refuses: "more than 2^53 packet types";
    example: ">>> tb.models.tpm_probe_types(bits=4, marking=\"two_bits\").types\n40";

    /// Mean square error of TPM with one-bit marks for the mean price of a path with uniform prices, after `probes` packets of
    /// randomly drawn types.
    ///
    /// A router rounds its price to one of the L + 1 = 2^b values 0, 1/L, ..., 1, as the marking scheme `tpm` does. A given type out
    /// of T has not arrived with probability (1 - 1/T)^k, and two given types with (1 - 2/T)^k. The outer values are half as
    /// likely as the others: hence the bits of a price, and its rounding error, depend slightly on one another.
    pub fn tpm_error(tpm: Tpm) -> Result<BinaryError, ParameterError> {
        let Tpm { probes, bits, hops, max_hops, unseen } = tpm;
        if bits.get() > 52 {
            return Err(ParameterError::new("bits", bits.get(), "1 to 52"));
        }
        if hops.get() > max_hops.get() {
            return Err(ParameterError::new("hops", hops.get(), format!("at most `max_hops`, {}", max_hops.get())));
        }
        let (count, routers) = (probes.get() as f64, hops.get() as f64);
        let types = bits.get() as f64 * max_hops.get() as f64;
        let (one, two) = (none_of(1.0 / types, count), none_of(2.0 / types, count));
        let levels = ((1u64 << bits.get()) - 1) as f64;
        // The sum of the squared weights of a router's bits; the sum of the weights is 1.
        let square = (levels + 2.0) / (3.0 * levels);
        let rounding = 1.0 / (12.0 * levels * levels);
        // Missing bits of one router, including their product with its rounding error, and of two routers.
        let (of_one, of_two) = match unseen {
            UnseenBit::Zero => (one * square / 2.0 + two * (1.0 - square) * (levels - 1.0) / (4.0 * levels), two / 4.0),
            UnseenBit::Half => (one * square / 4.0 - two * (1.0 - square) / (4.0 * levels), 0.0),
        };
        let missing = (of_one - 3.0 * one * rounding) / routers + of_two * (1.0 - 1.0 / routers);
        let floor = rounding / routers;
        Ok(BinaryError { mean_square: missing + floor, floor })
    }
    quantity: "error of TPM";
    equation: "unseen as 1/2: (u V / 4 - u2 (1 - V) / (4L) - u / (4L^2) + 1 / (12L^2)) / n; as 0: (u V / 2 + u2 (1 - V) (L - 1) / (4L) - \
        u / (4L^2) + 1 / (12L^2)) / n + u2 (1 - 1/n) / 4, u = (1 - 1/T)^k, u2 = (1 - 2/T)^k, T = b h, L = 2^b - 1, V = (L + 2) / (3L)";
    source: "cui-thesis, sections 2.3.5 and 5.4 for the scheme; derived in docs/evidence/theory.md";
    assumes: ["one-bit marks", "n independent prices uniform in 0 to 1, of which the mean is estimated", "packet types drawn uniformly"];
    refuses: "more than 52 bits, and `hops` above `max_hops`";
    example: ">>> error = tb.models.tpm_error(probes=1000, bits=4, hops=10)\n\
        >>> round(error.mean_square, 7), round(error.floor, 7)\n(4.14e-05, 3.7e-05)";

    /// Mean square error of the scheme of Ryu and others (RPM) after `probes` packets with randomly drawn levels. A packet is
    /// marked if the price equals the level that it probes.
    pub fn rpm_error(rpm: Rpm) -> BinaryError {
        let Rpm { probes, levels, initial } = rpm;
        let levels = levels.get() as f64;
        let (unseen, initial) = (none_of(1.0 / levels, probes.get() as f64), initial.get());
        let floor = 1.0 / (12.0 * levels * levels);
        BinaryError { mean_square: unseen * (1.0 / 3.0 - initial * (1.0 - initial)) + (1.0 - unseen) * floor, floor }
    }
    quantity: "error of RPM";
    equation: "u (1/3 - i (1 - i)) + (1 - u) / (12 n^2), u = (1 - 1/n)^k";
    source: "cui-thesis, sections 2.3.6 and 5.2.3 for the scheme";
    assumes: ["one price uniform in 0 to 1, and no other marks on the path", "levels drawn uniformly", "a level is decoded as its midpoint"];
    example: ">>> round(tb.models.rpm_error(probes=100, levels=100).mean_square, 4)\n0.122";
}

/// Whole numbers up to this one are exact in floating point.
const MAX_TYPES: u64 = 1 << 53;

/// 1 + 1/2 + ... + 1/n.
fn harmonic(n: u64) -> f64 {
    const EULER: f64 = 0.577_215_664_901_532_9;
    match n {
        ..=1000 => (1..=n).map(|each| 1.0 / each as f64).sum(),
        _ => {
            let n = n as f64;
            libm::log(n) + EULER + 1.0 / (2.0 * n) - 1.0 / (12.0 * n * n)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(value: u64) -> Result<Count, ParameterError> {
        Count::new("count", value)
    }

    fn tpm(probes: u64, bits: u64, hops: u64, max_hops: u64, unseen: UnseenBit) -> Result<BinaryError, ParameterError> {
        let (bits, hops, max_hops) = (count(bits)?, count(hops)?, count(max_hops)?);
        tpm_error(Tpm { probes: Integer::new(probes), bits, hops, max_hops, unseen })
    }

    /// Sums over all sequences of types and all values of all routers. The rounding error is uniform within a value's interval.
    fn by_enumeration(probes: u32, bits: u32, hops: u32, max_hops: u32, unseen: f64) -> f64 {
        let (types, needed, last) = (bits * max_hops, bits * hops, (1u32 << bits) - 1);
        let step = 1.0 / f64::from(last);
        let sequences = types.pow(probes);
        let mut sum = 0.0;
        for sequence in 0..sequences {
            let seen = (0..probes).fold(0u32, |seen, at| seen | 1 << (sequence / types.pow(at) % types));
            let mut of_sequence = 0.0;
            for prices in 0..1u32 << needed {
                let (mut probability, mut error, mut variance) = (1.0, 0.0, 0.0);
                for router in 0..hops {
                    let value = prices >> (bits * router) & last;
                    let low = (f64::from(value) - 0.5).max(0.0) * step;
                    let high = (f64::from(value) + 0.5).min(f64::from(last)) * step;
                    let believed = |bit: u32| match seen >> (bits * router + bit) & 1 {
                        1 => f64::from(value >> bit & 1),
                        _ => unseen,
                    };
                    let estimate: f64 = (0..bits).map(|bit| believed(bit) * f64::from(1u32 << bit) * step).sum();
                    probability *= high - low;
                    error += f64::midpoint(low, high) - estimate;
                    variance += (high - low) * (high - low) / 12.0;
                }
                of_sequence += probability * (error * error + variance);
            }
            sum += of_sequence / f64::from(sequences);
        }
        sum / f64::from(hops * hops)
    }

    #[test]
    fn the_error_of_tpm_matches_an_enumeration_of_all_sequences_and_prices() -> Result<(), ParameterError> {
        for (probes, bits, hops, max_hops) in
            [(0, 2, 2, 3), (1, 1, 1, 1), (2, 3, 1, 1), (3, 2, 2, 3), (4, 2, 3, 3), (3, 3, 2, 2), (6, 1, 2, 5)]
        {
            for (unseen, value) in [(UnseenBit::Zero, 0.0), (UnseenBit::Half, 0.5)] {
                let expected = by_enumeration(probes, bits, hops, max_hops, value);
                let found = tpm(probes.into(), bits.into(), hops.into(), max_hops.into(), unseen)?.mean_square;
                // Thirds and fifteenths are not exact in floating point.
                assert!(
                    (found / expected - 1.0).abs() < 1e-12,
                    "{probes}, {bits}, {hops} of {max_hops}, {unseen:?}: {found} for {expected}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn the_floor_is_the_quantiser_error_over_the_number_of_routers() -> Result<(), ParameterError> {
        let quantiser = quantiser_error(count(16)?);
        assert_eq!((quantiser.mean, quantiser.mean_square, quantiser.largest), (1.0 / 64.0, 1.0 / 3072.0, 1.0 / 32.0));
        let late = tpm(1_000_000, 4, 10, 30, UnseenBit::Zero)?;
        // The 16 values of four bits are 1/15 apart: 12 * 15^2 * 10 = 27,000.
        assert!((late.mean_square * 27_000.0 - 1.0).abs() < 1e-12 && late.floor == late.mean_square);
        assert!(tpm(1, 4, 31, 30, UnseenBit::Zero).is_err() && tpm(1, 53, 3, 30, UnseenBit::Zero).is_err());
        Ok(())
    }

    #[test]
    fn packet_types_match_the_document() -> Result<(), ParameterError> {
        let of = |bits, marking| tpm_probe_types(count(bits)?, count(30)?, marking);
        assert_eq!((of(4, TpmMarking::TwoBits)?.types, of(4, TpmMarking::OneBit)?.types), (40, 120));
        // Two types: the second takes two more packets on average. 1 + 1/2 + ... + 1/1001 by both methods.
        assert_eq!(tpm_probe_types(count(2)?, count(1)?, TpmMarking::OneBit)?.random_packets, 3.0);
        assert!((harmonic(1001) - harmonic(1000) - 1.0 / 1001.0).abs() < 1e-13);
        assert!(tpm_probe_types(count(1 << 30)?, count(1 << 30)?, TpmMarking::TwoBits).is_err());
        Ok(())
    }

    #[test]
    fn rpm_by_hand() -> Result<(), ParameterError> {
        // Two levels, one packet: probed or not with probability 1/2 each. Probed, 1/48; not probed, 1/3 from 0 and 1/12 from
        // 1/2.
        let of =
            |initial| Ok::<BinaryError, ParameterError>(rpm_error(Rpm { probes: Integer::new(1), levels: count(2)?, initial }));
        let (low, middle) = (of(Price::new("initial", 0.0)?)?, of(Price::new("initial", 0.5)?)?);
        assert!((low.mean_square - (1.0 / 48.0 + 1.0 / 3.0) / 2.0).abs() < 1e-15);
        assert!((middle.mean_square - (1.0 / 48.0 + 1.0 / 12.0) / 2.0).abs() < 1e-15);
        Ok(())
    }
}
