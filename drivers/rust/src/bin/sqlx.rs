//! The scenario for sqlx.

use futures_util::TryStreamExt as _;
use nuthatch_drivers::{big, digest, env, lines, port, step};
use sqlx::mysql::{MySqlConnectOptions, MySqlConnection, MySqlDatabaseError, MySqlPoolOptions, MySqlRow, MySqlSslMode};
use sqlx::{Column as _, ConnectOptions as _, Connection as _, Either, Executor as _, Row as _, TypeInfo as _, ValueRef as _};

fn settings() -> MySqlConnectOptions {
    MySqlConnectOptions::new()
        .host(&env("DB_HOST"))
        .port(port("DB_PORT"))
        .username(&env("DB_USER"))
        .password(&env("DB_PASSWORD"))
        .database(&env("DB_NAME"))
        .ssl_mode(MySqlSslMode::Disabled)
}

async fn open() -> MySqlConnection {
    settings().connect().await.expect("it logs in")
}

fn told(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(refusal) => {
            let refusal = refusal.downcast_ref::<MySqlDatabaseError>();
            format!("error {} ({:?}): {}", refusal.number(), refusal.code(), refusal.message())
        }
        sqlx::Error::Io(_) => "connection lost".to_owned(),
        other => format!("driver: {other}"),
    }
}

/// Each value as sqlx has it from the server: its type, and its bytes.
fn row(row: &MySqlRow) -> String {
    let mut text = String::from("(");
    for (n, column) in row.columns().iter().enumerate() {
        let kind = column.type_info().name();
        match row.try_get_raw(n) {
            Ok(raw) if raw.is_null() => text += &format!("{kind} NULL, "),
            Ok(_) => match row.try_get_unchecked::<Vec<u8>, _>(n) {
                Ok(bytes) if bytes.len() > 400 => text += &format!("{kind} {}, ", digest(bytes)),
                Ok(bytes) => text += &format!("{kind} {:?}, ", bytes.escape_ascii().to_string()),
                Err(error) => text += &format!("{kind} {error}, "),
            },
            Err(error) => text += &format!("{kind} {error}, "),
        }
    }
    text + ") "
}

/// All results of a query that was not, or was prepared.
macro_rules! results {
    ($connection:expr, $query:expr) => {{
        let mut text = String::new();
        let mut stream = (&mut *$connection).fetch_many($query);
        loop {
            match stream.try_next().await {
                Ok(Some(Either::Left(done))) => text += &format!("{} rows, id {} | ", done.rows_affected(), done.last_insert_id()),
                Ok(Some(Either::Right(one))) => text += &row(&one),
                Ok(None) => break,
                Err(error) => {
                    text += &told(&error);
                    break;
                }
            }
        }
        text
    }};
}

async fn ask(connection: &mut MySqlConnection, statements: &[&str]) -> String {
    let mut text = String::new();
    for sql in statements {
        text += &results!(connection, *sql);
        text += " || ";
    }
    text
}

async fn once(statements: &[&str]) -> String {
    let mut connection = open().await;
    let text = ask(&mut connection, statements).await;
    connection.close().await.ok();
    text
}

async fn run(statements: &[&str]) {
    let mut connection = open().await;
    for sql in statements {
        (&mut connection).execute(*sql).await.expect("the tables can be made");
    }
    connection.close().await.ok();
}

async fn values() {
    for line in lines("types.tsv") {
        let [kind, low, high] = line.split('\t').collect::<Vec<_>>().try_into().expect("three fields");
        run(&["DROP TABLE IF EXISTS v", &format!("CREATE TABLE v (n INT, a {kind})"), &format!("INSERT INTO v VALUES (1, {low}), (2, {high}), (3, NULL)")]).await;
        step(&format!("text {kind}"), once(&["SELECT a, a IS NULL AS n FROM v ORDER BY v.n"])).await;
        step(&format!("binary {kind}"), async {
            let mut connection = open().await;
            results!(&mut connection, sqlx::query("SELECT a, a IS NULL AS n FROM v WHERE v.n > ? ORDER BY v.n").bind(0))
        })
        .await;
    }
    step("NULLs", once(&["SELECT NULL, 1, NULL, '', NULL", "SELECT NULL FROM DUAL WHERE 0"])).await;
}

async fn big_packets() {
    run(&["DROP TABLE IF EXISTS b", "CREATE TABLE b (a LONGTEXT)"]).await;
    step("20 MiB written, prepared", async {
        let mut connection = open().await;
        let written = results!(&mut connection, sqlx::query("INSERT INTO b VALUES (?)").bind(big()));
        written + &ask(&mut connection, &["SELECT LENGTH(a), SHA2(a, 256) FROM b"]).await
    })
    .await;
    step("20 MiB read", once(&["SELECT a FROM b"])).await;
}

async fn statements() {
    run(&["DROP TABLE IF EXISTS p", "CREATE TABLE p (n INT PRIMARY KEY, a VARCHAR(20))"]).await;
    step("prepared, executed often", async {
        let mut connection = open().await;
        let mut text = String::new();
        for n in 0..50 {
            let value = (n % 5 != 0).then(|| format!("row {n}"));
            text += &results!(&mut connection, sqlx::query("INSERT INTO p VALUES (?, ?)").bind(n).bind(value));
        }
        for n in [1, 5, 49, 50] {
            text += &results!(&mut connection, sqlx::query("SELECT n, a FROM p WHERE n = ?").bind(n));
        }
        text
    })
    .await;
    step("prepared, table altered between", async {
        let mut connection = open().await;
        let mut text = String::new();
        // A column that is dropped would make sqlx panic: it keeps those of the first execution.
        for change in ["DO 1", "ALTER TABLE p MODIFY a TEXT", "DROP TABLE p"] {
            ask(&mut connection, &[change]).await;
            text += &results!(&mut connection, sqlx::query("SELECT n, a FROM p WHERE n = ?").bind(1));
        }
        text
    })
    .await;
    step("more prepared than are kept", async {
        let mut connection = settings().statement_cache_capacity(20).connect().await.expect("it logs in");
        let mut text = String::new();
        for turn in 0..2 {
            for n in 0..100 {
                let sql = format!("SELECT ? + {n}");
                text += &results!(&mut connection, sqlx::query(&sql).bind(turn * 1000));
            }
        }
        text + &format!("{} kept", connection.cached_statements_size())
    })
    .await;
    run(&[
        "DROP PROCEDURE IF EXISTS two",
        "CREATE PROCEDURE two(IN a INT) BEGIN SELECT a, 'one'; SELECT NULL AS x UNION SELECT a + 1; DO 1; END",
        "DROP PROCEDURE IF EXISTS fails",
        "CREATE PROCEDURE fails() BEGIN SELECT 'before'; SELECT * FROM missing; SELECT 'after'; END",
        "DROP TABLE IF EXISTS s",
        "CREATE TABLE s (n INT AUTO_INCREMENT PRIMARY KEY, a INT)",
    ])
    .await;
    step("CALL with two results", once(&["CALL two(7)", "SELECT 'next'"])).await;
    step("CALL with an error after a result", once(&["CALL fails()", "SELECT 'next'"])).await;
    step("several statements", once(&["INSERT INTO s VALUES (NULL, 1), (NULL, 2); SELECT * FROM s; UPDATE s SET a = 3; SELECT a FROM s"])).await;
    step("several statements, the second wrong", once(&["SELECT 1; SELECT * FROM missing; SELECT 3", "SELECT 4"])).await;
}

async fn transactions() {
    for (name, inner, outer) in [("commit", true, true), ("rollback", true, false), ("rollback to savepoint", false, true)] {
        step(name, async {
            run(&["DROP TABLE IF EXISTS t", "CREATE TABLE t (n INT PRIMARY KEY)"]).await;
            let mut connection = open().await;
            let mut transaction = connection.begin().await.expect("it begins");
            let mut text = ask(&mut transaction, &["INSERT INTO t VALUES (1)"]).await;
            let mut nested = transaction.begin().await.expect("the savepoint is set");
            text += &ask(&mut nested, &["INSERT INTO t VALUES (2)", "INSERT INTO t VALUES (2)", "SELECT @@in_transaction"]).await;
            let ended = if inner { nested.commit().await } else { nested.rollback().await };
            text += &format!("{:?} ", ended.map_err(|error| told(&error)));
            let ended = if outer { transaction.commit().await } else { transaction.rollback().await };
            text + &format!("{:?} ", ended.map_err(|error| told(&error))) + &once(&["SELECT n FROM t"]).await
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
    for (name, wrong) in [("login with a wrong password", settings().password("wrong")), ("login to an unknown schema", settings().database("missing"))] {
        step(name, async { wrong.connect().await.map_or_else(|error| told(&error), |_| "let in".to_owned()) }).await;
    }
}

async fn sessions() {
    step("pool, 20 workers on 5 connections", async {
        run(&["DROP TABLE IF EXISTS w", "CREATE TABLE w (worker INT, n INT, PRIMARY KEY (worker, n))"]).await;
        let pool = MySqlPoolOptions::new().max_connections(5).connect_with(settings()).await.expect("the pool is made");
        let workers = (0..20).map(|worker| {
            let pool = pool.clone();
            tokio::spawn(async move {
                for n in 0..10 {
                    let mut transaction = pool.begin().await?;
                    sqlx::query("INSERT INTO w VALUES (?, ?)").bind(worker).bind(n).execute(&mut *transaction).await?;
                    if n % 2 == 0 {
                        transaction.commit().await?;
                    }
                }
                Ok::<(), sqlx::Error>(())
            })
        });
        let mut text = String::new();
        for worker in workers.collect::<Vec<_>>() {
            if let Ok(Err(error)) = worker.await {
                text += &told(&error);
            }
        }
        pool.close().await;
        text + &once(&["SELECT COUNT(*), CAST(SUM(worker) AS SIGNED), CAST(SUM(n) AS SIGNED) FROM w"]).await
    })
    .await;
    step("a stream dropped in the middle", async {
        let mut connection = open().await;
        let first = {
            let mut stream = sqlx::query("SELECT a.n FROM (SELECT 1 AS n UNION SELECT 2 UNION SELECT 3) AS a ORDER BY 1").fetch(&mut connection);
            stream.try_next().await.ok().flatten().map(|one| row(&one))
        };
        format!("{first:?} {}", ask(&mut connection, &["SELECT 'next'"]).await)
    })
    .await;
    step("ping", async { format!("{:?}", open().await.ping().await.map_err(|error| told(&error))) }).await;
}

async fn transports() {
    let tls = settings().port(port("DB_TLS_PORT")).ssl_mode(MySqlSslMode::VerifyCa).ssl_ca(env("DB_CA"));
    step("TLS", async {
        match tls.connect().await {
            Ok(mut connection) => ask(&mut connection, &["SELECT REPEAT('t', 1000000)"]).await,
            Err(error) => told(&error),
        }
    })
    .await;
}

#[tokio::main]
async fn main() {
    values().await;
    big_packets().await;
    statements().await;
    transactions().await;
    sessions().await;
    transports().await;
}
