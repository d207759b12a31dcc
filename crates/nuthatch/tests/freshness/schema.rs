//! The tables, and what is in them before anybody writes.
//!
//! `item` is written by key, `pair` together with `badge` by one statement, `badge` through its second unique key; the server gives
//! `arrival` its keys; DDL writes `altered`, `glance`, `side` and the comment of `told`; `legacy` is without transactions.

use crate::estate::{Estate, Group};
use crate::register::{Contents, GROUPS, Register, SIDE_ROWS, ids_of};

/// The version of every row at first.
const FIRST: i64 = 1;

/// Statements that make all.
pub(crate) fn statements() -> Vec<String> {
    let mut statements: Vec<String> = [
        "CREATE TABLE item (id INT PRIMARY KEY, grp INT NOT NULL, version BIGINT NOT NULL, KEY (grp))",
        "CREATE TABLE pair (id INT PRIMARY KEY, grp INT NOT NULL, version BIGINT NOT NULL, KEY (grp))",
        "CREATE TABLE badge (id INT PRIMARY KEY, code INT NOT NULL UNIQUE, version BIGINT NOT NULL)",
        "CREATE TABLE arrival (id BIGINT AUTO_INCREMENT PRIMARY KEY, version BIGINT NOT NULL)",
        "CREATE TABLE altered (id INT PRIMARY KEY, edition BIGINT NOT NULL DEFAULT 1)",
        "CREATE TABLE side (id INT PRIMARY KEY, version BIGINT NOT NULL)",
        "CREATE TABLE legacy (id INT PRIMARY KEY, version BIGINT NOT NULL) ENGINE=MyISAM",
        "CREATE TABLE told (id INT) COMMENT='1'",
        "CREATE VIEW glance AS SELECT id, grp, version, 1 AS edition FROM item",
    ]
    .map(str::to_owned)
    .to_vec();
    for group in 0..GROUPS {
        for id in ids_of(group) {
            statements.push(format!("INSERT INTO item VALUES ({id}, {group}, {FIRST})"));
            statements.push(format!("INSERT INTO pair VALUES ({id}, {group}, {FIRST})"));
            statements.push(format!("INSERT INTO badge VALUES ({id}, {id}, {FIRST})"));
        }
    }
    for id in 1..=SIDE_ROWS {
        statements.push(format!("INSERT INTO altered (id) VALUES ({id})"));
        statements.push(format!("INSERT INTO legacy VALUES ({id}, {FIRST})"));
    }
    statements
}

/// What is there.
pub(crate) fn contents() -> Contents {
    let mut contents: Contents = (0..GROUPS).flat_map(|group| Group::new(group).contents()).collect();
    contents.extend(
        [Register::Altered, Register::Glance, Register::Told].map(|register| (register, Some(FIRST))),
    );
    contents.extend((1..=SIDE_ROWS).map(|id| (Register::Legacy(id), Some(FIRST))));
    contents
}
