//! Startup, its end, and Drain (5.3.1, 5.3.2).

use super::sample::Sample;
use super::{Bbr3, Bbr3Memory, Repair, State};

/// BBRStartupFullLossCnt.
const FULL_LOSS_RANGES: u32 = 6;
/// Maximum number of rounds in Drain.
const DRAIN_ROUNDS: u64 = 3;

impl Bbr3Memory {
    /// CheckFullBWReached of 5.3.1.2.
    pub(super) fn check_full_bw_reached(&mut self, rs: &Sample) {
        if self.rounds.started && !rs.is_app_limited {
            self.full_pipe.end_round(rs.delivery_rate);
        }
    }

    /// CheckStartupDone of 5.3.1.1.
    pub(super) fn check_startup_done(&mut self, rs: &Sample) {
        if self.state != State::Startup {
            return;
        }
        if self.is_loss_high_in_startup(rs) {
            self.undo.leaves_startup();
            self.full_pipe.fill();
            self.bounds.inflight_longterm = self.bdp().max(self.latest.inflight);
        }
        if self.full_pipe.reached {
            self.state = State::Drain { start_round: self.rounds.count };
        }
    }

    /// The criteria of 5.3.1.3, at the end of a round with losses.
    fn is_loss_high_in_startup(&self, rs: &Sample) -> bool {
        let Repair::Fast { start_round } = self.recovery.repair else { return false };
        if !self.has_selective_acks {
            return self.latest.has_loss || rs.lost > 0.0;
        }
        let is_round_over = self.latest.started && self.rounds.count > start_round;
        is_round_over && self.latest.ranges >= FULL_LOSS_RANGES && self.is_inflight_too_high(rs)
    }
}

impl Bbr3 {
    /// CheckDrainDone of 5.3.2.
    pub(super) fn check_drain_done(&mut self, rs: &Sample) {
        let State::Drain { start_round } = self.memory.state else { return };
        if rs.inflight <= self.memory.inflight() || self.memory.rounds.count > start_round + DRAIN_ROUNDS {
            self.memory.start_probe_bw_down(rs.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr3Spec;
    use super::super::bench::{TestSender, near};
    use super::super::probe::Phase;
    use super::*;
    use crate::congestion::Start;

    #[test]
    fn startup_ends_after_three_rounds_without_a_growth_of_a_quarter() {
        // Appendix A.1.
        let mut sender = TestSender::new(Bbr3Spec::default());
        for rate in [400.0, 800.0, 1000.0, 1100.0, 1200.0] {
            sender.round(rate, 1000);
            assert_eq!(sender.law.memory.state, State::Startup);
            assert!(near(sender.pacing(), 2.77 * 0.99 * rate));
        }
        sender.round(1249.0, 1000);
        assert!(matches!(sender.law.memory.state, State::Drain { .. }));
        assert!(sender.law.memory.full_pipe.now && sender.law.memory.full_pipe.reached);
        assert!(near(sender.pacing(), 0.5 * 0.99 * 1249.0));
    }

    #[test]
    fn drain_ends_with_one_bdp_in_flight_or_in_the_fourth_round() {
        // Appendix A.3, A.4: 1000 per second for 100 ms.
        let drained = || {
            let mut sender = TestSender::new(Bbr3Spec::default());
            [400.0, 1000.0, 1000.0, 1000.0, 1000.0].into_iter().for_each(|rate| sender.round(rate, 150));
            sender
        };
        let mut sender = drained();
        sender.within(1, 1000.0, 101);
        assert!(matches!(sender.law.memory.state, State::Drain { .. }));
        sender.within(1, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
        let mut sender = drained();
        (0..3).for_each(|_| sender.round(900.0, 150));
        assert!(matches!(sender.law.memory.state, State::Drain { .. }));
        sender.round(900.0, 150);
        assert_eq!(sender.phase(), Some(Phase::Down));
    }

    #[test]
    fn startup_ends_with_six_ranges_lost_above_the_threshold_one_round_into_recovery() {
        // Appendix A.2, also for app-limited samples. Five ranges are too few; 2 % of 300 in flight are six.
        let state = |ranges: u32, tx_in_flight: u32| {
            let mut sender = TestSender::new(Bbr3Spec::default());
            [400.0, 600.0, 900.0].into_iter().for_each(|rate| sender.round(rate, 100));
            (sender.tx_in_flight, sender.app_limited) = (tx_in_flight, true);
            sender.recover(ranges);
            sender.within(10, 900.0, 100);
            assert_eq!(sender.law.memory.state, State::Startup);
            sender.round(900.0, 100);
            (matches!(sender.law.memory.state, State::Drain { .. }), sender.law.memory.bounds.inflight_longterm)
        };
        assert_eq!([state(5, 100), state(6, 300)], [(false, f64::INFINITY); 2]);
        // A bandwidth-delay product at 900 per second.
        assert_eq!(state(6, 299), (true, 90.0));
    }

    #[test]
    fn without_sack_one_loss_ends_startup() {
        let mut sender = TestSender::of(Bbr3Spec::default(), Start { has_selective_acks: false, ..Start::default() });
        [400.0, 600.0].into_iter().for_each(|rate| sender.round(rate, 100));
        sender.recover(1);
        sender.within(10, 700.0, 100);
        assert!(matches!(sender.law.memory.state, State::Drain { .. }));
    }

    #[test]
    fn app_limited_startup_continues() {
        // Appendix A.7.
        let mut sender = TestSender::new(Bbr3Spec::default());
        sender.app_limited = true;
        (0..20).for_each(|_| sender.round(400.0, 10));
        assert_eq!(sender.law.memory.state, State::Startup);
    }
}
