//! End of slow start before a loss, one file per algorithm: by the RTTs of its acknowledgements, or by their spacing. The controller
//! implements slow start itself and the phase after it.

pub(super) mod decision;
mod hystart;
mod hystart_plus_plus;

use self::decision::{AckSample, Decision, Stage};
use super::spec::SlowStart;
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use serde::{Deserialize, Serialize};

/// State of slow start monitoring of a flow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum SlowStartState {
    /// No algorithm is active, or it has finished.
    Off,
    HyStart(HyStart),
    PlusPlus(HyStartPlusPlus),
}

impl SlowStartState {
    pub(crate) fn of(kind: SlowStart) -> SlowStartState {
        match kind {
            SlowStart::Standard => SlowStartState::Off,
            SlowStart::HyStart => SlowStartState::HyStart(HyStart::default()),
            SlowStart::HyStartFrom16 => SlowStartState::HyStart(HyStart::from_low_window()),
            SlowStart::HyStartPlusPlus => SlowStartState::PlusPlus(HyStartPlusPlus::default()),
        }
    }

    /// An acknowledgement of new data arrived. HyStart++ applies to the first slow start; later ones, and those during loss recovery, have a
    /// threshold from the loss. HyStart applies to all.
    pub(super) fn process_ack(&mut self, stage: Stage, sample: &AckSample) -> Decision {
        match (&mut *self, stage) {
            (SlowStartState::HyStart(state), Stage::First | Stage::Later) => state.process_ack(sample),
            (SlowStartState::HyStart(state), Stage::Outside) => state.interrupt(sample.counted),
            (SlowStartState::PlusPlus(state), Stage::First) => state.process_ack(sample),
            (SlowStartState::PlusPlus(_), Stage::Later | Stage::Outside) | (SlowStartState::Off, _) => {
                *self = SlowStartState::Off;
                Decision::Grow(sample.counted)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Ack, Start};
    use crate::primitives::units::Segments;
    use crate::tcp::TcpSpec;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::sequence::Phase;

    /// Whether the flow is still monitored after an acknowledgement in this phase, with a window of four and this threshold; the initial
    /// threshold is unlimited.
    fn is_watched(kind: SlowStart, phase: Phase, ssthresh: f64) -> bool {
        let spec = TcpSpec { slow_start: kind, initial_ssthresh: f64::INFINITY, timestamps: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 4.0, ssthresh, ..Start::default() }, 100);
        bench.sender.sequence.phase = phase;
        assert_eq!(bench.with(|tcp| tcp.monitor_slow_start(&Ack::of_one(tcp.now))), Segments(1));
        !matches!(bench.slow_start_state, SlowStartState::Off)
    }

    #[test]
    fn hystart_plus_plus_monitors_the_first_slow_start_and_hystart_every_one() {
        let unlimited = f64::INFINITY;
        let cases = [(Phase::Open, unlimited), (Phase::Timeout, unlimited), (Phase::Open, 8.0), (Phase::Open, 4.0)];
        assert!(cases.iter().all(|&(phase, ssthresh)| is_watched(SlowStart::HyStart, phase, ssthresh)));
        let watched = cases.map(|(phase, ssthresh)| is_watched(SlowStart::HyStartPlusPlus, phase, ssthresh));
        assert_eq!(watched, [true, false, false, false]);
    }
}
