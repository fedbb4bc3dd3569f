//! The sending end of one flow.

use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::Time;
use crate::tcp::sender::Sender;
use crate::tcp::sequence::SenderCounts;
use crate::traffic::Source;
use crate::user_code::Failure;
use serde::{Deserialize, Serialize};

/// The sending end of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum End {
    Tcp(Sender),
    Datagram(Box<Source>),
}

impl End {
    /// The TCP sender, at an event that only TCP flows have. A panic of the engine is reported with the scenario's hash and the seed.
    #[inline]
    pub(crate) fn expect_tcp(&mut self) -> &mut Sender {
        match self {
            End::Tcp(sender) => sender,
            End::Datagram(_) => unreachable!("a TCP event at a flow without TCP"),
        }
    }

    /// The failure of user code, if any.
    pub(crate) fn failure(&self, time: Time) -> Option<Failure> {
        match self {
            End::Tcp(sender) => sender.controller.failure(time),
            End::Datagram(source) => source.failure(time),
        }
    }

    /// The counters of a sender; of a datagram source only the number sent.
    pub(crate) fn counts(&self) -> SenderCounts {
        match self {
            End::Tcp(sender) => sender.sequence.counts,
            End::Datagram(source) => SenderCounts { sent: source.sent_measured, ..SenderCounts::default() },
        }
    }

    /// Tail loss probes within the measured part of the run.
    pub(crate) fn probes(&self) -> u32 {
        match self {
            End::Tcp(sender) => sender.probes(),
            End::Datagram(_) => 0,
        }
    }

    /// Segments queued for their first transmission: data handed over by an application, or the rest of a transfer; 0 for a greedy flow.
    pub(crate) fn backlog(&self) -> u32 {
        match self {
            End::Tcp(sender) if sender.sequence.limit < SegmentNumber::NONE => {
                (sender.sequence.limit - sender.sequence.snd_max).0
            }
            _ => 0,
        }
    }
}
