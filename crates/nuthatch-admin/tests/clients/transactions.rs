//! One session's transaction towards the others.

use std::time::Duration;

use tokio::time::Instant;

use crate::interface::Interface;

const SESSIONS: &str = "
import pymysql, threading, time
def connect():
    c = pymysql.connect(host='127.0.0.1', port=PORT, user='admin', password='admin')
    return c, c.cursor()
a, ac = connect()
b, bc = connect()
";

#[test]
fn others_wait_for_the_end_of_a_transaction_and_then_see_it_whole() {
    let printed = Interface::start().python(&format!(
        "{SESSIONS}
a.begin(); ac.execute(\"INSERT INTO mysql_users (username) VALUES ('x')\")
seen = []
def count():
    bc.execute('SELECT COUNT(*) FROM mysql_users'); seen.append(bc.fetchone()[0])
t = threading.Thread(target=count); t.start(); t.join(0.3); print(t.is_alive(), seen)
ac.execute('SELECT COUNT(*) FROM mysql_users'); print(ac.fetchone()[0])
a.commit(); t.join(); print(seen)
"
    ));
    assert_eq!(printed, "True []\n1\n[1]\n");
}

#[test]
fn statistics_are_shown_during_another_sessions_transaction() {
    let printed = Interface::start().python(&format!(
        "{SESSIONS}
a.begin(); ac.execute(\"INSERT INTO mysql_users (username) VALUES ('x')\")
bc.execute('SELECT hits FROM stats_mysql_query_rules'); print(bc.fetchone())
bc.execute('SHOW MYSQL STATUS'); print(len(bc.fetchall()))
a.rollback(); ac.execute('SELECT COUNT(*) FROM mysql_users'); print(ac.fetchone())
"
    ));
    assert_eq!(printed, "(42,)\n9\n(0,)\n");
}

#[test]
fn the_transaction_of_a_session_that_is_gone_is_rolled_back() {
    let printed = Interface::start().python(&format!(
        "{SESSIONS}
a.begin(); ac.execute(\"INSERT INTO mysql_users (username) VALUES ('x')\"); a._force_close()
bc.execute('SELECT COUNT(*) FROM mysql_users'); print(bc.fetchone())
"
    ));
    assert_eq!(printed, "(0,)\n");
}

#[test]
fn waiting_for_a_transaction_has_a_bound() {
    let began = Instant::now();
    let printed = Interface::start().python(&format!(
        "{SESSIONS}
a.begin()
try: bc.execute('LOAD MYSQL USERS TO RUNTIME')
except pymysql.err.MySQLError as error: print(error.args[0])
a.commit(); bc.execute('LOAD MYSQL USERS TO RUNTIME'); print('loaded')
"
    ));
    assert_eq!(printed, "1205\nloaded\n");
    assert!((Duration::from_secs(9)..Duration::from_secs(30)).contains(&began.elapsed()));
}

#[test]
fn load_and_save_want_the_own_transaction_ended() {
    let printed = Interface::start().says("admin", "BEGIN; LOAD MYSQL USERS TO RUNTIME");
    assert!(
        printed.contains("ERROR 1192 (HY000) at line 1: LOAD and SAVE need a COMMIT or ROLLBACK"),
        "{printed}"
    );
}
