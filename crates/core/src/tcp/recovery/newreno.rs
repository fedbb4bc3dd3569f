//! NewReno (RFC 6582): Reno's fast recovery, in which partial acknowledgements retransmit one hole each without ending it.
//!
//! Differs: the bound on the window after recovery is the RFC's first option, `min(ssthresh, max(FlightSize, 1) + 1)`.

use super::open;
use crate::congestion::{Ack, Controller};
use crate::primitives::units::Cwnd;
use crate::tcp::sender::{Phase, Tcp};

#[inline(always)]
pub(super) fn on_new_ack(tcp: &mut Tcp, ack: &Ack) {
    if !tcp.sender.phase.is_recovery() {
        return open(tcp, ack);
    }
    let sender = &mut *tcp.sender;
    if sender.snd_una >= sender.recovery_point {
        sender.phase = Phase::Open;
        sender.extra = 0;
        sender.controller.limit_window(Cwnd(f64::from(sender.in_flight().0.max(1) + 1)));
    } else {
        // Section 3.2 step 5: deflate by the acknowledged data, add back one segment.
        sender.extra += 1 - ack.acked.0 as i32;
        sender.resend = sender.snd_una;
        sender.phase = Phase::Recovery { partial_seen: true };
        tcp.lose(tcp.sender.snd_una);
    }
}
