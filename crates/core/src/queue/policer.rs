//! Policer: discards or marks packets that exceed a token bucket, before they are queued (RFC 2697 section 3, with one rate and one burst;
//! RFC 2475 section 2.3.3.4). The link may be faster; conforming packets are sent at its rate.
//!
//! As the policy of a link's queue it polices the link. As the policy of several queues (`scheduler = "fifo"`), each with its own bucket,
//! it polices flows or groups of flows.

use super::support::{DropReason, Occupancy, Policy, Unit, Verdict};
use crate::primitives::token_bucket::{BucketSpec, TokenBucket};
use crate::primitives::units::{Bytes, Rate, Time};
use crate::settings::{Kind, PlainWords, Settings, member, words};
use serde::{Deserialize, Serialize};

words! {
    /// Action on packets that exceed the rate.
    pub enum Excess ("excess") {
        /// Discard the packet.
        Dropped = "dropped",
        /// Mark the packet (CE), or discard it if it is not ECN-capable.
        Marked = "marked",
    }
}

member! {
    /// Token bucket: discards or marks packets that exceed a rate, except for bursts.
    Policer = "policer", "RFC 2697 section 3";

    pub struct PolicerSpec {
        /// Token rate, headers included (CIR).
        rate: Rate => Kind::Rate,
        /// Bucket size: maximum burst that passes at once (CBS). A larger packet never conforms.
        burst: u32 => Kind::Bytes { min: 1, max: 1_000_000_000 }; "15 kB",
        /// Action on packets that exceed the rate.
        excess: Excess = Excess::Dropped => Kind::Words(&Excess::WORDS),
    }
}

impl Settings for PolicerSpec {
    fn samples() -> Vec<PolicerSpec> {
        let of = |(rate, burst, excess)| PolicerSpec { rate: Rate(rate), burst, excess };
        [(4_000_000, 3000, Excess::Dropped), (500_000, 15_000, Excess::Marked), (1, 1, Excess::Dropped)].map(of).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Policer {
    bucket: TokenBucket,
    excess: Excess,
}

impl Policer {
    pub(super) fn new(spec: &PolicerSpec) -> Policer {
        let burst = Bytes(spec.burst.into());
        Policer { bucket: TokenBucket::new(BucketSpec { rate: spec.rate, burst }), excess: spec.excess }
    }
}

impl Policy for Policer {
    type PerFlow = ();
    const IS_RANDOM: bool = false;
    const TRACKS_FLOWS: bool = false;

    fn bucket(&self) -> Option<BucketSpec> {
        Some(self.bucket.spec())
    }

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), buffer: &Occupancy, now: Time) -> Verdict {
        match self.excess {
            // A unit without room takes no tokens.
            _ if !buffer.has_room || self.bucket.take(now, unit.bytes) => Verdict::Accept,
            Excess::Dropped => Verdict::Discard(DropReason::Policed),
            Excess::Marked => Verdict::Mark,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{TimeDelta, Units};

    /// Verdicts on packets of 1000 bytes that arrive at these milliseconds, at 8 Mbit/s (a byte per microsecond) and a burst of 3000 bytes.
    fn verdicts<const N: usize>(excess: Excess, at: [u64; N]) -> [Verdict; N] {
        let mut policer = Policer::new(&PolicerSpec { rate: Rate(8_000_000), burst: 3000, excess });
        let unit = Unit { bytes: Bytes(1000), is_last: true };
        let buffer = Occupancy::of(Units(0), Bytes(0));
        at.map(|ms| policer.on_arrival(&unit, &mut (), &buffer, Time(TimeDelta::from_millis(ms).0)))
    }

    #[test]
    fn a_burst_passes_and_packets_above_the_rate_after_it_do_not() {
        let (passes, excess) = (Verdict::Accept, Verdict::Discard(DropReason::Policed));
        assert_eq!(
            verdicts(Excess::Dropped, [0, 0, 0, 0, 1, 1, 3, 3, 3]),
            [passes, passes, passes, excess, passes, excess, passes, passes, excess]
        );
        assert_eq!(verdicts(Excess::Marked, [0, 0, 0, 0, 1]), [passes, passes, passes, Verdict::Mark, passes]);
    }

    #[test]
    fn units_without_room_take_no_tokens() {
        let mut policer = Policer::new(&PolicerSpec { rate: Rate(8_000_000), burst: 1000, excess: Excess::Dropped });
        let unit = Unit { bytes: Bytes(1000), is_last: true };
        let full = Occupancy { has_room: false, ..Occupancy::of(Units(9), Bytes(9000)) };
        policer.on_arrival(&unit, &mut (), &full, Time::ZERO);
        let overflow = Occupancy::of(Units(8), Bytes(8000));
        assert_eq!(policer.on_arrival(&unit, &mut (), &overflow, Time::ZERO), Verdict::Accept);
    }
}
