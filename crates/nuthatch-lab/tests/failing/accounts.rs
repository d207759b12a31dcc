//! The account for each duty may do that duty, and may not do more.

use nuthatch_lab::{Duty, Installation, Kind};

use crate::fetched;
use crate::ground::{ask, options, replica, up};

fn each_may_do_its_duty(installation: Installation) {
    let kind = installation.kind;
    let lab = up(&options(installation, 1));
    let [monitor, replication, failover] = Duty::ALL.map(|duty| lab.login_for(duty).expect("a login"));
    let looks: &[&str] = match kind {
        Kind::MariaDb => &["SHOW SLAVE STATUS", "SHOW MASTER STATUS"],
        Kind::MySql => &[
            "SHOW REPLICA STATUS",
            "SHOW BINARY LOG STATUS",
            "SELECT * FROM performance_schema.replication_group_members",
            "SELECT * FROM performance_schema.replication_connection_status",
        ],
    };
    for look in looks {
        ask(replica(&lab, 1), &monitor, look).unwrap_or_else(|error| panic!("{look}: {error}"));
    }
    assert_eq!(ask(replica(&lab, 1), &monitor, "SELECT @@read_only").expect("it does"), "1");
    for refused in ["SET GLOBAL read_only = OFF", "CREATE TABLE test.t (a INT)", "SELECT * FROM mysql.user"] {
        for login in [&monitor, &replication] {
            assert!(ask(lab.primary(), login, refused).is_err(), "{}: {refused}", login.user);
        }
    }
    let steps: &[&str] = match kind {
        Kind::MariaDb => &[
            "SET GLOBAL read_only = ON",
            "STOP SLAVE",
            "CHANGE MASTER TO MASTER_USE_GTID = slave_pos",
            "START SLAVE",
            "SET GLOBAL event_scheduler = OFF",
            "FLUSH TABLES WITH READ LOCK; UNLOCK TABLES",
            "SHOW FULL PROCESSLIST",
        ],
        Kind::MySql => &[
            "SET GLOBAL super_read_only = ON",
            "STOP REPLICA",
            "CHANGE REPLICATION SOURCE TO SOURCE_AUTO_POSITION = 1",
            "START REPLICA",
            "SET GLOBAL event_scheduler = OFF",
            "FLUSH TABLES WITH READ LOCK; UNLOCK TABLES",
            "SHOW FULL PROCESSLIST",
        ],
    };
    for step in steps {
        ask(replica(&lab, 1), &failover, step).unwrap_or_else(|error| panic!("{step}: {error}"));
    }
    assert!(ask(lab.primary(), &failover, "CREATE TABLE test.t (a INT)").is_err());
}

#[test]
fn accounts_of_mariadb_may_do_their_duty() {
    each_may_do_its_duty(Installation::debian_mariadb());
}

#[test]
fn accounts_of_mysql_may_do_their_duty() {
    each_may_do_its_duty(fetched::mysql());
}
