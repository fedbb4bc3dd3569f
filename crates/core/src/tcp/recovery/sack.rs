//! SACK-based recovery (RFC 6675): the scoreboard says what is lost and how much is in the network (`pipe`).

use super::{limited_transmit, may_enter, open};
use crate::congestion::Ack;
use crate::primitives::units::Segments;
use crate::tcp::sender::{NONE, Phase, Tcp};

pub(super) fn on_duplicate(tcp: &mut Tcp, blocks: &[(u32, u32)]) {
    if !update(tcp, blocks) {
        // RFC 6675 section 2: without new SACK information it is no duplicate.
        tcp.sender.duplicates -= 1;
        return;
    }
    if !may_enter(tcp) {
        return;
    }
    let Some(dup_thresh) = tcp.spec.fast_retransmit else { return };
    let una = tcp.sender.una;
    let lost = tcp.board().is_lost(una, Segments(dup_thresh));
    if tcp.sender.duplicates < dup_thresh && !lost {
        return limited_transmit(tcp);
    }
    tcp.enter_recovery();
    tcp.sender.extra = 0;
    let board = tcp.board();
    board.begin_recovery(una);
    board.resend(una);
}

pub(super) fn on_new_ack(tcp: &mut Tcp, ack: &Ack, blocks: &[(u32, u32)]) {
    if tcp.sender.board == NONE && blocks.is_empty() && !tcp.sender.phase.is_recovery() {
        return open(tcp, ack);
    }
    let una = tcp.sender.una;
    tcp.board().acknowledge(una);
    update(tcp, blocks);
    if !tcp.sender.phase.is_recovery() {
        open(tcp, ack);
    } else if una >= tcp.sender.recovery_point {
        tcp.sender.phase = Phase::Open;
        tcp.sender.extra = 0;
    }
    if !tcp.sender.phase.is_recovery() && tcp.board().is_empty() {
        tcp.release_board();
    }
}

/// RFC 6675 section 5 step C with NextSeg of section 4.
pub(super) fn next_segment(tcp: &mut Tcp) -> Option<u32> {
    let (una, high, limit) = (tcp.sender.una, tcp.sender.high, tcp.sender.limit);
    let dup_thresh = Segments(tcp.spec.fast_retransmit.unwrap_or(3));
    let window = tcp.sender.window(tcp.spec);
    let receiver_end = una.saturating_add(tcp.spec.receiver_window.0).min(limit);
    let recovery_point = tcp.sender.recovery_point;
    let board = tcp.board();
    if board.pipe(una..high, dup_thresh) >= window {
        return None;
    }
    let hole = board.next_hole(una);
    // Rule 1: a hole that is lost. Rule 3: a hole that is not (yet), when there is no new data (rule 2).
    if let Some(hole) = hole.filter(|&hole| high >= receiver_end || board.is_lost(hole, dup_thresh)) {
        board.resend(hole);
        return Some(hole);
    }
    if high < receiver_end {
        tcp.sender.next = high + 1;
        return Some(high);
    }
    // Rule 4: once per recovery, the highest segment outstanding and not SACKed, so that the acknowledgement clock does not stop. It
    // may have been sent in this recovery, above the recovery point.
    if board.rescued_below >= recovery_point {
        return None;
    }
    let last = board.last_missing(una..high)?;
    board.rescued_below = recovery_point;
    Some(last)
}

/// Take in the blocks of an acknowledgement. True if they said something new.
fn update(tcp: &mut Tcp, blocks: &[(u32, u32)]) -> bool {
    let una = tcp.sender.una;
    if blocks.is_empty() {
        return false;
    }
    let board = tcp.board();
    blocks.iter().filter(|block| block.1 > una).map(|&(start, end)| board.add(start.max(una)..end)).sum::<Segments>()
        > Segments(0)
}

#[cfg(test)]
mod tests {
    use crate::congestion::Start;
    use crate::primitives::units::Segments;
    use crate::tcp::bench::{Bench, plain};
    use crate::tcp::{Recovery, TcpSpec};

    #[test]
    fn the_rescue_is_the_highest_segment_outstanding_even_where_recovery_sent_it() {
        // 0..10 are sent, 0 is lost, the receiver has room for 12. The window is halved to five.
        let spec = TcpSpec { recovery: Recovery::Sack, receiver_window: Segments(12), ..plain() };
        let mut bench = Bench::new(spec, Start { window: 10.0, ssthresh: 10.0 }, 100);
        assert_eq!(bench.send(), (0..10).collect::<Vec<_>>());
        let answers = (2..=10).map(|end| bench.hear(0, &[(1, end)]));
        // The third duplicate repairs 0: 4 to 9 and the repair are in the network. Each report from the sixth on lets one segment go:
        // new ones (rule 2) while the receiver has room, then 11 again (rule 4), then nothing: there is one rescue.
        let expected = [vec![], vec![], vec![0], vec![], vec![], vec![10], vec![11], vec![11], vec![]];
        assert_eq!(answers.collect::<Vec<_>>(), expected);
    }
}
