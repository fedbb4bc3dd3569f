//! What may be sent while the window is being reduced: proportional rate reduction (RFC 9937, RFC 6937 before it). Where the window was halved at
//! once, nothing would leave for half a round trip, and then as much as arrives; here data leaves all the time, in proportion to what
//! is delivered, so that at the end there is a window of `ssthresh` in flight.
//!
//! The unit is the segment; names are the RFC's.

use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

/// From the begin of a reduction to its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prr {
    ssthresh: u32,
    /// RecoverFS: in flight when it began.
    recover_fs: u32,
    prr_delivered: u32,
    prr_out: u32,
    /// SndCnt, less what has been sent of it.
    snd_cnt: u32,
}

/// How a reduction begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) ssthresh: Segments,
    /// Segments outstanding, without those that had been delivered before the acknowledgement that began it.
    pub(crate) recover_fs: Segments,
}

/// What an acknowledgement says during a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// DeliveredData: segments acknowledged or SACKed by it for the first time.
    pub(crate) delivered: Segments,
    /// Segments thought to be in the network after it.
    pub(crate) in_flight: Segments,
    /// SafeACK: it moves on, and tells of no further loss.
    pub(crate) is_safe: bool,
}

impl Prr {
    pub(crate) fn begin(begin: &Begin) -> Prr {
        Prr { ssthresh: begin.ssthresh.0, recover_fs: begin.recover_fs.0.max(1), ..Prr::default() }
    }

    /// Section 6.2 of RFC 9937, on every acknowledgement from the one that began the reduction on.
    pub(crate) fn on_ack(&mut self, progress: &Progress) {
        let Progress { delivered: Segments(delivered), in_flight: Segments(in_flight), is_safe } = *progress;
        self.prr_delivered += delivered;
        let snd_cnt = if in_flight > self.ssthresh {
            let proportional = (u64::from(self.prr_delivered) * u64::from(self.ssthresh)).div_ceil(u64::from(self.recover_fs));
            (proportional as u32).saturating_sub(self.prr_out)
        } else {
            let conserving = self.prr_delivered.saturating_sub(self.prr_out).max(delivered);
            (conserving + u32::from(is_safe)).min(self.ssthresh - in_flight)
        };
        self.snd_cnt = if self.prr_out == 0 { snd_cnt.max(1) } else { snd_cnt };
    }

    /// The reordering timer has found losses: as much leaves the network's account, and may be sent.
    pub(crate) fn on_lost(&mut self, newly_lost: Segments) {
        self.snd_cnt += newly_lost.0;
    }

    /// The first repair leaves at once, whatever began the reduction.
    pub(crate) fn force_first(&mut self) {
        self.snd_cnt = self.snd_cnt.max(u32::from(self.prr_out == 0));
    }

    pub(crate) fn may_send(&self) -> bool {
        self.snd_cnt > 0
    }

    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1;
        self.snd_cnt = self.snd_cnt.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Acknowledgements, (delivered, in flight after them, SafeACK), and how many segments leave after each: all that may, if there is as much.
    fn sent(begin: &Begin, acks: &[(u32, u32, bool)]) -> Vec<u32> {
        let mut prr = Prr::begin(begin);
        let process_ack = |&(delivered, in_flight, is_safe): &(u32, u32, bool)| {
            prr.on_ack(&Progress { delivered: Segments(delivered), in_flight: Segments(in_flight), is_safe });
            let count = prr.snd_cnt;
            (0..count).for_each(|_| prr.on_sent());
            count
        };
        acks.iter().map(process_ack).collect()
    }

    #[test]
    fn one_loss_of_twenty_with_half_the_window_lets_every_second_acknowledgement_send() {
        // Twenty in flight, the first lost, Reno: ssthresh 10. The third duplicate has delivered one; 2 had been delivered before it.
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(18) };
        // In flight falls by one for each delivery and rises by what is sent: the repair leaves with the first.
        let mut in_flight = 16;
        let mut acks = Vec::new();
        let mut expected = Vec::new();
        for ack in 1..=16u32 {
            // CEIL(prr_delivered * 10 / 18) - prr_out while more than ten are in flight.
            let out: u32 = expected.iter().sum();
            let count = if in_flight > 10 { (ack * 10).div_ceil(18) - out } else { (ack - out).max(1).min(10 - in_flight) };
            acks.push((1, in_flight, false));
            expected.push(count);
            in_flight = in_flight + count - 1;
        }
        let leaves = sent(&begin, &acks);
        assert_eq!(leaves, expected);
        assert_eq!(leaves[..6], [1, 1, 0, 1, 0, 1]);
        assert!(leaves.iter().all(|&count| count <= 1));
    }

    #[test]
    fn a_burst_of_losses_is_answered_by_as_much_as_arrives_and_by_one_more_where_it_is_safe() {
        // RFC 9937 section 6.2: below ssthresh PRR-CRB conserves packets, PRR-SSRB adds one for an acknowledgement that moves on.
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(20) };
        assert_eq!(sent(&begin, &[(1, 4, false), (1, 4, false), (1, 4, true), (3, 3, true)]), [1, 1, 2, 4]);
        // Not beyond ssthresh.
        assert_eq!(sent(&begin, &[(5, 9, true)]), [1]);
    }

    #[test]
    fn the_first_repair_leaves_whatever_is_in_flight() {
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(20) };
        assert_eq!(sent(&begin, &[(0, 19, false), (0, 19, false)]), [1, 0]);
    }
}
