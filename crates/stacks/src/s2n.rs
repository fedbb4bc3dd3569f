//! The CUBIC of s2n-quic (crate `s2n-quic-core`) without its sender.
//!
//! Its BBR is not available: it requires a record of each transmitted packet, and simulated senders report acknowledgements only.

use crate::end::no_parameters;
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::congestion_controller::Publisher;
use s2n_quic_core::recovery::cubic::ApplicationSettings;
use s2n_quic_core::recovery::{CongestionController, CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use std::time::Duration;
use tailback_core::primitives::units::{Time, TimeDelta};
use tailback_host::controllers::{Decision, Event, Kind, Law, SenderSettings};

/// RFC 9002 section 6.2.2.
const INITIAL_RTT: Duration = Duration::from_millis(333);

/// The controller of a simulated sender.
pub(crate) struct Cubic {
    law: CubicCongestionController,
    segment: u32,
    rtt: RttEstimator,
    /// RTT of the data that were acknowledged last.
    sample: TimeDelta,
    /// Time of the last event, which released the segments that the sender has sent since then.
    released: Time,
}

impl Cubic {
    /// The initial window is that of RFC 9002 section 7.2, as in s2n-quic, instead of the sender's.
    pub(crate) fn of(sender: &SenderSettings) -> Result<Box<dyn Law>, String> {
        no_parameters(&sender.parameters)?;
        let segment = sender.segment.0;
        let mtu = u16::try_from(segment).map_err(|_| format!("a packet has {segment} bytes; expected at most {}", u16::MAX))?;
        let law = CubicCongestionController::new(mtu, ApplicationSettings::default());
        let (sample, released) = (TimeDelta::ZERO, Time::ZERO);
        Ok(Box::new(Cubic { law, segment: mtu.into(), rtt: RttEstimator::new(INITIAL_RTT), sample, released }))
    }

    /// Reports transmissions since the last event, and at least one segment, because the controller examines at a transmission whether
    /// the window is in use.
    fn catch_up(&mut self, event: &Event) {
        let (known, outstanding) = (self.law.bytes_in_flight() as usize, event.in_flight as usize);
        let kept = known.min(outstanding.saturating_sub(self.segment as usize));
        self.law.on_packet_discarded(known - kept, &mut Silent);
        let limited = Some(event.app_limited != 0);
        self.law.on_packet_sent(instant(self.released), outstanding - kept, limited, &self.rtt, &mut Silent);
        self.released = Time(event.now);
    }
}

fn instant(Time(picoseconds): Time) -> Timestamp {
    NoopClock.get_time() + Duration::from_nanos(picoseconds / 1000)
}

impl Law for Cubic {
    fn on_event(&mut self, event: &Event) {
        self.catch_up(event);
        let now = instant(Time(event.now));
        if let Some(rtt) = event.round_trip() {
            self.sample = rtt;
            let sample = Duration::from_nanos(rtt.0 / 1000);
            self.rtt.update_rtt(Duration::ZERO, sample, now, true, PacketNumberSpace::ApplicationData);
        }
        let sent = instant(Time(event.now.saturating_sub(self.sample.0)));
        match () {
            () if event.is(Kind::Acked) => {
                if event.round_trip().is_some() {
                    self.law.on_rtt_update(sent, now, &self.rtt, &mut Silent);
                }
                let acked = (event.acked as usize).min(self.law.bytes_in_flight() as usize);
                self.law.on_ack(sent, acked, (), &self.rtt, &mut Silent, now, &mut Silent);
            }
            () if event.is(Kind::Marked) => self.law.on_explicit_congestion(1, now, &mut Silent),
            // RFC 9002 section 7.6.2: persistent congestion has the response of TCP to a timeout.
            () => {
                let lost = self.segment.min(self.law.bytes_in_flight());
                self.law.on_packet_lost(lost, (), event.is(Kind::Timeout), true, &mut Silent, now, &mut Silent);
            }
        }
    }

    fn decision(&self) -> Decision {
        Decision { window: self.law.congestion_window().into(), ssthresh: f64::INFINITY, pacing: 0 }
    }
}

/// Events of the controller for nobody, and random numbers, of which CUBIC needs none.
struct Silent;

impl Publisher for Silent {
    fn on_slow_start_exited(&mut self, _cause: SlowStartExitCause, _congestion_window: u32) {}

    fn on_delivery_rate_sampled(&mut self, _rate_sample: RateSample) {}

    fn on_pacing_rate_updated(&mut self, _pacing_rate: Bandwidth, _burst_size: u32, _pacing_gain: Ratio<u64>) {}

    fn on_bbr_state_changed(&mut self, _state: BbrState) {}
}

impl Generator for Silent {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }

    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(0);
    }
}
