//! Loss recovery (5.6.4.4): its phase, and the window to restore after it or after ProbeRTT.

use crate::primitives::units::{Cwnd, Segments};
use serde::{Deserialize, Serialize};

/// Phase of loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum Repair {
    #[default]
    Over,
    /// Fast recovery, since this round.
    Fast { start_round: u64 },
    /// After a timeout, until this many segments are acknowledged.
    Restarted { outstanding: u32 },
}

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Recovery {
    pub repair: Repair,
    prior_cwnd: f64,
}

impl Recovery {
    /// SaveCwnd, outside ProbeRTT. A window during recovery is a reduced one.
    #[inline]
    pub fn save(&mut self, Cwnd(window): Cwnd) {
        self.prior_cwnd = if self.repair == Repair::Over { window } else { self.prior_cwnd.max(window) };
    }

    /// SaveCwnd in ProbeRTT.
    #[inline]
    pub fn save_reduced(&mut self, Cwnd(window): Cwnd) {
        self.prior_cwnd = self.prior_cwnd.max(window);
    }

    /// RestoreCwnd.
    #[inline]
    pub fn restore(&self, Cwnd(window): Cwnd) -> Cwnd {
        Cwnd(window.max(self.prior_cwnd))
    }

    /// An acknowledgement of new data outside fast recovery, which ends it. Recovery from a timeout ends once all outstanding data is
    /// acknowledged. Returns the window, restored at the end.
    #[inline]
    pub fn on_ack(&mut self, Segments(acked): Segments, window: Cwnd) -> Cwnd {
        match self.repair {
            Repair::Over => return window,
            Repair::Restarted { outstanding } if outstanding > acked => {
                self.repair = Repair::Restarted { outstanding: outstanding - acked };
                return window;
            }
            Repair::Fast { .. } | Repair::Restarted { .. } => self.repair = Repair::Over,
        }
        self.restore(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_window_since_the_beginning_is_restored() {
        let mut recovery = Recovery::default();
        recovery.save(Cwnd(50.0));
        recovery.save(Cwnd(40.0));
        recovery.repair = Repair::Fast { start_round: 3 };
        recovery.save(Cwnd(20.0));
        recovery.save_reduced(Cwnd(10.0));
        assert_eq!((recovery.on_ack(Segments(1), Cwnd(5.0)), recovery.repair), (Cwnd(40.0), Repair::Over));
        // Outside recovery the window stays.
        assert_eq!(recovery.on_ack(Segments(1), Cwnd(6.0)), Cwnd(6.0));
    }

    #[test]
    fn recovery_from_a_timeout_lasts_until_all_outstanding_data_is_acknowledged() {
        let mut recovery = Recovery::default();
        recovery.save(Cwnd(50.0));
        recovery.repair = Repair::Restarted { outstanding: 25 };
        let windows = [10, 10, 5].map(|acked| recovery.on_ack(Segments(acked), Cwnd(1.0)).0);
        assert_eq!(windows, [1.0, 1.0, 50.0]);
    }
}
