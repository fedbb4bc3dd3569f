//! Losses of data: recorded in a comment of the capture, or inferred from a retransmission.

use super::sequence::SequenceRange;
use crate::time::Timestamp;

/// The losses of a direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Losses {
    rows: Vec<Loss>,
    /// Indices of recorded losses that were not repaired yet.
    unrepaired: Vec<u32>,
    pub(crate) left_out: u64,
}

/// A lost transmission of data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loss {
    pub(crate) data: SequenceRange,
    /// When it was sent, if it was captured.
    pub(crate) sent: Option<Timestamp>,
    pub(crate) repair: Option<Repair>,
    pub(crate) evidence: Evidence,
}

/// The retransmission of lost data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Repair {
    pub(crate) at: Timestamp,
    pub(crate) by: RepairKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepairKind {
    FastRetransmission,
    /// A tail loss probe.
    Probe,
    Timeout,
}

/// How a loss is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// A comment of the capture records it.
    Recorded(Drop),
    /// The data were retransmitted.
    Retransmission,
    /// The data were retransmitted, but a D-SACK block (RFC 2883) reports that they had arrived, or they arrived later: nothing
    /// was lost.
    Refuted,
}

/// Queue and reason of a discard, from the comment that Tailback writes: `discarded at QUEUE: REASON at TIME s`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drop {
    pub(crate) queue: Box<str>,
    pub(crate) reason: Box<str>,
}

impl Drop {
    pub(crate) fn of(comment: &str) -> Option<Drop> {
        let (place, _time) = comment.strip_prefix("discarded at ")?.rsplit_once(" at ")?;
        let (queue, reason) = place.rsplit_once(": ")?;
        Some(Drop { queue: queue.into(), reason: reason.into() })
    }
}

/// Losses of a direction that are stored; they bound the memory.
const MAX: usize = 1 << 16;

impl Losses {
    pub(crate) fn rows(&self) -> &[Loss] {
        &self.rows
    }

    /// A comment records that these data, which are being sent, are discarded.
    pub(crate) fn record(&mut self, data: SequenceRange, at: Timestamp, drop: Drop) {
        let loss = Loss { data, sent: Some(at), repair: None, evidence: Evidence::Recorded(drop) };
        if let Some(row) = self.push(loss) {
            self.unrepaired.push(row);
        }
    }

    /// Data that were last sent at `sent` are retransmitted. Returns the row of a loss that is inferred from this.
    pub(crate) fn repair(&mut self, data: SequenceRange, sent: Option<Timestamp>, repair: Repair) -> Option<u32> {
        let mut is_recorded = false;
        self.unrepaired.retain(|&row| {
            let loss = &mut self.rows[row as usize];
            let is_repaired = loss.data.overlap(data).is_some();
            if is_repaired {
                loss.repair = Some(repair);
                is_recorded = true;
            }
            !is_repaired
        });
        if is_recorded {
            return None;
        }
        self.push(Loss { data, sent, repair: Some(repair), evidence: Evidence::Retransmission })
    }

    /// The receiver reports that it had these data.
    pub(crate) fn refute(&mut self, row: u32) {
        self.rows[row as usize].evidence = Evidence::Refuted;
    }

    fn push(&mut self, loss: Loss) -> Option<u32> {
        if self.rows.len() == MAX {
            self.left_out += 1;
            return None;
        }
        self.rows.push(loss);
        Some(self.rows.len() as u32 - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_of_tailback_name_queue_and_reason() {
        let drop = Drop { queue: "left at 5: a".into(), reason: "full".into() };
        assert_eq!(Drop::of("discarded at left at 5: a: full at 1.234567891 s"), Some(drop));
        assert_eq!(Drop::of("discarded at home"), None);
        assert_eq!(Drop::of("a comment"), None);
    }

    #[test]
    fn a_retransmission_repairs_recorded_losses_and_otherwise_implies_one() {
        let range = |start, end| SequenceRange { start, end };
        let repair = |at, by| Repair { at: Timestamp(at), by };
        let mut losses = Losses::default();
        let drop = Drop::of("discarded at bottleneck: full at 1 s").unwrap();
        losses.record(range(0, 10), Timestamp(1), drop.clone());
        losses.record(range(20, 30), Timestamp(2), drop);
        assert_eq!(losses.repair(range(0, 10), Some(Timestamp(1)), repair(5, RepairKind::FastRetransmission)), None);
        assert_eq!(losses.repair(range(0, 10), Some(Timestamp(5)), repair(9, RepairKind::Timeout)), Some(2));
        losses.refute(2);
        let repairs: Vec<_> = losses.rows().iter().map(|loss| loss.repair.map(|repair| repair.at.0)).collect();
        assert_eq!(repairs, [Some(5), None, Some(9)]);
        assert_eq!(losses.rows()[2].evidence, Evidence::Refuted);
    }
}
