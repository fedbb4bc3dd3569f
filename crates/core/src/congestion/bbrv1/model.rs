//! The model of the path: bandwidth and minimum RTT, the phases that follow from them, and the limits on data in flight (4.1 to 4.3).

use super::long_term;
use super::state::{CYCLE, FirstGains, HIGH_GAIN, State};
use super::{Bbr1Edition, Bbr1Memory};
use crate::congestion::support::Ack;
use crate::congestion::support::bbr::{PacingRate, Repair};
use crate::congestion::support::windowed_max::Observation;
use crate::primitives::signal::RateSample;
use crate::primitives::units::{Cwnd, Segments, Time, TimeDelta};

/// Rounds of a period, of which the present and the previous one count (bbr_extra_acked_win_rtts of Linux), and the greatest aggregation in
/// time at the estimated bandwidth (bbr_extra_acked_max_us).
const AGGREGATION_ROUNDS: u64 = 5;
const MAX_AGGREGATION: TimeDelta = TimeDelta::from_millis(100);

/// Linux sends at once what the pacing rate carries in this time, in seconds (sk_pacing_shift).
const LINUX_QUANTUM_S: f64 = 1.0 / 1024.0;

impl Bbr1Edition {
    /// Gains of Startup and Drain: of the draft, or in Linux in parts of 256 (bbr_high_gain, bbr_drain_gain).
    pub(super) fn first_gains(self) -> FirstGains {
        match self {
            Bbr1Edition::Draft00 => FirstGains { startup: HIGH_GAIN, drain: 1.0 / HIGH_GAIN },
            Bbr1Edition::Linux => FirstGains { startup: 739.0 / 256.0, drain: 88.0 / 256.0 },
        }
    }
}

impl Bbr1Memory {
    pub(super) fn probes_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    pub(super) fn pacing_gain(&self) -> f64 {
        match self.state {
            State::ProbeBw { .. } if self.long_term.bandwidth().is_some() => 1.0,
            state => state.pacing_gain(self.spec.edition.first_gains()),
        }
    }

    pub(super) fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.spec.edition.first_gains().startup,
            State::ProbeBw { .. } => self.spec.cwnd_gain,
            State::ProbeRtt(_) => 1.0,
        }
    }

    /// BtlBw, in segments per second.
    pub(super) fn max_bandwidth(&self) -> f64 {
        self.btlbw_filter.greatest().unwrap_or(0.0)
    }

    /// The rate of a policer, or BtlBw.
    pub(super) fn bandwidth(&self) -> f64 {
        self.long_term.bandwidth().unwrap_or_else(|| self.max_bandwidth())
    }

    /// BBRUpdateBtlBw and BBRUpdateRound (4.1.1).
    pub(super) fn update_model(&mut self, now: Time, sample: Option<&RateSample>) {
        self.rounds.update(sample.map(|sample| sample.prior_delivered));
        if let Some(sample) = sample.filter(|_| self.rounds.started) {
            // Acknowledgements without a sample count as deliveries, too, and may be ahead of its count.
            self.rounds.end_after(sample.delivered);
        }
        if let Some(sample) = sample {
            let progress = self.long_term.on_ack(now, &self.rounds, sample);
            self.update_long_term(&progress);
        }
        if let Some(sample) = sample.filter(|sample| sample.rate >= self.max_bandwidth() || !self.rounds.is_app_limited(sample)) {
            let oldest = self.rounds.count.saturating_sub(u64::from(self.spec.btlbw_filter_len));
            self.btlbw_filter.take(Observation { at: self.rounds.count, value: sample.rate }, oldest);
        }
    }

    pub(super) fn update_long_term(&mut self, progress: &long_term::Progress) {
        let counts = progress.ends_round && matches!(self.state, State::ProbeBw { .. });
        if counts && self.long_term.expires() {
            self.enter_probe_bw(progress.now);
        } else if self.spec.policer_detection {
            self.long_term.sample(progress);
        }
    }

    /// BBRInflight: this multiple of the bandwidth-delay product, plus an allowance for delayed and aggregated acknowledgements.
    pub(super) fn inflight(&self, gain: f64) -> f64 {
        self.rtprop.products(gain * self.bandwidth()).map_or(self.initial_window, |product| self.with_budget(product))
    }

    /// The window of BBRSetCwnd, with the allowance for aggregation that BBRv1 has since draft-cardwell-iccrg-bbr-congestion-control-02.
    pub(super) fn target_window(&self) -> f64 {
        let extra = match self.full_pipe.reached {
            true => self.extra_acked.max().min(MAX_AGGREGATION.seconds() * self.bandwidth()),
            false => 0.0,
        };
        let product = self.rtprop.products(self.cwnd_gain() * self.bandwidth());
        product.map_or(self.initial_window, |product| self.with_budget(product + extra))
    }

    /// Adds the allowance for delayed acknowledgements and for segments that are sent together (BBRQuantizationBudget).
    fn with_budget(&self, target: f64) -> f64 {
        let budget = 3.0 * self.send_quantum();
        match self.spec.edition {
            Bbr1Edition::Draft00 => target + budget,
            Bbr1Edition::Linux => {
                let probing = if matches!(self.state, State::ProbeBw { phase: 0, .. }) { 2.0 } else { 0.0 };
                2.0 * ((target.ceil() + budget) / 2.0).ceil() + probing
            }
        }
    }

    /// BBRUpdateACKAggregation. The greatest aggregation of the last five to ten rounds counts.
    pub(super) fn update_ack_aggregation(&mut self, now: Time, delivered: Segments, Cwnd(window): Cwnd) {
        if delivered == Segments(0) {
            return;
        }
        let extra = self.extra_acked.excess(now, delivered, self.bandwidth()).min(window);
        let period = self.rounds.count / AGGREGATION_ROUNDS;
        self.extra_acked.filter.take(Observation { at: period, value: extra }, period.saturating_sub(1));
    }

    /// BBRSetSendQuantum (4.2.2), in segments.
    pub(super) fn send_quantum(&self) -> f64 {
        let (per_second, bits) = (self.pacing.per_second(), 8.0 * self.packet.0 as f64);
        let most = 8.0 * 65_536.0 / bits;
        match self.spec.edition {
            _ if per_second * bits < 1.2e6 => 1.0,
            Bbr1Edition::Draft00 if per_second * bits < 24e6 => 2.0,
            Bbr1Edition::Draft00 => (per_second * 1e-3).min(most),
            Bbr1Edition::Linux => (per_second * LINUX_QUANTUM_S).min(most).floor().max(2.0),
        }
    }

    /// BBRCheckCyclePhase (4.3.4.3). `newly_lost`: losses that the acknowledgement reveals.
    pub(super) fn advance_cycle(&mut self, ack: &Ack, newly_lost: Segments) {
        let State::ProbeBw { phase, since } = self.state else { return };
        // In flight before the acknowledgement.
        let prior = f64::from(ack.signal.pipe.unwrap_or(ack.in_flight).0);
        let gain = self.pacing_gain();
        let is_full_length = self.rtprop.value.is_some_and(|rtprop| ack.now.since(since) > rtprop);
        let (has_loss, about_to_leave) = match self.spec.edition {
            Bbr1Edition::Draft00 => (self.recovery.repair != Repair::Over, 0.0),
            Bbr1Edition::Linux => (newly_lost > Segments(0), self.send_quantum()),
        };
        let is_over = match gain {
            more if more > 1.0 => is_full_length && (has_loss || prior + about_to_leave >= self.inflight(gain)),
            less if less < 1.0 => is_full_length || prior <= self.inflight(1.0),
            _ => is_full_length,
        };
        if is_over {
            self.state = State::ProbeBw { phase: (phase + 1) % CYCLE.len() as u8, since: ack.now };
        }
    }

    /// BBREnterProbeBW: starts in any phase except the one of slower pacing.
    pub(super) fn enter_probe_bw(&mut self, now: Time) {
        let skipped = (self.draws.uniform() * 7.0) as u8;
        self.state = State::ProbeBw { phase: (8 - skipped) % 8, since: now };
    }

    /// BBRCheckFullPipe (4.3.2.2).
    pub(super) fn check_full_pipe(&mut self, sample: Option<&RateSample>) {
        if self.rounds.started && sample.is_some_and(|sample| !self.rounds.is_app_limited(sample)) {
            self.full_pipe.end_round(self.max_bandwidth());
        }
    }

    /// BBRCheckDrain (4.3.3). In Linux, what Startup is about to send counts as sent.
    pub(super) fn check_drain(&mut self, now: Time, in_flight: Segments) {
        let mut about_to_leave = 0.0;
        if self.state == State::Startup && self.full_pipe.reached {
            if self.spec.edition == Bbr1Edition::Linux {
                about_to_leave = self.send_quantum();
            }
            self.state = State::Drain;
        }
        if self.state == State::Drain && f64::from(in_flight.0) + about_to_leave <= self.inflight(1.0) {
            self.enter_probe_bw(now);
        }
    }

    /// BBRUpdateRTprop (4.1.2). Returns whether the minimum RTT had expired.
    pub(super) fn measure(&mut self, ack: &Ack) -> bool {
        let is_expired = self.rtprop.has_expired(ack.now, self.spec.rtprop_filter_len);
        let (rtt, equal_confirms) = match self.spec.edition {
            // With a delayed acknowledgement, the timestamp is that of the first segment.
            Bbr1Edition::Draft00 => (ack.rtt, true),
            Bbr1Edition::Linux => (ack.signal.delivered_rate.and_then(|sample| sample.rtt), false),
        };
        if let Some(rtt) = rtt {
            if self.rtprop.value.is_none() {
                let first = match self.spec.edition {
                    Bbr1Edition::Draft00 => rtt,
                    Bbr1Edition::Linux => self.handshake.unwrap_or(rtt),
                };
                let window =
                    Cwnd(self.spec.edition.first_gains().startup * self.initial_window * (1.0 - self.spec.pacing_margin));
                self.pacing = PacingRate::initial(window, Some(first), self.packet);
                self.rtprop.set(first, ack.now);
            }
            if is_expired || self.rtprop.is_above(rtt) || (equal_confirms && self.rtprop.value == Some(rtt)) {
                self.rtprop.set(rtt, ack.now);
            }
        }
        is_expired
    }

    /// BBRSetPacingRate (4.2.1).
    pub(super) fn set_pacing_rate(&mut self) {
        let rate = self.pacing_gain() * self.bandwidth() * (1.0 - self.spec.pacing_margin);
        self.pacing.update(rate, &self.full_pipe);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Bbr1, Bbr1Spec};
    use super::*;
    use crate::congestion::support::{Cause, Congestion, Controller, Start};
    use crate::primitives::signal::Signal;
    use crate::primitives::units::Bytes;

    /// Linux 6.12.117 at 6.52 Mbit/s and 7.03 ms: 125.5 us, half a gap, between the first two paced segments, and three quanta of three segments
    /// in a window of 22.
    #[test]
    fn as_in_linux_the_initial_rate_has_the_margin_and_quanta_are_whole() {
        let spec = Bbr1Spec { edition: Bbr1Edition::Linux, pacing_margin: 0.01, ..Bbr1Spec::default() };
        let mut memory = Bbr1::new(&spec, Start { window: 10.0, packet: Bytes(1500), ..Start::default() }).memory;
        memory.handshake = Some(TimeDelta::from_micros(7_168));
        let rtt = Some(TimeDelta::from_micros(8_990));
        let sample = RateSample {
            rate: 111.0,
            app_limited: false,
            delivered: 2,
            prior_delivered: 1,
            prior_lost: 0,
            in_flight: Segments(10),
            rtt,
        };
        memory.measure(&Ack {
            rtt,
            signal: Signal { delivered_rate: Some(sample), ..Signal::default() },
            ..Ack::of_one(Time::ZERO)
        });
        let half_gap_us = 0.5e6 / memory.pacing.per_second();
        assert!((half_gap_us - 125.5).abs() < 0.1, "{half_gap_us}");
        assert_eq!(memory.send_quantum(), 3.0);
    }

    /// Linux 6.12.117 with four flows at 8.3 Mbit/s and 23.7 ms: segments that the reordering timer finds lost leave at the pacing rate until
    /// the next acknowledgement begins to conserve packets.
    #[test]
    fn as_in_linux_losses_of_a_timer_leave_the_window_to_the_next_acknowledgement() {
        let window_after_timer = |edition| {
            let spec = Bbr1Spec { edition, ..Bbr1Spec::default() };
            let mut law = Bbr1::new(&spec, Start { window: 20.0, packet: Bytes(1500), ..Start::default() });
            let at = |ms| Time(TimeDelta::from_millis(ms).0);
            law.on_congestion(&Congestion { pipe: Segments(13), ..Congestion::of(at(10), Segments(20)) });
            let by_timer = law.window().0;
            law.on_other_ack(&Ack { in_flight: Segments(14), now: at(11), ..Ack::of_one(at(11)) });
            (by_timer, law.window().0)
        };
        assert_eq!(window_after_timer(Bbr1Edition::Draft00), (14.0, 14.0));
        assert_eq!(window_after_timer(Bbr1Edition::Linux), (20.0, 14.0));
    }

    /// Linux 6.12.117 with ECN at 17.7 Mbit/s and 274 ms behind FQ-CoDel: Startup goes on after the first marks, and the losses after them begin
    /// to conserve packets.
    #[test]
    fn marks_leave_the_window_and_losses_after_them_do_not() {
        let spec = Bbr1Spec { edition: Bbr1Edition::Linux, ..Bbr1Spec::default() };
        let mut law = Bbr1::new(&spec, Start { window: 20.0, packet: Bytes(1500), ..Start::default() });
        let mut after = |ms, cause| {
            let now = Time(TimeDelta::from_millis(ms).0);
            law.on_congestion(&Congestion { pipe: Segments(13), cause, ..Congestion::of(now, Segments(20)) });
            law.on_other_ack(&Ack { in_flight: Segments(14), now, ..Ack::of_one(now) });
            law.window().0
        };
        assert_eq!([(10, Cause::Mark), (11, Cause::Loss)].map(|(ms, cause)| after(ms, cause)), [21.0, 14.0]);
    }

    /// The same: Drain begins with 11 segments in flight, which its limit of 12 permits, and lasts until the next acknowledgement.
    #[test]
    fn as_in_linux_what_startup_is_about_to_send_counts_for_the_end_of_drain() {
        let drains = |edition, state| {
            let spec = Bbr1Spec { edition, ..Bbr1Spec::default() };
            let mut memory = Bbr1::new(&spec, Start { window: 10.0, packet: Bytes(1500), ..Start::default() }).memory;
            memory.rtprop.set(TimeDelta::from_millis(25), Time::ZERO);
            memory.btlbw_filter.take(Observation { at: 1, value: 200.0 }, 0);
            memory.pacing.set(600.0);
            memory.full_pipe.fill();
            memory.state = state;
            memory.check_drain(Time::ZERO, Segments(11));
            memory.state == State::Drain
        };
        assert!(drains(Bbr1Edition::Linux, State::Startup) && !drains(Bbr1Edition::Linux, State::Drain));
        assert!(!drains(Bbr1Edition::Draft00, State::Startup));
    }
}
