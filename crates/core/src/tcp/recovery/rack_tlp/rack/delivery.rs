//! Section 6.2 steps 1 to 3 of RFC 8985: segments that have arrived.

use super::{Fate, Rack, Sent, Transmission};
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::recovery::outcome::Delivered;
use crate::tcp::sequence::IncomingAck;
use crate::tcp::steps::count_step;

const MICROSECOND: TimeDelta = TimeDelta::from_micros(1);

/// An acknowledgement's arrival, and the time of the transmission that caused it, if known.
#[derive(Clone, Copy)]
struct AckTimes {
    now: Time,
    echo: Option<Time>,
}

impl Rack {
    /// An acknowledgement without SACK blocks arrived, with all segments [in order](Rack::is_in_order).
    #[inline]
    pub(crate) fn on_ack_in_order(&mut self, now: Time, ack: SegmentNumber) -> Delivered {
        let acked = ack - self.snd_una;
        let (Some(first), Some(last)) =
            (self.segments.get(0), (acked.0 as usize).checked_sub(1).and_then(|last| self.segments.get(last)))
        else {
            return Delivered { is_in_order: true, ..Delivered::default() };
        };
        let (oldest, latest) = (now.since(first.xmit_ts), now.since(last.xmit_ts));
        let delivered = Delivered {
            segments: acked,
            rtt: Some(oldest),
            original: Some(self.snd_una),
            is_in_order: true,
            ..Delivered::default()
        };
        // They were sent in this order.
        self.min_rtt = Some(self.min_rtt.map_or(latest, |min| min.min(latest)));
        self.rtt = latest;
        (self.xmit_ts, self.end_seq) = (self.xmit_ts, self.end_seq).max((last.xmit_ts, ack.previous()));
        self.in_flight -= acked.0;
        self.fack = ack;
        self.segments.drop_front(acked.0 as usize);
        self.snd_una = ack;
        delivered
    }

    /// Section 6.2 steps 1 to 3: an acknowledgement arrived. `echo`: the time of the transmission that caused it, if known.
    pub(crate) fn on_ack(&mut self, now: Time, incoming: &IncomingAck, echo: Option<Time>) -> Delivered {
        let times = AckTimes { now, echo };
        let mut delivered = Delivered { is_dsack: is_dsack(incoming), ..Delivered::default() };
        let rtt = std::mem::replace(&mut self.rtt, TimeDelta::ZERO);
        // In the order of segment numbers, because otherwise the segments of one acknowledgement would appear reordered.
        if incoming.ack > self.snd_una {
            for segment in SegmentNumber::range(self.snd_una..incoming.ack) {
                let sent = self.deliver(segment, times, &mut delivered);
                self.repaired -= u32::from(sent.is_some_and(|sent| sent.retransmitted));
            }
            self.segments.drop_front((incoming.ack - self.snd_una).0 as usize);
            self.snd_una = incoming.ack;
            self.sacked.acknowledge(incoming.ack);
        }
        self.cumulative_rtt = self.rtt;
        if self.rtt == TimeDelta::ZERO {
            self.rtt = rtt;
        }
        if !incoming.blocks.is_empty() {
            self.deliver_blocks(times, incoming.blocks, &mut delivered);
        }
        self.drop_repaired();
        self.drop_finished_retransmissions();
        delivered
    }

    /// Delivers the segments of SACK blocks, of which there are at most four, in ascending order.
    fn deliver_blocks(&mut self, times: AckTimes, reported: &[SackBlock], delivered: &mut Delivered) {
        let known = self.snd_una + Segments(self.segments.len() as u32);
        let mut blocks = [SackBlock::default(); 4];
        let mut count = 0;
        for &block in reported.iter().filter(|&&block| !self.sacked.is_in_latest(block)).take(4) {
            blocks[count] = block;
            count += 1;
        }
        if count > 1 {
            blocks[..count].sort_unstable();
        }
        for &(start, end) in &blocks[..count] {
            let (start, end) = (start.max(self.snd_una), end.min(known));
            if start < end {
                let mut parts = self.sacked.missing_parts(start..end);
                let before = delivered.segments;
                while let Some(part) = self.sacked.next_missing(&mut parts) {
                    for segment in SegmentNumber::range(part) {
                        self.deliver(segment, times, delivered);
                    }
                }
                if delivered.segments > before {
                    self.sacked.add_missing(&parts);
                }
            }
        }
        if reported.iter().all(|block| block.1 <= known) {
            self.sacked.note_latest(reported);
        }
    }

    /// The latest transmission that has arrived.
    #[inline]
    pub(super) fn latest(&self) -> Transmission {
        Transmission { time: self.xmit_ts, segment: self.end_seq }
    }

    /// Returns the state of the segment before, if it is outstanding.
    #[inline]
    fn deliver(&mut self, segment: SegmentNumber, times: AckTimes, delivered: &mut Delivered) -> Option<Sent> {
        count_step();
        let known = self.segments.get_mut((segment - self.snd_una).0 as usize)?;
        let sent = *known;
        known.fate = Fate::Arrived;
        if sent.fate != Fate::Arrived {
            self.note_delivery(segment, sent, times, delivered);
        }
        Some(sent)
    }

    /// A segment that was last sent like this has arrived.
    fn note_delivery(&mut self, segment: SegmentNumber, sent: Sent, times: AckTimes, delivered: &mut Delivered) {
        let AckTimes { now, echo } = times;
        match sent.fate {
            Fate::Lost => self.lost.remove_one(),
            _ => self.in_flight -= 1,
        }
        let Sent { xmit_ts, retransmitted, .. } = sent;
        delivered.segments.0 += 1;
        let rtt = now.since(xmit_ts);
        if !retransmitted {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
            delivered.rtt = delivered.rtt.or(Some(rtt));
            delivered.original = delivered.original.or(Some(segment));
        }
        if segment >= self.fack {
            self.fack = segment.next();
        } else if !retransmitted {
            self.reordering_seen = true;
            self.reordering_extent = self.reordering_extent.max(self.fack - segment);
        }
        // Step 2: the acknowledgement may belong to an earlier transmission. An echo determines this; an RTT below the minimum indicates it
        // only without one; it is measured in whole microseconds, as in Linux. Differs: the RFC requires both, but here no handshake has
        // shown how short an RTT can be, and with delayed acknowledgements that of a single probe is the shortest of all.
        let is_ambiguous = match echo {
            Some(echo) => echo < xmit_ts,
            None => self.min_rtt.is_some_and(|min| rtt.0 / MICROSECOND.0 < min.0 / MICROSECOND.0),
        };
        if retransmitted && is_ambiguous {
            return;
        }
        self.rtt = rtt;
        if (Transmission { time: xmit_ts, segment }.order()) > self.latest().order() {
            (self.xmit_ts, self.end_seq) = (xmit_ts, segment);
        }
    }
}

/// Whether the first block is below the acknowledgement, or within the second block (RFC 2883 section 4).
pub(super) fn is_dsack(incoming: &IncomingAck) -> bool {
    match *incoming.blocks {
        [first, ..] if first.1 <= incoming.ack => true,
        [first, second, ..] => second.0 <= first.0 && first.1 <= second.1,
        _ => false,
    }
}
