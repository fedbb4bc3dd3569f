//! Vegas: the window keeps a few segments queued, estimated from the difference between the actual rate and that of an empty path (Brakmo
//! and Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE JSAC 13(8), 1995).
//!
//! Differs: section 3.1's retransmission before the third duplicate acknowledgement, which requires the transmission time of each segment,
//! is not implemented; the sender's loss recovery is used. A loss halves the window as in Reno, and no decrease goes below two segments, as
//! in Linux.
//!
//! RTTs are those of the newest segment that an acknowledgement covers, measured by the sender's clock, as in ns-2 and Linux: segments whose
//! acknowledgement was delayed do not count as queued.
//!
//! Thresholds are in segments, as in implementations, or with `alpha_rate` and `beta_rate` rates as in the paper's text: the number of
//! segments is the rate times the base RTT (Cui's thesis, equation (4.8)).

mod linux;

use super::support::heap_state::HeapState;
use super::support::least_rtt::LeastRtt;
use super::support::window::Window;
use super::support::{Abilities, Ack, Congestion, Controller, RoundTrip, Start, Subscriptions};
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use crate::settings::{Kind, PathFacts, PlainWords, SEGMENTS_IN_QUEUES, SettingConflict, Settings, conflicts, member, words};
use serde::{Deserialize, Serialize};

// Two and four are the authors' (section 3.2 of their paper at SIGCOMM 1994; they compare them with one and three, the values of NS). They
// give no gamma; NS and Linux use one segment.
member! {
    /// Keeps a few segments queued.
    Vegas = "vegas", "Brakmo and Peterson, IEEE JSAC 13(8), 1995";

    pub struct VegasSpec {
        /// Number of queued segments below which the window grows.
        alpha: f64 = 2.0 => SEGMENTS_IN_QUEUES,
        /// Number of queued segments above which the window shrinks.
        beta: f64 = 4.0 => SEGMENTS_IN_QUEUES,
        /// Number of queued segments above which slow start ends.
        gamma: f64 = 1.0 => SEGMENTS_IN_QUEUES,
        /// Alternative to `alpha`, as a rate in segments per second: `alpha` is this rate times the base RTT. Requires `beta_rate`.
        alpha_rate: Option<f64> = None => SEGMENTS_PER_SECOND,
        /// Alternative to `beta`, as a rate in segments per second. Requires `alpha_rate`.
        beta_rate: Option<f64> = None => SEGMENTS_PER_SECOND,
        /// If false, the window changes by at most one segment per RTT, also at the start and after timeouts.
        slow_start: bool = true => Kind::Boolean,
        /// Rules by which an RTT is evaluated.
        edition: VegasEdition = VegasEdition::Paper => Kind::Words(&VegasEdition::WORDS),
    }
}

words! {
    /// Edition of Vegas.
    pub enum VegasEdition ("edition") {
        /// Brakmo and Peterson (1995): the last RTT and the minimum RTT.
        Paper = "paper",
        /// As observed in ns-2.35: the mean RTT of a round, and the least of these means since a single segment was in flight; whole queued
        /// segments, from the segments sent in the round; increases spread over the next round, and a window smaller by an eighth at the end of
        /// slow start.
        Ns2 = "ns2",
        /// As observed in Linux 6.12: the minimum RTT of a round, whole queued segments relative to the minimum RTT of the flow, and slow start
        /// that doubles every round.
        Linux = "linux",
    }
}

/// Segments per second.
const SEGMENTS_PER_SECOND: Kind = Kind::Number { min: 0.0, max: 1e9 };

impl Settings for VegasSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let VegasSpec { alpha, beta, alpha_rate, beta_rate, .. } = *self;
        let usual = VegasSpec::default();
        let in_segments: &'static [&'static str] = match () {
            () if alpha != usual.alpha => &["alpha"],
            () if beta != usual.beta => &["beta"],
            () => &[],
        };
        let conflict = match (alpha_rate, beta_rate) {
            (Some(_), Some(_)) if !in_segments.is_empty() => {
                SettingConflict::error(in_segments, "thresholds are given both in segments and as rates", "one or the other")
            }
            (None, None) if beta < alpha => {
                SettingConflict::error(&["beta"], "`beta` is below `alpha`", format!("at least {alpha}"))
            }
            (Some(alpha), Some(beta)) if beta < alpha => {
                SettingConflict::error(&["beta_rate"], "`beta_rate` is below `alpha_rate`", format!("at least {alpha}"))
            }
            (Some(_), None) => SettingConflict::error(&["alpha_rate"], "`alpha_rate` requires `beta_rate`", "both, or neither"),
            (None, Some(_)) => SettingConflict::error(&["beta_rate"], "`beta_rate` requires `alpha_rate`", "both, or neither"),
            _ => return Vec::new(),
        };
        vec![conflict]
    }

    const DEPENDS_ON_PATH: bool = true;

    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        let base = path.base_rtt.seconds();
        let queued =
            |key: &str| format!("`{key}` exceeds the {}, which may overflow before the windows shrink", path.buffer_in_words());
        conflicts! {
            warning if self.beta_rate.is_none() && path.overflows(self.beta) => ["beta"], queued("beta"),
                "at most the buffer, divided by the number of flows";
            warning if self.beta_rate.is_some_and(|rate| path.overflows(rate * base)) => ["beta_rate"], queued("beta_rate"),
                "at most the buffer, divided by the base RTT and the number of flows";
        }
    }

    fn samples() -> Vec<VegasSpec> {
        let of = |[alpha, beta, gamma]: [f64; 3]| VegasSpec { alpha, beta, gamma, ..VegasSpec::default() };
        let by_rate = VegasSpec { alpha_rate: Some(100.0), beta_rate: Some(150.0), slow_start: false, ..VegasSpec::default() };
        let of_ns2 = VegasSpec { edition: VegasEdition::Ns2, ..of([1.0, 3.0, 1.0]) };
        let of_linux = VegasSpec { edition: VegasEdition::Linux, ..of([2.0, 4.0, 1.0]) };
        [[2.0, 4.0, 1.0], [1.0, 1.0, 2.0], [3.0, 3.0, 0.0], [0.0, 0.0, 0.0]]
            .map(of)
            .into_iter()
            .chain([by_rate, of_ns2, of_linux])
            .collect()
    }
}

pub type Vegas = HeapState<VegasMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct VegasMemory {
    spec: VegasSpec,
    ssthresh: f64,
    /// BaseRTT: the minimum RTT.
    base: Option<TimeDelta>,
    /// Sum and number of the RTT samples of this round, and growth per acknowledged segment, in [`VegasEdition::Ns2`]. In
    /// [`VegasEdition::Linux`] the number is 0 until the first sample.
    samples: (TimeDelta, u64),
    growth: f64,
    /// RTTs of this round in [`VegasEdition::Linux`], where `growth` counts the segments acknowledged at the ends of short rounds.
    rtts: LeastRtt,
    /// Segments outstanding at the start of this RTT, and acknowledged since; unknown while a loss is repaired.
    round: Option<(u32, u32)>,
    /// The first segment sent after this time is the distinguished one, whose acknowledgement ends the RTT.
    began: Time,
    /// In slow start, every other RTT.
    grows: bool,
}

impl Vegas {
    pub(super) fn new(spec: &VegasSpec, start: Start) -> Vegas {
        let memory = VegasMemory {
            spec: *spec,
            ssthresh: start.ssthresh,
            base: None,
            samples: (TimeDelta::ZERO, 0),
            growth: 0.0,
            rtts: LeastRtt::default(),
            round: Some((0, 0)),
            began: Time::ZERO,
            // In ns-2 the RTT of the segment that opens a connection is the first.
            grows: spec.edition == VegasEdition::Ns2,
        };
        HeapState::with(start, memory)
    }

    /// Once per RTT (section 3.2; section 3.3 in slow start, where only an RTT with a constant window is evaluated).
    fn judge(&mut self, ack: &Ack, queued: f64) {
        let gamma = self.memory.spec.gamma;
        let (alpha, beta) = self.memory.thresholds();
        let edition = self.memory.spec.edition;
        self.memory.growth = 0.0;
        if self.starts_slowly() {
            if !self.memory.grows && queued > gamma {
                if edition == VegasEdition::Ns2 {
                    self.window = self.window.min((self.window * 7.0 / 8.0).max(MIN));
                }
                self.memory.ssthresh = self.window;
            }
            self.memory.grows = !self.memory.grows;
        } else if queued < alpha && ack.window_validated {
            match edition {
                VegasEdition::Paper | VegasEdition::Linux => self.window += 1.0,
                VegasEdition::Ns2 => self.memory.growth = 1.0 / self.window,
            }
        } else if queued > beta && self.window > MIN {
            self.window = (self.window - 1.0).max(MIN);
            self.memory.ssthresh = self.memory.ssthresh.min(self.window);
        }
    }

    fn starts_slowly(&self) -> bool {
        self.memory.spec.slow_start && self.window < self.memory.ssthresh
    }

    fn parts(&mut self) -> Window<'_> {
        Window { cwnd: &mut self.window, ssthresh: &mut self.memory.ssthresh }
    }

    /// Ignores data sent with the old window.
    fn begin_round_trip(&mut self, now: Time) {
        self.memory.began = now;
        self.memory.grows = false;
        self.memory.growth = 0.0;
        self.memory.round = None;
    }
}

impl VegasMemory {
    /// Diff in segments at the end of an RTT with this last sample.
    fn queued(&mut self, ack: &Ack, last: TimeDelta) -> f64 {
        let Segments(in_flight) = ack.in_flight;
        let sent = self.begin_round(ack).unwrap_or(in_flight);
        let (sum, count) = std::mem::take(&mut self.samples);
        if self.spec.edition == VegasEdition::Paper {
            return queued(ack.in_flight, self.base.unwrap_or(last), last);
        }
        let mean = sum.0.checked_div(count).map_or(last, TimeDelta);
        // A single segment is taken to find no queue of its own flow.
        let base = self.base.filter(|_| sent > 1).map_or(mean, |base| base.min(mean));
        self.base = Some(base);
        // Expected counts one of the segments that this acknowledgement covers, Actual those sent in the round.
        let expected = f64::from(in_flight) + 1.0 - f64::from(ack.acked.0);
        (expected - f64::from(sent) + queued(Segments(sent), base, mean) + 0.5).floor()
    }

    /// Begins an RTT. Returns the number of segments sent in the previous one.
    fn begin_round(&mut self, ack: &Ack) -> Option<u32> {
        let in_flight = ack.in_flight.0;
        let sent = self.round.map(|(outstanding, acked)| in_flight.saturating_add(acked).saturating_sub(outstanding));
        self.round = Some((in_flight.saturating_sub(ack.acked.0), 0));
        self.began = ack.now;
        sent
    }

    /// alpha and beta in segments.
    fn thresholds(&self) -> (f64, f64) {
        let VegasSpec { alpha, beta, alpha_rate, beta_rate, .. } = self.spec;
        let base = self.base.map_or(0.0, TimeDelta::seconds);
        alpha_rate.zip(beta_rate).map_or((alpha, beta), |(alpha, beta)| (alpha * base, beta * base))
    }
}

const MIN: f64 = 2.0;

/// Diff in segments: Expected - Actual, times BaseRTT. Expected is the data in flight over BaseRTT, Actual the same over the RTT.
fn queued(in_flight: Segments, base: TimeDelta, rtt: TimeDelta) -> f64 {
    f64::from(in_flight.0) * (rtt - base).0 as f64 / rtt.0.max(1) as f64
}

impl Controller for Vegas {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        targets_backlog: true,
        quantities: &["alpha_packets", "beta_packets", "base_rtt_s"],
        subscriptions: Subscriptions { newest_rtt: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    fn abilities(&self) -> Abilities {
        let exact_rtt = self.memory.spec.edition == VegasEdition::Linux;
        Abilities { subscriptions: Subscriptions { exact_rtt, ..Self::ABILITIES.subscriptions }, ..Self::ABILITIES }
    }

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn ssthresh(&self) -> Cwnd {
        Cwnd(self.memory.ssthresh)
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        match index {
            0 => self.memory.thresholds().0,
            1 => self.memory.thresholds().1,
            2 => self.memory.base.map_or(f64::NAN, TimeDelta::seconds),
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        if self.memory.spec.edition == VegasEdition::Linux {
            return self.process_as_linux(ack);
        }
        if ack.window_validated && !self.starts_slowly() {
            self.window += f64::from(ack.counted.0) * self.memory.growth;
        }
        if let Some(last) = ack.rtt.filter(|&last| ack.now.since(self.memory.began) >= last) {
            let queued = self.memory.queued(ack, last);
            self.judge(ack, queued);
        } else if let Some((_, acked)) = &mut self.memory.round {
            *acked = acked.saturating_add(ack.acked.0);
        }
        if self.memory.grows && ack.window_validated && self.starts_slowly() {
            self.parts().slow_start(ack.counted);
        }
    }

    fn on_round_trip(&mut self, measured: &RoundTrip) {
        let VegasMemory { spec, base, samples, rtts, round, .. } = &mut *self.memory;
        match spec.edition {
            // Samples of a recovery do not count, nor does the first of a connection, that of its SYN.
            VegasEdition::Linux if round.is_none() => {}
            VegasEdition::Linux if samples.1 == 0 => samples.1 = 1,
            VegasEdition::Linux => {
                rtts.measure(measured);
                *base = Some(base.map_or(measured.sample, |base| base.min(measured.sample)));
            }
            VegasEdition::Paper => *base = Some(base.map_or(measured.sample, |base| base.min(measured.sample))),
            // The segment that opens a connection is a round of its own.
            VegasEdition::Ns2 if base.is_none() => *base = Some(measured.sample),
            VegasEdition::Ns2 => *samples = (samples.0 + measured.sample, samples.1 + 1),
        }
    }

    fn on_congestion(&mut self, seen: &Congestion) {
        self.parts().reduce_to(Cwnd(f64::from(seen.in_flight.0 / 2)), Segments(2));
        self.begin_round_trip(seen.now);
    }

    fn on_timeout(&mut self, seen: &Congestion) {
        if !seen.repeated {
            self.on_congestion(seen);
        }
        self.window = 1.0;
        self.begin_round_trip(seen.now);
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.parts().limit(max);
    }

    fn raise_threshold(&mut self, min: Cwnd) {
        self.parts().raise_threshold(min);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    const BASE: TimeDelta = TimeDelta::from_millis(100);

    fn sender(window: f64, ssthresh: f64) -> ModelSender<Vegas> {
        ModelSender::new(Vegas::new(&VegasSpec::default(), Start { window, ssthresh, ..Start::default() })).with_round_trip(100)
    }

    /// The first acknowledgement of a round of one second, with the given RTT. Returns the window.
    fn round(sender: &mut ModelSender<Vegas>, in_flight: u32, milliseconds: u64) -> f64 {
        sender.wait(1000);
        ack(sender, in_flight, milliseconds)
    }

    fn ack(sender: &mut ModelSender<Vegas>, in_flight: u32, milliseconds: u64) -> f64 {
        (sender.in_flight, sender.round_trip) = (in_flight, Some(TimeDelta::from_millis(milliseconds)));
        sender.ack(1)
    }

    #[test]
    fn the_queue_is_the_part_of_the_rtt_above_the_base() {
        // 10 / 100 ms - 10 / 125 ms = 20 per second; over 100 ms, 2
        assert_eq!(queued(Segments(10), BASE, TimeDelta::from_millis(125)), 2.0);
        assert_eq!(queued(Segments(10), BASE, TimeDelta::from_millis(200)), 5.0);
        assert_eq!(queued(Segments(10), BASE, BASE), 0.0);
    }

    #[test]
    fn once_per_rtt_the_window_moves_towards_two_to_four_queued_segments() {
        let mut sender = sender(10.0, 10.0);
        assert_eq!(round(&mut sender, 10, 110), 11.0);
        assert_eq!(ack(&mut sender, 11, 110), 11.0);
        // 11 * 30 / 130 = 2.54
        assert_eq!(round(&mut sender, 11, 130), 11.0);
        // 11 * 70 / 170 = 4.53
        assert_eq!(round(&mut sender, 11, 170), 10.0);
    }

    #[test]
    fn a_shorter_rtt_becomes_the_base() {
        let mut sender = sender(10.0, 10.0).with_round_trip(50);
        // 10 * 50 / 100 = 5
        assert_eq!(round(&mut sender, 10, 100), 9.0);
    }

    /// A sender by the rules of ns-2, with thresholds of one and three segments on an empty path of 100 ms.
    fn as_in_ns2(window: f64, ssthresh: f64) -> ModelSender<Vegas> {
        let spec = VegasSpec { alpha: 1.0, beta: 3.0, edition: VegasEdition::Ns2, ..VegasSpec::default() };
        ModelSender::new(Vegas::new(&spec, Start { window, ssthresh, ..Start::default() })).with_round_trip(100)
    }

    /// A round of ten segments with acknowledgements of `each` of them: one RTT for all but the last acknowledgement, and that of the last.
    /// Returns the window.
    fn round_of_ten(sender: &mut ModelSender<Vegas>, each: u32, [milliseconds, last]: [u64; 2]) -> f64 {
        (sender.in_flight, sender.round_trip) = (10, Some(TimeDelta::from_millis(milliseconds)));
        (1..10 / each).for_each(|_| {
            sender.ack(each);
        });
        sender.wait(1000);
        sender.round_trip = Some(TimeDelta::from_millis(last));
        sender.ack(each)
    }

    #[test]
    fn by_the_rules_of_ns2_the_mean_rtt_of_a_round_counts_and_growth_is_spread() {
        let mut sender = as_in_ns2(10.0, 10.0);
        // Each segment of the round after one without a queue opens the window by a tenth.
        assert_eq!(round_of_ten(&mut sender, 1, [100, 100]), 10.0);
        // A mean of 119 ms: 10 * 19 / 119 = 1.6, rounded to 2, which is between the thresholds.
        assert!((round_of_ten(&mut sender, 1, [110, 200]) - 11.0).abs() < 1e-9);
        // A mean of 159 ms: 10 * 59 / 159 = 3.7, rounded to 4.
        assert!((round_of_ten(&mut sender, 1, [150, 240]) - 10.0).abs() < 1e-9);
        assert_eq!(sender.law.quantity(2, Time::ZERO), 0.1);
        // A single segment renews the base RTT.
        (sender.in_flight, sender.round_trip) = (1, Some(TimeDelta::from_millis(300)));
        sender.wait(1000);
        sender.ack(1);
        assert_eq!(sender.law.quantity(2, Time::ZERO), 0.3);
    }

    #[test]
    fn by_the_rules_of_ns2_an_acknowledgement_of_two_segments_finds_one_less_in_flight() {
        // 9 - 10 * 100 / 120 = 0.7, rounded to 1; single acknowledgements find 1.7.
        let mut sender = as_in_ns2(10.0, 10.0);
        round_of_ten(&mut sender, 2, [100, 100]);
        assert_eq!(sender.law.memory.growth, 0.1);
        round_of_ten(&mut sender, 2, [120, 120]);
        assert_eq!(sender.law.memory.growth, 0.0);
        // 9 - 10 * 100 / 110 = -0.1.
        round_of_ten(&mut sender, 2, [110, 110]);
        assert!(sender.law.memory.growth > 0.0);
    }

    #[test]
    fn by_the_rules_of_ns2_slow_start_ends_with_an_eighth_less() {
        let mut sender = as_in_ns2(10.0, f64::INFINITY);
        // The first round, which is not evaluated, grows by a segment per acknowledgement, and the next one does not. In that,
        // 10 * 100 / 200 = 5 segments are queued.
        assert_eq!(round_of_ten(&mut sender, 1, [100, 100]), 19.0);
        sender.law.window = 10.0;
        assert_eq!(round_of_ten(&mut sender, 1, [200, 200]), 8.75);
        assert_eq!(sender.law.ssthresh().0, 8.75);
    }

    #[test]
    fn thresholds_as_rates_are_multiplied_by_the_base_rtt() {
        // 20 to 40 per second over 100 ms: two to four queued, without slow start from the beginning.
        let spec = VegasSpec { alpha_rate: Some(20.0), beta_rate: Some(40.0), slow_start: false, ..VegasSpec::default() };
        let start = Start { window: 10.0, ..Start::default() };
        let mut sender = ModelSender::new(Vegas::new(&spec, start)).with_round_trip(100);
        assert_eq!((round(&mut sender, 10, 110), ack(&mut sender, 10, 110)), (11.0, 11.0));
        assert_eq!(round(&mut sender, 11, 130), 11.0);
        assert_eq!(round(&mut sender, 11, 170), 10.0);
        // Also after a timeout, by one segment per RTT.
        assert_eq!(sender.time_out(10), 1.0);
        assert_eq!((round(&mut sender, 1, 100), ack(&mut sender, 1, 100), round(&mut sender, 2, 100)), (2.0, 2.0, 3.0));
    }

    #[test]
    fn slow_start_grows_every_other_rtt_and_ends_with_more_than_one_queued_segment() {
        let mut sender = sender(2.0, f64::INFINITY);
        assert_eq!((round(&mut sender, 2, 100), ack(&mut sender, 2, 100)), (3.0, 4.0));
        assert_eq!((round(&mut sender, 4, 100), ack(&mut sender, 4, 100)), (4.0, 4.0));
        assert_eq!((round(&mut sender, 4, 100), ack(&mut sender, 4, 100)), (5.0, 6.0));
        // An RTT with growth is not evaluated; 6 * 50 / 150 = 2.
        assert_eq!(round(&mut sender, 6, 150), 6.0);
        assert_eq!(sender.law.ssthresh().0, f64::INFINITY);
        assert_eq!(round(&mut sender, 6, 150), 6.0);
        assert_eq!(sender.law.ssthresh().0, 6.0);
    }

    #[test]
    fn a_loss_halves_the_window_and_data_sent_before_it_is_ignored() {
        let mut sender = sender(20.0, 20.0);
        sender.wait(1000);
        assert_eq!((sender.lose(20), sender.law.ssthresh().0), (10.0, 10.0));
        sender.wait(150);
        assert_eq!(ack(&mut sender, 20, 200), 10.0);
        assert_eq!((sender.time_out(10), sender.law.ssthresh().0), (1.0, 5.0));
    }
}
