//! TLS on either side of the proxy.
//!
//! [`ServerTls`] is what clients see, [`BackendTls`] what servers are asked. Servers' self-made certificates bear no host
//! names (MySQL's have no subjectAltName at all), so a chain can be verified with and without the name.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, ServerConfig, SignatureScheme,
    SupportedProtocolVersion, crypto,
};
use thiserror::Error;
use tokio_rustls::{TlsAcceptor, TlsConnector, TlsStream};

use crate::Stream;

/// Why TLS cannot be set up as wanted.
#[derive(Debug, Error)]
pub enum TlsError {
    /// The text holds no usable certificate or key.
    #[error("{what} holds no PEM section that can be used: {why}")]
    Pem {
        /// Which text.
        what: &'static str,
        /// What the reader says.
        why: String,
    },
    /// They do not fit together, or are of a kind that is not supported.
    #[error("certificate and key cannot be used: {0}")]
    Unusable(#[from] rustls::Error),
    /// The authorities cannot be used to verify.
    #[error("the authorities cannot be used: {0}")]
    Authorities(String),
}

/// The versions that are spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsVersions {
    /// TLS 1.2 and 1.3.
    #[default]
    Both,
    /// TLS 1.2.
    Only12,
    /// TLS 1.3.
    Only13,
}

/// The oldest version that a client may speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OldestVersion {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl TlsVersions {
    fn supported(self) -> &'static [&'static SupportedProtocolVersion] {
        static BOTH: [&SupportedProtocolVersion; 2] = [&rustls::version::TLS13, &rustls::version::TLS12];
        match self {
            Self::Both => &BOTH,
            Self::Only13 => &BOTH[..1],
            Self::Only12 => &BOTH[1..],
        }
    }
}

/// Certificate and key in PEM, and what else a side of TLS is made of.
#[derive(Clone, Copy, Default)]
pub struct TlsTexts<'a> {
    /// The certificate with its chain; empty for none.
    pub certificate: &'a [u8],
    /// Its key; empty for none.
    pub key: &'a [u8],
    /// Authorities: for clients' certificates, or the servers'; empty for none.
    pub authorities: &'a [u8],
    /// Lists of certificates that the authorities have revoked; empty for none.
    pub revoked: &'a [u8],
}

/// What clients are offered. Cheap to clone.
#[derive(Clone)]
pub struct ServerTls {
    both: TlsAcceptor,
    only_13: TlsAcceptor,
}

impl std::fmt::Debug for ServerTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ServerTls(…)")
    }
}

impl ServerTls {
    /// Shows the certificate. With authorities, a client *may* show one of its own, which must be theirs then.
    ///
    /// # Errors
    /// When a text cannot be used.
    pub fn new(texts: &TlsTexts<'_>) -> Result<Self, TlsError> {
        // Which versions are offered is a setting that changes while the certificate stays.
        let of = |versions| Self::acceptor(texts, versions);
        Ok(Self { both: of(TlsVersions::Both)?, only_13: of(TlsVersions::Only13)? })
    }

    fn acceptor(texts: &TlsTexts<'_>, versions: TlsVersions) -> Result<TlsAcceptor, TlsError> {
        let builder =
            ServerConfig::builder_with_provider(provider()).with_protocol_versions(versions.supported())?;
        let builder = match texts.authorities {
            [] => builder.with_no_client_auth(),
            authorities => {
                let roots = Arc::new(roots(authorities)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider())
                    .allow_unauthenticated()
                    .build()
                    .map_err(|error| TlsError::Authorities(error.to_string()))?;
                builder.with_client_cert_verifier(verifier)
            }
        };
        let (certificates, key) = certificate_and_key(texts)?;
        Ok(TlsAcceptor::from(Arc::new(builder.with_single_cert(certificates, key)?)))
    }

    pub(crate) async fn accept(&self, stream: Stream, oldest: OldestVersion) -> io::Result<Stream> {
        let acceptor = match oldest {
            OldestVersion::Tls12 => &self.both,
            OldestVersion::Tls13 => &self.only_13,
        };
        let tls = acceptor.accept(stream).await?;
        Ok(Stream::Tls(Box::new(TlsStream::Server(tls))))
    }
}

/// How far a server's certificate is believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verify {
    /// It is not looked at: the connection is encrypted, to whomever.
    Nothing,
    /// An authority must vouch for it.
    Authority,
    /// And it must bear the host's name or address.
    AuthorityAndHost,
}

/// How servers are connected to. Cheap to clone.
#[derive(Clone)]
pub struct BackendTls {
    connector: TlsConnector,
    verify: Verify,
}

impl std::fmt::Debug for BackendTls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BackendTls(…)")
    }
}

impl BackendTls {
    /// Shows the certificate if there is one, and verifies the server's by the authorities. With lists of what is revoked, each
    /// certificate of the chain must be covered by one that has not expired.
    ///
    /// # Errors
    /// When a text cannot be used, or there is nothing to verify by.
    pub fn new(texts: &TlsTexts<'_>, verify: Verify, versions: TlsVersions) -> Result<Self, TlsError> {
        let builder =
            ClientConfig::builder_with_provider(provider()).with_protocol_versions(versions.supported())?;
        let authority = match verify {
            Verify::Nothing => None,
            Verify::Authority | Verify::AuthorityAndHost => {
                let roots = Arc::new(roots(texts.authorities)?);
                let built = WebPkiServerVerifier::builder_with_provider(roots, provider())
                    .with_crls(revoked(texts.revoked)?)
                    .enforce_revocation_expiration()
                    .build();
                Some(built.map_err(|error| TlsError::Authorities(error.to_string()))?)
            }
        };
        let verifier = BackendVerifier { authority, wants_name: verify == Verify::AuthorityAndHost };
        let builder = builder.dangerous().with_custom_certificate_verifier(Arc::new(verifier));
        let config = if texts.certificate.is_empty() {
            builder.with_no_client_auth()
        } else {
            let (certificates, key) = certificate_and_key(texts)?;
            builder.with_client_auth_cert(certificates, key)?
        };
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), verify })
    }

    /// Whether a server must prove who it is.
    #[must_use]
    pub const fn is_verifying(&self) -> bool {
        !matches!(self.verify, Verify::Nothing)
    }

    pub(crate) async fn connect(&self, stream: Stream, host: &str) -> io::Result<Stream> {
        let name = match host.parse::<IpAddr>() {
            Ok(address) => ServerName::from(address),
            Err(_) => ServerName::try_from(host.to_owned()).map_err(io::Error::other)?,
        };
        let tls = self.connector.connect(name, stream).await?;
        Ok(Stream::Tls(Box::new(TlsStream::Client(tls))))
    }
}

/// Verifies as far as it was told to; signatures in any case, so that who answers holds the certificate's key.
#[derive(Debug)]
struct BackendVerifier {
    authority: Option<Arc<WebPkiServerVerifier>>,
    wants_name: bool,
}

impl ServerCertVerifier for BackendVerifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now) {
            // The chain has passed before the name is looked at.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.wants_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &provider().signature_verification_algorithms;
        crypto::verify_tls12_signature(message, cert, dss, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &provider().signature_verification_algorithms;
        crypto::verify_tls13_signature(message, cert, dss, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}

fn provider() -> Arc<crypto::CryptoProvider> {
    Arc::new(crypto::aws_lc_rs::default_provider())
}

fn roots(authorities: &[u8]) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates("the file of authorities", authorities)? {
        roots.add(certificate)?;
    }
    Ok(roots)
}

fn revoked(text: &[u8]) -> Result<Vec<CertificateRevocationListDer<'static>>, TlsError> {
    let what = "the file of revoked certificates";
    let found: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() && !text.is_empty() => {
            Err(TlsError::Pem { what, why: "no list in it".to_owned() })
        }
        Ok(found) => Ok(found),
        Err(error) => Err(TlsError::Pem { what, why: error.to_string() }),
    }
}

fn certificates(what: &'static str, text: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TlsError::Pem { what, why: "no certificate in it".to_owned() }),
        Ok(found) => Ok(found),
        Err(error) => Err(TlsError::Pem { what, why: error.to_string() }),
    }
}

fn certificate_and_key(
    texts: &TlsTexts<'_>,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), TlsError> {
    let key = PrivateKeyDer::from_pem_slice(texts.key)
        .map_err(|error| TlsError::Pem { what: "the file of the key", why: error.to_string() })?;
    Ok((certificates("the file of the certificate", texts.certificate)?, key))
}

#[cfg(test)]
mod tests;
