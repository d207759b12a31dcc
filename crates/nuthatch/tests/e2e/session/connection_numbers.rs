//! Numbers of connections agree with each other as they do at a server: `CONNECTION_ID()`, `IS_USED_LOCK()`, SHOW PROCESSLIST, and what KILL takes.

use nuthatch_lab::Kind;

use crate::client::{Client, Value};
use crate::deadline::await_that;
use crate::proxy::Setup;
use crate::servers;
use crate::stage::{Stage, user_row};

const SERVERS: [Kind; 2] = [Kind::MariaDb, Kind::MySql];

fn number(client: &mut Client) -> String {
    client.value("SELECT CONNECTION_ID()")
}

/// The row of SHOW PROCESSLIST with that number.
fn listed(client: &mut Client, id: &str) -> Option<Vec<String>> {
    client.table("SHOW FULL PROCESSLIST").into_iter().find(|row| row[0] == id)
}

#[test]
fn holder_of_a_lock_is_the_session_that_took_it() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        let (mut holder, mut other) = (stage.client(), stage.client());
        let (own, others) = (number(&mut holder), number(&mut other));
        let lock = format!("lock_{}", stage.schema);
        let asked = format!("SELECT IS_USED_LOCK('{lock}')");
        assert_eq!(other.value(&asked), "NULL");
        assert_eq!(holder.value(format!("SELECT GET_LOCK('{lock}', 0)")), "1");
        // As gh-ost, django-mysql and others ask.
        for client in [&mut holder, &mut other] {
            let answer = client.ok(&asked);
            assert_eq!(answer.value(), own, "{kind:?}");
            assert_eq!(answer.columns, [format!("IS_USED_LOCK('{lock}')")]);
        }
        let comparison = format!("SELECT IS_USED_LOCK('{lock}') = CONNECTION_ID()");
        assert_eq!(holder.value(&comparison), "1");
        assert_eq!(other.value(&comparison), "0");
        assert_eq!(
            other.value(format!("SELECT IS_USED_LOCK('{lock}') = {own} AND {others} = CONNECTION_ID()")),
            "1"
        );
        let table = other.table(format!(
            "SELECT CONNECTION_ID() AS me, IS_USED_LOCK('{lock}') holder, v FROM t WHERE id = 1"
        ));
        assert_eq!(table, [[others, own, "one".to_owned()]]);
        // Both are the server's then.
        let taken = format!("SELECT GET_LOCK('{lock}2', 0), IS_USED_LOCK('{lock}2') = CONNECTION_ID()");
        assert_eq!(other.table(&taken), [["1", "1"]]);
    }
}

/// Who claims rows with its number finds them by it, on whichever connection.
#[test]
fn number_of_a_session_is_the_same_in_every_statement() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        stage.primary().ok("CREATE TABLE job (id INT PRIMARY KEY, owner BIGINT UNSIGNED)");
        let mut clients: Vec<_> = (0..4).map(|_| stage.client()).collect();
        for (place, client) in clients.iter_mut().enumerate() {
            client.ok(format!("INSERT INTO job VALUES ({place}, CONNECTION_ID())"));
        }
        for (place, client) in clients.iter_mut().enumerate() {
            let own = number(client);
            assert_eq!(
                client.table("SELECT id, owner FROM job WHERE owner = CONNECTION_ID()"),
                [[place.to_string(), own.clone()]]
            );
            let answer = client.ok(
                "SELECT CONNECTION_ID(), CONNECTION_ID() + 0, (SELECT CONNECTION_ID()) FROM t WHERE id = 1",
            );
            assert_eq!(
                answer.columns,
                ["CONNECTION_ID()", "CONNECTION_ID() + 0", "(SELECT CONNECTION_ID())"]
            );
            assert_eq!(answer.table(), [[own.clone(), own.clone(), own.clone()]]);
            let prepared = client
                .prepare("SELECT id FROM job WHERE owner = CONNECTION_ID() AND id = ?")
                .expect("it is prepared");
            let found = client
                .execute(&prepared, &[Value::Int(i64::try_from(place).expect("small"))])
                .expect("it runs");
            assert_eq!(found.value(), place.to_string());
            client.ok(
                "PREPARE by_name FROM 'SELECT \\'it\\'\\'s\\', CONNECTION_ID() + 0 FROM job WHERE id = ?'",
            );
            client.ok(format!("SET @id = {place}"));
            let answer = client.ok("EXECUTE by_name USING @id");
            assert_eq!(answer.columns, ["it's", "CONNECTION_ID() + 0"]);
            assert_eq!(answer.table(), [["it's".to_owned(), own]]);
            client.ok("UPDATE job SET owner = 0 WHERE owner = CONNECTION_ID()");
        }
        assert_eq!(clients[0].value("SELECT COUNT(*) FROM job WHERE owner = CONNECTION_ID()"), "0");
    }
}

#[test]
fn what_the_process_list_shows_can_be_killed() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        let (mut sleeper, mut holder, mut killer) = (stage.client(), stage.client(), stage.client());
        let (sleepers, holders, own) = (number(&mut sleeper), number(&mut holder), number(&mut killer));
        assert_eq!(listed(&mut killer, &own).expect("its own row")[7], "SHOW FULL PROCESSLIST");
        holder.ok("BEGIN");
        holder.ok("UPDATE t SET v = 'x' WHERE id = 1");
        let sleeping = std::thread::spawn(move || sleeper.query("SELECT SLEEP(60)").map(drop));
        await_that("the sleeper is listed", || {
            listed(&mut killer, &sleepers).is_some_and(|row| row[7].contains("SLEEP(60)"))
        });
        assert!(listed(&mut killer, &holders).is_some(), "who holds a connection is listed");
        killer.ok(format!("KILL QUERY {sleepers}"));
        drop(sleeping.join().expect("it ends"));
        killer.ok(format!("KILL {holders}"));
        assert!(holder.is_closed_by_server());
    }
}

/// Tables of the server's have its own numbers, and its KILL takes those too.
#[test]
fn servers_own_numbers_can_be_killed_where_the_server_allows_it() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        let (mut direct, mut holder, mut killer) = (stage.primary(), stage.client(), stage.client());
        let at_server = direct.value("SELECT CONNECTION_ID()");
        assert!(listed(&mut killer, &at_server).is_some(), "others keep their numbers");
        let within = "SELECT COUNT(*) FROM information_schema.processlist WHERE id = CONNECTION_ID()";
        assert_eq!(killer.value(within), "1");
        killer.ok(format!("KILL {at_server}"));
        assert!(direct.is_closed_by_server());
        await_that("the server has let go of it", || {
            killer.query(format!("KILL {at_server}")).is_err_and(|failure| failure.server().code == 1094)
        });
        assert_eq!(killer.refused("KILL 4000000000").code, 1094);
        holder.ok("BEGIN");
        holder.ok("UPDATE t SET v = 'held' WHERE id = 1");
        let asleep = "SELECT id FROM information_schema.processlist WHERE command = 'Sleep' AND db = DATABASE() AND id <> CONNECTION_ID() ORDER BY time LIMIT 1";
        await_that("the server has it asleep", || !killer.table(asleep).is_empty());
        let thread = killer.value(asleep);
        killer.ok(format!("KILL CONNECTION {thread}"));
        assert!(holder.is_closed_by_server(), "a number of a connection that is held means its session");
    }
}

#[test]
fn a_server_decides_whom_its_user_may_kill() {
    let lab = servers::shared();
    let mut root = servers::primary(lab);
    let name = servers::fresh_name("u");
    root.ok(format!("CREATE USER {name} IDENTIFIED BY 'x'"));
    let account = crate::client::Login::new(&name, "x");
    let stage = Stage::with(Setup::default().user(user_row(&account, "")));
    let mut stranger = stage.proxy.client(&account);
    let id = root.value("SELECT CONNECTION_ID()");
    assert_eq!(stranger.refused(format!("KILL {id}")).code, 1095);
    assert_eq!(root.value("SELECT 1"), "1");
}

/// MySQL 9.7 takes no parameter there: "Dynamic parameters can only be used in DML statements".
#[test]
fn a_prepared_kill_with_a_parameter_kills() {
    let stage = Stage::plain();
    let mut killer = stage.client();
    let kill = killer.prepare("KILL ?").expect("it is prepared");
    for is_text in [false, true] {
        let mut victim = stage.client();
        let id = number(&mut victim);
        let value = match is_text {
            true => Value::Text(id.clone().into_bytes()),
            false => Value::Int(id.parse().expect("a number")),
        };
        killer.execute(&kill, &[value]).expect("it runs");
        assert!(victim.is_closed_by_server());
    }
    let mut victim = stage.client();
    let id = number(&mut victim);
    killer.ok("PREPARE k FROM 'KILL ?'");
    killer.ok(format!("SET @id = {id}"));
    killer.ok("EXECUTE k USING @id");
    assert!(victim.is_closed_by_server());
    killer.ok("SET @id = 4000000000");
    assert_eq!(killer.refused("EXECUTE k USING @id").code, 1094);
    killer.ok("SET @id = NULL");
    assert_eq!(killer.refused("EXECUTE k USING @id").code, 1094);
}

#[test]
fn killed_session_is_not_answered_from_the_cache_either() {
    let stage = Stage::caching();
    let mut killer = stage.client();
    for _ in 0..40 {
        let mut victim = stage.client();
        let id = number(&mut victim);
        for _ in 0..2 {
            victim.ok("SELECT v FROM t WHERE id = 1");
            victim.settle();
        }
        killer.ok(format!("KILL {id}"));
        assert!(victim.query("SELECT v FROM t WHERE id = 1").is_err());
    }
}

#[test]
fn kill_takes_what_a_server_takes() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        let (mut killer, mut victim) = (stage.client(), stage.client());
        killer.ok(format!("SET @k = {}", number(&mut victim)));
        killer.ok("KILL CONNECTION @k");
        assert!(victim.is_closed_by_server(), "{kind:?}");
        for nobody in ["-1", "NULL", "0", "@never_set"] {
            assert_eq!(killer.refused(format!("KILL {nobody}")).code, 1094, "{kind:?} {nobody}");
        }
        let seen = [killer, stage.primary()].map(|mut own| {
            let codes =
                ["KILL QUERY CONNECTION_ID()", "KILL CONNECTION_ID()"].map(|sql| own.refused(sql).code);
            assert!(own.is_closed_by_server());
            codes
        });
        assert_eq!(seen[0], seen[1], "{kind:?}");
    }
}

#[test]
fn a_prepared_kill_of_a_number_kills() {
    for kind in SERVERS {
        let stage = Stage::before_kind(kind, Setup::default());
        let (mut killer, mut first, mut second) = (stage.client(), stage.client(), stage.client());
        let fixed =
            killer.prepare(format!("KILL CONNECTION {}", number(&mut first))).expect("it is prepared");
        killer.execute(&fixed, &[]).expect("it runs");
        assert!(first.is_closed_by_server());
        killer.ok(format!("PREPARE k FROM 'KILL {}'", number(&mut second)));
        killer.ok("EXECUTE k");
        assert!(second.is_closed_by_server());
    }
}
