//! Tail loss probes (RFC 8985 section 7): their timing, and the interpretation of their acknowledgements.

use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, TimeDelta};
use crate::tcp::recovery::outcome::{Report, SenderView};
use serde::{Deserialize, Serialize};

/// TLP.max_ack_delay of section 7.2: maximum delay of the acknowledgement of a single segment.
const MAX_ACK_DELAY: TimeDelta = TimeDelta::from_millis(200);
/// PTO before the first RTT sample (section 7.2).
const FIRST_PTO: TimeDelta = TimeDelta::from_millis(1000);

/// The tail loss probe of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Probe {
    #[default]
    None,
    /// To be sent now, whatever the window.
    Due,
    Sent(Sent),
}

/// An unacknowledged tail loss probe (TLP.end_seq, TLP.is_retrans).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Sent {
    end_seq: SegmentNumber,
    is_retrans: bool,
    /// Outstanding segments when it was sent.
    in_flight: Segments,
}

impl Probe {
    /// This segment is sent as the probe.
    pub(super) fn send(known: &SenderView, segment: SegmentNumber) -> Probe {
        let snd_max = known.sequence.snd_max;
        let in_flight = known.sequence.outstanding();
        Probe::Sent(Sent { end_seq: snd_max.max(segment.next()), is_retrans: segment < snd_max, in_flight })
    }

    /// Whether this segment is sent for the first time while the probe is unacknowledged.
    #[inline]
    pub(super) fn is_followed_by(&self, segment: SegmentNumber) -> bool {
        matches!(self, Probe::Sent(probe) if segment >= probe.end_seq)
    }

    /// TLP_process_ack of section 7.4.2. Returns the data that was outstanding at a probe that has repaired a single loss, which is a
    /// congestion event as well.
    pub(super) fn on_ack(&mut self, report: &Report) -> Option<Segments> {
        let Report { incoming, delivered, .. } = report;
        let Probe::Sent(probe) = *self else { return None };
        if incoming.ack < probe.end_seq {
            return None;
        }
        let is_plain_duplicate = delivered.segments == Segments(0) && incoming.blocks.is_empty();
        let was_needless = !probe.is_retrans || delivered.is_dsack;
        let has_repaired = !was_needless && incoming.ack > probe.end_seq;
        if was_needless || has_repaired || is_plain_duplicate {
            *self = Probe::None;
        }
        has_repaired.then_some(probe.in_flight)
    }
}

/// TLP_calc_PTO of section 7.2, from now on.
pub(super) fn probe_delay(known: &SenderView) -> TimeDelta {
    let Some(srtt) = known.srtt() else { return FIRST_PTO };
    let is_single = known.sequence.outstanding() == Segments(1);
    let margin = if is_single { MAX_ACK_DELAY } else { known.spec.timer.probe_margin };
    srtt + srtt + margin + known.pacing_delay()
}
