//! What a body of stored code leaves in the session by itself, found by its words alone.
//!
//! Inside functions and triggers servers refuse USE, LOCK, FLUSH, HANDLER, XA, prepared statements, autocommit and all definitions but
//! those of temporary tables (measured on MariaDB 10.11 and MySQL 9.7). What is left: SET, user variables, temporary tables, named locks. A
//! SET names what it sets, so a body without the name of a variable and without `@` sets none, whatever its grammar. That finds more than is there: a
//! string, a comment, a column of such a name.

use std::collections::HashSet;

use nuthatch_sql::{LOCK_FUNCTIONS, Leaves, is_of_word, is_one_of, known_variables};

use crate::PictureError;
use crate::question::{Question, Server};
use crate::variables::Variables;

const VARIABLES: Question = Question { what: "session variables", sql: "SHOW SESSION VARIABLES" };

/// Names of variables that no session can set, and many columns have.
const NEVER_SET: [&[u8]; 5] = [b"version", b"port", b"hostname", b"socket", b"license"];

/// An error of any number can be made up by it: what failed so may have run.
const MADE_UP_ERROR: &[u8] = b"mysql_errno";

/// Behind SET, and not followed by what makes it a column's name: a server does not tell of it, and a reset does not undo it (MariaDB tells of a
/// role).
const LASTING: [&[u8]; 3] = [b"role", b"transaction", b"resource"];

/// The same of which the server tells.
const TOLD: [&[u8]; 4] = [b"names", b"charset", b"character", b"password"];

/// Names of the variables that a SET in stored code may name.
pub(crate) struct Assignable(HashSet<Vec<u8>>);

impl Assignable {
    /// Those of all servers.
    pub(crate) fn known() -> Self {
        Self(known_variables().map(|variable| variable.name().as_bytes().to_vec()).collect())
    }

    /// Those that this server has, besides: of plugins, or newer.
    ///
    /// # Errors
    /// When the server does not answer, or otherwise than expected.
    pub(crate) async fn read(server: &mut impl Server) -> Result<Self, PictureError> {
        let mut names = Self::known().0;
        names.extend(Variables::read(server, VARIABLES).await?.names().map(<[u8]>::to_ascii_lowercase));
        names.retain(|name| !is_one_of(name, &NEVER_SET));
        Ok(Self(names))
    }

    fn has(&self, word: &[u8]) -> bool {
        self.0.contains(&word.to_ascii_lowercase())
    }
}

/// What the body leaves, but for the code that it names.
pub(crate) fn left_by(body: &[u8], assignable: &Assignable) -> Leaves {
    let body = Body::new(body);
    match () {
        () if body.sets_one_of(&LASTING) => Leaves::Lasting,
        () if body.does_untold() => Leaves::Untold,
        () if body.does_told(assignable) => Leaves::Told,
        () => Leaves::Nothing,
    }
}

/// What a view's text leaves, but for the code that it names: it sets nothing, but may take a lock.
pub(crate) fn left_by_view(text: &[u8]) -> Leaves {
    match Body::new(text).has_word(&LOCK_FUNCTIONS) {
        true => Leaves::Untold,
        false => Leaves::Nothing,
    }
}

struct Body<'b> {
    text: &'b [u8],
    words: Vec<Word<'b>>,
    /// Between any two words may stand anything.
    has_comments: bool,
    has_variables: bool,
}

#[derive(Clone, Copy)]
struct Word<'b> {
    /// Without the number of an executable comment before it.
    text: &'b [u8],
    start: usize,
    end: usize,
}

impl<'b> Body<'b> {
    fn new(text: &'b [u8]) -> Self {
        let mut words = Vec::new();
        let mut at = 0;
        while let Some(skipped) = text.get(at..).and_then(|rest| rest.iter().position(|b| is_of_word(*b))) {
            let start = at + skipped;
            let rest = text.get(start..).unwrap_or_default();
            let end = start + rest.iter().take_while(|byte| is_of_word(**byte)).count();
            let whole = text.get(start..end).unwrap_or_default();
            let digits = whole.iter().take_while(|byte| byte.is_ascii_digit()).count();
            words.push(Word { text: whole.get(digits..).unwrap_or_default(), start, end });
            at = end;
        }
        let has_comments = [&b"/*"[..], b"--", b"#"].iter().any(|mark| contains(text, mark));
        Self { text, words, has_comments, has_variables: contains(text, b"@") }
    }

    fn has(&self, part: &[u8]) -> bool {
        contains(self.text, part)
    }

    fn has_word(&self, words: &[&[u8]]) -> bool {
        self.words.iter().any(|word| is_one_of(word.text, words))
    }

    /// What stands behind the word, but for white space.
    fn behind(&self, word: Word<'_>) -> &'b [u8] {
        self.text.get(word.end..).unwrap_or_default().trim_ascii_start()
    }

    /// Whether SET stands before one of these, which is not the name of a column that gets a value.
    fn sets_one_of(&self, words: &[&[u8]]) -> bool {
        if self.has_comments {
            return self.has_word(&[b"set"]) && self.has_word(words);
        }
        self.words.windows(2).any(|pair| match pair {
            [set, word] => {
                let is_next = self.behind(*set).starts_with(self.text.get(word.start..).unwrap_or_default());
                let behind = self.behind(*word);
                let is_column = behind.starts_with(b"=") || behind.starts_with(b":=");
                is_one_of(set.text, &[b"set"]) && is_next && is_one_of(word.text, words) && !is_column
            }
            _ => false,
        })
    }

    fn does_untold(&self) -> bool {
        let makes_by_select = self.has_word(&[b"temporary"]) && self.has_word(&[b"select", b"like"]);
        let fills_variables =
            self.has(b":=") || self.has_word(&[b"diagnostics", b"call"]) || self.fills_by_into();
        let turns_off_telling =
            self.words.iter().any(|word| word.text.to_ascii_lowercase().starts_with(b"session_track"));
        makes_by_select
            || self.has_word(&LOCK_FUNCTIONS)
            || self.has_word(&[MADE_UP_ERROR])
            || turns_off_telling
            || self.has_variables && fills_variables
    }

    /// `INTO a, @b`.
    fn fills_by_into(&self) -> bool {
        let mut into = self.words.iter().filter(|word| is_one_of(word.text, &[b"into"]));
        into.any(|word| self.has_comments || list_has_variable(self.behind(*word)))
    }

    /// Whether a user variable stands before what gives it a value.
    fn assigns_variable(&self) -> bool {
        let is_assigned = |at: usize| {
            let name = self.text.get(at..).unwrap_or_default();
            let len =
                name.iter().take_while(|byte| is_of_word(**byte) || matches!(byte, b'@' | b'.')).count();
            let behind = name.get(len..).unwrap_or_default().trim_ascii_start();
            behind.first().is_some_and(|byte| matches!(byte, b'=' | b':' | b'`' | b'"' | b'\''))
        };
        let mut places = (0..self.text.len()).filter(|at| self.text.get(*at) == Some(&b'@'));
        self.has_variables && self.has_comments || places.any(is_assigned)
    }

    fn does_told(&self, assignable: &Assignable) -> bool {
        // `NEW.timestamp` names none, `@@session.timestamp` does. Both NEW and OLD are variables of some servers.
        let has_scopes = self.has(b"@@");
        let may_be_set = |word: &Word<'_>| {
            let is_row = self.text.get(word.end) == Some(&b'.');
            let is_column =
                !has_scopes && self.text.get(..word.start).is_some_and(|before| before.ends_with(b"."));
            !is_row && !is_column && assignable.has(word.text)
        };
        self.has_word(&[b"temporary"])
            || self.has_word(&[b"set"]) && self.assigns_variable()
            || self.has_word(&[b"set"]) && self.words.iter().any(may_be_set)
            || self.has(b":=") && self.words.iter().any(may_be_set)
            || self.sets_one_of(&TOLD)
    }
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

/// Whether `@` begins one of the names that commas part, up to anything else.
fn list_has_variable(mut list: &[u8]) -> bool {
    loop {
        let rest = list.trim_ascii_start();
        if rest.starts_with(b"@") {
            return true;
        }
        let is_of_name = |byte: &&u8| is_of_word(**byte) || matches!(**byte, b'`' | b'"');
        let name = rest.iter().take_while(is_of_name).count();
        let behind = rest.get(name..).unwrap_or_default().trim_ascii_start();
        match behind.strip_prefix(b",") {
            Some(next) => list = next,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_leave_what_their_words_may_set() {
        for (body, expected) in [
            ("SET NEW.a = NOW()", Leaves::Nothing),
            (
                "BEGIN IF NEW.timestamp > 1 THEN UPDATE t SET n = n + 1, role = 'x' WHERE id = 1; END IF; END",
                Leaves::Nothing,
            ),
            ("BEGIN DECLARE n INT; SELECT COUNT(*) INTO n FROM t; SET NEW.version = n; END", Leaves::Nothing),
            ("INSERT INTO log (a) VALUES (@user_id)", Leaves::Nothing),
            ("INSERT INTO log SELECT sql_mode, @a FROM t", Leaves::Nothing),
            ("SET NEW.by_user = @user", Leaves::Nothing),
            ("SET NEW.by_user = @user, @`n` = 5", Leaves::Told),
            ("SET @n  = 5", Leaves::Told),
            ("SET NEW.a = OLD.timestamp", Leaves::Nothing),
            ("RETURN 'lc_time_names'", Leaves::Nothing),
            ("SET lc_time_names='de_DE'", Leaves::Told),
            ("BEGIN /*!50000SET*/ NEW.a = '(', Sql_Mode = ''; END", Leaves::Told),
            ("SET @@session.time_zone = '+01:00'", Leaves::Told),
            ("lc_time_names := 'de_DE'", Leaves::Told),
            ("SET @last = NEW.id", Leaves::Told),
            ("SET NAMES latin1", Leaves::Told),
            ("BEGIN CREATE TEMPORARY TABLE t (a INT); END", Leaves::Told),
            ("BEGIN DROP TEMPORARY TABLE t; END", Leaves::Told),
            ("BEGIN CREATE TEMPORARY TABLE t SELECT 1; END", Leaves::Untold),
            ("BEGIN SELECT 1 INTO @a; END", Leaves::Untold),
            ("BEGIN SELECT 1, 2 INTO x,\n@a; END", Leaves::Untold),
            ("BEGIN SELECT 1 INTO/**/@a; END", Leaves::Untold),
            ("RETURN @a := 5", Leaves::Untold),
            ("BEGIN GET DIAGNOSTICS @a = ROW_COUNT; END", Leaves::Untold),
            ("CALL p(@a)", Leaves::Untold),
            ("DO get_lock('a', 1)", Leaves::Untold),
            ("SIGNAL SQLSTATE '42000' SET MYSQL_ERRNO = 1064", Leaves::Untold),
            ("SET session_track_state_change = OFF", Leaves::Untold),
            ("SET ROLE admin", Leaves::Lasting),
            ("SET TRANSACTION READ ONLY", Leaves::Lasting),
            ("BEGIN SET RESOURCE GROUP g; END", Leaves::Lasting),
            ("SET -- a comment\nROLE admin", Leaves::Lasting),
            ("UPDATE users SET role = 'admin'", Leaves::Nothing),
        ] {
            assert_eq!(left_by(body.as_bytes(), &Assignable::known()), expected, "{body}");
        }
    }
}
