//! What stored functions, triggers and views over functions leave in the session that runs them, by the names that stand in statements.
//!
//! A server runs them unasked, and tells of what they did only sometimes. So whoever shares connections must know which statements may run
//! any. They are found by name alone, of whichever schema: that finds more than is there, never less. Names of other letters than those
//! of ASCII are compared by servers in their own ways (`cafe()` calls `café`), so each may stand for any.

use std::collections::{HashMap, HashSet};

use rapidhash::fast::RandomState;

use crate::catalogue::{find, fold};
use crate::classify::cursor::Cursor;
use crate::statement::{Class, Kind, Name};
use crate::token::{Lexing, Token, TokenKind};
use crate::words::words;

/// The schema whose functions and views come with the server. Some set user variables, of which it tells.
const OWN_FUNCTIONS: &[u8] = b"sys";

fn is_own(schema: &[u8]) -> bool {
    schema.eq_ignore_ascii_case(OWN_FUNCTIONS)
}

/// What code may leave in its session; each includes those before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leaves {
    /// Nothing.
    #[default]
    Nothing,
    /// Whatever a function does that is not stored, but loaded or not there at all; the server tells of it.
    Foreign,
    /// What the server tells of, if the statement does not fail: a SET, a temporary table.
    Told,
    /// What it does not tell of: `SELECT … INTO @a`, a named lock.
    Untold,
    /// What outlasts a reset besides: a role, the next transaction's characteristics.
    Lasting,
}

/// What is behind one name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Behind {
    called: Leaves,
    read: Leaves,
    written: Leaves,
}

/// In which place of a statement a name runs code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Runs {
    /// Before a parenthesis: that of a function. It is known from then on, be it that it leaves nothing.
    Called,
    /// Anywhere: that of a view, a package, a schema of functions.
    Read,
    /// Anywhere in a statement that may write: that of a table with a trigger.
    Written,
}

/// The stored code of one server or of several. See the module's doc.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredCode {
    names: HashMap<Box<[u8]>, Behind, RandomState>,
    /// Functions that may be called by a name of other letters.
    accented: Leaves,
    /// All of it together.
    most: Leaves,
    /// Names of what may read the session's last insert id.
    asking: HashSet<Box<[u8]>, RandomState>,
}

impl StoredCode {
    /// Adds the name, in UTF-8, of code that may read the session's last insert id. Says whether that is new.
    pub fn add_asking(&mut self, name: &[u8]) -> bool {
        self.asking.insert(fold(name))
    }

    /// Whether one of these names is that of code which may read the session's last insert id.
    pub fn is_asking<'w>(&self, mut names: impl Iterator<Item = &'w [u8]>) -> bool {
        !self.asking.is_empty() && names.any(|name| self.asking.contains(&*fold(name)))
    }

    /// Whether code that may read the session's last insert id stands in the text by its name. Cost: one pass over the tokens, if there is any.
    #[must_use]
    pub fn asks_for_insert_id(&self, text: &[u8], lexing: Lexing) -> bool {
        if self.asking.is_empty() {
            return false;
        }
        let mut cursor = Cursor::at_statement(text, lexing);
        while let Some(token) = cursor.bump() {
            if may_name(token) && self.asking.contains(&*fold(&Name(token.text).text())) {
                return true;
            }
        }
        false
    }

    /// Adds what code of that name leaves, in UTF-8, to what is known of the name. Says whether more is known then.
    pub fn add(&mut self, name: &[u8], runs: Runs, leaves: Leaves) -> bool {
        self.most = self.most.max(leaves);
        if runs == Runs::Called && !name.is_ascii() {
            self.accented = self.accented.max(leaves);
        }
        // A view or a table is behind a name all the same.
        if runs != Runs::Called && leaves == Leaves::Nothing {
            return false;
        }
        let known = self.names.entry(fold(name)).or_default().when(runs);
        let is_more = leaves > *known;
        *known = leaves.max(*known);
        is_more
    }

    /// Adds all that is known there.
    pub fn add_all(&mut self, other: &Self) {
        self.asking.extend(other.asking.iter().cloned());
        for (name, behind) in &other.names {
            self.add(name, Runs::Called, behind.called);
            self.add(name, Runs::Read, behind.read);
            self.add(name, Runs::Written, behind.written);
        }
    }

    /// What the most of it leaves.
    #[must_use]
    pub fn most(&self) -> Leaves {
        self.most
    }

    /// What is left by reading a view in whose text these names stand.
    pub fn left_by_view<'w>(&self, names: impl Iterator<Item = &'w [u8]>) -> Leaves {
        self.behind(names).map(Behind::of_view).max().unwrap_or_default()
    }

    /// What is left by a body in which these names stand, besides what it does itself.
    pub fn left_by_body<'w>(&self, names: impl Iterator<Item = &'w [u8]>) -> Leaves {
        self.behind(names).map(Behind::of_body).max().unwrap_or_default()
    }

    fn behind<'w>(&self, names: impl Iterator<Item = &'w [u8]>) -> impl Iterator<Item = Behind> {
        let accented = Behind { called: self.accented, ..Behind::default() };
        let of_name = |name| match is_own(name) {
            true => Some(Behind { read: Leaves::Told, ..Behind::default() }),
            false => find(&self.names, name).copied(),
        };
        names.filter_map(of_name).chain([accented])
    }

    /// What the code may leave that `text` runs, which is of that class, in the default schema `schema`. Cost: one pass over the tokens, if
    /// there is any code that leaves something or the text calls an unknown function.
    #[must_use]
    pub fn leaves(&self, text: &[u8], class: Class, lexing: Lexing, schema: &[u8]) -> Leaves {
        let names_own = is_own(schema) || words(text).any(is_own);
        if self.most <= Leaves::Foreign && !class.runs_unseen_code && !names_own {
            return Leaves::Nothing;
        }
        if lexing.ascii_in_characters {
            return self.most.max(Leaves::Told);
        }
        let (mut leaves, mut calls_stored) = (self.accented, false);
        if names_own {
            leaves = leaves.max(Leaves::Told);
        }
        let mut cursor = Cursor::at_statement(text, lexing);
        while let Some(token) = cursor.bump() {
            if !may_name(token) {
                continue;
            }
            if !token.text.is_ascii() {
                leaves = leaves.max(self.most);
            }
            let Some(behind) = find(&self.names, &Name(token.text).text()) else { continue };
            leaves = leaves.max(behind.of_statement(class.kind));
            if cursor.peek_symbol(b'(') {
                leaves = leaves.max(behind.called);
                calls_stored = true;
            }
        }
        match class.runs_unseen_code && !calls_stored {
            true => leaves.max(Leaves::Foreign),
            false => leaves,
        }
    }
}

impl Behind {
    fn when(&mut self, runs: Runs) -> &mut Leaves {
        match runs {
            Runs::Called => &mut self.called,
            Runs::Read => &mut self.read,
            Runs::Written => &mut self.written,
        }
    }

    /// Of a name that no parenthesis follows.
    fn of_statement(self, kind: Kind) -> Leaves {
        if reads_only(kind) { self.read } else { self.read.max(self.written) }
    }

    fn of_view(self) -> Leaves {
        self.called.max(self.read)
    }

    fn of_body(self) -> Leaves {
        self.of_view().max(self.written)
    }
}

/// Whether a statement of this kind fires no trigger but by functions that it calls.
const fn reads_only(kind: Kind) -> bool {
    matches!(kind, Kind::Select | Kind::Do | Kind::Set | Kind::Show)
}

fn may_name(token: Token<'_>) -> bool {
    matches!(token.kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify::classify;
    use crate::token::ServerFlavor;

    fn code() -> StoredCode {
        let mut code = StoredCode::default();
        code.add(b"sets", Runs::Called, Leaves::Told);
        code.add(b"quiet", Runs::Called, Leaves::Nothing);
        code.add("caf\u{e9}".as_bytes(), Runs::Called, Leaves::Nothing);
        code.add(b"seen", Runs::Read, Leaves::Untold);
        code.add(b"Fires-1", Runs::Written, Leaves::Told);
        code.add(b"role_taker", Runs::Written, Leaves::Lasting);
        code
    }

    fn leaves_in(schema: &str, text: &str) -> Leaves {
        let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
        let class = Class::of(&classify(text.as_bytes(), lexing));
        code().leaves(text.as_bytes(), class, lexing, schema.as_bytes())
    }

    #[test]
    fn names_run_code_where_they_can() {
        for (text, expected) in [
            ("SELECT 1", Leaves::Nothing),
            ("SELECT sets FROM t", Leaves::Nothing),
            ("SELECT Sets()", Leaves::Told),
            ("SELECT `sets` /* ! */ ()", Leaves::Told),
            ("SELECT s.sets()", Leaves::Told),
            ("SELECT quiet()", Leaves::Nothing),
            ("SELECT other()", Leaves::Foreign),
            ("SHOW TABLES WHERE sets()", Leaves::Told),
            ("SELECT 1; DO sets()", Leaves::Told),
            ("SELECT * FROM SEEN", Leaves::Untold),
            ("CREATE TABLE t2 SELECT * FROM s.seen", Leaves::Untold),
            ("INSERT INTO t SELECT a FROM (SELECT 1 AS a FROM seen) AS q", Leaves::Untold),
            ("SELECT 'seen', \"seen\"", Leaves::Nothing),
            ("SELECT * FROM `fires-1`", Leaves::Nothing),
            ("INSERT INTO `fires-1` VALUES (1)", Leaves::Told),
            ("SELECT 1; DELETE FROM s.`fires-1`", Leaves::Told),
            ("UPDATE t, role_taker SET a = 1", Leaves::Lasting),
            ("SELECT \u{e9} FROM t", Leaves::Lasting),
        ] {
            assert_eq!(leaves_in("s", text), expected, "{text}");
        }
        assert_eq!(leaves_in("sys", "SELECT 1 FROM processlist"), Leaves::Told);
    }

    #[test]
    fn where_no_code_leaves_anything_only_calls_of_unknown_functions_count() {
        let lexing = Lexing::of(ServerFlavor::MySql(90_704));
        let mut code = StoredCode::default();
        code.add(b"quiet", Runs::Called, Leaves::Nothing);
        for (text, expected) in [
            ("INSERT INTO t VALUES (quiet())", Leaves::Nothing),
            ("SELECT loaded()", Leaves::Foreign),
            ("UPDATE \u{e9} SET a = 1", Leaves::Nothing),
        ] {
            let class = Class::of(&classify(text.as_bytes(), lexing));
            assert_eq!(code.leaves(text.as_bytes(), class, lexing, b"sys2"), expected, "{text}");
        }
    }

    #[test]
    fn what_is_known_of_a_name_only_grows() {
        let mut code = StoredCode::default();
        assert!(code.add(b"f", Runs::Called, Leaves::Told));
        assert!(!code.add(b"F", Runs::Called, Leaves::Nothing));
        let mut both = StoredCode::default();
        both.add(b"f", Runs::Read, Leaves::Untold);
        both.add_all(&code);
        let names = || [&b"f"[..]].into_iter();
        assert_eq!((both.left_by_view(names()), both.most()), (Leaves::Untold, Leaves::Untold));
        both.add(b"F", Runs::Written, Leaves::Lasting);
        assert_eq!(
            (both.left_by_view(names()), both.left_by_body(names())),
            (Leaves::Untold, Leaves::Lasting)
        );
    }
}
