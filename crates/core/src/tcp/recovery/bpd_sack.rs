//! SACK as used in bpd-2001 section 6.1: a counted pipe instead of a derived one. It starts at W - 3, grows with each segment sent, and
//! falls by one for a duplicate that reports a new segment and by two for a partial acknowledgement.
//!
//! Differs from RFC 6675: lost segments are not distinguished from reordered ones, and a lost retransmission waits for the timeout.

use super::{may_enter, open, threshold_reached};
use crate::congestion::{Ack, Controller};
use crate::primitives::units::Segments;
use crate::tcp::sender::{NONE, Phase, Tcp};

pub(super) fn on_duplicate(tcp: &mut Tcp, blocks: &[(u32, u32)]) {
    let snd_una = tcp.sender.snd_una;
    if blocks.is_empty() {
        // It responds to a needless retransmission and does not indicate a loss.
        tcp.sender.duplicates -= 1;
        return;
    }
    let board = tcp.board();
    let new: Segments =
        blocks.iter().filter(|block| block.1 > snd_una).map(|&(start, end)| board.add(start.max(snd_una)..end)).sum();
    if tcp.sender.phase.is_recovery() {
        tcp.board().counted_pipe -= i64::from(new.0.min(1));
    } else if may_enter(tcp) && threshold_reached(tcp) {
        let window = tcp.sender.window(tcp.spec);
        let reported = i64::from(tcp.sender.duplicates);
        tcp.enter_recovery();
        let board = tcp.board();
        board.begin_recovery(snd_una);
        board.resend(snd_una);
        board.counted_pipe = i64::from(window.0) - reported + 1;
    }
}

pub(super) fn on_new_ack(tcp: &mut Tcp, ack: &Ack, blocks: &[(u32, u32)]) {
    let snd_una = tcp.sender.snd_una;
    if tcp.sender.board != NONE || !blocks.is_empty() {
        let board = tcp.board();
        board.acknowledge(snd_una);
        blocks.iter().filter(|block| block.1 > snd_una).for_each(|&(start, end)| {
            board.add(start.max(snd_una)..end);
        });
    }
    if !tcp.sender.phase.is_recovery() {
        open(tcp, ack);
    } else if snd_una >= tcp.sender.recovery_point {
        tcp.sender.phase = Phase::Open;
    } else {
        tcp.board().counted_pipe -= 2;
    }
    if !tcp.sender.phase.is_recovery() && tcp.sender.board != NONE && tcp.board().is_empty() {
        tcp.release_board();
    }
}

pub(super) fn next_segment(tcp: &mut Tcp) -> Option<u32> {
    let (snd_una, snd_max) = (tcp.sender.snd_una, tcp.sender.snd_max);
    let window = tcp.sender.controller.window().0;
    let end = snd_una.saturating_add(tcp.spec.receiver_window.0).min(tcp.sender.limit);
    let board = tcp.board();
    if board.counted_pipe as f64 + 1.0 > window.floor() {
        return None;
    }
    if let Some(hole) = board.next_hole(snd_una) {
        board.resend(hole);
        board.counted_pipe += 1;
        tcp.lose(hole);
        return Some(hole);
    }
    if snd_max >= end {
        return None;
    }
    board.counted_pipe += 1;
    tcp.sender.snd_nxt = snd_max + 1;
    Some(snd_max)
}
