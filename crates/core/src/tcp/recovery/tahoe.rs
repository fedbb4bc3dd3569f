//! Tahoe: the third duplicate acknowledgement is treated as an early timeout: a window of one, go-back-N, slow start (spd-1998 section
//! 4.1.2; Jacobson, "Congestion avoidance and control", 1988).

use super::{limited_transmit, may_enter, threshold_reached};
use crate::tcp::reduction::Repeated;
use crate::tcp::sender::{Phase, Tcp};

pub(super) fn on_duplicate(tcp: &mut Tcp) {
    if !may_enter(tcp) {
        return;
    }
    if !threshold_reached(tcp) {
        return limited_transmit(tcp);
    }
    tcp.lose(tcp.sender.snd_una);
    tcp.restart(Repeated::No);
    tcp.note_reduction();
    let sender = &mut *tcp.sender;
    sender.recovery_point = sender.snd_max;
    sender.phase = Phase::Timeout;
    sender.snd_nxt = sender.snd_una;
    sender.extra = 0;
    tcp.begin_episode();
}
