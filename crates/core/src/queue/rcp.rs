//! RCP's router: one rate for all flows of a link, which grows with spare capacity and shrinks with the queue. Each packet carries the
//! lowest rate of its path (Dukkipati, Kobayashi, Zhang-Shen and McKeown, "Processor sharing flows in the Internet", IWQoS 2005; Dukkipati,
//! "Rate control protocol (RCP)", thesis, Stanford, 2007; cui-thesis section 5.3.2).
//!
//! Differs: the rate is updated at a fixed period, as in the thesis, also where the mean RTT is shorter; senders that have not measured an
//! RTT are excluded from that mean. The reported price is the inverse of the rate; the largest one applies.

use super::support::{Occupancy, PeriodEnd, Policy, Unit, Verdict};
use crate::price::PriceMeaning;
use crate::primitives::signal::PriceHeader;
use crate::primitives::units::{Bytes, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, SettingConflict, Settings, conflicts, member};
use serde::{Deserialize, Serialize};

// alpha, beta, period, the initial rate and the initial RTT are from the authors' own simulator.
member! {
    /// Rate control protocol: advertises one rate for all flows of the link to RCP sources.
    Rcp = "rcp", "Dukkipati, Kobayashi, Zhang-Shen and McKeown, IWQoS 2005; cui-thesis section 5.3.2";

    pub struct RcpSpec {
        /// Gain of the spare capacity per RTT (alpha).
        alpha: f64 = 0.4 => Kind::Number { min: 0.0, max: 10.0 },
        /// Gain of the queue (beta).
        beta: f64 = 0.4 => Kind::Number { min: 0.0, max: 10.0 },
        /// Fraction of the link's rate that the flows may use together (eta).
        target: f64 = 1.0 => Kind::Probability,
        /// Time between updates of the rate (T), at least 1 us.
        period: TimeDelta = TimeDelta::from_millis(10) => Kind::Duration { min: TimeDelta::from_micros(1) },
        /// Initial rate, as a fraction of the link's rate.
        initial_share: f64 = 0.05 => Kind::Probability,
        /// Mean RTT assumed until packets report one.
        initial_rtt: TimeDelta = TimeDelta::from_millis(200) => ABOVE_ZERO,
    }
}

/// Minimum rate, in packets of 1000 bytes per RTT.
const MIN_PACKETS: f64 = 0.01;

impl Settings for RcpSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.alpha == 0.0 => ["alpha"], "`alpha` of 0 never increases the rate", "above 0";
            error if self.target == 0.0 => ["target"], "`target` of 0 never increases the rate", "above 0, at most 1";
            error if self.initial_share == 0.0 => ["initial_share"],
                "`initial_share` of 0 never increases the rate", "above 0, at most 1";
            warning if self.beta == 0.0 => ["beta"], "`beta` of 0 never drains the queue", "above 0";
        }
    }

    fn samples() -> Vec<RcpSpec> {
        let usual = RcpSpec::default();
        vec![usual, RcpSpec { alpha: 0.1, beta: 1.0, target: 0.9, period: TimeDelta::from_millis(2), ..usual }]
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rcp {
    spec: RcpSpec,
    /// R over the capacity.
    share: f64,
    /// R in bit/s; `None` before the first period, because the link's rate is not known before.
    rate: Option<f64>,
    /// d, in seconds.
    rtt: f64,
    /// Arrivals in this period.
    arrived: Bytes,
    /// Packets that report an RTT: bytes times seconds, and bytes.
    rtt_bytes: f64,
    bytes: f64,
}

impl Rcp {
    pub(super) fn new(spec: &RcpSpec) -> Rcp {
        let rtt = spec.initial_rtt.seconds();
        Rcp { spec: *spec, share: spec.initial_share, rate: None, rtt, arrived: Bytes(0), rtt_bytes: 0.0, bytes: 0.0 }
    }

    /// Mean RTT: an average over the last RTT. Shorter RTTs have less weight, because their packets arrive more often.
    fn average_rtt(&mut self) {
        if self.bytes > 0.0 {
            let seen = self.rtt_bytes / self.bytes;
            let weight = (self.spec.period.seconds() / self.rtt).min(1.0);
            let weight = if seen >= self.rtt { weight } else { weight * self.share.min(1.0) * seen / self.rtt };
            self.rtt += weight * (seen - self.rtt);
        }
        (self.rtt_bytes, self.bytes) = (0.0, 0.0);
    }
}

impl Policy for Rcp {
    type PerFlow = ();
    const TRACKS_FLOWS: bool = false;
    const IS_STEPPED: bool = true;
    const PRICE_MEANING: Option<PriceMeaning> = Some(PriceMeaning::Rate);

    fn on_arrival(&mut self, unit: &Unit, _flow: &mut (), buffer: &Occupancy, _now: Time) -> Verdict {
        self.arrived += unit.bytes;
        self.rate.get_or_insert(self.spec.initial_share * buffer.rate.0 as f64);
        Verdict::Accept
    }

    fn on_price_header(&mut self, unit: &Unit, header: &PriceHeader) {
        if header.rtt > TimeDelta::ZERO {
            self.rtt_bytes += header.rtt.seconds() * unit.bytes.0 as f64;
            self.bytes += unit.bytes.0 as f64;
        }
    }

    fn price(&self) -> Option<f64> {
        self.rate.map(|rate| 1.0 / rate)
    }

    fn period(&self) -> Option<TimeDelta> {
        Some(self.spec.period)
    }

    /// R += R (T / d) (alpha (eta C - y) - beta q / d) / (eta C).
    fn on_period(&mut self, end: &PeriodEnd) {
        self.average_rtt();
        let RcpSpec { alpha, beta, target, period, .. } = self.spec;
        let period = period.seconds().min(self.rtt);
        let capacity = target * end.rate.0 as f64;
        let input = self.arrived.0 as f64 * 8.0 / self.spec.period.seconds();
        let queue = end.bytes.0 as f64 * 8.0;
        let relative = (alpha * (capacity - input) - beta * queue / self.rtt) / capacity;
        let min = MIN_PACKETS * 8000.0 / self.rtt / end.rate.0 as f64;
        self.share = (self.share * (1.0 + period / self.rtt * relative)).min(target).max(min.min(target));
        self.rate = Some(self.share * end.rate.0 as f64);
        self.arrived = Bytes(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::units::{Rate, Units};

    const PACKET: Unit = Unit { bytes: Bytes(1000), is_last: true };

    /// A link of 8 Mbit/s, 10,000 bytes per period; RTTs of 100 ms.
    fn rcp(share: f64) -> Rcp {
        let spec = RcpSpec {
            alpha: 0.5,
            beta: 1.0,
            initial_share: share,
            initial_rtt: TimeDelta::from_millis(100),
            ..RcpSpec::default()
        };
        Rcp::new(&spec)
    }

    fn period(mut rcp: Rcp, packets: u32, queue: u64) -> Rcp {
        for _ in 0..packets {
            rcp.on_arrival(&PACKET, &mut (), &Occupancy::of(Units(0), Bytes(0)), Time::ZERO);
        }
        rcp.on_period(&PeriodEnd { units: Units(queue), bytes: Bytes(1000 * queue), rate: Rate(8_000_000), first_waited: None });
        rcp
    }

    #[test]
    fn the_rate_grows_with_spare_capacity_and_shrinks_with_the_queue() {
        let near = |rate: f64, by_hand: f64| assert!((rate - by_hand).abs() < 1e-12, "{rate}, not {by_hand}");
        // Half of the link is spare: the rate grows by T / d = 0.1 of alpha = 0.5 of that.
        near(period(rcp(0.1), 5, 0).share, 0.1 * 1.025);
        // 20 queued packets are 0.2 of the data sent in an RTT.
        near(period(rcp(0.1), 10, 20).share, 0.1 * 0.98);
        // The rate never exceeds the link's.
        near(period(rcp(0.999), 0, 0).share, 1.0);
        assert_eq!(period(rcp(0.1), 10, 0).price(), Some(1.0 / 8e5));
    }

    #[test]
    fn the_mean_rtt_is_weighted_by_the_bytes_that_report_one() {
        let mut rcp = rcp(0.5);
        for (millis, bytes) in [(0, 9000), (200, 1000), (400, 1000)] {
            let header = PriceHeader { rtt: TimeDelta::from_millis(millis), ..PriceHeader::default() };
            rcp.on_price_header(&Unit { bytes: Bytes(bytes), ..PACKET }, &header);
        }
        // 300 ms, with weight T / d = 0.1.
        assert!((period(rcp, 0, 0).rtt - 0.12).abs() < 1e-12);
    }
}
