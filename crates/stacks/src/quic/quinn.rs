//! QUIC of `quinn-proto`, the state machine behind quinn.

#[path = "host.rs"]
mod host;
#[path = "law.rs"]
mod law;
#[path = "null_crypto.rs"]
mod null_crypto;

pub use super::Crypto;
use super::threshold;
use host::time_delta;
pub use host::{Host as Quinn, Settings};
pub(crate) use law::Alone;
pub(crate) use quinn_proto as proto;

use bytes::BytesMut;
use law::{Estimator, UNLIMITED};
use null_crypto::{Handshake, Null, TAG, keys};
use proto::congestion::{BbrConfig, Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use proto::crypto::{
    AeadKey, ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use proto::transport_parameters::TransportParameters;
use proto::{
    ConnectError, Connection, ConnectionId, ConnectionIdGenerator, ConnectionStats, DatagramEvent, EcnCodepoint, Endpoint,
    EndpointConfig, RttEstimator, ServerConfig as ServerSettings, Side, Transmit,
};
use serde::Deserialize;
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;
use tailback_core::primitives::units::{Bytes, TimeDelta};
use tailback_host::controllers::{Event, Kind};
use tailback_host::{Datagram, TransportReport};

/// quinn's congestion controllers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// Its default.
    #[default]
    Cubic,
    NewReno,
    /// Marked as experimental by quinn. It draws phases of its cycle from the operating system, but they set only a pacing rate, and
    /// quinn paces by the window: runs are repeatable.
    Bbr,
}

impl Congestion {
    /// `window`: initial window in bytes, instead of the default.
    fn factory(self, window: Option<u64>) -> Factory {
        match self {
            Congestion::Cubic => configured!(CubicConfig, window),
            Congestion::NewReno => configured!(NewRenoConfig, window),
            Congestion::Bbr => configured!(BbrConfig, window),
        }
    }
}

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

impl Quinn {
    /// quinn's own statistics; `None` before the connection is opened.
    pub fn stats(&self) -> Option<ConnectionStats> {
        self.connection.as_ref().map(|(_, connection)| connection.stats())
    }
}

fn endpoint(
    mut config: EndpointConfig,
    ids: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
    server: Option<Arc<ServerSettings>>,
) -> Endpoint {
    config.cid_generator(ids);
    Endpoint::new(Arc::new(config), server, true, None)
}

fn receive(endpoint: &mut Endpoint, now: Instant, datagram: &Datagram<'_>, buffer: &mut Vec<u8>) -> Option<DatagramEvent> {
    let Datagram { source, destination, ecn, payload } = *datagram;
    let ecn = EcnCodepoint::from_bits(ecn as u8);
    endpoint.handle(now, source.into(), Some((*destination.ip()).into()), ecn, BytesMut::from(payload), buffer)
}

fn next_train(connection: &mut Connection, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, most.max(1), buffer)
}

/// Window, RTT and losses. Before the first acknowledgement, the RTT is an assumption.
fn path_report(connection: &mut Connection) -> TransportReport {
    let ConnectionStats { path, frame_rx, .. } = connection.stats();
    let measured = |rtt| Some(time_delta(rtt)).filter(|_| frame_rx.acks > 0);
    TransportReport {
        cwnd: Some(Bytes(path.cwnd)),
        ssthresh: threshold(connection.congestion_state().metrics().ssthresh),
        smoothed_rtt: measured(path.rtt),
        min_rtt: measured(path.min_rtt),
        lost_packets: Some(path.lost_packets),
        ..TransportReport::default()
    }
}

fn smoothed_rtt(connection: &Connection) -> TimeDelta {
    time_delta(connection.rtt())
}

fn on_ack(controller: &mut dyn Controller, [sent, now]: [Instant; 2], event: &Event, rtt: &RttEstimator) {
    controller.on_ack(now, sent, event.acked as u64, event.app_limited != 0, rtt);
}

fn on_congestion(controller: &mut dyn Controller, now: Instant, event: &Event, lost: u64) {
    controller.on_congestion_event(now, now, event.is(Kind::Timeout), lost);
}

/// Stores the RTT estimator of its connection.
struct Recorder(Estimator);

impl Controller for Recorder {
    fn on_ack(&mut self, _now: Instant, _sent: Instant, _bytes: u64, _app_limited: bool, rtt: &RttEstimator) {
        self.record(rtt);
    }

    fn on_congestion_event(&mut self, _now: Instant, _sent: Instant, _persistent: bool, _lost: u64) {}

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        UNLIMITED
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorder(self.0.clone()))
    }

    fn initial_window(&self) -> u64 {
        UNLIMITED
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A connection id as an argument.
type Cid<'a> = &'a ConnectionId;

impl PacketKey for Null {
    fn encrypt(&self, _packet: u64, _buf: &mut [u8], _header_len: usize) {}

    fn decrypt(&self, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        null_crypto::cut_tag(payload)
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HandshakeTokenKey for Null {
    fn aead_from_hkdf(&self, _random_bytes: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Null)
    }
}

impl AeadKey for Null {
    fn seal(&self, data: &mut Vec<u8>, _additional_data: &[u8]) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _additional_data: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&mut data[..length])
    }
}

impl ClientConfig for Null {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, params)))
    }
}

impl ServerConfig for Null {
    fn initial_keys(&self, _version: u32, _dst_cid: Cid<'_>) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _version: u32, _orig_dst_cid: Cid<'_>, _packet: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, params))
    }
}
