//! The certificate that clients are shown, and its key: files in the data directory, or made for this run.
//!
//! `nuthatch-cert.pem` (with its chain) and `nuthatch-key.pem` are made at the first start, signed by themselves, and are an
//! operator's to replace; `PROXYSQL RELOAD TLS` reads them again. Where `nuthatch-ca.pem` is there, a client that shows a
//! certificate must show one of that authority.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;
use nuthatch_net::{ServerTls, TlsTexts};

const CERTIFICATE: &str = "nuthatch-cert.pem";
const KEY: &str = "nuthatch-key.pem";
const AUTHORITIES: &str = "nuthatch-ca.pem";

/// Where they are.
#[derive(Debug)]
pub(crate) enum Certificates {
    /// Files in this directory.
    InDirectory(PathBuf),
    /// Made for this run, which has no data directory.
    InMemory(MadeHere),
}

/// A certificate signed by itself.
pub(crate) struct MadeHere {
    certificate: String,
    key: String,
}

impl std::fmt::Debug for MadeHere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MadeHere(…)")
    }
}

impl Certificates {
    /// Makes what is not there.
    pub(crate) fn prepare(datadir: Option<&Path>) -> anyhow::Result<Self> {
        let Some(datadir) = datadir else { return Ok(Self::InMemory(MadeHere::new()?)) };
        let (certificate, key) = (datadir.join(CERTIFICATE), datadir.join(KEY));
        if !certificate.exists() && !key.exists() {
            let made = MadeHere::new()?;
            write_for_owner(&key, &made.key)?;
            write_for_owner(&certificate, &made.certificate)?;
            tracing::info!(file = %certificate.display(), "made a certificate for TLS, signed by itself");
        }
        Ok(Self::InDirectory(datadir.to_owned()))
    }

    /// What clients are to be offered.
    pub(crate) fn load(&self) -> anyhow::Result<ServerTls> {
        match self {
            Self::InMemory(MadeHere { certificate, key }) => {
                let (certificate, key) = (certificate.as_bytes(), key.as_bytes());
                Ok(ServerTls::new(&TlsTexts { certificate, key, ..TlsTexts::default() })?)
            }
            Self::InDirectory(directory) => {
                let read = |name: &str| {
                    let path = directory.join(name);
                    fs::read(&path).with_context(|| format!("cannot read {}", path.display()))
                };
                let authorities = match directory.join(AUTHORITIES).exists() {
                    true => read(AUTHORITIES)?,
                    false => Vec::new(),
                };
                let (certificate, key) = (read(CERTIFICATE)?, read(KEY)?);
                let texts = TlsTexts {
                    certificate: &certificate,
                    key: &key,
                    authorities: &authorities,
                    ..TlsTexts::default()
                };
                ServerTls::new(&texts).with_context(|| format!("TLS files in {}", directory.display()))
            }
        }
    }
}

impl MadeHere {
    fn new() -> anyhow::Result<Self> {
        let made = rcgen::generate_simple_self_signed(["nuthatch".to_owned(), "localhost".to_owned()])
            .context("cannot make a certificate")?;
        Ok(Self { certificate: made.cert.pem(), key: made.signing_key.serialize_pem() })
    }
}

fn write_for_owner(path: &Path, text: &str) -> anyhow::Result<()> {
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .with_context(|| format!("cannot make {}", path.display()))?;
    file.write_all(text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
