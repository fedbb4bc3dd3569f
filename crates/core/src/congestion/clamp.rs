//! A client of CLAMP: TCP with a window bounded such that the price of the path, a multiple of the queueing delay, gives each flow the same
//! backlog (Andrew, Hanly and Mukhtar, "CLAMP: maximizing the performance of TCP over low bandwidth variable rate access links", CUBIN
//! technical report 2004-02-01; the same, "Active queue management for fair resource allocation in wireless networks", IEEE Transactions on
//! Mobile Computing 7(2), 2008).
//!
//! Differs: the bound, which in the document is the window advertised by the receiver (AWND), is stored by the sender, which receives the
//! prices with the same acknowledgements. The rate is the data in flight divided by the RTT measured by the sender. There is no bound
//! before the first price above 0, and the bound does not grow while it is not the limiting one.

use super::reno::Reno;
use super::support::heap_state::HeapState;
use super::support::window::Window;
use super::support::{Abilities, Ack, Congestion, Controller, RoundTrip, Start, Subscriptions};
use crate::price::PriceMeaning;
use crate::primitives::units::{Cwnd, Time, TimeDelta};
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

member! {
    /// CLAMP client: Reno with a window bounded according to the prices of its path, which are scaled queueing delays.
    Clamp = "clamp", "Andrew, Hanly and Mukhtar, IEEE Transactions on Mobile Computing 7(2), 2008";

    pub struct ClampClientSpec {
        /// Price times rate in equilibrium, in segments (tau). At a slope of 1 this is the number of segments that a flow of weight 1 keeps
        /// queued.
        backlog: f64 = 3.0 => Kind::Segments { min: 0.0, max: 1e6 },
        /// Weight of the flow; the rate at a given price is proportional to it (phi).
        weight: f64 = 1.0 => Kind::Number { min: 0.0, max: 1e6 },
    }
}

impl Settings for ClampClientSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.backlog == 0.0 => ["backlog"], "`backlog` of 0 shrinks the window at any price", "above 0";
            error if self.weight == 0.0 => ["weight"], "`weight` of 0 shrinks the window at any price", "above 0";
        }
    }

    fn samples() -> Vec<ClampClientSpec> {
        vec![ClampClientSpec::default(), ClampClientSpec { backlog: 6.0, weight: 2.0 }]
    }
}

pub type Clamp = HeapState<ClampMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ClampMemory {
    spec: ClampClientSpec,
    tcp: Reno,
    /// The bound, in segments.
    offered: f64,
    /// The last RTT, in seconds.
    rtt: Option<f64>,
    /// Time of the last acknowledgement.
    last_ack: Time,
    price: Option<f64>,
}

impl Clamp {
    pub(super) fn new(spec: &ClampClientSpec, start: Start) -> Clamp {
        let tcp = Reno::new(&(), start);
        HeapState::with(
            start,
            ClampMemory { spec: *spec, tcp, offered: f64::INFINITY, rtt: None, last_ack: Time::ZERO, price: None },
        )
    }

    /// Over each RTT the window grows by phi tau - p mu.
    fn process_ack(&mut self, ack: &Ack) {
        let memory = &mut *self.memory;
        let since = ack.now.since(memory.last_ack).seconds();
        memory.last_ack = ack.now;
        if let (Some(rtt), Some(price)) = (memory.rtt, ack.signal.price) {
            memory.price = Some(price);
            let in_flight = f64::from(ack.in_flight.0);
            if memory.offered.is_infinite() && price > 0.0 {
                memory.offered = in_flight.max(1.0);
            }
            let grows = memory.spec.weight * memory.spec.backlog - price * in_flight / rtt;
            let change = grows * (since / rtt).min(1.0);
            let is_bound = memory.offered <= memory.tcp.window().0 && ack.window_validated;
            if change < 0.0 || is_bound {
                memory.offered = (memory.offered + change.min(f64::from(ack.acked.0))).max(1.0);
            }
        }
        self.settle();
    }

    fn settle(&mut self) {
        self.window = self.memory.tcp.window().0.min(self.memory.offered);
    }
}

impl Controller for Clamp {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        ends_slow_start: true,
        price_meaning: Some(PriceMeaning::Wait),
        quantities: &["price (s)", "offered window (segments)"],
        subscriptions: Subscriptions { price: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn ssthresh(&self) -> Cwnd {
        self.memory.tcp.ssthresh()
    }

    fn round_trip(&self) -> Option<TimeDelta> {
        self.memory.rtt.map(TimeDelta::from_seconds)
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        match index {
            0 => self.memory.price.unwrap_or(f64::NAN),
            1 if self.memory.offered.is_finite() => self.memory.offered,
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.memory.tcp.on_ack(ack);
        self.process_ack(ack);
    }

    /// During loss recovery the bound may only fall.
    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(&Ack { window_validated: false, ..*ack });
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        self.memory.rtt = Some(measured.sample.seconds());
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.memory.tcp.on_congestion(seen);
        self.settle();
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        self.memory.tcp.on_timeout(seen);
        self.settle();
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.memory.tcp.limit_window(max);
        self.settle();
    }

    fn slow_start(&mut self) -> Option<Window<'_>> {
        self.memory.tcp.slow_start()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::signal::Signal;
    use crate::primitives::units::Segments;

    /// The window after an acknowledgement this many milliseconds after the last one, with eight segments in flight and a price in
    /// milliseconds.
    fn process_ack(law: &mut Clamp, now: u64, price: f64) -> f64 {
        let signal = Signal { price: Some(price / 1e3), ..Signal::default() };
        let now = Time::ZERO + TimeDelta::from_millis(now);
        law.on_ack(&Ack { in_flight: Segments(8), signal, ..Ack::of_one(now) });
        law.memory.offered
    }

    fn near(found: f64, by_hand: f64) {
        assert!((found - by_hand).abs() < 1e-9, "{found}, not {by_hand}");
    }

    #[test]
    fn over_an_rtt_the_bound_grows_by_the_missing_backlog() {
        let spec = ClampClientSpec { backlog: 2.0, weight: 1.5 };
        let mut law = Clamp::new(&spec, Start { window: 100.0, ssthresh: 50.0, ..Start::default() });
        law.on_round_trip(&RoundTrip { sample: TimeDelta::from_millis(100), smoothed: None });
        assert_eq!(process_ack(&mut law, 0, 0.0), f64::INFINITY);
        // 80 segments per second at 50 ms are four, one too many; a tenth of an RTT later the bound is a tenth lower.
        near(process_ack(&mut law, 10, 50.0), 8.0 - 0.1);
        near(process_ack(&mut law, 30, 50.0), 7.9 - 0.2);
        // At 37.5 ms they are the three allowed segments, at 25 ms two.
        near(process_ack(&mut law, 40, 37.5), 7.7);
        near(process_ack(&mut law, 90, 25.0), 8.2);
        near(law.window().0, 8.2);
        // The bound does not grow above TCP's window, and falls as before.
        law.on_congestion(&Congestion::of(Time::ZERO, Segments(10)));
        near(law.window().0, 5.0);
        near(process_ack(&mut law, 100, 25.0), 8.2);
        near(process_ack(&mut law, 110, 50.0), 8.1);
    }
}
