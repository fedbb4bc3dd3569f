//! End of slow start before a loss, one file per algorithm: by the RTTs of its acknowledgements, or by their spacing. The controller
//! implements slow start itself and the phase after it.

mod hystart;
mod hystart_plus_plus;

use super::sender::{Phase, Tcp};
use super::spec::SlowStart;
use crate::congestion::{Ack, Controller};
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use serde::{Deserialize, Serialize};

/// An acknowledgement of new data in slow start.
struct AckSample {
    now: Time,
    /// Next segment expected by the receiver according to this acknowledgement.
    snd_una: u32,
    /// SND.NXT: the next new segment.
    snd_nxt: u32,
    rtt: Option<TimeDelta>,
    window: Cwnd,
    /// Segments for which slow start would open the window.
    counted: Segments,
}

/// The response to an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Decision {
    /// The window opens for this many segments.
    Grow(Segments),
    /// Congestion avoidance begins with this acknowledgement.
    Exit,
}

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
            SlowStart::HyStartPlusPlus => SlowStartState::PlusPlus(HyStartPlusPlus::default()),
        }
    }
}

/// Processes an acknowledgement of new data before the controller does. Returns the number of segments for which it opens the window.
///
/// HyStart++ applies to the first slow start, while the threshold has its initial value (RFC 9406 section 4); later ones, and those during
/// loss recovery, have a threshold from the loss. HyStart applies to all.
#[cold]
#[inline(never)]
pub(super) fn on_new_ack(tcp: &mut Tcp, ack: &Ack) -> Segments {
    let Some(slow_start_state) = tcp.slow_start_state.as_deref_mut() else { return ack.counted };
    let sender = &*tcp.sender;
    let law = &sender.controller;
    let starts = sender.phase == Phase::Open && law.window() < law.ssthresh();
    let is_first = law.ssthresh().0 == tcp.spec.initial_ssthresh;
    let (now, snd_una, snd_nxt, window) = (ack.now, sender.snd_una, sender.snd_nxt, law.window());
    let sample = AckSample { now, snd_una, snd_nxt, rtt: ack.rtt, window, counted: ack.counted };
    let answer = match slow_start_state {
        SlowStartState::HyStart(slow_start_state) if starts => slow_start_state.process_ack(&sample),
        SlowStartState::PlusPlus(slow_start_state) if starts && is_first => slow_start_state.process_ack(&sample),
        SlowStartState::HyStart(slow_start_state) => slow_start_state.interrupt(ack.counted),
        SlowStartState::PlusPlus(_) | SlowStartState::Off => {
            *slow_start_state = SlowStartState::Off;
            Decision::Grow(ack.counted)
        }
    };
    match answer {
        Decision::Grow(counted) => counted,
        Decision::Exit => {
            tcp.sender.controller.end_slow_start();
            ack.counted
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::tcp::TcpSpec;
    use crate::tcp::bench::{SenderHarness, plain};

    /// Whether the flow is still monitored after an acknowledgement in this phase, with a window of four and this threshold; the initial
    /// threshold is unlimited.
    fn is_watched(kind: SlowStart, phase: Phase, ssthresh: f64) -> bool {
        let spec = TcpSpec { slow_start: kind, initial_ssthresh: f64::INFINITY, timestamps: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 4.0, ssthresh, ..Start::default() }, 100);
        bench.sender.phase = phase;
        assert_eq!(bench.with(|tcp| on_new_ack(tcp, &Ack::of_one(tcp.now))), Segments(1));
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
