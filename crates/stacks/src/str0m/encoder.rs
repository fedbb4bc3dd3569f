//! The rate of the encoder, from the bandwidth estimate. As in libwebrtc, headers and retransmissions are part of what the estimate allows. A
//! long queue in the network lowers the rate, and one in the pacer takes away frames.

use super::settings::{HEADERS, RETRANSMISSIONS, Settings, VIDEO, datagram};
use std::collections::VecDeque;
use std::time::Duration;
use tailback_core::primitives::units::{Time, TimeDelta};

/// Bytes of a packet of video beside its payload: RTP header (12) with extensions (20), tag of AES-GCM (16), and [`HEADERS`].
pub(super) const OVERHEAD: u64 = 48 + HEADERS as u64;

/// How often the encoder learns of the estimate: the interval in which libwebrtc updates it.
pub(super) const UPDATE: Duration = Duration::from_millis(25);

/// The interval in which retransmissions are counted, and the largest share that they take from the encoder
/// (`modules/video_coding/fec_controller_default.cc` of libwebrtc).
const INTERVAL: TimeDelta = TimeDelta(1_000_000_000_000);
const MOST_REPEATED: f64 = 0.5;

/// The delay in queues beyond the least RTT that the congestion window accepts (`rtc_base/experiments/rate_control_settings.cc`), and the number of
/// updates in which the least RTT is sought: 32 reports of libwebrtc's receiver, one in 100 ms.
const ACCEPTED: Duration = Duration::from_millis(350);
const RTTS: usize = 128;

/// Frames are skipped while the pacer holds more than the estimate sends in this time: the bucket of libwebrtc's frame dropper
/// (`modules/video_coding/utility/frame_dropper.cc`).
const MOST_QUEUED: f64 = 0.5;

pub(super) struct Encoder {
    /// Bytes of the video, and of its retransmissions, in the current interval, which began at this time.
    interval: (Time, [u64; 2]),
    /// The share of retransmissions in the last interval.
    repeated: f64,
    /// The last RTTs.
    rtts: VecDeque<Duration>,
    /// The share of the estimate that a full congestion window leaves.
    pushback: f64,
}

impl Encoder {
    pub(super) fn new(start: Time) -> Encoder {
        Encoder { interval: (start, [0; 2]), repeated: 0.0, rtts: VecDeque::new(), pushback: 1.0 }
    }

    /// Counts a packet that is sent, if it is media. Padding, of probes, has the P bit (RFC 3550 section 5.1).
    pub(super) fn count(&mut self, packet: &[u8]) {
        let [first, .., a, b, c, d] = *packet.first_chunk::<12>().unwrap_or(&[0; 12]);
        let source = [VIDEO, RETRANSMISSIONS].iter().position(|&source| source == u32::from_be_bytes([a, b, c, d]));
        if let Some(source) = source.filter(|_| first & 0x20 == 0) {
            self.interval.1[source] += (packet.len() + HEADERS) as u64;
        }
    }

    /// Learns of an RTT, once per [`UPDATE`]. The bytes in flight and the congestion window are both in proportion to the rate; so the RTT and the
    /// accepted one stand for them (`modules/congestion_controller/goog_cc/congestion_window_pushback_controller.cc`).
    pub(super) fn update(&mut self, rtt: Duration) {
        if self.rtts.len() == RTTS {
            self.rtts.pop_front();
        }
        self.rtts.push_back(rtt);
        let accepted = self.rtts.iter().min().copied().unwrap_or_default() + ACCEPTED;
        self.pushback = match rtt.div_duration_f64(accepted) {
            1.5.. => self.pushback * 0.9,
            1.0.. => self.pushback * 0.95,
            0.1.. => (self.pushback * 1.05).min(1.0),
            _ => 1.0,
        };
    }

    /// The bytes of the next frame; `None` if it is skipped. `estimate` is in bit/s, and `queued` are the bytes in the pacer.
    pub(super) fn frame(&mut self, now: Time, estimate: u64, queued: usize, settings: &Settings) -> Option<usize> {
        let (since, [video, repeated]) = self.interval;
        if now >= since + INTERVAL {
            self.repeated = (repeated as f64 / (video + repeated).max(1) as f64).min(MOST_REPEATED);
            self.interval = (now, [0; 2]);
        }
        if queued as f64 * 8.0 > estimate as f64 * MOST_QUEUED {
            return None;
        }
        let bytes = |rate: u64| rate / (8 * settings.frame_rate);
        let allowed = bytes((estimate as f64 * self.pushback * (1.0 - self.repeated)) as u64);
        let headers = allowed.div_ceil((datagram(settings.mtu) + HEADERS) as u64) * OVERHEAD;
        let frame = allowed.saturating_sub(headers).clamp(bytes(settings.min), bytes(settings.max));
        Some(frame.max(1) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000_000;

    /// A packet of RTP with this source.
    fn packet(first: u8, source: u32, bytes: usize) -> Vec<u8> {
        let mut packet = vec![0; bytes - HEADERS];
        packet[0] = first;
        packet[8..12].copy_from_slice(&source.to_be_bytes());
        packet
    }

    /// 100,000 bytes per second, 10,000 per frame.
    fn frame(encoder: &mut Encoder, at: u64, queued: usize) -> Option<usize> {
        let settings = Settings { frame_rate: 10, ..Settings::default() };
        encoder.frame(Time(at * SECOND), 800_000, queued, &settings)
    }

    #[test]
    fn headers_are_part_of_what_the_estimate_allows() {
        let packets = 10_000_usize.div_ceil(datagram(1500) + HEADERS);
        assert_eq!(frame(&mut Encoder::new(Time(0)), 0, 0), Some(10_000 - packets * OVERHEAD as usize));
    }

    #[test]
    fn retransmissions_of_the_last_second_are_taken_from_the_encoder() {
        let mut encoder = Encoder::new(Time(0));
        let full = frame(&mut encoder, 0, 0).unwrap() as f64;
        let sent = [(0x90, VIDEO, 900), (0x90, RETRANSMISSIONS, 100), (0xb0, RETRANSMISSIONS, 500), (0x90, 3, 500)];
        sent.into_iter().for_each(|(first, source, bytes)| encoder.count(&packet(first, source, bytes)));
        encoder.count(&[0]);
        let share = frame(&mut encoder, 1, 0).unwrap() as f64 / full;
        assert!((0.89..0.91).contains(&share), "{share}");
        assert_eq!(frame(&mut encoder, 2, 0), Some(full as usize));
    }

    #[test]
    fn an_rtt_beyond_the_accepted_one_lowers_the_rate_until_it_has_fallen() {
        let mut encoder = Encoder::new(Time(0));
        let full = frame(&mut encoder, 0, 0).unwrap();
        let rate_after = |encoder: &mut Encoder, rtt, times| {
            (0..times).for_each(|_| encoder.update(Duration::from_millis(rtt)));
            frame(encoder, 0, 0).unwrap() as f64 / full as f64
        };
        assert_eq!(rate_after(&mut encoder, 50, 1), 1.0);
        assert_eq!(rate_after(&mut encoder, 399, 10), 1.0);
        let lower = rate_after(&mut encoder, 401, 10);
        assert!((0.58..0.62).contains(&lower), "{lower}");
        assert!(rate_after(&mut encoder, 601, 1) < 0.91 * lower);
        assert_eq!(rate_after(&mut encoder, 300, 20), 1.0);
    }

    #[test]
    fn frames_are_skipped_while_the_pacer_holds_half_a_second() {
        let mut encoder = Encoder::new(Time(0));
        assert!(frame(&mut encoder, 0, 50_000).is_some());
        assert_eq!(frame(&mut encoder, 0, 50_001), None);
    }
}
