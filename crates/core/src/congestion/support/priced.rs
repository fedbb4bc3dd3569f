//! Common part of sources that derive their rate from a price: they pace at that rate, with one RTT of it in flight.

use super::abilities::{Abilities, Subscriptions};
use super::controller::{Controller, Start};
use super::events::{Ack, Congestion, RoundTrip};
use super::heap_state::HeapState;
use crate::price::{Price, PriceMeaning};
use crate::primitives::units::{Bytes, Cwnd, Rate, Time, TimeDelta};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// The demand function of such a controller.
pub trait Demand: Copy + Debug {
    /// Kind of price that it uses.
    const PRICE_MEANING: PriceMeaning;

    /// Demand at this price in bits per second on the wire; above zero.
    fn rate(&self, price: Price) -> f64;

    /// Whether window growth is limited to a doubling per RTT while the price is being learnt.
    fn starts_slowly(&self) -> bool;
}

pub type Priced<D> = HeapState<PricedMemory<D>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PricedMemory<D> {
    demand: D,
    packet: Bytes,
    /// Mean RTT as in RFC 6298, in seconds.
    rtt: Option<f64>,
    /// The last price, and the corresponding rate in segments per second.
    price_and_rate: Option<(f64, f64)>,
    /// Window before the first price.
    first_window: f64,
}

/// Additional segments in flight, which compensate for acknowledgements of two segments and for rounding to whole segments.
const SLACK: f64 = 2.0;

impl<D: Demand> Priced<D> {
    pub(in crate::congestion) fn new(demand: &D, start: Start) -> Priced<D> {
        let memory =
            PricedMemory { demand: *demand, packet: start.packet, rtt: None, price_and_rate: None, first_window: start.window };
        HeapState::with(start, memory)
    }

    fn process_ack(&mut self, ack: &Ack) {
        if let Some(price) = ack.signal.price
            && self.memory.price_and_rate.is_none_or(|(last, _)| last.to_bits() != price.to_bits())
        {
            let packet = 8.0 * self.memory.packet.0 as f64;
            self.memory.price_and_rate = Some((price, self.memory.demand.rate(Price(price)) / packet));
        }
        let target = match (self.memory.price_and_rate, self.memory.rtt) {
            (Some((_, rate)), Some(rtt)) => (rate * rtt + SLACK).max(1.0),
            _ => self.memory.first_window,
        };
        let may_leap = !self.memory.demand.starts_slowly();
        self.window = if may_leap { target } else { target.min(self.window + f64::from(ack.acked.0)) };
    }
}

impl<D: Demand + Clone + Serialize> Controller for Priced<D> {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        ignores_losses: true,
        price_meaning: Some(D::PRICE_MEANING),
        quantities: &["price", "rate (bit/s)"],
        may_pace: true,
        subscriptions: Subscriptions { price: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    /// At least one segment per RTT: with a lower rate, news of a lower price would arrive too late.
    fn pacing(&self) -> Option<Rate> {
        let ((_, rate), rtt) = (self.memory.price_and_rate?, self.memory.rtt?);
        let bits = rate.max(1.0 / rtt) * 8.0 * self.memory.packet.0 as f64;
        Some(Rate((bits as u64).max(1)))
    }

    fn round_trip(&self) -> Option<TimeDelta> {
        self.memory.rtt.map(TimeDelta::from_seconds)
    }

    fn rate_at(&self, price: Price) -> Option<Rate> {
        Some(Rate((self.memory.demand.rate(price) as u64).max(1)))
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        match index {
            0 => self.memory.price_and_rate.map_or(f64::NAN, |(price, _)| price),
            1 => self.pacing().map_or(f64::NAN, |rate| rate.0 as f64),
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack);
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(ack);
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        let sample = measured.sample.seconds();
        let rtt = self.memory.rtt.get_or_insert(sample);
        *rtt += (sample - *rtt) / 8.0;
    }

    /// Prices signal congestion; losses do not.
    fn on_congestion(&mut self, _: &Congestion) {}

    /// Until the next acknowledgement, because the price may be old.
    fn on_timeout(&mut self, _: &Congestion) {
        self.window = 1.0;
    }

    /// Pacing prevents bursts.
    fn limit_window(&mut self, _: Cwnd) {}
}
