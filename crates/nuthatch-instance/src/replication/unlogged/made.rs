//! Which tables a statement of a binlog makes. Pure.

use nuthatch_sql::{Lexing, ServerFlavor, Token, TokenKind, Tokens};

/// A table that is there behind the statement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Made {
    /// `schema.table`, in small letters.
    pub(super) table: String,
    /// Whether the statement does nothing where the table is there already.
    pub(super) only_if_missing: bool,
}

/// Tables that are made, or get another name, by a statement that was said in that schema; none of what is not understood.
pub(super) fn made(statement: &[u8], schema: &str) -> Vec<Made> {
    // No version matters: executable comments are looked into by the newest.
    let lexing = Lexing::of(ServerFlavor::MySql(999_999));
    let is_of_use = |token: &Token<'_>| {
        !matches!(
            token.kind,
            TokenKind::Space
                | TokenKind::Comment
                | TokenKind::ExecutableOpen
                | TokenKind::UnclearOpen
                | TokenKind::ExecutableClose
        )
    };
    let mut words =
        Words { tokens: Tokens::new(statement, lexing).filter(is_of_use).collect(), at: 0, schema };
    let created = words.created().into_iter();
    let renamed = words.renamed().into_iter().map(|table| Made { table, only_if_missing: false });
    created.chain(renamed).collect()
}

/// A statement as it is read.
struct Words<'q> {
    tokens: Vec<Token<'q>>,
    at: usize,
    schema: &'q str,
}

impl Words<'_> {
    /// By CREATE TABLE or CREATE SEQUENCE.
    fn created(&mut self) -> Option<Made> {
        if !self.take("CREATE") {
            return None;
        }
        let _replaces = self.take("OR") && self.take("REPLACE");
        if !(self.take("TABLE") || self.take("SEQUENCE")) {
            return None;
        }
        let only_if_missing = self.take("IF") && self.take("NOT") && self.take("EXISTS");
        Some(Made { table: self.table()?, only_if_missing })
    }

    /// By RENAME TABLE, ALTER TABLE … RENAME or ALTER TABLE … CONVERT PARTITION … TO TABLE.
    fn renamed(&mut self) -> Vec<String> {
        let renames = self.take("RENAME");
        let mut tables = Vec::new();
        if renames || self.take("ALTER") {
            while self.at < self.tokens.len() {
                let takes_name = match renames {
                    true => self.take("TO"),
                    false => self.renames_here(),
                };
                match takes_name {
                    true => tables.extend(self.table()),
                    false => self.at += 1,
                }
            }
        }
        tables
    }

    /// Whether the name of a table is next, in ALTER TABLE.
    fn renames_here(&mut self) -> bool {
        if self.take("TO") {
            return self.take("TABLE");
        }
        if !self.take("RENAME") || ["COLUMN", "INDEX", "KEY"].iter().any(|word| self.take(word)) {
            return false;
        }
        let _word = self.take("TO") || self.take("AS") || self.take_symbol(b'=');
        true
    }

    fn take(&mut self, word: &str) -> bool {
        let next = self.tokens.get(self.at);
        let is_it = next.is_some_and(|token| {
            token.kind == TokenKind::Word && token.text.eq_ignore_ascii_case(word.as_bytes())
        });
        self.at += usize::from(is_it);
        is_it
    }

    fn take_symbol(&mut self, symbol: u8) -> bool {
        let is_it = self.tokens.get(self.at).is_some_and(|token| token.kind == TokenKind::Symbol(symbol));
        self.at += usize::from(is_it);
        is_it
    }

    /// A name with its schema.
    fn table(&mut self) -> Option<String> {
        let first = self.name()?;
        let (schema, table) = match self.take_symbol(b'.') {
            true => (first, self.name()?),
            false => (self.schema.to_owned(), first),
        };
        Some(format!("{schema}.{table}").to_lowercase())
    }

    fn name(&mut self) -> Option<String> {
        let token = self.tokens.get(self.at)?;
        let text = String::from_utf8_lossy(token.text);
        let name = match token.kind {
            TokenKind::Word => text.into_owned(),
            // A string in double quotes is a name under ANSI_QUOTES, and no table's otherwise.
            TokenKind::Quoted | TokenKind::String => {
                let quote = text.chars().next().filter(|quote| matches!(quote, '`' | '"'))?;
                let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
                inner.replace(&format!("{quote}{quote}"), &quote.to_string())
            }
            _ => return None,
        };
        self.at += 1;
        Some(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_that_are_there_behind_a_statement_are_named() {
        for (statement, expected) in [
            ("CREATE TABLE t (a INT)", "d.t"),
            ("create or replace table `My ``t`.T2 (a INT)", "my `t.t2"),
            ("/* it */ CREATE TABLE IF NOT EXISTS e.t LIKE x", "e.t?"),
            ("CREATE TABLE /*!32312 IF NOT EXISTS*/ \"t\" (a INT)", "d.t?"),
            ("CREATE SEQUENCE s", "d.s"),
            ("CREATE TEMPORARY TABLE t (a INT)", ""),
            ("CREATE VIEW v AS SELECT 1", ""),
            ("CREATE DATABASE d", ""),
            ("RENAME TABLE a TO b, e._new TO e.t", "d.b e.t"),
            ("ALTER TABLE a RENAME TO b, ADD COLUMN `to` INT", "d.b"),
            ("ALTER TABLE a RENAME e.b", "e.b"),
            ("ALTER TABLE a RENAME COLUMN x TO y, RENAME INDEX i TO j", ""),
            ("ALTER TABLE a CONVERT PARTITION p TO TABLE b", "d.b"),
            ("INSERT INTO t SELECT 1", ""),
            ("CREATE TABLE", ""),
        ] {
            let mark = |one: Made| one.table + if one.only_if_missing { "?" } else { "" };
            let found: Vec<String> = made(statement.as_bytes(), "d").into_iter().map(mark).collect();
            assert_eq!(found.join(" "), expected, "{statement}");
        }
    }
}
