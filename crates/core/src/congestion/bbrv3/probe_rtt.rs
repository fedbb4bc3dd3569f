//! ProbeRTT: half a bandwidth-delay product in flight for a while, so that the minimum RTT is measured again (5.3.4).

use super::probe::{AckPhase, Phase};
use super::sample::Sample;
use super::{Bbr3, ProbeRtt, State};
use crate::primitives::units::Segments;

impl Bbr3 {
    /// CheckProbeRTT of 5.3.4.3.
    pub(super) fn check_probe_rtt(&mut self, rs: &Sample) {
        if !self.memory.probes_rtt() && self.memory.probe_rtt_expired && !self.memory.idle_restart {
            self.save_cwnd();
            self.memory.state = State::ProbeRtt(ProbeRtt::default());
            self.memory.probe.ack_phase = AckPhase::ProbeStopping;
            self.memory.rounds.begin();
        }
        self.handle_probe_rtt(rs);
        if rs.delivered > 0.0 {
            self.memory.idle_restart = false;
        }
    }

    fn handle_probe_rtt(&mut self, rs: &Sample) {
        let memory = &mut *self.memory;
        let low_for = (rs.inflight <= memory.probe_rtt_cwnd()).then_some(memory.spec.probe_rtt_duration);
        let State::ProbeRtt(probe) = &mut memory.state else { return };
        // Low rates do not measure bandwidth.
        memory.rounds.mark_app_limited(Segments(rs.inflight as u32));
        if probe.ends(rs.now, low_for, &mut memory.rounds) {
            self.exit_probe_rtt(rs);
        }
    }

    /// CheckProbeRTTDone and ExitProbeRTT of 5.3.4.4.
    fn exit_probe_rtt(&mut self, rs: &Sample) {
        self.memory.probe_rtt_min.stamp = rs.now;
        self.restore_cwnd();
        self.memory.bounds.reset_short_term();
        if self.memory.full_pipe.reached {
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
        sender.law.memory.probe_rtt_min.stamp = sender.now;
        sender.law.memory.probe.began = sender.now;
        sender.within(2000, 1000.0, 100);
        sender.law.memory.probe.began = sender.now;
        sender.within(2000, 1000.0, 100);
        sender.law.memory.probe.began = sender.now;
        sender.within(1000, 1000.0, 100);
        assert_eq!(sender.phase(), Some(Phase::Cruise));
        sender.within(1, 1000.0, 100);
        assert_eq!((sender.law.memory.state, sender.law.window().0), (State::ProbeRtt(ProbeRtt::default()), 50.0));
        sender.within(50, 1000.0, 50);
        let ends = sender.now + TimeDelta::from_millis(200);
        assert!(matches!(sender.law.memory.state, State::ProbeRtt(probe) if probe.done_stamp == Some(ends)));
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
            sender.law.memory.min_rtt.stamp = sender.now.before(TimeDelta::from_millis(1000 * seconds));
            sender.within(1, 1000.0, 100);
            sender.law.memory.min_rtt.value.map_or(0.0, TimeDelta::seconds)
        };
        sender.law.memory.probe_rtt_min.value = Some(TimeDelta::from_millis(120));
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
