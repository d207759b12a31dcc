//! How a server is to be connected to over TLS: the variables `mysql-ssl_p2s_*`, what its row of `mysql_servers_ssl_params`
//! says in their place, and its hostgroup's `ssl_verify`.
//!
//! What a row leaves empty comes from the variables, by groups that belong together: authorities, certificate and key, lists of
//! revoked certificates. So a row with a client certificate does not switch verification off. A text that cannot be understood
//! never leads to a weaker connection: it leads to none.

use crate::server::{HostgroupId, Server};
use crate::snapshot::Snapshot;
use crate::tls::{SslParams, SslVerify, TlsVersionList, UnknownTlsVersion};
use crate::variables::MysqlVariables;

/// How one server is connected to as one user.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TlsSettings {
    /// Where they come from, for messages.
    pub source: String,
    /// File of authorities; empty for none, as in what follows.
    pub ca: String,
    /// Directory of authorities.
    pub capath: String,
    /// File of our certificate.
    pub cert: String,
    /// File of its key.
    pub key: String,
    /// File of revoked certificates.
    pub crl: String,
    /// Directory of such files.
    pub crlpath: String,
    /// The versions; the error leads to no connection.
    pub versions: Result<TlsVersionList, UnknownTlsVersion>,
    /// How far the certificate is believed.
    pub verify: SslVerify,
}

impl TlsSettings {
    fn of_variables(variables: &MysqlVariables) -> Self {
        let verify = SslVerify::parse(&variables.ssl_p2s_verify).unwrap_or(SslVerify::Hostname);
        let is_without_authority = variables.ssl_p2s_ca.is_empty() && variables.ssl_p2s_capath.is_empty();
        Self {
            source: "mysql-ssl_p2s_*".to_owned(),
            ca: variables.ssl_p2s_ca.clone(),
            capath: variables.ssl_p2s_capath.clone(),
            cert: variables.ssl_p2s_cert.clone(),
            key: variables.ssl_p2s_key.clone(),
            crl: variables.ssl_p2s_crl.clone(),
            crlpath: variables.ssl_p2s_crlpath.clone(),
            versions: Ok(TlsVersionList::from_oldest(&variables.ssl_p2s_min_version)),
            verify: if is_without_authority { SslVerify::Off } else { verify },
        }
    }
}

impl Snapshot {
    /// How that server is to be connected to over TLS as `user`; the empty name stands for those without a row of their own.
    pub fn tls_settings(&self, server: &Server, user: &str) -> TlsSettings {
        let mut settings = TlsSettings::of_variables(&self.mysql);
        if let Some(row) = self.ssl_params_of(server, user) {
            apply(row, &mut settings, &self.mysql);
        }
        if let Some(verify) = self.ssl_verify(server.hostgroup) {
            settings.verify = verify;
            settings.source = format!("{}, ssl_verify of hostgroup {}", settings.source, server.hostgroup);
        }
        settings
    }

    /// The users that have a row of `mysql_servers_ssl_params` for that server.
    pub fn users_with_ssl_params(&self, server: &Server) -> impl Iterator<Item = &str> {
        let rows = self.ssl_params.iter().filter(|row| row.is_for(server) && !row.username.is_empty());
        rows.map(|row| row.username.as_str())
    }

    fn ssl_params_of(&self, server: &Server, user: &str) -> Option<&SslParams> {
        let of = |user: &str| self.ssl_params.iter().find(|row| row.is_for(server) && row.username == user);
        of(user).or_else(|| of(""))
    }

    fn ssl_verify(&self, hostgroup: HostgroupId) -> Option<SslVerify> {
        self.hostgroup_attributes.get(&hostgroup)?.ssl_verify
    }
}

fn apply(row: &SslParams, settings: &mut TlsSettings, variables: &MysqlVariables) {
    let is_said = |texts: [&String; 2]| texts.iter().any(|text| !text.is_empty());
    settings.source = format!("mysql_servers_ssl_params of {}:{}", row.hostname, row.port);
    if is_said([&row.ca, &row.capath]) {
        (settings.ca, settings.capath) = (row.ca.clone(), row.capath.clone());
        settings.verify = SslVerify::parse(&variables.ssl_p2s_verify).unwrap_or(SslVerify::Hostname);
    }
    if is_said([&row.cert, &row.key]) {
        (settings.cert, settings.key) = (row.cert.clone(), row.key.clone());
    }
    if is_said([&row.crl, &row.crlpath]) {
        (settings.crl, settings.crlpath) = (row.crl.clone(), row.crlpath.clone());
    }
    if !row.tls_version.trim().is_empty() {
        settings.versions = TlsVersionList::parse(&row.tls_version);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attributes::HostgroupAttributes;

    const SERVER: (u32, &str, u16) = (3, "db", 3306);

    fn server() -> Server {
        Server::new(HostgroupId(SERVER.0), SERVER.1, SERVER.2)
    }

    fn row(username: &str) -> SslParams {
        SslParams {
            hostname: SERVER.1.to_owned(),
            port: SERVER.2,
            username: username.to_owned(),
            ..SslParams::default()
        }
    }

    fn snapshot(ca: &str, rows: Vec<SslParams>, verify: Option<SslVerify>) -> Snapshot {
        let attributes = HostgroupAttributes { ssl_verify: verify, ..HostgroupAttributes::default() };
        Snapshot {
            mysql: MysqlVariables {
                ssl_p2s_ca: ca.to_owned(),
                ssl_p2s_cert: "/c".to_owned(),
                ssl_p2s_key: "/k".to_owned(),
                ..MysqlVariables::default()
            },
            ssl_params: rows.into(),
            hostgroup_attributes: std::sync::Arc::new([(HostgroupId(SERVER.0), attributes)].into()),
            ..Snapshot::default()
        }
    }

    #[test]
    fn versions_are_understood_or_refused() {
        let list = |tls12, tls13| Ok(TlsVersionList { tls12, tls13 });
        for (text, expected) in [
            ("", list(true, true)),
            ("TLSv1.2,TLSv1.3", list(true, true)),
            (" tlsv1.3 ", list(false, true)),
            ("TLSv1.1, TLSv1.2", list(true, false)),
            ("TLSv1.1", Err(UnknownTlsVersion)),
            ("TLSv1.2,TLSv9", Err(UnknownTlsVersion)),
        ] {
            assert_eq!(TlsVersionList::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn nothing_is_verified_without_an_authority_unless_the_hostgroup_asks_for_it() {
        use SslVerify::{Ca, Hostname, Off};
        for (ca, row_ca, hostgroup, expected) in [
            ("", "", None, Off),
            ("/ca", "", None, Hostname),
            ("", "/own", None, Hostname),
            ("", "", Some(Ca), Ca),
            ("/ca", "", Some(Off), Off),
            ("/ca", "/own", Some(Ca), Ca),
        ] {
            let rows = vec![SslParams { ca: row_ca.to_owned(), ..row("") }];
            let settings = snapshot(ca, rows, hostgroup).tls_settings(&server(), "app");
            assert_eq!(settings.verify, expected, "{ca} {row_ca} {hostgroup:?}");
        }
    }

    #[test]
    fn row_stands_in_the_place_of_variables_group_by_group() {
        let rows = vec![
            SslParams { tls_version: "TLSv1.3".to_owned(), ..row("") },
            SslParams { ca: "/other".to_owned(), cert: "/c2".to_owned(), ..row("app") },
            SslParams { hostname: "elsewhere".to_owned(), ca: "/never".to_owned(), ..row("") },
        ];
        let snapshot = snapshot("/ca", rows, None);
        let settings = snapshot.tls_settings(&server(), "");
        assert_eq!((settings.ca.as_str(), settings.key.as_str()), ("/ca", "/k"));
        assert_eq!(settings.versions, Ok(TlsVersionList { tls12: false, tls13: true }));
        let settings = snapshot.tls_settings(&server(), "app");
        assert_eq!((settings.ca.as_str(), settings.cert.as_str()), ("/other", "/c2"));
        assert_eq!(settings.key, "", "a certificate's key comes from where the certificate comes from");
        assert_eq!(settings.versions, Ok(TlsVersionList { tls12: true, tls13: true }));
        assert_eq!(snapshot.tls_settings(&server(), "other"), snapshot.tls_settings(&server(), ""));
        assert_eq!(snapshot.users_with_ssl_params(&server()).collect::<Vec<_>>(), ["app"]);
    }
}
