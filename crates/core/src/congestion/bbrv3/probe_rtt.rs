//! ProbeRTT: half a bandwidth-delay product in flight for a while, so that the minimum RTT is measured again (5.3.4).

use super::cycle::Phase;
use super::{AckPhase, Bbr3, Sample, State};

impl Bbr3 {
    /// CheckProbeRTT of 5.3.4.3.
    pub(super) fn check_probe_rtt(&mut self, rs: &Sample) {
        if !self.memory.probes_rtt() && self.memory.probe_rtt_expired && !self.memory.idle_restart {
            self.save_cwnd();
            self.memory.state = State::ProbeRtt { done_stamp: None, round_done: false };
            self.memory.ack_phase = AckPhase::ProbeStopping;
            self.memory.start_round();
        }
        if let State::ProbeRtt { .. } = self.memory.state {
            self.handle_probe_rtt(rs);
        }
        if rs.delivered > 0.0 {
            self.memory.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, rs: &Sample) {
        let State::ProbeRtt { done_stamp, round_done } = self.memory.state else { return };
        let memory = &mut *self.memory;
        // MarkConnectionAppLimited: low rates do not measure bandwidth.
        memory.probed_until = memory.delivered + rs.inflight as u64;
        match done_stamp {
            None if rs.inflight <= memory.probe_rtt_cwnd() => {
                let done_stamp = Some(rs.now + memory.spec.probe_rtt_duration);
                memory.state = State::ProbeRtt { done_stamp, round_done: false };
                memory.start_round();
            }
            Some(done) => {
                let round_done = round_done || memory.round_start;
                memory.state = State::ProbeRtt { done_stamp, round_done };
                if round_done && rs.now > done {
                    self.exit_probe_rtt(rs);
                }
            }
            None => {}
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT of 5.3.4.4.
    fn exit_probe_rtt(&mut self, rs: &Sample) {
        self.memory.probe_rtt_min_stamp = rs.now;
        self.restore_cwnd();
        self.memory.reset_short_term_model();
        if self.memory.full_bw_reached {
            self.memory.start_probe_bw_down(rs.now);
            self.memory.state = State::ProbeBw(Phase::Cruise);
        } else {
            self.memory.state = State::Startup;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bench::{TestSender, near};
    use super::*;
    use crate::congestion::Controller;
    use crate::primitives::units::{Time, TimeDelta};

    #[test]
    fn after_five_seconds_without_a_shorter_rtt_half_a_product_is_in_flight_for_200_ms_and_a_round() {
        // Appendix A.10.
        let mut sender = TestSender::cruising();
        let window = sender.law.window().0;
        sender.law.memory.probe_rtt_min_stamp = sender.now;
        sender.law.memory.cycle_stamp = sender.now;
        sender.within(2000, 1000.0, 100);
        sender.law.memory.cycle_stamp = sender.now;
        sender.within(2000, 1000.0, 100);
        sender.law.memory.cycle_stamp = sender.now;
        sender.within(1000, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
        sender.within(1, 1000.0, 100);
        assert_eq!(
            (sender.law.memory.state, sender.law.window().0),
            (State::ProbeRtt { done_stamp: None, round_done: false }, 50.0)
        );
        sender.within(50, 1000.0, 50);
        let wanted = State::ProbeRtt { done_stamp: Some(sender.now + TimeDelta::from_millis(200)), round_done: false };
        assert_eq!(sender.law.memory.state, wanted);
        sender.round(500.0, 50);
        sender.within(100, 500.0, 50);
        assert!(sender.law.memory.probes_rtt());
        sender.within(1, 500.0, 50);
        assert_eq!((sender.phase(), sender.law.window().0 >= window), (Some(Phase::Cruise), true));
        // Data sent with half a product does not measure bandwidth.
        assert_eq!(sender.law.memory.max_bw(), 1000.0);
        sender.within(1, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
    }

    #[test]
    fn a_longer_rtt_applies_once_the_minimum_is_ten_seconds_old() {
        let mut sender = TestSender::cruising();
        (sender.now, sender.rtt) = (Time(TimeDelta::from_millis(20_000).0), TimeDelta::from_millis(120));
        let at = |sender: &mut TestSender, seconds: u64| {
            sender.law.memory.min_rtt_stamp = sender.now.before(TimeDelta::from_millis(1000 * seconds));
            sender.within(1, 1000.0, 100);
            sender.law.memory.min_rtt.map_or(0.0, TimeDelta::seconds)
        };
        sender.law.memory.probe_rtt_min_delay = Some(TimeDelta::from_millis(120));
        assert!(near(at(&mut sender, 9), 0.1) && near(at(&mut sender, 10), 0.12));
    }

    #[test]
    fn a_flow_restarting_from_idle_does_not_probe() {
        // Appendix A.11.
        let mut sender = TestSender::cruising();
        sender.law.on_idle(TimeDelta::from_millis(6000));
        sender.within(6000, 1000.0, 100);
        assert!(!sender.law.memory.probes_rtt() && !sender.law.memory.idle_restart);
    }
}
