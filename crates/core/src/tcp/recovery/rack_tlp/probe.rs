//! Tail loss probes (RFC 8985 section 7): their timing, and the interpretation of their acknowledgements.

use crate::congestion::Cause;
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::rack::Delivered;
use crate::tcp::sender::{IncomingAck, Phase, Tcp};
use serde::{Deserialize, Serialize};

/// TLP.max_ack_delay of section 7.2: maximum delay of the acknowledgement of a single segment.
const MAX_ACK_DELAY: TimeDelta = TimeDelta::from_millis(200);
/// PTO before the first RTT sample (section 7.2).
const FIRST_PTO: TimeDelta = TimeDelta::from_millis(1000);

/// An unacknowledged tail loss probe (TLP.end_seq, TLP.is_retrans).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Probe {
    pub(super) end_seq: u32,
    pub(super) is_retrans: bool,
    /// Outstanding segments when it was sent.
    pub(super) in_flight: Segments,
}

/// TLP_process_ack of section 7.4.2.
pub(super) fn on_probe_ack(tcp: &mut Tcp, incoming: &IncomingAck, delivered: &Delivered) {
    let Some(probe) = tcp.rack_tlp().probe.filter(|probe| incoming.ack >= probe.end_seq) else { return };
    let is_plain_duplicate = delivered.segments == Segments(0) && incoming.blocks.is_empty();
    let is_over = match () {
        () if !probe.is_retrans || delivered.is_dsack => true,
        () if incoming.ack > probe.end_seq => {
            // It has repaired a single loss, which is a congestion event as well.
            if tcp.sender.phase == Phase::Open {
                tcp.note_reduction();
                tcp.reduce(probe.in_flight, Cause::Loss);
                tcp.rack_tlp().undo = None;
            }
            true
        }
        () => is_plain_duplicate,
    };
    if is_over {
        tcp.rack_tlp().probe = None;
    }
}

/// TLP_calc_PTO of section 7.2, from now on; `None` if no probe is due: in recovery, with SACKed segments, or with a probe in flight.
pub(super) fn probe_at(tcp: &mut Tcp) -> Option<Time> {
    let is_open = matches!(tcp.sender.phase, Phase::Open | Phase::Reducing) && tcp.spec.fast_retransmit.is_some();
    let is_single = tcp.sender.snd_max - tcp.sender.snd_una == 1;
    let smoothed = tcp.sender.round_trip(tcp.spec);
    let now = tcp.now;
    let state = tcp.rack_tlp();
    let is_due = is_open && state.probe.is_none() && !state.probe_is_due && state.rack.segs_sacked() == Segments(0);
    let delay = if is_single { MAX_ACK_DELAY } else { TimeDelta::ZERO };
    is_due.then(|| now + smoothed.map_or(FIRST_PTO, |srtt| srtt + srtt + delay))
}
