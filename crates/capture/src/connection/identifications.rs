//! The identification field of a sender's IPv4 headers (RFC 6864): some senders number their packets, others write a constant.

/// Packets of a sender that numbers the packets of a connection consecutively, as Linux does.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PacketNumbers {
    /// First and highest number, without wraparound.
    range: Option<(u64, u64)>,
    packets: u64,
    /// A number was too far from the others.
    is_other: bool,
}

/// Numbers further apart are not of one counter.
const FAR: i16 = 1 << 13;

impl PacketNumbers {
    pub(crate) fn see(&mut self, number: u16) {
        let Some((first, highest)) = self.range else {
            let number = 1 << 32 | u64::from(number);
            (self.range, self.packets) = (Some((number, number)), 1);
            return;
        };
        let ahead = number.wrapping_sub(highest as u16) as i16;
        if number == 0 && ahead != 1 {
            // Linux writes 0 in packets without a socket.
            return;
        }
        let number = highest.saturating_add_signed(ahead.into());
        self.is_other |= ahead.unsigned_abs() > FAR.unsigned_abs();
        self.packets += 1;
        self.range = Some((first.min(number), highest.max(number)));
    }

    /// Packets that were sent and not seen; `None` if they are not numbered consecutively, or if they are more than half as many as
    /// the packets seen.
    pub(crate) fn missing(&self) -> Option<u64> {
        let (first, highest) = self.range?;
        let missing = (highest - first + 1).checked_sub(self.packets)?;
        (!self.is_other && missing * 2 <= self.packets).then_some(missing)
    }
}

/// State of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    /// Packets with the first identification.
    same: u32,
    varies: bool,
}

/// Packets with the same identification after which it is a constant.
const CONSTANT: u32 = 4;

impl Identifications {
    /// Whether the field identifies packets: it differs between packets of this sender, the next one included, or may yet differ.
    pub(crate) fn identify(&mut self, next: Option<u16>) -> bool {
        let Some(next) = next else { return false };
        self.varies |= self.last.replace(next).is_some_and(|last| last != next);
        if !self.varies {
            self.same = self.same.saturating_add(1);
        }
        self.varies || next != 0 && self.same < CONSTANT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_identifies_nothing() {
        let mut constant = Identifications::default();
        assert_eq!([7; 5].map(|number| constant.identify(Some(number))), [true, true, true, false, false]);
        let mut zero = Identifications::default();
        assert_eq!([Some(0), Some(0), None].map(|number| zero.identify(number)), [false; 3]);
        let mut counter = Identifications::default();
        assert_eq!([Some(0), Some(1), Some(0)].map(|number| counter.identify(number)), [false, true, true]);
    }

    #[test]
    fn missing_packets_are_gaps_of_a_counter() {
        let missing = |numbers: &[u16]| {
            let mut counter = PacketNumbers::default();
            numbers.iter().for_each(|&number| counter.see(number));
            counter.missing()
        };
        // 65535, 0 and 2 are missing, and 3 was reordered; then 2.
        assert_eq!(missing(&[65533, 65534, 1, 4, 3, 5, 6]), Some(3));
        assert_eq!(missing(&[65533, 65534, 65535, 0, 1, 4, 3]), Some(1));
        assert_eq!(missing(&[10, 11, 0, 12]), Some(0));
        // Numbers of another kind: random, by two, all the same.
        assert_eq!([missing(&[9, 40_000, 7, 8]), missing(&[2, 4, 6, 8]), missing(&[7, 7, 7]), missing(&[])], [None; 4]);
    }
}
