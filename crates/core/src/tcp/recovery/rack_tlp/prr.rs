//! Proportional rate reduction (RFC 9937, previously RFC 6937): transmission while the window is being reduced. If the window were halved
//! at once, nothing would be sent for half an RTT, and then at the rate of arrivals. With PRR, transmission continues throughout the
//! reduction in proportion to deliveries, and ends with a window of `ssthresh` in flight.
//!
//! The unit is the segment; names are from the RFC.

use crate::primitives::units::Segments;
use serde::{Deserialize, Serialize};

/// State from the beginning of a reduction to its end.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Prr {
    ssthresh: u32,
    /// RecoverFS: data in flight at the beginning.
    recover_fs: u32,
    prr_delivered: u32,
    prr_out: u32,
    /// SndCnt, minus the segments already sent.
    snd_cnt: u32,
}

/// Start of a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Begin {
    pub(crate) ssthresh: Segments,
    /// Segments outstanding, except those delivered before the acknowledgement that started the reduction.
    pub(crate) recover_fs: Segments,
}

/// An acknowledgement during a reduction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Progress {
    /// DeliveredData: segments acknowledged or SACKed by it for the first time.
    pub(crate) delivered: Segments,
    /// Estimated number of segments in the network after it.
    pub(crate) in_flight: Segments,
    /// SafeACK: it advances, and reports no further loss.
    pub(crate) is_safe: bool,
}

impl Prr {
    pub(crate) fn begin(begin: &Begin) -> Prr {
        Prr { ssthresh: begin.ssthresh.0, recover_fs: begin.recover_fs.0.max(1), ..Prr::default() }
    }

    /// Section 6.2 of RFC 9937, for every acknowledgement from the one that started the reduction on.
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

    /// The reordering timer has found losses: these segments no longer count as in the network, and as many may be sent.
    pub(crate) fn on_lost(&mut self, newly_lost: Segments) {
        self.snd_cnt += newly_lost.0;
    }

    /// The first retransmission is sent immediately, whatever started the reduction.
    pub(crate) fn force_first(&mut self) {
        self.snd_cnt = self.snd_cnt.max(u32::from(self.prr_out == 0));
    }

    pub(crate) fn permitted(&self) -> Segments {
        Segments(self.snd_cnt)
    }

    pub(crate) fn on_sent(&mut self) {
        self.prr_out += 1;
        self.snd_cnt = self.snd_cnt.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of segments sent after each acknowledgement (delivered, in flight after it, SafeACK), if all permitted segments are sent.
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
    fn with_one_loss_of_twenty_and_half_the_window_every_second_acknowledgement_sends() {
        // Twenty in flight, the first lost, Reno: ssthresh 10. The third duplicate has delivered one; 2 had been delivered before it.
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(18) };
        // The data in flight falls by one per delivery and rises by each transmission: the retransmission is sent on the first.
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
    fn in_a_burst_of_losses_transmissions_equal_deliveries_and_one_more_if_safe() {
        // RFC 9937 section 6.2: below ssthresh PRR-CRB conserves packets, PRR-SSRB adds one for an acknowledgement that advances.
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(20) };
        assert_eq!(sent(&begin, &[(1, 4, false), (1, 4, false), (1, 4, true), (3, 3, true)]), [1, 1, 2, 4]);
        // Not beyond ssthresh.
        assert_eq!(sent(&begin, &[(5, 9, true)]), [1]);
    }

    #[test]
    fn the_first_retransmission_is_sent_whatever_is_in_flight() {
        let begin = Begin { ssthresh: Segments(10), recover_fs: Segments(20) };
        assert_eq!(sent(&begin, &[(0, 19, false), (0, 19, false)]), [1, 0]);
    }
}
