//! WebRTC of `str0m`: a sender of video whose encoder follows the bandwidth estimate, and its receiver.
//!
//! The estimate is str0m's port of libwebrtc's Google Congestion Control (GCC), from transport-wide feedback. The encoder is synthetic: it makes a
//! frame at fixed intervals, whose size follows the estimate. Lost packets are requested and sent again. ICE connects two known addresses,
//! without SDP.

mod clock;
mod encoder;
mod null_crypto;
mod settings;

pub use settings::Settings;

use crate::Transfer;
use crate::end::{parameters, positive, transfer};
use encoder::Encoder;
use serde::Deserialize;
use settings::{HEADERS, RETRANSMISSIONS, VIDEO, datagram};
use std::collections::VecDeque;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::{Duration, Instant};
use str0m::bwe::Bitrate;
use str0m::format::PayloadParams;
use str0m::media::{MediaKind, Mid};
use str0m::net::{Protocol, Receive};
use str0m::rtp::RtpWrite;
use str0m::{Candidate, DATAGRAM_MTU_TARGET_MIN, Event, IceCreds, Input, Output, Rtc, RtcConfig, RtcError};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_host::library::EndSettings;
use tailback_host::{Datagram, EcnField, Host, Outbox, TransportReport, report_fault};

/// Parameters in a scenario, with the defaults of [`Settings`].
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Parameters {
    congestion: Congestion,
    initial: u64,
    min: u64,
    max: u64,
    frame_rate: u64,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Congestion {
    #[default]
    Gcc,
}

impl Default for Parameters {
    fn default() -> Parameters {
        let Settings { initial, min, max, frame_rate, .. } = Settings::default();
        Parameters { congestion: Congestion::Gcc, initial, min, max, frame_rate }
    }
}

/// RTP header with extensions, original sequence number and tag, at most: the bound that str0m takes for its own packets.
const RTP_OVERHEAD: usize = 80;

/// The highest rate of str0m's pacer, in bit/s.
const MOST: u64 = 10_000_000_000;

/// The only media.
const MID: &str = "video";

/// Clock of RTP time stamps of video (RFC 3551 section 5).
const RTP_CLOCK: u64 = 90_000;

/// An end of a connection.
pub struct Str0m {
    settings: Settings,
    local: SocketAddrV4,
    /// The instant of time 0.
    origin: Instant,
    random: fastrand::Rng,
    /// The video that a sender sends.
    video: Option<Video>,
    rtc: Option<Rtc>,
    /// Packets since the last poll: source, destination and payload.
    arrived: VecDeque<(SocketAddrV4, SocketAddrV4, Vec<u8>)>,
    sent: u64,
    received: u64,
    estimate: u64,
    /// str0m's next timer.
    timer: Option<Time>,
}

struct Video {
    transfer: Transfer,
    /// The time of the next frame; `None` before the connection is there.
    next: Option<Time>,
    frames: u64,
    packets: u64,
    encoder: Encoder,
}

impl Str0m {
    /// An end of a flow of a scenario.
    pub(crate) fn of(end: &EndSettings) -> Result<Box<dyn Host>, String> {
        let Parameters { congestion: Congestion::Gcc, initial, min, max, frame_rate } = parameters(end)?;
        for (key, value) in [("initial", initial), ("min", min), ("max", max), ("frame_rate", frame_rate)] {
            positive(key, value)?;
        }
        let rates = [("max", max, initial, MOST), ("min", min, 1, initial)];
        if let Some((key, value, least, most)) = rates.into_iter().find(|&(_, value, least, most)| value < least || most < value)
        {
            return Err(format!("`{key}` is {value}; expected {least} to {most} bit/s, with `initial` of {initial}"));
        }
        if frame_rate > 1000 {
            return Err(format!("`frame_rate` is {frame_rate}; expected 1 to 1000"));
        }
        if end.size.is_some() {
            return Err("`size` is set; expected a `stop` instead, because the rate of a video varies".into());
        }
        let (mtu, least) = (end.mtu.0 as usize, DATAGRAM_MTU_TARGET_MIN + HEADERS);
        if mtu < least {
            return Err(format!("`mtu` is {mtu} bytes; expected at least {least}, as str0m requires"));
        }
        let settings = Settings { seed: end.seed, initial, min, max, frame_rate, mtu };
        Ok(Box::new(match transfer(end) {
            Some(transfer) => Str0m::sender(&settings, transfer)?,
            None => Str0m::receiver(&settings, end.local)?,
        }))
    }

    /// The end that sends a video from the start to the stop of a transfer.
    ///
    /// # Errors
    /// str0m's clock cannot be measured.
    pub fn sender(settings: &Settings, transfer: Transfer) -> Result<Str0m, String> {
        let video = Video { transfer, next: None, frames: 0, packets: 0, encoder: Encoder::new(transfer.start) };
        let end = Str0m::end(settings, transfer.local, 0)?;
        Ok(Str0m { video: Some(video), ..end })
    }

    /// The end that accepts a connection and receives the video.
    ///
    /// # Errors
    /// str0m's clock cannot be measured.
    pub fn receiver(settings: &Settings, local: SocketAddrV4) -> Result<Str0m, String> {
        Str0m::end(settings, local, 1)
    }

    fn end(settings: &Settings, local: SocketAddrV4, side: u64) -> Result<Str0m, String> {
        Ok(Str0m {
            settings: *settings,
            local,
            origin: clock::origin()?,
            random: fastrand::Rng::with_seed(settings.seed.wrapping_mul(2).wrapping_add(side)),
            video: None,
            rtc: None,
            arrived: VecDeque::new(),
            sent: 0,
            received: 0,
            estimate: settings.initial,
            timer: None,
        })
    }

    /// Bytes of video that the encoder has made.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes of video that have arrived.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The last bandwidth estimate of a sender, in bit/s.
    pub fn estimate(&self) -> u64 {
        self.estimate
    }

    /// Everything that happens now.
    fn advance(&mut self, now: Time, outbox: &mut Outbox) -> Result<(), RtcError> {
        let instant = self.origin + Duration::from_nanos(now.0 / 1000);
        // str0m draws from the generator of the thread, for identifiers.
        fastrand::seed(self.random.u64(..));
        self.open(now, instant)?;
        while let Some((source, destination, payload)) = self.arrived.pop_front() {
            if let Ok(packet) = Receive::new(Protocol::Udp, source.into(), destination.into(), &payload) {
                self.step(now, Input::Receive(instant, packet), outbox)?;
            }
        }
        self.stop(now)?;
        // Before str0m's timers: if it probed before the first frame, it would send padding in a second stream, whose place in its hash tables, and
        // hence in reports, differs between processes.
        self.encode(now, instant);
        self.step(now, Input::Timeout(instant), outbox)
    }

    /// Creates the connection: at the start of a sender, and for the first packet to a receiver.
    fn open(&mut self, now: Time, instant: Instant) -> Result<(), RtcError> {
        let video = self.video.as_ref().map(|video| video.transfer);
        let is_time = video.map_or(!self.arrived.is_empty(), |transfer| transfer.start <= now);
        if self.rtc.is_none() && is_time {
            let remote = video.map(|transfer| transfer.remote);
            self.rtc = Some(connection(&self.settings, self.local, remote, RtcConfig::new(), instant)?);
        }
        Ok(())
    }

    /// Passes an input to the connection, and handles all that follows.
    fn step(&mut self, now: Time, input: Input<'_>, outbox: &mut Outbox) -> Result<(), RtcError> {
        let Some(rtc) = &mut self.rtc else { return Ok(()) };
        rtc.handle_input(input)?;
        self.timer = loop {
            match rtc.poll_output()? {
                Output::Transmit(packet) => {
                    if let Some(video) = &mut self.video {
                        video.encoder.count(&packet.contents);
                    }
                    if let SocketAddr::V4(destination) = packet.destination {
                        let (source, ecn) = (self.local, EcnField::NotEct);
                        outbox.send(&Datagram { source, destination, ecn, payload: &packet.contents });
                    }
                }
                // The event of an estimate gives the mean of 3 s, which is late when the rate falls.
                Output::Event(Event::PeerStats(stats)) => {
                    self.estimate = stats.bwe_tx.map_or(self.estimate, |rate| rate.as_u64());
                    if let (Some(video), Some(rtt)) = (&mut self.video, stats.rtt) {
                        video.encoder.update(rtt);
                    }
                }
                Output::Event(Event::RtpPacket(packet)) => self.received += packet.payload.len() as u64,
                Output::Event(Event::Connected) => {
                    if let Some(video) = &mut self.video {
                        video.next = Some(now);
                    }
                }
                Output::Event(_) => {}
                Output::Timeout(at) => break time(at - self.origin).map(|at| at.max(now)),
            }
        };
        Ok(())
    }

    /// Closes the connection of a sender at the stop.
    fn stop(&mut self, now: Time) -> Result<(), RtcError> {
        if self.video.take_if(|video| video.transfer.stop <= now).is_some()
            && let Some(rtc) = &mut self.rtc
        {
            rtc.close()?;
        }
        Ok(())
    }

    /// Writes a frame, if it is time for one and the encoder does not skip it.
    fn encode(&mut self, now: Time, instant: Instant) {
        let (Some(video), Some(rtc)) = (&mut self.video, &mut self.rtc) else { return };
        let Some(next) = video.next.filter(|&next| next <= now) else { return };
        let Some(codec) = rtc.codec_config().params().first().map(PayloadParams::pt) else { return };
        let mut api = rtc.direct_api();
        let Some(stream) = api.stream_tx(&VIDEO.into()) else { return };
        let Settings { frame_rate, mtu, .. } = self.settings;
        let rtp_time = (video.frames * RTP_CLOCK / frame_rate) as u32;
        video.frames += 1;
        video.next = Some(next + TimeDelta(1_000_000_000_000 / frame_rate));
        let queued = stream.queue_info().map_or(0, |queue| queue.byte_size());
        let Some(bytes) = video.encoder.frame(now, self.estimate, queued, &self.settings) else { return };
        let packets = bytes.div_ceil(datagram(mtu) - RTP_OVERHEAD);
        for number in 1..=packets {
            let payload = vec![0; bytes * number / packets - bytes * (number - 1) / packets];
            let packet = RtpWrite::new(codec, video.packets.into(), rtp_time, instant, payload);
            stream.write_rtp(packet.marker(number == packets).nackable(true));
            video.packets += 1;
        }
        self.sent += bytes as u64;
    }
}

impl Host for Str0m {
    fn receive(&mut self, _now: Time, datagram: &Datagram<'_>) {
        self.arrived.push_back((datagram.source, datagram.destination, datagram.payload.to_vec()));
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        if let Err(error) = self.advance(now, outbox) {
            report_fault(error.to_string());
        }
    }

    fn deadline(&self) -> Option<Time> {
        let of_video = self.video.as_ref().map(|video| match (&self.rtc, video.next) {
            (None, _) => video.transfer.start,
            (_, next) => next.unwrap_or(Time::NEVER).min(video.transfer.stop),
        });
        self.timer.into_iter().chain(of_video).min()
    }

    fn report(&mut self) -> TransportReport {
        TransportReport { delivered: Some(Bytes(self.received)), ..TransportReport::default() }
    }
}

/// `None` beyond the longest run, as timers that are not set.
fn time(since_origin: Duration) -> Option<Time> {
    u64::try_from(since_origin.as_nanos()).ok()?.checked_mul(1000).map(Time)
}

/// The connection of a sender, which knows the address of the receiver, or of a receiver.
fn connection(
    settings: &Settings,
    local: SocketAddrV4,
    remote: Option<SocketAddrV4>,
    config: RtcConfig,
    now: Instant,
) -> Result<Rtc, RtcError> {
    let is_sender = remote.is_some();
    let credentials = |of: &str| IceCreds { ufrag: of.into(), pass: "0".repeat(22) };
    let most = datagram(settings.mtu);
    let config = config
        .set_crypto_provider(Arc::new(null_crypto::provider()))
        .set_local_ice_credentials(credentials(if is_sender { "sender" } else { "receiver" }))
        .set_ice_lite(!is_sender)
        .set_rtp_mode(true)
        .set_mtu(most..=most)
        .clear_codecs()
        .enable_vp8(true)
        .set_stats_interval(is_sender.then_some(encoder::UPDATE))
        .enable_bwe(is_sender.then(|| settings.initial.into()));
    let mut rtc = config.build(now);
    let candidate = |address: SocketAddrV4| Candidate::host(address.into(), Protocol::Udp);
    rtc.add_local_candidate(candidate(local)?);
    if let Some(remote) = remote {
        rtc.add_remote_candidate(candidate(remote)?);
        // With the headers of full packets.
        let headers = settings.max * encoder::OVERHEAD / (most - RTP_OVERHEAD) as u64;
        rtc.bwe().set_bitrate(Bitrate::ZERO, (settings.max + headers).into());
    }
    let mut api = rtc.direct_api();
    api.set_remote_ice_credentials(credentials(if is_sender { "receiver" } else { "sender" }));
    api.set_ice_controlling(is_sender);
    let (mid, video, retransmissions) = (Mid::from(MID), VIDEO.into(), Some(RETRANSMISSIONS.into()));
    api.declare_media(mid, MediaKind::Video);
    if is_sender {
        api.declare_stream_tx(video, retransmissions, mid, None);
    } else {
        api.expect_stream_rx(video, retransmissions, mid, None);
        api.enable_twcc_feedback();
    }
    api.start_dtls(is_sender)?;
    Ok(rtc)
}
