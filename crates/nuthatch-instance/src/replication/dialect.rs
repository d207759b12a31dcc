//! How either kind of server is told to follow another one, and asked how it does.

use std::path::Path;

use nuthatch_net::AnswerTable;
use nuthatch_server::{Kind, Password};

use crate::replication::status::Status;
use crate::replication::unapplied;

/// Seconds between two tries of a replica to reach its source. The servers' own default is a minute.
const RETRY_S: u32 = 5;

/// Options that replication gives one server, and that are not to be copied to another. All can be set at run time.
pub(crate) const OF_PAIRS: [&str; 4] =
    ["auto_increment_increment", "auto_increment_offset", "gtid_domain_id", "read_only"];

/// What a server does to know its source.
#[derive(Clone, Debug)]
pub(crate) enum Secrecy<'a> {
    /// TLS, and the source shows a certificate of this authority for its address.
    Verified(&'a Path),
    /// TLS, to whomever.
    Encrypted,
    /// Nothing.
    Clear,
}

/// The order to follow a source, by GTID from what the server has. It holds the password.
pub(crate) fn follow(
    kind: Kind,
    (host, port): (&str, u16),
    user: &str,
    password: &Password,
    secrecy: &Secrecy<'_>,
) -> String {
    let (order, word, by_gtid) = match kind {
        Kind::MariaDb => ("CHANGE MASTER TO", "MASTER", "MASTER_USE_GTID = slave_pos"),
        // MySQL gives up after ten tries, if it is not told another number: 0 is for ever.
        Kind::MySql => (
            "CHANGE REPLICATION SOURCE TO",
            "SOURCE",
            "SOURCE_AUTO_POSITION = 1, SOURCE_RETRY_COUNT = 0, GET_SOURCE_PUBLIC_KEY = 1",
        ),
    };
    let tls = match secrecy {
        Secrecy::Verified(authority) => format!(
            "{word}_SSL = 1, {word}_SSL_CA = {}, {word}_SSL_VERIFY_SERVER_CERT = 1",
            text(&authority.display().to_string())
        ),
        Secrecy::Encrypted => {
            format!("{word}_SSL = 1, {word}_SSL_CA = '', {word}_SSL_VERIFY_SERVER_CERT = 0")
        }
        Secrecy::Clear => format!("{word}_SSL = 0"),
    };
    format!(
        "{order} {word}_HOST = {}, {word}_PORT = {port}, {word}_USER = {}, {word}_PASSWORD = {}, {word}_CONNECT_RETRY = {RETRY_S}, \
         {by_gtid}, {tls}",
        text(host),
        text(user),
        password.to_sql()
    )
}

/// A text in quotes.
pub(crate) fn text(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"))
}

pub(crate) fn start(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "START SLAVE",
        Kind::MySql => "START REPLICA",
    }
}

pub(crate) fn stop(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "STOP SLAVE",
        Kind::MySql => "STOP REPLICA",
    }
}

/// The source is forgotten, with the login for it.
pub(crate) fn forget(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "RESET SLAVE ALL",
        Kind::MySql => "RESET REPLICA ALL",
    }
}

/// What was fetched is thrown away; by GTID it is fetched again.
pub(crate) fn fetch_again(kind: Kind) -> &'static str {
    match kind {
        // Any change of it does.
        Kind::MariaDb => "CHANGE MASTER TO MASTER_USE_GTID = slave_pos",
        Kind::MySql => "RESET REPLICA",
    }
}

pub(crate) fn status(kind: Kind) -> &'static str {
    match kind {
        Kind::MariaDb => "SHOW ALL SLAVES STATUS",
        Kind::MySql => "SHOW REPLICA STATUS",
    }
}

/// The rows of [`status`], by either kind's names.
pub(crate) fn statuses(table: &AnswerTable) -> Vec<Status> {
    let column = |name: &str| table.names.iter().position(|found| found == name);
    let row = |row: &Vec<Option<Vec<u8>>>| {
        let value = |names: &[&str]| {
            let place = names.iter().find_map(|name| column(name));
            let bytes = place.and_then(|place| row.get(place)?.as_ref());
            bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()).unwrap_or_default()
        };
        Status {
            host: value(&["Master_Host", "Source_Host"]),
            port: value(&["Master_Port", "Source_Port"]).parse().unwrap_or(0),
            fetching: value(&["Slave_IO_Running", "Replica_IO_Running"]),
            applying: value(&["Slave_SQL_Running", "Replica_SQL_Running"]),
            behind_s: value(&["Seconds_Behind_Master", "Seconds_Behind_Source"]).parse().ok(),
            unapplied: match column("Gtid_IO_Pos") {
                Some(_) => unapplied::of_positions(&value(&["Gtid_IO_Pos"]), &value(&["Gtid_Slave_Pos"])),
                None => unapplied::of_sets(&value(&["Retrieved_Gtid_Set"]), &value(&["Executed_Gtid_Set"])),
            },
            by_gtid: match column("Using_Gtid") {
                Some(_) => value(&["Using_Gtid"]) != "No",
                None => value(&["Auto_Position"]) == "1",
            },
            channel: value(&["Connection_name", "Channel_Name"]),
            over_tls: value(&["Master_SSL_Allowed", "Source_SSL_Allowed"]) == "Yes",
            fetch_error: error(&value(&["Last_IO_Errno"]), value(&["Last_IO_Error"])),
            apply_error: error(&value(&["Last_SQL_Errno"]), value(&["Last_SQL_Error"])),
        }
    };
    table.rows.iter().map(row).collect()
}

fn error(number: &str, text: String) -> Option<(u32, String)> {
    let number = number.parse().unwrap_or(0);
    let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
    (number != 0 || !text.is_empty()).then_some((number, text))
}
