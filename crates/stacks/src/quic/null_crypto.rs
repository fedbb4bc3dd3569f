//! Cryptography that encrypts nothing, through the public traits. Packets have the sizes of real ones, and the handshake has the
//! flights of TLS 1.3 (RFC 8446 section 2): transport parameters, server hello, transport parameters, finished.

use super::Cid;
use super::proto::crypto::{CryptoError, ExportKeyingMaterialError, HeaderKey, HmacKey, KeyPair, Keys, PacketKey, Session};
use super::proto::transport_parameters::TransportParameters;
use super::proto::{Side, TransportError};
use bytes::BytesMut;
use std::any::Any;

/// The configurations of clients and servers, and all keys.
pub(super) struct Null;

/// Length of the tag of AES-GCM and of the sample for header protection (RFC 9001 sections 5.3 and 5.4.2).
pub(super) const TAG: usize = 16;

const SERVER_HELLO: u8 = 2;
const FINISHED: u8 = 20;

fn pair<T: ?Sized>(key: impl Fn() -> Box<T>) -> KeyPair<Box<T>> {
    KeyPair { local: key(), remote: key() }
}

pub(super) fn keys() -> Keys {
    Keys { header: pair(|| Box::new(Null) as Box<dyn HeaderKey>), packet: pair(|| Box::new(Null) as Box<dyn PacketKey>) }
}

impl HeaderKey for Null {
    fn decrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn encrypt(&self, _pn_offset: usize, _packet: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        TAG
    }
}

/// Removes the tag of a packet.
pub(super) fn cut_tag(payload: &mut BytesMut) -> Result<(), CryptoError> {
    let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
    payload.truncate(length);
    Ok(())
}

/// Distinguishes tokens for a stateless reset from the end of any packet.
const SIGNATURE: u8 = 0xa5;

impl HmacKey for Null {
    fn sign(&self, data: &[u8], signature_out: &mut [u8]) {
        for (at, byte) in signature_out.iter_mut().enumerate() {
            *byte = SIGNATURE ^ data.get(at % data.len().max(1)).copied().unwrap_or_default();
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, data: &[u8], signature: &[u8]) -> Result<(), CryptoError> {
        let mut expected = vec![0; signature.len()];
        self.sign(data, &mut expected);
        if expected == signature { Ok(()) } else { Err(CryptoError) }
    }
}

/// What an end does next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    SendParameters,
    AwaitServerHello,
    AwaitParameters,
    AwaitFinished,
    Done,
}

pub(super) struct Handshake {
    side: Side,
    step: Step,
    /// Encoded transport parameters, behind their length.
    parameters: Vec<u8>,
    received: Vec<u8>,
    peer: Option<TransportParameters>,
    greeted: bool,
}

impl Handshake {
    pub(super) fn new(side: Side, params: &TransportParameters) -> Handshake {
        let mut encoded = Vec::new();
        params.write(&mut encoded);
        let parameters = [&(encoded.len() as u16).to_be_bytes()[..], &encoded].concat();
        let step = if side.is_client() { Step::SendParameters } else { Step::AwaitParameters };
        Handshake { side, step, parameters, received: Vec::new(), peer: None, greeted: false }
    }

    /// The peer's parameters, if all their bytes have arrived.
    fn read_parameters(&mut self) -> Result<bool, TransportError> {
        let Some((length, rest)) = self.received.split_first_chunk::<2>() else { return Ok(false) };
        let Some(encoded) = rest.get(..usize::from(u16::from_be_bytes(*length))) else { return Ok(false) };
        self.peer = Some(TransportParameters::read(self.side, &mut &*encoded)?);
        self.received.clear();
        Ok(true)
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _dst_cid: Cid<'_>, _side: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.step != Step::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(buf);
        match self.step {
            Step::AwaitServerHello if self.received.first() == Some(&SERVER_HELLO) => {
                self.received.remove(0);
                self.greeted = true;
                Ok(false)
            }
            Step::AwaitParameters => self.read_parameters(),
            Step::AwaitFinished if self.received.first() == Some(&FINISHED) => {
                self.step = Step::Done;
                Ok(false)
            }
            _ => Ok(false),
        }
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        match (self.side, self.step) {
            (Side::Client, Step::SendParameters) => {
                buf.extend(&self.parameters);
                self.step = Step::AwaitServerHello;
                None
            }
            (Side::Client, Step::AwaitServerHello) if self.greeted => {
                self.step = Step::AwaitParameters;
                Some(keys())
            }
            (Side::Client, Step::AwaitParameters) if self.peer.is_some() => {
                buf.push(FINISHED);
                self.step = Step::Done;
                Some(keys())
            }
            (Side::Server, Step::AwaitParameters) if self.peer.is_some() => {
                buf.push(SERVER_HELLO);
                self.step = Step::SendParameters;
                Some(keys())
            }
            (Side::Server, Step::SendParameters) => {
                buf.extend(&self.parameters);
                self.step = Step::AwaitFinished;
                Some(keys())
            }
            _ => None,
        }
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(pair(|| Box::new(Null) as Box<dyn PacketKey>))
    }

    fn is_valid_retry(&self, _orig_dst_cid: Cid<'_>, _header: &[u8], _payload: &[u8]) -> bool {
        true
    }

    fn export_keying_material(&self, output: &mut [u8], _label: &[u8], _context: &[u8]) -> Result<(), ExportKeyingMaterialError> {
        output.fill(0);
        Ok(())
    }
}
