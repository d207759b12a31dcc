//! What made-up servers say of their replication.

use super::*;
use crate::PictureError;
use crate::question::Row;

const MARIADB: ServerFlavor = ServerFlavor::MariaDb(101_119);
const MYSQL: ServerFlavor = ServerFlavor::MySql(90_704);

/// A server with these variables, which says that of its binlog and its sources.
struct Made {
    variables: &'static str,
    binlog: &'static str,
}

fn named(line: &str) -> NamedRow {
    let pair = |pair: &str| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.into()));
    line.split('|').filter_map(pair).collect()
}

impl Server for Made {
    async fn ask(&mut self, _variables: Question) -> Result<Vec<Row>, PictureError> {
        let pairs = self.variables.split('|').filter_map(|pair| pair.split_once('='));
        Ok(pairs.map(|(name, value)| vec![name.into(), value.into()]).collect())
    }

    async fn ask_named(&mut self, _status: Question) -> Result<Vec<NamedRow>, PictureError> {
        Ok(self.binlog.lines().map(named).collect())
    }
}

const LOGS_ALL: &str = "File=binlog.1|Binlog_Do_DB=|Binlog_Ignore_DB=";
const MYSQL_PRIMARY: &str =
    "server_uuid=u-1|server_id=1|read_only=OFF|log_bin=ON|gtid_mode=ON|binlog_format=ROW";
const MARIADB_PRIMARY: &str =
    "server_id=1|hostname=h|port=3306|datadir=/d/|read_only=OFF|log_bin=ON|binlog_format=MIXED";
const MYSQL_REPLICA: &str =
    "server_uuid=u-2|server_id=2|read_only=ON|gtid_mode=ON|replica_skip_errors=OFF|replica_exec_mode=STRICT";
const MARIADB_REPLICA: &str = "server_id=2|hostname=h|port=3307|datadir=/e/|read_only=ON|slave_skip_errors=OFF|\
                               slave_exec_mode=STRICT|replicate_events_marked_for_skip=REPLICATE|\
                               slave_run_triggers_for_rbr=NO";
const MYSQL_STATUS: &str = "Source_Host=db|Source_Port=3306|Source_UUID=U-1|Source_Server_Id=1|Skip_Counter=0|\
                            Replicate_Do_DB=|Replicate_Ignore_Server_Ids=|Replicate_Rewrite_DB=";
const MARIADB_STATUS: &str = "Master_Host=db|Master_Port=3306|Master_Server_Id=1|Skip_Counter=0|Using_Gtid=Slave_Pos|\
                              Replicate_Do_DB=|Replicate_Do_Domain_Ids=";

async fn seen(flavor: ServerFlavor, variables: String, binlog: &'static str, status: &str) -> Replication {
    let mut server = Made { variables: variables.leak(), binlog };
    let settings = Settings::read(&mut server).await.unwrap();
    let status: Vec<_> = status.lines().map(named).collect();
    replication(&mut server, flavor, &status, &settings, Ok(()), &[]).await
}

#[tokio::test]
async fn primary_proves_something_if_all_that_it_writes_is_in_its_binlog() {
    for (flavor, variables, from, to, binlog, expected) in [
        (MYSQL, MYSQL_PRIMARY, "", "", LOGS_ALL, Ok(())),
        (MARIADB, MARIADB_PRIMARY, "", "", LOGS_ALL, Ok(())),
        (MYSQL, MYSQL_PRIMARY, "log_bin=ON", "log_bin=OFF", LOGS_ALL, Err(NoEvidence::PrimaryWithoutBinlog)),
        (
            MYSQL,
            MYSQL_PRIMARY,
            "mode=ON",
            "mode=ON_PERMISSIVE",
            LOGS_ALL,
            Err(NoEvidence::PrimaryWithoutGtids),
        ),
        (MARIADB, MARIADB_PRIMARY, "MIXED", "STATEMENT", LOGS_ALL, Err(NoEvidence::PrimaryLogsStatements)),
        (MARIADB, MARIADB_PRIMARY, "only=OFF", "only=ON", LOGS_ALL, Err(NoEvidence::PrimaryReadOnly)),
        (MARIADB, MARIADB_PRIMARY, "", "", "", Err(NoEvidence::PrimaryHidesBinlog)),
        (MYSQL, MYSQL_PRIMARY, "", "", "Binlog_Do_DB=a|Binlog_Ignore_DB=", Err(NoEvidence::PrimaryFilters)),
    ] {
        let found = seen(flavor, variables.replace(from, to), binlog, "").await;
        assert_eq!(found.as_primary, expected, "{flavor:?} {to} {binlog}");
        assert_eq!(found.as_replica, Err(NoEvidence::NoReplica));
    }
}

#[tokio::test]
async fn replica_proves_something_if_it_applies_all_and_writes_nothing() {
    for (flavor, from, to, expected) in [
        (MYSQL, "", "", Ok(())),
        (MARIADB, "", "", Ok(())),
        (MYSQL, "read_only=ON", "read_only=OFF", Err(NoEvidence::Writable)),
        (MARIADB, "read_only=ON", "other=1", Err(NoEvidence::Writable)),
        (MYSQL, "gtid_mode=ON", "gtid_mode=OFF", Err(NoEvidence::WithoutGtids)),
        (MARIADB, "Using_Gtid=Slave_Pos", "Using_Gtid=No", Err(NoEvidence::WithoutGtids)),
        (MYSQL, "Replicate_Do_DB=", "Replicate_Do_DB=a", Err(NoEvidence::Filtered)),
        (MARIADB, "Do_Domain_Ids=", "Do_Domain_Ids=1", Err(NoEvidence::Filtered)),
        (MYSQL, "replica_skip_errors=OFF", "replica_skip_errors=1062", Err(NoEvidence::Skips)),
        (MARIADB, "=STRICT", "=IDEMPOTENT", Err(NoEvidence::Skips)),
        (MARIADB, "=REPLICATE", "=FILTER_ON_MASTER", Err(NoEvidence::Skips)),
        (MARIADB, "Skip_Counter=0", "Skip_Counter=1", Err(NoEvidence::Skips)),
        (MARIADB, "rbr=NO", "rbr=YES", Err(NoEvidence::FiresTriggers)),
    ] {
        let (variables, status) = match flavor {
            ServerFlavor::MySql(_) => (MYSQL_REPLICA, MYSQL_STATUS),
            ServerFlavor::MariaDb(_) => (MARIADB_REPLICA, MARIADB_STATUS),
        };
        let status = status.replace(from, to);
        let found = seen(flavor, variables.replace(from, to), LOGS_ALL, &status).await;
        assert_eq!(found.as_replica, expected, "{flavor:?} {to}");
        assert!(found.as_primary.is_err());
        let several = seen(flavor, variables.to_owned(), LOGS_ALL, &format!("{status}\n{status}")).await;
        assert_eq!(several.as_replica, Err(NoEvidence::SeveralSources));
    }
}

#[tokio::test]
async fn replica_names_its_primary_and_no_other() {
    let mysql = seen(MYSQL, MYSQL_PRIMARY.to_owned(), LOGS_ALL, "").await;
    let mariadb = seen(MARIADB, MARIADB_PRIMARY.to_owned(), LOGS_ALL, "").await;
    let of_mysql = seen(MYSQL, MYSQL_REPLICA.to_owned(), LOGS_ALL, MYSQL_STATUS).await;
    let of_mariadb = seen(MARIADB, MARIADB_REPLICA.to_owned(), LOGS_ALL, MARIADB_STATUS).await;
    let (by_uuid, by_number) = (of_mysql.upstream.clone().unwrap(), of_mariadb.upstream.clone().unwrap());
    assert!(by_uuid.is(&mysql, "other name", 1) && !by_uuid.is(&of_mysql, "db", 3306));
    assert!(by_number.is(&mariadb, "db", 3306) && !by_number.is(&mariadb, "db2", 3306));
    assert!(!by_number.is(&of_mariadb, "db", 3306));
    assert_eq!(mariadb.identity.unwrap().as_str(), "1/h/3306//d/");
    assert_eq!(mysql.identity.unwrap().question(), "SELECT 1 FROM DUAL WHERE @@server_uuid = X'752D31'");
}

#[test]
fn routine_that_may_leave_the_binlog_is_told() {
    let routine = |schema: &str, body: &str| RoutineDefinition {
        schema: schema.into(),
        name: Vec::new(),
        kind: Vec::new(),
        body: body.into(),
    };
    let hidden =
        [("a", "BEGIN END", false), ("a", "SET sql_log_bin=0", true), ("a", "", true), ("sys", "", false)];
    for (schema, body, expected) in hidden {
        assert_eq!(may_leave_binlog(&routine(schema, body)), expected, "{schema} {body}");
    }
}
