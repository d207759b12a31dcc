//! What operators are told: of layers, verbs, counts by kind of statement, memory; and that nobody gets in while the proxy is paused.

use std::io::{ErrorKind, Read};
use std::net::TcpStream;
use std::time::Duration;

use crate::stage::Stage;

#[test]
fn what_was_never_saved_is_not_loaded_and_that_is_said() {
    let stage = Stage::plain();
    let mut operator = stage.proxy.operator();
    for module in [
        "MYSQL VARIABLES",
        "ADMIN VARIABLES",
        "MYSQL USERS",
        "MYSQL SERVERS",
        "MYSQL QUERY RULES",
        "SCHEDULER",
    ] {
        let refused = operator.refused(format!("LOAD {module} FROM DISK"));
        assert!(refused.message.contains("nothing of it was saved"), "{}", refused.message);
    }
    for table in ["global_variables", "mysql_users", "mysql_servers"] {
        assert_ne!(operator.value(format!("SELECT COUNT(*) FROM {table}")), "0", "memory is as it was");
    }
    operator.ok("SAVE MYSQL QUERY RULES TO DISK");
    let warned = operator.table("SHOW WARNINGS");
    assert!(warned[0][2].contains("--datadir"), "{warned:?}");
    operator.ok("LOAD MYSQL QUERY RULES FROM DISK");
    operator.ok("LOAD MYSQL QUERY RULES FROM CONFIG");
    let warned = operator.table("SHOW WARNINGS");
    assert!(warned[0][2].contains("MYSQL QUERY RULES"), "{warned:?}");
    operator.ok("LOAD MYSQL SERVERS FROM CONFIG");
    assert!(operator.table("SHOW WARNINGS").is_empty());
}

#[test]
fn help_lists_the_verbs() {
    let stage = Stage::plain();
    let mut operator = stage.proxy.operator();
    for asked in ["PROXYSQL HELP", "nuthatch help"] {
        let verbs: Vec<String> = operator.table(asked).into_iter().map(|mut row| row.remove(0)).collect();
        for verb in ["PROXYSQL PAUSE", "PROXYSQL FLUSH QUERY CACHE", "SAVE … TO DISK", "KILL [CONNECTION] n"]
        {
            assert!(verbs.iter().any(|known| known == verb), "{verb} in {verbs:?}");
        }
    }
    assert!(operator.refused("PROXYSQL NONSENSE").message.contains("PROXYSQL HELP"));
}

#[test]
fn statements_are_counted_by_their_kind_and_time() {
    let stage = Stage::caching();
    let mut client = stage.client();
    for _ in 0..3 {
        client.ok("SELECT v FROM t WHERE id = 1");
    }
    client.ok("SELECT SLEEP(0.6)");
    client.ok("INSERT INTO t VALUES (10, 'ten')");
    client.ok("START TRANSACTION");
    client.ok("SELECT * FROM t WHERE id = 2 FOR UPDATE");
    client.ok("COMMIT");
    client.refused("CREATE TABLE t (id INT)");
    client.settle();
    let mut operator = stage.proxy.operator();
    let mut counted = |command: &str| {
        operator.table(format!(
            "SELECT Total_cnt, cnt_1s + cnt_5s + cnt_10s > 0, Total_Time_us > 0 FROM stats_mysql_commands_counters WHERE Command = '{command}'"
        ))
    };
    assert_eq!(counted("SELECT"), [["4", "1", "1"]], "hits too");
    assert_eq!(counted("INSERT")[0][0], "1");
    assert_eq!(counted("START_TRANSACTION")[0][0], "1");
    assert_eq!(counted("SELECT_FOR_UPDATE")[0][0], "1");
    assert_eq!(counted("CREATE_TABLE")[0][0], "1");
    assert_eq!(counted("DROP_TABLE"), [["0", "0", "0"]], "every kind has its row");
    stage.administer(["SET mysql-commands_stats = false", "LOAD MYSQL VARIABLES TO RUNTIME"]);
    client.ok("INSERT INTO t VALUES (11, 'eleven')");
    client.settle();
    assert_eq!(
        stage
            .proxy
            .operator()
            .value("SELECT Total_cnt FROM stats_mysql_commands_counters WHERE Command = 'INSERT'"),
        "1"
    );
}

#[test]
fn memory_is_told() {
    let stage = Stage::plain();
    let mut operator = stage.proxy.operator();
    let mut bytes = |name: &str| -> u64 {
        let asked = format!("SELECT Variable_Value FROM stats_memory_metrics WHERE Variable_Name = '{name}'");
        operator.value(asked).parse().expect("a number")
    };
    assert!(bytes("resident_memory") > 1 << 20);
    assert!(bytes("resident_memory_max") >= bytes("resident_memory") / 2);
    assert_eq!(bytes("query_cache_memory_limit"), 256 << 20);
}

#[test]
fn nobody_is_let_in_while_the_proxy_is_paused() {
    let stage = Stage::plain();
    let mut inside = stage.client();
    stage.administer(["PROXYSQL PAUSE"]);
    let mut greeting = [0; 4];
    let mut waiting: Vec<TcpStream> =
        (0..3).map(|_| TcpStream::connect(stage.proxy.mysql).expect("the kernel takes it")).collect();
    for client in &mut waiting {
        client.set_read_timeout(Some(Duration::from_millis(300))).expect("a timeout");
        let error = client.read_exact(&mut greeting).expect_err("no greeting");
        assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
    }
    assert_eq!(inside.value("SELECT 1"), "1", "who is inside goes on");
    stage.administer(["PROXYSQL RESUME"]);
    for client in &mut waiting {
        client.set_read_timeout(Some(Duration::from_secs(10))).expect("a timeout");
        client.read_exact(&mut greeting).expect("a greeting");
    }
}
