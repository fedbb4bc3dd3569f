//! Effects of losses: on the long-term bound while bandwidth is probed, and on the short-term bounds otherwise (5.5.10); and their reversal
//! when losses were spurious (5.5.11).

use super::bounds::Unbounded;
use super::probe::Phase;
use super::sample::Sample;
use super::undo::{ExitedPhase, Undo};
use super::{Bbr3, Bbr3Memory, State};
use crate::congestion::support::Lost;
use crate::congestion::support::bbr::Repair;

impl Bbr3 {
    /// NoteLoss of 5.5.10.2.
    pub(super) fn note_loss(&mut self) {
        if !self.memory.latest.has_loss {
            self.save_state_upon_loss();
        }
        self.memory.latest.note_loss(self.memory.rounds.delivered);
    }

    /// SaveStateUponLoss of 5.5.11.1.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.memory.undo = Undo { state: None, bounds: self.memory.bounds };
    }

    /// HandleLostPacket.
    pub(super) fn handle_lost_packet(&mut self, packet: &Lost) {
        self.note_loss();
        let memory = &mut *self.memory;
        memory.lost = packet.lost.max(memory.lost);
        memory.latest.ranges += u32::from(packet.begins_range);
        let before = if memory.newly_lost.0 == packet.now { memory.newly_lost.1 } else { 0 };
        memory.newly_lost = (packet.now, before + 1);
        if !memory.probe.is_sample {
            return;
        }
        let (lost, tx_in_flight) = (packet.lost.saturating_sub(packet.prior_lost) as f64, f64::from(packet.in_flight.0));
        if memory.is_too_much(Share { lost, of: tx_in_flight }) {
            let at_loss = memory.inflight_at_loss(Share { lost, of: tx_in_flight });
            self.handle_inflight_too_high(packet, at_loss);
        }
    }

    fn handle_inflight_too_high(&mut self, packet: &Lost, tx_in_flight: f64) {
        self.memory.probe.was_too_high = true;
        self.memory.probe.is_sample = false;
        if !packet.app_limited {
            self.memory.bounds.inflight_longterm = tx_in_flight.max(self.target_inflight() * self.memory.spec.beta);
        }
        if self.memory.state == State::ProbeBw(Phase::Up) {
            self.memory.undo.state = Some(ExitedPhase::ProbeBwUp);
            self.memory.start_probe_bw_down(packet.now);
        }
    }

    /// UpdateCongestionSignals of 5.5.10.3.
    pub(super) fn update_congestion_signals(&mut self, rs: &Sample) {
        self.memory.update_max_bw(rs);
        if !self.memory.latest.started {
            return;
        }
        let memory = &mut *self.memory;
        if memory.latest.has_loss && !memory.is_probing_bw() {
            let start = Unbounded { bw: memory.max_bw(), window: self.window };
            memory.bounds.lower(&memory.latest, &start, memory.spec.beta);
        }
        memory.latest.has_loss = false;
    }

    /// HandleSpuriousLossDetection of 5.5.11.2.
    pub(super) fn handle_spurious_loss_detection(&mut self) {
        self.memory.recovery.repair = Repair::Over;
        self.restore_cwnd();
        let memory = &mut *self.memory;
        let undo = memory.undo;
        memory.latest.has_loss = false;
        memory.full_pipe.reset(0.0);
        memory.bounds.raise_to(&undo.bounds);
        match undo.state {
            Some(ExitedPhase::Startup) if memory.state != State::Startup => {
                memory.full_pipe.reached = false;
                if !memory.probes_rtt() {
                    memory.state = State::Startup;
                }
            }
            Some(ExitedPhase::ProbeBwUp) if memory.state != State::ProbeBw(Phase::Up) && !memory.probes_rtt() => {
                memory.start_probe_bw_refill();
            }
            _ => {}
        }
        memory.undo.state = None;
    }
}

/// Number of lost segments, and of segments in flight.
#[derive(Clone, Copy)]
struct Share {
    lost: f64,
    of: f64,
}

impl Bbr3Memory {
    /// IsInflightTooHigh of 5.5.10.2.
    pub(super) fn is_inflight_too_high(&self, rs: &Sample) -> bool {
        self.is_too_much(Share { lost: rs.lost, of: rs.tx_in_flight })
    }

    fn is_too_much(&self, share: Share) -> bool {
        share.lost > share.of * self.spec.loss_threshold || (share.lost > 0.0 && !self.has_selective_acks)
    }

    /// InflightAtLoss: the data in flight at which the losses exceeded the threshold.
    fn inflight_at_loss(&self, share: Share) -> f64 {
        let threshold = self.spec.loss_threshold;
        let (inflight_prev, lost_prev) = (share.of - 1.0, share.lost - 1.0);
        inflight_prev + (threshold * inflight_prev - lost_prev) / (1.0 - threshold)
    }

    /// IsProbingBW.
    fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::ProbeBw(Phase::Refill | Phase::Up))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Bbr3Spec;
    use super::super::bench::{TestSender, near};
    use super::*;
    use crate::congestion::{Cause, Congestion, Controller};
    use crate::primitives::units::Segments;

    #[test]
    fn a_round_with_losses_lowers_the_short_term_bounds_to_the_delivered_data_but_not_below_beta() {
        let mut sender = TestSender::cruising();
        sender.round(1000.0, 100);
        let window = sender.law.window().0;
        sender.recover(1);
        sender.round(900.0, 90);
        // Maximum delivered since: 1000 per second; ten segments within the RTT, less than 0.7 of the window.
        assert!(
            near(sender.law.memory.bounds.bw_shortterm, 1000.0)
                && near(sender.law.memory.bounds.inflight_shortterm, 0.7 * window)
        );
        // The next round has only lower rates.
        sender.lose(1);
        sender.round(600.0, 90);
        assert!(near(sender.law.memory.bounds.bw_shortterm, 900.0) && near(sender.pacing(), 891.0), "{}", sender.pacing());
        sender.lose(1);
        sender.round(500.0, 60);
        assert!(near(sender.law.memory.bounds.bw_shortterm, 0.7 * 900.0));
        // Without losses the bounds stay, and the next refill resets them.
        sender.round(500.0, 60);
        assert!(near(sender.law.memory.bounds.bw_shortterm, 0.7 * 900.0));
        sender.within(3000, 600.0, 60);
        assert_eq!(sender.phase(), Some(Phase::Refill));
        assert_eq!(
            (sender.law.memory.bounds.bw_shortterm, sender.law.memory.bounds.inflight_shortterm),
            (f64::INFINITY, f64::INFINITY)
        );
    }

    #[test]
    fn a_mark_counts_as_a_loss_of_its_round() {
        let mut sender = TestSender::cruising();
        sender.law.on_congestion(&Congestion { cause: Cause::Mark, ..Congestion::of(sender.now, Segments(100)) });
        sender.round(900.0, 90);
        assert!(sender.law.memory.bounds.bw_shortterm.is_finite() && sender.law.memory.lost == 0);
    }

    #[test]
    fn spurious_losses_lead_back_to_startup_or_to_a_refill() {
        let mut sender = TestSender::new(Bbr3Spec::default());
        [400.0, 600.0, 900.0].into_iter().for_each(|rate| sender.round(rate, 100));
        sender.recover(6);
        sender.round(900.0, 100);
        assert!(matches!(sender.law.memory.state, State::Drain { .. }));
        sender.law.handle_spurious_loss_detection();
        assert_eq!((sender.law.memory.state, sender.law.memory.bounds.inflight_longterm), (State::Startup, f64::INFINITY));
        assert!(!sender.law.memory.full_pipe.reached);

        let mut sender = TestSender::probing();
        sender.lose(3);
        assert_eq!(sender.phase(), Some(Phase::Down));
        sender.law.handle_spurious_loss_detection();
        assert_eq!((sender.phase(), sender.law.memory.bounds.inflight_longterm), (Some(Phase::Refill), f64::INFINITY));
    }
}
