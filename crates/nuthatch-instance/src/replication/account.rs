//! The account by which one replica reads its source: for it alone, from where it comes, for nothing else.
//!
//! It is made past the binlog: what one server lets in is no matter of its replicas, and a transaction that was written at a replica would keep
//! it from following. So each side of a pair has the account of the other, whichever is written to. Statements with a password are in no log of
//! the server.

use std::net::IpAddr;

use nuthatch_net::AnswerTable;
use nuthatch_server::{Kind, Password};

use crate::ask::{PATIENTLY, SOON, Session, wait_for};
use crate::error::InstanceError;
use crate::replication::dialect::text;
use crate::replication::request::Account;
use crate::root::Place;

/// What the session begins with: nothing of it is in the binlog, the general log or the slow log.
const QUIETLY: &str =
    "SET SESSION sql_log_bin = 0, sql_log_off = 1, long_query_time = 31536000, sql_mode = ''";

/// How the account of that replica is called.
pub(crate) fn user_of(server_id: u32) -> String {
    format!("nuthatch_repl_{server_id}")
}

/// The account is there, with this password and no other.
pub(crate) fn make(place: &Place, account: &Account, password: &Password) -> Result<(), InstanceError> {
    let kind = place.record()?.server.kind;
    let who = format!("{}@{}", text(&account.user), text(&account.host.to_string()));
    let tls = if account.over_tls { "REQUIRE SSL" } else { "REQUIRE NONE" };
    let proof = format!("IDENTIFIED BY {} {tls}", password.to_sql());
    let statements = match kind {
        Kind::MariaDb => vec![format!("CREATE OR REPLACE USER {who} {proof}")],
        Kind::MySql => {
            vec![format!("CREATE USER IF NOT EXISTS {who} {proof}"), format!("ALTER USER {who} {proof}")]
        }
    };
    wait_for(async {
        let mut session = quiet(place).await?;
        for statement in statements {
            secretly(&mut session, &statement, password).await?;
        }
        session.ask(&format!("GRANT REPLICATION SLAVE ON *.* TO {who}"), PATIENTLY).await.map(drop)
    })
}

/// No account of that name is there that comes from that address; from wherever it came, where none is named.
pub(crate) fn remove(place: &Place, user: &str, from: Option<IpAddr>) -> Result<(), InstanceError> {
    wait_for(async {
        let mut session = quiet(place).await?;
        let hosts =
            session.ask(&format!("SELECT Host FROM mysql.user WHERE User = {}", text(user)), SOON).await?;
        let from = from.map(|from| from.to_string());
        for [host] in hosts.texts().filter(|[host]| from.as_ref().is_none_or(|from| from == host)) {
            session.ask(&format!("DROP USER {}@{}", text(user), text(&host)), PATIENTLY).await?;
        }
        Ok(())
    })
}

/// A session whose statements are in no log.
pub(crate) async fn quiet(place: &Place) -> Result<Session, InstanceError> {
    let mut session = Session::open(place).await?;
    session.ask(QUIETLY, SOON).await?;
    Ok(session)
}

/// The answer to a statement that holds the password, which no error tells.
pub(crate) async fn secretly(
    session: &mut Session,
    statement: &str,
    password: &Password,
) -> Result<AnswerTable, InstanceError> {
    session.ask(statement, PATIENTLY).await.map_err(|error| match error {
        InstanceError::Statement { name, code, message } => {
            InstanceError::Statement { name, code, message: message.replace(password.reveal(), "…") }
        }
        other => other,
    })
}
