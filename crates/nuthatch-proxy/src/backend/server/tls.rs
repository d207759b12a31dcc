//! TLS towards servers, as the configuration says it for each server and user.
//!
//! Files are read when a configuration is put in force. What cannot be used refuses the connections that need it, and says
//! why; it never falls back to the clear, or to less verification.

use std::sync::Arc;
use std::{fs, io};

use nuthatch_config::{SslVerify, TlsSettings, TlsVersionList};
use nuthatch_net::{BackendTls, NetError, TlsTexts, TlsVersions, Verify};

/// TLS for the connections to one server.
#[derive(Debug, PartialEq)]
pub(in crate::backend) struct TlsOfServer {
    /// For users that have none of their own.
    pub(in crate::backend) for_all: Arc<TlsToServers>,
    pub(in crate::backend) for_users: Vec<(Box<str>, Arc<TlsToServers>)>,
}

impl TlsOfServer {
    /// That for connections as this user.
    pub(in crate::backend) fn of(&self, user: &str) -> &TlsToServers {
        let own = self.for_users.iter().find(|(name, _)| **name == *user);
        own.map_or(&self.for_all, |(_, tls)| tls)
    }
}

/// TLS by one set of settings.
#[derive(Debug)]
pub(in crate::backend) struct TlsToServers {
    tls: Result<BackendTls, String>,
    verify: Verify,
    /// Hash of what it was made of, to see a change.
    made_of: u64,
}

/// What stands in the files that the settings name.
struct Files {
    certificate: Vec<u8>,
    key: Vec<u8>,
    authorities: Vec<u8>,
    revoked: Vec<u8>,
}

impl TlsToServers {
    /// That of `settings`. Cost: reads the files that they name.
    pub(in crate::backend) fn new(settings: &TlsSettings) -> Self {
        let verify = match settings.verify {
            SslVerify::Off => Verify::Nothing,
            SslVerify::Ca => Verify::Authority,
            SslVerify::Hostname => Verify::AuthorityAndHost,
        };
        let files = Files::read(settings);
        let versions = settings.versions.as_ref().map_err(|fault| format!("tls_version {fault}"));
        let tls = files.as_ref().map_err(String::clone).and_then(|files| {
            let texts = TlsTexts {
                certificate: &files.certificate,
                key: &files.key,
                authorities: &files.authorities,
                revoked: &files.revoked,
            };
            BackendTls::new(&texts, verify, spoken(*versions?)).map_err(|error| error.to_string())
        });
        let hash = |bytes: &[u8]| rapidhash::v3::rapidhash_v3(bytes);
        let made_of = match &files {
            Ok(files) => [&files.certificate, &files.key, &files.authorities, &files.revoked]
                .iter()
                .fold(hash(format!("{:?}", settings.versions).as_bytes()), |sum, text| {
                    sum.rotate_left(7) ^ hash(text)
                }),
            Err(why) => hash(why.as_bytes()),
        };
        Self { tls: tls.map_err(|why| format!("{}: {why}", settings.source)), verify, made_of }
    }

    /// Why it cannot be used, if it cannot.
    pub(in crate::backend) fn fault(&self) -> Option<&str> {
        self.tls.as_ref().err().map(String::as_str)
    }

    /// The connector.
    ///
    /// # Errors
    /// [`NetError::Tls`] with the reason why there is none.
    pub(in crate::backend) fn connector(&self) -> Result<&BackendTls, NetError> {
        self.tls.as_ref().map_err(|why| NetError::Tls(io::Error::other(why.clone())))
    }

    /// How far certificates are believed, in a word.
    pub(in crate::backend) const fn verification(&self) -> &'static str {
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

impl Files {
    fn read(settings: &TlsSettings) -> Result<Self, String> {
        Ok(Self {
            certificate: file(&settings.cert)?,
            key: file(&settings.key)?,
            authorities: [file(&settings.ca)?, directory(&settings.capath, "CERTIFICATE")?].concat(),
            revoked: [file(&settings.crl)?, directory(&settings.crlpath, "X509 CRL")?].concat(),
        })
    }
}

const fn spoken(list: TlsVersionList) -> TlsVersions {
    match list {
        TlsVersionList { tls12: true, tls13: false } => TlsVersions::Only12,
        TlsVersionList { tls12: false, .. } => TlsVersions::Only13,
        TlsVersionList { .. } => TlsVersions::Both,
    }
}

/// What the file holds, closed by a line's end; nothing where none is named.
fn file(path: &str) -> Result<Vec<u8>, String> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let mut bytes = fs::read(path).map_err(|error| format!("cannot read {path}: {error}"))?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// All files of the directory that hold a section of that kind, by their names; there must be one.
fn directory(path: &str, section: &str) -> Result<Vec<u8>, String> {
    if path.is_empty() {
        return Ok(Vec::new());
    }
    let cannot = |error: io::Error| format!("cannot read the directory {path}: {error}");
    let entries: Result<Vec<_>, _> = fs::read_dir(path).map_err(cannot)?.collect();
    let mut names: Vec<_> = entries.map_err(cannot)?.iter().map(fs::DirEntry::path).collect();
    names.sort();
    let begin = format!("-----BEGIN {section}-----");
    let mut bytes = Vec::new();
    for name in names.iter().filter(|name| name.is_file()) {
        let text = file(&name.to_string_lossy())?;
        if text.windows(begin.len()).any(|window| window == begin.as_bytes()) {
            bytes.extend(text);
        }
    }
    if bytes.is_empty() {
        return Err(format!("no file in {path} holds a section {section}"));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directory_gives_the_files_that_hold_what_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().to_str().unwrap();
        fs::create_dir(dir.path().join("a directory")).unwrap();
        fs::write(dir.path().join("b"), "-----BEGIN CERTIFICATE-----\nB").unwrap();
        fs::write(dir.path().join("a"), "-----BEGIN CERTIFICATE-----\nA").unwrap();
        fs::write(dir.path().join("key"), "-----BEGIN PRIVATE KEY-----").unwrap();
        let text = String::from_utf8(directory(path, "CERTIFICATE").unwrap()).unwrap();
        assert_eq!(text, "-----BEGIN CERTIFICATE-----\nA\n-----BEGIN CERTIFICATE-----\nB\n");
        assert!(directory(path, "X509 CRL").unwrap_err().contains("holds a section X509 CRL"));
        assert!(directory("/nowhere", "CERTIFICATE").unwrap_err().contains("/nowhere"));
        assert_eq!(directory("", "CERTIFICATE"), Ok(Vec::new()));
    }
}
