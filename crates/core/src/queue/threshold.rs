//! Threshold: marks packets that arrive at a queue longer than a threshold. This is the switch of DCTCP (Bensley and others, RFC 8257,
//! section 3.1; Alizadeh and others, "Data center TCP (DCTCP)", SIGCOMM 2010, section 3.1). It uses no average and no random numbers:
//! senders use the fraction of marked packets.
//!
//! The queue length excludes the arriving packet. An implementation that includes it needs a threshold that is larger by one.
//!
//! Packets that are not ECN-capable are discarded instead (RFC 3168, section 5): for them the buffer ends at the threshold.

use super::support::{Occupancy, Onset, OnsetThreshold, Policy, Unit, Verdict};
use crate::primitives::units::Time;
use crate::settings::{Kind, QueueLength, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// Marks packets that arrive at a queue longer than a threshold: the switch of DCTCP. Discards packets that are not ECN-capable.
    Threshold = "threshold", "RFC 8257 section 3.1";

    pub struct ThresholdSpec {
        /// Queue length on arrival, excluding the arriving packet, above which packets are marked (K).
        threshold: QueueLength => Kind::QueueLength,
    }
}

impl Settings for ThresholdSpec {
    fn samples() -> Vec<ThresholdSpec> {
        let lengths = [QueueLength::Units(0), QueueLength::Bytes(5000), QueueLength::Units(20)];
        lengths.map(|threshold| ThresholdSpec { threshold }).into()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Threshold {
    spec: ThresholdSpec,
}

impl Threshold {
    pub(super) fn new(spec: &ThresholdSpec) -> Threshold {
        Threshold { spec: *spec }
    }
}

impl Policy for Threshold {
    type PerFlow = ();
    const IS_RANDOM: bool = false;
    const TRACKS_FLOWS: bool = false;
    const ONLY_MARKS: bool = true;

    fn onset(&self) -> Onset {
        let threshold = OnsetThreshold { setting: "threshold", length: self.spec.threshold };
        Onset { threshold: Some(threshold), ..Onset::default() }
    }

    fn on_arrival(&mut self, _unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        let ThresholdSpec { threshold } = self.spec;
        if threshold.measure(buffer.units, buffer.bytes) > threshold.number() { Verdict::Mark } else { Verdict::Accept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{Bytes, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    /// The verdict on a packet that finds this many packets queued.
    fn finds(threshold: QueueLength, waiting: u64) -> Verdict {
        let buffer = Occupancy::of(Units(waiting), Bytes(1000 * waiting));
        Threshold::new(&ThresholdSpec { threshold }).on_arrival(&PACKET, &mut (), &buffer, Time::ZERO)
    }

    #[test]
    fn it_marks_from_one_packet_above_the_threshold() {
        assert_eq!(
            [4, 5, 6, 99].map(|waiting| finds(QueueLength::Units(5), waiting)),
            [Verdict::Accept, Verdict::Accept, Verdict::Mark, Verdict::Mark]
        );
    }

    #[test]
    fn at_a_threshold_of_zero_only_packets_at_an_empty_queue_pass_unmarked() {
        let finds = |waiting| finds(QueueLength::Units(0), waiting);
        assert_eq!((finds(0), finds(1)), (Verdict::Accept, Verdict::Mark));
    }

    #[test]
    fn a_threshold_in_bytes_is_compared_with_the_bytes_in_the_queue() {
        // Packets of 1000 bytes.
        let found = [5, 6].map(|waiting| finds(QueueLength::Bytes(5500), waiting));
        assert_eq!(found, [Verdict::Accept, Verdict::Mark]);
        assert_eq!(finds(QueueLength::Bytes(5000), 5), Verdict::Accept);
    }
}
