//! SACK-based recovery (RFC 6675): the scoreboard says what is lost and how much is in the network (`pipe`).

use super::{limited_transmit, may_enter, open};
use crate::congestion::Ack;
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
    let Some(threshold) = tcp.spec.fast_retransmit else { return };
    let una = tcp.sender.una;
    let lost = tcp.board().is_lost(una, una, threshold);
    if tcp.sender.duplicates < threshold && !lost {
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
    let threshold = tcp.spec.fast_retransmit.unwrap_or(3);
    let window = tcp.sender.window(tcp.spec);
    let receiver_end = una.saturating_add(tcp.spec.receiver_window).min(limit);
    let recovery_point = tcp.sender.recovery_point;
    let board = tcp.board();
    if board.pipe(una, high, threshold) >= window {
        return None;
    }
    let hole = board.next_hole(una);
    // Rule 1: a hole that is lost. Rule 3: a hole that is not (yet), when there is no new data (rule 2).
    if let Some(hole) = hole.filter(|&hole| high >= receiver_end || board.is_lost(hole, una, threshold)) {
        board.resend(hole);
        return Some(hole);
    }
    if high < receiver_end {
        tcp.sender.next = high + 1;
        return Some(high);
    }
    // Rule 4: once per recovery, the last segment outstanding, so that the acknowledgement clock does not stop.
    if board.rescued_below < recovery_point {
        board.rescued_below = recovery_point;
        let last = recovery_point - 1;
        if last >= una && board.skip_sacked(last) == last {
            return Some(last);
        }
    }
    None
}

/// Take in the blocks of an acknowledgement. True if they said something new.
fn update(tcp: &mut Tcp, blocks: &[(u32, u32)]) -> bool {
    let una = tcp.sender.una;
    if blocks.is_empty() {
        return false;
    }
    let board = tcp.board();
    blocks.iter().filter(|block| block.1 > una).map(|&(start, end)| board.add(start.max(una), end)).sum::<u32>() > 0
}
