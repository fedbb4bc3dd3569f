//! End of slow start before a loss, one file per algorithm: by the RTTs of its acknowledgements, or by their spacing. The controller
//! implements slow start itself and the phase after it.

mod hystart;
mod hystart_plus_plus;

use super::sender::{Phase, Tcp};
use super::spec::SlowStart;
use crate::congestion::{Ack, Controller};
use crate::primitives::units::{Cwnd, Segments, Span, Time};
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use serde::{Deserialize, Serialize};

/// An acknowledgement of new data in slow start.
struct AckSample {
    now: Time,
    /// Next segment expected by the receiver according to this acknowledgement.
    una: u32,
    /// SND.NXT: the next new segment.
    high: u32,
    rtt: Option<Span>,
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
pub(crate) enum Watch {
    /// No algorithm is active, or it has finished.
    Off,
    HyStart(HyStart),
    PlusPlus(HyStartPlusPlus),
}

impl Watch {
    pub(crate) fn of(kind: SlowStart) -> Watch {
        match kind {
            SlowStart::Standard => Watch::Off,
            SlowStart::HyStart => Watch::HyStart(HyStart::default()),
            SlowStart::HyStartPlusPlus => Watch::PlusPlus(HyStartPlusPlus::default()),
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
    let Some(watch) = tcp.watch.as_deref_mut() else { return ack.counted };
    let sender = &*tcp.sender;
    let law = &sender.controller;
    let starts = sender.phase == Phase::Open && law.window() < law.ssthresh();
    let is_first = law.ssthresh() == tcp.spec.initial_ssthresh;
    let (now, una, high, window) = (ack.now, sender.una, sender.high, Cwnd(law.window()));
    let sample = AckSample { now, una, high, rtt: ack.rtt, window, counted: ack.counted };
    let answer = match watch {
        Watch::HyStart(watch) if starts => watch.process_ack(&sample),
        Watch::PlusPlus(watch) if starts && is_first => watch.process_ack(&sample),
        Watch::HyStart(watch) => watch.interrupt(ack.counted),
        Watch::PlusPlus(_) | Watch::Off => {
            *watch = Watch::Off;
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
    use crate::tcp::bench::{Bench, plain};

    /// Whether the flow is still monitored after an acknowledgement in this phase, with a window of four and this threshold; the initial
    /// threshold is unlimited.
    fn is_watched(kind: SlowStart, phase: Phase, ssthresh: f64) -> bool {
        let spec = TcpSpec { slow_start: kind, initial_ssthresh: f64::INFINITY, timestamps: true, ..plain() };
        let mut bench = Bench::new(spec, Start { window: 4.0, ssthresh, ..Start::default() }, 100);
        bench.sender.phase = phase;
        assert_eq!(bench.with(|tcp| on_new_ack(tcp, &Ack::of_one(tcp.now))), Segments(1));
        !matches!(bench.watch, Watch::Off)
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
