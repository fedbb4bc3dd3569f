//! The echo of marks, and acknowledgements that are due because of ECN flags.

use crate::primitives::packet::Packet;
use crate::tcp::spec::{DelayedAck, EcnEcho};
use serde::{Deserialize, Serialize};

/// Number of segments acknowledged individually, starting with the first marked one or with one that is not ECN-capable after others that
/// are: as observed with Linux.
const AT_ONCE_FOR_ECN: u8 = 2;

/// ECN flags of a data segment.
#[derive(Clone, Copy)]
pub(crate) struct EcnFlags {
    pub(crate) marked: bool,
    pub(crate) capable: bool,
    /// The sender has reduced its window.
    pub(crate) reduced: bool,
}

impl EcnFlags {
    #[inline]
    pub(crate) fn of(packet: &Packet) -> EcnFlags {
        EcnFlags { marked: packet.is_marked(), capable: packet.is_capable(), reduced: packet.has_cwr() }
    }
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct MarkEcho {
    /// With the echo of RFC 3168: a mark has arrived, and the sender has not reported a reduction of its window since. With that of RFC 8257:
    /// the latest segment was marked (DCTCP.CE).
    echoes_mark: bool,
    /// An ECN-capable segment has arrived.
    has_seen_ecn: bool,
    /// Number of immediate acknowledgements due because of ECN flags, if the settings request them.
    at_once: u8,
}

impl MarkEcho {
    /// Whether acknowledgements echo a mark.
    #[inline]
    pub(super) fn echoes_mark(&self) -> bool {
        self.echoes_mark
    }

    /// Processes the flags of a data segment. With the echo of RFC 3168, a report that the sender has reduced its window ends the echo of all
    /// earlier marks, including marks that no acknowledgement has covered: if these were echoed with the first segment of the new window,
    /// they would reduce that as well, whereas RFC 3168 section 6.1.2 requires one reduction per window. A segment with both flags restarts the echo.
    pub(super) fn on_segment(&mut self, ecn: EcnFlags, echo: EcnEcho) {
        match echo {
            EcnEcho::Rfc3168 => {
                if ecn.reduced {
                    (self.echoes_mark, self.at_once) = (false, 1);
                }
                if ecn.marked && !self.echoes_mark {
                    (self.echoes_mark, self.at_once) = (true, AT_ONCE_FOR_ECN);
                }
            }
            EcnEcho::Rfc8257 => {
                (self.echoes_mark, self.at_once) = (ecn.marked, u8::from(ecn.marked != self.echoes_mark));
            }
        }
        // A retransmission is not ECN-capable (RFC 3168 section 6.1.5).
        if self.has_seen_ecn && !ecn.capable {
            self.at_once = AT_ONCE_FOR_ECN;
        }
        self.has_seen_ecn |= ecn.capable;
    }

    /// Whether flags require an acknowledgement now, which counts as sent.
    #[inline]
    pub(super) fn is_due_at_once(&mut self, rule: &DelayedAck) -> bool {
        let is_due = self.at_once > 0 && rule.ack_ce_immediately;
        self.at_once = self.at_once.saturating_sub(1);
        is_due
    }
}
