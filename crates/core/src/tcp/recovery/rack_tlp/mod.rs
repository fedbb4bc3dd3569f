//! Time-based loss recovery (RFC 8985): RACK detects losses, a tail loss probe (TLP, section 7) elicits acknowledgements where none would
//! arrive, and PRR (RFC 9937) governs transmission while the window is reduced, for a loss or for a mark. SACK information is kept after a
//! timeout, too. A spurious reduction is undone.
//!
//! One timer serves three purposes (section 8): the reordering window, the probe and the retransmission timeout.

mod probe;
mod undo;

use self::probe::{Probe, on_probe_ack, probe_at};
pub(in crate::tcp) use self::undo::remember;
use self::undo::{FRto, Undo, undo_reduction};
use crate::congestion::{Ack, Cause, Controller};
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::prr::{Begin, Progress, Prr};
use crate::tcp::rack::{Delivered, DetectionContext, Rack};
use crate::tcp::sender::{IncomingAck, NONE, Phase, Tcp};
use crate::tcp::signal_reader::AckExtras;
use crate::tcp::slow_start;
use crate::tcp::validation;
use serde::{Deserialize, Serialize};

/// State of a flow with this recovery, stored outside its sender.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RackTlp {
    rack: Rack,
    prr: Prr,
    probe: Option<Probe>,
    /// Purpose of the sender's deadline.
    timer: Timer,
    /// Time of the retransmission timeout; [`Time::NEVER`] while nothing is outstanding.
    rto: Time,
    /// The probe is due, whatever the window.
    probe_is_due: bool,
    /// State before the last reduction, unless it was undone or cannot be.
    undo: Option<Undo>,
    f_rto: FRto,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Timer {
    Retransmission,
    Reordering,
    Probe,
}

impl RackTlp {
    /// Bytes per outstanding segment.
    pub(crate) const BYTES_PER_SEGMENT: usize = Rack::BYTES_PER_SEGMENT;

    /// Number of outstanding segments; none if their states are inconsistent with the counters.
    pub(crate) fn accounted_for(&self) -> Segments {
        self.rack.accounted_for()
    }

    /// Estimated number of segments in the network.
    pub(in crate::tcp) fn in_flight(&self) -> Segments {
        self.rack.in_flight()
    }

    /// Whether the deadline is that of a retransmission timeout.
    pub(crate) fn awaits_rto(&self) -> bool {
        self.timer == Timer::Retransmission
    }

    /// State of a sender whose next segment is this one.
    pub(crate) fn new(snd_una: u32) -> RackTlp {
        RackTlp {
            rack: Rack::new(snd_una),
            prr: Prr::default(),
            probe: None,
            timer: Timer::Retransmission,
            rto: Time::NEVER,
            probe_is_due: false,
            undo: None,
            f_rto: FRto::Off,
        }
    }
}

/// An acknowledgement arrived. Returns its RTT sample.
pub(in crate::tcp) fn on_ack(tcp: &mut Tcp, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
    if incoming.ack < tcp.sender.snd_una {
        return None;
    }
    let now = tcp.now;
    let advanced = Segments(incoming.ack - tcp.sender.snd_una);
    let echo = tcp.spec.timestamps.then_some(incoming.echo);
    let delivered = tcp.rack_tlp().rack.on_ack(now, incoming, echo);
    if tcp.sender.snd_max == tcp.sender.snd_una {
        // All data has arrived; the acknowledgement may report duplicates.
        on_dsack_report(tcp, incoming, &delivered, advanced);
        return None;
    }
    let rtt = echo.map(|echo| now.since(echo)).or(delivered.rtt);
    if advanced > Segments(0) {
        validation::on_new_ack(tcp, incoming.ack);
    }
    let ack = tcp.ack::<true>(delivered.segments, rtt, extras);
    if let Some(rtt) = rtt {
        tcp.measure(rtt, advanced);
    }
    tcp.sender.snd_una = incoming.ack;
    if advanced > Segments(0) {
        tcp.sender.duplicates = 0;
        tcp.sender.timed_out = false;
        tcp.restart_rto();
    } else {
        tcp.sender.duplicates += 1;
    }
    on_dsack_report(tcp, incoming, &delivered, advanced);
    let look_again = find_losses(tcp, &delivered);
    if tcp.sender.phase.is_reduction() {
        let is_safe = advanced > Segments(0) && look_again.newly_lost == Segments(0);
        let state = tcp.rack_tlp();
        let in_flight = state.rack.in_flight();
        state.prr.on_ack(&Progress { delivered: delivered.segments, in_flight, is_safe });
    }
    notify_controller(tcp, &ack, advanced, extras);
    arm(tcp, look_again.at);
    rtt
}

/// Processes reports of needless transmissions: they widen the reordering window, may undo a reduction, and acknowledge a probe.
fn on_dsack_report(tcp: &mut Tcp, incoming: &IncomingAck, delivered: &Delivered, advanced: Segments) {
    if delivered.is_dsack {
        let snd_max = tcp.sender.snd_max;
        tcp.rack_tlp().rack.on_dsack(snd_max);
    }
    undo_reduction(tcp, incoming, delivered, advanced);
    on_probe_ack(tcp, incoming, delivered);
}

/// Result of loss detection, and the time of the next check.
#[derive(Default)]
struct LossScan {
    newly_lost: Segments,
    at: Option<Time>,
}

/// Detects losses, the end of the present recovery and the start of a new one.
fn find_losses(tcp: &mut Tcp, delivered: &Delivered) -> LossScan {
    let is_over = match tcp.sender.phase {
        Phase::Open => false,
        // At the acknowledgement of the first segment that reported the reduction to the receiver, or of all data.
        Phase::Reducing => tcp.sender.snd_una > tcp.sender.recovery_point || tcp.sender.snd_una == tcp.sender.snd_max,
        Phase::Recovery { .. } | Phase::Timeout => tcp.sender.snd_una >= tcp.sender.recovery_point,
    };
    if is_over && tcp.sender.phase != Phase::Reducing {
        tcp.rack_tlp().rack.on_recovered();
    }
    if is_over {
        tcp.sender.phase = Phase::Open;
    }
    let looked = scan(tcp);
    // Losses of data sent during a recovery are a separate congestion event.
    let is_left = is_over && tcp.rack_tlp().rack.has_lost();
    if (looked.newly_lost > Segments(0) || is_left) && may_enter(tcp) {
        // RecoverFS (RFC 9937 section 6.2): the outstanding segments that are not SACKed, and the ones delivered by this acknowledgement.
        let outstanding = tcp.sender.snd_max - tcp.sender.snd_una;
        let sacked = tcp.rack_tlp().rack.segs_sacked().0;
        enter(tcp, Segments(outstanding - sacked + delivered.segments.0));
    }
    looked
}

/// Detects nothing if all repair is left to the timer.
fn scan(tcp: &mut Tcp) -> LossScan {
    if tcp.spec.fast_retransmit.is_none() {
        return LossScan::default();
    }
    let known = situation(tcp);
    let mut lost = Vec::new();
    let keeps = tcp.counts_losses();
    let (newly_lost, at) = tcp.rack_tlp().rack.detect_each_loss(&known, |segment| lost.extend(keeps.then_some(segment)));
    lost.into_iter().for_each(|segment| tcp.lose(segment));
    LossScan { newly_lost, at }
}

fn situation(tcp: &Tcp) -> DetectionContext {
    let is_recovering = matches!(tcp.sender.phase, Phase::Recovery { .. } | Phase::Timeout);
    let dup_thresh = Segments(tcp.spec.fast_retransmit.unwrap_or(3));
    DetectionContext { now: tcp.now, is_recovering, srtt: tcp.sender.round_trip(tcp.spec), dup_thresh }
}

fn may_enter(tcp: &Tcp) -> bool {
    matches!(tcp.sender.phase, Phase::Open | Phase::Reducing)
}

/// Starts fast recovery. During the response to a mark the window is not reduced again (RFC 3168 section 6.1.2: once per window).
fn enter(tcp: &mut Tcp, recover_fs: Segments) {
    if tcp.sender.phase == Phase::Reducing {
        tcp.rack_tlp().undo = None;
    } else {
        remember(tcp);
        tcp.reduce(tcp.sender.in_flight(), Cause::Loss);
        begin_reduction(tcp, recover_fs);
    }
    tcp.sender.phase = Phase::Recovery { partial_seen: false };
    tcp.sender.recovery_point = tcp.sender.snd_max;
    let state = tcp.rack_tlp();
    state.prr.force_first();
    // Section 7.1.
    (state.probe, state.probe_is_due) = (None, false);
    tcp.sender.resend = state.rack.first_lost().unwrap_or(NONE);
    tcp.count_fast_retransmit();
    tcp.restart_rto();
}

fn begin_reduction(tcp: &mut Tcp, recover_fs: Segments) {
    tcp.note_reduction();
    let ssthresh = tcp.sender.window(tcp.spec);
    tcp.rack_tlp().prr = Prr::begin(&Begin { ssthresh, recover_fs });
}

/// The controller has reduced its window for a mark: until the end of the window, PRR governs transmission.
pub(in crate::tcp) fn on_reduced(tcp: &mut Tcp) {
    let outstanding = tcp.sender.snd_max - tcp.sender.snd_una;
    let recover_fs = Segments(outstanding - tcp.rack_tlp().rack.segs_sacked().0);
    begin_reduction(tcp, recover_fs);
    tcp.rack_tlp().undo = None;
    if outstanding > 0 {
        tcp.sender.phase = Phase::Reducing;
        tcp.sender.recovery_point = tcp.sender.snd_max;
    }
}

/// Passes new data to the controller unless the window is being reduced; also the acknowledgement that ends the reduction.
fn notify_controller(tcp: &mut Tcp, ack: &Ack, advanced: Segments, extras: &AckExtras) {
    if advanced == Segments(0) || tcp.sender.phase.is_reduction() {
        if extras.signal.is_some() {
            tcp.sender.controller.on_other_ack(&Ack { window_validated: false, ..*ack });
        }
        return;
    }
    let counted = if tcp.slow_start_state.is_some() { slow_start::on_new_ack(tcp, ack) } else { ack.counted };
    tcp.sender.controller.on_ack(&Ack { counted, ..*ack });
}

/// The deadline has expired. Returns whether it was a retransmission timeout.
pub(in crate::tcp) fn on_deadline(tcp: &mut Tcp) -> bool {
    let timer = tcp.rack_tlp().timer;
    match timer {
        Timer::Reordering => {
            let looked = scan(tcp);
            if tcp.sender.phase.is_reduction() {
                tcp.rack_tlp().prr.on_lost(looked.newly_lost);
            }
            if looked.newly_lost > Segments(0) && may_enter(tcp) {
                let outstanding = tcp.sender.snd_max - tcp.sender.snd_una;
                let recover_fs = Segments(outstanding - tcp.rack_tlp().rack.segs_sacked().0);
                enter(tcp, recover_fs);
            }
            arm(tcp, looked.at);
        }
        Timer::Probe => {
            tcp.rack_tlp().probe_is_due = true;
            tcp.restart_rto();
            arm(tcp, None);
        }
        Timer::Retransmission => {}
    }
    timer == Timer::Retransmission
}

/// A timeout: all segments sent long enough ago are lost, and the oldest segment is sent immediately.
pub(in crate::tcp) fn on_timeout(tcp: &mut Tcp) {
    let (known, began) = (situation(tcp), tcp.sender.phase);
    let mut lost = Vec::new();
    tcp.rack_tlp().rack.on_timeout(&known, |segment| lost.push(segment));
    lost.into_iter().for_each(|segment| tcp.lose(segment));
    let state = tcp.rack_tlp();
    (state.probe, state.probe_is_due) = (None, false);
    let within = matches!(began, Phase::Recovery { .. } | Phase::Timeout);
    state.f_rto = if within { FRto::Off } else { FRto::Retransmitted };
    tcp.sender.phase = Phase::Timeout;
    tcp.sender.resend = tcp.sender.snd_una;
    tcp.restart_rto();
    arm(tcp, None);
}

/// One past the last available segment that the receiver has room for.
fn sendable(tcp: &Tcp) -> u32 {
    tcp.sender.snd_una.saturating_add(tcp.spec.receiver_window.0).min(tcp.sender.limit)
}

/// The next segment that may be sent now.
pub(in crate::tcp) fn next_segment(tcp: &mut Tcp) -> Option<u32> {
    let (snd_una, snd_max) = (tcp.sender.snd_una, tcp.sender.snd_max);
    let end = sendable(tcp);
    let window = tcp.sender.window(tcp.spec);
    let phase = tcp.sender.phase;
    // Some controllers limit the data in flight by their window also during recovery.
    let is_reduction = phase.is_reduction() && !tcp.sender.controller.abilities().controls_recovery;
    let is_limited = !tcp.spec.limited_transmit && phase == Phase::Open;
    let new = (snd_max < end).then_some(snd_max);
    let resend = std::mem::replace(&mut tcp.sender.resend, NONE);
    let state = tcp.rack_tlp();
    if state.rack.is_lost(resend) {
        return Some(resend);
    }
    if std::mem::take(&mut state.probe_is_due) && snd_una < snd_max {
        // New data if there is any, otherwise the last segment again (section 7.3).
        let (probe, in_flight) = (new.or_else(|| state.rack.last_outstanding()), Segments(snd_max - snd_una));
        state.probe = probe.map(|segment| Probe { end_seq: snd_max.max(segment + 1), is_retrans: segment < snd_max, in_flight });
        return probe;
    }
    // RFC 3042, if enabled: SACKed segments release new data before any loss is detected.
    let held = if is_limited { state.rack.segs_sacked().0 } else { 0 };
    let may_send = if is_reduction { state.prr.may_send() } else { state.rack.in_flight().0 + held < window.0 };
    if !may_send {
        return None;
    }
    if state.f_rto == FRto::NewData && new.is_some() {
        return new;
    }
    state.rack.first_lost().or(new)
}

/// A segment has been sent.
pub(in crate::tcp) fn on_sent(tcp: &mut Tcp, segment: u32) {
    let now = tcp.now;
    let is_reduction = tcp.sender.phase.is_reduction();
    tcp.sender.snd_nxt = tcp.sender.snd_max;
    let state = tcp.rack_tlp();
    let is_retransmission = state.rack.on_sent(segment, now);
    if let Some(undo) = state.undo.as_mut().filter(|_| is_retransmission) {
        undo.on_retransmission(now);
    }
    if is_reduction {
        state.prr.on_sent();
    }
    // The oldest segment, when retransmitted, gets a full timeout, as in any fast retransmit.
    if state.rto == Time::NEVER || (is_retransmission && segment == tcp.sender.snd_una) {
        tcp.restart_rto();
    }
    if tcp.rack_tlp().timer != Timer::Reordering || tcp.sender.deadline == Time::NEVER {
        arm(tcp, None);
    }
}

/// Sets the timer for its next purpose. `look_again`: the end of a segment's reordering window.
fn arm(tcp: &mut Tcp, look_again: Option<Time>) {
    if tcp.sender.snd_una == tcp.sender.snd_max {
        tcp.rack_tlp().rto = Time::NEVER;
        tcp.sender.deadline = Time::NEVER;
        return;
    }
    let probe_at = probe_at(tcp);
    let state = tcp.rack_tlp();
    let rto = state.rto;
    let (timer, deadline) = match (look_again, probe_at) {
        (Some(at), _) if at < rto => (Timer::Reordering, at),
        (_, Some(at)) => (Timer::Probe, at.min(rto)),
        _ => (Timer::Retransmission, rto),
    };
    state.timer = timer;
    tcp.sender.deadline = deadline;
}

impl Tcp<'_> {
    fn rack_tlp(&mut self) -> &mut RackTlp {
        if self.sender.board == NONE {
            self.sender.board = self.racks.put(RackTlp::new(self.sender.snd_una));
        }
        self.racks.at_mut(self.sender.board)
    }

    /// RFC 6298: restarts the full timeout.
    fn restart_rto(&mut self) {
        let rto = self.timeout_from_now();
        self.rack_tlp().rto = rto;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::lossy_path::{LossyPath, Step};
    use crate::tcp::{Recovery, TcpSpec};

    /// A sender with this many segments to send and a window of four.
    fn bench(limit: u32) -> SenderHarness {
        let spec = TcpSpec { recovery: Recovery::RackTlp, ecn: true, ..plain() };
        SenderHarness::new(spec, Start { window: 4.0, ssthresh: 4.0, ..Start::default() }, limit)
    }

    #[test]
    fn a_mark_on_the_last_segment_does_not_delay_later_data() {
        let mut bench = bench(4);
        assert_eq!(bench.send(), [0, 1, 2, 3]);
        assert_eq!(bench.at(100).process_marked_ack(4), []);
        assert_eq!((bench.sender.phase, bench.window()), (Phase::Open, 2.0));
        bench.sender.limit = 8;
        assert_eq!(bench.send(), [4, 5]);
    }

    #[test]
    fn an_unnecessary_probe_does_not_reduce_the_window() {
        let mut bench = bench(2);
        assert_eq!(bench.send(), [0, 1]);
        assert_eq!(bench.at(100).process_ack(1, &[]), []);
        // PTO: two RTTs, and 200 ms for a single segment.
        assert_eq!(bench.sender.deadline, Time(TimeDelta::from_millis(500).0));
        assert!(!bench.expire());
        assert_eq!(bench.send(), [1]);
        // The acknowledgement was only slow, and the probe is reported as a duplicate after all data has arrived.
        bench.at(510).process_ack(2, &[]);
        assert!(bench.with(|tcp| tcp.rack_tlp().probe.is_some()));
        bench.at(610).process_ack(2, &[(1, 2)]);
        bench.sender.limit = 6;
        assert_eq!(bench.send(), [2, 3, 4, 5]);
        bench.at(710).process_ack(6, &[]);
        assert!(bench.window() >= 4.0 && bench.with(|tcp| tcp.rack_tlp().probe.is_none()));
    }

    #[test]
    fn a_necessary_probe_counts_as_a_loss_once_more_is_acknowledged() {
        let mut bench = bench(2);
        bench.send();
        bench.at(100).process_ack(1, &[]);
        bench.expire();
        assert_eq!(bench.send(), [1]);
        bench.sender.limit = 3;
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
        assert_eq!((bench.sender.phase, bench.sender.deadline), (Phase::Reducing, Time(TimeDelta::from_millis(300).0)));
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
        let rto = bench.with(|tcp| tcp.rack_tlp().rto);
        assert_eq!(rto, bench.with(|tcp| tcp.timeout_from_now()));
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
        assert_eq!(bench.sender.deadline, Time(TimeDelta::from_millis(300).0));
        assert!(!bench.expire());
        assert_eq!(bench.send(), [3]);
        // The example does not specify how much may be sent; PRR releases one segment for the one that has arrived.
        assert_eq!(bench.at(400).process_ack(1, &[(3, 4)]), [1]);
    }

    /// Section 6.2 of RFC 9937 literally, over the counters of a separate sender, with the names of the RFC.
    #[derive(Default)]
    struct Literal {
        recovery_point: u32,
        ssthresh: u32,
        recover_fs: u32,
        prr_delivered: u32,
        prr_out: u32,
        /// A timer has acted, not only acknowledgements.
        is_disturbed: bool,
    }

    impl Literal {
        fn snd_cnt(&mut self, delivered_data: u32, in_flight: u32, safe_ack: bool) -> u32 {
            self.prr_delivered += delivered_data;
            let mut snd_cnt = if in_flight > self.ssthresh && self.recover_fs > 0 {
                i64::from((self.prr_delivered * self.ssthresh).div_ceil(self.recover_fs)) - i64::from(self.prr_out)
            } else {
                let crb = i64::from(delivered_data).max(i64::from(self.prr_delivered) - i64::from(self.prr_out));
                let ssrb = if safe_ack { crb + 1 } else { crb };
                ssrb.min(i64::from(self.ssthresh) - i64::from(in_flight))
            };
            if self.prr_out == 0 && snd_cnt <= 0 {
                snd_cnt = 1;
            }
            snd_cnt.max(0) as u32
        }
    }

    /// Segments outstanding, reported, and lost without retransmission.
    fn state_of(bench: &SenderHarness) -> (u32, u32, u32) {
        let outstanding = bench.sender.snd_max - bench.sender.snd_una;
        if bench.sender.board == NONE {
            return (outstanding, 0, 0);
        }
        let rack = &bench.racks.at(bench.sender.board).rack;
        let sacked = rack.segs_sacked().0;
        (outstanding, sacked, outstanding - sacked - rack.in_flight().0)
    }

    #[test]
    fn in_recoveries_from_random_losses_transmissions_match_prr() {
        let (mut compared, mut recoveries) = (0, 0);
        for seed in 0..400 {
            let spec = TcpSpec { recovery: Recovery::RackTlp, receiver_window: Segments(1000), ..plain() };
            let start = Start { window: 8.0 + (seed % 40) as f64, ssthresh: 8.0, ..Start::default() };
            let mut path = LossyPath::new(SenderHarness::new(spec, start, u32::MAX), seed, [4, 10, 30][seed as usize % 3]);
            let mut literal: Option<Literal> = None;
            for _ in 0..400 {
                let (outstanding, sacked, lost) = state_of(&path.bench);
                let snd_una = path.bench.sender.snd_una;
                let Some(step) = path.step() else { break };
                let Step::ReceivedAck(received) = step else {
                    // It may have detected the start of a recovery.
                    let recovery_point = path.bench.sender.recovery_point;
                    literal = Some(Literal { is_disturbed: true, recovery_point, ..literal.unwrap_or_default() });
                    continue;
                };
                if !path.bench.sender.phase.is_recovery() {
                    literal = None;
                    continue;
                }
                let (outstanding_now, sacked_now, lost_now) = state_of(&path.bench);
                let acked = received.ack - snd_una;
                let sent = received.sent.len() as u32;
                let resent = received.sent.iter().filter(|&&segment| segment < snd_una + outstanding).count() as u32;
                // Without reordering, segments that are lost and not retransmitted are not delivered either.
                let newly_lost = lost_now + resent - lost;
                let in_flight = outstanding_now - (sent - resent) - sacked_now - (lost_now + resent);
                let delivered_data = (outstanding - sacked) - ((outstanding - acked) - sacked_now);
                let recovery_point = path.bench.sender.recovery_point;
                // One recovery may begin as another ends.
                literal = literal.filter(|literal| literal.recovery_point == recovery_point);
                recoveries += u32::from(literal.is_none());
                let model = literal.get_or_insert_with(|| Literal {
                    recovery_point,
                    ssthresh: path.bench.window() as u32,
                    // All segments that were outstanding and not known to have arrived before this acknowledgement.
                    recover_fs: outstanding - sacked,
                    prr_delivered: 0,
                    prr_out: 0,
                    is_disturbed: false,
                });
                let snd_cnt = model.snd_cnt(delivered_data, in_flight, acked > 0 && newly_lost == 0);
                if !model.is_disturbed {
                    assert_eq!(sent, snd_cnt, "seed {seed}, acknowledgement of {}", received.ack);
                    compared += 1;
                }
                model.prr_out += sent;
            }
        }
        assert!(compared > 10_000 && recoveries > 1000, "{compared} acknowledgements, {recoveries} recoveries");
    }
}
