//! Packets that were seen before: a mirror port and the device `any` of a router capture a packet several times.

use crate::time::Timestamp;
use std::time::Duration;

/// Fingerprints of recent packets: in each of a fixed number of places the latest few, the most recent one first.
#[derive(Clone, Debug, Default)]
pub(crate) struct SeenPackets(Vec<[(u64, Timestamp); WAYS]>);

/// A packet's fingerprint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenPacket {
    pub(crate) at: Timestamp,
    pub(crate) hash: u64,
    /// A packet with the same fingerprint later than this is another one.
    pub(crate) within: Duration,
}

/// Less than the initial retransmission timeout (RFC 6298 section 2.1), more than the queue of a router that captures a packet on both
/// sides.
pub(crate) const REPEATED_WITHIN: Duration = Duration::from_millis(900);

/// The same for packets whose IP header does not identify them.
pub(crate) const UNIDENTIFIED_WITHIN: Duration = Duration::from_millis(3);

const PLACES: usize = 1 << 13;
const WAYS: usize = 4;
/// Longer ago than any packet.
const NEVER: Timestamp = Timestamp(i64::MIN);

impl SeenPackets {
    /// Whether the packet repeats an earlier one; it is remembered otherwise.
    pub(crate) fn repeats(&mut self, packet: SeenPacket) -> bool {
        if self.0.is_empty() {
            self.0 = vec![[(0, NEVER); WAYS]; PLACES];
        }
        let place = &mut self.0[packet.hash as usize % PLACES];
        let between = |at: Timestamp| packet.at.since(at).max(at.since(packet.at));
        if place.iter().any(|&(hash, at)| hash == packet.hash && at != NEVER && between(at) < packet.within) {
            return true;
        }
        place.rotate_right(1);
        place[0] = (packet.hash, packet.at);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_repeated_if_it_was_seen_shortly_before() {
        let mut seen = SeenPackets::default();
        let mut repeats = |milliseconds: i64, hash| {
            let at = Timestamp(milliseconds * 1_000_000);
            seen.repeats(SeenPacket { at, hash, within: UNIDENTIFIED_WITHIN })
        };
        let found = [(0, 7), (2, 7), (3, 7), (4, 8), (5, 7), (4, 7)].map(|(at, hash)| repeats(at, hash));
        assert_eq!(found, [false, true, false, false, true, true]);
        // Others in the same place.
        let other = |n: usize| 7 + (n * PLACES) as u64;
        assert_eq!([repeats(5, other(1)), repeats(5, 7)], [false, true]);
        assert_eq!([2, 3, 4].map(|n| repeats(5, other(n))), [false; 3]);
        assert!(!repeats(5, 7));
    }
}
