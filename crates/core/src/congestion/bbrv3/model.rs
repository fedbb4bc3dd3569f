//! The model of the path: bandwidth, aggregation and RTTs, and the limits on data in flight that follow from them (5.5, 5.6.4.2).

use super::{Bbr3, Bbr3Memory, MIN_PIPE_CWND, PROBE_RTT_WINDOW_GAIN, STARTUP_PACING_GAIN, Sample, State};
use crate::congestion::bbrv3::cycle::Phase;
use crate::primitives::units::TimeDelta;

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
        let mut expected = memory.bw * rs.now.since(memory.extra_acked_interval_start).seconds();
        if memory.extra_acked_delivered <= expected {
            (memory.extra_acked_delivered, memory.extra_acked_interval_start, expected) = (0.0, rs.now, 0.0);
        }
        memory.extra_acked_delivered += rs.newly_acked;
        let extra = (memory.extra_acked_delivered - expected).min(self.window);
        let rounds = if memory.full_bw_reached { EXTRA_ACKED_ROUNDS } else { 1 };
        memory.extra_acked_filter.take((memory.round_count, extra), (memory.round_count + 1).saturating_sub(rounds));
    }
}

impl Bbr3Memory {
    /// UpdateRound of 5.5.1.
    pub(super) fn update_round(&mut self, rs: &Sample) {
        self.round_start = rs.prior_delivered.is_some_and(|prior| prior >= self.next_round_delivered);
        if self.round_start {
            self.start_round();
            self.round_count += 1;
            self.rounds_since_probe_up += 1;
            self.cwnd_limited = [false, self.cwnd_limited[0]];
        }
    }

    pub(super) fn start_round(&mut self) {
        self.next_round_delivered = self.delivered;
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
            self.max_bw_filter.take((self.cycle_count, rs.delivery_rate), oldest);
        }
    }

    pub(super) fn max_bw(&self) -> f64 {
        self.max_bw_filter.greatest().unwrap_or(0.0)
    }

    pub(super) fn extra_acked(&self) -> f64 {
        self.extra_acked_filter.greatest().unwrap_or(0.0)
    }

    /// UpdateMinRTT of 5.3.4.3, and the initial rate of 5.6.2.
    pub(super) fn update_min_rtt(&mut self, rs: &Sample) {
        if let Some(rtt) = rs.rtt
            && self.min_rtt.is_none()
        {
            self.pacing_rate = STARTUP_PACING_GAIN * self.initial_cwnd / rtt.seconds().max(1e-9);
        }
        let is_older = |stamp, span: TimeDelta| rs.now > stamp + span;
        self.probe_rtt_expired =
            self.probe_rtt_min_delay.is_some() && is_older(self.probe_rtt_min_stamp, self.spec.probe_rtt_interval);
        if let Some(rtt) = rs.rtt
            && (self.probe_rtt_expired || self.probe_rtt_min_delay.is_none_or(|min| rtt < min))
        {
            (self.probe_rtt_min_delay, self.probe_rtt_min_stamp) = (Some(rtt), rs.now);
        }
        let Some(delay) = self.probe_rtt_min_delay else { return };
        let min_rtt_expired = is_older(self.min_rtt_stamp, self.spec.min_rtt_filter_len);
        if min_rtt_expired || self.min_rtt.is_none_or(|min| delay < min) {
            (self.min_rtt, self.min_rtt_stamp) = (Some(delay), self.probe_rtt_min_stamp);
        }
    }

    /// A multiple of the bandwidth-delay product at this bandwidth; the initial window before the first RTT is measured (BDPMultiple of
    /// 5.6.4.2).
    fn products(&self, gain: f64, Bandwidth(bw): Bandwidth) -> f64 {
        self.min_rtt.map_or(self.initial_cwnd, |min_rtt| gain * bw * min_rtt.seconds())
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
        (self.pacing_rate * 1e-3).min(LARGEST_QUANTUM / self.packet.0 as f64).max(2.0)
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
        self.with_budget(self.products(self.cwnd_gain(), Bandwidth(self.bw)) + self.extra_acked())
    }

    /// ProbeRTTCwnd of 5.6.4.5.
    pub(super) fn probe_rtt_cwnd(&self) -> f64 {
        self.products(PROBE_RTT_WINDOW_GAIN, Bandwidth(self.bw)).max(MIN_PIPE_CWND)
    }

    /// InflightWithHeadroom of 5.3.3.9.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let headroom = (self.spec.headroom * self.inflight_longterm).max(1.0);
        if self.inflight_longterm.is_finite() { (self.inflight_longterm - headroom).max(MIN_PIPE_CWND) } else { f64::INFINITY }
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
        assert_eq!(sender.law.memory.extra_acked(), 10.0);
        // Fifty at one instant.
        sender.within(20, 1000.0, 100);
        (0..4).for_each(|_| sender.within(0, 1000.0, 100));
        assert!(near(sender.law.memory.extra_acked(), 50.0), "{}", sender.law.memory.extra_acked());
        (0..9).for_each(|_| sender.round(1000.0, 100));
        assert!(near(sender.law.memory.extra_acked(), 50.0));
        sender.round(1000.0, 100);
        assert_eq!(sender.law.memory.extra_acked(), 10.0);
    }

    #[test]
    fn the_send_quantum_is_a_millisecond_of_the_rate_between_two_segments_and_64_kb() {
        let mut sender = TestSender::cruising();
        let quantum = |sender: &mut TestSender, rate: f64| {
            sender.law.memory.pacing_rate = rate;
            sender.law.memory.send_quantum()
        };
        assert_eq!([100.0, 20_000.0, 1e6].map(|rate| quantum(&mut sender, rate)), [2.0, 20.0, 65_536.0 / 1250.0]);
    }
}
