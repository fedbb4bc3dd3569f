//! The text of RFC 8985 section 6.2 as a model for [`Rack`].

use super::rack::{DetectionContext, Rack};
use crate::primitives::random::{Entity, Purpose, Stream};
use crate::primitives::segment_number::plain::{blocks, n};
use crate::primitives::units::{Segments, Time, TimeDelta};
use crate::tcp::sequence::IncomingAck;

/// Section 6.2 literally: every segment is examined every time.
#[derive(Default)]
struct Literal {
    segments: Vec<LiteralSegment>,
    xmit_ts: u64,
    end_seq: u32,
    rtt: u64,
    min_rtt: Option<u64>,
    fack: u32,
    reordering_seen: bool,
}

#[derive(Clone, Copy)]
struct LiteralSegment {
    xmit_ts: u64,
    retransmitted: bool,
    lost: bool,
    delivered: bool,
}

impl Literal {
    fn deliver(&mut self, segment: u32, now: u64) {
        let of = &mut self.segments[segment as usize];
        if of.delivered {
            return;
        }
        of.delivered = true;
        let rtt = now - of.xmit_ts;
        if !of.retransmitted {
            self.min_rtt = Some(self.min_rtt.unwrap_or(rtt).min(rtt));
        }
        if segment + 1 > self.fack {
            self.fack = segment + 1;
        } else if segment + 1 < self.fack && !of.retransmitted {
            self.reordering_seen = true;
        }
        if of.retransmitted && self.min_rtt.is_some_and(|min| rtt < min) {
            return;
        }
        self.rtt = rtt;
        if of.xmit_ts > self.xmit_ts || (of.xmit_ts == self.xmit_ts && segment > self.end_seq) {
            (self.xmit_ts, self.end_seq) = (of.xmit_ts, segment);
        }
    }

    fn detect(&mut self, known: &DetectionContext) -> (u32, u64) {
        let snd_una = self.segments.iter().position(|of| !of.delivered).unwrap_or(self.segments.len());
        let sacked = self.segments[snd_una..].iter().filter(|of| of.delivered).count();
        let quarter = self.min_rtt.unwrap_or(0) / 4;
        let at_once = !self.reordering_seen && (known.is_recovering || sacked >= 3);
        let reo_wnd = if at_once { 0 } else { quarter.min(known.srtt.map_or(u64::MAX, |srtt| srtt.0)) };
        let (mut newly, mut timeout) = (0, 0);
        for (segment, of) in self.segments.iter_mut().enumerate() {
            let before = of.xmit_ts < self.xmit_ts || (of.xmit_ts == self.xmit_ts && (segment as u32) < self.end_seq);
            if of.delivered || of.lost || !before {
                continue;
            }
            let expires = of.xmit_ts + self.rtt + reo_wnd;
            if expires <= known.now.0 {
                of.lost = true;
                newly += 1;
            } else {
                timeout = timeout.max(expires);
            }
        }
        (newly, timeout)
    }
}

#[test]
fn random_losses_and_reordering_match_the_text_of_the_rfc() {
    for seed in 0..300 {
        let stream = Stream::new(Entity { seed, name: "rack", index: 0 }, Purpose::Policy);
        let (mut rack, mut literal) = (Rack::new(n(0)), Literal::default());
        let (mut received, mut snd_una) = ([false; 64], 0u32);
        for step in 1..200u64 {
            let bits = stream.bits(step);
            let now = Time(TimeDelta::from_millis(step * 2).0);
            let high = literal.segments.len() as u32;
            if !bits.is_multiple_of(3) {
                // A lost segment again, or a new one.
                let segment = rack.first_lost().filter(|_| bits & 64 > 0).map_or(high, |lost| lost.0);
                if segment < 64 {
                    rack.on_sent(n(segment), now);
                    let sent = LiteralSegment { xmit_ts: now.0, retransmitted: segment < high, lost: false, delivered: false };
                    if segment < high { literal.segments[segment as usize] = sent } else { literal.segments.push(sent) }
                }
            } else if snd_una < high {
                let arrives = snd_una + (bits >> 8) as u32 % (high - snd_una);
                received[arrives as usize] = true;
                let before = snd_una;
                while snd_una < high && received[snd_una as usize] {
                    snd_una += 1;
                }
                let mut ranges = Vec::new();
                let mut segment = snd_una;
                while segment < high && ranges.len() < 4 {
                    let start = segment;
                    while segment < high && received[segment as usize] {
                        segment += 1;
                    }
                    if segment > start {
                        ranges.push((start, segment));
                    }
                    segment += 1;
                }
                (before..snd_una).for_each(|segment| literal.deliver(segment, now.0));
                ranges.iter().flat_map(|&(start, end)| start..end).for_each(|segment| literal.deliver(segment, now.0));
                rack.on_ack(now, &IncomingAck { ack: n(snd_una), blocks: &blocks(&ranges), echo: Time::ZERO }, None);
            }
            let situation = DetectionContext {
                now,
                is_recovering: bits & 128 > 0,
                srtt: Some(TimeDelta::from_millis(100)),
                dup_thresh: Segments(3),
            };
            let (newly, timeout) = literal.detect(&situation);
            let expected = (Segments(newly), (timeout > 0).then_some(Time(timeout)));
            assert_eq!(rack.detect_loss(&situation), expected, "seed {seed} step {step}");
            let outstanding = literal.segments.iter().filter(|of| !of.delivered && !of.lost).count();
            assert_eq!(rack.in_flight().0 as usize, outstanding, "seed {seed} step {step}");
            let first = literal.segments.iter().position(|of| !of.delivered && of.lost);
            assert_eq!(rack.first_lost().map(|lost| lost.0 as usize), first, "seed {seed} step {step}");
        }
    }
}
