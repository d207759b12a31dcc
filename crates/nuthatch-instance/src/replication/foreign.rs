//! A server that is asked over the network, by an account: as a replica of it would come.

use std::error::Error;
use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use nuthatch_net::{
    AnswerTable, Asker, AskerLogin, BackendAddress, BackendPassword, BackendTls, ClearPasswords, TlsTexts,
    TlsVersions, Verify,
};
use nuthatch_server::Password;

use crate::ask::SOON;
use crate::error::InstanceError;
use crate::replication::request::Trust;
use crate::replication::standing::Asked;

/// The largest answer that is taken, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Where a server is, and who logs in.
pub(crate) struct Login<'a> {
    pub(crate) host: &'a str,
    pub(crate) port: u16,
    pub(crate) user: &'a str,
    pub(crate) password: &'a Password,
    pub(crate) trust: &'a Trust,
}

/// A connection there.
pub(crate) struct Foreign {
    asker: Asker,
    address: String,
}

impl Login<'_> {
    /// Logged in.
    pub(crate) async fn open(&self) -> Result<Foreign, InstanceError> {
        let address = format!("{}:{}", self.host, self.port);
        let refuse =
            |what: String| InstanceError::Refused(format!("log in to {address} as {}: {what}", self.user));
        let (verify, authorities) = match self.trust {
            Trust::Authority(authority) => (Some(Verify::AuthorityAndHost), authority.as_bytes()),
            Trust::Encrypted => (Some(Verify::Nothing), &b""[..]),
            Trust::Clear => (None, &b""[..]),
        };
        let texts = TlsTexts { authorities, ..TlsTexts::default() };
        let tls = verify.map(|verify| BackendTls::new(&texts, verify, TlsVersions::Both)).transpose();
        let tls = tls.map_err(|error| refuse(error.to_string()))?;
        let login = AskerLogin {
            user: self.user.to_owned(),
            password: BackendPassword::of(self.password.reveal()),
            tls: tls.map(|tls| (tls, self.host.to_owned())),
            clear_passwords: ClearPasswords::Refused,
        };
        let place = BackendAddress::new(self.host, self.port);
        match tokio::time::timeout(SOON, Asker::open(&place, &login, ANSWER_BYTES_MAX)).await {
            Ok(Ok(asker)) => Ok(Foreign { asker, address }),
            Ok(Err(error)) => Err(refuse(words(&error))),
            Err(_late) => Err(refuse(format!("no answer within {} s", SOON.as_secs()))),
        }
    }
}

impl Asked for Foreign {
    const IS_FOREIGN: bool = true;

    async fn ask(&mut self, sql: &str) -> Result<AnswerTable, InstanceError> {
        let refuse = |what: String| InstanceError::Refused(format!("ask {}: {what}", self.address));
        match tokio::time::timeout(SOON, self.asker.ask(sql)).await {
            Ok(answer) => answer.map_err(|error| refuse(words(&error))),
            Err(_late) => Err(refuse(format!("no answer within {} s", SOON.as_secs()))),
        }
    }
}

/// From which address this host comes to that one, whose port answers.
pub(crate) fn reach(host: &str, port: u16) -> Result<IpAddr, InstanceError> {
    let refuse = |what: String| InstanceError::Refused(format!("reach {host}:{port}: {what}"));
    let addresses = (host, port).to_socket_addrs().map_err(|error| refuse(error.to_string()))?;
    let mut why = "the name has no address".to_owned();
    for address in addresses {
        let within = Duration::from_secs(SOON.as_secs());
        match TcpStream::connect_timeout(&address, within).and_then(|stream| stream.local_addr()) {
            Ok(from) => return Ok(from.ip()),
            Err(error) => why = error.to_string(),
        }
    }
    Err(refuse(why))
}

/// An error and what has caused it.
fn words(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        if !words.contains(&error.to_string()) {
            words = format!("{words}: {error}");
        }
        cause = error.source();
    }
    words
}
