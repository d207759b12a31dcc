//! The places in a statement where a table's name must stand: behind FROM and JOIN, and commas between tables.
//!
//! A name there that is neither a known table's nor one that a WITH defines is something that is not known: a new table, a
//! temporary one, one of the server's own. So the walk must miss no place; where it is in doubt, it refuses the statement. It takes
//! for granted that no keyword stands before a dot, which [`Mentions`](super::names::Mentions) refuses.

use super::information_schema;
use super::keyword::Keyword;
use super::names::{Mention, Scope, is_name_behind_dot, take_name};
use crate::classify::cursor::Cursor;
use crate::footprint::{NotExact, ReadDefinitions};
use crate::statement::Name;
use crate::token::{Token, TokenKind};

/// So many parentheses may be open.
const DEPTH_MAX: usize = 128;
/// So many names of WITH may be in sight.
const DEFINED_MAX: usize = 128;

/// What stands in the places of tables.
#[derive(Default)]
pub(super) struct Places {
    /// How many queries there are: SELECT, VALUES, TABLE, and what joins and names them.
    pub(super) queries: usize,
    /// Some of them are of `information_schema`, that tells of definitions.
    pub(super) definitions: Option<ReadDefinitions>,
}

/// Walks through the places of tables, all of which are of known ones then.
pub(super) fn places(start: &Cursor<'_>, scope: &Scope<'_>) -> Result<Places, NotExact> {
    let mut walk = Walk {
        cursor: start.clone(),
        scope,
        outer: Vec::new(),
        here: Level::default(),
        defined: Vec::new(),
        found: Places::default(),
    };
    while !walk.cursor.at_end() {
        let Some(token) = walk.cursor.bump() else { break };
        walk.step(token)?;
    }
    walk.finish()
}

struct Walk<'q, 's> {
    cursor: Cursor<'q>,
    scope: &'s Scope<'s>,
    /// The open parentheses around `here`.
    outer: Vec<Level<'q>>,
    here: Level<'q>,
    /// The names of WITH that are in sight.
    defined: Vec<Name<'q>>,
    found: Places,
}

/// What stands between two parentheses, or around all of them.
#[derive(Default)]
struct Level<'q> {
    at: At,
    /// A query has begun in it: a FROM is that of its tables, not of a function.
    has_query: bool,
    /// So many names of WITH are in sight outside of it.
    defined: usize,
    /// It is what this name of a WITH stands for.
    defines: Option<Definition<'q>>,
}

/// Which part of a query is being read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum At {
    /// No tables stand here.
    #[default]
    Expressions,
    /// What a DELETE is of, by names or aliases: its tables come behind FROM. (Oracle's mode needs no FROM.)
    Targets,
    /// A table must come next.
    Table,
    /// Behind a table: its alias, hints, the condition of a join.
    Tables,
}

#[derive(Clone, Copy)]
struct Definition<'q> {
    name: Name<'q>,
    is_recursive: bool,
}

impl<'q> Walk<'q, '_> {
    fn step(&mut self, token: Token<'q>) -> Result<(), NotExact> {
        match (token.kind, self.here.at) {
            (TokenKind::Word, at) => match (Keyword::of(token), at) {
                (Some(word), _) => self.keyword(word, token),
                (None, At::Table) => self.table(token),
                (None, _) => Ok(()),
            },
            (TokenKind::Quoted, At::Table) => self.table(token),
            (TokenKind::Symbol(b'('), _) => self.open(None),
            (TokenKind::Symbol(b'{'), At::Table) => {
                // `{OJ table}`, which is its table.
                take_name(&mut self.cursor).map(|_| ()).ok_or(NotExact::NotUnderstood)
            }
            (_, At::Table) => Err(NotExact::NotUnderstood),
            (TokenKind::Symbol(b')'), _) => self.close(),
            (TokenKind::Symbol(b','), At::Tables) => self.go(At::Table),
            (TokenKind::Symbol(b'.'), _) => {
                // A name, whatever word it is.
                self.cursor.advance();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn go(&mut self, at: At) -> Result<(), NotExact> {
        self.here.at = at;
        Ok(())
    }

    fn keyword(&mut self, word: Keyword, token: Token<'q>) -> Result<(), NotExact> {
        use At::{Expressions, Table, Tables, Targets};
        match (word, self.here.at) {
            (Keyword::From, Targets) => self.go(Table),
            (Keyword::LowPriority | Keyword::Ignore, Targets) => Ok(()),
            (_, Targets) => Err(NotExact::NotUnderstood),
            (Keyword::Select, _) => self.query(Expressions),
            (Keyword::Values, Table | Expressions) => self.query(Expressions),
            (Keyword::Table, _) => self.query(Table),
            (Keyword::Union, Expressions | Tables) => self.query(Expressions),
            (Keyword::SetOperation, Expressions | Tables) => {
                // Where it is none it may be an alias: what comes next decides.
                self.found.queries += 1;
                Ok(())
            }
            (Keyword::Delete, Expressions) => self.query(Targets),
            (Keyword::Update, Expressions | Tables) => self.go(Table),
            (Keyword::With, _) => self.with(),
            (Keyword::Lateral | Keyword::LowPriority | Keyword::Ignore, Table) => Ok(()),
            (Keyword::Dual, Table) => self.go(Tables),
            (Keyword::JsonTable, Table) if self.cursor.peek_symbol(b'(') => self.go(Tables),
            (_, Table) => self.table(token),
            (Keyword::From, Expressions | Tables) => self.from(),
            (Keyword::Join, _) | (Keyword::StraightJoin, Tables) => self.go(Table),
            (Keyword::Using, Tables) if !self.cursor.peek_symbol(b'(') => self.go(Table),
            (
                Keyword::Where
                | Keyword::Group
                | Keyword::Having
                | Keyword::Order
                | Keyword::Limit
                | Keyword::Set,
                Tables,
            ) => self.go(Expressions),
            (Keyword::Window, Tables) if self.defines_a_window() => self.go(Expressions),
            (Keyword::For, Tables) => {
                // What an index hint is for: JOIN, ORDER BY, GROUP BY.
                self.cursor.advance();
                Ok(())
            }
            // The words after DISTINCT are those of a select list; `IS DISTINCT FROM` may come to be.
            (Keyword::Distinct, _) if Keyword::next(&self.cursor) == Some(Keyword::From) => {
                Err(NotExact::NotUnderstood)
            }
            // MariaDB computes `DEFAULT(column)`, by an expression that may give another value each time.
            (Keyword::Default, _) if self.cursor.peek_symbol(b'(') => Err(NotExact::NotUnderstood),
            _ => Ok(()),
        }
    }

    fn query(&mut self, at: At) -> Result<(), NotExact> {
        self.found.queries += 1;
        self.here.has_query = true;
        self.go(at)
    }

    /// FROM without a query on its level is that of EXTRACT, TRIM, SUBSTRING.
    fn from(&mut self) -> Result<(), NotExact> {
        if self.here.has_query { self.go(At::Table) } else { Ok(()) }
    }

    /// WINDOW is a name in older servers.
    fn defines_a_window(&self) -> bool {
        let mut ahead = self.cursor.clone();
        take_name(&mut ahead).is_some() && ahead.take_word(b"AS") && ahead.peek_symbol(b'(')
    }

    /// The table whose name begins with `first`, which was taken.
    fn table(&mut self, first: Token<'q>) -> Result<(), NotExact> {
        let mut table = Mention { schema: None, name: Name(first.text) };
        if self.cursor.take_symbol(b'.') {
            let Some(second) = self.cursor.bump().filter(|&token| is_name_behind_dot(token)) else {
                return Err(NotExact::NotUnderstood);
            };
            table = Mention { schema: Some(table.name), name: Name(second.text) };
        }
        if self.cursor.peek_symbol(b'.') || self.cursor.peek_symbol(b'(') {
            return Err(NotExact::NotUnderstood);
        }
        self.here.at = At::Tables;
        self.know(table)
    }

    fn know(&mut self, table: Mention<'q>) -> Result<(), NotExact> {
        if table.schema.is_some_and(information_schema::is_named) {
            let definitions = self.found.definitions.get_or_insert_default();
            definitions.columns |= information_schema::tells_of_columns(table.name);
            definitions.tables |= information_schema::lists_tables(table.name);
            let is_of_definitions = information_schema::tells_of_definitions(table.name);
            return if is_of_definitions { Ok(()) } else { Err(NotExact::MoreThanDefinitions) };
        }
        let is_defined = || {
            // In the same case: where the server tells cases apart, another case is another table.
            let name = table.name.text();
            self.defined.iter().any(|defined| defined.text() == name)
        };
        if table.find(self.scope).is_some() || (table.schema.is_none() && is_defined()) {
            Ok(())
        } else if table.schema.is_none() && self.scope.schema.is_empty() {
            Err(NotExact::NoSchema)
        } else {
            Err(NotExact::UnknownTable(table.text()))
        }
    }

    /// Goes into a parenthesis: of a join, if a table must come next.
    fn open(&mut self, defines: Option<Definition<'q>>) -> Result<(), NotExact> {
        if self.outer.len() == DEPTH_MAX || self.defined.len() == DEFINED_MAX {
            return Err(NotExact::NotUnderstood);
        }
        let at = self.here.at;
        if at == At::Table {
            self.here.at = At::Tables;
        }
        let at = if at == At::Table { At::Table } else { At::Expressions };
        let inner = Level { at, has_query: false, defined: self.defined.len(), defines };
        self.outer.push(std::mem::replace(&mut self.here, inner));
        if let Some(Definition { name, is_recursive: true }) = defines {
            self.defined.push(name);
        }
        Ok(())
    }

    fn close(&mut self) -> Result<(), NotExact> {
        let outer = self.outer.pop().ok_or(NotExact::NotUnderstood)?;
        let closed = std::mem::replace(&mut self.here, outer);
        self.defined.truncate(closed.defined);
        closed.defines.map_or(Ok(()), |definition| self.behind_definition(definition))
    }

    /// `WITH [RECURSIVE] name …`; ROLLUP and the like may follow the word as well.
    fn with(&mut self) -> Result<(), NotExact> {
        self.found.queries += 1;
        let is_recursive = self.cursor.take_word(b"RECURSIVE");
        match self.take_definition(is_recursive) {
            Some(definition) => {
                self.here.at = At::Expressions;
                self.open(Some(definition))
            }
            None if self.here.at == At::Table || is_recursive => Err(NotExact::NotUnderstood),
            None => Ok(()),
        }
    }

    /// Takes `name [(column, …)] AS (`, or nothing.
    fn take_definition(&mut self, is_recursive: bool) -> Option<Definition<'q>> {
        let mut ahead = self.cursor.clone();
        let name = take_name(&mut ahead)?;
        if ahead.take_symbol(b'(') {
            take_name(&mut ahead)?;
            while ahead.take_symbol(b',') {
                take_name(&mut ahead)?;
            }
            ahead.take_symbol(b')').then_some(())?;
        }
        (ahead.take_word(b"AS") && ahead.take_symbol(b'(')).then_some(())?;
        self.cursor = ahead;
        Some(Definition { name, is_recursive })
    }

    /// Its name is in sight from here to the end of this level.
    fn behind_definition(&mut self, done: Definition<'q>) -> Result<(), NotExact> {
        self.defined.push(done.name);
        if self.cursor.take_symbol(b',') {
            let next = self.take_definition(done.is_recursive).ok_or(NotExact::NotUnderstood)?;
            return self.open(Some(next));
        }
        let begins_statement = self.cursor.peek_symbol(b'(')
            || matches!(
                Keyword::next(&self.cursor),
                Some(Keyword::Select | Keyword::Update | Keyword::Delete)
            );
        if begins_statement { Ok(()) } else { Err(NotExact::NotUnderstood) }
    }

    fn finish(self) -> Result<Places, NotExact> {
        if self.outer.is_empty() && !matches!(self.here.at, At::Table | At::Targets) {
            Ok(self.found)
        } else {
            Err(NotExact::NotUnderstood)
        }
    }
}
