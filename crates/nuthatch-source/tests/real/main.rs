//! Real MariaDB and MySQL servers, looked at: their tables, privileges, replication.

mod servers;
mod tables;

use std::net::TcpListener;
use std::time::Duration;

use nuthatch_lab::{Installation, Role, Server};
use nuthatch_net::{BackendPassword, BackendTls, TlsTexts, TlsVersions, Verify};
use nuthatch_source::{Isolation, Login, NotASource, PictureError, TableIds};
use nuthatch_sql::{ServerFlavor, SideEffects};

use tokio::time::Instant;

use servers::{account, account_with, look, run, shared, socket, tcp, try_look, up};

#[tokio::test]
async fn each_missing_privilege_is_named_and_its_grant_mends_it() {
    let labs = shared();
    let needed = [
        ["SELECT", "SHOW VIEW", "TRIGGER", "SLAVE MONITOR"],
        ["SELECT", "SHOW VIEW", "TRIGGER", "REPLICATION CLIENT"],
    ];
    for (lab, needed) in labs.both().into_iter().zip(needed) {
        let server = lab.primary();
        for missing in needed {
            let given = needed.into_iter().filter(|privilege| *privilege != missing).collect::<Vec<_>>();
            let login = account_with(server, "half_seeing", &[&format!("{} ON *.*", given.join(", "))]);
            let error = try_look(&tcp(server), &login).await.expect_err(missing);
            let PictureError::MissingPrivileges(found) = error else { panic!("{missing}: {error}") };
            assert_eq!(found.privileges, [missing]);
            run(server, &found.to_string());
            look(&tcp(server), &login).await;
        }
    }
}

#[tokio::test]
async fn stored_functions_are_seen_by_whoever_may_read_all_tables() {
    let labs = shared();
    let scripts = [
        ("SLAVE MONITOR", "uuid_to_bin", &[&b"nvl2"[..], b"uuid_to_bin"]),
        ("REPLICATION CLIENT", "nvl", &[&b"nvl"[..], b"nvl2"]),
    ];
    for (lab, (replication, name, expected)) in labs.both().into_iter().zip(scripts) {
        let server = lab.primary();
        let functions = async |login: &Login| {
            let catalogue = look(&tcp(server), login).await.catalogue;
            let mut functions: Vec<_> = catalogue.stored_functions().collect();
            functions.sort_unstable();
            functions
        };
        let login =
            account_with(server, "reader", &[&format!("SELECT, SHOW VIEW, TRIGGER, {replication} ON *.*")]);
        assert_eq!(functions(&login).await, [b""; 0], "those of sys are harmless");
        // Servers compare names of routines without accents.
        let returns = "(a INT) RETURNS INT DETERMINISTIC RETURN a";
        run(
            server,
            &format!(
                "CREATE DATABASE shadows; CREATE FUNCTION shadows.{name} {returns}; CREATE FUNCTION shadows.`\u{f1}vl2` {returns}"
            ),
        );
        assert_eq!(functions(&login).await, expected);
        run(server, "DROP DATABASE shadows");
    }
}

#[tokio::test]
async fn procedures_that_define_are_told_from_those_that_do_not() {
    // Other tests make routines on those that are shared.
    for (installation, replication) in
        [(Installation::debian_mariadb(), "SLAVE MONITOR"), (servers::mysql(), "REPLICATION CLIENT")]
    {
        let lab = up(installation, 0);
        let server = lab.primary();
        let login =
            account_with(server, "reader", &[&format!("SELECT, SHOW VIEW, TRIGGER, {replication} ON *.*")]);
        let may_define =
            async || look(&tcp(server), &login).await.catalogue.routines_may_define(b"CALL p", b"s");
        run(server, "CREATE DATABASE s; CREATE PROCEDURE s.p () SELECT 1");
        assert!(!may_define().await, "{replication}");
        run(server, "CREATE PROCEDURE s.q () CREATE TABLE s.t (a INT)");
        assert!(may_define().await, "{replication}");
    }
}

#[tokio::test]
async fn definition_of_a_table_changes_with_its_columns_and_indexes_and_not_with_its_rows() {
    let labs = shared();
    for lab in labs.both() {
        let server = lab.primary();
        run(
            server,
            "CREATE DATABASE defined; USE defined; CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(9)); CREATE VIEW v AS \
             SELECT a FROM t",
        );
        let definition = async |name: &[u8]| {
            let catalogue = look(&tcp(server), &account(lab)).await.catalogue;
            catalogue.table(b"defined", name).expect("it is known").definition
        };
        let mut last = definition(b"t").await;
        run(server, "INSERT INTO defined.t VALUES (1, 2, 'x'); ANALYZE TABLE defined.t");
        assert_eq!(definition(b"t").await, last);
        for change in [
            "CHANGE a c INT",
            "CHANGE c a INT",
            "MODIFY a BIGINT",
            "MODIFY a BIGINT DEFAULT 5",
            "MODIFY a BIGINT NOT NULL",
            "MODIFY b VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
            "MODIFY b VARCHAR(9) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin FIRST",
            "ADD c INT",
            "ADD INDEX (a)",
            "ADD UNIQUE INDEX (b)",
        ] {
            run(server, &format!("ALTER TABLE defined.t {change}"));
            let next = definition(b"t").await;
            assert_ne!(next, last, "{change}");
            last = next;
        }
        let view = definition(b"v").await;
        run(server, "ALTER VIEW defined.v AS SELECT a FROM defined.t WHERE a > 1");
        assert_ne!(definition(b"v").await, view);
        run(server, "DROP DATABASE defined");
    }
}

/// Opening a table reads its statistics, which are others once it has rows.
#[tokio::test]
async fn look_opens_no_table_that_was_just_made() {
    let (mariadb, labs) = (up(Installation::debian_mariadb(), 0), shared());
    for lab in [&mariadb, &labs.mysql] {
        let server = lab.primary();
        run(
            server,
            "CREATE DATABASE `not.opened`; USE `not.opened`; CREATE TABLE `p/ä` (id INT PRIMARY KEY, v INT, KEY (v), UNIQUE (v)); \
             CREATE TABLE `c-$` (id INT PRIMARY KEY, p INT, t TIME, FOREIGN KEY (p) REFERENCES `p/ä` (id) ON DELETE CASCADE); \
             CREATE TRIGGER tr BEFORE INSERT ON `c-$` FOR EACH ROW SET NEW.id = 1",
        );
        // The first reads tables of the server's own.
        look(&tcp(server), &account(lab)).await;
        run(server, "FLUSH TABLES `not.opened`.`p/ä`, `not.opened`.`c-$`");
        let count =
            || server.query("SHOW GLOBAL STATUS LIKE 'Opened_tables'").expect("it tells").rows[0][1].clone();
        let before = count();
        let picture = look(&tcp(server), &account(lab)).await;
        match picture.flavor {
            ServerFlavor::MariaDb(_) => assert_eq!(count(), before),
            // It counts those of its own too, and others look at it now.
            ServerFlavor::MySql(_) => {
                let opened = server.query("SHOW OPEN TABLES FROM `not.opened`").expect("it tells").rows;
                assert!(opened.is_empty(), "{opened:?}");
            }
        }
        let table = |name: &str| {
            picture.catalogue.table("not.opened".as_bytes(), name.as_bytes()).expect("it is known")
        };
        let SideEffects::Cascades(cascades) = &table("p/ä").side_effects else {
            panic!("a cascade is understood")
        };
        assert_eq!((cascades.of_change.as_deref(), &*cascades.referenced), (Some(&[][..]), &[][..]));
        let written = cascades.of_removal.as_deref().expect("it is known");
        assert!(written.contains(&table("c-$").id), "what is deleted from the parent is from the child");
        run(server, "DROP DATABASE `not.opened`");
    }
}

#[tokio::test]
async fn privileges_of_active_roles_count_and_those_revoked_for_a_schema_do_not() {
    let labs = shared();
    let (mariadb, mysql) = (labs.mariadb.primary(), labs.mysql.primary());
    for (server, replication) in [(mariadb, "SLAVE MONITOR"), (mysql, "REPLICATION CLIENT")] {
        run(server, "DROP ROLE IF EXISTS seer; CREATE ROLE seer");
        run(server, &format!("GRANT SELECT, SHOW VIEW, TRIGGER, {replication} ON *.* TO seer"));
        let login = account_with(server, "by_role", &["seer"]);
        let error = try_look(&tcp(server), &login).await.unwrap_err();
        assert!(error.to_string().contains("SELECT, SHOW VIEW, TRIGGER"), "{error}");
        let preposition = if replication == "SLAVE MONITOR" { "FOR" } else { "TO" };
        run(server, &format!("SET DEFAULT ROLE seer {preposition} by_role"));
        look(&tcp(server), &login).await;
    }
    let login = account_with(mysql, "revoked", &["SELECT, SHOW VIEW, TRIGGER, REPLICATION CLIENT ON *.*"]);
    run(mysql, "CREATE DATABASE secret; SET GLOBAL partial_revokes = ON");
    run(mysql, "REVOKE TRIGGER ON secret.* FROM revoked");
    let error = try_look(&tcp(mysql), &login).await.unwrap_err();
    let PictureError::MissingPrivileges(found) = error else { panic!("{error}") };
    assert_eq!(found.to_string(), "GRANT TRIGGER ON *.* TO `revoked`@`%`");
    run(mysql, &found.to_string());
    look(&tcp(mysql), &login).await;
    run(mysql, "DROP DATABASE secret; SET GLOBAL partial_revokes = OFF");
}

#[tokio::test]
async fn primary_is_a_source_and_its_replica_is_not() {
    let labs = shared();
    for (lab, stop) in labs.both().into_iter().zip(["STOP SLAVE", "STOP REPLICA"]) {
        let (primary, login) = (lab.primary(), account(lab));
        let picture = look(&tcp(primary), &login).await;
        assert_eq!((picture.source, picture.isolation), (Ok(()), Isolation::RepeatableRead));
        let is_mysql = !primary.version().contains("MariaDB");
        assert_eq!(matches!(picture.flavor, ServerFlavor::MySql(_)), is_mysql);
        let replica = lab.server(Role::Replica(1)).expect("it has a replica");
        assert_eq!(look(&tcp(replica), &login).await.source, Err(NotASource::Replica));
        run(replica, stop);
        assert_eq!(look(&tcp(replica), &login).await.source, Err(NotASource::Replica));
        run(replica, "SET GLOBAL TRANSACTION ISOLATION LEVEL READ COMMITTED");
        assert_eq!(look(&tcp(replica), &login).await.isolation, Isolation::ReadCommitted);
    }
}

#[tokio::test]
async fn server_is_reached_by_socket_and_tls_and_not_with_a_wrong_password() {
    let labs = shared();
    for lab in labs.both() {
        let login = account(lab);
        look(&socket(lab.primary()), &login).await;
        let wrong = Login { password: BackendPassword::Clear(b"wrong".into()), ..login };
        let error = try_look(&tcp(lab.primary()), &wrong).await.unwrap_err();
        assert!(matches!(error, PictureError::Lost(_)), "{error}");
    }
    let tls = BackendTls::new(&TlsTexts::default(), Verify::Nothing, TlsVersions::Both).unwrap();
    let login = Login { tls: Some((tls, "localhost".to_owned())), ..account(&labs.mysql) };
    look(&tcp(labs.mysql.primary()), &login).await;
}

#[tokio::test]
async fn server_whose_sessions_begin_unseen_is_no_source() {
    let own = [up(Installation::debian_mariadb(), 0), up(servers::mysql(), 0)];
    for (lab, of_ansi) in own.iter().zip([Ok(()), Err(NotASource::AnsiQuotes)]) {
        let server = lab.primary();
        for (setting, expected) in [
            ("sql_mode = 'ANSI'", of_ansi),
            ("sql_mode = 'ANSI_QUOTES'", of_ansi),
            ("sql_mode = ''", Ok(())),
            ("init_connect = 'SET SESSION Sql_Mode = 1'", Err(NotASource::InitConnect)),
            ("init_connect = 'SET TRANSACTION ISOLATION LEVEL SERIALIZABLE'", Err(NotASource::InitConnect)),
            ("init_connect = 'SET NAMES utf8mb4'", Ok(())),
            ("sql_auto_is_null = 1", Err(NotASource::AutoIsNull)),
            ("sql_auto_is_null = 0", Ok(())),
        ] {
            run(server, &format!("SET GLOBAL {setting}"));
            assert_eq!(look(&tcp(server), &account(lab)).await.source, expected, "{setting}");
        }
    }
}

#[tokio::test]
async fn tables_past_the_limit_are_left_out_and_counted() {
    let labs = shared();
    for lab in labs.both() {
        let server = lab.primary();
        run(server, "CREATE DATABASE many; CREATE TABLE many.a (id INT); CREATE TABLE many.b (id INT)");
        let ids = TableIds::new(1);
        let picture = nuthatch_source::look(&tcp(server), &account(lab), &ids, true).await.unwrap();
        assert_eq!((picture.catalogue.len(), ids.len()), (1, 1));
        assert!(picture.tables_left_out >= 1);
        run(server, "DROP DATABASE many");
    }
}

#[tokio::test]
async fn member_of_a_replication_group_is_no_source() {
    let labs = [(); 2].map(|()| up(servers::mysql(), 0));
    let ports = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let ports = ports.map(|listener| listener.local_addr().unwrap().port());
    for (lab, (id, port)) in labs.iter().zip((1..).zip(ports)) {
        run(lab.primary(), &group_settings(id, port, ports));
    }
    let [first, second] = &labs;
    run(first.primary(), "SET GLOBAL group_replication_bootstrap_group = ON; START GROUP_REPLICATION");
    assert_eq!(look(&tcp(first.primary()), &account(first)).await.source, Ok(()), "alone in its group");
    run(second.primary(), "START GROUP_REPLICATION");
    for lab in [first, second] {
        assert_eq!(look(&tcp(lab.primary()), &account(lab)).await.source, Err(NotASource::Cluster));
    }
}

fn group_settings(id: u32, port: u16, [first, second]: [u16; 2]) -> String {
    format!(
        "INSTALL PLUGIN group_replication SONAME 'group_replication.so'; RESET BINARY LOGS AND GTIDS; \
         SET GLOBAL server_id = {id}, group_replication_group_name = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa', \
         group_replication_local_address = '127.0.0.1:{port}', group_replication_ip_allowlist = '127.0.0.1/8', \
         group_replication_group_seeds = '127.0.0.1:{first},127.0.0.1:{second}', \
         group_replication_recovery_get_public_key = ON"
    )
}

#[tokio::test]
#[ignore = "takes minutes: makes 2,000 tables on each server, and prints how long a look at them takes"]
async fn two_thousand_tables_are_seen_within_seconds() {
    const LOOK_WITHIN: Duration = Duration::from_secs(5);
    let labs = shared();
    for lab in labs.both() {
        make_tables(lab.primary(), 2_000);
        let login = account(lab);
        let begun = Instant::now();
        let picture = look(&tcp(lab.primary()), &login).await;
        let took = begun.elapsed();
        println!("{}: {} tables and views in {took:?}", lab.primary().version(), picture.catalogue.len());
        assert!(took < LOOK_WITHIN);
        run(lab.primary(), "DROP DATABASE big");
    }
}

/// Tables of eight columns, a tenth of them with a foreign key, a trigger or a view.
fn make_tables(server: Server<'_>, count: usize) {
    let mut sql = "SET sql_log_bin = 0; CREATE DATABASE big; USE big;".to_owned();
    for at in 0..count {
        let before = at.saturating_sub(1);
        let foreign_key = format!(", FOREIGN KEY (p) REFERENCES t{before} (id) ON DELETE CASCADE");
        let foreign_key = if at % 10 == 1 { foreign_key.as_str() } else { "" };
        sql += &format!(
            "CREATE TABLE t{at} (id INT PRIMARY KEY AUTO_INCREMENT, p INT, a VARCHAR(10), b VARCHAR(10), c DATETIME, \
             d DECIMAL(10,2), e TEXT, v INT AS (p + 1) VIRTUAL{foreign_key});"
        );
        sql += &match at % 10 {
            5 => format!(
                "CREATE TRIGGER r{at} AFTER INSERT ON t{at} FOR EACH ROW INSERT INTO t{before} (a) VALUES (NEW.a);"
            ),
            6 => format!("CREATE VIEW v{at} AS SELECT id, a FROM t{at};"),
            _ => String::new(),
        };
    }
    run(server, &sql);
}
