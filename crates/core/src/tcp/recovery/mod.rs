//! Loss recovery, one file per algorithm: the interpretation of duplicate acknowledgements, the segments to retransmit, and the end of the
//! episode.

mod bpd_sack;
mod newreno;
pub(crate) mod rack_tlp;
mod reno;
mod sack;
mod tahoe;

use super::sender::{NONE, Phase, Tcp};
use super::spec::Recovery;
use crate::congestion::{Ack, Controller};

/// Whether the receiver should report SACK blocks.
pub(crate) fn uses_sack(kind: Recovery) -> bool {
    matches!(kind, Recovery::Sack | Recovery::BpdSack | Recovery::RackTlp)
}

pub(crate) fn on_duplicate(tcp: &mut Tcp, blocks: &[(u32, u32)]) {
    tcp.sender.duplicates += 1;
    match tcp.spec.recovery {
        Recovery::Tahoe => tahoe::on_duplicate(tcp),
        Recovery::Reno => reno::on_duplicate(tcp),
        Recovery::NewReno => reno::on_duplicate(tcp),
        Recovery::Sack => sack::on_duplicate(tcp, blocks),
        Recovery::BpdSack => bpd_sack::on_duplicate(tcp, blocks),
        // It processes acknowledgements itself.
        Recovery::RackTlp => {}
    }
}

/// `snd_una` has moved; `ack` describes the window before.
#[inline(always)]
pub(crate) fn on_new_ack(tcp: &mut Tcp, ack: &Ack, blocks: &[(u32, u32)]) {
    tcp.sender.duplicates = 0;
    if tcp.sender.phase == Phase::Timeout {
        tcp.sender.timed_out = false;
        if tcp.sender.snd_una >= tcp.sender.recovery_point {
            tcp.sender.phase = Phase::Open;
        }
    }
    match tcp.spec.recovery {
        Recovery::Tahoe => open(tcp, ack),
        Recovery::NewReno => newreno::on_new_ack(tcp, ack),
        // A copy, so that the acknowledgement need not be stored in memory for the others.
        Recovery::Reno => reno::on_new_ack(tcp, &{ *ack }),
        Recovery::Sack => sack::on_new_ack(tcp, &{ *ack }, blocks),
        Recovery::BpdSack => bpd_sack::on_new_ack(tcp, &{ *ack }, blocks),
        Recovery::RackTlp => {}
    }
}

/// The next segment permitted by recovery and window, taken from `resend` or `next`.
#[inline(always)]
pub(crate) fn next_segment(tcp: &mut Tcp) -> Option<u32> {
    if tcp.sender.resend != NONE {
        return Some(std::mem::replace(&mut tcp.sender.resend, NONE));
    }
    if tcp.sender.phase.is_recovery() {
        match tcp.spec.recovery {
            Recovery::Sack => return sack::next_segment(tcp),
            Recovery::BpdSack => return bpd_sack::next_segment(tcp),
            _ => {}
        }
    }
    next_in_window(tcp)
}

/// Sliding window: the next segment in order, either new or, after a timeout, sent before. SACKed segments are skipped.
#[inline(always)]
fn next_in_window(tcp: &mut Tcp) -> Option<u32> {
    let sender = &mut *tcp.sender;
    if sender.board != NONE && sender.snd_nxt < sender.snd_max {
        sender.snd_nxt = tcp.boards.at(sender.board).skip_sacked(sender.snd_nxt);
    }
    let window = (sender.controller.window().0 + f64::from(sender.extra)) as u32;
    let end = sender.snd_una.saturating_add(window.min(tcp.spec.receiver_window.0).max(1)).min(sender.limit);
    if sender.snd_nxt >= end {
        return None;
    }
    sender.snd_nxt += 1;
    tcp.window_is_used = sender.snd_nxt >= end;
    Some(tcp.sender.snd_nxt - 1)
}

/// Outside fast recovery the controller processes every acknowledgement of new data.
#[inline(always)]
fn open(tcp: &mut Tcp, ack: &Ack) {
    tcp.sender.extra = 0;
    tcp.sender.controller.on_ack(ack);
}

/// Without SACK, duplicate acknowledgements may start a fast retransmit only once more than the data outstanding in the last episode is
/// acknowledged (RFC 6582 section 3.2 step 2; NS compares `highest_ack_ > recover_` in the same way; bpd-2001 does not specify it, D-13 of
/// its reference). Exactly that data is not enough: duplicates of it come from its own needless retransmissions.
///
/// With SACK a duplicate identifies the arrived segments, so the end of the last episode is sufficient, and after a timeout the
/// acknowledgement of all outstanding data (RFC 6675 section 5.1), which ends [`Phase::Timeout`].
fn may_enter(tcp: &Tcp) -> bool {
    let passed = || tcp.sender.snd_una > tcp.sender.recovery_point || tcp.sender.recovery_point == 0;
    tcp.sender.phase == Phase::Open && (uses_sack(tcp.spec.recovery) || passed())
}

fn threshold_reached(tcp: &Tcp) -> bool {
    tcp.spec.fast_retransmit == Some(tcp.sender.duplicates)
}

/// RFC 3042: one new segment for each of the first two duplicate acknowledgements below the threshold.
fn limited_transmit(tcp: &mut Tcp) {
    if tcp.spec.limited_transmit && tcp.spec.fast_retransmit.is_some_and(|threshold| tcp.sender.duplicates < threshold) {
        tcp.sender.extra = tcp.sender.duplicates.min(2) as i32;
    }
}
