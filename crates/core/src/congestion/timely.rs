//! TIMELY: the rate grows while RTTs do not, and shrinks in proportion to the RTT gradient; very short RTTs always increase it, very long
//! ones always decrease it (Mittal and others, TIMELY: RTT-based Congestion Control for the Datacenter, SIGCOMM 2015, Algorithm 1, whose
//! names are used here).
//!
//! Differs: the paper sends segments of 64 kB as bursts; here the same amount of data is paced packet by packet. Its RTT is that of the packet
//! whose acknowledgement completes it, without the time to send the burst. The paper does not give the weight of the newest difference; the
//! authors' code has 0.02, and at most halves a rate in one update. Their network has no losses: here a loss is repaired and does not
//! change the rate, so that losses continue in buffers whose delay stays below `t_high`. A timeout sets the window to one segment until the
//! next acknowledgement.

use super::support::heap_state::HeapState;
use super::support::{Abilities, Ack, Congestion, Controller, Start, Subscriptions};
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PathFacts, SettingConflict, Settings, conflicts, member, microseconds};
use serde::{Deserialize, Serialize};

member! {
    /// Adjusts its rate to the gradient of the RTT. For networks without loss.
    Timely = "timely", "Mittal and others, SIGCOMM 2015";

    pub struct TimelySpec {
        /// RTT below which the rate always increases (T_low).
        t_low: TimeDelta = TimeDelta::from_micros(50) => ABOVE_ZERO,
        /// RTT above which the rate always decreases (T_high). It must exceed the base RTT, including the delay of acknowledgements.
        t_high: TimeDelta = TimeDelta::from_micros(500) => ABOVE_ZERO,
        /// Additive increase of the rate per update (delta).
        additive_step: Rate = Rate(10_000_000) => Kind::Rate,
        /// Multiplicative decrease factor for a positive RTT gradient and for an RTT above `t_high` (beta).
        decrease: f64 = 0.8 => Kind::Probability,
        /// Weight of the newest RTT difference in the average (alpha).
        weight: f64 = 0.02 => Kind::Probability,
        /// RTT of an empty network, by which the gradient is normalised (minRTT).
        min_rtt: TimeDelta = TimeDelta::from_micros(20) => ABOVE_ZERO,
        /// Number of consecutive completion events without a growing RTT before the larger steps of hyperactive increase begin (HAI).
        hai_threshold: u32 = 5 => Kind::Integer { min: 1, max: 1_000_000 },
        /// Factor by which hyperactive increase multiplies the additive step (N).
        hai_factor: u32 = 5 => Kind::Integer { min: 1, max: 1_000_000 },
        /// Segment size: the acknowledgement of this much data is a completion event, after which the rate is updated.
        segment: u64 = 64_000 => Kind::Bytes { min: 1, max: 1_000_000_000 },
        /// Maximum sending rate: the line rate of the host.
        max_rate: Rate = Rate(10_000_000_000) => Kind::Rate,
        /// Minimum sending rate.
        min_rate: Rate = Rate(1_000_000) => Kind::Rate,
        /// Initial sending rate: C/(N+1) in the paper, where N other flows of the host share its line rate. Default: the maximum rate.
        initial_rate: Option<Rate> = None => Kind::Rate,
        /// Maximum outstanding data.
        max_outstanding: u64 = 1_000_000 => Kind::Bytes { min: 1, max: 1_000_000_000_000 },
    }
}

impl Settings for TimelySpec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.t_high < self.t_low => ["t_high"], "`t_high` is below `t_low`", "at least `t_low`";
            error if self.min_rate > self.max_rate => ["min_rate"], "`min_rate` is above `max_rate`", "at most `max_rate`";
            error if self.initial_rate.is_some_and(|rate| rate < self.min_rate || rate > self.max_rate) => ["initial_rate"],
                "`initial_rate` is out of range", "from `min_rate` to `max_rate`";
            error if self.weight == 0.0 => ["weight"], "`weight` of 0 ignores the RTT gradient", "above 0";
        }
    }

    const DEPENDS_ON_PATH: bool = true;

    /// An RTT without a queue must be below `t_high`, also with the delay of an acknowledgement, and the host's rate is that of the link: the
    /// queue of a faster start exceeds `t_high` until the rate is `min_rate`, at which an update takes half a second. The values to use
    /// have the ratios of the paper's, whose network has an RTT of 20 us.
    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        let PathFacts { base_rtt, ack_delay, share, packet, .. } = *path;
        let start = self.initial_rate.unwrap_or(self.max_rate);
        let outstanding =
            Bytes(self.max_outstanding.min(path.buffer.map_or(u64::MAX, |places| places.0.saturating_mul(packet.0))));
        let first_rtt = base_rtt + path.bottleneck.time_to_send(outstanding);
        let megabits = share.0 as f64 / 1e6;
        let [t_low, t_high, min_rtt] =
            [base_rtt + base_rtt + TimeDelta(base_rtt.0 / 2), TimeDelta(25 * base_rtt.0), base_rtt].map(microseconds);
        conflicts! {
            warning if self.t_high <= base_rtt => ["t_high"],
                format!("`t_high` is below the base RTT of {min_rtt}, so that the rate always falls to `min_rate`"),
                format!("`t_low` of {t_low}, `t_high` of {t_high} and `min_rtt` of {min_rtt}");
            warning if base_rtt < self.t_high && base_rtt + ack_delay > self.t_high => ["delayed_ack"],
                format!("`delayed_ack` of up to {} counts as RTT, which exceeds `t_high` of `timely`, {}",
                    microseconds(ack_delay), microseconds(self.t_high)),
                "`delayed_ack = false`";
            warning if self.max_rate < share => ["max_rate"],
                format!("`max_rate` is below the flow's share of the slowest link, {megabits} Mbps"),
                format!("`max_rate` of {megabits} Mbps");
            warning if base_rtt < self.t_high && start > share && first_rtt > self.t_high => ["initial_rate"],
                format!("`initial_rate`, by default `max_rate`, exceeds the flow's share of the slowest link: a queue above `t_high` \
                    reduces the rate to `min_rate`"),
                format!("`initial_rate` of {megabits} Mbps");
        }
    }

    fn samples() -> Vec<TimelySpec> {
        let usual = TimelySpec::default();
        let slow = TimelySpec {
            t_low: TimeDelta::from_millis(50),
            t_high: TimeDelta::from_millis(200),
            min_rtt: TimeDelta::from_millis(20),
            max_rate: Rate(100_000_000),
            min_rate: Rate(10_000),
            initial_rate: Some(Rate(1_000_000)),
            additive_step: Rate(100_000),
            ..usual
        };
        vec![usual, slow, TimelySpec { weight: 1.0, decrease: 1.0, segment: 1, max_outstanding: 1, ..slow }]
    }
}

pub type Timely = HeapState<TimelyMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TimelyMemory {
    spec: TimelySpec,
    packet: Bytes,
    /// Maximum outstanding segments.
    max: f64,
    /// Bits per second.
    rate: f64,
    prev_rtt: Option<TimeDelta>,
    /// Average difference of RTTs, in seconds.
    rtt_diff: f64,
    /// Number of consecutive completions without a growing RTT.
    negative_gradients: u32,
    /// Bytes acknowledged since the last completion.
    acked: u64,
}

impl Timely {
    pub(super) fn new(spec: &TimelySpec, start: Start) -> Timely {
        let max = (spec.max_outstanding as f64 / start.packet.0 as f64).max(1.0);
        let memory = TimelyMemory {
            spec: *spec,
            packet: start.packet,
            max,
            rate: spec.initial_rate.unwrap_or(spec.max_rate).0 as f64,
            prev_rtt: None,
            rtt_diff: 0.0,
            negative_gradients: 0,
            acked: 0,
        };
        HeapState::with(Start { window: max, ..start }, memory)
    }

    fn process_ack(&mut self, ack: &Ack) {
        let memory = &mut *self.memory;
        self.window = memory.max;
        memory.acked += u64::from(ack.acked.0) * memory.packet.0;
        if let Some(rtt) = ack.rtt
            && memory.acked >= memory.spec.segment
        {
            memory.acked = 0;
            memory.complete(rtt);
        }
    }
}

impl TimelyMemory {
    /// Algorithm 1.
    fn complete(&mut self, new_rtt: TimeDelta) {
        let TimelySpec { t_low, t_high, additive_step, decrease, weight, min_rtt, .. } = self.spec;
        let new_rtt_diff = new_rtt.seconds() - self.prev_rtt.unwrap_or(new_rtt).seconds();
        self.prev_rtt = Some(new_rtt);
        self.rtt_diff = (1.0 - weight) * self.rtt_diff + weight * new_rtt_diff;
        let normalized_gradient = self.rtt_diff / min_rtt.seconds();
        self.negative_gradients = if normalized_gradient <= 0.0 { self.negative_gradients.saturating_add(1) } else { 0 };
        let step = additive_step.0 as f64;
        let rate = match () {
            () if new_rtt < t_low => self.rate + step,
            () if new_rtt > t_high => self.rate * (1.0 - decrease * (1.0 - t_high.seconds() / new_rtt.seconds())),
            () if normalized_gradient > 0.0 => self.rate * (1.0 - decrease * normalized_gradient),
            () if self.negative_gradients >= self.spec.hai_threshold => self.rate + f64::from(self.spec.hai_factor) * step,
            () => self.rate + step,
        };
        let TimelySpec { min_rate, max_rate, .. } = self.spec;
        self.rate = rate.max(self.rate / 2.0).min(max_rate.0 as f64).max(min_rate.0 as f64);
    }
}

impl Controller for Timely {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        ignores_losses: true,
        controls_recovery: true,
        quantities: &["rate (bit/s)", "normalized_gradient"],
        may_pace: true,
        subscriptions: Subscriptions { newest_rtt: true, other_acks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    fn pacing(&self) -> Option<Rate> {
        Some(Rate((self.memory.rate as u64).max(1)))
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        match index {
            0 => self.memory.rate,
            1 => self.memory.rtt_diff / self.memory.spec.min_rtt.seconds(),
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack);
    }

    /// A duplicate counts as one segment.
    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(&Ack { acked: ack.acked.max(Segments(1)), ..*ack });
    }

    fn on_congestion(&mut self, _: &Congestion) {}

    /// Until the next acknowledgement.
    fn on_timeout(&mut self, _: &Congestion) {
        self.window = 1.0;
    }

    /// Pacing prevents bursts.
    fn limit_window(&mut self, _: Cwnd) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    /// Steps of 1 Mbit/s starting at 100 Mbit/s, between 50 and 200 ms, with an RTT of 20 ms in an empty network; each acknowledgement is a
    /// completion.
    const SLOW: TimelySpec = TimelySpec {
        t_low: TimeDelta::from_millis(50),
        t_high: TimeDelta::from_millis(200),
        additive_step: Rate(1_000_000),
        decrease: 0.8,
        weight: 0.5,
        min_rtt: TimeDelta::from_millis(20),
        hai_threshold: 5,
        hai_factor: 5,
        segment: 1250,
        max_rate: Rate(1_000_000_000),
        min_rate: Rate(10_000),
        initial_rate: Some(Rate(100_000_000)),
        max_outstanding: 125_000,
    };

    fn sender(spec: TimelySpec) -> ModelSender<Timely> {
        ModelSender::new(Timely::new(&spec, Start { packet: Bytes(1250), ..Start::default() }))
    }

    /// The rate in Mbit/s after a completion with an RTT of this many milliseconds.
    fn complete(sender: &mut ModelSender<Timely>, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack(1);
        sender.law.memory.rate / 1e6
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-9
    }

    #[test]
    fn short_rtts_always_raise_the_rate_and_long_ones_always_lower_it() {
        let mut sender = sender(SLOW);
        assert_eq!((complete(&mut sender, 10), complete(&mut sender, 49)), (101.0, 102.0));
        // 1 - 0.8 (1 - 200 / 320) of it.
        assert!(near(complete(&mut sender, 320), 102.0 * 0.7));
        assert!(near(complete(&mut sender, 250), 102.0 * 0.7 * 0.84));
        assert!(near(complete(&mut sender, 45), 102.0 * 0.7 * 0.84 + 1.0));
    }

    #[test]
    fn between_the_thresholds_the_rate_shrinks_by_the_gradient_and_at_most_by_half() {
        let mut sender = sender(SLOW);
        assert_eq!(complete(&mut sender, 100), 101.0);
        // Half of 2 ms more is 1 ms, a twentieth of 20.
        assert!(near(complete(&mut sender, 102), 101.0 * 0.96));
        // The average is halved: 1/40 of a gradient, without growth.
        assert!(near(complete(&mut sender, 102), 101.0 * 0.96 * 0.98));
        // 0.5 ms / 2 - 1.25 ms is not a growth.
        assert!(near(complete(&mut sender, 100), 101.0 * 0.96 * 0.98 + 1.0));
        let before = sender.law.memory.rate / 1e6;
        assert!(near(complete(&mut sender, 190), before / 2.0));
    }

    #[test]
    fn after_five_completions_without_growth_steps_are_five_times_as_large() {
        let mut sender = sender(SLOW);
        let rates = [100; 7].map(|milliseconds| complete(&mut sender, milliseconds));
        assert_eq!(rates, [101.0, 102.0, 103.0, 104.0, 109.0, 114.0, 119.0]);
        complete(&mut sender, 101);
        let before = sender.law.memory.rate / 1e6;
        complete(&mut sender, 90);
        assert!(near(sender.law.memory.rate / 1e6, before + 1.0));
    }

    #[test]
    fn a_completion_is_a_segment_of_data() {
        let mut sender = sender(TimelySpec { segment: 5000, ..SLOW });
        let rates = [100; 9].map(|milliseconds| complete(&mut sender, milliseconds));
        assert_eq!(rates, [100.0, 100.0, 100.0, 101.0, 101.0, 101.0, 101.0, 102.0, 102.0]);
    }

    #[test]
    fn the_rate_and_the_outstanding_data_stay_within_their_bounds() {
        let mut sender = sender(TimelySpec { max_rate: Rate(101_500_000), min_rate: Rate(60_000_000), ..SLOW });
        assert_eq!([10; 3].map(|milliseconds| complete(&mut sender, milliseconds)), [101.0, 101.5, 101.5]);
        assert_eq!([10_000; 2].map(|milliseconds| complete(&mut sender, milliseconds)), [60.0, 60.0]);
        assert_eq!(sender.law.window().0, 100.0);
    }

    #[test]
    fn a_loss_has_no_effect_and_a_timeout_sets_the_window_to_one_until_the_next_acknowledgement() {
        let mut sender = sender(SLOW);
        assert_eq!((sender.lose(100), sender.time_out(100)), (100.0, 1.0));
        assert_eq!((complete(&mut sender, 10), sender.law.window().0), (101.0, 100.0));
    }
}
