//! Hybla: a flow with a long RTT opens its window at the rate of a flow with 25 ms, so that its throughput does not depend on the RTT
//! (Caini and Firrincieli, TCP Hybla: a TCP Enhancement for Heterogeneous Networks, International Journal of Satellite Communications and
//! Networking 22(5), 2004).
//!
//! Differs: the RTT is the minimum measured one, because queueing would make the flow faster. The initial window is that of the flow and is
//! not multiplied by rho. In slow start an acknowledged segment opens the window by at most `max_slow_start_increment`, and an
//! acknowledgement by at most the data in flight; in congestion avoidance by at most the acknowledged data; the paper has no bounds.
//! Pacing, SACK and timestamps, which it recommends, are settings of the sender.

mod linux;

use super::support::editions::{Edition, Editions};
use super::support::reno_like::{Avoidance, RenoLike};
use super::support::{Abilities, Ack, RoundTrip, Start};
use crate::primitives::math::pow;
use crate::primitives::units::{Cwnd, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PathFacts, PlainWords, SettingConflict, Settings, conflicts, member, microseconds};
use serde::{Deserialize, Serialize};

member! {
    /// Opens the window at the rate of a flow with a short RTT. The paper recommends `pacing` and `timestamps`.
    Hybla = "hybla", "Caini and Firrincieli, Int. J. Satellite Communications and Networking 22(5), 2004";

    pub struct HyblaSpec {
        /// Reference RTT (RTT_0). Flows with a shorter RTT behave as Reno; those with a longer one need a pipe of many times (RTT / RTT_0)^2
        /// segments.
        rtt_0: TimeDelta = TimeDelta::from_millis(25) => ABOVE_ZERO,
        /// Maximum window increase per acknowledged segment in slow start, in segments. The increase of the paper, 2^rho - 1, is 15 at four
        /// times `rtt_0` and about a million at twenty times.
        max_slow_start_increment: f64 = 15.0 => Kind::Segments { min: 1.0, max: 1000.0 },
        /// Rules of the window: the paper's, or Linux's, where increases are per acknowledgement and in whole 128ths of a segment.
        edition: Edition = Edition::Document => Kind::Words(&Edition::WORDS),
    }
}

/// On a path of 25 ms, rho is 25 then, and the increase is 625 segments per RTT.
const MIN_RTT_0: TimeDelta = TimeDelta::from_millis(1);

impl Settings for HyblaSpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            warning if self.rtt_0 < MIN_RTT_0 => ["rtt_0"],
                "`rtt_0` is so short that on paths of a few milliseconds windows double until a loss",
                "1 ms or more; the paper has 25 ms";
        }
    }

    const DEPENDS_ON_PATH: bool = true;

    /// In congestion avoidance the window grows by rho^2 segments per RTT.
    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        let rho = path.base_rtt.seconds() / self.rtt_0.seconds();
        let growth = rho * rho;
        let held = path.pipe() + path.buffer.map_or(f64::INFINITY, |places| places.0 as f64);
        // A tenth of it per RTT leaves some round trips between losses.
        let fitting = TimeDelta((path.base_rtt.0 as f64 / (held / 10.0).sqrt().max(1.0)) as u64);
        conflicts! {
            warning if growth > held => ["rtt_0"],
                format!("`rtt_0` makes the window grow by {growth:.0} segments per RTT, more than path and buffer hold, {held:.0}"),
                format!("at least {}", microseconds(fitting));
        }
    }

    fn samples() -> Vec<HyblaSpec> {
        let usual = HyblaSpec::default();
        let quick = HyblaSpec { rtt_0: TimeDelta::from_micros(100), max_slow_start_increment: 40.0, ..usual };
        vec![usual, quick, HyblaSpec { edition: Edition::Linux, ..quick }]
    }
}

pub type Hybla = RenoLike<Editions<HyblaLaw, linux::Linux>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct HyblaLaw {
    spec: HyblaSpec,
    shortest: TimeDelta,
    /// The RTT over RTT_0, at least 1; and the increase per segment in slow start, 2^rho - 1 up to the limit.
    rho: f64,
    start: f64,
}

impl Hybla {
    pub(super) fn new(spec: &HyblaSpec, start: Start) -> Hybla {
        let rules = match spec.edition {
            Edition::Document => {
                Editions::Document(HyblaLaw { spec: *spec, shortest: TimeDelta(u64::MAX), rho: 1.0, start: 1.0 })
            }
            Edition::Linux => Editions::Linux(linux::Linux::new(spec)),
        };
        RenoLike::of(rules, start)
    }
}

impl Avoidance for HyblaLaw {
    const ABILITIES: Abilities = Abilities { quantities: &["rho"], ..Abilities::NONE };

    fn quantity(&self, _index: usize) -> f64 {
        self.rho
    }

    fn measure(&mut self, measured: &RoundTrip) {
        if measured.sample < self.shortest {
            self.shortest = measured.sample;
            self.rho = (self.shortest.0 as f64 / self.spec.rtt_0.0.max(1) as f64).max(1.0);
            self.start = (pow(2.0, self.rho) - 1.0).min(self.spec.max_slow_start_increment);
        }
    }

    /// 2^rho - 1 per acknowledged segment.
    fn start(&self) -> f64 {
        self.start
    }

    fn max_slow_start_increment(&self) -> f64 {
        self.spec.max_slow_start_increment
    }

    /// rho^2 / w per acknowledged segment.
    fn increase(&mut self, _: &Ack, _: Cwnd) -> f64 {
        self.rho * self.rho
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
    fn an_unrealistically_short_reference_rtt_causes_a_warning() {
        let keys = |rtt_0| {
            HyblaSpec { rtt_0, ..HyblaSpec::default() }.check().into_iter().map(|conflict| conflict.keys).collect::<Vec<_>>()
        };
        assert_eq!(keys(TimeDelta::from_millis(1)), Vec::<&[&str]>::new());
        assert_eq!(keys(TimeDelta::from_micros(999)), [&["rtt_0"]]);
    }

    #[test]
    fn with_four_times_the_reference_rtt_a_window_adds_sixteen_segments() {
        assert_eq!((sender(64.0, 2.0, 25).ack(1), sender(64.0, 2.0, 100).ack(1)), (64.0 + 1.0 / 64.0, 64.25));
        assert_eq!(sender(64.0, 2.0, 5).ack(1), 64.0 + 1.0 / 64.0);
    }

    #[test]
    fn in_slow_start_a_segment_opens_two_to_the_rho_less_one() {
        // In an RTT of four times 25 ms the window grows by a factor of 2^4.
        assert_eq!((sender(64.0, 1000.0, 100).ack(1), sender(64.0, 1000.0, 50).ack(1)), (79.0, 67.0));
        // At most the limit or the data in flight, and up to the threshold.
        assert_eq!(sender(64.0, 1000.0, 600).ack(1), 79.0);
        assert_eq!((sender(8.0, 1000.0, 100).ack(1), sender(64.0, 70.0, 100).ack(1)), (16.0, 70.0));
    }

    #[test]
    fn the_minimum_rtt_applies_and_a_loss_halves_the_window() {
        let mut sender = sender(64.0, 2.0, 100);
        sender.measure(200);
        sender.measure(50);
        assert_eq!((sender.ack(1), sender.lose(64)), (64.0625, 32.03125));
    }
}
