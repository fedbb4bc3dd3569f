//! The identification field of a sender's IPv4 headers (RFC 6864): some senders number their packets, others write a constant.

/// State of a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Identifications {
    last: Option<u16>,
    varies: bool,
}

impl Identifications {
    /// The field of the next packet, if it identifies the packet: it is neither 0 nor the same in all packets.
    pub(crate) fn varying(&mut self, identification: Option<u16>) -> Option<u16> {
        let identification = identification.filter(|&number| number != 0)?;
        self.varies |= self.last.replace(identification).is_some_and(|last| last != identification);
        self.varies.then_some(identification)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_identifies_nothing() {
        let mut constant = Identifications::default();
        assert_eq!([Some(7), Some(7), Some(0), None].map(|number| constant.varying(number)), [None; 4]);
        let mut counter = Identifications::default();
        assert_eq!([Some(7), Some(8), Some(8)].map(|number| counter.varying(number)), [None, Some(8), Some(8)]);
    }
}
