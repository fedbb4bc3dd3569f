//! Time-based loss recovery (RFC 8985): RACK detects losses, a tail loss probe (TLP, section 7) elicits acknowledgements where none would
//! arrive, and PRR (RFC 9937) governs transmission while the window is reduced, for a loss or for a mark. SACK information is kept after a
//! timeout, too. A spurious reduction is undone.
//!
//! One timer serves three purposes (section 8): the reordering window, the probe and the retransmission timeout.

#[cfg(test)]
mod linux_rules;
mod probe;
mod prr;
#[cfg(test)]
mod prr_model;
mod rack;
#[cfg(test)]
mod rack_model;
mod state;
mod undo;

use self::probe::{Probe, probe_delay};
use self::prr::{Begin, Progress, Prr};
use self::rack::Rack;
use self::state::{Purpose, State, detection, is_recovering, may_enter, may_enter_after_timeout};
use self::undo::{FRto, take_if_spurious};
use super::outcome::{
    Delivered, LossDetection, LossRecovery, Losses, NextSegment, Reduction, Report, SavedState, SenderView, TimeRecovery,
};
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time};
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::sequence::{IncomingAck, Phase, Sequence};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct RackTlp {
    /// Present from the first transmission of data on.
    state: Option<Box<State>>,
}

impl LossRecovery for RackTlp {
    const USES_SACK: bool = true;
    const HEAP_BYTES: usize = size_of::<State>();
    const BYTES_PER_SEGMENT: usize = Rack::BYTES_PER_SEGMENT;

    fn scoreboard(&self) -> Option<&Scoreboard> {
        self.state.as_ref().map(|state| state.rack.sacked())
    }

    #[inline]
    fn pipe(&self, known: &SenderView) -> Segments {
        match &self.state {
            Some(state) => state.rack.in_flight(),
            None => known.sequence.in_flight(),
        }
    }

    /// During the response to a mark the window is not reduced again (RFC 3168 section 6.1.2: once per window).
    fn on_entered(&mut self, known: &SenderView, reduced: Option<Reduction>) {
        let state = self.state(known);
        state.undo = None;
        state.f_rto = FRto::Off;
        if let Some(Reduction { after, recover_fs, saved, .. }) = reduced {
            state.remember(known, saved);
            state.prr = Prr::begin(&Begin { ssthresh: after, recover_fs });
        }
        state.prr.force_first();
        // Section 7.1.
        state.probe = Probe::None;
        state.rto = known.paced_timeout();
    }

    /// All segments sent long enough ago are lost.
    fn on_timeout(&mut self, known: &SenderView) -> Vec<SegmentNumber> {
        let phase = known.phase();
        let state = self.state(known);
        let mut lost = Vec::new();
        state.rack.on_timeout(&detection(known, phase), |segment| lost.push(segment));
        state.probe = Probe::None;
        let repeats = known.spec.f_rto_repeats && known.sequence.timed_out;
        state.f_rto = if is_recovering(phase) && !repeats { FRto::Off } else { FRto::Retransmitted };
        state.rto = known.timeout();
        state.resend = known.sequence.snd_una;
        lost
    }
}

impl TimeRecovery for RackTlp {
    fn permitted(&self) -> Option<Segments> {
        Some(self.state.as_ref()?.prr.permitted())
    }

    fn accounted_for(&self) -> Option<Segments> {
        Some(self.state.as_ref()?.rack.accounted_for())
    }

    fn count_probe(&mut self) {
        if let Some(state) = &mut self.state {
            state.probes += 1;
        }
    }

    fn probes(&self) -> u32 {
        self.state.as_ref().map_or(0, |state| state.probes)
    }

    fn on_arrival(&mut self, known: &SenderView, incoming: &IncomingAck) -> Delivered {
        let echo = (known.spec.timestamps && !known.spec.retransmissions_by_min_rtt).then_some(incoming.echo);
        let state = self.state(known);
        if incoming.blocks.is_empty() && known.is_open() && state.is_undisturbed() {
            return state.rack.on_ack_in_order(known.now, incoming.ack);
        }
        let mut delivered = state.rack.on_ack(known.now, incoming, echo);
        if known.spec.cumulative_rack_rtt {
            state.rack.prefer_cumulative_rtt();
        }
        if known.spec.limit_dsacks && delivered.is_dsack {
            state.unreported -= 1;
            delivered.is_dsack = state.unreported >= 0;
            delivered.segments.0 += u32::from(delivered.is_dsack);
        }
        let opens = known.spec.sack_opens_window && delivered.segments > Segments(0);
        Delivered { opens_window: opens && state.rack.has_reordered_beyond(known.dup_thresh()), ..delivered }
    }

    fn on_report(&mut self, known: &SenderView, report: &Report) -> Option<SavedState> {
        let state = self.state(known);
        if report.advanced > Segments(0) {
            state.rto = known.paced_timeout();
        }
        if report.delivered.is_in_order {
            return None;
        }
        // Needless transmissions widen the reordering window.
        if report.delivered.is_dsack {
            state.rack.on_dsack(known.sequence.snd_max, known.spec.reo_wnd_growth);
        }
        let is_sacked = |segment| state.rack.is_sacked(segment);
        let saved = take_if_spurious(&mut state.undo, &mut state.f_rto, known, report, is_sacked)?;
        state.rack.forget_losses();
        state.resend = SegmentNumber::NONE;
        Some(saved)
    }

    fn on_probe_ack(&mut self, known: &SenderView, report: &Report) -> Option<Segments> {
        let state = self.state(known);
        let outstanding = state.probe.on_ack(report).filter(|_| known.is_open())?;
        state.undo = None;
        Some(outstanding)
    }

    /// Detects losses, the end of the present recovery and the start of a new one.
    fn find_losses(&mut self, known: &SenderView, report: &Report, losses: Losses) -> LossDetection {
        let Sequence { snd_una, snd_max, recovery_point, phase, .. } = *known.sequence;
        let state = self.state(known);
        let ends = match phase {
            Phase::Open => false,
            // At the acknowledgement of the first segment that reported the reduction to the receiver, or of all data.
            Phase::Reducing => snd_una > recovery_point || snd_una == snd_max,
            Phase::Recovery | Phase::Timeout => snd_una >= recovery_point,
        };
        if ends && phase != Phase::Reducing {
            state.rack.on_recovered();
        }
        let phase = if ends { Phase::Open } else { phase };
        let found = state.scan(known, phase, losses);
        // Losses of data sent during a recovery are a separate congestion event.
        let is_left = ends && state.rack.has_lost();
        let begins_again = found.has_lost_retransmission && may_enter_after_timeout(known, phase);
        let enters = (found.newly_lost > Segments(0) || is_left) && may_enter(phase) || begins_again;
        // RecoverFS includes the segments delivered by this acknowledgement.
        let entry = || state.entry(known, report.delivered.segments);
        LossDetection { ends, enters: enters.then(entry), ..found }
    }

    fn on_reduction_ack(&mut self, known: &SenderView, report: &Report, found: &LossDetection) {
        let is_safe = report.advanced > Segments(0) && found.newly_lost == Segments(0);
        let state = self.state(known);
        let in_flight = state.rack.in_flight();
        state.prr.on_ack(&Progress { delivered: report.delivered.segments, in_flight, is_safe });
    }

    /// Until the end of the window, PRR governs transmission.
    fn on_mark(&mut self, known: &SenderView, window: Segments) -> bool {
        let state = self.state(known);
        let recover_fs = Segments(known.sequence.outstanding().0 - state.rack.segs_sacked().0);
        state.prr = Prr::begin(&Begin { ssthresh: window, recover_fs });
        state.undo = None;
        known.sequence.outstanding() > Segments(0)
    }

    /// During recovery with PRR, marks of the data in flight have no further effect.
    fn covers_mark(&self, sequence: &Sequence, ack: SegmentNumber) -> bool {
        let is_repairing = sequence.phase != Phase::Open && ack <= sequence.recovery_point;
        is_repairing || ack < sequence.snd_una
    }

    fn on_deadline(&mut self, known: &SenderView, losses: Losses) -> Option<LossDetection> {
        let phase = known.phase();
        let state = self.state(known);
        match state.purpose {
            Purpose::Reordering => {
                let found = state.scan(known, phase, losses);
                if phase.is_reduction() {
                    state.prr.on_lost(found.newly_lost);
                }
                let may_enter = may_enter(phase) || may_enter_after_timeout(known, phase);
                let enters = found.newly_lost > Segments(0) && may_enter;
                Some(LossDetection { enters: enters.then(|| state.entry(known, Segments(0))), ..found })
            }
            Purpose::Probe => {
                state.probe = Probe::Due;
                state.rto = known.paced_timeout();
                Some(LossDetection { probes: true, ..LossDetection::default() })
            }
            Purpose::Retransmission => None,
        }
    }

    fn awaits_timeout(&self) -> bool {
        self.state.as_ref().is_none_or(|state| state.purpose == Purpose::Retransmission)
    }

    fn remember(&mut self, known: &SenderView, saved: Option<SavedState>) {
        self.state(known).remember(known, saved);
    }

    fn next_segment(&mut self, known: &SenderView) -> NextSegment {
        let Sequence { snd_una, snd_max, phase, .. } = *known.sequence;
        let state = self.state(known);
        let has_new = snd_max < known.sendable();
        if state.rack.is_lost(state.resend) {
            return NextSegment::Again(state.resend);
        }
        if state.probe == Probe::Due {
            state.probe = Probe::None;
            if snd_una < snd_max {
                // New data if there is any, otherwise the last segment again (section 7.3).
                let next = if has_new {
                    NextSegment::New
                } else {
                    state.rack.last_outstanding().map_or(NextSegment::Nothing, NextSegment::Again)
                };
                state.probe = match next {
                    NextSegment::New => Probe::send(known, snd_max),
                    NextSegment::Again(segment) => Probe::send(known, segment),
                    _ => Probe::None,
                };
                return next;
            }
        }
        // RFC 3042, if enabled: SACKed segments release new data before any loss is detected.
        let is_limited = !known.spec.limited_transmit && phase == Phase::Open;
        let held = if is_limited { state.rack.segs_sacked().0 } else { 0 };
        let permitted = match phase.is_reduction() && !known.controller.controls_recovery() {
            true => state.prr.permitted(),
            false => Segments(known.spec.usable(known.window()).0.saturating_sub(state.rack.in_flight().0 + held)),
        };
        match state.rack.first_lost() {
            _ if permitted == Segments(0) => NextSegment::Nothing,
            _ if has_new && state.f_rto == FRto::NewData => NextSegment::New,
            Some(lost) => NextSegment::Again(lost),
            None if has_new && permitted == Segments(1) => NextSegment::LastNew,
            None if has_new => NextSegment::New,
            None => NextSegment::Nothing,
        }
    }

    #[inline]
    fn on_sent(&mut self, known: &SenderView, segment: SegmentNumber, deadline: Time) {
        let state = self.state(known);
        let is_retransmission = state.rack.on_sent(segment, known.now);
        if is_retransmission {
            state.unreported += 1;
            if let Some(undo) = &mut state.undo {
                undo.on_retransmission(segment, known.now);
            }
        }
        if known.phase().is_reduction() {
            state.prr.on_sent();
        }
        let begins_episode = std::mem::replace(&mut state.resend, SegmentNumber::NONE) == segment;
        let is_by_timeout = begins_episode && known.phase() == Phase::Timeout;
        // The oldest segment, when retransmitted, gets a full timeout, as in any fast retransmit; after a timeout it has one.
        if state.rto == Time::NEVER || (is_retransmission && segment == known.sequence.snd_una && !is_by_timeout) {
            state.rto = known.paced_timeout();
        }
        if known.spec.new_data_ends_probe && state.probe.is_followed_by(segment) && state.may_probe(known) {
            let oldest = state.rack.sent_at(known.sequence.snd_una).unwrap_or(known.now);
            let due = known.timeout_since(oldest);
            state.rto = if due > known.now { due } else { known.now + probe_delay(known) + known.spec.timer.jiffy };
        }
        if state.purpose != Purpose::Reordering || deadline == Time::NEVER {
            (state.purpose, state.is_stale) = (Purpose::Retransmission, true);
        }
    }

    #[inline]
    fn arm(&mut self, known: &SenderView, next: Option<Time>) -> Option<Time> {
        self.state(known).arm(known, next)
    }

    #[inline]
    fn rearm(&mut self, known: &SenderView) -> Option<Time> {
        self.state.as_mut().filter(|state| state.is_stale).map(|state| state.rearm(known))
    }
}

impl RackTlp {
    #[inline(always)]
    fn state(&mut self, known: &SenderView) -> &mut State {
        match &mut self.state {
            Some(state) => state,
            none => none.insert(Box::new(State::new(known))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::primitives::units::TimeDelta;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::recovery::{Recoveries, TimeRecoveries};
    use crate::tcp::{Recovery, TcpSpec, TimerSpec};

    /// A sender with this many segments to send and a window of four.
    fn bench(limit: u32) -> SenderHarness {
        let spec = TcpSpec { recovery: Recovery::RackTlp, ecn: true, ..plain() };
        SenderHarness::new(spec, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, limit)
    }

    pub(super) fn state(bench: &SenderHarness) -> Option<&State> {
        match &bench.sender.recovery {
            Recoveries::ByTime(TimeRecoveries::RackTlp(recovery)) => recovery.state.as_deref(),
            _ => None,
        }
    }

    #[test]
    fn a_mark_on_the_last_segment_does_not_delay_later_data() {
        let mut bench = bench(4);
        assert_eq!(bench.send(), [0, 1, 2, 3]);
        assert_eq!(bench.at(100).process_marked_ack(4), []);
        assert_eq!((bench.sender.sequence.phase, bench.window()), (Phase::Open, 2.0));
        bench.sender.sequence.limit = SegmentNumber(8);
        assert_eq!(bench.send(), [4, 5]);
    }

    #[test]
    fn an_unnecessary_probe_does_not_reduce_the_window() {
        let mut bench = bench(2);
        assert_eq!(bench.send(), [0, 1]);
        assert_eq!(bench.at(100).process_ack(1, &[]), []);
        // PTO: two RTTs, and 200 ms for a single segment.
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(500).0));
        assert!(!bench.expire());
        assert_eq!(bench.send(), [1]);
        // The acknowledgement was only slow, and the probe is reported as a duplicate after all data has arrived.
        bench.at(510).process_ack(2, &[]);
        assert!(state(&bench).is_some_and(|state| state.probe != Probe::None));
        bench.at(610).process_ack(2, &[(1, 2)]);
        bench.sender.sequence.limit = SegmentNumber(6);
        assert_eq!(bench.send(), [2, 3, 4, 5]);
        bench.at(710).process_ack(6, &[]);
        assert!(bench.window() >= 4.0 && state(&bench).is_some_and(|state| state.probe == Probe::None));
    }

    #[test]
    fn the_timers_of_linux_expire_on_ticks() {
        let timer =
            TimerSpec { probe_margin: TimeDelta::from_millis(2), jiffy: TimeDelta::from_millis(4), ..TimerSpec::rfc6298() };
        let spec = TcpSpec { recovery: Recovery::RackTlp, timer, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, 4);
        assert_eq!(bench.send(), [0, 1, 2, 3]);
        // Probe: 2 * 9 + 2 ms are five jiffies, which begin with the tick at 12 ms.
        bench.at(9).process_ack(1, &[]);
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(32).0));
        // Reordering: 9 / 4 ms from the time when 1 would have been acknowledged, 9, and 2 ms are two jiffies from 12 ms on.
        bench.at(9).process_ack(1, &[(2, 3)]);
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(20).0));
        assert!(!bench.expire());
        assert_eq!(bench.send(), [1]);
    }

    #[test]
    fn the_timers_of_a_paced_sender_start_when_it_may_send_again_except_after_a_timeout() {
        let timer = TimerSpec { after_pacing: true, ..TimerSpec::rfc6298() };
        let spec = TcpSpec { recovery: Recovery::RackTlp, timer, pacing: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, 2);
        assert_eq!(bench.send(), [0, 1]);
        // Probe: two RTTs, and 200 ms for a single segment. The pacer is free.
        bench.at(100).process_ack(1, &[]);
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(500).0));
        assert!(!bench.expire());
        assert_eq!(bench.send(), [1]);
        let may_send_again = bench.sender.pacer.wakes_at().filter(|&wake| wake > bench.now);
        assert_eq!(Some(bench.sender.timer.deadline), may_send_again.map(|wake| wake + TimeDelta::from_millis(1000)));
        // The timeout is doubled, and the pacer, which holds the next transmission back for an RTT, has no effect.
        assert!(bench.expire());
        assert_eq!(bench.send(), [1]);
        assert_eq!(bench.sender.pacer.wakes_at(), Some(bench.now + TimeDelta::from_millis(100)));
        assert_eq!(bench.sender.timer.deadline, bench.now + TimeDelta::from_millis(2000));
    }

    #[test]
    fn a_necessary_probe_counts_as_a_loss_once_more_is_acknowledged() {
        let mut bench = bench(2);
        bench.send();
        bench.at(100).process_ack(1, &[]);
        bench.expire();
        assert_eq!(bench.send(), [1]);
        bench.sender.sequence.limit = SegmentNumber(3);
        bench.at(600).process_ack(2, &[]);
        assert_eq!(bench.window(), 4.5);
        bench.at(700).process_ack(3, &[]);
        assert!(bench.window() < 4.0);
    }

    #[test]
    fn a_probe_is_also_due_during_the_response_to_a_mark() {
        let mut bench = SenderHarness::new(
            TcpSpec { recovery: Recovery::RackTlp, ecn: true, ..plain() },
            Start { window: 8.0, ssthresh: 4.0, ..Start::default() },
            8,
        );
        assert_eq!(bench.send().len(), 8);
        // The last two are lost in the RTT after a mark: two RTTs later the last is retransmitted.
        bench.at(100).process_marked_ack(6);
        assert_eq!(
            (bench.sender.sequence.phase, bench.sender.timer.deadline),
            (Phase::Reducing, Time(TimeDelta::from_millis(300).0))
        );
        assert!(!bench.expire());
        assert_eq!(bench.send(), [7]);
    }

    #[test]
    fn the_oldest_segment_gets_a_full_timeout_when_retransmitted() {
        let mut bench = SenderHarness::new(
            TcpSpec { recovery: Recovery::RackTlp, ..plain() },
            Start { window: 8.0, ssthresh: 4.0, ..Start::default() },
            1000,
        );
        assert_eq!(bench.send().len(), 8);
        // The first segment is lost, and so is its retransmission, which segments sent after it reveal.
        bench.at(100).process_ack(0, &[(1, 4)]);
        let sent = bench.at(101).process_ack(0, &[(1, 8)]);
        assert!(sent.contains(&8), "{sent:?}");
        bench.at(300).process_ack(0, &[(1, 9)]);
        let rto = state(&bench).map(|state| state.rto);
        assert_eq!(rto, Some(bench.now + bench.sender.timer.estimator.timeout(&bench.spec.timer)));
    }

    /// Twenty segments are in flight, the first ones are lost and the others arrive. Returns the number of segments sent after each report.
    fn sent_after_losses(lost: u32) -> Vec<usize> {
        let spec = TcpSpec { recovery: Recovery::RackTlp, limited_transmit: true, ..plain() };
        let mut bench = SenderHarness::new(spec, Start { window: 20.0, ssthresh: 8.0, ..Start::default() }, 1000);
        assert_eq!(bench.send().len(), 20);
        (lost..20).map(|incoming| bench.at(100 + u64::from(incoming)).process_ack(0, &[(lost, incoming + 1)]).len()).collect()
    }

    #[test]
    fn the_examples_of_rfc_6937_section_3_by_hand() {
        // The second: fifteen are lost. Two new segments and three retransmissions, the row of PRR-CRB: RFC 9937 adds one (SSRB) only for
        // an acknowledgement that advances.
        assert_eq!(sent_after_losses(15), [1, 1, 1, 1, 1]);
        // The first: one is lost. Two new segments, the retransmission, and one for every second report, up to the sixteenth: beyond it the
        // figure's row of `pipe` falls behind the transmissions in the row below it.
        assert_eq!(sent_after_losses(1)[..16], [1, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn the_probe_of_rfc_8985_section_3_4_is_sent_two_rtts_after_the_acknowledgement() {
        let mut bench = bench(4);
        assert_eq!(bench.send(), [0, 1, 2, 3]);
        assert_eq!(bench.at(100).process_ack(1, &[]), []);
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(300).0));
        assert!(!bench.expire());
        assert_eq!((bench.send(), bench.sender.probes(), bench.sender.sequence.counts.timeouts), (vec![3], 1, 0));
        // The example does not specify how much may be sent; PRR releases one segment for the one that has arrived.
        assert_eq!(bench.at(400).process_ack(1, &[(3, 4)]), [1]);
    }
}
