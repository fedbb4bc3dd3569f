//! QUIC of `noq-proto`, a fork of `quinn-proto` with multipath (draft-ietf-quic-multipath), which is not used here.

#[path = "host.rs"]
#[expect(clippy::duplicate_mod, reason = "compiled for two crates with the same interface")]
mod host;
#[path = "null_crypto.rs"]
#[expect(clippy::duplicate_mod, reason = "compiled for two crates with the same interface")]
mod null_crypto;

pub use host::{Host as Noq, Settings};
pub(crate) use noq_proto as proto;

use bytes::BytesMut;
use null_crypto::{Handshake, Null, TAG, keys};
use proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use proto::crypto::{ClientConfig, CryptoError, HandshakeTokenKey, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion};
use proto::transport_parameters::TransportParameters;
use proto::{
    ConnectError, Connection, ConnectionId, ConnectionIdGenerator, DatagramEvent, EcnCodepoint, Endpoint, EndpointConfig,
    FourTuple, PathId, ServerConfig as ServerSettings, Side, Transmit,
};
use serde::Deserialize;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;
use tailback_host::Datagram;

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
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            Congestion::Cubic => Arc::new(CubicConfig::default()),
            Congestion::NewReno => Arc::new(NewRenoConfig::default()),
        }
    }
}

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
