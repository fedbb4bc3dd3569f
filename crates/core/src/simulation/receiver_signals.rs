//! Signals at the receivers of flows whose controllers request them.

use super::packets::Packets;
use crate::network::Network;
use crate::price::{Estimators, Feedback, PriceSpec};
use crate::primitives::packet::Packet;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::signal::{PriceBit, ReceiverFeedback};
use serde::{Deserialize, Serialize};

/// By place among these flows ([`GroupProfile::place_among_signalled`](super::group_profile::GroupProfile)).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ReceiverSignals {
    signals: Vec<ReceiverFeedback>,
    /// Feedback from XCP queues that no acknowledgement has returned yet, in bytes per second.
    feedbacks: Vec<f64>,
    price_spec: PriceSpec,
    /// Price estimators, which use marks on probes; empty if prices travel as numbers.
    estimators: Vec<Estimators>,
}

impl ReceiverSignals {
    /// `signalled`: number of these flows.
    pub(crate) fn new(network: &Network, signalled: usize) -> ReceiverSignals {
        let price_spec = network.prices;
        ReceiverSignals {
            signals: vec![ReceiverFeedback::default(); signalled],
            feedbacks: vec![0.0; signalled],
            price_spec,
            estimators: if price_spec.is_marked() { vec![price_spec.scheme.estimator(); signalled] } else { Vec::new() },
        }
    }

    /// Remove the price of a packet that has reached the receiver at this index, if it has one, and record it.
    pub(crate) fn take_price(&mut self, place: usize, packet: &mut Packet, packets: &mut Packets) {
        if !packet.has_price() {
            return;
        }
        let header = packets.take_price(packet);
        self.signals[place].set_price(match self.estimators.get_mut(place) {
            Some(estimator) => self.price_spec.path_price(estimator, &header),
            None => header.price,
        });
        if header.feedback.is_finite() {
            self.feedbacks[place] += header.feedback;
        }
    }

    /// Record the mark and the delay of a packet that has reached the receiver at this index.
    pub(crate) fn note(&mut self, place: usize, packet: &Packet) {
        let reported = &mut self.signals[place];
        reported.marks += u32::from(packet.is_marked());
        reported.note_delay(packet.time.since(packet.sent));
    }

    /// The signals that the receiver at this index reports in response to this segment.
    pub(crate) fn report(&mut self, place: usize, segment: SegmentNumber) -> ReceiverFeedback {
        let mut report = self.signals[place].take_report();
        // Feedback is reported only once.
        let feedback = std::mem::take(&mut self.feedbacks[place]);
        if feedback != 0.0 {
            report.set_price(Some(feedback));
        }
        if self.price_spec.feedback == Feedback::OneBit
            && let Some(price) = report.price()
        {
            report.set_price(None);
            report.price_bit = Some(PriceBit::of(self.price_spec.mapping.mapped(price), segment));
        }
        report
    }

    /// Copy the state of the receiver at this index.
    pub(crate) fn take_receiver(&mut self, place: usize, from: &ReceiverSignals) {
        self.signals[place] = from.signals[place];
        self.feedbacks[place] = from.feedbacks[place];
        if let (Some(own), Some(other)) = (self.estimators.get_mut(place), from.estimators.get(place)) {
            own.clone_from(other);
        }
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.signals.len()
    }
}
