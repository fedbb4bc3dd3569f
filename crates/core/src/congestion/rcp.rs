//! A source of RCP: it sends at the rate advertised by the queues of its path, from the first acknowledgement on (Dukkipati, Kobayashi,
//! Zhang-Shen and McKeown, IWQoS 2005).
//!
//! Differs: no handshake carries the rate (that of the paper does), so the first window is the initial one; a rate below one segment per
//! RTT becomes one segment per RTT, where RCP sends less and requests the rate with separate small packets.

use super::support::priced::{Demand, Priced};
use crate::price::{Price, PriceMeaning};
use crate::primitives::units::Rate;
use crate::settings::{Kind, SettingConflict, Settings, conflicts, member};

member! {
    /// RCP source: sends at the rate advertised by the queues of its path.
    Rcp = "rcp", "Dukkipati, Kobayashi, Zhang-Shen and McKeown, IWQoS 2005";

    pub struct RcpSourceSpec {
        /// Weight of the flow, which multiplies the advertised rate; queues share their capacity by weight.
        weight: f64 = 1.0 => Kind::Number { min: 0.0, max: 1e6 },
        /// Maximum sending rate.
        max_rate: Option<Rate> = None => Kind::Rate,
        /// Limit window growth to a doubling per RTT while an estimated price is still inaccurate.
        slow_start: bool = false => Kind::Boolean,
    }
}

impl Settings for RcpSourceSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.weight == 0.0 => ["weight"], "`weight` of 0 stops all sending", "above 0";
        }
    }

    fn samples() -> Vec<RcpSourceSpec> {
        let usual = RcpSourceSpec::default();
        vec![usual, RcpSourceSpec { weight: 2.0, max_rate: Some(Rate(5_000_000)), slow_start: true }]
    }
}

pub type Rcp = Priced<RcpSourceSpec>;

impl Demand for RcpSourceSpec {
    const PRICE_MEANING: PriceMeaning = PriceMeaning::Rate;

    /// The price is the inverse of the rate.
    fn rate(&self, Price(price): Price) -> f64 {
        let max_rate = self.max_rate.map_or(MAX, |max_rate| max_rate.0 as f64);
        (self.weight / price.max(1.0 / MAX)).min(max_rate)
    }

    fn starts_slowly(&self) -> bool {
        self.slow_start
    }
}

/// Upper limit of a source's rate, whatever rate is advertised, in bits per second.
const MAX: f64 = 1e13;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Ack, Congestion, Controller, RoundTrip, Start};
    use crate::primitives::signal::Signal;
    use crate::primitives::units::{Bytes, Segments, Time, TimeDelta};

    /// Window, and rate in Mbit/s, after acknowledgements with these rates, RTTs of 100 ms and segments of 10,000 bits.
    fn window_and_rate(spec: RcpSourceSpec, rates: &[f64]) -> (f64, u64) {
        let mut law = Rcp::new(&spec, Start { window: 4.0, packet: Bytes(1250), ..Start::default() });
        assert_eq!((law.window().0, law.pacing()), (4.0, None));
        for rate in rates {
            law.on_round_trip(&RoundTrip { sample: TimeDelta::from_millis(100), smoothed: None });
            let signal = Signal { price: Some(1.0 / rate), ..Signal::default() };
            law.on_ack(&Ack { acked: Segments(4), signal, ..Ack::of_one(Time::ZERO) });
        }
        (law.window().0, law.pacing().map_or(0, |rate| rate.0.div_ceil(1_000_000)))
    }

    #[test]
    fn it_adopts_the_advertised_rate_with_one_rtt_of_it_in_flight() {
        let usual = RcpSourceSpec::default();
        assert_eq!(window_and_rate(usual, &[5e6]), (52.0, 5));
        assert_eq!(window_and_rate(RcpSourceSpec { weight: 2.0, ..usual }, &[5e6]), (102.0, 10));
        assert_eq!(window_and_rate(RcpSourceSpec { max_rate: Some(Rate(3_000_000)), ..usual }, &[5e6]), (32.0, 3));
        assert_eq!(window_and_rate(RcpSourceSpec { slow_start: true, ..usual }, &[5e6, 5e6]), (12.0, 5));
        // Less than one segment per RTT becomes one.
        assert_eq!(window_and_rate(usual, &[1e4]), (2.1, 1));
    }

    #[test]
    fn a_timeout_sets_the_window_to_one_until_the_next_acknowledgement() {
        let mut law = Rcp::new(&RcpSourceSpec::default(), Start { window: 4.0, packet: Bytes(1250), ..Start::default() });
        law.on_congestion(&Congestion::of(Time::ZERO, Segments(4)));
        assert_eq!(law.window().0, 4.0);
        law.on_timeout(&Congestion::of(Time::ZERO, Segments(4)));
        assert_eq!(law.window().0, 1.0);
        law.on_ack(&Ack::of_one(Time::ZERO));
        assert_eq!(law.window().0, 4.0);
    }
}
