//! ProbeBW: its four states, their ends, and the effect of probing on the long-term bound (5.3.3).

use super::probe::{AckPhase, Phase};
use super::sample::Sample;
use super::{Bbr3, Bbr3Memory, State};
use crate::primitives::units::{Cwnd, Time, TimeDelta};

/// Minimum time to the next probe in seconds, and the width of the random addition (5.3.3.8).
const MIN_WAIT_S: f64 = 2.0;
const WAIT_RANGE_S: f64 = 1.0;
/// Maximum number of RTTs to the next probe, for coexistence with Reno.
const MAX_RENO_ROUNDS: f64 = 63.0;

impl Bbr3Memory {
    /// StartProbeBW_DOWN of 5.3.3.9.
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        self.latest.reset();
        self.growth.stop();
        // PickProbeWait.
        self.probe.rounds_since_up = (2.0 * self.draws.uniform()) as u64;
        self.probe.wait = TimeDelta::from_seconds(MIN_WAIT_S + WAIT_RANGE_S * self.draws.uniform());
        self.probe.began = now;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.rounds.begin();
        self.state = State::ProbeBw(Phase::Down);
    }

    pub(super) fn start_probe_bw_refill(&mut self) {
        self.bounds.reset_short_term();
        self.growth.restart();
        self.probe.was_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.rounds.begin();
        self.state = State::ProbeBw(Phase::Refill);
    }
}

impl Bbr3 {
    /// UpdateProbeBWCyclePhase.
    pub(super) fn update_probe_bw_cycle_phase(&mut self, rs: &Sample) {
        if !self.memory.full_pipe.reached {
            return;
        }
        if self.adapt_long_term_model(rs) == Decided::Yes {
            return;
        }
        let State::ProbeBw(phase) = self.memory.state else { return };
        match phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe_bw(rs.now) => self.memory.start_probe_bw_refill(),
            Phase::Down if self.memory.is_time_to_cruise(rs) => self.memory.state = State::ProbeBw(Phase::Cruise),
            // After one round.
            Phase::Refill if self.memory.rounds.started => {
                self.memory.probe.is_sample = true;
                self.start_probe_bw_up(rs);
            }
            Phase::Up if self.is_time_to_go_down(rs) => {
                self.memory.probe.was_too_high = false;
                self.memory.start_probe_bw_down(rs.now);
            }
            _ => {}
        }
    }

    fn start_probe_bw_up(&mut self, rs: &Sample) {
        self.memory.probe.ack_phase = AckPhase::ProbeStarting;
        self.memory.rounds.begin();
        self.memory.full_pipe.reset(rs.delivery_rate);
        self.memory.state = State::ProbeBw(Phase::Up);
        self.memory.growth.raise_slope(Cwnd(self.window));
    }

    /// IsTimeToProbeBW of 5.3.3.8.
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        let rounds = self.target_inflight().min(MAX_RENO_ROUNDS);
        let has_elapsed = now > self.memory.probe.began + self.memory.probe.wait;
        has_elapsed || self.memory.probe.rounds_since_up as f64 >= rounds
    }

    /// Target data in flight: the bandwidth-delay product, unless congestion has reduced the window below it.
    pub(super) fn target_inflight(&self) -> f64 {
        self.memory.bdp().min(self.window)
    }

    /// IsTimeToGoDown.
    fn is_time_to_go_down(&mut self, rs: &Sample) -> bool {
        let memory = &mut *self.memory;
        if memory.probe.was_too_high && rs.inflight >= memory.bounds.inflight_longterm {
            memory.probe.was_precautionary = true;
            return true;
        }
        if memory.is_cwnd_limited() && self.window >= memory.bounds.inflight_longterm {
            // The measured bandwidth is the maximum that the bound allows.
            memory.full_pipe.reset(rs.delivery_rate);
            return false;
        }
        memory.full_pipe.now
    }

    fn probe_inflight_longterm_upward(&mut self, rs: &Sample) {
        let memory = &mut *self.memory;
        if !memory.is_cwnd_limited() || self.window < memory.bounds.inflight_longterm {
            return;
        }
        memory.bounds.inflight_longterm += memory.growth.take(rs.newly_acked);
        if memory.rounds.started {
            memory.growth.raise_slope(Cwnd(self.window));
        }
    }

    /// AdaptLongTermModel.
    fn adapt_long_term_model(&mut self, rs: &Sample) -> Decided {
        let memory = &mut *self.memory;
        let is_in_probe_bw = matches!(memory.state, State::ProbeBw(_));
        if memory.probe.ack_phase == AckPhase::ProbeStarting && memory.rounds.started {
            memory.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if memory.probe.ack_phase == AckPhase::ProbeStopping && memory.rounds.started {
            memory.probe.is_sample = false;
            memory.probe.ack_phase = AckPhase::Init;
            if is_in_probe_bw && !rs.is_app_limited {
                // AdvanceMaxBwFilter of 5.5.6.
                memory.cycle_count += 1;
            }
            if is_in_probe_bw && memory.probe.was_precautionary && !memory.probe.was_too_high {
                memory.start_probe_bw_refill();
                return Decided::Yes;
            }
        }
        if !memory.is_inflight_too_high(rs) && memory.bounds.inflight_longterm.is_finite() {
            memory.bounds.inflight_longterm = memory.bounds.inflight_longterm.max(rs.tx_in_flight);
            if memory.state == State::ProbeBw(Phase::Up) {
                self.probe_inflight_longterm_upward(rs);
            }
        }
        Decided::No
    }
}

impl Bbr3Memory {
    /// IsTimeToCruise.
    fn is_time_to_cruise(&self, rs: &Sample) -> bool {
        rs.inflight <= self.bounds.with_headroom(self.spec.headroom) && rs.inflight <= self.inflight_at_max_bw()
    }
}

/// Whether a state has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Decided {
    Yes,
    No,
}

#[cfg(test)]
mod tests {
    use super::super::bench::{TestSender, near};
    use super::*;
    use crate::congestion::Controller;

    #[test]
    fn a_cycle_cruises_refills_probes_until_bandwidth_stops_growing_and_drains() {
        let mut sender = TestSender::cruising();
        let gains = |sender: &TestSender| sender.pacing() / 990.0;
        assert!(near(gains(&sender), 1.0));
        // Between two and three seconds after the last probe; the number of rounds does not apply here.
        sender.within(1600, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
        sender.within(1400, 1000.0, 100);
        assert_eq!((sender.phase(), sender.law.memory.probe.ack_phase), (Some(Phase::Refill), AckPhase::Refilling));
        sender.within(50, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Refill));
        sender.round(1000.0, 110);
        assert!(near(gains(&sender), 1.25));
        // Appendix A.5: three rounds without growth.
        sender.round(1000.0, 125);
        sender.round(1000.0, 125);
        assert_eq!(sender.phase(), Some(Phase::Up));
        sender.round(1000.0, 125);
        assert_eq!(sender.phase(), Some(Phase::Down));
        assert!(near(gains(&sender), 0.9));
        // Appendix A.8.
        sender.within(10, 1000.0, 101);
        assert_eq!(sender.phase(), Some(Phase::Down));
        sender.within(10, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
    }

    #[test]
    fn a_probe_continues_while_bandwidth_grows_by_a_quarter() {
        let mut sender = TestSender::probing();
        for rate in [1000.0, 1000.0, 1250.0, 1250.0, 1250.0] {
            sender.round(rate, 125);
            assert_eq!(sender.phase(), Some(Phase::Up));
        }
        sender.round(1250.0, 125);
        assert_eq!((sender.phase(), sender.law.memory.max_bw()), (Some(Phase::Down), 1250.0));
    }

    #[test]
    fn an_app_limited_probe_continues() {
        // Appendix A.7.
        let mut sender = TestSender::probing();
        sender.app_limited = true;
        (0..10).for_each(|_| sender.round(800.0, 80));
        assert_eq!(sender.phase(), Some(Phase::Up));
    }

    #[test]
    fn for_coexistence_with_reno_a_probe_follows_after_one_rtt_per_segment_of_the_bdp() {
        let mut sender = TestSender::cruising();
        sender.law.memory.bounds.bw_shortterm = 100.0;
        sender.within(1, 1000.0, 90);
        let rounds = sender.law.memory.probe.rounds_since_up;
        (rounds..9).for_each(|_| sender.round(100.0, 8));
        assert_eq!((sender.phase(), sender.law.memory.probe.rounds_since_up), (Some(Phase::Cruise), 9));
        sender.round(100.0, 8);
        assert_eq!(sender.phase(), Some(Phase::Refill));
    }

    #[test]
    fn a_loss_rate_above_two_percent_ends_a_probe_and_sets_the_long_term_bound() {
        // 2 % of 200 are four.
        let mut sender = TestSender::probing();
        sender.tx_in_flight = 200;
        sender.lose(4);
        assert_eq!((sender.phase(), sender.law.memory.bounds.inflight_longterm), (Some(Phase::Up), f64::INFINITY));
        sender.lose(1);
        // 199 + (0.02 * 199 - 4) / 0.98.
        assert_eq!(sender.phase(), Some(Phase::Down));
        assert!(near(sender.law.memory.bounds.inflight_longterm, 198.98) && sender.law.memory.probe.was_too_high);
        // Once per probe.
        sender.tx_in_flight = 20;
        sender.lose(5);
        assert!(near(sender.law.memory.bounds.inflight_longterm, 198.98));
    }

    #[test]
    fn the_long_term_bound_is_at_least_beta_times_the_target_in_flight() {
        let mut sender = TestSender::probing();
        sender.tx_in_flight = 20;
        sender.lose(1);
        assert!(near(sender.law.memory.bounds.inflight_longterm, 70.0));
    }

    #[test]
    fn the_probe_after_one_too_high_ends_at_the_bound_and_without_losses_another_follows_immediately() {
        let mut sender = TestSender::cruising();
        (sender.law.memory.bounds.inflight_longterm, sender.law.memory.probe.was_too_high) = (130.0, true);
        sender.within(3000, 1000.0, 100);
        sender.round(1000.0, 110);
        assert_eq!(sender.phase(), Some(Phase::Up));
        sender.within(10, 1000.0, 129);
        assert_eq!(sender.phase(), Some(Phase::Up));
        sender.within(10, 1000.0, 130);
        assert_eq!((sender.phase(), sender.law.memory.probe.was_precautionary), (Some(Phase::Down), true));
        sender.within(10, 1000.0, 120);
        sender.round(1000.0, 120);
        assert_eq!(sender.phase(), Some(Phase::Refill));
    }

    #[test]
    fn the_growth_of_a_used_bound_doubles_each_round() {
        let mut sender = TestSender::probing();
        (sender.law.memory.bounds.inflight_longterm, sender.law.memory.growth.acked_per_inc) = (100.0, 100.0);
        sender.tx_in_flight = 90;
        sender.within(1, 1000.0, 80);
        let grown = [0; 3].map(|_| {
            let before = sender.law.memory.bounds.inflight_longterm;
            // A round of ten acknowledgements, with a full window before each.
            let full = (sender.law.window().0 - 10.0) as u32;
            (0..9).for_each(|_| sender.within(10, 1000.0, full));
            sender.process_round(10, full);
            sender.law.memory.bounds.inflight_longterm - before
        });
        // One, two and four; with ten segments per acknowledgement one of them may be delayed.
        let sum: f64 = grown.iter().sum();
        assert!((6.0..=7.0).contains(&sum) && grown[0] == 1.0 && grown[2] >= 3.0, "{grown:?}");
        assert_eq!(sender.phase(), Some(Phase::Up));
    }

    #[test]
    fn while_cruising_a_fraction_of_the_bound_is_left_unused() {
        let mut sender = TestSender::cruising();
        sender.law.memory.bounds.inflight_longterm = 120.0;
        sender.within(1, 1000.0, 90);
        assert_eq!(sender.law.window().0, 0.85 * 120.0);
    }
}
