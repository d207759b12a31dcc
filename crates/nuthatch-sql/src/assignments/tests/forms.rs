//! The forms that the grammar allows, and what is not understood. What MariaDB 10.11 and 11.8 and MySQL 9.7 make of each was
//! asked of them.

use super::{MARIADB, MYSQL, check_all, list_of, shown};
use crate::assignments::{Assignment, Value};
use crate::token::Lexing;

#[test]
fn a_scope_keyword_holds_up_to_the_next_and_one_after_at_signs_for_its_own_only() {
    for lexing in [MARIADB, MYSQL] {
        check_all(
            lexing,
            "
            SET a = 1, @@session.b = 2, @@c = 3, SESSION d = x, LOCAL e = 'y', @u := 3, @v = 'x' => a=1; b=2; c=3; d=w:x; e='y'; @u=3; @v='x'
            SET GLOBAL a = 1, b = 2 => Global a=1; Global b=2
            SET GLOBAL a = 1, @u = 5, b = 2 => Global a=1; @u=5; Global b=2
            SET GLOBAL a = 1, @@b = 2, c = 3 => Global a=1; b=2; Global c=3
            SET GLOBAL a = 1, @@session.b = 2, c = 3 => Global a=1; b=2; Global c=3
            SET GLOBAL a = 1, SESSION b = 2, c = 3 => Global a=1; b=2; c=3
            SET GLOBAL a = 1, NAMES latin1, b = 2 => Global a=1; names latin1; Global b=2
            SET @@global.a = 1, b = 2 => Global a=1; b=2
            SET a = 1, GLOBAL b = 2, LOCAL c = 3 => a=1; Global b=2; c=3
            SET PERSIST a = 1, b = 2, SESSION c = 3 => Persist a=1; Persist b=2; c=3
            SET GLOBAL TRANSACTION ISOLATION LEVEL SERIALIZABLE => Global transaction_isolation='SERIALIZABLE'
            SET LOCAL TRANSACTION READ ONLY => transaction_read_only=1",
        );
    }
}

#[test]
fn transactions_have_a_scope_of_their_own() {
    for lexing in [MARIADB, MYSQL] {
        check_all(
            lexing,
            "
            SET @@tx_isolation = 'SERIALIZABLE' => next transaction_isolation='SERIALIZABLE'
            SET @@transaction_isolation = 'SERIALIZABLE' => next transaction_isolation='SERIALIZABLE'
            SET @@`transaction_read_only` = 1 => next transaction_read_only=1
            SET a = 1, @@tx_read_only = 1 => a=1; next transaction_read_only=1
            SET tx_isolation = 'SERIALIZABLE' => transaction_isolation='SERIALIZABLE'
            SET @@local.tx_isolation = 'SERIALIZABLE' => transaction_isolation='SERIALIZABLE'
            SET GLOBAL a = 1, @@tx_isolation = DEFAULT => Global a=1; next transaction_isolation=DEFAULT
            SET TRANSACTION READ ONLY, READ WRITE => -
            SET TRANSACTION ISOLATION LEVEL CHAOS => -
            SET TRANSACTION => -
            SET TRANSACTION READ ONLY, a = 1 => -
            SET a = 1, TRANSACTION READ ONLY => -
            SET a = 1, SESSION TRANSACTION READ ONLY => -",
        );
    }
}

#[test]
fn names_are_read_with_quotes_spaces_and_comments() {
    check_all(
        MARIADB,
        "
        SET `sql_mode` = '' => sql_mode=''
        SET @@`sql_mode` = '' => sql_mode=''
        SET @@session.`sql_mode` = '' => sql_mode=''
        SET @@session . sql_mode = '' => sql_mode=''
        SET @@session./* c */sql_mode = '' => sql_mode=''
        SET SESSION `sql_mode` = '' => sql_mode=''
        SET @@Local.SQL_MODE='' => sql_mode=''
        SET @@GLOBAL.`a`=1 => Global a=1
        /* a */ SET /* b */ a /* c */ = /* d */ 1 /* e */ ; -- f => a=1
        SET a=1 # b => a=1
        SET @`a b` = 1, @'C' = 2, @\"d\" = 3, @e.f = 4, @`g``h` = 5 => @a b=1; @c=2; @d=3; @e.f=4; @g`h=5
        SET @a = @`B c` => @a=@b c
        SET @é = 1 => -
        SET @`a ` = 1 => -
        SET @'a\\'b' = 1 => -
        SET @`` = 1 => -
        SET @@session.a.b = 1 => -
        SET @@hot.key_buffer_size = 1 => -
        SET hot.key_buffer_size = 1 => -
        SET @@`session`.a = 1 => -
        SET session.a = 1 => -
        SET @@ a = 1 => -
        SET é = 1 => -
        SET names = 1 => -
        SET password, a = 1 => Account
        SET a = 1, password = 'x' => -
        SET GLOBAL = 1 => -
        SET SESSION @a = 1 => -
        SET SESSION @@a = 1 => -",
    );
}

#[test]
fn character_sets_stand_anywhere_in_a_list() {
    for lexing in [MARIADB, MYSQL] {
        check_all(
            lexing,
            "
            SET a = 1, NAMES utf8 => a=1; names utf8
            SET NAMES utf8, a = 1 => names utf8; a=1
            SET NAMES DEFAULT => names DEFAULT
            SET NAMES utf8mb4 COLLATE DEFAULT => names utf8mb4
            SET NAMES `Latin1` COLLATE \"latin1_bin\", @a = 1 => names latin1/latin1_bin; @a=1
            SET NAMES binary => names binary
            SET CHARACTER SET utf8mb4, CHARSET latin1, CHAR SET DEFAULT => charset utf8mb4; charset latin1; charset DEFAULT
            SET NAMES => -
            SET NAMES '' => -
            SET NAMES utf8 COLLATE => -
            SET NAMES 'utf\\8' => -
            SET NAMES utf8 COLLATE a COLLATE b => -
            SET NAMES @a => -
            SET SESSION NAMES utf8 => -
            SET CHARACTER utf8 => -",
        );
    }
}

#[test]
fn values_are_told_apart() {
    check_all(
        MYSQL,
        "
        SET a = 1, a = -1, a = + 2, a = 1.5, a = .5, a = 1e3, a = 0xFF => a=1; a=-1; a=+2; a=1.5; a=.5; a=1e3; a=0xFF
        SET a = 'it''s', a = \"it's\", a = 'a\\\\b\\'c' => a='it's'; a='it's'; a='a\\b'c'
        SET a = ON, b = off, c = TRUE, d = null, e = STRICT_ALL_TABLES => a=w:ON; b=w:off; c=w:TRUE; d=w:null; e=w:STRICT_ALL_TABLES
        SET a = `b c`, d = DEFAULT => a='b c'; d=DEFAULT
        SET a = @@b, a = @@session.b, a = @@local.b, a = @@global.b, a = @u, a = @@session.`b` => a=@@b; a=@@session.b; a=@@session.b; a=@@global.b; a=@u; a=@@session.b
        SET a = 1 + 1, b = (2), c = -(3), d = 'a' 'b', e = x'41' => a=same<1 + 1>; b=same<(2)>; c=same<-(3)>; d=same<'a' 'b'>; e=<x'41'>
        SET a = UPPER('a'), b = UPPER ('a'), c = CONCAT('a', NULL, 1.5), d = 4 / 3, e = @b + 1 => a=same<UPPER('a')>; b=<UPPER ('a')>; c=same<CONCAT('a', NULL, 1.5)>; d=<4 / 3>; e=<@b + 1>
        SET a = 'x' 'y\\n', b = 1 + /* c */ 1, d = CONCAT('#', 'x') => a=<'x' 'y\\n'>; b=<1 + /* c */ 1>; d=<CONCAT('#', 'x')>
        SET a = CURRENT_USER, b = CURRENT_TIMESTAMP, c = NOW(), d = RAND(), e = DATABASE() => a=<CURRENT_USER>; b=<CURRENT_TIMESTAMP>; c=<NOW()>; d=<RAND()>; e=<DATABASE()>
        SET a = (SELECT MAX(b) FROM t WHERE c IN (1, 2)), d = 1 => a=<(SELECT MAX(b) FROM t WHERE c IN (1, 2))>; d=1
        SET a = (SELECT b FROM s.t), c = CASE WHEN 1 THEN 2 ELSE 3 END => a=<(SELECT b FROM s.t)>; c=<CASE WHEN 1 THEN 2 ELSE 3 END>
        SET a = b = c, d = NOT e => a=<b = c>; d=<NOT e>
        SET a = FOUND_ROWS(), b = ROW_COUNT(), c = LAST_INSERT_ID() => a=<FOUND_ROWS()>; b=<ROW_COUNT()>; c=<LAST_INSERT_ID()>
        SET a = CAST('1' AS UNSIGNED), b = DEFAULT(c) => a=<CAST('1' AS UNSIGNED)>; b=<DEFAULT(c)>",
    );
    check_all(MARIADB, "SET a = 1 FOR SELECT 2 => a=<1 FOR SELECT 2>");
}

#[test]
fn what_has_or_may_have_an_effect_is_not_understood() {
    check_all(
        MYSQL,
        "
        SET @a = (@b := 1) => -
        SET @a = f(1) => -
        SET @a = s.f(1) => -
        SET @a = `f`(1) => -
        SET @a = GET_LOCK('x', 1) => -
        SET @a = RELEASE_LOCK('x') => -
        SET @a = RELEASE_ALL_LOCKS() => -
        SET @a = LAST_INSERT_ID(5) => -
        SET @a = NEXTVAL(s) => -
        SET @a = NEXT VALUE FOR s => -
        SET @a = s.nextval => -
        SET @a = (SELECT 1 INTO @b) => -
        SET @a = (SELECT SQL_CALC_FOUND_ROWS 1) => -
        SET @a = ? => -
        SET @a = {d '2020-01-01'} => -",
    );
}

#[test]
fn anything_else_is_not_understood() {
    check_all(
        MYSQL,
        "
        SET => -
        SET a => -
        SET a = => -
        SET a == 1 => -
        SET a : = 1 => -
        SET a = 1, => -
        SET , a = 1 => -
        SET a = 1) => -
        SET a = (1 => -
        SET a = 1 @b = 2 => a=<1 @b = 2>
        SET a = 1; SET b = 2 => -
        ; SET a = 1 => -
        SET a = 'x => -
        SET a = 1 /* x => -
        SET a = 1 /*! , b = 2 => -
        SET a = 1 /*!999999999 , b = 2 */ => -
        SET a = 1 /*!00000 , b = /*! 2 */ */ => -
        SET ROLE = 1 => -
        SET ROLE => -
        SET STATEMENT a = 1 => -
        SET STATEMENT = 1 => -
        SET STATEMENT a = 1 FOR => -
        SELECT 1 => -
        UPDATE t SET a = 1 => -
        BEGIN; SET a = 1 => -
        EXPLAIN SET a = 1 => -
        => -",
    );
    check_all(
        MARIADB,
        "/*!50708 SET a = 1 */ => -\n/*!80011 SET a = 1 */ => -\n/*M!100616 SET a = 1 */ => a=1",
    );
    check_all(MYSQL, "/*!50708 SET a = 1 */ => a=1\n/*M!100616 SET a = 1 */ => -");
    check_all(MARIADB, "/*! SET STATEMENT a = 1 FOR */ SELECT 1 => -");
}

#[test]
fn the_sql_mode_says_what_quotes_and_backslashes_are() {
    let ansi = Lexing { ansi_quotes: true, ..MYSQL };
    check_all(
        ansi,
        "
        SET \"sql_mode\" = \"ANSI,TRADITIONAL\" => sql_mode='ANSI,TRADITIONAL'
        SET @a = \"x\"(1) => -
        SET SESSION \"a\" = 'b', @\"c\" = 1 => a='b'; @c=1",
    );
    let plain = Lexing { no_backslash_escapes: true, ..MYSQL };
    check_all(plain, "SET a = 'b\\', c = '\\n' => a='b\\'; c='\\n'");
    let two_bytes = Lexing { ascii_in_characters: true, ..MYSQL };
    check_all(two_bytes, "SET @a = 'é\\\\' => -\nSET @a = 'é' => @a='é'\nSET @a = 'e\\\\' => @a=<'e\\\\'>");
}

#[test]
fn a_string_keeps_its_source() {
    let list = list_of("SET a = \"it's\\n\"", MYSQL);
    let mut strings = list.iter().filter_map(|assignment| match assignment {
        Assignment::Session { value: Value::Text(text), .. } => Some(text),
        _ => None,
    });
    let text = strings.next_back().expect("a string");
    assert_eq!((shown(text.source()), shown(text.bytes())), ("\"it's\\n\"".to_owned(), "it's\n".to_owned()));
}
