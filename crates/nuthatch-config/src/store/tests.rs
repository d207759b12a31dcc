mod secrets;

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use super::*;
use crate::{CheckType, HostgroupId, password::Password, tls::SslVerify};

fn seed() -> Seed {
    Seed {
        users: vec![SeedRow::new().with("username", "app").with("password", "hunter2")],
        servers: vec![SeedRow::new().with("hostname", "db1").with("port", 3307)],
        rules: vec![
            SeedRow::new().with("rule_id", 1).with("match_digest", "^SELECT").with("cache_ttl", 5000),
        ],
        variables: [("mysql-max_connections".to_owned(), SeedValue::Integer(77))].into(),
    }
}

fn open(seed: Seed) -> Layers {
    let (layers, warnings) = Layers::open(None, seed, &Seed::default()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    layers
}

fn at(directory: &Path) -> Datadir {
    Datadir::new(directory)
}

fn run(layers: &mut Layers, text: &str) -> Outcome {
    layers.run(&Verb::parse(text).expect(text)).expect(text)
}

fn command(layers: &mut Layers, text: &str) {
    drop(run(layers, text));
}

fn sql(layers: &Layers, text: &str) {
    layers.connection().execute_batch(text).expect(text);
}

fn one(layers: &Layers, text: &str) -> String {
    let value =
        layers.connection().query_row(text, [], |row| row.get::<_, rusqlite::types::Value>(0)).expect(text);
    match value {
        rusqlite::types::Value::Null => "NULL".to_owned(),
        rusqlite::types::Value::Integer(number) => number.to_string(),
        rusqlite::types::Value::Text(text) => text,
        other => format!("{other:?}"),
    }
}

fn warnings(outcome: &Outcome) -> Vec<&str> {
    outcome.warnings.iter().collect()
}

#[test]
fn first_start_is_the_seed_and_saves_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let (layers, warnings) = Layers::open(Some(&at(directory.path())), seed(), &Seed::default()).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    let snapshot = layers.snapshot();
    assert_eq!(snapshot.epoch, Epoch(1));
    assert_eq!(snapshot.users.frontend(b"app").unwrap().password, Password::parse(b"hunter2"));
    assert_eq!(snapshot.hostgroups.servers(HostgroupId(0))[0].port, 3307);
    assert_eq!(snapshot.rules.iter().map(|rule| rule.cache_ttl_ms).collect::<Vec<_>>(), [Some(5000)]);
    assert_eq!(snapshot.mysql.max_connections, 77);
    for table in ["mysql_users", "mysql_servers", "mysql_query_rules"] {
        let counts = format!(
            "SELECT (SELECT count(*) FROM main.{table}) || (SELECT count(*) FROM main.runtime_{table}) \
             || (SELECT count(*) FROM disk.{table})"
        );
        assert_eq!(one(&layers, &counts), "110", "{table}");
    }
    drop(layers);
    let (layers, _) = Layers::open(Some(&at(directory.path())), Seed::default(), &Seed::default()).unwrap();
    assert_eq!(layers.snapshot().users.iter().count(), 0);
}

#[test]
fn saved_module_wins_over_the_seed_and_the_others_do_not() {
    let directory = tempfile::tempdir().unwrap();
    let (mut layers, _) = Layers::open(Some(&at(directory.path())), seed(), &Seed::default()).unwrap();
    sql(&layers, "DELETE FROM mysql_query_rules; UPDATE mysql_users SET default_hostgroup = 4");
    command(&mut layers, "SAVE MYSQL USERS TO DISK");
    command(&mut layers, "SAVE MYSQL QUERY RULES TO DISK");
    drop(layers);
    let overrides = Seed {
        users: vec![SeedRow::new().with("username", "app").with("password", "changed")],
        servers: vec![SeedRow::new().with("hostname", "db2")],
        ..Seed::default()
    };
    let (layers, _) = Layers::open(Some(&at(directory.path())), seed(), &overrides).unwrap();
    let snapshot = layers.snapshot();
    let user = snapshot.users.frontend(b"app").unwrap();
    assert_eq!(user.default_hostgroup, HostgroupId(4), "what the override does not name comes from disk");
    assert_eq!(user.password, Password::parse(b"changed"));
    assert!(snapshot.rules.is_empty(), "an emptied table that was saved stays empty");
    let hosts: Vec<_> =
        snapshot.hostgroups.servers(HostgroupId(0)).iter().map(|server| &*server.host).collect();
    assert_eq!(hosts, ["db1", "db2"], "the seed's server, for servers were never saved, and the override's");
    assert_eq!(snapshot.mysql.max_connections, 77);
}

#[test]
fn epoch_moves_only_when_the_data_plane_can_tell() {
    let mut layers = open(seed());
    for (change, verb, epoch) in [
        ("SELECT 1", "LOAD MYSQL USERS TO RUNTIME", 1),
        ("SELECT 1", "LOAD MYSQL QUERY RULES TO RUNTIME", 1),
        ("UPDATE mysql_users SET max_connections = 5", "LOAD MYSQL SERVERS TO RUNTIME", 1),
        ("SELECT 1", "LOAD MYSQL USERS TO RUN", 2),
        ("UPDATE mysql_servers SET weight = 9", "LOAD MYSQL SERVERS FROM MEMORY", 3),
        ("UPDATE mysql_query_rules SET cache_ttl = 1", "LOAD MYSQL QUERY RULES FROM MEM", 4),
        ("UPDATE mysql_query_rules SET active = 0", "LOAD MYSQL QUERY RULES TO RUNTIME", 5),
        (
            "UPDATE global_variables SET variable_value = 3 WHERE variable_name = 'mysql-shun_on_failures'",
            "LOAD MYSQL VARIABLES TO RUNTIME",
            6,
        ),
        (
            "UPDATE global_variables SET variable_value = 'a:b' WHERE variable_name = 'admin-admin_credentials'",
            "LOAD ADMIN VARIABLES TO RUNTIME",
            6,
        ),
    ] {
        sql(&layers, change);
        let outcome = run(&mut layers, verb);
        assert_eq!(outcome.snapshot.unwrap().epoch, Epoch(epoch), "{change}; {verb}");
        assert_eq!(layers.snapshot().epoch, Epoch(epoch), "{change}; {verb}");
    }
    assert_eq!(layers.snapshot().admin.admin_credentials.expose(), "a:b");
}

#[test]
fn load_of_rules_starts_their_counters_anew() {
    let mut layers = open(seed());
    let input = crate::RuleInput {
        user: b"app",
        schema: b"",
        client_addr: "",
        proxy_addr: "",
        proxy_port: 0,
        digest: 0,
        digest_text: b"SELECT ?",
        query: b"SELECT 1",
        flag_in: 0,
    };
    layers.snapshot().rules.evaluate(&input).matched[0].bump();
    assert_eq!(layers.snapshot().rules.hits().collect::<Vec<_>>(), [(1, 1)]);
    command(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME");
    assert_eq!(layers.snapshot().rules.hits().collect::<Vec<_>>(), [(1, 1)]);
    command(&mut layers, "LOAD MYSQL QUERY RULES TO RUNTIME");
    assert_eq!(layers.snapshot().rules.hits().collect::<Vec<_>>(), [(1, 0)]);
}

/// Rows that cannot be used are left out, the twin does not show them, and the admin is told by row and column.
#[test]
fn row_that_cannot_be_used_is_left_out_with_a_warning() {
    const RULES: &str = "INSERT INTO mysql_query_rules (rule_id, active, ";
    for (module, insert, expected) in [
        (
            "MYSQL QUERY RULES",
            format!("{RULES} match_digest) VALUES (7, 1, '(')"),
            "rule 7: column \"match_digest\" is not a usable regular expression",
        ),
        (
            "MYSQL QUERY RULES",
            format!("{RULES} match_pattern) VALUES (7, 1, '[z-a]')"),
            "rule 7: column \"match_pattern\" is not a usable",
        ),
        (
            "MYSQL QUERY RULES",
            format!("{RULES} digest) VALUES (7, 1, '12AB')"),
            "rule 7: column \"digest\" is not 0x and up to 16",
        ),
        (
            "MYSQL QUERY RULES",
            format!("{RULES} destination_hostgroup) VALUES (7, 1, 'two')"),
            "rule 7: column \"destination_hostgroup\" is not a whole number",
        ),
        (
            "MYSQL QUERY RULES",
            format!("{RULES} flagOUT) VALUES (7, 1, 4294967296)"),
            "rule 7: column \"flagOUT\" is out of range; the row",
        ),
        (
            "MYSQL USERS",
            "INSERT INTO mysql_users (username, default_hostgroup) VALUES ('bad', -1)".into(),
            "user \"bad\": column \"default_hostgroup\" is out of range; the row is left out",
        ),
        (
            "MYSQL USERS",
            "INSERT INTO mysql_users (username, max_connections) VALUES ('bad', 'many')".into(),
            "user \"bad\": column \"max_connections\" is not a whole number",
        ),
        (
            "MYSQL SERVERS",
            "INSERT INTO mysql_servers (hostname, max_connections) VALUES ('bad', 1.5)".into(),
            "server bad:3306 in hostgroup 0: column \"max_connections\" is not a whole number",
        ),
        (
            "MYSQL SERVERS",
            "INSERT INTO mysql_servers (hostname) VALUES ('')".into(),
            "server :3306 in hostgroup 0: column \"hostname\" is empty",
        ),
    ] {
        let mut layers = open(seed());
        sql(&layers, &insert);
        let outcome = run(&mut layers, &format!("LOAD {module} TO RUNTIME"));
        let said = warnings(&outcome);
        assert!(
            said.len() == 1 && said[0].starts_with(expected) && said[0].ends_with("left out"),
            "{insert}: {said:?}"
        );
        let table = format!("mysql_{}", module["MYSQL ".len()..].to_lowercase().replace(' ', "_"));
        assert_eq!(one(&layers, &format!("SELECT count(*) FROM runtime_{table}")), "1", "{insert}");
        assert_eq!(one(&layers, &format!("SELECT count(*) FROM {table}")), "2", "{insert}");
        assert_eq!(layers.snapshot().epoch, Epoch(1), "what can be used has not changed: {insert}");
    }
}

#[test]
fn column_that_does_not_act_is_named() {
    let mut layers = open(seed());
    sql(
        &layers,
        "INSERT INTO mysql_query_rules (rule_id, active, mirror_hostgroup, log, re_modifiers) VALUES (7, 1, 5, 0, 'caseless,BOLD')",
    );
    sql(&layers, "INSERT INTO mysql_query_rules (rule_id, active, mirror_hostgroup) VALUES (8, 0, 5)");
    assert_eq!(
        warnings(&run(&mut layers, "LOAD MYSQL QUERY RULES TO RUNTIME")),
        [
            "rule 7: column \"mirror_hostgroup\" is stored but does not act yet",
            "rule 7: column \"log\" is stored but does not act yet",
            "rule 7: column \"re_modifiers\": \"BOLD\" is unknown and ignored",
        ]
    );
    sql(&layers, "UPDATE mysql_users SET fast_forward = 1; UPDATE mysql_servers SET gtid_port = 1");
    sql(
        &layers,
        "INSERT INTO mysql_aws_aurora_hostgroups (writer_hostgroup, reader_hostgroup, domain_name) VALUES (1, 2, '.a')",
    );
    let nothing: [&str; 0] = [];
    assert_eq!(
        warnings(&run(&mut layers, "LOAD MYSQL USERS TO RUNTIME")),
        nothing,
        "every column of users acts"
    );
    assert_eq!(
        warnings(&run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME")),
        [
            "table \"mysql_aws_aurora_hostgroups\" is stored but does not act yet",
            "server db1:3307 in hostgroup 0: column \"gtid_port\" is stored but does not act yet",
        ]
    );
    assert_eq!(one(&layers, "SELECT count(*) FROM runtime_mysql_aws_aurora_hostgroups"), "1");
}

#[test]
fn hostgroup_belongs_to_one_cluster() {
    let mut layers = open(seed());
    sql(
        &layers,
        "INSERT INTO mysql_replication_hostgroups VALUES (1, 2, 'super_read_only', ''), (3, 4, 'READ_ONLY', '');
         INSERT INTO mysql_galera_hostgroups VALUES (5, 6, 7, 8, 1, 1, 2, 9, ''), (2, 12, 13, 14, 1, 1, 0, 0, ''),
             (15, 16, 17, 18, 0, 1, 0, 0, '')",
    );
    let outcome = run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME");
    let expected = "the row with writer_hostgroup 2 does not act: hostgroup 2 belongs to the row with writer_hostgroup 1";
    assert_eq!(warnings(&outcome), [expected]);
    let clusters = &layers.snapshot().clusters;
    let pairs: Vec<_> = clusters.pairs.iter().map(|pair| (pair.writer.0, pair.check)).collect();
    assert_eq!(pairs, [(1, CheckType::SuperReadOnly), (3, CheckType::ReadOnly)]);
    let groups: Vec<_> = clusters.clusters.iter().map(|one| (one.writer.0, one.behind_max)).collect();
    assert_eq!(groups, [(5, 9)], "the last is not active");
}

#[test]
fn failover_by_itself_is_refused_for_fewer_than_three_servers() {
    let mut layers = open(Seed::default());
    sql(
        &layers,
        "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20);
         INSERT INTO mysql_servers (hostgroup_id, hostname, port) VALUES (10, 'a', 1), (20, 'b', 1), (20, 'a', 1);
         UPDATE global_variables SET variable_value = 'x' WHERE variable_name IN ('mysql-failover_username',
             'mysql-replication_username');
         UPDATE global_variables SET variable_value = 'auto' WHERE variable_name = 'mysql-failover'",
    );
    command(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME");
    let refused = run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME");
    assert!(warnings(&refused)[0].contains("auto is refused"), "{:?}", warnings(&refused));
    assert_eq!(layers.snapshot().mysql.failover, "off");
    let shown = "SELECT variable_value FROM runtime_global_variables WHERE variable_name = 'mysql-failover'";
    assert_eq!(one(&layers, shown), "off");
    sql(
        &layers,
        "INSERT INTO mysql_servers (hostgroup_id, hostname, port, status) VALUES (20, 'c', 1, 'OFFLINE_HARD');
         INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (30, 40);
         UPDATE global_variables SET variable_value = 'auto' WHERE variable_name = 'mysql-failover'",
    );
    let expected = "mysql-failover = auto does not act for the pair with writer_hostgroup 30: it has 0 servers, and a majority takes 3";
    command(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME");
    assert_eq!(warnings(&run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME")), [expected]);
    assert_eq!(layers.snapshot().mysql.failover, "auto");
    assert_eq!(warnings(&run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME")), [expected]);
    sql(
        &layers,
        "UPDATE global_variables SET variable_value = '' WHERE variable_name = 'mysql-failover_username'",
    );
    let told = run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME");
    assert!(warnings(&told)[0].contains("takes two accounts"), "{:?}", warnings(&told));
}

#[test]
fn cluster_whose_reads_are_not_split_is_told_of() {
    let mut layers = open(Seed::default());
    sql(
        &layers,
        "INSERT INTO mysql_replication_hostgroups (writer_hostgroup, reader_hostgroup) VALUES (10, 20);
         INSERT INTO mysql_galera_hostgroups (writer_hostgroup, backup_writer_hostgroup, reader_hostgroup, offline_hostgroup)
             VALUES (30, 31, 32, 33);
         UPDATE global_variables SET variable_value = '1' WHERE variable_name = 'mysql-read_write_split'",
    );
    assert_eq!(warnings(&run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME")), Vec::<String>::new());
    let expected = "mysql-read_write_split acts for mysql_replication_hostgroups only: reads of hostgroup 30 (Galera) are not split";
    assert_eq!(warnings(&run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME")), [expected]);
}

#[test]
fn settings_of_hostgroups_and_users_are_loaded_and_wrong_ones_named() {
    let mut layers = open(seed());
    sql(
        &layers,
        "INSERT INTO mysql_hostgroup_attributes (hostgroup_id, free_connections_pct, connection_warming,
             throttle_connections_per_sec, init_connect, hostgroup_settings) VALUES
             (1, 20, 1, 5, 'DO 1', '{\"auto_increment_delay_multiplex\": 7, \"connection_delay_multiplex_ms\": -1,
              \"connection_growth_interval_ms\": 0}');
         INSERT INTO mysql_users (username, password, attributes) VALUES
             ('slow', '', '{\"connection_delay_multiplex_ms\": 9, \"auto_increment_delay_multiplex\": \"x\"}'),
             ('odd', '', '[]'),
             ('keeper', '', '{\"query_cache_admin\": true}'),
             ('unsure', '', '{\"query_cache_admin\": 1}')",
    );
    let loaded = run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME");
    assert_eq!(
        warnings(&loaded),
        [
            "attributes of hostgroup 1: column \"hostgroup_settings\": \"connection_delay_multiplex_ms\" takes a number \
          from 0 to 300000; it does not count"
        ]
    );
    let loaded = run(&mut layers, "LOAD MYSQL USERS TO RUNTIME");
    assert_eq!(
        warnings(&loaded),
        [
            "user \"slow\": column \"attributes\": \"auto_increment_delay_multiplex\" takes a number from 0 to 1000000; \
             it does not count",
            "user \"odd\": column \"attributes\": is no JSON object",
            "user \"unsure\": column \"attributes\": \"query_cache_admin\" takes true or false; it is taken for false",
        ]
    );
    let snapshot = Arc::clone(layers.snapshot());
    let (own, other) = (snapshot.pool_settings(HostgroupId(1)), snapshot.pool_settings(HostgroupId(0)));
    assert_eq!((own.free_connections_pct, other.free_connections_pct), (20, 10));
    assert_eq!((own.connections_per_second, own.connection_warming), (5, true));
    assert_eq!((own.growth_interval_ms, other.growth_interval_ms), (0, 50));
    assert_eq!((own.init_connect.as_str(), other.init_connect.as_str()), ("DO 1", ""));
    let of_group = snapshot.hostgroup_attributes[&HostgroupId(1)].delays;
    let of_user = snapshot.users.frontend(b"slow").expect("it is in force").delays;
    let both = of_user.or(of_group);
    assert_eq!((both.connection_ms, both.auto_increment_statements), (Some(9), Some(7)));
    let may = |name: &[u8]| snapshot.users.frontend(name).expect("it is in force").query_cache_admin;
    assert_eq!((may(b"keeper"), may(b"unsure"), may(b"slow")), (true, false, false));
}

#[test]
fn tls_of_servers_is_loaded_and_what_does_not_act_is_named() {
    let mut layers = open(seed());
    sql(
        &layers,
        "INSERT INTO mysql_hostgroup_attributes (hostgroup_id, hostgroup_settings, multiplex) VALUES
             (0, '{\"ssl_verify\": \"CA\"}', 1), (1, '{\"ssl_verify\": \"always\", \"handle_warnings\": 1}', 0),
             (2, '[]', 1), (3, '', 1);
         INSERT INTO mysql_servers_ssl_params (hostname, port, username, ssl_ca, ssl_cipher, tls_version) VALUES
             ('db1', 3307, '', '/ca', '', 'TLSv1.1,TLSv1.3'), ('db1', 3307, 'app', '', 'AES', 'TLSv1')",
    );
    let loaded = run(&mut layers, "LOAD MYSQL SERVERS TO RUNTIME");
    assert_eq!(
        warnings(&loaded),
        [
            "attributes of hostgroup 2: column \"hostgroup_settings\" is no JSON object; the row is left out",
            "attributes of hostgroup 1: column \"hostgroup_settings\": \"handle_warnings\" is stored but does not act yet",
            "attributes of hostgroup 1: column \"hostgroup_settings\": \"ssl_verify\" takes one of: hostname, ca, off; \
             it is taken for hostname",
            "TLS of db1:3307 for user \"app\": column \"ssl_cipher\" is stored but does not act yet",
            "TLS of db1:3307: column \"tls_version\": TLSv1.1 is not spoken",
            "TLS of db1:3307 for user \"app\": column \"tls_version\" takes TLSv1.2 and TLSv1.3, separated by a comma; \
             it is not connected to",
        ]
    );
    let snapshot = Arc::clone(layers.snapshot());
    assert_eq!(snapshot.epoch, Epoch(2));
    let verify =
        |hostgroup| snapshot.hostgroup_attributes.get(&HostgroupId(hostgroup)).and_then(|it| it.ssl_verify);
    assert_eq!([0, 1, 2, 3].map(verify), [Some(SslVerify::Ca), Some(SslVerify::Hostname), None, None]);
    assert_eq!([0, 1, 3].map(|hostgroup| snapshot.multiplexes(HostgroupId(hostgroup))), [true, false, true]);
    let server = &snapshot.hostgroups.servers(HostgroupId(0))[0];
    assert_eq!(snapshot.tls_settings(server, "").ca, "/ca");
    assert!(snapshot.tls_settings(server, "app").versions.is_err());
}

#[test]
fn one_variable_is_put_in_force_and_nothing_else_of_its_module() {
    let mut layers = open(seed());
    let before = Arc::clone(layers.snapshot());
    layers.set_variable("mysql-max_connections", "500").unwrap();
    let snapshot = layers.put_in_force("query_cache_size_MB", "1.5").unwrap();
    assert_eq!(snapshot.mysql.query_cache_size.bytes(), 3 << 19);
    assert_eq!(
        (snapshot.epoch, snapshot.mysql.max_connections),
        (before.epoch.next(), before.mysql.max_connections)
    );
    for table in ["global_variables", "runtime_global_variables"] {
        let of = |name: &str| {
            one(&layers, &format!("SELECT variable_value FROM {table} WHERE variable_name = '{name}'"))
        };
        assert_eq!(of("mysql-query_cache_size_MB"), "1.5", "{table}");
    }
    command(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME");
    assert_eq!(layers.snapshot().mysql.query_cache_size.bytes(), 3 << 19, "a LOAD keeps it");
    assert_eq!(layers.snapshot().mysql.max_connections, 500);
    let refused = layers.put_in_force("query_cache_type", "7").unwrap_err();
    assert_eq!(
        refused.to_string(),
        "set the variable \"mysql-query_cache_type\": it takes one of: 0, 1, 2, OFF, ON, DEMAND"
    );
}

#[test]
fn wrong_value_keeps_the_old_one_and_tells() {
    let mut layers = open(seed());
    assert_eq!(layers.set_variable("MYSQL-Max_Connections", "500").unwrap(), None);
    let fault = layers.set_variable("mysql-shun_on_failures", "often").unwrap();
    assert_eq!(fault, Some(VariableFault::Count { min: 0, max: 10_000_000 }));
    layers.set_variable("mysql-monitor_threads_min", "9").unwrap();
    sql(&layers, "INSERT INTO global_variables VALUES ('mysql-no_such', '1')");
    sql(&layers, "DELETE FROM global_variables WHERE variable_name = 'mysql-multiplexing'");
    assert_eq!(
        warnings(&run(&mut layers, "LOAD MYSQL VARIABLES TO RUNTIME")),
        [
            "variable \"mysql-monitor_threads_min\" is stored but does not act yet",
            "variable \"mysql-no_such\" is unknown; its row is deleted",
            "variable \"mysql-shun_on_failures\" takes a whole number from 0 to 10000000; it keeps its old value",
        ]
    );
    assert_eq!(layers.snapshot().mysql.max_connections, 500);
    assert_eq!(layers.snapshot().mysql.shun_on_failures, 5);
    for table in ["global_variables", "runtime_global_variables"] {
        for (name, value) in [("max_connections", "500"), ("shun_on_failures", "5"), ("multiplexing", "true")]
        {
            let select = format!("SELECT variable_value FROM {table} WHERE variable_name = 'mysql-{name}'");
            assert_eq!(one(&layers, &select), value, "{table} {name}");
        }
    }
    for (name, reason) in
        [("mysql-no_such", "is unknown"), ("nothing", "is unknown"), ("admin-version", "is read-only")]
    {
        let error = layers.set_variable(name, "1").unwrap_err();
        assert_eq!(error.to_string(), format!("set the variable \"{name}\": it {reason}"));
    }
}

#[test]
fn admin_may_edit_the_configuration_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let (layers, _) = Layers::open(Some(&at(directory.path())), seed(), &Seed::default()).unwrap();
    layers.trusted(|connection| Ok(connection.execute_batch("CREATE TABLE stats.stats_x (a INT)")?)).unwrap();
    let other = directory.path().join("other.db").display().to_string();
    for (text, allowed) in [
        ("SELECT * FROM runtime_mysql_users", true),
        ("SELECT count(*), max(rule_id), upper(comment) FROM main.mysql_query_rules", true),
        ("INSERT INTO mysql_query_rules (active) VALUES (1)", true),
        ("REPLACE INTO disk.mysql_users (username) VALUES ('x')", true),
        ("UPDATE global_variables SET variable_value = '1' WHERE variable_name = 'mysql-threads'", true),
        ("BEGIN; DELETE FROM mysql_query_rules; ROLLBACK", true),
        ("CREATE TEMP TABLE t AS SELECT * FROM mysql_users; DROP TABLE temp.t", true),
        ("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT * FROM n", true),
        ("PRAGMA table_info(mysql_users)", true),
        ("SELECT * FROM stats.stats_x", true),
        ("INSERT INTO stats.stats_x VALUES (1)", false),
        ("DELETE FROM runtime_mysql_users", false),
        ("UPDATE runtime_global_variables SET variable_value = ''", false),
        ("INSERT INTO RUNTIME_mysql_servers (hostname) VALUES ('x')", false),
        ("DROP TABLE mysql_users", false),
        ("DROP TABLE runtime_mysql_users", false),
        ("ALTER TABLE mysql_users ADD COLUMN x", false),
        ("CREATE TABLE main.x (a INT)", false),
        ("CREATE TRIGGER x AFTER INSERT ON mysql_users BEGIN DELETE FROM mysql_users; END", false),
        ("DELETE FROM disk.nuthatch_schema", false),
        ("DELETE FROM sqlite_master", false),
        ("PRAGMA writable_schema = ON", false),
        ("PRAGMA disk.journal_mode = OFF", false),
        ("DETACH DATABASE disk", false),
        ("VACUUM", false),
        (&format!("ATTACH DATABASE '{other}' AS o"), false),
        (&format!("VACUUM main INTO '{other}'"), false),
        ("SELECT load_extension('x')", false),
    ] {
        assert_eq!(layers.connection().execute_batch(text).is_ok(), allowed, "{text}");
    }
    assert!(!fs::exists(other).unwrap());
}

#[test]
fn save_from_runtime_shows_what_is_in_force() {
    let mut layers = open(seed());
    sql(&layers, "INSERT INTO mysql_users (username, password, active) VALUES ('later', 'p', 0)");
    sql(&layers, "UPDATE mysql_users SET password = 'other' WHERE username = 'app'");
    sql(&layers, "INSERT INTO mysql_query_rules (rule_id, active) VALUES (9, 1); DELETE FROM mysql_servers");
    let row = Arc::clone(&layers.snapshot().hostgroups.servers(HostgroupId(0))[0]);
    let moved = Server { hostgroup: HostgroupId(7), ..Server::clone(&row) };
    layers.show_servers(&[(Arc::new(moved), ServerStatus::Online)]).unwrap();
    let shown = "SELECT group_concat(hostgroup_id || hostname || port || status) FROM runtime_mysql_servers";
    assert_eq!(one(&layers, shown), "7db13307ONLINE");
    layers.show_servers(&[(Arc::clone(&row), ServerStatus::Shunned)]).unwrap();
    assert_eq!(one(&layers, shown), "0db13307SHUNNED");
    layers.show_servers(&[(row, ServerStatus::Online)]).unwrap();
    for module in ["USERS", "QUERY RULES", "SERVERS"] {
        command(&mut layers, &format!("SAVE MYSQL {module} FROM RUNTIME"));
    }
    let app = "FROM mysql_users WHERE username = 'app'";
    assert_eq!(one(&layers, &format!("SELECT active {app}")), "1");
    assert!(one(&layers, &format!("SELECT password {app}")).starts_with("$nuthatch$"));
    command(&mut layers, "LOAD MYSQL USERS TO RUNTIME");
    let user = layers.snapshot().users.frontend(b"app").unwrap();
    assert_eq!(user.password, Password::parse(b"hunter2"), "what was in force, not what was typed after it");
    assert_eq!(one(&layers, "SELECT active FROM mysql_users WHERE username = 'later'"), "0");
    assert_eq!(
        one(&layers, "SELECT group_concat(rule_id || ':' || active) FROM mysql_query_rules"),
        "1:1,9:0"
    );
    assert_eq!(one(&layers, "SELECT hostname || status FROM mysql_servers"), "db1ONLINE");
}

#[test]
fn disk_gives_back_what_was_saved() {
    let mut layers = open(seed());
    for module in ["MYSQL USERS", "MYSQL SERVERS", "MYSQL QUERY RULES", "MYSQL VARIABLES", "ADMIN VARIABLES"]
    {
        command(&mut layers, &format!("SAVE {module} TO DISK"));
    }
    sql(&layers, "DELETE FROM mysql_users; DELETE FROM mysql_servers; DELETE FROM mysql_query_rules");
    sql(&layers, "UPDATE global_variables SET variable_value = '1'");
    command(&mut layers, "LOAD MYSQL VARIABLES FROM DISK");
    assert_eq!(
        one(
            &layers,
            "SELECT variable_value FROM global_variables WHERE variable_name = 'mysql-max_connections'"
        ),
        "77"
    );
    assert_eq!(
        one(&layers, "SELECT variable_value FROM global_variables WHERE variable_name = 'admin-web_port'"),
        "1"
    );
    for (module, table) in
        [("USERS", "mysql_users"), ("SERVERS", "mysql_servers"), ("QUERY RULES", "mysql_query_rules")]
    {
        command(&mut layers, &format!("LOAD MYSQL {module} TO MEMORY"));
        assert_eq!(one(&layers, &format!("SELECT count(*) FROM {table}")), "1", "{table}");
    }
}

#[test]
fn config_file_is_read_again_on_demand() {
    let mut layers = open(seed());
    sql(
        &layers,
        "UPDATE mysql_users SET password = 'typo'; INSERT INTO mysql_users (username) VALUES ('other')",
    );
    command(&mut layers, "LOAD MYSQL USERS FROM CONFIG");
    assert_eq!(one(&layers, "SELECT password FROM mysql_users WHERE username = 'app'"), "hunter2");
    assert_eq!(one(&layers, "SELECT count(*) FROM mysql_users"), "2");
}

#[test]
fn one_user_is_loaded_alone() {
    let mut layers = open(seed());
    sql(
        &layers,
        "INSERT INTO mysql_users (username) VALUES ('a'), ('b'); UPDATE mysql_users SET active = 0 WHERE username = 'app'",
    );
    command(&mut layers, "LOAD MYSQL USER a TO RUNTIME");
    let names =
        |layers: &Layers| layers.snapshot().users.iter().map(|user| user.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&layers), ["app", "a"]);
    command(&mut layers, "LOAD MYSQL USER app TO RUNTIME");
    assert_eq!(names(&layers), ["a"]);
}

#[test]
fn failed_command_changes_nothing() {
    let mut layers = open(seed());
    sql(
        &layers,
        "UPDATE mysql_users SET default_hostgroup = 3; INSERT INTO disk.mysql_users (username) VALUES ('kept')",
    );
    let drop_twin =
        "DROP TABLE main.runtime_mysql_servers_ssl_params; DROP TABLE disk.mysql_query_rules_fast_routing";
    layers.trusted(|connection| Ok(connection.execute_batch(drop_twin)?)).unwrap();
    sql(&layers, "UPDATE mysql_servers SET weight = 3");
    layers.run(&Verb::parse("LOAD MYSQL SERVERS TO RUNTIME").unwrap()).unwrap_err();
    layers.run(&Verb::parse("SAVE MYSQL QUERY RULES TO DISK").unwrap()).unwrap_err();
    assert_eq!(layers.snapshot().epoch, Epoch(1));
    assert_eq!(one(&layers, "SELECT weight FROM runtime_mysql_servers"), "1");
    assert_eq!(one(&layers, "SELECT count(*) FROM disk.mysql_query_rules"), "0");
    command(&mut layers, "LOAD MYSQL USERS TO RUNTIME");
    assert_eq!(layers.snapshot().epoch, Epoch(2), "the next command works");
}

#[test]
fn open_transaction_is_committed_by_a_command() {
    let mut layers = open(seed());
    sql(&layers, "BEGIN; UPDATE mysql_users SET default_hostgroup = 3");
    command(&mut layers, "LOAD MYSQL USERS TO RUNTIME");
    assert!(layers.connection().is_autocommit());
    assert_eq!(layers.snapshot().users.frontend(b"app").unwrap().default_hostgroup, HostgroupId(3));
}

#[test]
fn only_the_owner_reads_the_disk() {
    let directory = tempfile::tempdir().unwrap();
    let datadir = directory.path().join("a/b");
    let file = datadir.join("nuthatch.db");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    drop(Layers::open(Some(&at(&datadir)), seed(), &Seed::default()).unwrap());
    assert_eq!((mode(&datadir), mode(&file)), (0o700, 0o600));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    drop(Layers::open(Some(&at(&datadir)), seed(), &Seed::default()).unwrap());
    assert_eq!(mode(&file), 0o600);
}

#[test]
fn unusable_disk_is_one_clear_sentence() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("nuthatch.db");
    let refusal =
        |datadir: &Path| Layers::open(Some(&at(datadir)), Seed::default(), &Seed::default()).err().unwrap();
    fs::write(&file, "this is no database, only a text that is longer than its header would be.").unwrap();
    assert_eq!(refusal(directory.path()).to_string(), format!("open the database {}", file.display()));
    assert_eq!(refusal(&file).to_string(), format!("use {}", file.display()));
    fs::remove_file(&file).unwrap();
    drop(Layers::open(Some(&at(directory.path())), Seed::default(), &Seed::default()).unwrap());
    Connection::open(&file).unwrap().execute("UPDATE nuthatch_schema SET version = 99", []).unwrap();
    assert!(matches!(refusal(directory.path()), StoreError::Newer { found: 99, .. }));
}

#[test]
fn older_file_is_brought_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    drop(Layers::open(Some(&at(directory.path())), Seed::default(), &Seed::default()).unwrap());
    let file = Connection::open(directory.path().join("nuthatch.db")).unwrap();
    file.execute_batch(
        "DROP TABLE mysql_users; DROP TABLE scheduler;
         CREATE TABLE mysql_users (username VARCHAR NOT NULL, gone INT, password VARCHAR);
         INSERT INTO mysql_users VALUES ('app', 1, 'hunter2');
         UPDATE nuthatch_schema SET version = 0;",
    )
    .unwrap();
    drop(file);
    let (layers, _) = Layers::open(Some(&at(directory.path())), Seed::default(), &Seed::default()).unwrap();
    let user = layers.snapshot().users.frontend(b"app").unwrap();
    assert_eq!((&user.password, user.max_connections), (&Password::parse(b"hunter2"), 10_000));
    let text = layers.create_table_text("disk", "MYSQL_USERS").unwrap();
    assert_eq!(text, layers.create_table_text("main", "mysql_users").unwrap());
    assert!(layers.tables("disk").unwrap().contains(&"scheduler".to_owned()));
}

#[test]
fn wrong_seed_is_refused_by_its_place() {
    let row = |column: &str, value: i64| SeedRow::new().with("hostname", "h").with(column, value);
    for (seed, expected) in [
        (
            Seed { servers: vec![row("prot", 1)], ..seed() },
            "take mysql_servers row 1 of the configuration: there is no column \"prot\"",
        ),
        (
            Seed { servers: vec![row("port", 1), row("port", 99_999)], ..seed() },
            "take mysql_servers row 2 of the configuration: CHECK constraint failed: port >= 0 AND port <= 65535",
        ),
        (
            Seed { users: vec![SeedRow::new()], ..seed() },
            "take mysql_users row 1 of the configuration: the row is empty",
        ),
        (
            Seed { users: vec![seed().users[0].clone(), seed().users[0].clone()], ..seed() },
            "take mysql_users row 2 of the configuration: UNIQUE constraint failed",
        ),
        (
            Seed { variables: [("mysql-nothing".to_owned(), 1.into())].into(), ..seed() },
            "take variable \"mysql-nothing\" of the configuration: it is unknown",
        ),
        (
            Seed { variables: [("mysql-max_connections".to_owned(), 0.into())].into(), ..seed() },
            "take variable \"mysql-max_connections\" of the configuration: it takes a whole number from 1 to 1000000",
        ),
    ] {
        let error = Layers::open(None, seed, &Seed::default()).err().expect(expected);
        assert!(error.to_string().starts_with(expected), "{error}");
        assert!(!format!("{error} {error:?}").contains("hunter2"));
    }
}

#[test]
fn seed_is_read_from_toml_and_shows_no_secret() {
    let text = "
        [variables]
        mysql-max_connections = 77
        mysql-query_digests = false
        [[users]]
        username = 'app'
        password = 'hunter2'
        transaction_persistent = false
        [[rules]]
        rule_id = 1
        match_digest = '^SELECT'
        OK_msg = 'fine'
    ";
    let seed: Seed = toml::from_str(text).unwrap();
    assert!(!format!("{seed:?}").contains("hunter2"));
    let layers = open(seed);
    assert!(
        !layers.snapshot().mysql.query_digests
            && !layers.snapshot().users.frontend(b"app").unwrap().transaction_persistent
    );
    assert_eq!(layers.snapshot().rules.iter().next().unwrap().ok_msg.as_deref(), Some("fine"));
    toml::from_str::<Seed>("[[user]]\nusername = 'x'").unwrap_err();
}

#[test]
fn tables_are_listed_without_internal_ones() {
    let layers = open(seed());
    let main = layers.tables("main").unwrap();
    assert!(
        main.contains(&"mysql_query_rules".to_owned())
            && main.contains(&"runtime_mysql_query_rules".to_owned())
    );
    assert!(
        layers
            .tables("disk")
            .unwrap()
            .iter()
            .all(|name| !name.starts_with("nuthatch_") && !name.starts_with("runtime_"))
    );
    assert!(layers.tables("nowhere").is_err());
    assert_eq!(layers.create_table_text("main", "nothing").unwrap(), None);
}
