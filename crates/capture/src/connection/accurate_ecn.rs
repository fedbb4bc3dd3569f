//! Accurate ECN feedback (RFC 9768): after its handshake, the flags AE, CWR and ECE are a counter of packets with CE.

use super::sequence::StreamOffset;
use crate::segment::EcnFlags;

/// The feedback that a handshake agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnFeedback {
    None,
    /// RFC 3168 section 6.1.1: requested with ECE and CWR, accepted with ECE alone.
    Classic,
    Accurate,
}

impl EcnFeedback {
    /// `request`: the flags of the SYN; `reply`: those of the SYN-ACK (RFC 9768 section 3.1.1, table 2).
    pub(crate) fn agreed(request: EcnFlags, reply: EcnFlags) -> EcnFeedback {
        match (request.bits(), reply.bits()) {
            (0b111, 0b010 | 0b011 | 0b100 | 0b110) => EcnFeedback::Accurate,
            (0b111, 0b001 | 0b101) | (0b011, 0b001) => EcnFeedback::Classic,
            _ => EcnFeedback::None,
        }
    }
}

/// The receiver's counter of packets with CE, as far as its last three bits show it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CeCounter {
    last: u8,
    acknowledged: Option<StreamOffset>,
    packets: u64,
    /// The first acknowledgement of a client reports the mark of the SYN-ACK instead (section 3.2.2.1).
    skips_next: bool,
}

/// The counter's value before the first mark (section 3.2.1).
const INITIAL: u8 = 5;

impl CeCounter {
    pub(crate) fn of_client() -> CeCounter {
        CeCounter { skips_next: true, ..CeCounter::of_server() }
    }

    pub(crate) fn of_server() -> CeCounter {
        CeCounter { last: INITIAL, acknowledged: None, packets: 0, skips_next: false }
    }

    /// An acknowledgement; older ones, which were overtaken, are ignored. The counter increases by less than 8 between two
    /// acknowledgements, or the result is too low.
    pub(crate) fn on_acknowledgement(&mut self, acknowledged: StreamOffset, flags: EcnFlags) {
        if std::mem::take(&mut self.skips_next) || self.acknowledged.is_some_and(|last| acknowledged < last) {
            return;
        }
        self.acknowledged = Some(acknowledged);
        self.packets += u64::from(flags.bits().wrapping_sub(self.last) & 7);
        self.last = flags.bits();
    }

    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flags(bits: u8) -> EcnFlags {
        EcnFlags { ae: bits & 4 != 0, cwr: bits & 2 != 0, ece: bits & 1 != 0 }
    }

    #[test]
    fn the_reply_decides_on_the_feedback() {
        let agreed = |request, reply| EcnFeedback::agreed(flags(request), flags(reply));
        assert_eq!([0b010, 0b011, 0b100, 0b110].map(|reply| agreed(0b111, reply)), [EcnFeedback::Accurate; 4]);
        assert_eq!([agreed(0b111, 0b001), agreed(0b011, 0b001)], [EcnFeedback::Classic; 2]);
        let none = [agreed(0b111, 0), agreed(0b111, 0b111), agreed(0b011, 0b011), agreed(0, 0b001)];
        assert_eq!(none, [EcnFeedback::None; 4]);
    }

    #[test]
    fn marks_are_counted_modulo_8_from_5() {
        let mut counter = CeCounter::of_server();
        // Three marks in all, then six more beyond the wraparound.
        for (acknowledged, bits) in [(1, 5), (2, 6), (3, 0), (2, 6), (4, 6)] {
            counter.on_acknowledgement(acknowledged, flags(bits));
        }
        assert_eq!(counter.packets(), 9);
        let mut counter = CeCounter::of_client();
        counter.on_acknowledgement(1, flags(2));
        counter.on_acknowledgement(1, flags(5));
        assert_eq!(counter.packets(), 0);
    }
}
