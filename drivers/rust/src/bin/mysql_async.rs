//! The scenario for mysql_async.

use futures_util::{FutureExt as _, StreamExt as _};
use mysql_async::prelude::*;
use mysql_async::{
    ChangeUserOpts, Column, Conn, Error, Opts, OptsBuilder, Pool, PoolConstraints, PoolOpts, Row, SslOpts, TxOpts, Value,
};
use nuthatch_drivers::{big, digest, env, lines, port, step};

fn settings() -> OptsBuilder {
    OptsBuilder::default()
        .ip_or_hostname(env("DB_HOST"))
        .tcp_port(port("DB_PORT"))
        .user(Some(env("DB_USER")))
        .pass(Some(env("DB_PASSWORD")))
        .db_name(Some(env("DB_NAME")))
        .prefer_socket(false)
        .max_allowed_packet(Some(64 << 20))
}

async fn open() -> Conn {
    Conn::new(settings()).await.expect("it logs in")
}

fn told(error: &Error) -> String {
    match error {
        Error::Server(refusal) => format!("error {} ({}): {}", refusal.code, refusal.state, refusal.message),
        Error::Io(_) => "connection lost".to_owned(),
        other => format!("driver: {other}"),
    }
}

fn columns(columns: &[Column]) -> String {
    columns.iter().take(50).map(|c| format!("{} {:?} {:?} {} {} {}; ", c.name_str(), c.column_type(), c.flags(), c.column_length(), c.character_set(), c.decimals())).collect()
}

fn row(row: Row) -> String {
    let values = row.unwrap_raw().into_iter().map(|value| match value {
        Some(Value::Bytes(bytes)) if bytes.len() > 400 => digest(bytes),
        Some(Value::Bytes(bytes)) => String::from_utf8(bytes).unwrap_or_else(|error| format!("{:?}", error.into_bytes())),
        Some(other) => format!("{other:?}"),
        None => "taken".to_owned(),
    });
    format!("({}) ", values.collect::<Vec<_>>().join(", "))
}

/// All results of a query or statement.
macro_rules! results {
    ($outcome:expr) => {
        match $outcome {
            Err(error) => told(&error),
            Ok(mut result) => {
                let mut text = String::new();
                loop {
                    text += &format!("[{}] ", columns(result.columns_ref()));
                    match result.collect::<Row>().await {
                        Ok(rows) => text.extend(rows.into_iter().map(row)),
                        Err(error) => {
                            text += &told(&error);
                            break;
                        }
                    }
                    text += &format!("{} rows, id {:?}, {} warnings, {:?} | ", result.affected_rows(), result.last_insert_id(), result.warnings(), result.info());
                    if result.is_empty() {
                        break;
                    }
                }
                text
            }
        }
    };
}

async fn ask(connection: &mut Conn, statements: &[&str]) -> String {
    let mut text = String::new();
    for sql in statements {
        text += &results!(connection.query_iter(*sql).await);
        text += " || ";
    }
    text
}

async fn once(statements: &[&str]) -> String {
    let mut connection = open().await;
    let text = ask(&mut connection, statements).await;
    connection.disconnect().await.ok();
    text
}

async fn run(statements: &[&str]) {
    let mut connection = open().await;
    for sql in statements {
        connection.query_drop(*sql).await.expect("the tables can be made");
    }
    connection.disconnect().await.ok();
}

async fn execute(connection: &mut Conn, sql: &str, values: Vec<Value>) -> String {
    results!(connection.exec_iter(sql, values).await)
}

async fn values() {
    for line in lines("types.tsv") {
        let [kind, low, high] = line.split('\t').collect::<Vec<_>>().try_into().expect("three fields");
        run(&["DROP TABLE IF EXISTS v", &format!("CREATE TABLE v (n INT, a {kind})"), &format!("INSERT INTO v VALUES (1, {low}), (2, {high}), (3, NULL)")]).await;
        step(&format!("text {kind}"), once(&["SELECT a, a IS NULL AS n FROM v ORDER BY v.n"])).await;
        step(&format!("binary {kind}"), async {
            execute(&mut open().await, "SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n", vec![0.into()]).await
        })
        .await;
    }
    step("NULLs", once(&["SELECT NULL, 1, NULL, '', NULL", "SELECT NULL FROM DUAL WHERE 0"])).await;
}

async fn big_packets() {
    run(&["DROP TABLE IF EXISTS b", "CREATE TABLE b (a LONGTEXT)"]).await;
    step("20 MiB written", async {
        let mut connection = open().await;
        let written = ask(&mut connection, &[&format!("INSERT INTO b VALUES ('{}')", big())]).await;
        written + &ask(&mut connection, &["SELECT LENGTH(a), SHA2(a, 256) FROM b"]).await
    })
    .await;
    step("20 MiB read", once(&["SELECT a FROM b"])).await;
    step("20 MiB both ways, prepared", async { execute(&mut open().await, "SELECT CONCAT(?, a) FROM b", vec![big().into()]).await }).await;
}

async fn statements() {
    run(&["DROP TABLE IF EXISTS p", "CREATE TABLE p (n INT PRIMARY KEY, a VARCHAR(20))"]).await;
    step("prepared, executed often", async {
        let mut connection = open().await;
        let rows = (0..50).map(|n: i32| (n, (n % 5 != 0).then(|| format!("row {n}"))));
        let batch = connection.exec_batch("INSERT INTO p VALUES (?, ?)", rows).await;
        let mut text = format!("{:?} ", batch.map_err(|error| told(&error)));
        for n in [1, 5, 49, 50] {
            text += &execute(&mut connection, "SELECT n, a FROM p WHERE n = ?", vec![n.into()]).await;
        }
        text
    })
    .await;
    step("prepared, table altered between", async {
        let mut connection = open().await;
        let statement = connection.prep("SELECT * FROM p WHERE n = ?").await.expect("it is prepared");
        let mut text = String::new();
        for change in ["DO 1", "ALTER TABLE p ADD b DOUBLE DEFAULT 1.5", "ALTER TABLE p MODIFY a TEXT", "DROP TABLE p"] {
            ask(&mut connection, &[change]).await;
            text += &results!(connection.exec_iter(&statement, (1,)).await);
        }
        text
    })
    .await;
    step("200 prepared at once", async {
        let mut connection = Conn::new(settings().stmt_cache_size(300)).await.expect("it logs in");
        let mut text = String::new();
        for turn in 0..2 {
            for n in 0..200 {
                let value: Option<i64> = connection.exec_first(format!("SELECT ? + {n}"), (turn * 1000,)).await.unwrap_or(None);
                text += &format!("{value:?} ");
            }
        }
        text
    })
    .await;
    run(&[
        "DROP PROCEDURE IF EXISTS two",
        "CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; DO 1; END",
        "DROP PROCEDURE IF EXISTS fails",
        "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END",
    ])
    .await;
    step("CALL with two results", once(&["CALL two(7)", "SELECT 'next'"])).await;
    step("CALL, prepared", async { execute(&mut open().await, "CALL two(?)", vec![7.into()]).await }).await;
    step("CALL with an error after a result", once(&["CALL fails()", "SELECT 'next'"])).await;
    run(&["DROP TABLE IF EXISTS s", "CREATE TABLE s (n INT AUTO_INCREMENT PRIMARY KEY, a INT)"]).await;
    step("several statements", once(&["INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s"])).await;
    step("several statements, the second wrong", once(&["SELECT 1; SELECT * FROM missing; SELECT 3", "SELECT 4"])).await;
}

async fn transactions() {
    for commit in [true, false] {
        step(if commit { "commit" } else { "rollback" }, async {
            run(&["DROP TABLE IF EXISTS t", "CREATE TABLE t (n INT PRIMARY KEY)"]).await;
            let mut connection = open().await;
            let mut transaction = connection.start_transaction(TxOpts::default()).await.expect("it begins");
            let mut text = String::new();
            for sql in ["INSERT INTO t VALUES (1)", "SAVEPOINT a", "INSERT INTO t VALUES (2)", "ROLLBACK TO a", "INSERT INTO t VALUES (1)"] {
                text += &format!("{:?} ", transaction.query_drop(sql).await.map_err(|error| told(&error)));
            }
            let ended = if commit { transaction.commit().await } else { transaction.rollback().await };
            text + &format!("{:?}", ended.map_err(|error| told(&error))) + &once(&["SELECT n FROM t"]).await
        })
        .await;
    }
    run(&["DROP TABLE IF EXISTS i", "CREATE TABLE i (n INT AUTO_INCREMENT PRIMARY KEY, a INT UNIQUE, b VARCHAR(3))"]).await;
    let changes = ["INSERT INTO i (a) VALUES (1), (2)", "UPDATE i SET a = a", "UPDATE i SET b = 'x' WHERE a = 1", "REPLACE INTO i (a) VALUES (2)", "SELECT ROW_COUNT()", "SELECT LAST_INSERT_ID()"];
    step("counts", once(&changes)).await;
    step("warnings", once(&["SELECT 1/0", "SHOW WARNINGS", "DROP TABLE IF EXISTS missing", "SHOW WARNINGS"])).await;
    run(&["DROP TABLE IF EXISTS e", "CREATE TABLE e (n INT NOT NULL PRIMARY KEY, a VARCHAR(10))", "INSERT INTO e VALUES (1, 'one')"]).await;
    for sql in lines("errors.sql") {
        step(&format!("error of {sql}"), once(&[&sql])).await;
    }
    for (name, wrong) in [("login with a wrong password", settings().pass(Some("wrong"))), ("login to an unknown schema", settings().db_name(Some("missing")))] {
        step(name, async { Conn::new(wrong).await.map_or_else(|error| told(&error), |_| "let in".to_owned()) }).await;
    }
}

async fn sessions() {
    step("streamed, read in part", async {
        let mut connection = open().await;
        let mut text = String::new();
        {
            let mut stream = connection
                .query_stream::<i64, _>("SELECT a.n FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS a ORDER BY 1")
                .await
                .expect("it is asked");
            text += &format!("{:?} ", stream.next().await.and_then(Result::ok));
        }
        text + &ask(&mut connection, &["SELECT 'next'"]).await
    })
    .await;
    step("pool, 20 workers on 5 connections", async {
        run(&["DROP TABLE IF EXISTS w", "CREATE TABLE w (worker INT, n INT, PRIMARY KEY (worker, n))"]).await;
        let limits = PoolOpts::default().with_constraints(PoolConstraints::new(1, 5).expect("1 is below 5"));
        let pool = Pool::new(settings().pool_opts(limits));
        let workers = (0..20).map(|worker| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let mut connection = pool.get_conn().await?;
                    connection.exec_drop("SET @worker = ?", (worker,)).await?;
                    connection.exec_drop("INSERT INTO w VALUES (@worker, ?)", (n,)).await?;
                }
                Ok::<(), Error>(())
            })
        });
        let mut text = String::new();
        for worker in workers.collect::<Vec<_>>() {
            if let Ok(Err(error)) = worker.await {
                text += &told(&error);
            }
        }
        pool.disconnect().await.ok();
        text + &once(&["SELECT COUNT(*), SUM(worker), SUM(n) FROM w"]).await
    })
    .await;
    let state = "SELECT DATABASE(), SUBSTRING_INDEX(USER(), '@', 1), @a, @@sql_mode = '', @@autocommit";
    let soil = "SET @a = 1; SET sql_mode = ''; SET autocommit = 0";
    step("reset connection", async {
        let mut connection = open().await;
        ask(&mut connection, &[soil]).await;
        let done = connection.reset().await.map_err(|error| told(&error));
        format!("{done:?} {}", ask(&mut connection, &[state]).await)
    })
    .await;
    step("change user", async {
        let mut connection = open().await;
        ask(&mut connection, &[soil]).await;
        let other = ChangeUserOpts::new().with_user(Some(env("DB_OTHER_USER"))).with_pass(Some(env("DB_OTHER_PASSWORD"))).with_db_name(Some("information_schema".to_owned()));
        match connection.change_user(other).await {
            Ok(()) => ask(&mut connection, &[state]).await,
            Err(error) => told(&error),
        }
    })
    .await;
    step("KILL QUERY", async {
        let (mut victim, mut killer) = (open().await, open().await);
        let id = victim.id();
        let sleep = tokio::spawn(async move { ask(&mut victim, &["SELECT SLEEP(2), 'victim'"]).await });
        let running = "SELECT COUNT(*) FROM information_schema.processlist WHERE info = 'SELECT SLEEP(2), ''victim'''";
        for _ in 0..500 {
            if killer.query_first::<i64, _>(running).await.ok().flatten() == Some(1) {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        let killed = ask(&mut killer, &[&format!("KILL QUERY {id}")]).await;
        killed + &sleep.await.unwrap_or_default()
    })
    .await;
    step("ping", async { format!("{:?}", open().await.ping().await.map_err(|error| told(&error))) }).await;
    step("server version", async { format!("{:?}", open().await.server_version()) }).await;
}

async fn transports() {
    run(&["DROP TABLE IF EXISTS f", "CREATE TABLE f (n INT, a VARCHAR(20))"]).await;
    let load = format!("LOAD DATA LOCAL INFILE '{}/infile.csv' INTO TABLE f FIELDS TERMINATED BY ','", env("DB_SCENARIO"));
    step("LOAD DATA LOCAL INFILE", async {
        let mut connection = open().await;
        connection.set_infile_handler(async {
            let data = tokio::fs::read(format!("{}/infile.csv", env("DB_SCENARIO"))).await?;
            Ok(futures_util::stream::iter([Ok(data.into())]).boxed())
        });
        ask(&mut connection, &[&load, "SELECT * FROM f"]).await
    })
    .await;
    step("LOAD DATA LOCAL INFILE, not allowed", once(&[&load])).await;
    let opened = |opts: OptsBuilder, sql: &'static str| async move {
        match Conn::new(Opts::from(opts)).await {
            Ok(mut connection) => ask(&mut connection, &[sql]).await,
            Err(error) => told(&error),
        }
    };
    let authority = std::path::PathBuf::from(env("DB_CA"));
    let tls = SslOpts::default().with_root_certs(vec![authority.into()]);
    step("TLS", opened(settings().ssl_opts(tls).tcp_port(port("DB_TLS_PORT")), "SELECT REPEAT('t', 1000000)")).await;
    let fast = settings().compression(mysql_async::Compression::fast()).tcp_port(port("DB_COMPRESSION_PORT"));
    step("compression", opened(fast, "SELECT REPEAT('c', 4000000)")).await;
}

#[tokio::main]
async fn main() {
    values().await;
    big_packets().await;
    statements().await;
    transactions().await;
    sessions().boxed().await;
    transports().await;
}
