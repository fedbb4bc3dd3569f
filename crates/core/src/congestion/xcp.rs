//! A source of XCP: its packets report its window and its RTT, and its window changes by the feedback computed by the queues of its path
//! (Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.1; the feedback is a change of the rate, as in draft-falk-xcp-spec).
//!
//! A loss halves the window, and a timeout sets it to one segment, as in Reno (section 3.1 of the paper: losses are rare, and TCP's
//! response applies).

use super::support::heap_state::HeapState;
use super::support::{Abilities, Ack, Congestion, Controller, RoundTrip, Start, Subscriptions};
use crate::price::PriceMeaning;
use crate::primitives::units::{Bytes, Cwnd, TimeDelta};
use crate::settings::member;
use serde::{Deserialize, Serialize};

member! {
    /// XCP source: its window changes by the feedback that the queues of its path write into each packet.
    Xcp = "xcp", "Katabi, Handley and Rohrs, SIGCOMM 2002";
}

pub type Xcp = HeapState<XcpMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct XcpMemory {
    packet: Bytes,
    /// Mean RTT as in RFC 6298, in seconds.
    rtt: Option<f64>,
}

impl Xcp {
    pub(super) fn new(_: &(), start: Start) -> Xcp {
        HeapState::with(start, XcpMemory { packet: start.packet, rtt: None })
    }

    fn process_ack(&mut self, ack: &Ack) {
        if let (Some(rtt), Some(feedback)) = (self.memory.rtt, ack.signal.price) {
            let change = feedback * rtt / self.memory.packet.0 as f64;
            // An unused window does not grow, and no acknowledgement releases more than the data in flight.
            let max = if ack.window_validated { self.window } else { 0.0 };
            self.window = (self.window + change.min(max)).max(1.0);
        }
    }
}

impl Controller for Xcp {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        price_meaning: Some(PriceMeaning::Feedback),
        subscriptions: Subscriptions { price: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn round_trip(&self) -> Option<TimeDelta> {
        self.memory.rtt.map(TimeDelta::from_seconds)
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack);
    }

    /// During loss recovery the window may only shrink.
    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(&Ack { window_validated: false, ..*ack });
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        let sample = measured.sample.seconds();
        let rtt = self.memory.rtt.get_or_insert(sample);
        *rtt += (sample - *rtt) / 8.0;
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.window = (f64::from(seen.in_flight.0) / 2.0).max(f64::from(seen.min_window.0));
    }

    fn on_timeout(&mut self, _: &Congestion) {
        self.window = 1.0;
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.window = self.window.min(max.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::signal::Signal;
    use crate::primitives::units::{Segments, Time};

    #[test]
    fn the_window_changes_by_the_feedback_over_an_rtt() {
        let mut law = Xcp::new(&(), Start { window: 4.0, packet: Bytes(1000), ..Start::default() });
        law.on_round_trip(&RoundTrip { sample: TimeDelta::from_millis(100), smoothed: None });
        let mut process_ack = |feedback| {
            law.on_ack(&Ack { signal: Signal { price: Some(feedback), ..Signal::default() }, ..Ack::of_one(Time::ZERO) });
            law.window().0
        };
        // 20,000 bytes per second over 0.1 s are two packets.
        assert_eq!([process_ack(20_000.0), process_ack(-10_000.0), process_ack(-1e6)], [6.0, 5.0, 1.0]);
        law.on_congestion(&Congestion::of(Time::ZERO, Segments(8)));
        assert_eq!(law.window().0, 4.0);
    }
}
