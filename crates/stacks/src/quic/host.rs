//! An end of a connection.

use super::proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use super::proto::{
    AckFrequencyConfig, ClientConfig, Connection, ConnectionHandle, ConnectionId, ConnectionIdGenerator, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, MtuDiscoveryConfig, ServerConfig, StreamEvent, StreamId, Transmit,
    TransportConfig, VarInt, WriteError,
};
use super::{Congestion, Factory, Null, endpoint, next_train, path_report, receive, smoothed_rtt};
use crate::end::{parameters, positive, transfer};
use crate::quic::{Crypto, ETHERNET, HEADERS, SMALLEST, max_probe, max_received, seed_bytes, tls};
use crate::{Transfer, Written};
use serde::Deserialize;
use std::net::{SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tailback_core::primitives::units::{Bytes, Time, TimeDelta};
use tailback_host::library::EndSettings;
use tailback_host::{ConnectionEnd, Datagram, EcnField, Outbox, RttSamples, TransportReport};

/// Settings that both ends have, in the names of the crate. Its defaults apply to those that are `None`, and to all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    pub congestion: Congestion,
    pub crypto: Crypto,
    /// Determines connection ids and the other random choices.
    #[serde(skip)]
    pub seed: u64,
    /// Most datagrams that are sent as one train.
    pub train: usize,
    /// Bytes of a stream that the receiver buffers.
    pub stream_receive_window: Option<u32>,
    /// Bytes of all streams that the receiver buffers.
    pub receive_window: Option<u32>,
    /// Bytes that the sender keeps until they are acknowledged.
    pub send_window: Option<u32>,
    /// Initial congestion window in bytes.
    pub initial_window: Option<u32>,
    /// Bytes of a UDP payload before MTU discovery.
    pub initial_mtu: Option<u16>,
    /// Largest UDP payload in bytes that MTU discovery tries.
    pub mtu_upper_bound: Option<u16>,
    /// Packets that may arrive without an acknowledgement (draft-ietf-quic-ack-frequency).
    pub ack_eliciting_threshold: Option<u32>,
    /// Longest delay of an acknowledgement in milliseconds, with `ack_eliciting_threshold` or alone.
    pub max_ack_delay_ms: Option<u32>,
    /// Bytes of the largest packet, with its IP header: at least 1228.
    #[serde(skip)]
    pub mtu: u16,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            congestion: Congestion::default(),
            crypto: Crypto::default(),
            seed: 1,
            train: 10,
            stream_receive_window: None,
            receive_window: None,
            send_window: None,
            initial_window: None,
            initial_mtu: None,
            mtu_upper_bound: None,
            ack_eliciting_threshold: None,
            max_ack_delay_ms: None,
            mtu: ETHERNET,
        }
    }
}

impl Settings {
    /// The settings of an end of a flow in a scenario.
    fn of(end: &EndSettings) -> Result<Settings, String> {
        let given: Settings = parameters(end)?;
        // RFC 9000 section 14: QUIC does not run over paths that cannot carry 1200 bytes.
        let least = SMALLEST + HEADERS;
        let mtu = u16::try_from(end.mtu.0).ok().filter(|&mtu| mtu >= least);
        let mtu = mtu.ok_or_else(|| format!("`mtu` is {} bytes; expected {least} to 65535, as QUIC requires", end.mtu.0))?;
        positive("train", given.train as u64)?;
        let least_one = [
            ("stream_receive_window", given.stream_receive_window),
            ("receive_window", given.receive_window),
            ("send_window", given.send_window),
            ("initial_window", given.initial_window),
            ("max_ack_delay_ms", given.max_ack_delay_ms),
        ];
        for (key, value) in least_one {
            value.map_or(Ok(()), |value| positive(key, value.into()))?;
        }
        let most = mtu - HEADERS;
        for (key, value) in [("initial_mtu", given.initial_mtu), ("mtu_upper_bound", given.mtu_upper_bound)] {
            if let Some(value) = value.filter(|value| !(SMALLEST..=most).contains(value)) {
                return Err(format!("`{key}` is {value}; expected {SMALLEST} to {most} bytes, with an `mtu` of {mtu}"));
            }
        }
        Ok(Settings { seed: end.seed, mtu, ..given })
    }

    fn controllers(&self) -> Factory {
        self.congestion.factory(self.initial_window.map(u64::from))
    }
}

/// An end of a connection.
pub struct Host {
    endpoint: Endpoint,
    local: SocketAddrV4,
    /// Times of the connection are relative to this instant.
    origin: Instant,
    train: usize,
    /// The connection that a sender opens.
    to_open: Option<(Transfer, ClientConfig)>,
    pub(super) connection: Option<(ConnectionHandle, Connection)>,
    sending: Option<Sending>,
    received: u64,
    /// The smoothed RTT after each packet that a sender has received since its first acknowledgement.
    rtts: RttSamples,
    /// The end of the connection.
    ended: Option<ConnectionEnd>,
    /// The connection's next timer.
    timer: Option<Time>,
    buffer: Vec<u8>,
    /// Answers outside the connection.
    replies: Vec<(SocketAddrV4, EcnField, Vec<u8>)>,
}

struct Sending {
    written: Written,
    stream: Option<StreamId>,
    is_finished: bool,
}

impl Host {
    /// An end of a flow of a scenario.
    pub(crate) fn of(end: &EndSettings) -> Result<Box<dyn tailback_host::Host>, String> {
        let settings = Settings::of(end)?;
        Ok(Box::new(match transfer(end) {
            Some(transfer) => Host::sender(&settings, transfer),
            None => Host::receiver(&settings, end.local),
        }))
    }

    /// The end that sends a transfer.
    pub fn sender(settings: &Settings, transfer: Transfer) -> Host {
        let sending = Sending { written: Written::none_of(&transfer), stream: None, is_finished: false };
        Host { sending: Some(sending), ..Host::idle_client(settings, transfer, settings.controllers()) }
    }

    /// The end that opens the connection of a transfer, and sends nothing.
    pub(super) fn idle_client(settings: &Settings, transfer: Transfer, controllers: Factory) -> Host {
        let mut config = client_config(settings.crypto);
        let cid = ConnectionId::new(&seed_bytes(settings.seed, 0)[..20]);
        let transport = Arc::new(transport(settings, controllers));
        config.transport_config(transport).initial_dst_cid_provider(Arc::new(move || cid));
        Host { to_open: Some((transfer, config)), ..Host::end(settings, transfer.local, None) }
    }

    /// The next packet of the connection elicits an acknowledgement.
    pub(super) fn ping(&mut self) {
        if let Some((_, connection)) = &mut self.connection {
            connection.ping();
        }
    }

    /// The end that accepts a connection and reads everything.
    pub fn receiver(settings: &Settings, local: SocketAddrV4) -> Host {
        let mut config = server_config(settings.crypto);
        config.transport_config(Arc::new(transport(settings, settings.controllers())));
        Host::end(settings, local, Some(Arc::new(config)))
    }

    #[expect(clippy::expect_used, reason = "the sizes are those of RFC 9000")]
    fn end(settings: &Settings, local: SocketAddrV4, server: Option<Arc<ServerConfig>>) -> Host {
        let side = 1 + u8::from(server.is_some());
        let mut config = EndpointConfig::new(Arc::new(Null));
        let seed = settings.seed;
        config.rng_seed(Some(seed_bytes(seed, side)));
        config.max_udp_payload_size(max_received(settings.mtu)).expect("it is 1472 to 65507");
        let ids = move || Box::new(CountedIds { seed: seed_bytes(seed, side), next: 0 }) as Box<dyn ConnectionIdGenerator>;
        Host {
            endpoint: endpoint(config, ids, server),
            local,
            origin: Instant::now(),
            train: settings.train,
            to_open: None,
            connection: None,
            sending: None,
            received: 0,
            rtts: RttSamples::default(),
            ended: None,
            timer: None,
            buffer: Vec::new(),
            replies: Vec::new(),
        }
    }

    /// Bytes that the application has read.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The end of the connection; `None` while it is open.
    pub fn ended(&self) -> Option<&ConnectionEnd> {
        self.ended.as_ref()
    }

    fn instant(&self, now: Time) -> Instant {
        self.origin + Duration::from_nanos(now.0 / 1000)
    }

    fn open(&mut self, now: Time) {
        let Some((transfer, config)) = self.to_open.take_if(|(transfer, _)| transfer.start <= now) else { return };
        let instant = self.instant(now);
        match self.endpoint.connect(instant, config, transfer.remote.into(), tls::SERVER) {
            Ok(opened) => self.connection = Some(opened),
            Err(error) => self.ended = Some(ConnectionEnd { at: now, reason: error.to_string() }),
        }
    }

    /// Lets the application read and write, and passes events between endpoint and connection, until nothing happens.
    fn settle(&mut self, now: Time) {
        let Some((handle, connection)) = &mut self.connection else { return };
        loop {
            let mut is_idle = true;
            while let Some(event) = connection.poll_endpoint_events() {
                is_idle = false;
                if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                    connection.handle_event(answer);
                }
            }
            while let Some(event) = connection.poll() {
                is_idle = false;
                match event {
                    Event::Connected => {
                        if let Some(sending) = &mut self.sending {
                            sending.stream = connection.streams().open(Dir::Uni);
                        }
                    }
                    Event::ConnectionLost { reason } => {
                        self.ended = Some(ConnectionEnd { at: now, reason: reason.to_string() });
                    }
                    Event::Stream(StreamEvent::Opened { dir }) => {
                        while let Some(stream) = connection.streams().accept(dir) {
                            self.received += read(connection, stream);
                        }
                    }
                    Event::Stream(StreamEvent::Readable { id }) => self.received += read(connection, id),
                    _ => {}
                }
            }
            if let Some(sending) = &mut self.sending {
                is_idle &= !sending.write(connection, now);
            }
            if is_idle {
                return;
            }
        }
    }

    fn reply(&mut self, transmit: &Transmit) {
        if let SocketAddr::V4(to) = transmit.destination {
            self.replies.push((to, field(transmit.ecn), self.buffer[..transmit.size].to_vec()));
        }
    }
}

impl Sending {
    /// Hands as much as possible to the connection. Returns whether it has taken any.
    fn write(&mut self, connection: &mut Connection, now: Time) -> bool {
        let Some(stream) = self.stream.filter(|_| !self.is_finished) else { return false };
        if now >= self.written.stop {
            self.is_finished = true;
            // The peer may have stopped the stream already.
            let _ = connection.send_stream(stream).reset(VarInt::from_u32(0));
            return true;
        }
        let before = self.written.bytes;
        loop {
            let next = self.written.next();
            if next.is_empty() && !self.written.is_complete() {
                return self.written.bytes > before;
            }
            if next.is_empty() {
                self.is_finished = true;
                // The stream may have been stopped by the peer, which ends the transfer as well.
                let _ = connection.send_stream(stream).finish();
                return true;
            }
            match connection.send_stream(stream).write(next) {
                Ok(bytes) => self.written.bytes += bytes as u64,
                Err(WriteError::Blocked) => return self.written.bytes > before,
                Err(_) => {
                    self.is_finished = true;
                    return true;
                }
            }
        }
    }
}

fn read(connection: &mut Connection, stream: StreamId) -> u64 {
    let mut stream = connection.recv_stream(stream);
    // A stream whose end has been read is closed.
    let Ok(mut chunks) = stream.read(true) else { return 0 };
    let mut bytes = 0;
    while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
        bytes += chunk.bytes.len() as u64;
    }
    // The connection is polled for packets in any case.
    let _ = chunks.finalize();
    bytes
}

impl tailback_host::Host for Host {
    fn receive(&mut self, now: Time, datagram: &Datagram<'_>) {
        let instant = self.instant(now);
        self.buffer.clear();
        match receive(&mut self.endpoint, instant, datagram, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(to, event)) => {
                if let Some((_, connection)) = self.connection.as_mut().filter(|(handle, _)| *handle == to) {
                    connection.handle_event(event);
                    if self.sending.is_some() && (self.rtts.count > 0 || path_report(connection).smoothed_rtt.is_some()) {
                        self.rtts.add(smoothed_rtt(connection));
                    }
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => match self.endpoint.accept(incoming, instant, &mut self.buffer, None)
            {
                Ok(accepted) => self.connection = Some(accepted),
                Err(error) => {
                    self.ended = Some(ConnectionEnd { at: now, reason: error.cause.to_string() });
                    if let Some(response) = &error.response {
                        self.reply(response);
                    }
                }
            },
            Some(DatagramEvent::Response(transmit)) => self.reply(&transmit),
            None => {}
        }
    }

    fn offer(&mut self, written: Bytes) {
        if let Some(sending) = &mut self.sending {
            sending.written.offered = written.0;
        }
    }

    fn poll(&mut self, now: Time, outbox: &mut Outbox) {
        self.open(now);
        let (instant, source) = (self.instant(now), self.local);
        for (destination, ecn, payload) in self.replies.drain(..) {
            outbox.send(&Datagram { source, destination, ecn, payload: &payload });
        }
        if let Some((_, connection)) = &mut self.connection
            && connection.poll_timeout().is_some_and(|due| due <= instant)
        {
            connection.handle_timeout(instant);
        }
        loop {
            self.settle(now);
            let Some((_, connection)) = &mut self.connection else { return };
            self.buffer.clear();
            let Some(transmit) = next_train(connection, instant, self.train, &mut self.buffer) else {
                let since_origin = |due: Instant| Time(due.duration_since(self.origin).as_nanos() as u64 * 1000);
                self.timer = connection.poll_timeout().map(since_origin);
                return;
            };
            let SocketAddr::V4(destination) = transmit.destination else { continue };
            let train = Datagram { source, destination, ecn: field(transmit.ecn), payload: &self.buffer[..transmit.size] };
            outbox.send_train(&train, transmit.segment_size.unwrap_or(0));
        }
    }

    fn deadline(&self) -> Option<Time> {
        let start = self.to_open.as_ref().map(|(transfer, _)| transfer.start);
        start.into_iter().chain(self.timer).min()
    }

    fn report(&mut self) -> TransportReport {
        let of_path = self.connection.as_mut().map(|(_, connection)| path_report(connection)).unwrap_or_default();
        let rtt_samples = Some(self.rtts).filter(|samples| samples.count > 0);
        let (delivered, ended) = (Some(Bytes(self.received)), self.ended.clone());
        TransportReport { delivered, rtt_samples, ended, ..of_path }
    }
}

pub(super) fn time_delta(duration: Duration) -> TimeDelta {
    TimeDelta(duration.as_nanos() as u64 * 1000)
}

#[expect(clippy::expect_used, reason = "made from constants")]
fn client_config(crypto: Crypto) -> ClientConfig {
    ClientConfig::new(match crypto {
        Crypto::Null => Arc::new(Null),
        Crypto::Rustls => {
            let config = tls::client().expect("TLS 1.3 is supported");
            Arc::new(QuicClientConfig::try_from(config).expect("AES-128-GCM is supported"))
        }
    })
}

/// Tokens outside the handshake have no encryption in either case.
#[expect(clippy::expect_used, reason = "made from constants")]
fn server_config(crypto: Crypto) -> ServerConfig {
    let tokens = Arc::new(Null);
    match crypto {
        Crypto::Null => ServerConfig::new(Arc::new(Null), tokens),
        Crypto::Rustls => {
            let config = tls::server().expect("the key is that of the certificate");
            ServerConfig::new(Arc::new(QuicServerConfig::try_from(config).expect("AES-128-GCM is supported")), tokens)
        }
    }
}

/// The transport settings of both ends.
fn transport(settings: &Settings, controllers: Factory) -> TransportConfig {
    let mut config = TransportConfig::default();
    let mut discovery = MtuDiscoveryConfig::default();
    discovery.upper_bound(settings.mtu_upper_bound.unwrap_or(max_probe(settings.mtu)));
    config.mtu_discovery_config(Some(discovery));
    config.congestion_controller_factory(controllers);
    settings.stream_receive_window.map(|bytes| config.stream_receive_window(VarInt::from_u32(bytes)));
    settings.receive_window.map(|bytes| config.receive_window(VarInt::from_u32(bytes)));
    settings.send_window.map(|bytes| config.send_window(bytes.into()));
    settings.initial_mtu.map(|bytes| config.initial_mtu(bytes));
    if settings.ack_eliciting_threshold.is_some() || settings.max_ack_delay_ms.is_some() {
        let mut frequency = AckFrequencyConfig::default();
        settings.ack_eliciting_threshold.map(|packets| frequency.ack_eliciting_threshold(VarInt::from_u32(packets)));
        frequency.max_ack_delay(settings.max_ack_delay_ms.map(|ms| Duration::from_millis(ms.into())));
        config.ack_frequency_config(Some(frequency));
    }
    config
}

/// Connection ids in sequence.
struct CountedIds {
    seed: [u8; 32],
    next: u32,
}

impl ConnectionIdGenerator for CountedIds {
    fn generate_cid(&mut self) -> ConnectionId {
        self.next += 1;
        let mut id = [0; 8];
        id[..4].copy_from_slice(&self.seed[..4]);
        id[4..].copy_from_slice(&self.next.to_be_bytes());
        ConnectionId::new(&id)
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

fn field(ecn: Option<EcnCodepoint>) -> EcnField {
    match ecn {
        None => EcnField::NotEct,
        Some(EcnCodepoint::Ect0) => EcnField::Ect0,
        Some(EcnCodepoint::Ect1) => EcnField::Ect1,
        Some(EcnCodepoint::Ce) => EcnField::Ce,
    }
}
