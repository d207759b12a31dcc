//! How statements are cut, and that no byte is lost.

use proptest::prelude::*;

use super::arbitrary::lexing_of;
use super::{Lexing, ServerFlavor, TokenKind, Tokens};

const MARIADB: Lexing = Lexing::of(ServerFlavor::MariaDb(101_106));
const MYSQL: Lexing = Lexing { server: ServerFlavor::MySql(80_036), ..MARIADB };

/// The tokens without white space, as `kind:text`.
fn cut(query: &str, lexing: Lexing) -> String {
    Tokens::new(query.as_bytes(), lexing)
        .filter(|token| token.kind != TokenKind::Space)
        .map(|token| {
            let kind = match token.kind {
                TokenKind::Symbol(_) => String::new(),
                kind => format!("{kind:?}:"),
            };
            format!("{kind}{}", String::from_utf8_lossy(token.text))
        })
        .collect::<Vec<_>>()
        .join(" ")
}

#[track_caller]
fn check(query: &str, expected: &str) {
    assert_eq!(cut(query, MARIADB), expected, "tokens of {query:?}");
}

#[test]
fn words_numbers_and_variables() {
    check("SELECT a1,2b", "Word:SELECT Word:a1 , Word:2b");
    check(
        "1 1.5 1. 1e5 1.5E-3 1e 0xfF 0xg 0b01 0b2",
        "Number:1 Number:1.5 Number:1. Number:1e5 Number:1.5E-3 Word:1e Number:0xfF Word:0xg Number:0b01 Word:0b2",
    );
    check("1e5x 1e+x", "Number:1e5 Word:x Word:1e + Word:x");
    check(
        "1.5for .5for t.5for t .5",
        "Number:1.5 Word:for Number:.5 Word:for Word:t . Word:5for Word:t Number:.5",
    );
    check("@a:=1", "UserVariable:@a : = Number:1");
    check("@'a b' @`c` @\"d\"", "UserVariable:@'a b' UserVariable:@`c` UserVariable:@\"d\"");
    check("@@session.autocommit=0", "SystemVariable:@@session.autocommit = Number:0");
    check("été", "Word:été");
}

#[test]
fn quotes_follow_the_sql_mode() {
    check("'a''b\\'c' \"d\" `e``f`", "String:'a''b\\'c' String:\"d\" Quoted:`e``f`");
    assert_eq!(cut("\"d\\\"", Lexing { ansi_quotes: true, ..MARIADB }), "Quoted:\"d\\\"");
    assert_eq!(cut("'d\\' x", Lexing { no_backslash_escapes: true, ..MARIADB }), "String:'d\\' Word:x");
    check("'d\\' x", "Unclosed:'d\\' x");
    check("'", "Unclosed:'");
    check("`a", "Unclosed:`a");
    check("'a\\", "Unclosed:'a\\");
}

#[test]
fn comments_are_whole_tokens() {
    check("a/* b */c", "Word:a Comment:/* b */ Word:c");
    check("a -- b\nc", "Word:a Comment:-- b\n Word:c");
    check("a--b", "Word:a - - Word:b");
    check("a --", "Word:a Comment:--");
    check("a # b", "Word:a Comment:# b");
    check("/*/ a */", "Comment:/*/ a */");
    check("/* a", "Unclosed:/* a");
    check("a */ b", "Word:a * / Word:b");
}

#[test]
fn executable_comments_are_looked_into_when_the_version_applies() {
    check("/*!40101 a */ b", "ExecutableOpen:/*!40101 Word:a ExecutableClose:*/ Word:b");
    check("/*! a */", "ExecutableOpen:/*! Word:a ExecutableClose:*/");
    check("/*!50701 a */", "Comment:/*!50701 a */");
    check("/*M!50701 a */", "ExecutableOpen:/*M!50701 Word:a ExecutableClose:*/");
    check("/*!101106 a */", "ExecutableOpen:/*!101106 Word:a ExecutableClose:*/");
    check("/*!101107 a */", "Comment:/*!101107 a */");
    check("/*!101107 a /* b */ c */ d", "Comment:/*!101107 a /* b */ c */ Word:d");
    check("/*! a", "ExecutableOpen:/*! Word:a Unclosed:");
    check(
        "/*!40101 /*!40102 a */",
        "ExecutableOpen:/*!40101 UnclearOpen:/*! Number:40102 Word:a ExecutableClose:*/",
    );
    assert_eq!(cut("/*!50701 a */", MYSQL), "ExecutableOpen:/*!50701 Word:a ExecutableClose:*/");
    assert_eq!(cut("/*!90000 a */", MYSQL), "Comment:/*!90000 a */");
    assert_eq!(cut("/*!080036 a */", MYSQL), "UnclearOpen:/*!080036 Word:a ExecutableClose:*/");
    assert_eq!(cut("/*M! a */", MYSQL), "Comment:/*M! a */");
}

#[test]
fn word_bytes_are_letters_digits_and_whatever_is_not_ascii() {
    for byte in 0..=u8::MAX {
        let expected = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || !byte.is_ascii();
        assert_eq!(super::extent::is_word(byte), expected, "{byte}");
    }
}

fn server() -> impl Strategy<Value = ServerFlavor> {
    (any::<bool>(), 0..130_000_u32).prop_map(|(is_mysql, version)| {
        if is_mysql { ServerFlavor::MySql(version) } else { ServerFlavor::MariaDb(version) }
    })
}

proptest! {
    #[test]
    fn every_byte_is_in_exactly_one_token(query in any::<Vec<u8>>(), lexing in lexing_of(server())) {
        let joined: Vec<u8> = Tokens::new(&query, lexing).flat_map(|token| token.text.to_vec()).collect();
        prop_assert_eq!(joined, query);
    }

    #[test]
    fn every_byte_of_sql_like_text_is_in_exactly_one_token(query in "[-@*/M!'\"`#\\\\ae019.xX;\n ]{0,60}", lexing in lexing_of(server())) {
        let mut end = 0;
        for token in Tokens::new(query.as_bytes(), lexing) {
            prop_assert_eq!(token.start, end);
            prop_assert!(!token.text.is_empty() || token.kind == TokenKind::Unclosed);
            end += token.text.len();
        }
        prop_assert_eq!(end, query.len());
    }
}

#[test]
fn family_and_version_are_in_the_greeting() {
    for (version, expected) in [
        ("5.5.5-10.11.19-MariaDB-0+deb12u1-log", ServerFlavor::MariaDb(101_119)),
        ("11.8.6-MariaDB-0+deb13u1 from Debian-log", ServerFlavor::MariaDb(110_806)),
        ("9.7.4-2", ServerFlavor::MySql(90_704)),
        ("5.7.44-log", ServerFlavor::MySql(50_744)),
        ("8.0.36-28.1", ServerFlavor::MySql(80_036)),
        ("8.0.mysql_aurora.3.04.0", ServerFlavor::MySql(80_000)),
        ("", ServerFlavor::MySql(0)),
    ] {
        assert_eq!(ServerFlavor::of_version(version.as_bytes()), expected, "{version}");
    }
}
