//! What the account lacks by which a binlog is followed, as statements for an operator.

use nuthatch_sql::ServerFlavor;

use super::Marker;

/// The statements that give the account what it needs, of which some may be there already; `marker` for who is a semi-synchronous replica.
#[must_use]
pub fn missing_grants(flavor: ServerFlavor, user: &str, marker: Option<&Marker>) -> String {
    let account = format!("'{}'@'%'", user.replace('\'', "''"));
    let mut grants = match flavor {
        ServerFlavor::MariaDb(_) => format!("GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO {account};"),
        ServerFlavor::MySql(_) => format!("GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO {account};"),
    };
    if let Some(marker) = marker {
        grants +=
            &format!(" {} GRANT INSERT, UPDATE ON {} TO {account};", marker.definition(), marker.name());
    }
    grants
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_to_be_said_on_each_server_is_told() {
        let marker = Marker::parse("nuthatch.marker").expect("a name");
        assert_eq!(
            missing_grants(ServerFlavor::MariaDb(101_100), "f'o", None),
            "GRANT REPLICATION SLAVE, BINLOG MONITOR ON *.* TO 'f''o'@'%';"
        );
        assert_eq!(
            missing_grants(ServerFlavor::MySql(90_700), "follow", Some(&marker)),
            "GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'follow'@'%'; CREATE DATABASE IF NOT EXISTS `nuthatch`; \
             CREATE TABLE IF NOT EXISTS `nuthatch`.`marker` (id INT UNSIGNED PRIMARY KEY, at BIGINT UNSIGNED NOT NULL) \
             ENGINE=InnoDB; GRANT INSERT, UPDATE ON `nuthatch`.`marker` TO 'follow'@'%';"
        );
    }
}
