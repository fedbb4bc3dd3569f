//! A window that never changes: the smallest controller, and the sender of the window-limited rate formula.

use super::{Ack, Congestion, Controller, Start};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Fixed {
    window: f64,
}

impl Fixed {
    pub(super) fn new(start: Start) -> Fixed {
        Fixed { window: start.window }
    }
}

impl Controller for Fixed {
    fn window(&self) -> f64 {
        self.window
    }
    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }
    fn on_ack(&mut self, _: &Ack) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn on_timeout(&mut self, _: &Congestion) {}
    fn limit_window(&mut self, _: f64) {}
}
