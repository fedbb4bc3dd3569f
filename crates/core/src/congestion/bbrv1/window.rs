//! The window (4.2.3.4), with its two exceptions: the first round of a recovery, and ProbeRTT.

use super::state::State;
use super::{Bbr1, Bbr1Memory};
use crate::congestion::support::bbr::Repair;
use crate::primitives::units::{Cwnd, Segments, Time};

/// BBRMinPipeCwnd.
pub(super) const MIN: f64 = 4.0;

impl Bbr1 {
    /// BBRSetCwnd (4.2.3.4).
    pub(super) fn set_window(&mut self, in_flight: Segments, delivered: f64) {
        let memory = &*self.memory;
        let target = memory.target_window();
        self.window = match memory.recovery.repair {
            // First round of recovery: send no more than is delivered, even below the minimum.
            Repair::Fast { start_round } if start_round == memory.rounds.count => {
                self.window.max(f64::from(in_flight.0) + delivered)
            }
            _ if memory.full_pipe.reached => (self.window + delivered).min(target).max(MIN),
            _ if self.window < target || (memory.rounds.delivered as f64) < memory.initial_window => {
                (self.window + delivered).max(MIN)
            }
            _ => self.window.max(MIN),
        };
        if memory.probes_rtt() {
            self.window = self.window.min(MIN);
        }
    }

    /// BBRCheckProbeRTT (4.3.5).
    pub(super) fn check_probe_rtt(&mut self, now: Time, in_flight: Segments) {
        let memory = &mut *self.memory;
        let State::ProbeRtt(probe) = &mut memory.state else { return };
        memory.rounds.mark_app_limited(in_flight);
        let low_for = (f64::from(in_flight.0) <= MIN).then_some(memory.spec.probe_rtt_duration);
        if probe.ends(now, low_for, &mut memory.rounds) {
            memory.rtprop.stamp = now;
            self.window = memory.recovery.restore(Cwnd(self.window)).0;
            match memory.full_pipe.reached {
                true => memory.enter_probe_bw(now),
                false => memory.state = State::Startup,
            }
        }
    }

    /// BBRSaveCwnd.
    pub(super) fn save_window(&mut self) {
        let window = Cwnd(self.window);
        if self.memory.probes_rtt() { self.memory.recovery.save_reduced(window) } else { self.memory.recovery.save(window) }
    }
}

impl Bbr1Memory {
    /// Fast recovery conserves packets for a round, which begins after the deliveries that its first acknowledgement reports. Returns whether
    /// this is the first one.
    pub(super) fn begin_conservation(&mut self) -> bool {
        let begins = std::mem::take(&mut self.enters_recovery) && matches!(self.recovery.repair, Repair::Fast { .. });
        if begins {
            self.rounds.begin();
            self.recovery.repair = Repair::Fast { start_round: self.rounds.count };
        }
        begins
    }
}
