//! What controllers can do, and what they require from their senders.

#[cfg(doc)]
use crate::congestion::{Ack, Controller, RoundTrip, Start};
use crate::price::PriceMeaning;
#[cfg(doc)]
use crate::primitives::signal::Signal;
use serde::{Deserialize, Serialize};

/// Properties of a controller with its settings, constant over a run.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// Bytes of state stored outside the sender.
    pub heap_bytes: usize,
    /// Losses never reduce the window, so that all of it may have to be sent again.
    pub ignores_losses: bool,
    /// Its window also limits the data in flight during loss recovery. For other controllers RFC 9937 does, with `rack_tlp`.
    pub controls_recovery: bool,
    /// It undoes a spurious reduction itself ([`Controller::on_spurious_loss`]). For other controllers the saved state is restored.
    pub undoes_reductions: bool,
    /// It uses all of [`Start`], including the path and random numbers.
    pub uses_start_details: bool,
    /// Its slow start can be ended by [`Controller::end_slow_start`].
    pub ends_slow_start: bool,
    /// It is suitable for L4S queues, and its packets are identified as L4S (RFC 9331 section 4).
    pub is_l4s: bool,
    /// All of its packets are ECN-capable by default, not only new data.
    pub requires_ecn: bool,
    /// It aims at a number of its own packets in queues, instead of filling them until a loss.
    pub targets_backlog: bool,
    /// It may have a pacing rate of its own.
    pub may_pace: bool,
    /// Maximum window increase per acknowledged segment, in segments.
    pub max_increase: f64,
    /// Kind of price that it uses, if any.
    pub price_meaning: Option<PriceMeaning>,
    /// Internal quantities with units, for traces.
    pub quantities: &'static [&'static str],
    /// Signals that it requests. For user code, the provider of the code determines them.
    pub subscriptions: Subscriptions,
}

impl Abilities {
    /// A controller that uses acknowledgements, RTTs, losses and timeouts, and responds to losses.
    pub const NONE: Abilities = Abilities {
        heap_bytes: 0,
        ignores_losses: false,
        controls_recovery: false,
        undoes_reductions: false,
        uses_start_details: false,
        ends_slow_start: false,
        is_l4s: false,
        requires_ecn: false,
        targets_backlog: false,
        may_pace: false,
        max_increase: 1.0,
        price_meaning: None,
        quantities: &[],
        subscriptions: Subscriptions::NONE,
    };
}

/// Information that a controller requests and most do not need. Flows of controllers that request nothing have no cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscriptions {
    /// An exact count of marks: [`Signal::marks`].
    pub marks: bool,
    /// Response to each counted mark: the controller is not notified once per window ([`Controller::on_congestion`]).
    pub handles_marks: bool,
    /// The prices of the path: [`Signal::price`]. Only for packets that are not cut into cells.
    pub price: bool,
    /// One-way delays: [`Controller::on_one_way_delay`].
    pub one_way_delay: bool,
    /// Delivery rate samples: [`Signal::delivered_rate`].
    pub delivered_rate: bool,
    /// RTT samples of the newest segment that each acknowledgement covers, also without timestamps, instead of the oldest, whose
    /// acknowledgement may have been delayed: [`Ack::rtt`], [`RoundTrip::sample`].
    pub newest_rtt: bool,
    /// With `newest_rtt`: no other samples, hence none of acknowledgements of segments that were sent twice, and no limit where the
    /// acknowledgement may have been delayed. As in Linux.
    pub exact_rtt: bool,
    /// A limit on the segments released by one acknowledgement: [`Controller::release`].
    pub release: bool,
    /// Each lost segment: [`Controller::on_lost`]. Includes delivery rate samples.
    pub losses: bool,
    /// All acknowledgements, without further information: [`Controller::on_other_ack`].
    pub other_acks: bool,
}

impl Subscriptions {
    pub const NONE: Subscriptions = Subscriptions {
        marks: false,
        handles_marks: false,
        price: false,
        one_way_delay: false,
        delivered_rate: false,
        newest_rtt: false,
        exact_rtt: false,
        release: false,
        losses: false,
        other_acks: false,
    };

    /// Whether acknowledgements have a signal, and duplicates are reported.
    pub(crate) fn has_signal(self) -> bool {
        Subscriptions { newest_rtt: false, exact_rtt: false, ..self }.is_any()
    }

    pub(crate) fn is_any(self) -> bool {
        self != Subscriptions::NONE
    }
}
