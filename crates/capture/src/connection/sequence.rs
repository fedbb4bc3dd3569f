//! Sequence numbers that do not wrap around, and stretches between them.

/// Of 64 bits, so that 2^32 bytes do not come round again.
pub(crate) type Position = u64;

/// A stretch of the sequence space, without its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stretch {
    pub(crate) start: Position,
    pub(crate) end: Position,
}

impl Stretch {
    #[inline]
    pub(crate) fn bytes(self) -> u64 {
        self.end - self.start
    }

    /// What both have, if anything.
    #[inline]
    pub(crate) fn overlap(self, other: Stretch) -> Option<Stretch> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Stretch { start, end })
    }
}

/// The position of the first sequence number that is seen: room for numbers below it, which may come later.
#[inline]
pub(crate) fn first_position(Wire(number): Wire) -> Position {
    (1 << 32) + u64::from(number)
}

/// A sequence number as headers have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wire(pub(crate) u32);

/// The position of a number: of all that have it, the one nearest to `near` (RFC 9293 section 3.4).
#[inline]
pub(crate) fn position(Wire(number): Wire, near: Position) -> Position {
    let ahead = number.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(ahead.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_on_where_numbers_begin_anew() {
        let near = first_position(Wire(u32::MAX - 10));
        assert_eq!(position(Wire(20), near) - near, 31);
        assert_eq!(near - position(Wire(u32::MAX - 100), near), 90);
        let after = position(Wire(20), near);
        assert_eq!(after - position(Wire(u32::MAX - 10), after), 31);
    }
}
