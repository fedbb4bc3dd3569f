//! Reno fast recovery (RFC 5681 section 3.2; bpd-2001 section 2.1): the window is inflated by the segments that duplicates report to have
//! left the network; the first acknowledgement of new data ends it, even a partial one.

use super::{limited_transmit, may_enter, open, threshold_reached};
use crate::congestion::Ack;
use crate::tcp::sender::{Phase, Tcp};

pub(super) fn on_duplicate(tcp: &mut Tcp) {
    if tcp.sender.phase.is_recovery() {
        tcp.sender.extra += 1;
    } else if may_enter(tcp) {
        if threshold_reached(tcp) {
            tcp.enter_recovery();
            tcp.sender.extra = tcp.sender.duplicates as i32;
        } else {
            limited_transmit(tcp);
        }
    }
}

pub(super) fn on_new_ack(tcp: &mut Tcp, ack: &Ack) {
    if !tcp.sender.phase.is_recovery() {
        return open(tcp, ack);
    }
    tcp.sender.phase = Phase::Open;
    tcp.sender.extra = 0;
    // The next hole may start its own fast retransmit, which only a timeout forbids.
    tcp.sender.recovery_point = 0;
}
