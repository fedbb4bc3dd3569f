//! Acknowledgements as reports of the delivery of single segments, for recovery by time.

use super::Tcp;
use super::acknowledgements::RttSamples;
use crate::congestion::{Ack, Cause, Controller, Controllers};
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::observed::Signalled;
use crate::tcp::recovery::outcome::{LossDetection, Report, SavedState, TimeRecovery};
use crate::tcp::sequence::{IncomingAck, Phase};
use crate::tcp::signal_reader::AckExtras;

impl Tcp<'_> {
    /// An acknowledgement arrived. Returns its RTT sample.
    pub(super) fn on_deliveries(&mut self, incoming: &IncomingAck, extras: &AckExtras) -> Option<TimeDelta> {
        let snd_una = self.sender.sequence.snd_una;
        if incoming.ack < snd_una {
            // It was overtaken, but its SACK blocks may report deliveries that no other acknowledgement has reported, as in Linux.
            let blocks: Vec<_> = incoming.blocks.iter().filter(|&&(_, end)| end > snd_una).copied().collect();
            if !blocks.is_empty() {
                self.process_deliveries(&IncomingAck { ack: snd_una, blocks: &blocks, ..*incoming }, extras, None);
            }
            return None;
        }
        let rtt = self.spec.timestamps.then(|| self.now.since(incoming.echo));
        self.process_deliveries(incoming, extras, rtt)
    }

    /// An acknowledgement that is not older than the last one, with the RTT by its timestamp. Returns its RTT sample.
    fn process_deliveries(
        &mut self,
        incoming: &IncomingAck,
        extras: &AckExtras,
        by_timestamp: Option<TimeDelta>,
    ) -> Option<TimeDelta> {
        let advanced = incoming.ack - self.sender.sequence.snd_una;
        let (recovery, known) = self.recovery();
        let delivered = recovery.expect_by_time().on_arrival(&known, incoming);
        if delivered.is_dsack
            && self.spec.limit_dsacks
            && let Some(reader) = &mut self.reader
        {
            reader.on_duplicate();
        }
        let report = Report { incoming, delivered, advanced };
        if self.sender.sequence.outstanding() == Segments(0) {
            // All data has arrived; the acknowledgement may report duplicates.
            self.process_report(&report);
            return None;
        }
        let rtt = if self.spec.timestamps { by_timestamp } else { delivered.rtt };
        if advanced > Segments(0) {
            self.validate(incoming.ack);
        }
        let samples = RttSamples::of::<Signalled>(rtt, extras);
        let mut ack = self.ack::<Signalled>(delivered.segments, samples.newest, extras);
        self.measure(samples, incoming.ack);
        let sequence = &mut self.sender.sequence;
        sequence.snd_una = incoming.ack;
        if advanced > Segments(0) {
            sequence.timed_out = false;
        }
        self.process_report(&report);
        let next = if delivered.is_in_order { None } else { self.detect_losses(&report) };
        self.notify_controller(&mut ack, &report, extras);
        self.arm(next);
        rtt
    }

    /// Detects losses, and the end and the start of an episode. Returns the time of the next detection, if one is due.
    #[inline(never)]
    fn detect_losses(&mut self, report: &Report) -> Option<Time> {
        let losses = self.losses();
        let (recovery, known) = self.recovery();
        let mut found = recovery.expect_by_time().find_losses(&known, report, losses);
        self.apply(&mut found);
        if self.sender.sequence.phase.is_reduction() {
            let (recovery, known) = self.recovery();
            recovery.expect_by_time().on_reduction_ack(&known, report, &found);
        }
        found.next
    }

    /// Processes reports of needless transmissions: they may undo a reduction, and acknowledge a probe.
    #[inline]
    fn process_report(&mut self, report: &Report) {
        let (recovery, known) = self.recovery();
        if let Some(saved) = recovery.expect_by_time().on_report(&known, report) {
            self.undo(saved);
        }
        if report.delivered.is_in_order {
            return;
        }
        let (recovery, known) = self.recovery();
        if let Some(outstanding) = recovery.expect_by_time().on_probe_ack(&known, report) {
            self.sender.sequence.note_reduction();
            self.reduce(outstanding, Cause::Loss);
        }
    }

    /// The last reduction was spurious.
    fn undo(&mut self, saved: SavedState) {
        let sender = &mut *self.sender;
        sender.sequence.repairs = false;
        sender.sequence.withdraw_reduction(saved.reduced_at);
        if sender.controller.abilities().undoes_reductions {
            sender.controller.on_spurious_loss();
        } else if saved.controller.window() > sender.controller.window() {
            sender.controller.undo_reduction(saved.controller);
        }
        if matches!(sender.sequence.phase, Phase::Recovery | Phase::Timeout) {
            sender.sequence.phase = Phase::Open;
        }
        if let Some(usage) = &mut self.usage {
            usage.on_withdrawn();
        }
    }

    /// The state before a reduction, if it can be restored. User controllers are not copied; and a timeout within a recovery has two
    /// causes, one of them possibly a real loss.
    pub(super) fn saved(&self) -> Option<SavedState> {
        let sender = &*self.sender;
        let is_recovering = matches!(sender.sequence.phase, Phase::Recovery | Phase::Timeout);
        let can = sender.recovery.is_by_time() && !is_recovering && !matches!(sender.controller, Controllers::User(_));
        can.then(|| SavedState { controller: sender.controller.clone(), reduced_at: sender.sequence.reduced_at() })
    }

    /// Losses were sought: the end of an episode, the losses, and the start of an episode.
    #[inline]
    pub(super) fn apply(&mut self, found: &mut LossDetection) {
        if found.ends {
            self.sender.sequence.phase = Phase::Open;
        }
        found.lost.iter().for_each(|&segment| self.lose(segment));
        if let Some(entry) = found.enters.take() {
            self.enter_recovery(entry);
        }
    }

    /// Sets the timer for the next detection of losses, if one is due, or leaves it to [`Tcp::rearm`].
    #[inline]
    pub(super) fn arm(&mut self, next: Option<Time>) {
        let (recovery, known) = self.recovery();
        if let Some(deadline) = recovery.expect_by_time().arm(&known, next) {
            self.sender.timer.deadline = deadline;
        }
    }

    /// Sets the timer of a recovery by time after all segments were sent that may be sent now.
    #[inline]
    pub(crate) fn rearm(&mut self) {
        let (recovery, known) = self.recovery();
        if let Some(deadline) = recovery.by_time_mut().and_then(|recovery| recovery.rearm(&known)) {
            self.sender.timer.deadline = deadline;
        }
    }

    /// Passes new data to the controller unless the window is being reduced; also the acknowledgement that ends the reduction.
    #[inline]
    fn notify_controller(&mut self, ack: &mut Ack, report: &Report, extras: &AckExtras) {
        let opens = report.advanced > Segments(0) || report.delivered.opens_window;
        if !opens || self.sender.sequence.phase.is_reduction() {
            if extras.signal.is_some() {
                ack.window_validated = false;
                self.sender.controller.on_other_ack(ack);
            }
            return;
        }
        if self.slow_start_state.is_some() {
            ack.counted = self.monitor_slow_start(ack);
        }
        self.sender.controller.on_stored_ack(ack);
    }
}
