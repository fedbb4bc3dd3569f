//! A constant window, with an optional rate: the smallest controller, and the sender of the window-limited rate formula.

use super::support::{Abilities, Ack, Congestion, Controller, Start};
use crate::primitives::units::{Cwnd, Rate};
use crate::settings::{Kind, Settings, member};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

member! {
    /// Keeps the initial window for the whole run.
    Fixed = "fixed", "ours, for rates that a window limits";

    pub struct FixedSpec {
        /// Pacing rate on the wire for full segments. Without it, acknowledgements clock transmission.
        rate: Option<Rate> = None => Kind::Rate,
    }
}

impl Settings for FixedSpec {
    fn samples() -> Vec<FixedSpec> {
        [None, Some(Rate(1)), Some(Rate(2_000_000))].map(|rate| FixedSpec { rate }).into()
    }
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(C)]
pub struct Fixed {
    window: f64,
    /// Pacing rate in bit/s.
    pacing: Option<NonZeroU64>,
}

impl Fixed {
    pub(super) fn new(spec: &FixedSpec, start: Start) -> Fixed {
        Fixed { window: start.window, pacing: spec.rate.and_then(|rate| NonZeroU64::new(rate.0)) }
    }
}

impl Controller for Fixed {
    const ABILITIES: Abilities = Abilities { ignores_losses: true, ..Abilities::NONE };

    fn abilities(&self) -> Abilities {
        Abilities { may_pace: self.pacing.is_some(), ..Self::ABILITIES }
    }

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        self.pacing.map(|rate| Rate(rate.get()))
    }

    fn on_ack(&mut self, _: &Ack) {}
    fn on_congestion(&mut self, _: &Congestion) {}
    fn on_timeout(&mut self, _: &Congestion) {}
    fn limit_window(&mut self, _: Cwnd) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_the_configured_rate() {
        let start = Start { window: 8.0, ..Start::default() };
        let rate = Rate(5_000_000);
        assert_eq!(Fixed::new(&FixedSpec { rate: Some(rate) }, start).pacing(), Some(rate));
        assert_eq!(Fixed::new(&FixedSpec::default(), start).pacing(), None);
    }
}
