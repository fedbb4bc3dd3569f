//! Undo of spurious reductions: if an echo is older than the first retransmission (Eifel detection, RFC 3522), if all retransmissions are
//! reported as duplicates (RFC 3708), or if after a timeout a segment arrives that was sent once (F-RTO, RFC 5682 section 3).

use super::sendable;
use crate::congestion::{Controller, Controllers};
use crate::primitives::units::{Segments, Time};
use crate::tcp::rack::Delivered;
use crate::tcp::sender::{IncomingAck, NONE, Phase, Tcp};
use crate::tcp::validation;
use serde::{Deserialize, Serialize};

/// Information required to undo a reduction.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Undo {
    /// The controller before the reduction, with all of its state (RFC 9438 section 4.9).
    law: Controllers,
    /// Segments from here on were retransmitted.
    snd_una: u32,
    /// Position of the previous reduction.
    reduced_at: u32,
    first_retransmission: Option<Time>,
    /// Number of retransmissions minus the ones reported as duplicates.
    unreported: u32,
}

/// The steps of RFC 5682 section 3.1, with SACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum FRto {
    Off,
    /// Step 2: only the oldest segment was retransmitted.
    Retransmitted,
    /// Step 3: new data is sent instead of possibly lost segments.
    NewData,
}

impl Undo {
    pub(super) fn on_retransmission(&mut self, now: Time) {
        self.first_retransmission.get_or_insert(now);
        self.unreported += 1;
    }
}

/// Undoes a reduction that proves to be spurious.
pub(super) fn undo_reduction(tcp: &mut Tcp, incoming: &IncomingAck, delivered: &Delivered, advanced: Segments) {
    let (phase, recovery_point) = (tcp.sender.phase, tcp.sender.recovery_point);
    let is_repairing = matches!(phase, Phase::Recovery { .. } | Phase::Timeout);
    let timestamps = tcp.spec.timestamps;
    let has_more = tcp.sender.snd_max < sendable(tcp);
    let state = tcp.rack_tlp();
    let f_rto = std::mem::replace(&mut state.f_rto, FRto::Off);
    let Some(undo) = &mut state.undo else { return };
    if delivered.is_dsack && incoming.blocks.first().is_some_and(|block| block.0 >= undo.snd_una) {
        undo.unreported = undo.unreported.saturating_sub(1);
    }
    let Some(first) = undo.first_retransmission else { return };
    let by_echo = timestamps && is_repairing && advanced > Segments(0) && incoming.echo < first;
    // An acknowledgement of all data is inconclusive: it may be that of the retransmission (step 2a).
    let may_report = f_rto == FRto::NewData || (f_rto == FRto::Retransmitted && incoming.ack < recovery_point);
    let by_original = may_report && delivered.original.is_some_and(|segment| segment < recovery_point);
    if by_echo || by_original || undo.unreported == 0 {
        let (law, reduced_at) = (undo.law.clone(), undo.reduced_at);
        state.undo = None;
        state.rack.forget_losses();
        tcp.sender.resend = NONE;
        tcp.sender.withdraw_reduction(reduced_at);
        if tcp.sender.controller.abilities().undoes_reductions {
            tcp.sender.controller.on_spurious_loss();
        } else if law.window() > tcp.sender.controller.window() {
            tcp.sender.controller = law;
        }
        if is_repairing {
            tcp.sender.phase = Phase::Open;
        }
        validation::on_withdrawn(tcp);
    } else if f_rto == FRto::Retransmitted && advanced == Segments(0) {
        state.f_rto = f_rto;
    } else if f_rto == FRto::Retransmitted && incoming.ack < recovery_point && has_more {
        state.f_rto = FRto::NewData;
    }
}

/// The window is about to be reduced for a loss. User controllers are not copied; and a timeout within a recovery has two causes, one of
/// them possibly a real loss.
pub(in crate::tcp) fn remember(tcp: &mut Tcp) {
    let is_recovering = matches!(tcp.sender.phase, Phase::Recovery { .. } | Phase::Timeout);
    let can = !is_recovering && !matches!(tcp.sender.controller, Controllers::User(_));
    let law = can.then(|| tcp.sender.controller.clone());
    let (snd_una, reduced_at) = (tcp.sender.snd_una, tcp.sender.reduced_at());
    let state = tcp.rack_tlp();
    let unreported = state.rack.retransmitted().0;
    state.undo = law.map(|law| Undo { law, snd_una, reduced_at, first_retransmission: None, unreported });
}
