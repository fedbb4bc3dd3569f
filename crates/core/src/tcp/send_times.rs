//! Transmission times of the unacknowledged segments, for controllers that request the RTT of the newest acknowledged one.
//!
//! Of the segments of a delayed acknowledgement, the newest caused it and did not wait, unless the receiver's timer expired. The oldest, which
//! the retransmission timer needs (RFC 7323 section 4.3), may have waited for the next window. Linux passes the newest RTT to controllers
//! (`ca_rtt_us` of `tcp_clean_rtx_queue`), and ns-2's Vegas measures it as well.
//!
//! An acknowledgement of fewer segments than the receiver waits for may have been sent by its timer. Its RTT is limited to that of the last one
//! which was not. Linux suspects such acknowledgements, too (`FLAG_ACK_MAYBE_DELAYED`), but only in the filter of the minimum; its Vegas and Veno
//! use the minimum RTT of a round and ignore rounds of one or two samples.

use super::spec::TcpSpec;
use crate::primitives::ring::Ring;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SendTimes {
    /// Number of the first segment in `sent`: the oldest unacknowledged one.
    oldest: SegmentNumber,
    sent: Ring<Time>,
    /// Segments below were sent more than once, or may have waited for such a segment: their RTT is ambiguous (Karn; `FLAG_RETRANS_DATA_ACKED`
    /// in Linux).
    ambiguous: SegmentNumber,
    /// The receiver acknowledges this many segments of data without delay, and a SYN.
    at_once: Segments,
    first_data: SegmentNumber,
    /// The last RTT without a delay.
    undelayed: Option<TimeDelta>,
    rule: Rule,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Rule {
    /// Samples that may be delayed are limited.
    Limited,
    /// Samples have no limit, as in Linux.
    Exact,
}

impl SendTimes {
    pub(crate) fn of(spec: &TcpSpec) -> SendTimes {
        SendTimes {
            oldest: SegmentNumber::FIRST,
            sent: Ring::default(),
            ambiguous: SegmentNumber::FIRST,
            at_once: Segments(spec.delayed_ack.map_or(1, |delays| delays.every)),
            first_data: spec.first_data(),
            undelayed: None,
            rule: Rule::Limited,
        }
    }

    pub(crate) fn exact(spec: &TcpSpec) -> SendTimes {
        SendTimes { rule: Rule::Exact, ..SendTimes::of(spec) }
    }

    #[inline]
    pub(crate) fn on_sent(&mut self, segment: SegmentNumber, now: Time) {
        match segment.position_from(self.oldest).and_then(|place| self.sent.get(place)) {
            Some(_) => self.ambiguous = self.ambiguous.max(segment.next()),
            None => self.sent.push(now),
        }
    }

    /// Everything below `ack` is acknowledged. Returns the RTT of its newest segment, unless it is ambiguous.
    #[inline]
    pub(crate) fn on_ack(&mut self, ack: SegmentNumber, now: Time) -> Option<TimeDelta> {
        let acked = ack.position_from(self.oldest)?.min(self.sent.len());
        let newest = self.sent.get(acked.checked_sub(1)?).map(|&sent| now.since(sent))?;
        let is_ambiguous = self.oldest < self.ambiguous;
        let may_be_delayed = (acked as u64) < u64::from(self.at_once.0) && self.oldest >= self.first_data;
        self.sent.drop_front(acked);
        self.oldest = ack;
        if is_ambiguous {
            return None;
        }
        match self.undelayed {
            _ if self.rule == Rule::Exact => Some(newest),
            Some(undelayed) if may_be_delayed => Some(newest.min(undelayed)),
            None if may_be_delayed => Some(newest),
            _ => {
                self.undelayed = Some(newest);
                Some(newest)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::n;
    use crate::tcp::DelayedAck;
    use crate::tcp::bench::plain;

    fn at(milliseconds: u64) -> Time {
        Time(TimeDelta::from_millis(milliseconds).0)
    }

    /// The sender of segments that leave every ten milliseconds, without delayed acknowledgements or with one for two segments.
    fn sent(segments: u32, delayed_ack: Option<DelayedAck>) -> SendTimes {
        let mut times = SendTimes::of(&TcpSpec { delayed_ack, ..plain() });
        (0..segments).for_each(|segment| times.on_sent(n(segment), at(10 * u64::from(segment))));
        times
    }

    fn acked(times: &mut SendTimes, ack: u32, now: u64) -> Option<u64> {
        times.on_ack(n(ack), at(now)).map(|rtt| rtt.0 / TimeDelta::from_millis(1).0)
    }

    #[test]
    fn the_newest_segment_of_an_acknowledgement_is_measured_unless_one_of_them_was_sent_twice() {
        let mut times = sent(8, None);
        assert_eq!([(2, 100), (2, 105)].map(|(ack, now)| acked(&mut times, ack, now)), [Some(90), None]);
        // The acknowledgement of the retransmitted 2 covers 3 to 5 as well, which waited for it.
        times.on_sent(n(2), at(150));
        assert_eq!([(6, 250), (8, 260)].map(|(ack, now)| acked(&mut times, ack, now)), [None, Some(190)]);
    }

    #[test]
    fn the_rtt_of_a_syn_limits_that_of_the_first_segment() {
        let mut times = SendTimes::of(&TcpSpec { delayed_ack: Some(DelayedAck::default()), handshake: true, ..plain() });
        times.on_sent(n(0), at(0));
        assert_eq!(acked(&mut times, 1, 50), Some(50));
        times.on_sent(n(1), at(50));
        assert_eq!(acked(&mut times, 2, 300), Some(50));
    }

    #[test]
    fn exact_samples_have_no_limit() {
        let mut times = SendTimes::exact(&TcpSpec { delayed_ack: Some(DelayedAck::default()), handshake: true, ..plain() });
        (0..4).for_each(|segment| times.on_sent(n(segment), at(0)));
        assert_eq!([(1, 50), (2, 300), (3, 310)].map(|(ack, now)| acked(&mut times, ack, now)), [Some(50), Some(300), Some(310)]);
        times.on_sent(n(3), at(320));
        assert_eq!(acked(&mut times, 4, 370), None);
    }

    #[test]
    fn the_rtt_of_a_single_segment_is_limited_to_that_of_the_last_pair() {
        let mut times = sent(7, Some(DelayedAck { every: 2, ..DelayedAck::default() }));
        // Before a pair there is no limit. The RTTs without it are 140, 90, 120, 85, 120 and 65 ms.
        assert_eq!(
            [(1, 140), (3, 110), (4, 150), (6, 135)].map(|(ack, now)| acked(&mut times, ack, now)),
            [Some(140), Some(90), Some(90), Some(85)]
        );
        assert_eq!(acked(&mut times, 7, 125), Some(65));
    }
}
