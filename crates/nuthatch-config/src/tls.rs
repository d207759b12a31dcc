//! What configuration says of TLS to servers: how far a certificate is believed, versions, rows of `mysql_servers_ssl_params`.

use crate::server::Server;

/// How far a server's certificate is believed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SslVerify {
    /// Not looked at.
    Off,
    /// An authority vouches for it.
    Ca,
    /// And it bears the host's name.
    Hostname,
}

impl SslVerify {
    /// From `off`, `ca` or `hostname`, in either case.
    pub fn parse(text: &str) -> Option<Self> {
        match text.to_ascii_lowercase().as_str() {
            "off" => Some(Self::Off),
            "ca" => Some(Self::Ca),
            "hostname" => Some(Self::Hostname),
            _ => None,
        }
    }
}

/// A row of `mysql_servers_ssl_params`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SslParams {
    /// Host of the server, as in `mysql_servers`.
    pub hostname: String,
    /// Its port.
    pub port: u16,
    /// The backend user it is for; empty for all that have no row of their own.
    pub username: String,
    /// File of authorities.
    pub ca: String,
    /// File of our certificate.
    pub cert: String,
    /// File of its key.
    pub key: String,
    /// Directory of authorities.
    pub capath: String,
    /// File of revoked certificates.
    pub crl: String,
    /// Directory of such files.
    pub crlpath: String,
    /// Versions, separated by commas; see [`TlsVersionList::parse`].
    pub tls_version: String,
}

/// Which versions may be spoken; at least one of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TlsVersionList {
    /// TLS 1.2.
    pub tls12: bool,
    /// TLS 1.3.
    pub tls13: bool,
}

/// The text names no version that can be spoken. Reads after the column's name.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, thiserror::Error)]
#[error("takes TLSv1.2 and TLSv1.3, separated by a comma")]
pub struct UnknownTlsVersion;

impl TlsVersionList {
    /// From a list as MySQL's `--tls-version` takes it. Older versions may stand beside those that are spoken. Empty is both.
    ///
    /// # Errors
    /// A word is no version, or none of them is spoken.
    pub fn parse(text: &str) -> Result<Self, UnknownTlsVersion> {
        let mut list = Self { tls12: text.trim().is_empty(), tls13: text.trim().is_empty() };
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            match word.to_ascii_lowercase().as_str() {
                "tlsv1.2" => list.tls12 = true,
                "tlsv1.3" => list.tls13 = true,
                "tlsv1" | "tlsv1.0" | "tlsv1.1" => {}
                _ => return Err(UnknownTlsVersion),
            }
        }
        if list.tls12 || list.tls13 { Ok(list) } else { Err(UnknownTlsVersion) }
    }

    /// The words of such a list that name a version which is not spoken.
    pub(crate) fn unspoken(text: &str) -> impl Iterator<Item = &str> {
        let words = text.split(',').map(str::trim);
        words.filter(|word| ["tlsv1", "tlsv1.0", "tlsv1.1"].contains(&word.to_ascii_lowercase().as_str()))
    }

    pub(crate) fn from_oldest(word: &str) -> Self {
        Self { tls12: word != "TLSv1.3", tls13: true }
    }
}

impl SslParams {
    pub(crate) fn is_for(&self, server: &Server) -> bool {
        self.hostname == server.host && self.port == server.port
    }
}
