//! TLS 1.3 of rustls, with the cipher suites of ring.
//!
//! Differs from a server on the internet: "random" bytes are constants, so that each run with one seed has the same packets. The only
//! key exchange is X25519 and the only signature Ed25519, whose lengths are constant, and a server sends no tickets for resumption.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{ClientConfig, Resumption};
use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret, SupportedKxGroup, ring,
    verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName, UnixTime};
use rustls::server::ServerConfig;
use rustls::version::TLS13;
use rustls::{CertificateError, DigitallySignedStruct, Error, NamedGroup, PeerIncompatible, PeerMisbehaved, SignatureScheme};
use std::sync::Arc;
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

/// Self-signed. `openssl req -x509 -newkey ed25519 -nodes -days 36500 -subj /CN=tailback -addext subjectAltName=DNS:tailback` has made
/// it with its key; `openssl x509` and `openssl pkey` have converted both with `-outform DER`.
const CERTIFICATE: CertificateDer<'static> = CertificateDer::from_slice(include_bytes!("certificate/certificate.der"));
const KEY: &[u8] = include_bytes!("certificate/key.der");

/// The name in the certificate.
pub(super) const SERVER: &str = "tailback";

pub(super) fn client() -> Result<ClientConfig, Error> {
    let provider = provider();
    let verifier = Pinned { provider: provider.clone() };
    let builder = ClientConfig::builder_with_provider(provider).with_protocol_versions(&[&TLS13])?;
    let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
    let mut config = builder.with_no_client_auth();
    config.resumption = Resumption::disabled();
    Ok(config)
}

pub(super) fn server() -> Result<ServerConfig, Error> {
    let builder = ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&TLS13])?;
    let key = PrivatePkcs8KeyDer::from(KEY).into();
    let mut config = builder.with_no_client_auth().with_single_cert(vec![CERTIFICATE], key)?;
    config.send_tls13_tickets = 0;
    Ok(config)
}

fn provider() -> Arc<CryptoProvider> {
    let provider = ring::default_provider();
    Arc::new(CryptoProvider { kx_groups: vec![&X25519], secure_random: &Constant, ..provider })
}

/// Every random byte, which include the key of an X25519 exchange.
const BYTE: u8 = 0x5a;

#[derive(Debug)]
struct Constant;

impl SecureRandom for Constant {
    fn fill(&self, buf: &mut [u8]) -> Result<(), GetRandomFailed> {
        buf.fill(BYTE);
        Ok(())
    }
}

/// RFC 7748. That of ring takes its keys from the operating system.
#[derive(Debug)]
struct X25519;

impl SupportedKxGroup for X25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Exchange { public: x25519([BYTE; 32], X25519_BASEPOINT_BYTES) }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct Exchange {
    public: [u8; 32],
}

impl ActiveKeyExchange for Exchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&x25519([BYTE; 32], peer)[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// Accepts only [`CERTIFICATE`], at any time.
#[derive(Debug)]
struct Pinned {
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let is_pinned = *end_entity == CERTIFICATE && intermediates.is_empty();
        if is_pinned { Ok(ServerCertVerified::assertion()) } else { Err(CertificateError::UnknownIssuer.into()) }
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _cert: &CertificateDer<'_>,
        _dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        Err(PeerIncompatible::Tls12NotOfferedOrEnabled.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, cert, dss, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_accepts_only_the_certificate_of_the_server() {
        let verifier = Pinned { provider: provider() };
        let verified = |certificate: &[u8], chain: &[CertificateDer<'_>]| {
            let name = ServerName::try_from(SERVER).unwrap();
            let now = UnixTime::since_unix_epoch(std::time::Duration::ZERO);
            verifier.verify_server_cert(&CertificateDer::from(certificate), chain, &name, &[], now)
        };
        assert!(verified(&CERTIFICATE, &[]).is_ok());
        assert!(verified(&CERTIFICATE, &[CERTIFICATE]).is_err());
        let mut other = CERTIFICATE.to_vec();
        other[100] ^= 1;
        assert!(verified(&other, &[]).is_err());
    }

    #[test]
    fn a_key_share_of_another_length_is_refused() {
        for length in [0, 31, 33] {
            let secret = X25519.start().unwrap().complete(&vec![9; length]);
            assert_eq!(secret.err(), Some(PeerMisbehaved::InvalidKeyShare.into()));
        }
    }
}
