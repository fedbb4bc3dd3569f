//! REM, random exponential marking: a price rises while the input exceeds the capacity or the queue exceeds its target, and packets are
//! marked with a probability that is exponential in it, so that the marks of a whole path encode the sum of its prices (Athuraliya, Li, Low
//! and Yin, "REM: active queue management", IEEE Network 15(3), 2001; cui-thesis section 2.3.3).
//!
//! Differs: a packet that an earlier queue has marked is drawn for like any other; its mark stays.
//!
//! Input and capacity are in packets of a typical size; a smaller packet counts as a fraction. Arrivals are counted whether or not they are
//! accepted. In equilibrium the input equals the capacity, and the mean queue is the target.

use super::support::{Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::price::PriceMeaning;
use crate::primitives::math;
use crate::primitives::random::{Draws, Stream};
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{Kind, PACKET_BYTES, QueueLength, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

// The document gives no values: these are the usual ones of the REM of ns-2 and of its port to ns-3.
member! {
    /// Random exponential marking: a price that follows input rate and queue length, signalled by marks. Discards packets that are not
    /// ECN-capable.
    Rem = "rem", "cui-thesis section 2.3.3, equations (2.5) and (2.6)";

    pub struct RemSpec {
        /// Target queue length (b*).
        target: QueueLength => Kind::QueueLength,
        /// Weight of the queue's deviation from the target, relative to the mismatch of input rate and capacity (alpha).
        alpha: f64 = 0.1 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Step size of the price per period (gamma).
        gamma: f64 = 0.001 => Kind::Number { min: 0.0, max: 1000.0 },
        /// Base of the marking probability: a price of p leaves `phi` to the power of -p of the packets unmarked (phi). Must be above 1.
        phi: f64 = 1.001 => Kind::Number { min: 1.0, max: 1e6 },
        /// Time between updates of the price, at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(2) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Typical packet size, the unit of input and capacity.
        mean_packet_size: u32 = 1000 => PACKET_BYTES,
    }
}

impl Settings for RemSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha == 0.0 => ["alpha"], "`alpha` of 0 removes the target of the queue", "above 0";
            error if self.gamma == 0.0 => ["gamma"], "`gamma` of 0 marks no packets", "above 0";
            error if self.phi == 1.0 => ["phi"], "`phi` of 1 marks no packets", "above 1";
        }
    }

    fn samples() -> Vec<RemSpec> {
        let usual = RemSpec {
            target: 5.into(),
            alpha: 0.1,
            gamma: 0.05,
            phi: 1.1,
            period: TimeDelta::from_millis(2),
            mean_packet_size: 500,
        };
        let target = QueueLength::Bytes(0);
        vec![usual, RemSpec { target, alpha: 1.0, gamma: 1.0, phi: 2.0, period: TimeDelta::from_millis(20), ..usual }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rem {
    spec: RemSpec,
    /// p.
    price: f64,
    /// m, for the present price.
    probability: f64,
    /// Arrivals in this period.
    arrived: Bytes,
    draws: Draws,
}

impl Rem {
    pub(super) fn new(spec: &RemSpec) -> Rem {
        Rem { spec: *spec, price: 0.0, probability: 0.0, arrived: Bytes(0), draws: Draws::default() }
    }
}

impl Policy for Rem {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const PRICE_MEANING: Option<PriceMeaning> = Some(PriceMeaning::Marginal);

    fn draw_from(&mut self, stream: Stream) {
        self.draws = Draws::new(stream);
    }

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), _buffer: &Occupancy, _now: Time) -> Verdict {
        self.arrived += unit.bytes;
        let marks = self.probability > 0.0 && self.draws.uniform() < self.probability;
        if marks { Verdict::Mark } else { Verdict::Accept }
    }

    fn price(&self) -> Option<f64> {
        Some(self.price)
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    /// Equations (2.5) and (2.6).
    fn on_period(&mut self, end: &PeriodEnd) {
        let RemSpec { target, alpha, gamma, phi, period, mean_packet_size: packet } = self.spec;
        let excess_bytes = self.arrived.0 as f64 - end.rate.0 as f64 * period.seconds() / 8.0;
        let queue = match target {
            QueueLength::Units(_) => end.units.0 as f64,
            QueueLength::Bytes(_) => end.bytes.0 as f64 / f64::from(packet),
        };
        let excess = alpha * (queue - target.typical(Bytes(u64::from(packet)))) + excess_bytes / f64::from(packet);
        self.price = (self.price + gamma * excess).max(0.0);
        self.probability = 1.0 - math::pow(phi, -self.price);
        self.arrived = Bytes(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::random::{Entity, Purpose};
    use crate::primitives::units::{Rate, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    /// A target of 20 packets; 10 packets of 1000 bytes can be sent in a period.
    fn rem(price: f64) -> Rem {
        let spec = RemSpec {
            target: 20.into(),
            alpha: 0.1,
            gamma: 0.001,
            phi: 2.0,
            period: TimeDelta::from_millis(10),
            mean_packet_size: 1000,
        };
        Rem { price, ..Rem::new(&spec) }
    }

    /// State after a period with these arrivals and this queue at its end.
    fn after(mut rem: Rem, arrived: u32, waiting: u64) -> Rem {
        (0..arrived).for_each(|_| {
            rem.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(waiting), Bytes(1000 * waiting)), Time::ZERO);
        });
        rem.on_period(&PeriodEnd {
            units: Units(waiting),
            bytes: Bytes(1000 * waiting),
            rate: Rate(8_000_000),
            first_waited: None,
        });
        rem
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn the_price_follows_input_and_queue_and_is_never_negative() {
        // 0.001 (0.1 (30 - 20) + 12 - 10) = 0.003
        near(after(rem(0.5), 12, 30).price, 0.503);
        near(after(rem(0.5), 10, 20).price, 0.5);
        near(after(rem(0.5), 0, 0).price, 0.488);
        near(after(rem(0.001), 0, 0).price, 0.0);
        // A target in bytes, with packets of the typical size.
        let in_bytes = rem(0.5);
        let in_bytes = Rem { spec: RemSpec { target: QueueLength::Bytes(20_000), ..in_bytes.spec }, ..in_bytes };
        near(after(in_bytes, 12, 30).price, 0.503);
    }

    #[test]
    fn arrivals_are_counted_per_period() {
        near(after(after(rem(0.5), 12, 20), 10, 20).price, 0.502);
    }

    #[test]
    fn the_probability_is_exponential_in_the_price_and_that_of_a_path_in_their_sum() {
        let of = |price| after(rem(price), 10, 20).probability;
        near(of(1.0), 0.5);
        near(of(0.0), 0.0);
        // (2.7)
        near(1.0 - (1.0 - of(0.3)) * (1.0 - of(1.2)), of(1.5));
    }

    #[test]
    fn the_marked_fraction_matches_the_probability() {
        // 10,000 with probability 1/2: plus or minus five deviations of 50.
        let mut rem = after(rem(1.0), 10, 20);
        rem.draw_from(Stream::new(Entity { seed: 1, name: "rem", index: 0 }, Purpose::Policy));
        let mut arrive =
            |_: &u32| rem.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(10), Bytes(10_000)), Time::ZERO) == Verdict::Mark;
        let marks = (0..10_000).filter(|packet| arrive(packet)).count();
        assert!((4750..=5250).contains(&marks), "{marks}");
    }
}
