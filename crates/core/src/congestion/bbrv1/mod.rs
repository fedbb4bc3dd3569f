//! BBR, version 1. The flow sends at most at the delivery rate, and has at most twice the product of that rate and the minimum RTT in
//! flight (Cardwell, Cheng, Hassas Yeganeh and Jacobson, draft-cardwell-iccrg-bbr-congestion-control-00, whose names and section numbers
//! are used here).
//!
//! Differs: in `draft_00` the first RTT of data provides the initial rate (4.2.1), not that of a handshake, and a phase of faster pacing ends
//! early in an episode of loss recovery, not after each loss (4.3.4.3). As in Linux, a recovery that begins at the acknowledgement that ends
//! another does not lower the window again.
//!
//! Many flows in a short buffer lose much, because each keeps at least four segments in flight except in the first round of a recovery: 30
//! flows over 20 Mbit/s, with 36 to 44 ms, starts within 2 s and 7 packets, lose 23 % with the settings of `linux/bbr` (a kernel's 24 %),
//! 100 flows 41 %, with 10.4 timeouts per flow in 15 s (a kernel's 38 % and 11.0; less in emulations whose clock slips).

mod long_term;
mod model;
mod state;
mod window;

use super::support::bbr::{ExtraAcked, FullPipe, MinRtt, PacingRate, ProbeRtt, Recovery, Repair, Rounds};
use super::support::heap_state::HeapState;
use super::support::windowed_max::WindowedMax;
use super::support::{Abilities, Ack, Cause, Congestion, Controller, Lost, RoundTrip, Start, Subscriptions};
use crate::primitives::random::Draws;
use crate::primitives::units::{Bytes, Cwnd, Rate, Segments, Time, TimeDelta};
use crate::settings::{ABOVE_ZERO, Kind, PlainWords, SettingConflict, Settings, conflicts, member, words};
use long_term::LongTerm;
use serde::{Deserialize, Serialize};
use state::{HIGH_GAIN, State};

member! {
    /// Paces at the estimated bottleneck bandwidth, with at most two bandwidth-delay products in flight (BBR version 1).
    Bbr1 = "bbrv1", "Cardwell, Cheng, Hassas Yeganeh and Jacobson, draft-cardwell-iccrg-bbr-congestion-control-00, 2017";

    pub struct Bbr1Spec {
        /// Maximum data in flight while bandwidth is probed, in bandwidth-delay products (cwnd_gain).
        cwnd_gain: f64 = 2.0 => Kind::Number { min: 1.0, max: 100.0 },
        /// Length of the maximum filter of the delivery rate, in RTTs (BtlBwFilterLen).
        btlbw_filter_len: u32 = 10 => Kind::Integer { min: 1, max: 1000 },
        /// Time after which the minimum RTT expires and is measured again (RTpropFilterLen).
        rtprop_filter_len: TimeDelta = TimeDelta::from_millis(10_000) => ABOVE_ZERO,
        /// Duration of ProbeRTT, during which almost nothing is in flight (ProbeRTTDuration).
        probe_rtt_duration: TimeDelta = TimeDelta::from_millis(200) => ABOVE_ZERO,
        /// Fraction by which the pacing rate stays below the estimated bandwidth. The draft has no margin; Linux uses 1 %.
        pacing_margin: f64 = 0.0 => Kind::Probability,
        /// Detect policers, as Linux does (lt_bw): after two consecutive intervals of at least four RTTs with at least 20 % of losses and
        /// delivery rates within an eighth, send at their mean for 48 RTTs.
        policer_detection: bool = false => Kind::Boolean,
        /// Widen the window by the greatest recent aggregation of acknowledgements (extra_acked of Linux and of
        /// draft-cardwell-iccrg-bbr-congestion-control-02).
        ack_aggregation: bool = false => Kind::Boolean,
        /// Rules in which Linux differs from the draft.
        edition: Bbr1Edition = Bbr1Edition::Draft00 => Kind::Words(&Bbr1Edition::WORDS),
    }
}

words! {
    /// Edition of BBR's rules. `linux` is observed in Linux 6.18, and most of it is in draft-cardwell-iccrg-bbr-congestion-control-02.
    pub enum Bbr1Edition ("edition") {
        /// draft-cardwell-iccrg-bbr-congestion-control-00.
        Draft00 = "draft_00",
        /// The RTT of the handshake is the first minimum and gives the initial rate; only a lower RTT, of the last delivered segment, renews
        /// it, in whole milliseconds if that is a retransmission. Gains of Startup and Drain are in parts of 256. Limits on data in flight are
        /// even numbers of segments, and greater by two in the phase of faster pacing, which ends at any loss once it has lasted an RTT.
        /// Losses that a timer finds do not reduce the window, and a timeout leaves one segment more than is in flight.
        Linux = "linux",
    }
}

impl Settings for Bbr1Spec {
    fn check(&self) -> Vec<SettingConflict> {
        conflicts! {
            error if self.pacing_margin == 1.0 => ["pacing_margin"], "`pacing_margin` of 1 stops all sending", "less than 1";
        }
    }

    fn samples() -> Vec<Bbr1Spec> {
        let usual = Bbr1Spec::default();
        let hasty =
            Bbr1Spec { rtprop_filter_len: TimeDelta::from_millis(50), probe_rtt_duration: TimeDelta::from_millis(1), ..usual };
        vec![
            usual,
            hasty,
            Bbr1Spec { cwnd_gain: 1.0, btlbw_filter_len: 1, pacing_margin: 0.01, policer_detection: true, ..usual },
            Bbr1Spec { ack_aggregation: true, edition: Bbr1Edition::Linux, ..usual },
        ]
    }
}

pub type Bbr1 = HeapState<Bbr1Memory>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bbr1Memory {
    spec: Bbr1Spec,
    packet: Bytes,
    initial_window: f64,
    draws: Draws,
    state: State,
    pacing: PacingRate,
    /// Delivery rates in segments per second, by rounds.
    btlbw_filter: WindowedMax<f64>,
    rounds: Rounds,
    full_pipe: FullPipe,
    rtprop: MinRtt,
    /// The RTT of the handshake.
    handshake: Option<TimeDelta>,
    recovery: Recovery,
    /// Fast recovery has begun since the last acknowledgement.
    enters_recovery: bool,
    /// Time of the last timeout.
    timed_out_at: Time,
    is_idle_restart: bool,
    long_term: LongTerm,
    extra_acked: ExtraAcked,
}

impl Bbr1 {
    pub(super) fn new(spec: &Bbr1Spec, start: Start) -> Bbr1 {
        let memory = Bbr1Memory {
            spec: *spec,
            packet: start.packet,
            initial_window: start.window,
            draws: start.draws,
            state: State::Startup,
            pacing: PacingRate::initial(Cwnd(HIGH_GAIN * start.window), None, start.packet),
            btlbw_filter: WindowedMax::default(),
            rounds: Rounds::default(),
            full_pipe: FullPipe::default(),
            rtprop: MinRtt::default(),
            handshake: None,
            recovery: Recovery::default(),
            enters_recovery: false,
            timed_out_at: Time::NEVER,
            is_idle_restart: false,
            long_term: LongTerm::new(start.packet),
            extra_acked: ExtraAcked::default(),
        };
        HeapState::with(start, memory)
    }

    /// BBRUpdateOnACK (4.1.1), for any acknowledgement.
    fn update(&mut self, ack: &Ack) {
        let memory = &mut *self.memory;
        let prior = ack.signal.pipe.unwrap_or(ack.in_flight);
        let delivered = memory.rounds.deliver(ack);
        let newly_lost = memory.long_term.lost_at(ack.now);
        let in_flight = Segments(prior.0.saturating_sub(delivered as u32 + newly_lost));
        memory.update_model(ack.now, ack.signal.delivered_rate.as_ref());
        let enters_recovery = memory.begin_conservation();
        if memory.spec.edition == Bbr1Edition::Linux {
            self.window = match enters_recovery {
                true => f64::from(in_flight.0) + delivered as f64,
                false => (self.window - f64::from(newly_lost)).max(1.0),
            };
        }
        if memory.spec.ack_aggregation && ack.signal.delivered_rate.is_some() {
            memory.update_ack_aggregation(ack.now, Segments(delivered as u32), Cwnd(self.window));
        }
        memory.advance_cycle(ack, Segments(newly_lost));
        memory.check_full_pipe(ack.signal.delivered_rate.as_ref());
        memory.check_drain(ack.now, in_flight);
        if memory.measure(ack) && !memory.is_idle_restart && !memory.probes_rtt() {
            memory.recovery.save(Cwnd(self.window));
            memory.state = State::ProbeRtt(ProbeRtt::default());
        }
        memory.is_idle_restart = false;
        self.check_probe_rtt(ack.now, in_flight);
        self.memory.set_pacing_rate();
        self.set_window(in_flight, delivered as f64);
    }
}

impl Controller for Bbr1 {
    const ABILITIES: Abilities = Abilities {
        heap_bytes: Self::BYTES,
        uses_start_details: true,
        ignores_losses: true,
        undoes_reductions: true,
        controls_recovery: true,
        quantities: &["bottleneck_bandwidth_bps", "rtprop_s", "pacing_gain", "state"],
        may_pace: true,
        subscriptions: Subscriptions { delivered_rate: true, losses: true, ..Subscriptions::NONE },
        ..Abilities::NONE
    };

    #[inline]
    fn window(&self) -> Cwnd {
        Cwnd(self.window)
    }

    #[inline]
    fn pacing(&self) -> Option<Rate> {
        Some(self.memory.pacing.on_wire())
    }

    fn quantity(&self, index: usize, _: Time) -> f64 {
        let memory = &self.memory;
        match index {
            0 => memory.bandwidth() * 8.0 * memory.packet.0 as f64,
            1 => memory.rtprop.value.map_or(f64::NAN, TimeDelta::seconds),
            2 => memory.pacing_gain(),
            3 => match memory.state {
                State::Startup => 0.0,
                State::Drain => 1.0,
                State::ProbeBw { .. } => 2.0,
                State::ProbeRtt(_) => 3.0,
            },
            _ => f64::NAN,
        }
    }

    /// The first RTT is that of the handshake, if there is one.
    #[inline]
    fn on_round_trip(&mut self, measured: &RoundTrip) {
        if self.memory.handshake.is_none() {
            self.memory.handshake = Some(measured.sample);
        }
    }

    fn on_ack(&mut self, ack: &Ack) {
        self.window = self.memory.recovery.on_ack(ack.acked, Cwnd(self.window)).0;
        self.update(ack);
    }

    fn on_other_ack(&mut self, ack: &Ack) {
        self.update(ack);
    }

    /// BBRModulateCwndForRecovery (4.2.3.4). The first losses of a recovery are no longer in the pipe to which it reduces the window. In Linux
    /// the losses of a timeout reduce the window at once, those that an acknowledgement reveals when it is processed, and no others.
    fn on_lost(&mut self, lost: &Lost) {
        let memory = &mut *self.memory;
        memory.long_term.on_lost(lost);
        let is_at_once = match memory.spec.edition {
            Bbr1Edition::Draft00 => memory.recovery.repair != Repair::Over,
            Bbr1Edition::Linux => memory.timed_out_at == lost.now,
        };
        if is_at_once {
            self.window = (self.window - 1.0).max(1.0);
        }
    }

    /// A mark has no effect but that the window before it may be restored.
    fn on_congestion(&mut self, context: &Congestion) {
        self.save_window();
        if context.cause == Cause::Mark || matches!(self.memory.recovery.repair, Repair::Fast { .. }) {
            return;
        }
        // In Linux the next acknowledgement sets the window, after a detection by the timer, too.
        if self.memory.spec.edition == Bbr1Edition::Draft00 {
            self.window = f64::from(context.pipe.0) + 1.0;
        }
        self.memory.enters_recovery = true;
        self.memory.recovery.repair = Repair::Fast { start_round: self.memory.rounds.count };
    }

    fn on_timeout(&mut self, context: &Congestion) {
        self.save_window();
        self.window = match self.memory.spec.edition {
            Bbr1Edition::Draft00 => 1.0,
            // The losses are still in the pipe.
            Bbr1Edition::Linux => f64::from(context.pipe.0) + 1.0,
        };
        self.memory.timed_out_at = context.now;
        self.memory.recovery.repair = Repair::Restarted { outstanding: context.in_flight.0 };
        let progress = self.memory.long_term.on_timeout(context.now, &self.memory.rounds);
        self.memory.update_long_term(&progress);
    }

    /// The window is restored; the model of the path stays.
    fn on_spurious_loss(&mut self) {
        self.memory.recovery.repair = Repair::Over;
        self.window = self.memory.recovery.restore(Cwnd(self.window)).0;
    }

    /// Pacing prevents bursts, and the window limits unacknowledged data, whether or not it is used.
    fn limit_window(&mut self, _: Cwnd) {}

    fn reduce_initial_window(&mut self, Cwnd(window): Cwnd) {
        self.window = window;
    }

    /// BBRHandleRestartFromIdle (4.3.4.4).
    fn on_idle(&mut self, _: TimeDelta) {
        self.memory.is_idle_restart = true;
        if matches!(self.memory.state, State::ProbeBw { .. }) {
            let rate = self.memory.bandwidth() * (1.0 - self.memory.spec.pacing_margin);
            self.memory.pacing.set(rate);
        }
    }
}

#[cfg(test)]
mod tests;
