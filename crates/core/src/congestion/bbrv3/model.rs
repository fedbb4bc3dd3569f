//! The model of the path: bandwidth, aggregation and RTTs, and the limits on data in flight that follow from them (5.5, 5.6.4.2).

use super::bounds::MIN_PIPE_CWND;
use super::probe::Phase;
use super::sample::Sample;
use super::{Bbr3, Bbr3Memory, PROBE_RTT_WINDOW_GAIN, PacingRate, STARTUP_PACING_GAIN, State};
use crate::congestion::support::windowed_max::Observation;
use crate::primitives::units::{Cwnd, Segments};

/// BBR.MaxBwFilterLen: the present and the previous cycle.
const MAX_BW_CYCLES: u64 = 2;
/// BBR.ExtraAckedFilterLen, in rounds.
const EXTRA_ACKED_ROUNDS: u64 = 10;
/// Maximum send quantum in bytes.
const LARGEST_QUANTUM: f64 = 65_536.0;

impl Bbr3 {
    /// UpdateACKAggregation of 5.5.9.
    pub(super) fn update_ack_aggregation(&mut self, rs: &Sample) {
        let memory = &mut *self.memory;
        let extra = memory.extra_acked.excess(rs.now, Segments(rs.newly_acked as u32), memory.bw).min(self.window);
        let (round, rounds) = (memory.rounds.count, if memory.full_pipe.reached { EXTRA_ACKED_ROUNDS } else { 1 });
        memory.extra_acked.filter.take(Observation { at: round, value: extra }, (round + 1).saturating_sub(rounds));
    }
}

impl Bbr3Memory {
    /// UpdateRound of 5.5.1.
    fn update_round(&mut self, rs: &Sample) {
        self.rounds.update(rs.prior_delivered);
        if self.rounds.started {
            self.probe.rounds_since_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
    }

    /// C.is_cwnd_limited of 2.2, in this round or the last.
    pub(super) fn is_cwnd_limited(&self) -> bool {
        self.cwnd_limited[0] || self.cwnd_limited[1]
    }

    /// UpdateMaxBw of 5.5.5.
    pub(super) fn update_max_bw(&mut self, rs: &Sample) {
        self.update_round(rs);
        if rs.delivery_rate > 0.0 && (rs.delivery_rate >= self.max_bw() || !rs.is_app_limited) {
            let oldest = (self.cycle_count + 1).saturating_sub(MAX_BW_CYCLES);
            self.max_bw_filter.take(Observation { at: self.cycle_count, value: rs.delivery_rate }, oldest);
        }
    }

    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw_filter.greatest().unwrap_or(0.0)
    }

    /// UpdateMinRTT of 5.3.4.3, and the initial rate of 5.6.2.
    pub(super) fn update_min_rtt(&mut self, rs: &Sample) {
        if rs.rtt.is_some() && self.min_rtt.value.is_none() {
            self.pacing = PacingRate::initial(Cwnd(STARTUP_PACING_GAIN * self.initial_cwnd), rs.rtt, self.packet);
        }
        self.probe_rtt_expired = self.probe_rtt_min.has_expired(rs.now, self.spec.probe_rtt_interval);
        if let Some(rtt) = rs.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min.is_above(rtt))
        {
            self.probe_rtt_min.set(rtt, rs.now);
        }
        let Some(delay) = self.probe_rtt_min.value else { return };
        if self.min_rtt.has_expired(rs.now, self.spec.min_rtt_filter_len) || self.min_rtt.is_above(delay) {
            self.min_rtt = self.probe_rtt_min;
        }
    }

    /// A multiple of the bandwidth-delay product at this bandwidth; the initial window before the first RTT is measured (BDPMultiple of
    /// 5.6.4.2).
    fn products(&self, gain: f64, Bandwidth(bw): Bandwidth) -> f64 {
        self.min_rtt.products(gain * bw).unwrap_or(self.initial_cwnd)
    }

    /// BBR.bdp.
    pub(super) fn bdp(&self) -> f64 {
        self.products(1.0, Bandwidth(self.bw))
    }

    /// QuantizationBudget.
    fn with_budget(&self, inflight_cap: f64) -> f64 {
        let offload_budget = 3.0 * self.send_quantum();
        let more = if self.state == State::ProbeBw(Phase::Up) { 2.0 } else { 0.0 };
        inflight_cap.max(offload_budget).max(MIN_PIPE_CWND) + more
    }

    /// SetSendQuantum of 5.6.3.
    fn send_quantum(&self) -> f64 {
        (self.pacing.per_second() * 1e-3).min(LARGEST_QUANTUM / self.packet.0 as f64).max(2.0)
    }

    /// Inflight(1.0), with the short-term bandwidth bound.
    pub(super) fn inflight(&self) -> f64 {
        self.with_budget(self.bdp())
    }

    /// Inflight(BBR.max_bw, 1.0).
    pub(super) fn inflight_at_max_bw(&self) -> f64 {
        self.with_budget(self.products(1.0, Bandwidth(self.max_bw())))
    }

    /// BBR.max_inflight.
    pub(super) fn max_inflight(&self) -> f64 {
        self.with_budget(self.products(self.cwnd_gain(), Bandwidth(self.bw)) + self.extra_acked.max())
    }

    /// ProbeRTTCwnd of 5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.products(PROBE_RTT_WINDOW_GAIN, Bandwidth(self.bw)).max(MIN_PIPE_CWND)
    }
}

/// Segments per second.
#[derive(Clone, Copy)]
struct Bandwidth(f64);

#[cfg(test)]
mod tests {
    use super::super::bench::{TestSender, near};

    #[test]
    fn a_bandwidth_sample_lasts_for_its_cycle_and_the_next() {
        let mut sender = TestSender::cruising();
        let cycle = sender.law.memory.cycle_count;
        sender.within(1, 500.0, 100);
        assert_eq!(sender.law.memory.max_bw(), 1000.0);
        sender.law.memory.cycle_count = cycle + 1;
        sender.within(1, 500.0, 100);
        assert_eq!(sender.law.memory.max_bw(), 1000.0);
        sender.law.memory.cycle_count = cycle + 2;
        sender.within(1, 400.0, 100);
        assert_eq!(sender.law.memory.max_bw(), 500.0);
    }

    #[test]
    fn app_limited_samples_count_only_if_higher() {
        let mut sender = TestSender::cruising();
        sender.law.memory.cycle_count += 2;
        sender.app_limited = true;
        sender.within(1, 900.0, 100);
        assert_eq!(sender.law.memory.max_bw(), 1000.0);
        sender.within(1, 1100.0, 100);
        assert_eq!(sender.law.memory.max_bw(), 1100.0);
    }

    #[test]
    fn acknowledgements_in_excess_of_the_rate_widen_the_window_for_ten_rounds() {
        let mut sender = TestSender::cruising();
        // Slowly, so that the filter restarts: one segment per millisecond is expected.
        (0..12).for_each(|_| sender.round(1000.0, 100));
        assert_eq!(sender.law.memory.extra_acked.max(), 10.0);
        // Fifty at one instant.
        sender.within(20, 1000.0, 100);
        (0..4).for_each(|_| sender.within(0, 1000.0, 100));
        assert!(near(sender.law.memory.extra_acked.max(), 50.0), "{}", sender.law.memory.extra_acked.max());
        (0..9).for_each(|_| sender.round(1000.0, 100));
        assert!(near(sender.law.memory.extra_acked.max(), 50.0));
        sender.round(1000.0, 100);
        assert_eq!(sender.law.memory.extra_acked.max(), 10.0);
    }

    #[test]
    fn the_send_quantum_is_a_millisecond_of_the_rate_between_two_segments_and_64_kb() {
        let mut sender = TestSender::cruising();
        let quantum = |sender: &mut TestSender, rate: f64| {
            sender.law.memory.pacing.set(rate);
            sender.law.memory.send_quantum()
        };
        assert_eq!([100.0, 20_000.0, 1e6].map(|rate| quantum(&mut sender, rate)), [2.0, 20.0, 65_536.0 / 1250.0]);
    }
}
