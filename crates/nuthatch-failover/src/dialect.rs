//! What servers are told, in each one's words.

use nuthatch_config::ServerName;
use nuthatch_sql::ServerFlavor;

/// MySQL has had the new words since this version, and since 8.4 only them.
const NEW_WORDS: u32 = 80_023;

/// Whether it speaks of sources and replicas.
const fn has_new_words(flavor: ServerFlavor) -> bool {
    matches!(flavor, ServerFlavor::MySql(NEW_WORDS..))
}

pub(crate) fn take_writes(flavor: ServerFlavor, takes: bool) -> &'static [&'static str] {
    match (flavor, takes) {
        // In this order nobody can write between the two.
        (ServerFlavor::MySql(_), true) => &["SET GLOBAL super_read_only = 0", "SET GLOBAL read_only = 0"],
        (ServerFlavor::MySql(_), false) => &["SET GLOBAL super_read_only = 1"],
        (ServerFlavor::MariaDb(_), true) => &["SET GLOBAL read_only = 0"],
        (ServerFlavor::MariaDb(_), false) => &["SET GLOBAL read_only = 1"],
    }
}

pub(crate) const fn stop_replication(flavor: ServerFlavor) -> &'static str {
    match flavor {
        ServerFlavor::MariaDb(_) => "STOP ALL SLAVES",
        _ if has_new_words(flavor) => "STOP REPLICA",
        ServerFlavor::MySql(_) => "STOP SLAVE",
    }
}

pub(crate) const fn start_replication(flavor: ServerFlavor) -> &'static str {
    match flavor {
        ServerFlavor::MariaDb(_) => "START ALL SLAVES",
        _ if has_new_words(flavor) => "START REPLICA",
        ServerFlavor::MySql(_) => "START SLAVE",
    }
}

/// What has come of the source is applied further on; nothing more comes. `channel` is its name; empty for the one without.
pub(crate) fn receive(flavor: ServerFlavor, channel: &str, does: bool) -> String {
    let verb = if does { "START" } else { "STOP" };
    match flavor {
        ServerFlavor::MariaDb(_) => format!("{verb} SLAVE {} IO_THREAD", quoted(channel)),
        _ if has_new_words(flavor) => format!("{verb} REPLICA IO_THREAD FOR CHANNEL {}", quoted(channel)),
        ServerFlavor::MySql(_) => format!("{verb} SLAVE IO_THREAD FOR CHANNEL {}", quoted(channel)),
    }
}

/// `channel` is a name of MariaDB's connections; empty for the one without.
pub(crate) fn forget_replication(flavor: ServerFlavor, channel: &str) -> String {
    match flavor {
        ServerFlavor::MariaDb(_) => format!("RESET SLAVE {} ALL", quoted(channel)),
        _ if has_new_words(flavor) => "RESET REPLICA ALL".to_owned(),
        ServerFlavor::MySql(_) => "RESET SLAVE ALL".to_owned(),
    }
}

/// Whom a server is to follow, and as whom.
pub(crate) struct Followed<'a> {
    pub(crate) source: &'a ServerName,
    pub(crate) user: &'a str,
    pub(crate) over_tls: bool,
    /// Seconds that the follower stays behind on purpose.
    pub(crate) delay_s: u64,
}

/// Whether a server that is to follow another one has followed one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Before {
    /// What it was told then, as how often it tries to connect, stays so.
    Follower,
    /// Nobody has told it anything.
    Nobody,
}

/// Seconds between two tries. The servers' own default, a minute, is one in which commits that wait for replicas wait for this one.
const CONNECT_RETRY_S: u64 = 5;

/// As many tries as MySQL made before 8.4, and MariaDB makes (it takes no number): since then it gives up after ten.
const RETRY_COUNT: u64 = 86_400;

/// The order to follow another by GTID. The second text is the first without the password.
pub(crate) fn follow(
    flavor: ServerFlavor,
    followed: &Followed<'_>,
    password: &str,
    before: Before,
) -> (String, String) {
    let Followed { source, user, over_tls, delay_s } = followed;
    let (word, by_gtid) = match flavor {
        ServerFlavor::MariaDb(_) => ("MASTER", "MASTER_USE_GTID = slave_pos"),
        // Without TLS a password that the server keeps as caching_sha2_password is sent under its key.
        _ if has_new_words(flavor) => ("SOURCE", "SOURCE_AUTO_POSITION = 1, GET_SOURCE_PUBLIC_KEY = 1"),
        ServerFlavor::MySql(_) => ("MASTER", "MASTER_AUTO_POSITION = 1"),
    };
    let order = if word == "SOURCE" { "CHANGE REPLICATION SOURCE TO" } else { "CHANGE MASTER TO" };
    let tls = if *over_tls { format!(", {word}_SSL = 1") } else { String::new() };
    let retry = match (before, flavor) {
        (Before::Follower, _) => String::new(),
        (Before::Nobody, ServerFlavor::MariaDb(_)) => format!(", {word}_CONNECT_RETRY = {CONNECT_RETRY_S}"),
        (Before::Nobody, ServerFlavor::MySql(_)) => {
            format!(", {word}_CONNECT_RETRY = {CONNECT_RETRY_S}, {word}_RETRY_COUNT = {RETRY_COUNT}")
        }
    };
    let text = |password: &str| {
        format!(
            "{order} {word}_HOST = {}, {word}_PORT = {}, {word}_USER = {}, {word}_PASSWORD = {password}, {word}_DELAY \
             = {delay_s}, {by_gtid}{tls}{retry}",
            quoted(&source.host),
            source.port,
            quoted(user)
        )
    };
    (text(&quoted(password)), text("…"))
}

/// The statements that let the account do what is done here. The password is not shown.
pub(crate) fn grants(flavor: ServerFlavor, user: &str) -> String {
    match flavor {
        ServerFlavor::MariaDb(_) => format!(
            "GRANT SUPER, READ_ONLY ADMIN, REPLICATION SLAVE ADMIN, REPLICATION MASTER ADMIN, SLAVE MONITOR, BINLOG \
             MONITOR, CONNECTION ADMIN, SET USER, RELOAD, PROCESS, EVENT ON *.* TO '{user}'@'%'"
        ),
        ServerFlavor::MySql(version) => {
            let definer = if version >= 80_200 { "SET_ANY_DEFINER" } else { "SET_USER_ID" };
            format!(
                "GRANT RELOAD, PROCESS, EVENT, REPLICATION CLIENT ON *.* TO '{user}'@'%'; GRANT SYSTEM_VARIABLES_ADMIN, \
                 REPLICATION_SLAVE_ADMIN, CONNECTION_ADMIN, {definer} ON *.* TO '{user}'@'%'"
            )
        }
    }
}

/// Text in quotes, as both read it under any SQL mode that this account's session begins with: hexadecimal where it is not plain.
fn quoted(text: &str) -> String {
    let is_plain = |byte: u8| byte != b'\'' && byte != b'\\' && (b' '..0x7F).contains(&byte);
    match text.bytes().all(is_plain) {
        true => format!("'{text}'"),
        // CHANGE MASTER takes no hexadecimal: a quote is doubled, and what is escaped under NO_BACKSLASH_ESCAPES is not known.
        false => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_in_the_order_and_not_in_what_is_told() {
        for flavor in
            [ServerFlavor::MariaDb(101_119), ServerFlavor::MySql(50_744), ServerFlavor::MySql(90_704)]
        {
            let source = ServerName { host: "db2".to_owned(), port: 3306 };
            let followed = Followed { source: &source, user: "repl", over_tls: true, delay_s: 3600 };
            let (order, told) = follow(flavor, &followed, "it's \\ secret", Before::Nobody);
            assert!(order.contains("_SSL = 1"), "{order}");
            assert!(order.contains("'it''s \\\\ secret'"), "{order}");
            assert!(order.contains("_CONNECT_RETRY = 5"), "{order}");
            let (again, _) = follow(flavor, &followed, "x", Before::Follower);
            assert!(!again.contains("RETRY"), "{again}");
            assert!(!told.contains("secret") && told.contains("'db2'"), "{told}");
        }
    }
}
