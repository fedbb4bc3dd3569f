//! Swift: additive increase while the RTT is below a target, and above it a decrease in proportion to the excess, at most once per RTT; the
//! target grows with the hops of the path and as the window shrinks (Kumar and others, Swift: Delay is Simple and Effective for Congestion
//! Control in the Datacenter, SIGCOMM 2020, whose names are used here; Algorithm 1 and section 3.5).
//!
//! Differs: the delay is the whole RTT, because hosts here have no stack in which packets could wait: there is one window, for the fabric.
//! It is that of the newest acknowledged segment. An acknowledgement sent by the receiver's timer counts with its delay until a handshake,
//! or an acknowledgement of as many segments as the receiver waits for, has shown a shorter RTT. Without a handshake a flow with a smaller
//! initial window therefore stalls, because Algorithm 1 does not grow above the target. Hops are the links of the path instead of the
//! remaining TTL. The paper does not give values for most of its parameters; those here suit a data centre with 100 Gbit/s. A mark, which
//! Swift does not request, is treated as a loss.

use super::support::heap_state::HeapState;
use super::support::{Abilities, Ack, Congestion, Controller, Start, Subscriptions};
use crate::primitives::units::{Bytes, Cwnd, Rate, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PathFacts, SettingConflict, Settings, conflicts, member, microseconds};
use serde::{Deserialize, Serialize};

member! {
    /// Keeps the RTT at a target that grows with the number of hops and of flows.
    Swift = "swift", "Kumar and others, SIGCOMM 2020";

    pub struct SwiftSpec {
        /// Target RTT of a path without hops, for a large window (base_target). With the hops it must exceed the base RTT, including the delay
        /// of acknowledgements.
        base_target: TimeDelta = TimeDelta::from_micros(25) => ABOVE_ZERO,
        /// Addition to the target per link of the path.
        hop_delay: TimeDelta = TimeDelta::from_micros(1) => Kind::Duration { min: TimeDelta::ZERO },
        /// Maximum addition to the target, for the smallest windows (fs_range); 0 gives every flow the same target.
        fs_range: TimeDelta = TimeDelta::from_micros(100) => Kind::Duration { min: TimeDelta::ZERO },
        /// Window up to which the full flow-based addition applies (fs_min_cwnd).
        fs_min_cwnd: f64 = 0.1 => WINDOW,
        /// Window from which the flow-based addition is zero (fs_max_cwnd).
        fs_max_cwnd: f64 = 100.0 => WINDOW,
        /// Window increase per RTT, in segments (ai).
        additive_increase: f64 = 1.0 => WINDOW,
        /// Multiplicative decrease factor; the decrease is proportional to the excess delay relative to the delay (beta).
        decrease: f64 = 0.8 => Kind::Probability,
        /// Maximum fraction of the window removed at once, and the fraction removed by a loss (max_mdf).
        max_mdf: f64 = 0.5 => Kind::Probability,
        /// Minimum window (min_cwnd). Below 1, a segment is sent only every few RTTs.
        min_cwnd: f64 = 0.001 => WINDOW,
        /// Maximum window (max_cwnd).
        max_cwnd: f64 = 10_000.0 => WINDOW,
        /// Number of consecutive timeouts after which the window is reset to the minimum (RETX_RESET_THRESHOLD).
        retx_reset_threshold: u32 = 5 => Kind::Integer { min: 1, max: 1000 },
    }
}

const WINDOW: Kind = Kind::Segments { min: 1e-6, max: 1e9 };

impl Settings for SwiftSpec {
    fn check(&self) -> Vec<SettingConflict> {
        let min = self.min_cwnd.max(1.0);
        conflicts! {
            error if self.fs_max_cwnd <= self.fs_min_cwnd => ["fs_max_cwnd"],
                "`fs_max_cwnd` is not above `fs_min_cwnd`", format!("more than {}", self.fs_min_cwnd);
            error if self.max_cwnd < min => ["max_cwnd"], "`max_cwnd` is too small to send a segment", format!("at least {min}");
            error if self.decrease == 0.0 => ["decrease"], "`decrease` of 0 never decreases the window", "above 0";
            error if self.max_mdf == 0.0 => ["max_mdf"], "`max_mdf` of 0 never decreases the window", "above 0";
            error if self.max_mdf == 1.0 => ["max_mdf"], "`max_mdf` of 1 removes the whole window", "less than 1";
        }
    }

    const DEPENDS_ON_PATH: bool = true;

    /// Without a queue the RTT must be below the target for a window that fills the path, and an acknowledgement must not take longer.
    fn check_path(&self, path: &PathFacts) -> Vec<SettingConflict> {
        let PathFacts { base_rtt, ack_delay, hops, .. } = *path;
        let target = self.path_target(hops) + self.flow_addition(Cwnd(path.share_of_pipe().max(1.0)));
        // Room for a few packets in the queue and for jitter.
        let queue = TimeDelta((base_rtt.0 / 4).max(10 * path.packet_time().0));
        let fitting = base_rtt + queue - (self.path_target(hops) - self.base_target);
        conflicts! {
            warning if target <= base_rtt => ["base_target"],
                format!("`base_target` gives a target delay of {}, below the base RTT of {}, so that the window shrinks to `min_cwnd`",
                    microseconds(target), microseconds(base_rtt)),
                format!("`base_target` of {}", microseconds(fitting));
            warning if base_rtt < target && base_rtt + ack_delay > target => ["delayed_ack"],
                format!("`delayed_ack` of up to {} counts as delay, which exceeds the target of `swift`, {}",
                    microseconds(ack_delay), microseconds(target)),
                "`delayed_ack = false`";
        }
    }

    fn samples() -> Vec<SwiftSpec> {
        let usual = SwiftSpec::default();
        let slow = SwiftSpec { base_target: TimeDelta::from_millis(60), fs_range: TimeDelta::ZERO, ..usual };
        let whole = SwiftSpec { min_cwnd: 1.0, max_cwnd: 50.0, max_mdf: 0.3, retx_reset_threshold: 1, ..usual };
        vec![usual, slow, SwiftSpec { hop_delay: TimeDelta::ZERO, additive_increase: 0.25, ..whole }]
    }
}

impl SwiftSpec {
    /// base_target plus the delay of the hops.
    fn path_target(&self, hops: u32) -> TimeDelta {
        self.base_target + TimeDelta(self.hop_delay.0.saturating_mul(hops.into()))
    }

    /// Section 3.5: an addition to the target that falls with the square root of the window, from `fs_min_cwnd` to `fs_max_cwnd`.
    fn flow_addition(&self, Cwnd(cwnd): Cwnd) -> TimeDelta {
        let SwiftSpec { fs_range, fs_min_cwnd, fs_max_cwnd, .. } = *self;
        let fs_range = fs_range.0 as f64;
        let alpha = fs_range / (1.0 / fs_min_cwnd.sqrt() - 1.0 / fs_max_cwnd.sqrt());
        let beta = -alpha / fs_max_cwnd.sqrt();
        TimeDelta((alpha / cwnd.sqrt() + beta).min(fs_range).max(0.0) as u64)
    }
}

pub type Swift = HeapState<SwiftMemory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SwiftMemory {
    spec: SwiftSpec,
    packet: Bytes,
    /// base_target plus the delay of the hops.
    path_target: TimeDelta,
    /// The window, which may be below one; the sender's may not.
    cwnd: f64,
    /// Last measured RTT.
    rtt: Option<TimeDelta>,
    t_last_decrease: Option<Time>,
    retransmit_cnt: u32,
}

impl Swift {
    pub(super) fn new(spec: &SwiftSpec, start: Start) -> Swift {
        let memory = SwiftMemory {
            spec: *spec,
            packet: start.packet,
            path_target: spec.path_target(start.hops),
            cwnd: start.window.min(spec.max_cwnd),
            rtt: None,
            t_last_decrease: None,
            retransmit_cnt: 0,
        };
        let window = memory.cwnd;
        HeapState::with(Start { window, ..start }, memory)
    }

    /// Algorithm 1, On Receiving ACK.
    fn process_ack(&mut self, ack: &Ack) {
        let memory = &mut *self.memory;
        memory.retransmit_cnt = 0;
        memory.rtt = ack.rtt.or(memory.rtt);
        let Some(delay) = ack.rtt else { return };
        let target = memory.target_delay();
        if delay < target {
            if ack.window_validated {
                let num_acked = f64::from(ack.acked.0);
                let grown = memory.cwnd + memory.spec.additive_increase * num_acked / memory.cwnd.max(1.0);
                self.set(Cwnd(grown));
            }
        } else if memory.can_decrease(ack.now) {
            let excess = (delay - target).0 as f64 / delay.0.max(1) as f64;
            let kept = (1.0 - memory.spec.decrease * excess).max(1.0 - memory.spec.max_mdf);
            self.decrease(ack.now, kept);
        }
    }

    fn decrease(&mut self, now: Time, kept: f64) {
        let before = self.memory.cwnd;
        self.set(Cwnd(kept * before));
        if self.memory.cwnd < before {
            self.memory.t_last_decrease = Some(now);
        }
    }

    fn set(&mut self, Cwnd(window): Cwnd) {
        let SwiftSpec { min_cwnd, max_cwnd, .. } = self.memory.spec;
        self.memory.cwnd = window.min(max_cwnd).max(min_cwnd);
        self.window = self.memory.cwnd.max(1.0);
    }
}

impl SwiftMemory {
    fn target_delay(&self) -> TimeDelta {
        self.path_target + self.spec.flow_addition(Cwnd(self.cwnd))
    }

    /// At most once per RTT.
    fn can_decrease(&self, now: Time) -> bool {
        let rtt = self.rtt.unwrap_or_default();
        self.t_last_decrease.is_none_or(|last| now.since(last) >= rtt)
    }
}

impl Controller for Swift {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        uses_start_details: true,
        controls_recovery: true,
        quantities: &["target_delay_s", "fabric_window_packets"],
        subscriptions: Subscriptions { newest_rtt: true, other_acks: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    /// A window below one sends a segment every rtt/cwnd.
    fn pacing(&self) -> Option<Rate> {
        let rtt = self.memory.rtt.filter(|_| self.memory.cwnd < 1.0)?;
        let bits = self.memory.cwnd * 8.0 * self.memory.packet.0 as f64 / rtt.seconds().max(1e-12);
        Some(Rate((bits as u64).max(1)))
    }

    fn abilities(&self) -> Abilities {
        Abilities { may_pace: self.memory.spec.min_cwnd < 1.0, ..Self::ABILITIES }
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        match index {
            0 => self.memory.target_delay().seconds(),
            1 => self.memory.cwnd,
            _ => f64::NAN,
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.process_ack(ack);
    }

    /// During loss recovery the window does not grow.
    fn on_other_ack(&mut self, ack: &Ack) {
        self.process_ack(&Ack { window_validated: false, ..*ack });
    }

    /// Algorithm 1, On Fast Recovery.
    fn on_congestion(&mut self, seen: &Congestion) {
        self.memory.retransmit_cnt = 0;
        if self.memory.can_decrease(seen.now) {
            self.decrease(seen.now, 1.0 - self.memory.spec.max_mdf);
        }
    }

    /// Algorithm 1, On Retransmit Timeout.
    fn on_timeout(&mut self, seen: &Congestion) {
        self.memory.retransmit_cnt = self.memory.retransmit_cnt.saturating_add(1);
        if self.memory.retransmit_cnt >= self.memory.spec.retx_reset_threshold {
            self.set(Cwnd(self.memory.spec.min_cwnd));
        } else if self.memory.can_decrease(seen.now) {
            self.decrease(seen.now, 1.0 - self.memory.spec.max_mdf);
        }
    }

    fn limit_window(&mut self, max: Cwnd) {
        self.set(Cwnd(self.memory.cwnd.min(max.0)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::support::model_sender::ModelSender;

    /// A target of 100 ms, and with four hops of 5 ms 120 ms, for all windows.
    const STEADY: SwiftSpec = SwiftSpec {
        base_target: TimeDelta::from_millis(100),
        hop_delay: TimeDelta::from_millis(5),
        fs_range: TimeDelta::ZERO,
        fs_min_cwnd: 0.1,
        fs_max_cwnd: 100.0,
        additive_increase: 1.0,
        decrease: 0.8,
        max_mdf: 0.5,
        min_cwnd: 0.001,
        max_cwnd: 10_000.0,
        retx_reset_threshold: 5,
    };

    fn sender(window: f64, spec: SwiftSpec) -> ModelSender<Swift> {
        ModelSender::new(Swift::new(&spec, Start { window, hops: 4, packet: Bytes(1250), ..Start::default() }))
    }

    /// An acknowledgement after this many milliseconds, with this RTT.
    fn ack(sender: &mut ModelSender<Swift>, after: u64, milliseconds: u64) -> f64 {
        sender.round_trip = Some(TimeDelta::from_millis(milliseconds));
        sender.ack_after(after);
        sender.law.memory.cwnd
    }

    fn near(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-9
    }

    #[test]
    fn below_the_target_the_window_grows_by_one_segment_per_rtt() {
        let mut sender = sender(10.0, STEADY);
        assert!(near(ack(&mut sender, 1, 119), 10.1));
        assert!(near(ack(&mut sender, 1, 119), 10.1 + 1.0 / 10.1));
    }

    #[test]
    fn above_the_target_it_decreases_by_the_excess_once_per_rtt_and_at_most_by_half() {
        let mut sender = sender(10.0, STEADY);
        // (160 - 120) / 160 of 0.8.
        assert!(near(ack(&mut sender, 1, 160), 8.0));
        assert!(near(ack(&mut sender, 159, 160), 8.0));
        assert!(near(ack(&mut sender, 1, 160), 6.4));
        // (1200 - 120) / 1200 of 0.8 is 0.72.
        assert!(near(ack(&mut sender, 1200, 1200), 3.2));
        assert!(near(ack(&mut sender, 120, 120), 3.2));
    }

    #[test]
    fn the_flow_based_addition_falls_to_zero_as_the_window_grows() {
        // alpha = 30 / (1/sqrt(0.25) - 1/sqrt(16)) = 30 / 1.75, beta = -alpha / 4.
        let spec = SwiftSpec { fs_range: TimeDelta::from_millis(35), fs_min_cwnd: 0.25, fs_max_cwnd: 16.0, ..STEADY };
        let target = |window: f64| {
            let mut sender = sender(1.0, spec);
            sender.law.set(Cwnd(window));
            sender.law.memory.target_delay().seconds()
        };
        assert!(near(target(0.1), 0.155) && near(target(0.25), 0.155));
        // 20 ms / sqrt(4) - 5 ms.
        assert!(near(target(4.0), 0.125) && near(target(16.0), 0.12) && near(target(100.0), 0.12));
    }

    #[test]
    fn a_window_below_one_sends_a_segment_every_few_rtts() {
        let mut sender = sender(1.0, STEADY);
        assert_eq!(sender.law.pacing(), None);
        // (200 - 120) / 200 of 0.8.
        assert!(near(ack(&mut sender, 1, 200), 0.68));
        assert!(near(ack(&mut sender, 200, 200), 0.68 * 0.68));
        assert_eq!(sender.law.window().0, 1.0);
        // 10,000 bits every 200 ms / 0.4624.
        assert!(near(sender.law.pacing().map_or(0.0, |rate| rate.0 as f64 + 1.0), 23_120.0));
        // Below one it grows by a segment for each that is acknowledged.
        assert!(near(ack(&mut sender, 400, 100), 1.4624));
        assert_eq!((sender.law.window().0, sender.law.pacing()), (1.4624, None));
    }

    #[test]
    fn a_loss_removes_half_once_per_rtt_and_so_does_a_timeout_until_the_fifth() {
        let mut sender = sender(16.0, STEADY);
        ack(&mut sender, 1, 120);
        assert_eq!((sender.lose(16), sender.lose(16)), (8.0, 8.0));
        sender.wait(120);
        assert_eq!(sender.time_out(8), 4.0);
        for expected in [2.0, 1.0, 0.5, 0.001] {
            sender.wait(120);
            sender.time_out_again(1);
            assert_eq!(sender.law.memory.cwnd, expected);
        }
        // An acknowledgement resets the count.
        ack(&mut sender, 120, 119);
        sender.time_out(1);
        assert!(near(sender.law.memory.cwnd, 1.001 / 2.0));
    }
}
