//! TLS towards servers, as the variables `mysql-ssl_p2s_*` say it.
//!
//! Files are read when a configuration is put in force. What cannot be used refuses the connections that need it, and says
//! why; it never falls back to the clear.

use std::fs;
use std::io;

use nuthatch_config::MysqlVariables;
use nuthatch_net::{BackendTls, NetError, TlsTexts, Verify};

/// TLS for the servers with `use_ssl`.
#[derive(Debug)]
pub(super) struct TlsToServers {
    tls: Result<BackendTls, String>,
    verify: Verify,
    /// Hash of what it was made of, to see a change.
    made_of: u64,
}

impl TlsToServers {
    /// That of `variables`. Cost: reads up to three files.
    pub(super) fn new(variables: &MysqlVariables) -> Self {
        let verify = match (variables.ssl_p2s_ca.as_str(), variables.ssl_p2s_verify.as_str()) {
            ("", _) | (_, "off") => Verify::Nothing,
            (_, "ca") => Verify::Authority,
            _ => Verify::AuthorityAndHost,
        };
        let read = |name: &str, path: &str| match path {
            "" => Ok(Vec::new()),
            path => fs::read(path).map_err(|error| format!("mysql-{name}: cannot read {path}: {error}")),
        };
        let texts = || -> Result<[Vec<u8>; 3], String> {
            Ok([
                read("ssl_p2s_cert", &variables.ssl_p2s_cert)?,
                read("ssl_p2s_key", &variables.ssl_p2s_key)?,
                read("ssl_p2s_ca", &variables.ssl_p2s_ca)?,
            ])
        };
        let texts = texts();
        let tls = texts.as_ref().map_err(String::clone).and_then(|[certificate, key, authorities]| {
            BackendTls::new(&TlsTexts { certificate, key, authorities }, verify)
                .map_err(|error| format!("mysql-ssl_p2s_*: {error}"))
        });
        let hash = |bytes: &[u8]| rapidhash::v3::rapidhash_v3(bytes);
        let made_of = match &texts {
            Ok(texts) => texts.iter().fold(0, |sum: u64, text| sum.rotate_left(7) ^ hash(text)),
            Err(why) => hash(why.as_bytes()),
        };
        Self { tls, verify, made_of }
    }

    /// Why it cannot be used, if it cannot.
    pub(super) fn fault(&self) -> Option<&str> {
        self.tls.as_ref().err().map(String::as_str)
    }

    /// The connector.
    ///
    /// # Errors
    /// [`NetError::Tls`] with the reason why there is none.
    pub(super) fn connector(&self) -> Result<&BackendTls, NetError> {
        self.tls.as_ref().map_err(|why| NetError::Tls(io::Error::other(why.clone())))
    }

    /// How far certificates are believed, in a word.
    pub(super) const fn verification(&self) -> &'static str {
        match self.verify {
            Verify::Nothing => "unverified",
            Verify::Authority => "ca",
            Verify::AuthorityAndHost => "hostname",
        }
    }
}

impl PartialEq for TlsToServers {
    fn eq(&self, other: &Self) -> bool {
        self.verify == other.verify && self.made_of == other.made_of
    }
}
