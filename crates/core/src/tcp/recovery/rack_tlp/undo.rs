//! Undo of spurious reductions. The first retransmission was unnecessary if the acknowledgement that covers it echoes an earlier
//! transmission (Eifel detection, RFC 3522), all of them if all are reported as duplicates (RFC 3708), and those after a timeout if a
//! segment arrives that was sent once (F-RTO, RFC 5682 section 3).

use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Segments, Time};
use crate::tcp::recovery::outcome::{Report, SavedState, SenderView};
use serde::{Deserialize, Serialize};

/// Information required to undo a reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Undo {
    saved: SavedState,
    /// Segments from here on were retransmitted.
    snd_una: SegmentNumber,
    eifel: Eifel,
    /// Number of retransmissions minus the ones reported as duplicates.
    unreported: u32,
}

/// The steps of RFC 3522 section 3.2.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Eifel {
    /// Step 1: nothing has been retransmitted.
    Reset,
    /// Steps 2 and 3: the first retransmission and its time (RetransmitTS).
    Retransmitted {
        segment: SegmentNumber,
        retransmit_ts: Time,
    },
    Done,
}

/// The steps of RFC 5682 section 3.1, with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FRto {
    Off,
    /// Step 2: only the oldest segment was retransmitted.
    Retransmitted,
    /// Step 3: new data is sent instead of possibly lost segments.
    NewData,
}

impl Undo {
    /// `retransmitted`: the segments that were retransmitted before and have not arrived.
    pub(super) fn new(saved: SavedState, snd_una: SegmentNumber, Segments(retransmitted): Segments) -> Undo {
        Undo { saved, snd_una, eifel: Eifel::Reset, unreported: retransmitted }
    }

    pub(super) fn on_retransmission(&mut self, segment: SegmentNumber, now: Time) {
        if let Eifel::Reset = self.eifel {
            self.eifel = Eifel::Retransmitted { segment, retransmit_ts: now };
        }
        self.unreported += 1;
    }

    /// Whether an acknowledgement without SACK blocks may decide.
    pub(super) fn awaits_echo(&self) -> bool {
        matches!(self.eifel, Eifel::Retransmitted { .. })
    }

    /// Step 4: the first acknowledgement that covers the first retransmission decides, and later ones do not. Differs: if the segment was
    /// SACKed before, nothing is decided, because echoes of duplicates belong to other segments (RFC 7323 section 4.3).
    fn is_older(&mut self, report: &Report, is_sacked: impl Fn(SegmentNumber) -> bool) -> bool {
        let Eifel::Retransmitted { segment, retransmit_ts } = self.eifel else { return false };
        let is_covered = report.incoming.ack > segment;
        if is_covered || is_sacked(segment) {
            self.eifel = Eifel::Done;
        }
        is_covered && report.incoming.echo < retransmit_ts
    }

    /// Whether this report is that of the last duplicate.
    fn are_all_duplicates(&mut self, report: &Report) -> bool {
        let is_later = |block: &SackBlock| block.0 >= self.snd_una;
        if self.unreported == 0 || !report.delivered.is_dsack || !report.incoming.blocks.first().is_some_and(is_later) {
            return false;
        }
        self.unreported -= 1;
        self.unreported == 0
    }
}

/// The state to restore if the reduction proves to be spurious. `f_rto` takes its next step.
pub(super) fn take_if_spurious(
    undo: &mut Option<Undo>,
    f_rto: &mut FRto,
    known: &SenderView,
    report: &Report,
    is_sacked: impl Fn(SegmentNumber) -> bool,
) -> Option<SavedState> {
    let Report { incoming, delivered, advanced } = report;
    let recovery_point = known.sequence.recovery_point;
    let step = std::mem::replace(f_rto, FRto::Off);
    let of = undo.as_mut()?;
    let are_all_duplicates = of.are_all_duplicates(report);
    let by_echo = known.spec.timestamps && of.is_older(report, is_sacked);
    // An acknowledgement of all data is inconclusive: it may be that of the retransmission (step 2a).
    let may_report = step == FRto::NewData || (step == FRto::Retransmitted && incoming.ack < recovery_point);
    let by_original = may_report && delivered.original.is_some_and(|segment| segment < recovery_point);
    if by_echo || by_original || are_all_duplicates {
        return undo.take().map(|undo| undo.saved);
    }
    let has_more = known.sequence.snd_max < known.sendable();
    match step {
        FRto::Retransmitted if *advanced == Segments(0) => *f_rto = step,
        FRto::Retransmitted if incoming.ack < recovery_point && has_more => *f_rto = FRto::NewData,
        _ => {}
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::Start;
    use crate::primitives::random::{Entity, Purpose, Stream};
    use crate::primitives::units::TimeDelta;
    use crate::tcp::bench::{SenderHarness, plain};
    use crate::tcp::lossy_path::{Faults, LossyPath, Step};
    use crate::tcp::{Recovery, TcpSpec};
    use std::collections::BTreeMap;

    /// The windows after each acknowledgement of a Reno sender of 800 segments that begins with a window of 60.
    fn windows(faults: &BTreeMap<u32, Option<TimeDelta>>) -> Vec<f64> {
        let spec = TcpSpec { recovery: Recovery::RackTlp, timestamps: true, receiver_window: Segments(1000), ..plain() };
        let start = Start { window: 60.0, ssthresh: 60.0, ..Start::default() };
        let mut path = LossyPath::with_faults(SenderHarness::new(spec, start, 800), Faults::Listed(faults.clone()));
        let mut windows = vec![path.bench.window()];
        while let Some(Step::ReceivedAck(_) | Step::Expired) = path.step() {
            windows.push(path.bench.window());
        }
        assert!(path.bench.sender.sequence.is_done());
        windows
    }

    /// Number of acknowledgements that multiply the window by a factor in this range. Otherwise they add at most a segment to 15 or more.
    fn count(windows: &[f64], factor: impl Fn(f64) -> bool) -> usize {
        windows.windows(2).filter(|pair| factor(pair[1] / pair[0])).count()
    }

    /// Four different segments, drawn within two windows.
    fn four_of(seed: u64) -> Vec<u32> {
        let stream = Stream::new(Entity { seed, name: "undo", index: 0 }, Purpose::Policy);
        let mut drawn: Vec<u32> = (0..4).map(|draw| 100 + (stream.bits(draw) >> 8) as u32 % 120).collect();
        drawn.sort_unstable();
        drawn.dedup();
        drawn
    }

    #[test]
    fn reductions_for_segments_that_were_lost_are_never_undone() {
        for seed in 0..500 {
            let lost = four_of(seed);
            let windows = windows(&lost.iter().map(|&segment| (segment, None)).collect());
            let (reductions, undos) = (count(&windows, |factor| factor < 0.8), count(&windows, |factor| factor > 1.2));
            assert!(reductions > 0 && undos == 0, "seed {seed}: {undos} of {reductions} undone with {lost:?} lost");
        }
    }

    #[test]
    fn reductions_for_segments_that_were_late_are_undone() {
        let mut undone = 0;
        for seed in 0..500 {
            // Late by more than three segments, the threshold, and by less than an RTT.
            let late = four_of(seed);
            let delay = Some(TimeDelta::from_millis(10 + seed % 80));
            let windows = windows(&late.iter().map(|&segment| (segment, delay)).collect());
            undone += count(&windows, |factor| factor > 1.2);
            // One acknowledgement may undo a reduction and begin the next, but in the end all are undone.
            assert!(windows.last() >= windows.first(), "seed {seed}: the window remains reduced with {late:?} late");
        }
        assert!(undone > 500, "{undone}");
    }
}
