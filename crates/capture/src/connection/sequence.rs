//! Sequence numbers without wraparound, and ranges between them.

/// 64 bits, so that positions do not repeat after 2^32 bytes.
pub(crate) type StreamOffset = u64;

/// A half-open range of the sequence space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceRange {
    pub(crate) start: StreamOffset,
    pub(crate) end: StreamOffset,
}

impl SequenceRange {
    #[inline]
    pub(crate) fn bytes(self) -> u64 {
        self.end - self.start
    }

    /// Intersection, if not empty.
    #[inline]
    pub(crate) fn overlap(self, other: SequenceRange) -> Option<SequenceRange> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(SequenceRange { start, end })
    }
}

/// The position of the first sequence number seen, with room for lower numbers, which may arrive later.
#[inline]
pub(crate) fn first_position(SequenceNumber(number): SequenceNumber) -> StreamOffset {
    (1 << 32) + u64::from(number)
}

/// A sequence number as in the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SequenceNumber(pub(crate) u32);

/// The position of a number: the one nearest to `near` (RFC 9293 section 3.4).
#[inline]
pub(crate) fn position(SequenceNumber(number): SequenceNumber, near: StreamOffset) -> StreamOffset {
    let ahead = number.wrapping_sub(near as u32) as i32;
    near.wrapping_add_signed(ahead.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_continue_where_numbers_wrap() {
        let near = first_position(SequenceNumber(u32::MAX - 10));
        assert_eq!(position(SequenceNumber(20), near) - near, 31);
        assert_eq!(near - position(SequenceNumber(u32::MAX - 100), near), 90);
        let after = position(SequenceNumber(20), near);
        assert_eq!(after - position(SequenceNumber(u32::MAX - 10), after), 31);
    }
}
