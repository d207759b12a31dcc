//! What a view reads, from its text as the server has written it anew: tables with their schemas, all in back quotes, joins
//! as JOIN, strings with backslashes, whatever the session's modes were (seen on MariaDB 10.11 and 11.8 and MySQL 9.7).

use nuthatch_sql::{Lexing, Token, TokenKind, Tokens, classify};

/// Functions with FROM among their arguments.
const WITH_FROM: [&[u8]; 3] = [b"EXTRACT", b"TRIM", b"SUBSTRING"];

/// What a view's text says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ViewText<T> {
    /// The tables and views that it names; maybe some more, whose names stand in other places.
    pub(crate) named: Vec<T>,
    /// All that it reads is in `named`, and its result is a function of that.
    pub(crate) is_understood: bool,
    /// It may run stored functions, which may write.
    pub(crate) may_run_other_code: bool,
}

/// Reads `text`; `find` knows tables by schema and name.
pub(crate) fn read_view<T>(
    text: &[u8],
    lexing: Lexing,
    find: impl Fn(&[u8], &[u8]) -> Option<T>,
) -> ViewText<T> {
    let statement = classify(text, lexing);
    let is_pure = statement.cache.is_ok()
        && statement.effects.pin.is_none()
        && statement.volatile.is_none()
        && !asks_for_default(text, lexing);
    let tokens: Vec<Token<'_>> = Tokens::new(text, lexing)
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .collect();
    let pairs = || (0..tokens.len()).filter_map(|at| qualified(tokens.get(at..)?));
    let names_no_definitions = !pairs().any(|(schema, _)| schema.eq_ignore_ascii_case(b"information_schema"));
    let named = pairs().filter_map(|(schema, name)| find(&schema, &name)).collect();
    let knows_all = references(&tokens).all(|reference| match reference {
        Reference::Table(schema, name) => find(&schema, &name).is_some(),
        Reference::Unqualified => tokens.iter().any(|token| is_word(token, b"WITH")),
        Reference::Expression => true,
    });
    ViewText {
        named,
        is_understood: is_pure && knows_all && names_no_definitions,
        may_run_other_code: text.is_empty() || statement.effects.runs_unseen_code,
    }
}

/// Whether it may ask for a column's default, which may be the clock or worse.
fn asks_for_default(text: &[u8], lexing: Lexing) -> bool {
    Tokens::new(text, lexing).any(|token| is_word(&token, b"DEFAULT"))
}

/// What stands behind FROM or JOIN.
enum Reference {
    Table(Vec<u8>, Vec<u8>),
    /// The name of a query in WITH.
    Unqualified,
    /// A query in parentheses, or a function that gives a table.
    Expression,
}

fn references<'t>(tokens: &'t [Token<'_>]) -> impl Iterator<Item = Reference> + 't {
    // For each open parenthesis, whether a FROM in it belongs to a function.
    let mut open = Vec::new();
    tokens.iter().enumerate().filter_map(move |(at, token)| {
        match token.kind {
            TokenKind::Symbol(b'(') => {
                let before = at.checked_sub(1).and_then(|before| tokens.get(before));
                open.push(before.is_some_and(|before| WITH_FROM.iter().any(|name| is_word(before, name))));
            }
            TokenKind::Symbol(b')') => drop(open.pop()),
            _ => {}
        }
        let is_of_function = open.last() == Some(&true) && is_word(token, b"FROM");
        let leads = [&b"FROM"[..], b"JOIN", b"STRAIGHT_JOIN"].iter().any(|word| is_word(token, word));
        (leads && !is_of_function).then(|| reference(tokens.get(at + 1..).unwrap_or_default()))
    })
}

fn reference(tokens: &[Token<'_>]) -> Reference {
    let opening = tokens.iter().take_while(|token| token.kind == TokenKind::Symbol(b'(')).count();
    let tokens = tokens.get(opening..).unwrap_or_default();
    match (qualified(tokens), tokens.first().map(|token| token.kind)) {
        (Some((schema, name)), _) => Reference::Table(schema, name),
        (None, Some(TokenKind::Quoted)) => Reference::Unqualified,
        (None, _) => Reference::Expression,
    }
}

/// Two names with a dot between, which the tokens begin with.
fn qualified(tokens: &[Token<'_>]) -> Option<(Vec<u8>, Vec<u8>)> {
    let [schema, dot, name, ..] = tokens else { return None };
    if dot.kind != TokenKind::Symbol(b'.') {
        return None;
    }
    Some((unquoted(schema)?, unquoted(name)?))
}

fn unquoted(token: &Token<'_>) -> Option<Vec<u8>> {
    if token.kind != TokenKind::Quoted {
        return None;
    }
    let inner = token.text.get(1..token.text.len().checked_sub(1)?)?;
    let mut name = Vec::with_capacity(inner.len());
    let mut bytes = inner.iter().copied();
    while let Some(byte) = bytes.next() {
        name.push(byte);
        if byte == b'`' {
            bytes.next();
        }
    }
    Some(name)
}

fn is_word(token: &Token<'_>, word: &[u8]) -> bool {
    token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated_column::canonical;
    use nuthatch_sql::ServerFlavor;

    /// Knows the tables `y.a`b`, `y.v1` and `y.t`.
    fn read(text: &str) -> ViewText<String> {
        let lexing = canonical(ServerFlavor::MariaDb(101_119));
        let mut view = read_view(text.as_bytes(), lexing, |schema, name| {
            let name = String::from_utf8_lossy(name).into_owned();
            (schema == b"y" && ["a`b", "v1", "t"].contains(&name.as_str())).then_some(name)
        });
        view.named.sort();
        view.named.dedup();
        view
    }

    #[test]
    fn texts_of_real_servers_are_understood() {
        for (text, named) in [
            ("select `y`.`t`.`id` AS `id` from `y`.`t` order by `y`.`t`.`id` limit 3", &["t"][..]),
            (
                "select `y`.`a``b`.`id` AS `id`,'it\\'s','a\\\\b',extract(year from `y`.`a``b`.`d`) AS `y` from `y`.`a``b`",
                &["a`b"],
            ),
            (
                "with cte as (select `y`.`a``b`.`id` AS `id` from `y`.`a``b`)select `cte`.`id` AS `id`,`v1`.`k` AS `k` \
                 from ((`cte` join `y`.`v1` on(`cte`.`id` = `v1`.`id`)) left join `y`.`a``b` `z` on(`z`.`id` = `cte`.`id` \
                 and extract(year from `z`.`d`) > 3)) where `v1`.`id` in (select `y`.`t`.`id` from `y`.`t`) union select 1",
                &["a`b", "t", "v1"],
            ),
            (
                "select `y`.`t`.`id` AS `id` from `y`.`t` join `y`.`v1` join (select 1 AS `x`) `d`",
                &["t", "v1"],
            ),
            (
                "select `j`.`x` AS `x` from `y`.`t` join JSON_TABLE(`y`.`t`.`s`, '$[*]' COLUMNS (`x` int(11) PATH '$')) `j`",
                &["t"],
            ),
            ("select trim(both 'x' from `z`.`c`) AS `t` from `y`.`t` `z`", &["t"]),
            ("select 'x' AS `x`,' from `zz`' AS `k` from `y`.`t`", &["t"]),
            ("select 1 AS `one`", &[]),
        ] {
            let view = read(text);
            assert_eq!(view.named, named, "{text}");
            assert!(view.is_understood && !view.may_run_other_code, "{text}");
        }
    }

    #[test]
    fn what_is_not_immutable_or_reads_something_unknown_is_not_understood() {
        for (text, may_run_other_code) in [
            ("select `y`.`gone`.`id` AS `id` from `y`.`gone`", false),
            ("select `y`.`t`.`id` from (`y`.`t` join `z`.`t`)", false),
            ("select `y`.`t`.`id` from `y`.`t` straight_join `z`.`t`", false),
            ("select `x`.`id` from `y`.`t` join `x`", false),
            ("select `user`.`User` AS `user` from `mysql`.`user`", false),
            ("select current_timestamp() AS `n` from `y`.`t`", false),
            ("select `f`(`y`.`t`.`id`) AS `f` from `y`.`t`", true),
            ("select `y`.`f`(`y`.`t`.`id`) AS `f` from `y`.`t`", true),
            ("select 'x from `y`.`t`", true),
            ("", true),
        ] {
            let view = read(text);
            assert!(!view.is_understood, "{text}");
            assert_eq!(view.may_run_other_code, may_run_other_code, "{text}");
        }
    }
}
