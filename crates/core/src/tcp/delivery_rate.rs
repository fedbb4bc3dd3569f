//! Delivery rate estimation: over the flight that ends with the last delivered segment, the lower of the send rate and the acknowledgement
//! rate (Cheng, Cardwell, Hassas Yeganeh and Jacobson, draft-cheng-iccrg-delivery-rate-estimation-02, section 3; the same algorithm in
//! draft-ietf-ccwg-bbr-04, section 4.1.2).
//!
//! Differs: rates are in segments. A duplicate acknowledgement without SACK does not identify the delivered segment: it counts as the next
//! undelivered segment in order (section 4.1.3.4.1 of the latter permits this guess).

use super::receiver::TICK;
use super::scoreboard::Scoreboard;
use super::spec::{TcpSpec, WindowValidation};
use super::steps::count_step;
use crate::congestion::Lost;
use crate::primitives::ring::Ring;
use crate::primitives::segment_number::{SackBlock, SegmentNumber};
use crate::primitives::signal::RateSample;
use crate::primitives::units::{Segments, Time, TimeDelta};
use serde::{Deserialize, Serialize};

/// The connection's state (C in the draft).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct DeliveryRate {
    /// Segments delivered in total.
    delivered: u64,
    /// Time of the last delivery.
    delivered_time: Time,
    /// Transmission time of the most recently delivered segment, or of the first segment after an idle time.
    first_sent_time: Time,
    /// Data sent before more than this many deliveries is application-limited; `None` if that phase is over.
    app_limited_end: Option<u64>,
    begin: Begin,
    /// Segments found lost in total, for a controller that requests losses (C.lost), and the last of them.
    lost: u32,
    last_lost: Option<SegmentNumber>,
    /// The minimum RTT of a segment sent once.
    min_round_trip: Option<TimeDelta>,
    /// Without SACK, the first segment that the next duplicate may stand for.
    inferred: Option<SegmentNumber>,
    timestamps: bool,
    /// Number of the first segment in `sent`: the oldest unacknowledged one.
    oldest: SegmentNumber,
    sent: Ring<Sent>,
}

/// When an application-limited phase begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
enum Begin {
    /// As soon as all data has been sent.
    #[default]
    WhenDry,
    /// As in Linux, with the next write: all data has been sent.
    WithNextWrite,
    /// As in Linux, but not with the next write.
    Later,
}

/// A segment in flight, with the state at its last transmission (P in the draft).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Sent {
    at: Time,
    delivered: u64,
    delivered_time: Time,
    first_sent_time: Time,
    /// Segments in the network including it, and segments lost before it, for a controller that requests losses.
    in_flight: u32,
    lost: u32,
    app_limited: bool,
    again: bool,
    /// It has been counted as delivered.
    is_delivered: bool,
    /// It has been counted as lost.
    is_lost: bool,
}

/// Among the segments delivered by an acknowledgement, the one sent last, with its time, and the time of the last one sent only once.
#[derive(Default)]
struct Newest {
    any: Option<(Time, SegmentNumber)>,
    once: Option<Time>,
}

impl DeliveryRate {
    pub(crate) fn of(spec: &TcpSpec) -> DeliveryRate {
        let inferred = (!spec.recovery.uses_sack()).then_some(SegmentNumber::FIRST);
        let begin = if spec.window_validation == WindowValidation::Linux { Begin::WithNextWrite } else { Begin::WhenDry };
        DeliveryRate { inferred, begin, timestamps: spec.timestamps, ..DeliveryRate::default() }
    }

    /// A segment is about to be sent while none is outstanding.
    pub(crate) fn begin_flight(&mut self, now: Time) {
        (self.first_sent_time, self.delivered_time) = (now, now);
    }

    /// A segment is sent. `in_flight` includes it, for a controller that requests losses.
    pub(crate) fn on_sent(&mut self, segment: SegmentNumber, now: Time, in_flight: Segments) {
        let place = segment.position_from(self.oldest).unwrap_or(0);
        if self.begin == Begin::WithNextWrite && place >= self.sent.len() {
            self.begin = Begin::Later;
            let outstanding = self.sent.iter().filter(|known| !known.is_delivered).count();
            self.app_limited_end = Some(self.delivered + outstanding as u64);
        }
        let sent = Sent {
            at: now,
            delivered: self.delivered,
            delivered_time: self.delivered_time,
            first_sent_time: self.first_sent_time,
            in_flight: in_flight.0,
            lost: self.lost,
            app_limited: self.app_limited_end.is_some(),
            again: false,
            is_delivered: false,
            is_lost: false,
        };
        match self.sent.get_mut(place) {
            Some(known) => *known = Sent { again: true, is_delivered: known.is_delivered, ..sent },
            None => self.sent.push(sent),
        }
    }

    /// Processes an acknowledgement of everything below `ack` and of `blocks`; `board` contains the segments reported before. Returns its
    /// sample (UpdateRateSample, GenerateRateSample).
    pub(crate) fn on_ack(
        &mut self,
        now: Time,
        ack: SegmentNumber,
        blocks: &[SackBlock],
        board: Option<&Scoreboard>,
    ) -> Option<RateSample> {
        let mut newest = Newest::default();
        if !blocks.is_empty() {
            let nothing = Scoreboard::default();
            let known = board.unwrap_or(&nothing);
            for &(start, end) in blocks.iter().filter(|&&block| !known.is_in_latest(block)) {
                known.for_each_missing(start..end, |segment| self.deliver(segment, now, &mut newest));
            }
        } else if ack == self.oldest {
            self.infer_delivery(now, &mut newest);
        }
        let acked = ack.position_from(self.oldest).unwrap_or(0).min(self.sent.len());
        let end = self.oldest + Segments(acked as u32);
        SegmentNumber::range(self.oldest..end).for_each(|segment| self.deliver(segment, now, &mut newest));
        let rtt = newest
            .once
            .map(|at| now.since(at))
            .or_else(|| self.by_timestamp(now, newest.any.filter(|_| acked > 0).map(|(at, _)| at)));
        let newest = newest.any.and_then(|(_, segment)| self.sent.get((segment - self.oldest).0 as usize).copied());
        self.sent.drop_front(acked);
        self.oldest = end;
        self.app_limited_end = self.app_limited_end.filter(|&end| self.delivered <= end);
        let newest = newest?;
        (self.delivered_time, self.first_sent_time) = (now, newest.at);
        let interval = newest.at.since(newest.first_sent_time).max(now.since(newest.delivered_time));
        // A shorter interval results from a segment that was retransmitted although it had arrived.
        let is_reliable = interval > TimeDelta::ZERO && self.min_round_trip.is_none_or(|min| interval >= min);
        let rate = (self.delivered - newest.delivered) as f64 / interval.seconds();
        is_reliable.then_some(RateSample {
            rate,
            app_limited: newest.app_limited,
            delivered: self.delivered,
            prior_delivered: newest.delivered,
            prior_lost: newest.lost.into(),
            in_flight: Segments(newest.in_flight),
            rtt,
        })
    }

    /// Recovery considers a segment lost. Returns `None` if it has been counted as lost since its last transmission, or has arrived, which
    /// is only a guess without SACK.
    pub(crate) fn on_lost(&mut self, segment: SegmentNumber, now: Time) -> Option<Lost> {
        let place = segment.position_from(self.oldest)?;
        let only_guesses = self.inferred.is_some();
        let sent = self.sent.get_mut(place).filter(|sent| (only_guesses || !sent.is_delivered) && !sent.is_lost)?;
        sent.is_lost = true;
        self.lost = self.lost.saturating_add(1);
        let begins_range = self.last_lost.replace(segment).is_none_or(|last| last.next() != segment);
        Some(Lost {
            now,
            lost: self.lost.into(),
            prior_lost: sent.lost.into(),
            in_flight: Segments(sent.in_flight),
            app_limited: sent.app_limited,
            begins_range,
        })
    }

    /// A needless retransmission has arrived.
    pub(crate) fn count_duplicate(&mut self) {
        self.delivered += 1;
    }

    /// The RTT of a retransmission sent then, in ticks of the timestamps: it may be shorter than the path, but is at least a tick (Linux).
    fn by_timestamp(&self, now: Time, sent: Option<Time>) -> Option<TimeDelta> {
        let at = sent.filter(|_| self.timestamps)?;
        let ticks = (now.0 / TICK.0 - at.0 / TICK.0).max(1);
        Some(TimeDelta(ticks * TICK.0))
    }

    /// A duplicate reports an arrival without identifying the segment.
    fn infer_delivery(&mut self, now: Time, newest: &mut Newest) {
        let Some(inferred) = self.inferred else { return };
        let mut segment = inferred.max(self.oldest.next());
        while self.sent.get((segment - self.oldest).0 as usize).is_some_and(|sent| sent.is_delivered) {
            count_step();
            segment = segment.next();
        }
        self.deliver(segment, now, newest);
        self.inferred = Some(segment);
    }

    /// Counts a delivery, once.
    #[inline]
    fn deliver(&mut self, segment: SegmentNumber, now: Time, newest: &mut Newest) {
        count_step();
        let place = segment.position_from(self.oldest);
        let Some(known) = place.and_then(|place| self.sent.get_mut(place)) else { return };
        if known.is_delivered {
            return;
        }
        known.is_delivered = true;
        self.delivered += 1;
        if !known.again {
            let round_trip = now.since(known.at);
            self.min_round_trip = Some(self.min_round_trip.map_or(round_trip, |min| min.min(round_trip)));
            newest.once = newest.once.max(Some(known.at));
        }
        if newest.any.is_none_or(|(at, number)| known.at > at || (known.at == at && segment > number)) {
            newest.any = Some((known.at, segment));
        }
    }

    /// The sender has sent all of its data, and the window has room: data in flight, and data sent until it is delivered, underestimates the
    /// path (CheckIfApplicationLimited). Linux checks this only when the application writes, so that its retransmissions of the last data
    /// measure the path.
    pub(crate) fn on_dry(&mut self, in_flight: Segments) {
        if self.begin == Begin::WhenDry {
            self.app_limited_end = Some((self.delivered + u64::from(in_flight.0)).max(1));
        } else {
            self.begin = Begin::WithNextWrite;
        }
    }

    /// The sender has sent all that it may send now, and the window or the pacer holds back the rest.
    pub(crate) fn on_held_back(&mut self) {
        if self.begin == Begin::WithNextWrite {
            self.begin = Begin::Later;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::segment_number::plain::{blocks, n, range};
    use crate::tcp::bench::plain;

    fn at(ms: u64) -> Time {
        Time(TimeDelta::from_millis(ms).0)
    }

    /// The rate from an acknowledgement of everything below `ack` and of `blocks`.
    fn sampled_rate(
        rate: &mut DeliveryRate,
        (now, ack): (Time, u32),
        reported: &[(u32, u32)],
        board: Option<&Scoreboard>,
    ) -> Option<f64> {
        let sample = rate.on_ack(now, n(ack), &blocks(reported), board)?;
        assert_eq!((sample.app_limited, sample.delivered), (false, rate.delivered));
        Some(sample.rate)
    }

    /// Four segments sent at time 0.
    fn four() -> DeliveryRate {
        let mut rate = DeliveryRate::default();
        rate.begin_flight(at(0));
        (0..4).for_each(|segment| rate.on_sent(n(segment), at(0), Segments(segment + 1)));
        rate
    }

    #[test]
    fn acknowledgements_ten_milliseconds_apart_yield_a_hundred_segments_per_second() {
        let mut rate = four();
        // One in 100 ms, two in 110 and so on.
        assert_eq!(sampled_rate(&mut rate, (at(100), 1), &[], None), Some(10.0));
        rate.on_sent(n(4), at(100), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(110), 2), &[], None), Some(2.0 / 0.11));
        assert_eq!(sampled_rate(&mut rate, (at(120), 3), &[], None), Some(3.0 / 0.12));
        assert_eq!(sampled_rate(&mut rate, (at(130), 4), &[], None), Some(4.0 / 0.13));
        // 4 was sent when one had been delivered, at 100 ms: four more since then.
        assert_eq!(sampled_rate(&mut rate, (at(200), 5), &[], None), Some(40.0));
    }

    /// The minimum RTT of BBR in Linux 6.12.117 falls from 8.38 to 8.00 ms when a retransmission is acknowledged.
    #[test]
    fn a_retransmission_has_an_rtt_of_whole_milliseconds() {
        let rtt_of = |timestamps, sent_us, acked_us| {
            let at = |us| Time(TimeDelta::from_micros(us).0);
            let mut rate = DeliveryRate::of(&TcpSpec { timestamps, ..plain() });
            rate.begin_flight(at(0));
            [0, sent_us].into_iter().for_each(|us| rate.on_sent(n(0), at(us), Segments(1)));
            rate.on_ack(at(acked_us), n(1), &[], None).unwrap().rtt
        };
        assert_eq!(
            [10_900, 10_100, 10_000].map(|us| rtt_of(true, us, 18_380)),
            [8, 8, 8].map(|ms| Some(TimeDelta::from_millis(ms)))
        );
        assert_eq!(rtt_of(true, 10_950, 19_330), Some(TimeDelta::from_millis(9)));
        assert_eq!(rtt_of(true, 10_200, 10_500), Some(TimeDelta::from_millis(1)));
        assert_eq!(rtt_of(false, 10_900, 18_380), None);
    }

    #[test]
    fn compressed_acknowledgements_do_not_hide_the_send_rate() {
        let mut rate = DeliveryRate::default();
        rate.begin_flight(at(0));
        for segment in 0..4 {
            rate.on_sent(n(segment), at(50 * u64::from(segment)), Segments(4));
        }
        assert_eq!(sampled_rate(&mut rate, (at(300), 1), &[], None), Some(1.0 / 0.3));
        rate.on_sent(n(4), at(400), Segments(4));
        // All others at 420 ms: for the newest, 4, sending took 400 ms since 0, and acknowledgement 120 ms since 300 ms.
        assert_eq!(sampled_rate(&mut rate, (at(420), 5), &[], None), Some(4.0 / 0.4));
    }

    #[test]
    fn a_duplicate_with_sack_provides_a_sample_and_its_segment_counts_once() {
        let mut rate = four();
        let mut board = Scoreboard::default();
        assert_eq!(sampled_rate(&mut rate, (at(100), 0), &[(1, 2)], None), Some(10.0));
        board.add(range(1..2));
        assert_eq!(sampled_rate(&mut rate, (at(110), 0), &[(1, 3)], Some(&board)), Some(2.0 / 0.11));
        board.add(range(1..3));
        assert_eq!(sampled_rate(&mut rate, (at(120), 0), &[(1, 3)], Some(&board)), None);
        // 0 is retransmitted at 120, and its acknowledgement at 230 covers all three: 2 were delivered at 110.
        rate.on_sent(n(0), at(120), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(230), 3), &[], Some(&board)), Some(1.0 / 0.12));
        assert_eq!(rate.delivered, 3);
    }

    #[test]
    fn without_sack_a_duplicate_counts_as_the_next_segment_so_that_a_repair_delivers_only_the_rest() {
        let mut rate = DeliveryRate::of(&plain());
        rate.begin_flight(at(0));
        (0..4).for_each(|segment| rate.on_sent(n(segment), at(0), Segments(segment + 1)));
        // 0 is lost.
        assert_eq!(sampled_rate(&mut rate, (at(100), 0), &[], None), Some(10.0));
        assert_eq!(sampled_rate(&mut rate, (at(110), 0), &[], None), Some(2.0 / 0.11));
        assert_eq!(sampled_rate(&mut rate, (at(120), 0), &[], None), Some(3.0 / 0.12));
        assert_eq!(sampled_rate(&mut rate, (at(125), 0), &[], None), None);
        rate.on_sent(n(0), at(120), Segments(4));
        // One more, which was sent 120 ms after the others.
        assert_eq!(sampled_rate(&mut rate, (at(230), 4), &[], None), Some(1.0 / 0.12));
        assert_eq!(rate.delivered, 4);
    }

    #[test]
    fn an_interval_shorter_than_the_minimum_rtt_is_rejected() {
        let mut rate = four();
        assert_eq!(sampled_rate(&mut rate, (at(100), 1), &[], None), Some(10.0));
        // Retransmitted at 105 and at 112, but the first copies are acknowledged at 110 and 115.
        rate.on_sent(n(1), at(105), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(110), 2), &[], None), Some(1.0 / 0.105));
        rate.on_sent(n(2), at(112), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(115), 3), &[], None), None);
    }

    #[test]
    fn segments_sent_after_the_data_ran_out_are_app_limited_until_delivered() {
        let mut rate = four();
        rate.on_dry(Segments(4));
        rate.on_sent(n(4), at(50), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(100), 4), &[], None), Some(40.0));
        let limited = rate.on_ack(at(150), n(5), &[], None);
        let wanted = RateSample {
            rate: 5.0 / 0.15,
            app_limited: true,
            delivered: 5,
            prior_delivered: 0,
            prior_lost: 0,
            in_flight: Segments(4),
            rtt: Some(TimeDelta::from_millis(100)),
        };
        assert_eq!(limited, Some(wanted));
        rate.begin_flight(at(200));
        rate.on_sent(n(5), at(200), Segments(4));
        assert_eq!(sampled_rate(&mut rate, (at(300), 6), &[], None), Some(10.0));
    }

    /// 44 Mbit/s, 0.6 ms, 7 packets, eleven segments every 3.4 ms: BBR of Linux 6.12.117 leaves Startup by the samples of retransmissions at the
    /// end of a write, and has 13 retransmissions instead of 39.
    #[test]
    fn linux_begins_an_app_limited_phase_with_the_next_write() {
        let spec = TcpSpec { window_validation: WindowValidation::Linux, ..TcpSpec::default() };
        let mut rate = DeliveryRate::of(&spec);
        let send = |rate: &mut DeliveryRate, segment, time| rate.on_sent(n(segment), at(time), Segments(1));
        let limited =
            |rate: &mut DeliveryRate, time, ack| rate.on_ack(at(time), n(ack), &[], None).map(|sample| sample.app_limited);
        // The first write, and segments after its first delivery.
        rate.begin_flight(at(0));
        (0..3).for_each(|segment| send(&mut rate, segment, 0));
        rate.on_held_back();
        assert_eq!(limited(&mut rate, 100, 1), Some(true));
        send(&mut rate, 3, 100);
        rate.on_dry(Segments(3));
        assert_eq!(limited(&mut rate, 110, 3), Some(true));
        // The last segment again, although nothing else is left to send, and then another write.
        send(&mut rate, 3, 120);
        assert_eq!(limited(&mut rate, 220, 4), Some(false));
        rate.begin_flight(at(300));
        send(&mut rate, 4, 300);
        assert_eq!(limited(&mut rate, 400, 5), Some(true));
    }

    #[test]
    fn a_loss_counts_once_per_transmission_and_includes_the_state_at_that_transmission() {
        let mut rate = four();
        let lost = |rate: &mut DeliveryRate, segment| {
            rate.on_lost(n(segment), at(110)).map(|lost| (lost.lost, lost.prior_lost, lost.in_flight.0, lost.begins_range))
        };
        assert_eq!(sampled_rate(&mut rate, (at(100), 0), &[(3, 4)], None), Some(10.0));
        assert_eq!(
            [0, 1, 0, 3].map(|segment| lost(&mut rate, segment)),
            [Some((1, 0, 1, true)), Some((2, 0, 2, false)), None, None]
        );
        // 0 is retransmitted after two losses, and is lost again.
        rate.on_sent(n(0), at(120), Segments(2));
        assert_eq!(lost(&mut rate, 0), Some((3, 2, 2, true)));
    }
}
