//! User-defined sources.

use crate::primitives::sizes::MAX_SEGMENTS;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::user_code::{Fault, TryClone, UserObject, fault, only_in_memory};

/// The next datagram of a source: the wait before it, and its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    pub wait: TimeDelta,
    pub bytes: Bytes,
}

/// Times and sizes of a source's datagrams, from user code.
pub trait UserSource: Send + Sync {
    /// The datagram after `now`, which is the start or the time of the previous datagram; `None` ends the source.
    ///
    /// # Errors Errors of the user code.
    fn next(&mut self, now: Time) -> Result<Option<Next>, Fault>;
    /// An independent copy of the source with its state.
    ///
    /// # Errors The reason why it cannot be copied.
    fn copy(&self) -> Result<Box<dyn UserSource>, Fault>;
}

impl TryClone for dyn UserSource {
    fn try_clone(&self) -> Result<Box<Self>, Fault> {
        self.copy()
    }
}

#[derive(Clone, Debug)]
pub(crate) struct User {
    source: UserObject<dyn UserSource>,
    /// Payload of the next packet.
    due: Bytes,
    /// Number of consecutive packets without time between them.
    at_once: u32,
}

/// Number of packets at one instant from which the source's clock is considered stopped.
const MAX_AT_ONCE: u32 = 1_000_000;

impl User {
    pub(super) fn of(source: UserObject<dyn UserSource>) -> User {
        User { source, due: Bytes(1), at_once: 0 }
    }

    pub(crate) fn instance(&self) -> &UserObject<dyn UserSource> {
        &self.source
    }

    /// Time of packet `number`, which follows `now`. The last argument is its maximum payload.
    pub(super) fn next(&mut self, now: Time, number: u64, max: Bytes) -> Option<Time> {
        let before = self.at_once;
        let next = self.source.call(|source| match source.next(now)? {
            Some(Next { bytes, .. }) if bytes == Bytes(0) || bytes > max => {
                Err(fault(format!("a packet of {} bytes; expected 1 to {}", bytes.0, max.0)))
            }
            Some(Next { wait: TimeDelta::ZERO, .. }) if before == MAX_AT_ONCE => {
                Err(fault(format!("more than {MAX_AT_ONCE} packets at one instant")))
            }
            Some(_) if number >= MAX_SEGMENTS => Err(fault(format!("more than {MAX_SEGMENTS} packets of one flow"))),
            next => Ok(next),
        })??;
        self.due = next.bytes;
        self.at_once = if next.wait == TimeDelta::ZERO { before + 1 } else { 0 };
        Some(now + next.wait)
    }

    /// Payload of the next packet.
    pub(super) fn due(&self) -> Bytes {
        self.due
    }
}

only_in_memory!(User);
