//! Both sides shake hands over a socket of this host, with certificates made here.

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use tokio::net::{TcpListener, TcpStream};

use super::*;

/// An authority and a certificate of its making, for `db.test`.
struct Pki {
    authority: String,
    certificate: String,
    key: String,
    issuer: Issuer<'static, KeyPair>,
}

const SERIAL: u64 = 77;

impl Pki {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority_key = KeyPair::generate().unwrap();
        let authority = params.self_signed(&authority_key).unwrap().pem();
        let issuer = Issuer::new(params, authority_key);
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec!["db.test".to_owned()]).unwrap();
        params.serial_number = Some(SerialNumber::from(SERIAL));
        let certificate = params.signed_by(&key, &issuer).unwrap().pem();
        Self { authority, certificate, key: key.serialize_pem(), issuer }
    }

    fn server(&self) -> ServerTls {
        let (certificate, key) = (self.certificate.as_bytes(), self.key.as_bytes());
        ServerTls::new(&TlsTexts { certificate, key, ..TlsTexts::default() }).unwrap()
    }

    /// A list that revokes `serials`, and is good until then.
    fn revoking(&self, serials: &[u64], next_update_year: i32) -> String {
        let revoked = |serial: &u64| RevokedCertParams {
            serial_number: SerialNumber::from(*serial),
            revocation_time: date_time_ymd(2020, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2020, 1, 1),
            next_update: date_time_ymd(next_update_year, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: serials.iter().map(revoked).collect(),
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

/// The version that both agree on, or why there is none.
async fn shake(
    server: &ServerTls,
    oldest: OldestVersion,
    backend: &BackendTls,
    host: &str,
) -> io::Result<&'static str> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
    let accept = async {
        let (socket, _) = listener.accept().await.unwrap();
        server.accept(Stream::Tcp(socket), oldest).await
    };
    let (_accepted, connected) = tokio::join!(accept, backend.connect(Stream::Tcp(socket), host));
    connected.map(|stream| stream.tls_version().unwrap())
}

#[tokio::test]
async fn versions_are_those_that_both_sides_allow() {
    let server = Pki::new("ours").server();
    for (oldest, versions, agreed) in [
        (OldestVersion::Tls12, TlsVersions::Both, Some("TLSv1.3")),
        (OldestVersion::Tls12, TlsVersions::Only12, Some("TLSv1.2")),
        (OldestVersion::Tls12, TlsVersions::Only13, Some("TLSv1.3")),
        (OldestVersion::Tls13, TlsVersions::Both, Some("TLSv1.3")),
        (OldestVersion::Tls13, TlsVersions::Only12, None),
    ] {
        let backend = BackendTls::new(&TlsTexts::default(), Verify::Nothing, versions).unwrap();
        let seen = shake(&server, oldest, &backend, "db.test").await.ok();
        assert_eq!(seen, agreed, "{oldest:?} {versions:?}");
    }
}

#[tokio::test]
async fn certificate_is_believed_as_far_as_configured() {
    let (pki, other) = (Pki::new("ours"), Pki::new("another"));
    let server = pki.server();
    for (authority, verify, host, is_believed) in [
        (&pki, Verify::AuthorityAndHost, "db.test", true),
        (&pki, Verify::AuthorityAndHost, "127.0.0.1", false),
        (&pki, Verify::Authority, "127.0.0.1", true),
        (&other, Verify::Authority, "db.test", false),
        (&other, Verify::Nothing, "127.0.0.1", true),
    ] {
        let texts = TlsTexts { authorities: authority.authority.as_bytes(), ..TlsTexts::default() };
        let backend = BackendTls::new(&texts, verify, TlsVersions::Both).unwrap();
        let shaken = shake(&server, OldestVersion::Tls12, &backend, host).await;
        assert_eq!(shaken.is_ok(), is_believed, "{verify:?} {host} {shaken:?}");
        assert_eq!(backend.is_verifying(), verify != Verify::Nothing);
    }
}

#[tokio::test]
async fn revoked_certificate_is_not_believed_nor_one_that_no_list_covers() {
    let (pki, other) = (Pki::new("ours"), Pki::new("another"));
    let server = pki.server();
    for (lists, is_believed) in [
        (String::new(), true),
        (pki.revoking(&[1], 2200), true),
        (pki.revoking(&[1, SERIAL], 2200), false),
        (pki.revoking(&[1], 2021), false),
        (other.revoking(&[], 2200), false),
        (other.revoking(&[], 2200) + &pki.revoking(&[], 2200), true),
    ] {
        for verify in [Verify::Authority, Verify::AuthorityAndHost] {
            let texts = TlsTexts {
                authorities: pki.authority.as_bytes(),
                revoked: lists.as_bytes(),
                ..TlsTexts::default()
            };
            let backend = BackendTls::new(&texts, verify, TlsVersions::Both).unwrap();
            let shaken = shake(&server, OldestVersion::Tls12, &backend, "db.test").await;
            assert_eq!(shaken.is_ok(), is_believed, "{verify:?} {shaken:?} {lists}");
        }
    }
}

#[test]
fn text_without_what_is_wanted_is_refused() {
    let pki = Pki::new("ours");
    let new =
        |texts: TlsTexts<'_>| BackendTls::new(&texts, Verify::Authority, TlsVersions::Both).unwrap_err();
    let authorities = pki.authority.as_bytes();
    let fault = new(TlsTexts { authorities, revoked: authorities, ..TlsTexts::default() });
    assert!(
        fault.to_string().starts_with("the file of revoked certificates holds no PEM section"),
        "{fault}"
    );
    let fault = new(TlsTexts::default());
    assert!(fault.to_string().starts_with("the file of authorities"), "{fault}");
}
