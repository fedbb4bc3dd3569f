//! Hybla: a flow with a long round trip opens its window as fast in time as one of 25 ms would, so that its rate does not depend
//! on the round trip (Caini and Firrincieli, TCP Hybla: a TCP Enhancement for Heterogeneous Networks, International Journal of
//! Satellite Communications and Networking 22(5), 2004).
//!
//! Differs: the round trip is the shortest measured, for queues would make the flow faster. The initial window is the flow's own
//! and not multiplied by rho. In slow start an acknowledged segment opens the window by no more than `start_limit`, an
//! acknowledgement by no more than was in flight, and in congestion avoidance by no more than it acknowledges; the paper sets no
//! bounds. Pacing, SACK and timestamps, which it asks for, are the sender's.

use super::support::loss_based::{Avoidance, LossBased};
use super::{Ack, Congestion, RoundTrip, Start};
use crate::primitives::math::pow;
use crate::primitives::units::{Cwnd, Span};
use crate::settings::{ABOVE_ZERO, Kind, Misfit, Settings, member};
use serde::{Deserialize, Serialize};

member! {
    /// Opens the window at the rate of a flow with a short RTT. The paper recommends `pacing` and `timestamps`.
    Hybla = "hybla", "Caini and Firrincieli, Int. J. Satellite Communications and Networking 22(5), 2004";

    pub struct HyblaSpec {
        /// Reference RTT (RTT_0). Flows with a shorter RTT behave as Reno.
        rtt_0: Span = Span::from_millis(25) => ABOVE_ZERO,
        /// Maximum window increase per acknowledged segment in slow start, in segments. The increase of the paper, 2^rho - 1, is 15 at four
        /// times `rtt_0` and about a million at twenty times.
        start_limit: f64 = 15.0 => Kind::Segments { least: 1.0, most: 1000.0 },
    }
}

/// Of a path of 25 ms rho is 25 then, and a round trip adds 625 segments.
const LEAST_RTT_0: Span = Span::from_millis(1);

impl Settings for HyblaSpec {
    fn check(&self) -> Vec<Misfit> {
        let tiny = || {
            let message =
                "the shorter `rtt_0`, the more a round trip adds: over paths of some milliseconds windows double until a loss";
            Misfit::warning(&["rtt_0"], message, "1 ms or more; the paper has 25 ms")
        };
        (self.rtt_0 < LEAST_RTT_0).then(tiny).into_iter().collect()
    }

    fn samples() -> Vec<HyblaSpec> {
        vec![HyblaSpec::default(), HyblaSpec { rtt_0: Span::from_micros(100), start_limit: 40.0 }]
    }
}

pub type Hybla = LossBased<HyblaLaw>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HyblaLaw {
    spec: HyblaSpec,
    shortest: Span,
    /// The round trip over RTT_0, at least 1; and what a segment opens in slow start, 2^rho - 1 if that is not too much.
    rho: f64,
    start: f64,
}

impl Hybla {
    pub(super) fn new(spec: &HyblaSpec, start: Start) -> Hybla {
        LossBased::of(HyblaLaw { spec: *spec, shortest: Span(u64::MAX), rho: 1.0, start: 1.0 }, start)
    }
}

impl Avoidance for HyblaLaw {
    const QUANTITIES: &'static [&'static str] = &["rho"];

    fn quantity(&self, _index: usize) -> f64 {
        self.rho
    }

    fn measure(&mut self, measured: &RoundTrip) {
        if measured.sample < self.shortest {
            self.shortest = measured.sample;
            self.rho = (self.shortest.0 as f64 / self.spec.rtt_0.0.max(1) as f64).max(1.0);
            self.start = (pow(2.0, self.rho) - 1.0).min(self.spec.start_limit);
        }
    }

    /// 2^rho - 1 for each acknowledged segment.
    fn start(&self) -> f64 {
        self.start
    }

    fn start_limit(&self) -> f64 {
        self.spec.start_limit
    }

    /// rho^2 / w for each acknowledged segment.
    fn increase(&mut self, _: &Ack, _: Cwnd) -> f64 {
        self.rho * self.rho
    }

    fn reduce(&mut self, _: &Congestion, Cwnd(window): Cwnd) -> f64 {
        window / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    fn sender(window: f64, ssthresh: f64, milliseconds: u64) -> ModelSender<Hybla> {
        let law = Hybla::new(&HyblaSpec::default(), Start { window, ssthresh, ..Start::default() });
        let mut sender = ModelSender::new(law).with_round_trip(milliseconds);
        sender.in_flight = window as u32;
        sender
    }

    #[test]
    fn a_round_trip_to_keep_pace_with_that_no_path_has_is_warned_of() {
        let keys =
            |rtt_0| HyblaSpec { rtt_0, ..HyblaSpec::default() }.check().into_iter().map(|misfit| misfit.keys).collect::<Vec<_>>();
        assert_eq!(keys(Span::from_millis(1)), Vec::<&[&str]>::new());
        assert_eq!(keys(Span::from_micros(999)), [&["rtt_0"]]);
    }

    #[test]
    fn with_four_times_the_round_trip_a_window_adds_sixteen_segments() {
        assert_eq!((sender(64.0, 2.0, 25).ack(1), sender(64.0, 2.0, 100).ack(1)), (64.0 + 1.0 / 64.0, 64.25));
        assert_eq!(sender(64.0, 2.0, 5).ack(1), 64.0 + 1.0 / 64.0);
    }

    #[test]
    fn in_slow_start_a_segment_opens_two_to_the_rho_less_one() {
        // In a round trip of four times 25 ms the window becomes 2^4 times as large.
        assert_eq!((sender(64.0, 1000.0, 100).ack(1), sender(64.0, 1000.0, 50).ack(1)), (79.0, 67.0));
        // No more than the limit, or than what was in flight, and up to the threshold.
        assert_eq!(sender(64.0, 1000.0, 600).ack(1), 79.0);
        assert_eq!((sender(8.0, 1000.0, 100).ack(1), sender(64.0, 70.0, 100).ack(1)), (16.0, 70.0));
    }

    #[test]
    fn the_shortest_round_trip_counts_and_a_loss_takes_half() {
        let mut sender = sender(64.0, 2.0, 100);
        sender.measure(200);
        sender.measure(50);
        assert_eq!((sender.ack(1), sender.lose(64)), (64.0625, 32.03125));
    }
}
