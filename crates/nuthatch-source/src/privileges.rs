//! Proof that an account sees the whole catalogue.
//!
//! A server leaves out what an account may not see, without a word (measured on MariaDB 10.11 and 11.8 and MySQL 9.7):
//! without TRIGGER there are no triggers, without SHOW VIEW views have no text, without SELECT there are no stored routines, and MariaDB
//! shows foreign keys only to those who have some privilege besides SELECT. Only what `SHOW GRANTS` shows on `*.*` counts. It shows the privileges of active roles
//! too, and of no others.

use nuthatch_sql::ServerFlavor;

use crate::question::{Question, Row, Server};
use crate::{MissingPrivileges, PictureError};

const GRANTS: Question = Question { what: "own privileges", sql: "SHOW GRANTS" };
const ACCOUNT: Question = Question { what: "own account", sql: "SELECT CURRENT_USER()" };

/// Schemas of the server's own, whose tables are not looked at.
const SYSTEM_SCHEMAS: [&str; 3] = ["`mysql`.*", "`sys`.*", "`information_schema`.*"];

/// A privilege by the name that GRANT has for it, and others that do as well.
struct Need {
    name: &'static str,
    or: &'static [&'static str],
}

const SELECT: Need = Need { name: "SELECT", or: &[] };
const SHOW_VIEW: Need = Need { name: "SHOW VIEW", or: &[] };
const TRIGGER: Need = Need { name: "TRIGGER", or: &[] };
/// For the state of replication.
const REPLICATION_CLIENT: Need = Need { name: "REPLICATION CLIENT", or: &["SUPER"] };
/// The same of MariaDB, where BINLOG MONITOR, once REPLICATION CLIENT, is not enough.
const SLAVE_MONITOR: Need = Need { name: "SLAVE MONITOR", or: &["REPLICA MONITOR", "SUPER"] };

/// The account sees all that is asked for later.
///
/// # Errors
/// [`PictureError::MissingPrivileges`] if that is not proven.
pub(crate) async fn prove(server: &mut impl Server, flavor: ServerFlavor) -> Result<(), PictureError> {
    let grants = server.ask(GRANTS).await?;
    let privileges = missing(&grants, flavor);
    if privileges.is_empty() {
        return Ok(());
    }
    let account = server.ask(ACCOUNT).await?.into_iter().next().unwrap_or_default();
    let [account] = ACCOUNT.fields(account)?;
    let account = quoted(&String::from_utf8_lossy(&account));
    Err(PictureError::MissingPrivileges(MissingPrivileges { privileges, account }))
}

/// Those of the needed privileges that the lines do not show, or that are revoked for some schema.
fn missing(grants: &[Row], flavor: ServerFlavor) -> Vec<&'static str> {
    let lines: Vec<_> = grants.iter().flatten().map(|line| String::from_utf8_lossy(line)).collect();
    let replication = match flavor {
        ServerFlavor::MariaDb(_) => SLAVE_MONITOR,
        ServerFlavor::MySql(_) => REPLICATION_CLIENT,
    };
    let is_missing = |need: &Need| {
        !lines.iter().any(|line| need.is_given_by(line)) || lines.iter().any(|line| need.is_revoked_by(line))
    };
    let needs = [SELECT, SHOW_VIEW, TRIGGER, replication];
    needs.iter().filter(|need| is_missing(need)).map(|need| need.name).collect()
}

impl Need {
    /// `GRANT …, TRIGGER, … ON *.* TO …`.
    fn is_given_by(&self, line: &str) -> bool {
        let Some((privileges, object)) = split(line, "GRANT ") else { return false };
        // Names of columns could be made to look like privileges. On `*.*` there are none.
        let is_plain = !privileges.contains(['(', '`']);
        let is_it = |one: &str| one == self.name || one == "ALL PRIVILEGES" || self.or.contains(&one);
        is_plain && object.starts_with("*.* TO ") && privileges.split(", ").any(is_it)
    }

    /// `REVOKE …, TRIGGER, … ON `s`.* FROM …`: MySQL's partial revokes.
    fn is_revoked_by(&self, line: &str) -> bool {
        let Some((privileges, object)) = split(line, "REVOKE ") else { return false };
        let is_elsewhere = SYSTEM_SCHEMAS.iter().any(|schema| object.starts_with(schema));
        !is_elsewhere && privileges.split(", ").any(|one| one == self.name)
    }
}

/// What stands behind the verb up to ON, and behind it.
fn split<'l>(line: &'l str, verb: &str) -> Option<(&'l str, &'l str)> {
    line.strip_prefix(verb)?.split_once(" ON ")
}

/// `user@host` as an account in a statement.
fn quoted(account: &str) -> String {
    let (user, host) = account.rsplit_once('@').unwrap_or((account, "%"));
    format!("`{}`@`{}`", user.replace('`', "``"), host.replace('`', "``"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
    const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

    #[test]
    fn only_what_is_granted_on_everything_and_nowhere_revoked_counts() {
        let all = ["SELECT", "SHOW VIEW", "TRIGGER", "REPLICATION CLIENT"];
        let without = |name: &str| all.into_iter().filter(|one| *one != name).collect::<Vec<_>>();
        let full = "GRANT SELECT, REPLICATION CLIENT, SHOW VIEW, TRIGGER ON *.* TO `u`@`%`";
        for (lines, expected) in [
            (vec![full], vec![]),
            (vec!["GRANT ALL PRIVILEGES ON *.* TO `u`@`%` WITH GRANT OPTION"], vec![]),
            (vec!["GRANT SELECT, SUPER, SHOW VIEW, TRIGGER ON *.* TO `u`@`%`"], vec![]),
            (vec!["GRANT USAGE ON *.* TO `u`@`%`", "GRANT ALL PRIVILEGES ON `s`.* TO `u`@`%`"], all.into()),
            (vec![full, "REVOKE INSERT, TRIGGER ON `s`.* FROM `u`@`%`"], vec!["TRIGGER"]),
            (vec![full, "REVOKE SELECT, TRIGGER ON `mysql`.* FROM `u`@`%`"], vec![]),
            (vec![full, "REVOKE SELECT ON `mysql2`.* FROM `u`@`%`"], vec!["SELECT"]),
            (vec!["GRANT SELECT ON *.* TO `u`@`%`", "GRANT `r`@`%` TO `u`@`%`"], without("SELECT")),
            (vec!["GRANT TRIGGER, SELECT (`a ON *.* TO b`) ON `s`.`t` TO `u`@`%`"], all.into()),
            (vec!["GRANT PROXY ON ``@`` TO `u`@`%`"], all.into()),
            (vec![], all.into()),
        ] {
            let rows: Vec<Row> = lines.iter().map(|line| vec![line.as_bytes().to_vec()]).collect();
            assert_eq!(missing(&rows, MYSQL), expected, "{lines:?}");
        }
    }

    #[test]
    fn mariadb_wants_slave_monitor_and_counts_lines_of_active_roles() {
        let lines = [
            "GRANT SELECT, BINLOG MONITOR ON *.* TO `u`@`%` IDENTIFIED BY PASSWORD '*0'",
            "GRANT SHOW VIEW, TRIGGER ON *.* TO `r`",
        ];
        let rows = lines.map(|line| vec![line.as_bytes().to_vec()]);
        assert_eq!(missing(&rows, MARIADB), ["SLAVE MONITOR"]);
    }

    #[test]
    fn account_is_quoted_for_a_statement() {
        assert_eq!(quoted("a`b@c@10.0.0.%"), "`a``b@c`@`10.0.0.%`");
        assert_eq!(quoted("@localhost"), "``@`localhost`");
    }
}
