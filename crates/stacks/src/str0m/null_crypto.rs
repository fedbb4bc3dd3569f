//! Cryptography that encrypts nothing, through the public traits. Packets of media have the sizes of SRTP with AES-GCM. The handshake is one
//! round trip with the timer of DTLS (RFC 6347 section 4.2.4.1), and its records are shorter than in DTLS.

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, KeyingMaterial, ProtocolVersion, SrtpProfile,
};
use str0m::crypto::{
    AeadAes128Gcm, AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, CryptoProvider,
    Sha1HmacProvider, Sha1Provider, Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm,
    SupportedAes128CmSha1_80,
};

/// All functions and ciphers.
#[derive(Debug)]
struct Null;

pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        srtp_provider: &Null,
        sha1_hmac_provider: &Null,
        sha1_provider: &Null,
        sha256_provider: &Null,
        dtls_provider: &Null,
    }
}

impl Sha1HmacProvider for Null {
    fn sha1_hmac(&self, _key: &[u8], _payloads: &[&[u8]]) -> [u8; 20] {
        [0; 20]
    }
}

impl Sha1Provider for Null {
    fn sha1(&self, _data: &[u8]) -> [u8; 20] {
        [0; 20]
    }
}

impl Sha256Provider for Null {
    fn sha256(&self, _data: &[u8]) -> [u8; 32] {
        [0; 32]
    }
}

impl SrtpProvider for Null {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Null
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Null
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Null
    }

    fn srtp_aes_128_ecb_round(&self, _key: &[u8], _input: &[u8], output: &mut [u8]) {
        output.fill(0);
    }

    fn srtp_aes_256_ecb_round(&self, _key: &[u8], _input: &[u8], output: &mut [u8]) {
        output.fill(0);
    }
}

/// The cipher of the only profile that the handshake selects, and of the others, which are not used.
macro_rules! cipher {
    ($factory:ident, $cipher:ident, $key:literal) => {
        impl $factory for Null {
            fn create_cipher(&self, _key: [u8; $key], _encrypt: bool) -> Box<dyn $cipher> {
                Box::new(Null)
            }
        }
    };
    ($factory:ident, $cipher:ident, $key:literal, $iv:literal) => {
        cipher!($factory, $cipher, $key);

        impl $cipher for Null {
            fn encrypt(&mut self, _iv: &[u8; $iv], _aad: &[u8], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
                copy(input, output)
            }

            fn decrypt(
                &mut self,
                _iv: &[u8; $iv],
                _aads: &[&[u8]],
                input: &[u8],
                output: &mut [u8],
            ) -> Result<usize, CryptoError> {
                let length = input.len().checked_sub(AeadAes128Gcm::TAG_LEN).ok_or_else(too_short)?;
                copy(&input[..length], output).map(|()| length)
            }
        }
    };
}

cipher!(SupportedAes128CmSha1_80, Aes128CmSha1_80Cipher, 16);
cipher!(SupportedAeadAes128Gcm, AeadAes128GcmCipher, 16, 12);
cipher!(SupportedAeadAes256Gcm, AeadAes256GcmCipher, 32, 12);

impl Aes128CmSha1_80Cipher for Null {
    fn encrypt(&mut self, _iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        copy(input, output)
    }

    fn decrypt(&mut self, _iv: &[u8; 16], input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
        copy(input, output)
    }
}

fn copy(input: &[u8], output: &mut [u8]) -> Result<(), CryptoError> {
    output.get_mut(..input.len()).ok_or_else(too_short)?.copy_from_slice(input);
    Ok(())
}

fn too_short() -> CryptoError {
    CryptoError::Other("too few bytes".into())
}

impl DtlsProvider for Null {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        Some(DtlsCert { certificate: Vec::new(), private_key: Vec::new() })
    }

    fn new_dtls(
        &self,
        _cert: &DtlsCert,
        now: Instant,
        _version: DtlsVersion,
        _mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        Ok(Box::new(Handshake { is_client: false, state: State::Open, outputs: VecDeque::new(), now, resend_at: None }))
    }
}

/// Content types of records (RFC 5246 section 6.2.1).
const ALERT: u8 = 21;
const HANDSHAKE: u8 = 22;

/// Initial value of the timer, which does not back off here.
const RESEND: Duration = Duration::from_secs(1);

/// Later than the end of any run.
const IDLE: Duration = Duration::from_secs(365 * 24 * 3600);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    Connected,
    Closed,
}

#[derive(Debug)]
enum Event {
    Record(u8),
    Keys,
    Connected,
    Closed,
}

/// The client repeats its record until the server returns one.
#[derive(Debug)]
struct Handshake {
    is_client: bool,
    state: State,
    outputs: VecDeque<Event>,
    now: Instant,
    resend_at: Option<Instant>,
}

impl Handshake {
    fn greet(&mut self) {
        self.outputs.push_back(Event::Record(HANDSHAKE));
        self.resend_at = Some(self.now + RESEND);
    }
}

impl DtlsInstance for Handshake {
    fn set_active(&mut self, active: bool) {
        self.is_client = active;
        if active {
            self.greet();
        }
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        match packet.first() {
            Some(&HANDSHAKE) if self.state != State::Closed => {
                if !self.is_client {
                    self.outputs.push_back(Event::Record(HANDSHAKE));
                }
                if self.state == State::Open {
                    self.state = State::Connected;
                    self.resend_at = None;
                    self.outputs.extend([Event::Keys, Event::Connected]);
                }
            }
            Some(&ALERT) => self.outputs.push_back(Event::Closed),
            _ => {}
        }
        Ok(())
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        match self.outputs.pop_front() {
            Some(Event::Record(kind)) => {
                buf[0] = kind;
                DtlsOutput::Packet(&buf[..1])
            }
            Some(Event::Keys) => {
                let profile = SrtpProfile::AEAD_AES_128_GCM;
                DtlsOutput::KeyingMaterial(KeyingMaterial::new(&vec![0; profile.keying_material_len()]), profile)
            }
            Some(Event::Connected) => DtlsOutput::Connected,
            Some(Event::Closed) => DtlsOutput::CloseNotify,
            None => DtlsOutput::Timeout(self.resend_at.unwrap_or(self.now + IDLE)),
        }
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.now = now;
        if self.resend_at.is_some_and(|at| at <= now) {
            self.greet();
        }
        Ok(())
    }

    fn send_application_data(&mut self, _data: &[u8]) -> Result<usize, DtlsImplError> {
        Ok(0)
    }

    fn is_active(&self) -> bool {
        self.is_client
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        None
    }

    fn is_closed(&self) -> bool {
        self.state == State::Closed && self.outputs.is_empty()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        if self.state == State::Connected {
            self.outputs.push_back(Event::Record(ALERT));
        }
        self.state = State::Closed;
        self.resend_at = None;
        Ok(())
    }
}
