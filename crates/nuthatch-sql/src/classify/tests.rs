//! A table of statements and what they are and do.

use proptest::prelude::*;

use super::classify;
use crate::statement::{Effects, Kind, Name, PinReason, SetEffect, Statement, TransactionEnd};
use crate::token::{Lexing, ServerFlavor};

const MARIADB: Lexing = Lexing::of(ServerFlavor::MariaDb(101_106));
const MYSQL: Lexing = Lexing { server: ServerFlavor::MySql(80_036), ..MARIADB };

/// Kind, `ok` or the reason against caching, and every effect that is not the default one.
fn describe(statement: &Statement<'_>) -> String {
    let Effects {
        set,
        pin,
        unpin,
        reads_diagnostics,
        names_no_table: _,
        reads_insert_id,
        reads_found_rows,
        reads_row_count,
        reads_oracle_row_count,
        writes,
        ends_transaction,
        disconnects,
        runs_unseen_code,
        sets_by_hint,
    } = &statement.effects;
    let name = |name: &Name<'_>| String::from_utf8_lossy(&name.text()).into_owned();
    let mut words = vec![match statement.kind {
        Kind::Ddl(ddl) => format!("{ddl:?}"),
        kind => format!("{kind:?}"),
    }];
    words.extend(match statement.cache {
        Ok(()) => Some("ok".to_owned()),
        Err(crate::NotCacheable::NotSelect) => None,
        Err(reason) => Some(format!("{reason:?}")),
    });
    words.extend(statement.volatile.map(|reason| format!("volatile({reason})")));
    words.extend(match set {
        SetEffect::None => None,
        SetEffect::Autocommit(on) => Some(format!("autocommit={on}")),
        SetEffect::Names { charset, collation: None } => Some(format!("names={}", name(charset))),
        SetEffect::Names { charset, collation: Some(c) } => {
            Some(format!("names={}/{}", name(charset), name(c)))
        }
        SetEffect::Schema(schema) => Some(format!("schema={}", name(schema))),
        SetEffect::CharacterSet(charset) => Some(format!("charset={}", name(charset))),
        SetEffect::Unknown => Some("set?".to_owned()),
    });
    words.extend(pin.map(|reason| format!("+{reason:?}")));
    words.extend(unpin.map(|reason| format!("-{reason:?}")));
    for (flag, word) in [
        (reads_diagnostics, "diagnostics"),
        (reads_insert_id, "insert_id"),
        (reads_found_rows, "found_rows"),
        (reads_row_count, "row_count"),
        (reads_oracle_row_count, "or_found"),
        (writes, "writes"),
        (disconnects, "disconnects"),
        (runs_unseen_code, "unseen"),
        (sets_by_hint, "hint"),
    ] {
        words.extend(flag.then(|| word.to_owned()));
    }
    words.extend((*ends_transaction != TransactionEnd::No).then(|| format!("end={ends_transaction:?}")));
    words.join(" ")
}

#[track_caller]
fn check_all(lexing: Lexing, table: &str) {
    let mut wrong = Vec::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (query, expected) = line.rsplit_once("=>").expect("statement => description");
        let query = query.trim().replace("<nl>", "\n");
        let actual = describe(&classify(query.as_bytes(), lexing));
        if actual != expected.trim() {
            wrong.push(format!("{query}\n  expected {expected}\n  actual   {actual}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn function_apart_from_its_parenthesis_may_be_a_stored_one() {
    check_all(
        MARIADB,
        "SELECT count (*) FROM t => Select UnknownFunction writes unseen
        SELECT now () => Select UnknownFunction writes unseen
        UPDATE t SET a = trim/**/(3) => Update writes unseen",
    );
}

#[test]
fn plain_selects_are_cacheable() {
    check_all(MARIADB, PLAIN_SELECTS);
}

const PLAIN_SELECTS: &str = "SELECT 1 => Select ok
    select 1; => Select ok
    SELECT 1 ; ; => Select ok
    ; SELECT 1 => Select ok
    SELECT c FROM sbtest1 WHERE id=5 => Select ok
    SELECT c FROM sbtest1 WHERE id=? => Select ok
    SELECT c FROM sbtest1 WHERE id BETWEEN 1 AND 100 ORDER BY c => Select ok
    SELECT SUM(k) FROM sbtest1 WHERE id BETWEEN 1 AND 100 => Select ok
    SELECT DISTINCT c FROM sbtest1 WHERE id IN (1,2,3) => Select ok
    (SELECT 1) => Select ok
    ((SELECT 1)) LIMIT 1 => Select ok
    (SELECT 1) UNION (SELECT 2) => Select ok
    ( SELECT a FROM t ) UNION ALL ( SELECT b FROM u ) ORDER BY 1 => Select ok
    SELECT a FROM t UNION DISTINCT SELECT b FROM u => Select ok
    SELECT a FROM t EXCEPT (SELECT b FROM u) => Select ok
    WITH x AS (SELECT 1 AS a) SELECT * FROM x => Select ok
    WITH x (a, b) AS (SELECT 1, 2) SELECT a FROM x => Select ok
    WITH RECURSIVE x (n) AS (SELECT 1 UNION ALL SELECT n+1 FROM x WHERE n<5) SELECT n FROM x => Select ok
    WITH x AS (SELECT 1), `y` (b) AS (SELECT a FROM x) SELECT * FROM x, y => Select ok
    WITH x AS (SELECT 1) (SELECT * FROM x) => Select ok
    WITH x AS (SELECT 1) (SELECT COUNT(*) FROM x) ORDER BY MAX(1) => Select ok
    /* lead */ SELECT 1 => Select ok
    -- lead<nl>SELECT 1 => Select ok
    # lead<nl>SELECT 1 => Select ok
    SELECT 1 -- tail => Select ok
    SELECT 1 # tail => Select ok
    SELECT /*+ MAX_EXECUTION_TIME(100) */ a FROM t => Select ok
    SELECT STRAIGHT_JOIN a FROM t => Select ok
    SELECT HIGH_PRIORITY a FROM t => Select ok
    SELECT SQL_CACHE a FROM t => Select ok
    SELECT 'for update' => Select ok
    SELECT \"into outfile\" => Select ok
    SELECT 'it''s; DELETE FROM t' => Select ok
    SELECT 'a\\'; DELETE FROM t' => Select ok
    SELECT `for`, `into`, `lock` FROM `procedure` => Select ok
    SELECT t.for, t.into, t.lock FROM t => Select ok
    SELECT t . procedure FROM t => Select ok
    SELECT a FROM t USE INDEX FOR ORDER BY (i) WHERE a = 1 => Select ok
    SELECT a FROM t FORCE INDEX (i), u IGNORE INDEX FOR JOIN (j) => Select ok
    SELECT SUBSTRING(a FROM 1 FOR 2) FROM t => Select ok
    SELECT a AS b FROM t AS u => Select ok
    SELECT CAST(a AS CHAR(10)), CAST(b AS DECIMAL(10,2)), CONVERT(c, CHAR(5)) FROM t => Select ok
    SELECT a FROM (SELECT 1, 2) AS t (a, b) => Select ok
    SELECT a FROM (SELECT 1) AS `t` (a) => Select ok
    SELECT count(*), abs (1) FROM t WHERE id IN (1) => Select ok
    SELECT ROW_NUMBER() OVER (PARTITION BY a ORDER BY b) FROM t => Select ok
    SELECT SUM(a) OVER w FROM t WINDOW w AS (PARTITION BY b) => Select ok
    SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u) AND NOT (a IN (1)) => Select ok
    SELECT a FROM t JOIN u USING (id) LEFT JOIN v ON (v.id = t.id) => Select ok
    SELECT CASE WHEN (a) THEN (b) ELSE (c) END FROM t => Select ok
    SELECT a FROM t PARTITION (p0) => Select ok
    SELECT DATE_ADD(a, INTERVAL (1) DAY) FROM t => Select ok
    SELECT GROUP_CONCAT(a ORDER BY b SEPARATOR ',') FROM t GROUP BY (c) HAVING (COUNT(*) > 1) => Select ok
    SELECT a->'$.x', a->>'$.y' FROM t => Select ok
    SELECT JSON_TABLE(a, '$[*]' COLUMNS (b INT PATH '$')) FROM t => Select ok
    SELECT a FROM t WHERE b = ANY (SELECT 1) => Select ok
    SELECT \\N => Select ok
    SELECT {d '2020-01-01'} => Select ok
    SELECT x'4D', N'a', _utf8mb4'b', b'01', 0x4D => Select ok
    SELECT @@version => Select ok
    select @@version_comment limit 1 => Select ok
    SELECT @@VERSION, 1 => Select ok
    SELECT DATABASE(), VERSION(), CURRENT_USER() => Select ok
    SELECT * FROM t WHERE a = 'é' => Select ok
    SELECT été FROM t => Select ok
    SELECT a FROM t WHERE b IS NULL LIMIT 1 OFFSET 2 => Select ok
    SELECT a FROM t; -- tail => Select ok
    SELECT a FROM t; /* tail */ => Select ok
    SELECT 1 /*!99999 FOR UPDATE */ => Select ok
    SELECT /*!50701 SQL_NO_CACHE */ 1 => Select ok
    SELECT get_lock FROM t => Select ok
    SELECT uuid, now FROM t => Select ok
    SELECT value FROM t => Select ok
    SELECT 1 AS share => Select ok";

#[test]
fn volatile_results_are_named_but_not_refused() {
    check_all(
        MARIADB,
        "SELECT NOW() => Select ok volatile(now)
        SELECT RAND() => Select ok volatile(rand)
        SELECT SLEEP(1) => Select ok volatile(sleep)
        SELECT CURRENT_TIMESTAMP => Select ok volatile(the clock)
        SELECT CURRENT_TIMESTAMP(6) => Select ok volatile(the clock)
        SELECT a FROM t WHERE d < UTC_DATE => Select ok volatile(the clock)
        SELECT LOCALTIME => Select ok volatile(the clock)
        SELECT UNIX_TIMESTAMP() => Select ok volatile(unix_timestamp)
        SELECT UNIX_TIMESTAMP ( /* a */ ) FROM t => Select ok volatile(unix_timestamp)
        SELECT unix_timestamp(a), FROM_UNIXTIME(b, '%Y') FROM t => Select ok
        SELECT UNIX_TIMESTAMP(FROM_UNIXTIME(UNIX_TIMESTAMP())) => Select ok volatile(unix_timestamp)
        SELECT UNIX_TIMESTAMP(NOW()) => Select ok volatile(now)
        SELECT UNIX_TIMESTAMP(/*!99999 a */) FROM t => Select ok volatile(unix_timestamp)
        SELECT MATCH (a) AGAINST ('x' IN BOOLEAN MODE) FROM t => Select ok volatile(against)
        SELECT a FROM t WHERE MATCH a AGAINST ('x') => Select ok volatile(against)
        SELECT * FROM information_schema.tables => Select ok
        SELECT * FROM sys.metrics => Select ok volatile(a system schema)
        SELECT * FROM `mysql`.user => Select ok volatile(a system schema)
        SELECT * FROM Performance_Schema . threads => Select ok volatile(a system schema)
        SELECT sys FROM t => Select ok
        SELECT t.mysql FROM t => Select ok",
    );
}

#[test]
fn other_selects_are_not_cacheable() {
    check_all(MARIADB, OTHER_SELECTS);
}

const OTHER_SELECTS: &str = "SELECT a FROM t FOR UPDATE => Select Locking
    SELECT a FROM t for/**/update => Select Locking
    SELECT a FROM t FOR<nl>UPDATE NOWAIT => Select Locking
    SELECT a FROM t FOR SHARE SKIP LOCKED => Select Locking
    SELECT a FROM t LOCK IN SHARE MODE => Select Locking
    (SELECT a FROM t FOR UPDATE) UNION (SELECT 1) => Select Locking
    SELECT a FROM (SELECT a FROM t FOR UPDATE) AS d => Select Locking
    SELECT a FROM t /*!40101 FOR UPDATE */ => Select Locking
    SELECT a FROM t /*M! FOR UPDATE */ => Select Locking
    SELECT NEXT VALUE FOR s => Select Locking writes
    SELECT PREVIOUS VALUE FOR s => Select Locking writes
    SELECT s.nextval => Select Locking writes
    SELECT a FROM t WHERE b=.5FOR UPDATE => Select Locking
    SELECT a FROM t WHERE b=1e5FOR UPDATE => Select Locking
    SELECT CURRENT_ROLE => Select Function(\"current_role\")
    SELECT NEXTVAL(s) => Select Locking writes
    SELECT s.nextval FROM DUAL => Select Locking writes
    SELECT s . CURRVAL => Select Locking writes
    SELECT s.`currval` => Select Locking writes
    SELECT SQL%ROWCOUNT FROM DUAL => Select Function(\"row_count\") row_count or_found
    SELECT id, sql % rowcount FROM t => Select Function(\"row_count\") row_count or_found
    SELECT t.sql%7 FROM t => Select ok
    SELECT a FROM t WHERE ROWNUM < 2 => Select ok
    SELECT ROWNUM() FROM t => Select UnknownFunction writes unseen
    SELECT SYSDATE FROM DUAL => Select ok volatile(the clock)
    SELECT t.id FROM t, u WHERE t.id = u.id(+) => Select UnknownFunction writes unseen
    SELECT pkg.f() FROM DUAL => Select UnknownFunction writes unseen
    SELECT [id] FROM t => Select NotUnderstood writes
    SELECT /*+ SET_VAR(sort_buffer_size=1) MAX_EXECUTION_TIME(9) */ id FROM t => Select ok
    SELECT /* SET_VAR(sql_auto_is_null=1) */ id FROM t => Select ok
    BEGIN UPDATE t SET v=9; END => Other set? +SessionVariable writes unseen end=Maybe
    DECLARE x INT := 1; BEGIN UPDATE t SET v=9; END => Other set? +SessionVariable writes unseen end=Maybe
    SELECT SETVAL(s, 100) => Select Locking writes
    SELECT LASTVAL(s) => Select Locking writes
    SELECT a INTO OUTFILE '/tmp/x' FROM t => Select Into writes
    SELECT a FROM t INTO DUMPFILE '/tmp/x' => Select Into writes
    SELECT a INTO @x FROM t => Select Into +UserVariable
    SELECT a FROM t INTO x => Select Into writes
    SELECT @a => Select UserVariable
    SELECT @a:=1 => Select UserVariable +UserVariable
    SELECT @`a b` := 1 => Select UserVariable +UserVariable
    SELECT @'a' => Select UserVariable
    SELECT a FROM t, (SELECT @n := 0) AS r => Select UserVariable +UserVariable
    SELECT @@sql_mode => Select ok
    SELECT @@SESSION.sql_mode, @@local.time_zone => Select ok
    SELECT @@global.sql_mode => Select SystemVariable
    SELECT @@session . sql_mode => Select SystemVariable diagnostics insert_id
    SELECT @@sql_mode, @@autocommit => Select SystemVariable
    SELECT @@session.autocommit => Select SystemVariable
    SELECT @@global.version_comment => Select SystemVariable
    SELECT @@last_insert_id => Select SystemVariable insert_id
    SELECT @@identity => Select SystemVariable insert_id
    SELECT @@SESSION.Identity => Select SystemVariable insert_id
    SELECT @@session . identity => Select SystemVariable diagnostics insert_id
    SELECT @@`identity` => Select SystemVariable diagnostics insert_id
    SELECT @@warning_count => Select SystemVariable diagnostics
    SELECT @@local.error_count => Select SystemVariable diagnostics
    SELECT GET_LOCK('a', 1) => Select Function(\"get_lock\") +GetLock
    SELECT get_lock ('a', 1) => Select Function(\"get_lock\") +GetLock
    SELECT `get_lock`('a', 1) => Select Function(\"get_lock\") +GetLock
    SELECT RELEASE_LOCK('a') => Select Function(\"release_lock\")
    SELECT RELEASE_ALL_LOCKS() => Select Function(\"release_all_locks\") -GetLock
    SELECT IS_FREE_LOCK('a'), 1 => Select Function(\"is_free_lock\")
    SELECT IS_USED_LOCK('a') => Select Function(\"is_used_lock\")
    SELECT LAST_INSERT_ID() => Select Function(\"last_insert_id\") insert_id
    SELECT last_insert_id ( 5 ) => Select Function(\"last_insert_id\") insert_id
    SELECT LAST_INSERT_ID/**/() => Select Function(\"last_insert_id\") insert_id
    SELECT FOUND_ROWS() => Select Function(\"found_rows\") found_rows
    SELECT ROW_COUNT() => Select Function(\"row_count\") row_count
    SELECT CONNECTION_ID() => Select Function(\"connection_id\")
    SELECT UUID() => Select Function(\"uuid\")
    SELECT UUID_SHORT() => Select Function(\"uuid_short\")
    SELECT BENCHMARK(1, 1) => Select Function(\"benchmark\")
    SELECT LOAD_FILE('/x') => Select Function(\"load_file\")
    SELECT MASTER_POS_WAIT('a', 1) => Select Function(\"master_pos_wait\")
    SELECT SQL_CALC_FOUND_ROWS a FROM t LIMIT 1 => Select ok +FoundRows
    SELECT SQL_NO_CACHE a FROM t => Select SqlNoCache
    SELECT SQL_NO_CACHE(a) FROM t => Select SqlNoCache
    SELECT /*!40001 SQL_NO_CACHE */ * FROM t => Select SqlNoCache
    SELECT a FROM t PROCEDURE ANALYSE() => Select Procedure
    SELECT my_function(1) => Select UnknownFunction writes unseen
    SELECT db.concat(1) => Select UnknownFunction writes unseen
    SELECT `db`.`f` (1) => Select UnknownFunction writes unseen
    SELECT `concat`(1) => Select UnknownFunction writes unseen
    SELECT db.get_lock(1) => Select UnknownFunction writes unseen
    WITH x AS (SELECT f(1)) SELECT * FROM x => Select UnknownFunction writes unseen
    WITH x AS (SELECT 1) SELECT f(1) FROM x => Select UnknownFunction writes unseen
    WITH x AS (SELECT 1) (SELECT * FROM x) ORDER BY f(1) => Select UnknownFunction writes unseen
    WITH x AS (SELECT 1) SELECT * FROM x FOR UPDATE => Select Locking
    SELECT a FROM t FOR SYSTEM_TIME AS OF '2020-01-01' => Select SystemTime
    SELECT a FROM t FOR SYSTEM_TIME ALL => Select SystemTime
    SELECT [a] FROM t => Select NotUnderstood writes
    VALUES (1, 2) => Select
    VALUES ROW(1, 2), ROW(3, 4) => Select
    TABLE t => Select
    TABLE t INTO OUTFILE '/tmp/x' => Select writes
    TABLE t LIMIT 1 => Select
    (TABLE t) => Select
    WITH x AS (SELECT 1) TABLE x => Select";

#[test]
fn unfinished_or_unclear_text_is_distrusted() {
    check_all(
        MARIADB,
        "SELECT 'a => Select Unclosed set? +SessionVariable writes unseen end=Maybe
        SELECT \"a => Select Unclosed set? +SessionVariable writes unseen end=Maybe
        SELECT `a => Select Unclosed set? +SessionVariable writes unseen end=Maybe
        SELECT 1 /* a => Select Unclosed set? +SessionVariable writes unseen end=Maybe
        SELECT 1 /*!40101 a => Select Unclosed set? +SessionVariable writes unseen end=Maybe
        SELECT 1 /*! /*! FOR UPDATE */ => Select ExecutableComment set? +SessionVariable writes unseen end=Maybe",
    );
    check_all(
        MYSQL,
        "SELECT 1 /*!080036 FOR UPDATE */ => Select ExecutableComment set? +SessionVariable writes unseen end=Maybe
        SELECT 1 /*!90000 FOR UPDATE */ => Select ok
        SELECT 1 /*M! FOR UPDATE */ => Select ok
        SELECT 1 /*!80036 FOR UPDATE */ => Select Locking
        SELECT /*+ SET_VAR(sql_auto_is_null=1) */ id FROM t WHERE id IS NULL => Select Hint insert_id hint
        SELECT id FROM t WHERE id IN (SELECT /*+ set_var(sql_auto_is_null=1) */ id FROM t WHERE id IS NULL) => Select Hint insert_id hint
        SELECT /*+ SET_VAR(timestamp=1) */ id FROM t => Select Hint +SessionVariable hint
        INSERT /*+ SET_VAR(insert_id=1) */ INTO t VALUES () => Insert +SessionVariable writes hint
        SELECT /*+ SET_VAR(sql_mode='') */ id FROM t => Select ok hint",
    );
    let wide = Lexing { ascii_in_characters: true, ..MARIADB };
    let distrusted = "Select NotUnderstood set? +SessionVariable writes unseen end=Maybe";
    assert_eq!(describe(&classify(b"SELECT '\xbf\\' FOR UPDATE -- '", wide)), distrusted);
    assert_eq!(describe(&classify(b"SELECT '\xbf\x41'", wide)), "Select ok");
}

#[test]
fn quotes_follow_the_sql_mode() {
    let ansi = Lexing { ansi_quotes: true, ..MARIADB };
    check_all(
        ansi,
        "SELECT \"for\", \"into\" FROM \"t\" => Select ok
        SELECT \"get_lock\"('a', 1) => Select Function(\"get_lock\") +GetLock
        SELECT \"f\"(1) => Select UnknownFunction writes unseen
        SELECT \"a\\\" FOR UPDATE -- \" => Select Locking",
    );
    check_all(MARIADB, "SELECT \"a\\\" FOR UPDATE -- \" => Select ok");
    let no_escapes = Lexing { no_backslash_escapes: true, ..MARIADB };
    check_all(no_escapes, "SELECT 'a\\' FOR UPDATE -- ' => Select Locking");
}

#[test]
fn several_statements_are_multi() {
    check_all(
        MARIADB,
        "SELECT 1; SELECT 2 => Multi Multi
        SELECT 1; DELETE FROM t => Multi Multi writes
        SELECT 1;; DELETE FROM t; => Multi Multi writes
        SELECT 1 /*!40101 ; DELETE FROM t */ => Multi Multi writes
        BEGIN; SELECT 1; COMMIT => Multi Multi end=Maybe
        SAVEPOINT a; SELECT 1 => Multi Multi set? +SessionVariable
        CREATE TEMPORARY TABLE t (a INT); DO GET_LOCK('a', 0) => Multi Multi set? +TemporaryTable writes
        SET NAMES utf8; SET autocommit=0 => Multi Multi set? +SessionVariable
        SET NAMES utf8; SELECT 1 => Multi Multi set? +SessionVariable
        INSERT INTO t (a) VALUES (1); SELECT id FROM t WHERE ROW_COUNT() = 1 AND id = LAST_INSERT_ID() => Multi Multi insert_id writes
        SELECT ROW_COUNT(); SELECT 1 => Multi Multi row_count
        SELECT 1 FROM t; SELECT FOUND_ROWS() => Multi Multi
        DELETE FROM t; SELECT FOUND_ROWS() => Multi Multi found_rows writes
        SELECT 1; DO 1; SELECT FOUND_ROWS() => Multi Multi
        DO 1; SELECT 1; SELECT FOUND_ROWS() => Multi Multi
        DO 1; DO 2; SELECT FOUND_ROWS() => Multi Multi found_rows
        VALUES (1); SELECT FOUND_ROWS() => Multi Multi found_rows
        (VALUES (1)); SELECT FOUND_ROWS() => Multi Multi found_rows
        SELECT 1; SELECT SQL%ROWCOUNT, 2 => Multi Multi
        SHOW CREATE TABLE t; SELECT SQL%ROWCOUNT, 2 => Multi Multi found_rows
        SELECT SQL%ROWCOUNT; SELECT 1 => Multi Multi row_count or_found
        DELETE FROM t; SHOW WARNINGS => Multi Multi writes
        DO 1; SHOW WARNINGS => Multi Multi diagnostics
        USE a; SELECT LAST_INSERT_ID() => Multi Multi set? +SessionVariable insert_id
        CREATE TEMPORARY TABLE t (a INT); SELECT 1 => Multi Multi +TemporaryTable writes
        SELECT ';' => Select ok
        SELECT 1; 'a => Select Unclosed set? +SessionVariable writes unseen end=Maybe",
    );
}

#[test]
fn writes_are_writes() {
    check_all(
        MARIADB,
        "INSERT INTO t VALUES (1) => Insert writes
        insert into t (a, b) select 1, 2 => Insert writes
        INSERT INTO t VALUES (LAST_INSERT_ID()) => Insert insert_id writes
        INSERT INTO t VALUES (@a) => Insert writes
        INSERT INTO t VALUES (UUID()) => Insert volatile(uuid) writes
        INSERT INTO t VALUES (f(1)) => Insert writes unseen
        INSERT INTO d.t (a) VALUES (1) => Insert writes
        INSERT INTO `t` (a) SET a = f(1) => Insert writes unseen
        INSERT IGNORE user (a) SELECT f(1) => Insert writes unseen
        INSERT INTO t (a) VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(a) => Insert writes
        INSERT INTO t (a) VALUES (1) RETURNING id => Insert writes
        REPLACE INTO t VALUES (1) => Replace writes
        UPDATE t SET a = 1 WHERE id = 2 => Update writes
        UPDATE t SET a = LAST_INSERT_ID(a + 1) => Update insert_id writes
        DELETE FROM t => Delete writes
        DELETE a, b FROM a JOIN b USING (id) => Delete writes
        WITH x AS (SELECT 1) UPDATE t, x SET a = 1 => Update writes
        WITH x AS (SELECT 1) DELETE FROM t => Delete writes
        WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x => Insert writes
        WITH x AS (SELECT 1) nonsense => Other writes unseen end=Maybe
        /*!40000 DELETE FROM t */ => Delete writes
        /*!99999 DELETE FROM t */ => Empty
        /* c */ /*! DELETE */ FROM t => Delete writes
        CALL p(1) => Call writes unseen end=Maybe
        CALL p(@a) => Call +UserVariable writes unseen end=Maybe
        LOAD DATA INFILE '/x' INTO TABLE t => LoadData writes
        LOAD DATA LOCAL INFILE '/x' INTO TABLE t (@a) SET b = @a => LoadData +UserVariable writes
        LOAD XML INFILE '/x' INTO TABLE t => LoadData writes
        DO SLEEP(1) => Do volatile(sleep)
        DO GET_LOCK('a', 1) => Do +GetLock
        DO RELEASE_ALL_LOCKS() => Do -GetLock
        DO f(1) => Do writes unseen
        KILL 5 => Kill writes
        nonsense => Other writes unseen end=Maybe
        123 => Other writes unseen end=Maybe
        'text' => Other writes unseen end=Maybe
        `select` 1 => Other writes unseen end=Maybe
        SELECTED 1 => Other writes unseen end=Maybe
        GRANT SELECT ON *.* TO 'a'@'%' => Grant writes end=Implicit
        REVOKE ALL ON *.* FROM a@localhost => Grant writes end=Implicit
        OPTIMIZE TABLE t => Other writes end=Maybe
        ANALYZE TABLE t => Other writes end=Implicit
        ANALYZE LOCAL TABLE t => Other writes end=Implicit
        CHECKSUM TABLE t => Other writes end=Maybe
        SHUTDOWN => Other writes disconnects unseen end=Maybe",
    );
}

#[test]
fn schema_changes_end_the_transaction() {
    check_all(
        MARIADB,
        "CREATE TABLE t (a INT) => Create writes end=Implicit
        CREATE TABLE t (a INT, KEY k (a), FOREIGN KEY f (a) REFERENCES u (id)) => Create writes end=Implicit
        CREATE TABLE t (a INT) AS SELECT f(1) => Create writes unseen end=Implicit
        CREATE OR REPLACE TABLE t (a INT) => Create writes end=Implicit
        CREATE TEMPORARY TABLE t (a INT) => Create +TemporaryTable writes
        create /* c */ temporary table t (a INT) => Create +TemporaryTable writes
        CREATE /*!40000 TEMPORARY */ TABLE t (a INT) => Create +TemporaryTable writes
        CREATE OR REPLACE TEMPORARY TABLE t (a INT) => Create +TemporaryTable writes
        CREATE TEMPORARY SEQUENCE s => Create +TemporaryTable writes
        DROP TEMPORARY TABLE t => Drop writes
        DROP TABLE t => Drop writes end=Implicit
        DROP PREPARE s => Deallocate
        ALTER TABLE t ADD b INT => Alter writes end=Implicit
        TRUNCATE t => Truncate writes end=Implicit
        TRUNCATE TABLE t => Truncate writes end=Implicit
        RENAME TABLE a TO b => Rename writes end=Implicit
        CREATE DATABASE d => Create writes end=Implicit
        CREATE USER a@localhost IDENTIFIED BY 'x' => Create writes end=Implicit
        CREATE PROCEDURE p() BEGIN SELECT 1; DELETE FROM t; END => Create writes end=Maybe
        CREATE DEFINER=a@b TRIGGER x BEFORE INSERT ON t FOR EACH ROW BEGIN SET @a=1; END => Create writes end=Maybe
        CREATE OR REPLACE FUNCTION f() RETURNS INT RETURN 1 => Create writes end=Maybe",
    );
}

#[test]
fn transactions_begin_and_end() {
    check_all(
        MARIADB,
        "BEGIN => Begin end=Implicit
        begin; => Begin end=Implicit
        BEGIN WORK => Begin end=Implicit
        /* c */ BEGIN /* c */ => Begin end=Implicit
        START TRANSACTION => Begin end=Implicit
        START TRANSACTION READ ONLY => Begin end=Implicit
        START TRANSACTION READ WRITE => Begin end=Implicit
        START TRANSACTION WITH CONSISTENT SNAPSHOT => Begin end=Implicit
        START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY => Begin end=Implicit
        START TRANSACTION NONSENSE => Other writes unseen end=Maybe
        START SLAVE => Other writes unseen end=Maybe
        BEGIN NOT ATOMIC SELECT 1; END => Other set? +SessionVariable writes unseen end=Maybe
        BEGIN SELECT 1; END => Other set? +SessionVariable writes unseen end=Maybe
        IF 1 THEN SELECT 1; END IF => Other set? +SessionVariable writes unseen end=Maybe
        COMMIT => Commit end=Commit
        COMMIT; => Commit end=Commit
        COMMIT WORK => Commit end=Commit
        COMMIT AND CHAIN => Commit end=CommitAndChain
        COMMIT AND NO CHAIN => Commit end=Commit
        COMMIT AND NO CHAIN RELEASE => Commit disconnects end=Commit
        COMMIT WORK AND CHAIN NO RELEASE => Commit end=CommitAndChain
        COMMIT RELEASE => Commit disconnects end=Commit
        COMMIT NONSENSE => Other writes unseen end=Maybe
        ROLLBACK => Rollback end=Rollback
        ROLLBACK WORK => Rollback end=Rollback
        ROLLBACK AND CHAIN => Rollback end=RollbackAndChain
        ROLLBACK RELEASE => Rollback disconnects end=Rollback
        ROLLBACK TO SAVEPOINT x => Savepoint
        ROLLBACK TO x => Savepoint
        ROLLBACK WORK TO `x` => Savepoint
        SAVEPOINT x => Savepoint
        RELEASE SAVEPOINT x => Savepoint
        XA START 'x' => Xa +Xa writes end=Maybe
        XA COMMIT 'x' => Xa -Xa writes end=Maybe",
    );
}

#[test]
fn set_is_named_only_when_understood_whole() {
    check_all(
        MARIADB,
        "SET autocommit=0 => Set autocommit=false
        SET autocommit = 1 => Set autocommit=true
        SET AUTOCOMMIT := ON => Set autocommit=true
        SET `autocommit` = 0 => Set autocommit=false
        SET autocommit='off' => Set autocommit=false
        SET autocommit=TRUE; => Set autocommit=true
        SET @@autocommit=0 => Set autocommit=false
        SET @@session.autocommit = ON => Set autocommit=true
        SET @@LOCAL.autocommit=FALSE => Set autocommit=false
        SET SESSION autocommit=off => Set autocommit=false
        SET LOCAL autocommit=1 => Set autocommit=true
        /*!40101 SET autocommit=0 */ => Set autocommit=false
        SET autocommit=DEFAULT => Set set? +SessionVariable
        SET autocommit=2 => Set set? +SessionVariable
        SET autocommit='1' => Set set? +SessionVariable
        SET autocommit=1+0 => Set set? +SessionVariable
        SET autocommit=@a => Set set? +UserVariable
        SET autocommit=0, sql_mode='' => Set set? +SessionVariable
        SET autocommit => Set set? +SessionVariable
        SET GLOBAL autocommit=0 => Set
        SET @@global.autocommit=0 => Set
        SET PERSIST max_connections=5 => Set
        SET @@persist_only.x=5, GLOBAL y=(1,2) => Set
        SET GLOBAL a=1, b=2 => Set set? +SessionVariable
        SET GLOBAL a=1, SESSION b=2 => Set set? +SessionVariable
        SET GLOBAL a=1, @b=2 => Set set? +UserVariable
        SET global=1 => Set set? +SessionVariable
        SET NAMES utf8mb4 => Set names=utf8mb4
        SET NAMES utf8mb4 COLLATE utf8mb4_bin => Set names=utf8mb4/utf8mb4_bin
        SET NAMES 'utf8' => Set names=utf8
        SET NAMES \"latin1\" COLLATE 'latin1_bin' => Set names=latin1/latin1_bin
        set names `utf8`; => Set names=utf8
        SET NAMES binary => Set names=binary
        /*!40101 SET NAMES utf8 */ => Set names=utf8
        SET NAMES DEFAULT => Set names=DEFAULT
        SET NAMES DEFAULT COLLATE utf8mb4_bin => Set set? +SessionVariable
        SET NAMES utf8 COLLATE DEFAULT => Set set? +SessionVariable
        SET NAMES utf8, autocommit=1 => Set set? +SessionVariable
        SET NAMES => Set set? +SessionVariable
        SET NAMES ut\\f8 => Set set? +SessionVariable
        SET CHARACTER SET utf8 => Set charset=utf8
        SET CHARSET 'latin1' => Set charset=latin1
        SET CHARACTER SET DEFAULT => Set set? +SessionVariable
        SET @a = 1 => Set set? +UserVariable
        SET @a := GET_LOCK('x', 1) => Set set? +UserVariable
        SET sql_mode = '' => Set set? +SessionVariable
        SET @@session.time_zone='+00:00' => Set set? +SessionVariable
        SET SESSION sql_mode = CONCAT(@@sql_mode, ',ANSI') => Set set? +SessionVariable
        SET TRANSACTION ISOLATION LEVEL READ COMMITTED => Set set? +SessionVariable
        SET SESSION TRANSACTION READ ONLY => Set set? +SessionVariable
        SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE => Set
        SET PASSWORD = 'x' => Set writes end=Implicit
        SET PASSWORD FOR a@localhost = PASSWORD('x') => Set +UserVariable writes unseen end=Implicit
        SET DEFAULT ROLE r FOR a => Set writes end=Implicit
        SET ROLE r => Set set? +SessionVariable
        SET STATEMENT max_statement_time=1 FOR SELECT 1 => Set set? +SessionVariable writes end=Maybe
        SET a = f(1) => Set set? +SessionVariable writes unseen
        SET => Set set? +SessionVariable
        USE db => Use schema=db
        USE `db` => Use schema=db
        use `d``b`; => Use schema=d`b
        USE db nonsense => Use set? +SessionVariable
        USE => Use set? +SessionVariable",
    );
}

#[test]
fn what_reads_is_a_read_and_what_pins_pins() {
    check_all(
        MARIADB,
        " => Empty
        /* only */ -- comments => Empty
        ;; => Empty
        SHOW TABLES => Show ok
        SHOW FULL COLUMNS FROM t => Show ok
        SHOW TABLES FROM mysql => Show ok
        SHOW TABLES; SHOW TABLES => Multi Multi
        SHOW CREATE TABLE t => Show
        SHOW VARIABLES LIKE 'x' => Show
        SHOW TABLES WHERE f(1) => Show writes unseen
        SHOW WARNINGS => Show diagnostics
        SHOW COUNT(*) WARNINGS => Show diagnostics
        SHOW ERRORS LIMIT 1 => Show diagnostics
        EXPLAIN SELECT 1 => Explain
        EXPLAIN DELETE FROM t => Explain
        DESC t => Explain
        DESCRIBE t a => Explain
        EXPLAIN EXTENDED SELECT 1 => Explain
        EXPLAIN ANALYZE SELECT 1 => Explain
        EXPLAIN ANALYZE FORMAT=TREE SELECT 1 => Explain
        EXPLAIN ANALYZE DELETE FROM t => Explain writes
        EXPLAIN FORMAT=JSON ANALYZE UPDATE t SET a=1 => Explain writes
        ANALYZE SELECT 1 => Explain
        ANALYZE FORMAT=JSON SELECT 1 => Explain
        ANALYZE FORMAT=JSON DELETE FROM t => Explain writes
        ANALYZE UPDATE t SET a = 1 => Explain writes
        EXPLAIN SELECT f(1) => Explain writes unseen
        EXPLAIN FORMAT=JSON INTO @x SELECT 1 => Explain +UserVariable
        HELP 'x' => Other
        LOCK TABLES t READ => Lock +LockTables writes end=Implicit
        LOCK TABLE t WRITE => Lock +LockTables writes end=Implicit
        LOCK INSTANCE FOR BACKUP => Lock +Backup writes end=Maybe
        UNLOCK TABLES => Unlock -LockTables writes end=Maybe
        UNLOCK INSTANCE => Unlock -Backup writes end=Maybe
        FLUSH TABLES => Flush writes end=Implicit
        FLUSH PRIVILEGES => Flush writes end=Implicit
        FLUSH TABLES WITH READ LOCK => Flush +FlushTablesWithReadLock writes end=Implicit
        FLUSH LOCAL TABLES a, b WITH READ LOCK => Flush +FlushTablesWithReadLock writes end=Implicit
        FLUSH TABLES a FOR EXPORT => Flush +FlushTablesWithReadLock writes end=Implicit
        PREPARE s FROM 'DELETE FROM t' => Prepare +PreparedStatement
        EXECUTE s => Execute +PreparedStatement writes unseen end=Maybe
        EXECUTE s USING @a => Execute +PreparedStatement writes unseen end=Maybe
        EXECUTE IMMEDIATE 'DELETE FROM t' => Execute writes unseen end=Maybe
        DEALLOCATE PREPARE s => Deallocate
        HANDLER t OPEN => Handler +Handler
        HANDLER s.t OPEN AS a => Handler +Handler
        HANDLER close OPEN => Handler +Handler
        HANDLER t CLOSE; HANDLER t OPEN => Multi Multi +Handler
        HANDLER s.read OPEN => Handler +Handler
        HANDLER .close OPEN => Handler +Handler
        HANDLER .5 close OPEN => Handler +Handler
        HANDLER t /*!50000 CLOSE */ => Handler +Handler
        HANDLER t => Handler +Handler
        HANDLER t READ FIRST => Handler
        HANDLER `t` READ `k` = (5) LIMIT 2 => Handler
        HANDLER t CLOSE => Handler
        BACKUP STAGE START => Other +Backup writes end=Implicit
        GET DIAGNOSTICS @n = NUMBER => Other +UserVariable diagnostics writes end=Maybe
        GET CURRENT DIAGNOSTICS CONDITION f(1) @m = MESSAGE_TEXT => Other +UserVariable diagnostics writes unseen end=Maybe
        GET WHAT => Other diagnostics writes unseen end=Maybe",
    );
}

#[test]
fn the_first_word_is_found() {
    let word = |query: &str| classify(query.as_bytes(), MARIADB).first_word;
    assert_eq!(word("/* c */ SELECT 1"), 8..14);
    assert_eq!(word("((SELECT 1))"), 2..8);
    assert_eq!(word(""), 0..0);
    assert_eq!(word("123"), 0..0);
}

#[test]
fn long_runs_of_anything_need_no_stack() {
    for piece in ["/**/", "(", ")", ";", "/*!", "*/", "-- \n", "a ", "@", "'", "WITH a AS (", "SELECT 1;"] {
        let query = piece.repeat(100_000);
        let _ = classify(query.as_bytes(), MARIADB);
        let _ = classify(format!("SELECT 1 {query}").as_bytes(), MARIADB);
    }
}

proptest! {
    #[test]
    fn any_bytes_are_classified(query in any::<Vec<u8>>()) {
        let statement = classify(&query, MYSQL);
        prop_assert!(query.get(statement.first_word).is_some());
    }

    #[test]
    fn nothing_cacheable_writes(query in "(SELECT|select|WITH x AS|FOR|UPDATE|INTO|@a|@@v|f\\(|\\(|\\)|'|`|\"|/\\*!|/\\*|\\*/|-- |;|\n|a|,| |AS|LOCK|\\.|1){0,25}") {
        let statement = classify(query.as_bytes(), MARIADB);
        if statement.cache.is_ok() {
            prop_assert_eq!(statement.kind, Kind::Select);
            prop_assert!(!statement.effects.writes);
            prop_assert!(matches!(statement.effects.pin, None | Some(PinReason::FoundRows)));
        }
    }

    #[test]
    fn a_locking_clause_outside_quotes_is_always_seen(text in "[a-z0-9=, ]{0,20}", string in "[^'\\\\]{0,10}") {
        let query = format!("SELECT '{string}' FROM t WHERE x = 1 {text} FOR UPDATE");
        prop_assert!(classify(query.as_bytes(), MARIADB).cache.is_err());
    }
}

#[test]
#[should_panic(expected = "1 wrong")]
fn the_table_notices_a_wrong_row() {
    check_all(MARIADB, "SELECT 1 => Select ok\nSELECT a FROM t FOR UPDATE => Select ok");
}

#[test]
fn tables_are_seen_wherever_they_stand() {
    for (query, names_no_table) in [
        ("SELECT 1", true),
        ("SELECT 'from t', `from`, t.from, 1 /* from t */", true),
        ("SELECT 1 FROM DUAL", true),
        ("SELECT 1 FROM t", false),
        ("SELECT 1 FROM (SELECT 1) x", false),
        ("SELECT (SELECT a FROM t)", false),
        ("SET @a = (SELECT a FROM t)", false),
        ("SET @a = 1, sql_mode = ''", true),
        ("SET SESSION sql_mode = (SELECT a FROM t)", false),
        ("SET autocommit = (SELECT a FROM t)", false),
        ("DO (SELECT a FROM t)", false),
        ("BEGIN", true),
        ("SHOW WARNINGS", true),
        ("SHOW TABLES", false),
        ("INSERT INTO t VALUES (1)", false),
        ("TABLE t", false),
        ("VALUES (1), (2)", true),
        ("VALUES ((SELECT a FROM t))", false),
        ("EXPLAIN SELECT 1", true),
        ("DESC FORMAT=JSON (SELECT 1)", true),
        ("ANALYZE SELECT 1", true),
        ("EXPLAIN SELECT 1 FROM t", false),
        ("EXPLAIN UPDATE t SET a = (SELECT 1)", false),
        ("DESC t", false),
        ("CALL p()", false),
        ("SELECT 1; DO 2", true),
        ("SELECT 1; INSERT INTO t VALUES (1)", false),
    ] {
        assert_eq!(classify(query.as_bytes(), MARIADB).effects.names_no_table, names_no_table, "{query}");
    }
}
