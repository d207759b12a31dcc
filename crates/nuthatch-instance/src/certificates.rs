//! The host's authority, and the certificates by which its servers prove who they are.
//!
//! The authority is made once, in the root's `tls`; its key is for who runs this program alone. Each instance has a certificate of its making
//! for the address that it listens on, which its server shows from its next start on. Where an operator has set one of his own (`ssl_cert`),
//! that stands. None of them expires: a replica must not stop on a day that nobody has marked. Files that are deleted are made anew at the
//! next start.

use std::fs;
use std::path::{Path, PathBuf};

use nuthatch_server::{ServerError, lock, make_private_dir, remove_file, write_private};
use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, KeyUsagePurpose, SanType};

use crate::error::InstanceError;
use crate::options::layers::{Settings, Source};
use crate::options::option_file::line_of;
use crate::record::Record;
use crate::root::{Place, Root, read_if_there};

/// The options of a server's certificate, and the file of each in the instance's `tls`.
const OPTIONS: [(&str, &str); 3] = [("ssl_ca", "ca.pem"), ("ssl_cert", "cert.pem"), ("ssl_key", "key.pem")];

/// The file with the authority of an instance's source.
const OF_SOURCE: &str = "source-ca.pem";

/// The instance has a certificate, made now if need be. Who may not write to the root makes none.
pub(crate) fn ensure(root: &Root, place: &Place, record: &Record) -> Result<(), InstanceError> {
    let dir = dir_of(place);
    if is_there(place) || rustix::fs::access(root.dir(), rustix::fs::Access::WRITE_OK).is_err() {
        return Ok(());
    }
    let (authority, issuer) = authority(root)?;
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    place.give(&dir)?;
    let key = KeyPair::generate().map_err(|error| refused(&error))?;
    let mut params = CertificateParams::default();
    params.distinguished_name.push(DnType::CommonName, place.name().as_str());
    params.subject_alt_names = vec![SanType::IpAddress(record.address)];
    params.use_authority_key_identifier_extension = true;
    let certificate = params.signed_by(&key, &issuer).map_err(|error| refused(&error))?;
    place.write(&dir.join("ca.pem"), &authority)?;
    place.write(&dir.join("key.pem"), &key.serialize_pem())?;
    // The last one: with it they are whole.
    place.write(&dir.join("cert.pem"), &certificate.pem())
}

/// Lays the options of its certificate below what the layers say, if it has one and they name no other.
pub(crate) fn lay(place: &Place, settings: &mut Settings) {
    if !is_there(place) || OPTIONS.iter().any(|(name, _)| settings.value(name).is_some()) {
        return;
    }
    for (name, file) in OPTIONS {
        let path = dir_of(place).join(file).display().to_string();
        settings.put(name, Some(path), Source::Place);
    }
}

/// The authority by which others verify the instance's server, as it is set; `None` where it has none.
pub(crate) fn authority_of(settings: &Settings) -> Result<Option<String>, InstanceError> {
    match settings.value("ssl_ca") {
        Some(path) => Ok(read_if_there(Path::new(path))?
            .map(|text| certificates_in(&text))
            .filter(|text| !text.is_empty())),
        None => Ok(None),
    }
}

/// The option whose file is not there: the server would not start with it.
pub(crate) fn missing_file(settings: &Settings) -> Option<String> {
    let missing = |(name, _): &(&str, &str)| {
        settings.value(name).is_some_and(|path| !Path::new(path.trim_matches(['"', '\''])).exists())
    };
    let (name, _) = OPTIONS.into_iter().find(missing)?;
    Some(line_of(name, settings.value(name)))
}

/// Nothing of a file but the certificates in it is told: which file that is, the servers' user may have chosen.
fn certificates_in(text: &str) -> String {
    const END: &str = "-----END CERTIFICATE-----";
    let sections = text.split("-----BEGIN CERTIFICATE-----").skip(1);
    let whole = sections.filter_map(|section| Some(section.split_once(END)?.0));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "+/=\r\n".contains(c);
    whole
        .filter(|body| body.chars().all(is_plain))
        .map(|body| format!("-----BEGIN CERTIFICATE-----{body}{END}\n"))
        .collect()
}

/// Where the authority of its source is, for its server to read: not in `tls`, which may be deleted for another certificate.
fn of_source(place: &Place) -> PathBuf {
    place.dir().join(OF_SOURCE)
}

/// Has its server verify the source by this authority.
pub(crate) fn keep_of_source(place: &Place, authority: &str) -> Result<PathBuf, InstanceError> {
    let path = of_source(place);
    place.write(&path, authority)?;
    Ok(path)
}

/// Nothing of a source is kept any more.
pub(crate) fn forget_source(place: &Place) -> Result<(), InstanceError> {
    // Where it was before.
    remove_file(&dir_of(place).join(OF_SOURCE))?;
    Ok(remove_file(&of_source(place))?)
}

fn dir_of(place: &Place) -> PathBuf {
    place.dir().join("tls")
}

fn is_there(place: &Place) -> bool {
    dir_of(place).join("cert.pem").exists()
}

/// The authority's certificate, and who signs with its key; made if need be.
fn authority(root: &Root) -> Result<(String, Issuer<'static, KeyPair>), InstanceError> {
    let dir = root.dir().join("tls");
    make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    let _lock = lock(&dir.join("lock"))?;
    let (certificate_file, key_file) = (dir.join("ca.pem"), dir.join("ca-key.pem"));
    if !certificate_file.exists() {
        let key = KeyPair::generate().map_err(|error| refused(&error))?;
        let certificate = params_of(&key).self_signed(&key).map_err(|error| refused(&error))?;
        write_private(&key_file, &key.serialize_pem())?;
        write_private(&certificate_file, &certificate.pem())?;
    }
    let read = |path: &Path| fs::read_to_string(path).map_err(ServerError::file("read", path));
    let (certificate, key) = (read(&certificate_file)?, read(&key_file)?);
    let bad = |error: rcgen::Error| InstanceError::BadFile { path: key_file, what: error.to_string() };
    let key = KeyPair::from_pem(&key).map_err(bad)?;
    Ok((certificate, Issuer::new(params_of(&key), key)))
}

/// What an authority with that key says of itself: no two are called the same, so that nobody takes one for the other.
fn params_of(key: &KeyPair) -> CertificateParams {
    let mut params = CertificateParams::default();
    let id: String = key.public_key_raw().iter().rev().take(8).map(|byte| format!("{byte:02x}")).collect();
    params.distinguished_name.push(DnType::CommonName, format!("nuthatch instances {id}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn refused(error: &rcgen::Error) -> InstanceError {
    InstanceError::Refused(format!("make a certificate: {error}"))
}

#[cfg(test)]
mod tests {
    use nuthatch_server::Installation;

    use super::*;

    #[test]
    fn certificate_is_made_once_by_the_one_authority_and_yields_to_an_operators() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::create(dir.path()).unwrap();
        let address = "127.0.0.1".parse().unwrap();
        let record = Record::new(Installation::debian_mariadb(), "small".into(), address, 3307);
        let read = |place: &Place, file: &str| fs::read_to_string(dir_of(place).join(file)).unwrap();
        let [shop, blog] = ["shop", "blog"].map(|name| root.place(&name.parse().unwrap()));
        for place in [&shop, &blog] {
            make_private_dir(place.dir()).unwrap();
            ensure(&root, place, &record).unwrap();
        }
        assert_eq!(read(&shop, "ca.pem"), read(&blog, "ca.pem"));
        let first = read(&shop, "cert.pem");
        assert_ne!(first, read(&blog, "cert.pem"));
        ensure(&root, &shop, &record).unwrap();
        assert_eq!(first, read(&shop, "cert.pem"));
        let mut settings = Settings::default();
        lay(&shop, &mut settings);
        assert_eq!(authority_of(&settings).unwrap(), Some(read(&shop, "ca.pem")));
        assert_eq!(
            certificates_in(&format!("secret\n{}secret", read(&shop, "ca.pem"))),
            read(&shop, "ca.pem")
        );
        assert_eq!(certificates_in("root:$6$x:1\n-----BEGIN CERTIFICATE-----\nroot:$6$x"), "");
        let mut settings = Settings::default();
        settings.put("ssl_cert", Some("/etc/his.pem".into()), Source::Own);
        lay(&shop, &mut settings);
        assert_eq!(settings.value("ssl_ca"), None);
    }

    #[test]
    fn certificate_that_is_not_there_is_named() {
        let mut settings = Settings::default();
        assert_eq!(missing_file(&settings), None);
        settings.put("ssl_ca", Some("/dev/null".into()), Source::Own);
        assert_eq!(missing_file(&settings), None);
        settings.put("ssl_key", Some("/nonexistent/key.pem".into()), Source::Own);
        assert_eq!(missing_file(&settings).as_deref(), Some("ssl_key=/nonexistent/key.pem"));
    }
}
