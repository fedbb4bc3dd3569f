//! QUIC of `noq-proto`, a fork of `quinn-proto` with multipath (draft-ietf-quic-multipath), which is not used here.

#[path = "host.rs"]
#[expect(clippy::duplicate_mod, reason = "compiled for two crates with the same interface")]
mod host;
#[path = "law.rs"]
#[expect(clippy::duplicate_mod, reason = "compiled for two crates with the same interface")]
mod law;
#[path = "null_crypto.rs"]
#[expect(clippy::duplicate_mod, reason = "compiled for two crates with the same interface")]
mod null_crypto;

pub use super::Crypto;
use super::threshold;
use host::time_delta;
pub use host::{Host as Noq, Settings};
pub(crate) use law::Alone;
pub(crate) use noq_proto as proto;

use bytes::BytesMut;
use law::{Estimator, UNLIMITED};
use null_crypto::{Handshake, Null, TAG, keys};
use proto::congestion::{Controller, ControllerFactory, CubicConfig, NewRenoConfig};
use proto::crypto::{ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion};
use proto::transport_parameters::TransportParameters;
use proto::{
    ConnectError, Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathId, RttEstimator, ServerConfig as ServerSettings, Side, Transmit,
};
use serde::Deserialize;
use std::any::Any;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use tailback_core::primitives::units::{Bytes, TimeDelta};
use tailback_host::controllers::{Event, Kind};
use tailback_host::{Datagram, TransportReport};

/// noq's congestion controllers, without its BBRv3, which has no public seed: runs with the same seed would differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Congestion {
    /// Its default.
    #[default]
    Cubic,
    NewReno,
}

impl Congestion {
    /// `window`: initial window in bytes, instead of the default.
    fn factory(self, window: Option<u64>) -> Factory {
        match self {
            Congestion::Cubic => configured!(CubicConfig, window),
            Congestion::NewReno => configured!(NewRenoConfig, window),
        }
    }
}

type Factory = Arc<dyn ControllerFactory + Send + Sync>;

fn endpoint(
    mut config: EndpointConfig,
    ids: impl Fn() -> Box<dyn ConnectionIdGenerator> + Send + Sync + 'static,
    server: Option<Arc<ServerSettings>>,
) -> Endpoint {
    config.cid_generator(Arc::new(ids));
    Endpoint::new(Arc::new(config), server, true)
}

fn receive(endpoint: &mut Endpoint, now: Instant, datagram: &Datagram<'_>, buffer: &mut Vec<u8>) -> Option<DatagramEvent> {
    let Datagram { source, destination, ecn, payload } = *datagram;
    let path = FourTuple::new(source.into(), Some((*destination.ip()).into()));
    endpoint.handle(now, path, EcnCodepoint::from_bits(ecn as u8), BytesMut::from(payload), buffer)
}

fn next_train(connection: &mut Connection, now: Instant, most: usize, buffer: &mut Vec<u8>) -> Option<Transmit> {
    connection.poll_transmit(now, NonZeroUsize::new(most).unwrap_or(NonZeroUsize::MIN), buffer)
}

/// Window, RTT and losses. Before the first acknowledgement, the RTT is an assumption. noq does not return its minimum.
fn path_report(connection: &mut Connection) -> TransportReport {
    let Some(path) = connection.path_stats(PathId::ZERO) else { return TransportReport::default() };
    let controller = connection.congestion_state(PathId::ZERO);
    TransportReport {
        cwnd: Some(Bytes(path.cwnd)),
        ssthresh: controller.and_then(|controller| threshold(controller.metrics().ssthresh)),
        smoothed_rtt: Some(time_delta(path.rtt)).filter(|_| path.frame_rx.acks > 0),
        lost_packets: Some(path.lost_packets.saturating_sub(path.lost_plpmtud_probes)),
        ..TransportReport::default()
    }
}

fn smoothed_rtt(connection: &Connection) -> TimeDelta {
    connection.rtt(PathId::ZERO).map_or(TimeDelta::ZERO, time_delta)
}

fn on_ack(controller: &mut dyn Controller, [sent, now]: [Instant; 2], event: &Event, rtt: &RttEstimator) {
    controller.on_ack(now, sent, event.acked as u64, 0, event.app_limited != 0, rtt);
}

fn on_congestion(controller: &mut dyn Controller, now: Instant, event: &Event, lost: u64) {
    controller.on_congestion_event(now, now, event.is(Kind::Timeout), event.is(Kind::Marked), lost, 0);
}

/// Stores the RTT estimator of its connection.
#[derive(Debug)]
struct Recorder(Estimator);

impl Controller for Recorder {
    fn on_ack(&mut self, _now: Instant, _sent: Instant, _bytes: u64, _pn: u64, _app_limited: bool, rtt: &RttEstimator) {
        self.record(rtt);
    }

    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        _persistent: bool,
        _is_ecn: bool,
        _lost: u64,
        _largest_pn: u64,
    ) {
    }

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
type Cid<'a> = ConnectionId;

impl PacketKey for Null {
    fn encrypt(&self, _path: PathId, _packet: u64, _buf: &mut [u8], _header_len: usize) {}

    fn decrypt(&self, _path: PathId, _packet: u64, _header: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
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
    fn seal(&self, _token_nonce: u128, data: &mut Vec<u8>) -> Result<(), CryptoError> {
        data.extend([0; TAG]);
        Ok(())
    }

    fn open<'a>(&self, _token_nonce: u128, data: &'a mut [u8]) -> Result<&'a [u8], CryptoError> {
        let length = data.len().checked_sub(TAG).ok_or(CryptoError)?;
        Ok(&data[..length])
    }
}

impl ClientConfig for Null {
    fn start_session(
        &self,
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

    fn start_session(&self, _version: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, params))
    }
}
