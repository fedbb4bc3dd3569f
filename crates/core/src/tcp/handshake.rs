//! Opening a connection (RFC 9293 section 3.5): segment 0 is the SYN, which consists of headers only, and data waits until it is
//! acknowledged. The SYN provides the first RTT sample and does not open the window. With `bare_segments`, the acknowledgements of the
//! receiver's SYN and FIN are packets with the number of the SYN and the flag PSH, and the FIN of a short transfer is a segment of headers
//! only, which takes a place in the window.
//!
//! Differs: a lost SYN-ACK is repaired only by the SYN, whose timer is equally long. A sender without timestamps whose SYN was lost keeps
//! its backed-off timeout until it has measured an RTT, instead of 3 s (RFC 6298 rule 5.7).

use super::spec::TcpSpec;
use crate::primitives::segment_number::SegmentNumber;
use crate::primitives::units::{Bytes, Segments};

/// Segment number of the SYN.
pub(crate) const SYN: SegmentNumber = SegmentNumber::FIRST;

impl TcpSpec {
    /// Segments before the first data segment.
    pub(crate) fn before_data(&self) -> Segments {
        Segments(u32::from(self.handshake))
    }

    /// Whether a handshake has measured an RTT before the first data segment.
    pub(crate) fn measures_handshake(&self) -> bool {
        self.handshake || self.established
    }

    pub(crate) fn first_data(&self) -> SegmentNumber {
        SegmentNumber::FIRST + self.before_data()
    }

    /// One past the last segment of a transfer with this much data.
    pub(crate) fn end_of(&self, data: Segments) -> SegmentNumber {
        self.first_data().saturating_add(data)
    }

    /// One past the last segment of a transfer of this much data; the FIN may be a segment of its own.
    pub(crate) fn end_of_transfer(&self, data: Segments) -> SegmentNumber {
        self.end_of(data).saturating_add(Segments(u32::from(self.sends_fin_after(data))))
    }

    /// Whether all of a transfer has been sent when its application closes the connection.
    fn sends_fin_after(&self, Segments(data): Segments) -> bool {
        self.bare_segments && f64::from(data) <= self.initial_window
    }

    /// Size of the SYN on the wire.
    pub(crate) fn syn_size(&self) -> Bytes {
        self.header + self.syn_options
    }

    /// Whether a segment is the SYN.
    pub(crate) fn is_syn(&self, segment: SegmentNumber) -> bool {
        self.handshake && segment == SYN
    }

    /// Payload of all segments before this data segment.
    pub(crate) fn payload_before(&self, segment: SegmentNumber) -> Bytes {
        let Segments(segments) = segment - self.first_data();
        Bytes(u64::from(segments) * self.mss.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::{Controller, Start};
    use crate::primitives::units::{Time, TimeDelta};
    use crate::settings::PlainWords;
    use crate::tcp::Recovery;
    use crate::tcp::bench::{SenderHarness, plain};

    fn opening(spec: TcpSpec) -> SenderHarness {
        SenderHarness::new(TcpSpec { handshake: true, ..spec }, Start { window: 4.0, ssthresh: 64.0, ..Start::default() }, 100)
    }

    #[test]
    fn data_waits_for_the_syn_which_opens_no_window() {
        for &recovery in Recovery::ALL {
            let mut bench = opening(TcpSpec { recovery, ..plain() });
            assert_eq!(bench.send(), [SYN.0], "{recovery:?}");
            assert_eq!(bench.at(100).process_ack(1, &[]), [1, 2, 3, 4], "{recovery:?}");
            assert_eq!(bench.window(), 4.0, "{recovery:?}");
            // RFC 6298 rule 2.2 with the SYN's 100 ms: 100 + 4 x 50 ms, and at least 1 s.
            let estimator = bench.sender.timer.estimator;
            assert_eq!(estimator.round_trip(&bench.spec.timer), Some(TimeDelta::from_millis(100)), "{recovery:?}");
            assert_eq!(estimator.timeout(&bench.spec.timer), TimeDelta::from_millis(1_000), "{recovery:?}");
            // One segment acknowledged in slow start: two more.
            assert_eq!(bench.at(200).process_ack(2, &[]), [5, 6], "{recovery:?}");
        }
    }

    #[test]
    fn a_lost_syn_is_retransmitted_and_sets_the_window_to_one() {
        let mut bench = opening(plain());
        bench.send();
        assert!(bench.expire());
        assert_eq!((bench.now, bench.send()), (Time(TimeDelta::from_millis(1_000).0), vec![SYN.0]));
        assert_eq!(bench.sender.timer.deadline, Time(TimeDelta::from_millis(3_000).0));
        assert_eq!(bench.at(1_100).process_ack(1, &[]), [1]);
        assert_eq!((bench.window(), bench.sender.controller.ssthresh().0), (1.0, 64.0));
        assert_eq!((bench.sender.sequence.counts.timeouts, bench.sender.sequence.counts.retransmitted), (1, 1));
        // Karn: it is unknown which of the two was acknowledged, so the timeout stays backed off.
        assert_eq!(bench.sender.timer.estimator.timeout(&bench.spec.timer), TimeDelta::from_millis(2_000));
    }

    #[test]
    fn as_in_linux_only_the_second_timeout_of_the_syn_resets_the_window() {
        // Observed with Linux 6.18: a window of 10 after one lost SYN, and of 1 after two.
        let window_after = |timeouts: u32| {
            let mut bench = opening(TcpSpec { syn_timeouts_to_reset: 2, ..plain() });
            for _ in 0..timeouts {
                assert_eq!((bench.send(), bench.expire()), (vec![SYN.0], true));
            }
            bench.send();
            (bench.at(10_000).process_ack(1, &[]).len(), bench.window())
        };
        assert_eq!([0, 1, 2, 3].map(window_after), [(4, 4.0), (4, 4.0), (1, 1.0), (1, 1.0)]);
    }

    /// 2 Mbit/s, 3 ms and two flows in opposite directions with Linux 6.12.117: after a lost SYN-ACK all data is ECN-capable.
    #[test]
    fn a_lost_syn_ends_ecn_and_a_lost_answer_does_not() {
        let is_without_ecn = |duplicates: &[(u32, u32)]| {
            let spec = TcpSpec { ecn: true, ecn_fallback: true, recovery: Recovery::RackTlp, ..plain() };
            let mut bench = opening(spec);
            assert_eq!((bench.send(), bench.expire()), (vec![SYN.0], true));
            bench.send();
            bench.at(1_100).process_ack(1, duplicates);
            bench.sender.sequence.is_without_ecn()
        };
        assert_eq!([is_without_ecn(&[]), is_without_ecn(&[(0, 1)])], [true, false]);
    }

    #[test]
    fn as_in_linux_the_first_timeouts_of_the_syn_are_equally_long() {
        // The documentation's example for four: timeouts of 1, 1, 1, 1, 1, 2 and 4 s.
        let mut bench = opening(TcpSpec { syn_linear_timeouts: 4, ..plain() });
        let times = [(); 7].map(|()| {
            assert_eq!((bench.send(), bench.expire()), (vec![SYN.0], true));
            bench.now.seconds()
        });
        assert_eq!(times, [1.0, 2.0, 3.0, 4.0, 5.0, 7.0, 11.0]);
    }

    #[test]
    fn an_established_connection_has_the_rtt_sample_of_its_handshake() {
        let timeouts = |established| {
            let spec = TcpSpec { established, recovery: Recovery::RackTlp, ..plain() };
            let mut bench = SenderHarness::new(spec, Start { window: 4.0, ..Start::default() }, 4);
            if established {
                bench.sender.adopt_handshake(TimeDelta::from_millis(300), &bench.spec);
            }
            assert_eq!(bench.send(), [0, 1, 2, 3]);
            (bench.sender.timer.deadline, bench.sender.timer.estimator.timeout(&bench.spec.timer))
        };
        // RFC 6298 rule 2.2, 300 + 4 x 150 ms, at least 1 s, and the probe after two RTTs; otherwise 1 s each.
        let ms = TimeDelta::from_millis;
        assert_eq!(timeouts(true), (Time(ms(600).0), ms(1_000)));
        assert_eq!(timeouts(false), (Time(ms(1_000).0), ms(1_000)));
    }

    #[test]
    fn a_transfer_stopped_before_its_start_opens_no_connection() {
        let mut bench = opening(plain());
        bench.sender.sequence.limit = SYN;
        assert_eq!(bench.send(), []);
    }

    #[test]
    fn the_fin_of_a_transfer_that_fits_in_the_initial_window_is_a_segment() {
        let spec = TcpSpec { bare_segments: true, handshake: true, ..plain() };
        // An initial window of four segments, and the SYN before them.
        let ends = [3, 4, 5].map(|data| spec.end_of_transfer(Segments(data)).0);
        assert_eq!(ends, [5, 6, 6]);
        assert_eq!(TcpSpec { bare_segments: false, ..spec }.end_of_transfer(Segments(3)).0, 4);
    }
}
