//! Two days at one server: what is answered otherwise on the second, although no table has changed, is never cached as exact.
//!
//! All functions that count as pure, and all operators, get columns and literals of every type (`expressions`). They are asked for on
//! two days (`SET timestamp`, which moves the day of a session); where the answers differ, the footprint must have refused. Views and
//! generated columns that hold such an expression must be unsuitable.

mod expressions;

use nuthatch_lab::Kind;
use nuthatch_sql::{Catalogue, Class, Lexing, NotExact, classify, read_footprint};

use crate::ALONE;
use crate::at_server::{AtServer, Distortion};
use crate::client::Client;
use expressions::{TABLES, expressions, statements};

const SCHEMA: &str = "two_days";

/// Between these days lie the dates of the tables. They are no whole number of weeks apart.
const DAYS: [&str; 2] = ["SET timestamp = 1577760000", "SET timestamp = 1616089590"];

#[test]
fn no_answer_that_differs_on_another_day_may_be_cached_on_mariadb() {
    check(Kind::MariaDb);
}

#[test]
fn no_answer_that_differs_on_another_day_may_be_cached_on_mysql() {
    check(Kind::MySql);
}

fn check(server: Kind) {
    let _alone = ALONE.lock();
    let mut at_server = AtServer::new(server, Distortion::default());
    let session = at_server.session();
    session.ok(format!("CREATE DATABASE {SCHEMA}"));
    session.init_db(SCHEMA).expect("the schema is there");
    TABLES.iter().for_each(|statement| drop(session.ok(statement)));
    let queries: Vec<String> =
        expressions().map(|one| format!("SELECT {one} FROM t")).chain(statements()).collect();
    let differing = differing(session, &queries);
    let (views, computed) = (make_views(session, &differing), make_columns(session));
    at_server.look();
    let (lexing, catalogue) = at_server.known();
    let is_cached = |query: &str| verdict(query, lexing, catalogue).is_ok();

    let wrong: Vec<_> = differing.iter().filter(|query| is_cached(query)).collect();
    assert!(wrong.is_empty(), "cached, and another on another day: {wrong:#?}");
    // Without a look at TIME each of them would be.
    let taken_for_pure = differing.iter().filter(|query| is_pure(query, lexing)).count();
    assert!(taken_for_pure > 500, "so few are no test: {taken_for_pure}");
    for (view, query) in differing.iter().take(views).enumerate() {
        assert!(!is_cached(&format!("SELECT * FROM v{view}")), "{query}");
    }
    for table in computed {
        assert!(!is_cached(&format!("SELECT * FROM {table}")), "{table}");
    }
    for query in expressions::STEADY {
        assert_eq!(verdict(query, lexing, catalogue), Ok(()), "{query}");
    }
}

fn verdict(query: &str, lexing: Lexing, catalogue: &Catalogue) -> Result<(), NotExact> {
    let class = Class::of(&classify(query.as_bytes(), lexing));
    read_footprint(query.as_bytes(), class, lexing, SCHEMA.as_bytes(), catalogue, &[]).map(drop)
}

fn is_pure(query: &str, lexing: Lexing) -> bool {
    let statement = classify(query.as_bytes(), lexing);
    statement.cache.is_ok() && statement.volatile.is_none()
}

/// Those that are answered differently on the two days.
fn differing(session: &mut Client, queries: &[String]) -> Vec<String> {
    let mut answers = |day: &str, queries: &[&String]| {
        session.ok(day);
        let answer = |query: &&String| session.query(query).ok().map(|answer| answer.rows);
        queries.iter().map(answer).collect::<Vec<_>>()
    };
    let all: Vec<_> = queries.iter().collect();
    let first = answers(DAYS[0], &all);
    let (taken, first): (Vec<_>, Vec<_>) =
        all.into_iter().zip(first).filter_map(|(query, rows)| Some((query, rows?))).unzip();
    let second = answers(DAYS[1], &taken);
    let pairs = taken.into_iter().zip(first.into_iter().zip(second));
    pairs
        .filter(|(_, (first, second))| Some(first) != second.as_ref())
        .map(|(query, _)| query.clone())
        .collect()
}

/// Makes a view of each that can be one, in a column of its own; says how many of the first there are.
fn make_views(session: &mut Client, queries: &[String]) -> usize {
    const VIEWS_MAX: usize = 150;
    let made = queries.iter().take(VIEWS_MAX).enumerate();
    for (number, query) in made {
        session.ok(format!("CREATE VIEW v{number} (x) AS {query}"));
    }
    queries.len().min(VIEWS_MAX)
}

/// Makes tables with a computed column that follows the date, and gives those that the server takes.
fn make_columns(session: &mut Client) -> Vec<String> {
    let kinds = [
        "TIMESTAMP(tm)",
        "CAST(tm AS DATETIME)",
        "IF(i, tm, dt)",
        "tm > dt",
        "DAYNAME(tm)",
        "DATE(SEC_TO_TIME(i))",
    ];
    let makes = |(number, expression): (usize, &&str)| {
        let table = format!("g{number}");
        let columns = format!(
            "id INT PRIMARY KEY, i INT, tm TIME, dt DATETIME, x VARCHAR(99) AS ({expression}) VIRTUAL"
        );
        session.query(format!("CREATE TABLE {table} ({columns})")).is_ok().then_some(table)
    };
    kinds.iter().enumerate().filter_map(makes).collect()
}
