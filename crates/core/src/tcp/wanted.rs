//! What a sender keeps for a controller that wants more than all do (see [`Wants`]). It lies beside the sender, so that other flows pay
//! nothing for it.

use super::delivery_rate::DeliveryRate;
use super::scoreboard::Scoreboard;
use super::sender::{Arrived, NONE, Sender};
use crate::base::packet::Seen;
use crate::base::units::Time;
use crate::congestion::{Controller, DeliveredRate, Wants};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    wants: Wants,
    /// Marks that the controller has been told of.
    marks_told: u32,
    rate: DeliveryRate,
    /// Segments that may leave yet because of the last acknowledgement.
    release: u32,
    /// There was more to send than they.
    held_back: bool,
}

/// What an acknowledgement tells beside what all hear.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Told {
    /// It echoes a mark (RFC 3168).
    pub(crate) echoes: bool,
    /// The controller wants something, so it hears of duplicates too.
    pub(crate) wanted: bool,
    pub(crate) marks: u32,
    pub(crate) price: Option<f64>,
    pub(crate) delivered_rate: Option<DeliveredRate>,
    /// The bound on a release held the sender back.
    pub(crate) held_back: bool,
}

impl Wanted {
    pub(crate) fn new(wants: Wants) -> Wanted {
        Wanted { wants, marks_told: 0, rate: DeliveryRate::default(), release: u32::MAX, held_back: false }
    }

    /// An acknowledgement arrived that is about to be heard. `board`: what was reported before it.
    pub(crate) fn hear(&mut self, now: Time, arrived: &Arrived, seen: Seen, board: Option<&Scoreboard>) -> Told {
        let marks = if self.wants.marks { seen.marks.saturating_sub(self.marks_told) } else { 0 };
        self.marks_told = self.marks_told.max(seen.marks);
        let delivered_rate = match self.wants.delivered_rate {
            true => self.rate.on_ack(now, arrived.ack, arrived.blocks, board),
            false => None,
        };
        let (price, held_back) = (seen.price.filter(|_| self.wants.price), self.held_back);
        Told { echoes: false, wanted: true, marks, price, delivered_rate, held_back }
    }

    /// The acknowledgement has been heard: bound what it releases.
    pub(crate) fn bound_release(&mut self, sender: &Sender) {
        let bound = if self.wants.release { sender.controller.release() } else { None };
        let outstanding = sender.high > sender.una;
        self.release = bound.map_or(u32::MAX, |bound| bound.max(u32::from(!outstanding)));
        self.held_back = false;
    }

    /// Whether data packets have to carry prices.
    pub(crate) fn prices(&self) -> bool {
        self.wants.price
    }

    /// Something else than an acknowledgement lets the sender go on.
    pub(crate) fn on_timeout(&mut self) {
        self.release = u32::MAX;
    }

    /// Whether the bound lets the sender send. What a fast retransmit repairs it always does.
    pub(crate) fn may_send(&mut self, sender: &Sender) -> bool {
        self.held_back |= self.release == 0 && sender.next < sender.limit;
        self.release > 0 || sender.resend != NONE
    }

    /// The sender has sent a segment; `idle`: nothing was outstanding before it.
    pub(crate) fn on_sent(&mut self, segment: u32, now: Time, idle: bool) {
        self.release = self.release.saturating_sub(1);
        if self.wants.delivered_rate {
            self.rate.on_sent(segment, now, idle);
        }
    }

    /// The sender has sent all that it would now.
    pub(crate) fn on_all_sent(&mut self, sender: &Sender, window: u32) {
        let is_dry = sender.high >= sender.limit && sender.next >= sender.high && sender.in_flight() < window;
        if self.wants.delivered_rate && is_dry {
            self.rate.run_dry(sender.in_flight());
        }
    }
}
