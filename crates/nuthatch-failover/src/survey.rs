//! What a server says of itself: who it is, what it has, whom it follows.

use std::time::Duration;

use nuthatch_config::ServerName;
use nuthatch_net::AnswerTable;
use nuthatch_sql::ServerFlavor;

use crate::gtid::Gtids;
use crate::link::{Failure, Link};
use crate::order::KnownServer;

/// See the module's doc.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Survey {
    pub(crate) name: ServerName,
    pub(crate) flavor: ServerFlavor,
    pub(crate) server_id: u64,
    /// MySQL's; empty on MariaDB.
    pub(crate) uuid: String,
    pub(crate) is_read_only: bool,
    pub(crate) binlog: Binlog,
    /// What it has committed or applied.
    pub(crate) has: Gtids,
    /// Every transaction in its binlog, since that began: MariaDB's `gtid_binlog_state`; MySQL's is what it has.
    pub(crate) history: Gtids,
    pub(crate) runs_events: bool,
    pub(crate) follows: Vec<Channel>,
}

/// What stands in a server's binlog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binlog {
    /// There is none, or none with GTIDs.
    Unfit,
    /// What is written there, without what it applies from others.
    Own,
    /// All.
    All,
}

/// Whom a server follows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Channel {
    /// MariaDB's name of the connection, MySQL's of the channel.
    pub(crate) name: String,
    pub(crate) source: ServerName,
    pub(crate) source_id: u64,
    pub(crate) source_uuid: String,
    /// What its threads say: `Yes`, `No`, `Connecting`.
    pub(crate) fetches: String,
    pub(crate) applies: String,
    pub(crate) behind_s: Option<u64>,
    pub(crate) delay_s: u64,
    /// What has come of its source and is whole, applied or not.
    pub(crate) received: Gtids,
    pub(crate) by_gtid: bool,
    pub(crate) filters: bool,
    pub(crate) over_tls: bool,
    pub(crate) error: String,
}

impl Channel {
    /// Whether both of its threads run.
    pub(crate) fn runs(&self) -> bool {
        self.fetches == "Yes" && self.applies == "Yes"
    }

    /// Whether it leads to that server, by what that says of itself.
    pub(crate) fn leads_to(&self, server: &Survey) -> bool {
        match self.source_uuid.is_empty() || server.uuid.is_empty() {
            true => self.source_id == server.server_id,
            false => self.source_uuid.eq_ignore_ascii_case(&server.uuid),
        }
    }
}

impl Survey {
    /// What it has come to, in its tables or at least received.
    pub(crate) fn come_to(&self) -> Gtids {
        let mut all = self.has.clone();
        self.follows.iter().for_each(|channel| all.add(&channel.received));
        all
    }

    /// Every transaction that it has, in its binlog, in its tables or at least received.
    pub(crate) fn everything(&self) -> Gtids {
        let mut all = self.come_to();
        all.add(&self.history);
        all
    }

    /// Asks a server as it is known, over a connection of its own.
    pub(crate) async fn at(server: &KnownServer, patience: Duration) -> Result<(Link, Self), Failure> {
        let mut link = Link::to(server, patience).await?;
        let survey = Self::of(&mut link).await?;
        Ok((link, survey))
    }

    /// Asks a server.
    pub(crate) async fn of(link: &mut Link) -> Result<Self, Failure> {
        let variables = link.ask(variables(link.flavor)).await?;
        let status = link.ask(link.flavor.replica_status()).await?;
        let name = link.name.clone();
        let not_told = |what: &str| Failure::Lost {
            server: name.clone(),
            why: format!("it does not tell its {what} as expected"),
        };
        let text = |name: &str| variables.text(name).unwrap_or_default();
        let number = |name: &str| text(name).parse::<u64>().map_err(|_no_number| not_told(name));
        let is_on = |name: &str| matches!(text(name).as_str(), "1" | "ON");
        let is_mariadb = link.is_mariadb();
        let has = Gtids::parse(link.flavor, &text("has")).ok_or_else(|| not_told("GTIDs"))?;
        let follows = channels(&status, link.flavor).ok_or_else(|| not_told("received GTIDs"))?;
        let writes_binlog = is_on("log_bin");
        // Asked for without a binlog it is an error.
        let history = match is_mariadb && writes_binlog {
            true => {
                let state = link.ask("SELECT @@global.gtid_binlog_state AS state").await?;
                let state = Gtids::parse(link.flavor, &state.text("state").unwrap_or_default());
                state.ok_or_else(|| Failure::Lost {
                    server: link.name.clone(),
                    why: "it does not tell its gtid_binlog_state as expected".to_owned(),
                })?
            }
            false => has.clone(),
        };
        Ok(Self {
            name: link.name.clone(),
            flavor: link.flavor,
            server_id: number("server_id")?,
            uuid: text("uuid"),
            is_read_only: is_on("read_only"),
            binlog: match writes_binlog && (is_mariadb || text("gtid_mode") == "ON") {
                false => Binlog::Unfit,
                true if is_on("log_updates") => Binlog::All,
                true => Binlog::Own,
            },
            has,
            history,
            runs_events: is_on("event_scheduler"),
            follows,
        })
    }
}

const fn variables(flavor: ServerFlavor) -> &'static str {
    match flavor {
        // What it has written itself and what it has applied: without what others of the same domain have overtaken.
        ServerFlavor::MariaDb(_) => {
            "SELECT @@global.server_id AS server_id, '' AS uuid, @@global.read_only AS read_only, @@global.log_bin AS \
             log_bin, @@global.log_slave_updates AS log_updates, @@global.gtid_current_pos AS has, \
             @@global.event_scheduler AS event_scheduler"
        }
        ServerFlavor::MySql(80_026..) => {
            "SELECT @@global.server_id AS server_id, @@global.server_uuid AS uuid, @@global.read_only AS read_only, \
             @@global.log_bin AS log_bin, @@global.log_replica_updates AS log_updates, @@global.gtid_mode AS gtid_mode, \
             @@global.gtid_executed AS has, @@global.event_scheduler AS event_scheduler"
        }
        ServerFlavor::MySql(_) => {
            "SELECT @@global.server_id AS server_id, @@global.server_uuid AS uuid, @@global.read_only AS read_only, \
             @@global.log_bin AS log_bin, @@global.log_slave_updates AS log_updates, @@global.gtid_mode AS gtid_mode, \
             @@global.gtid_executed AS has, @@global.event_scheduler AS event_scheduler"
        }
    }
}

/// None where what it has received is not understood.
fn channels(status: &AnswerTable, flavor: ServerFlavor) -> Option<Vec<Channel>> {
    let channel = |row: &Vec<Option<Vec<u8>>>| {
        let of = |names: &[&str]| {
            let place =
                status.names.iter().position(|name| names.iter().any(|one| one.eq_ignore_ascii_case(name)));
            let value = place.and_then(|place| row.get(place)?.as_deref());
            value.map(|value| String::from_utf8_lossy(value).into_owned())
        };
        let told = |names: &[&str]| of(names).unwrap_or_default();
        let number = |names: &[&str]| told(names).parse::<u64>().ok();
        let by_gtid = match flavor {
            ServerFlavor::MariaDb(_) => !matches!(told(&["Using_Gtid"]).as_str(), "" | "No"),
            ServerFlavor::MySql(_) => told(&["Auto_Position"]) == "1",
        };
        let filters = [
            "Replicate_Do_DB",
            "Replicate_Ignore_DB",
            "Replicate_Do_Table",
            "Replicate_Ignore_Table",
            "Replicate_Wild_Do_Table",
            "Replicate_Wild_Ignore_Table",
            "Replicate_Do_Domain_Ids",
            "Replicate_Ignore_Domain_Ids",
            "Replicate_Rewrite_DB",
        ];
        let errors = [told(&["Last_IO_Error"]), told(&["Last_SQL_Error"])];
        Some(Channel {
            received: Gtids::parse(flavor, &told(&["Gtid_IO_Pos", "Retrieved_Gtid_Set"]))?,
            name: told(&["Connection_name", "Channel_Name"]),
            source: ServerName {
                host: told(&["Source_Host", "Master_Host"]),
                port: number(&["Source_Port", "Master_Port"])
                    .and_then(|port| u16::try_from(port).ok())
                    .unwrap_or(0),
            },
            source_id: number(&["Source_Server_Id", "Master_Server_Id"]).unwrap_or(0),
            source_uuid: told(&["Source_UUID", "Master_UUID"]),
            fetches: told(&["Replica_IO_Running", "Slave_IO_Running"]),
            applies: told(&["Replica_SQL_Running", "Slave_SQL_Running"]),
            behind_s: number(&["Seconds_Behind_Source", "Seconds_Behind_Master"]),
            delay_s: number(&["SQL_Delay"]).unwrap_or(0),
            by_gtid,
            over_tls: told(&["Source_SSL_Allowed", "Master_SSL_Allowed"]) == "Yes",
            filters: filters.iter().any(|name| !told(&[name]).is_empty()),
            error: errors.into_iter().filter(|error| !error.is_empty()).collect::<Vec<_>>().join("; "),
        })
    };
    status.rows.iter().map(channel).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channel_is_read_in_old_words_and_new() {
        let answer = |pairs: &[(&str, Option<&str>)]| AnswerTable {
            names: pairs.iter().map(|(name, _)| (*name).to_owned()).collect(),
            rows: vec![pairs.iter().map(|(_, value)| value.map(|value| value.as_bytes().to_vec())).collect()],
        };
        let mariadb = answer(&[
            ("Connection_name", Some("")),
            ("Master_Host", Some("db1")),
            ("Master_Port", Some("3306")),
            ("Slave_IO_Running", Some("Connecting")),
            ("Slave_SQL_Running", Some("Yes")),
            ("Seconds_Behind_Master", None),
            ("Using_Gtid", Some("Slave_Pos")),
            ("SQL_Delay", Some("5")),
            ("Master_Server_Id", Some("1")),
            ("Last_IO_Error", Some("gone")),
            ("Last_SQL_Error", Some("")),
            ("Gtid_IO_Pos", Some("0-1-7")),
        ]);
        let mysql = answer(&[
            ("Source_Host", Some("db1")),
            ("Source_Port", Some("3306")),
            ("Replica_IO_Running", Some("Connecting")),
            ("Replica_SQL_Running", Some("Yes")),
            ("Seconds_Behind_Source", None),
            ("Auto_Position", Some("1")),
            ("SQL_Delay", Some("5")),
            ("Source_Server_Id", Some("1")),
            ("Last_IO_Error", Some("gone")),
            ("Channel_Name", Some("")),
        ]);
        let read = |answer, flavor| channels(answer, flavor).expect("it is understood").remove(0);
        let channel = read(&mariadb, ServerFlavor::MariaDb(101_119));
        let of_mysql = read(&mysql, ServerFlavor::MySql(90_704));
        assert_eq!(channel, Channel { received: channel.received.clone(), ..of_mysql });
        assert_eq!(channel.received.to_string(), "0-1-7");
        assert!(channel.by_gtid && !channel.filters && !channel.runs());
        assert_eq!((channel.delay_s, channel.behind_s, channel.error.as_str()), (5, None, "gone"));
        assert_eq!(channel.source.to_string(), "db1:3306");
    }
}
