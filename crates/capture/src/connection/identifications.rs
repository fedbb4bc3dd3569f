//! The identification field of a sender's IPv4 headers (RFC 6864): some senders number their packets, others write a constant.

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
}
