//! What a worker remembers of statements by their shape, so that the next one of a shape is not taken apart again.
//!
//! Only statements that read or write rows are remembered, and of them only what no literal can change: class, digest text,
//! digest. What rules say is found anew each time. A worker holds at most twice `mysql-shapes_max_entries` shapes: when
//! the younger half is full, the older one is forgotten; a shape that is asked for again becomes young again.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use nuthatch_config::{Epoch, MysqlVariables};
use nuthatch_sql::{Lexing, ServerFlavor};
use parking_lot::Mutex;
use rapidhash::fast::RapidHasher;

use crate::session::statement::{Change, TextFacts};

/// Longer statements are looked at each time.
const STATEMENT_BYTES_MAX: usize = 2048;

/// What statements of one shape have in common.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) facts: Arc<TextFacts>,
    /// See [`TextFacts::are_plain`].
    pub(crate) is_plain: bool,
    pub(crate) digest: u64,
    pub(crate) digest_text: Box<[u8]>,
    /// What the stored code leaves that they run, as `code_run.rs` writes it down.
    pub(crate) code: AtomicU64,
}

/// What a session knows of a statement that it has prepared.
#[derive(Debug)]
pub(crate) struct Looked {
    epoch: Epoch,
    lexing: Lexing,
    known: Arc<Known>,
}

impl Looked {
    /// By that configuration, read so.
    pub(crate) const fn new(epoch: Epoch, lexing: Lexing, known: Arc<Known>) -> Self {
        Self { epoch, lexing, known }
    }

    /// What is known, if by that configuration, read so, it would be the same.
    pub(crate) fn known(&self, epoch: Epoch, lexing: Lexing) -> Option<&Arc<Known>> {
        (self.epoch == epoch && self.lexing == lexing).then_some(&self.known)
    }
}

type Shapes = HashMap<Box<[u8]>, Arc<Known>, BuildHasherDefault<RapidHasher<'static>>>;

/// The shapes that one worker remembers. See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<Remembered>);

#[derive(Debug, Default)]
struct Remembered {
    /// Digest options may change with it.
    epoch: Epoch,
    young: Shapes,
    old: Shapes,
    /// The shape at hand, and how it was read.
    shape: Vec<u8>,
}

impl Memo {
    /// What is known of `statement`; `look` takes it apart if nothing is.
    pub(crate) fn known(
        &self,
        statement: &[u8],
        lexing: Lexing,
        variables: &MysqlVariables,
        epoch: Epoch,
        look: impl FnOnce() -> Known,
    ) -> Arc<Known> {
        let is_cut = statement.len() as u64 > variables.query_digests_max_query_length;
        if variables.shapes_max_entries == 0 || statement.len() > STATEMENT_BYTES_MAX || is_cut {
            return Arc::new(look());
        }
        let memo = &mut *self.0.lock();
        if memo.epoch != epoch {
            *memo = Remembered { epoch, ..Remembered::default() };
        }
        if !nuthatch_sql::shape(statement, lexing, &mut memo.shape) {
            return Arc::new(look());
        }
        memo.shape.extend_from_slice(&tag(lexing));
        if let Some(known) = memo.young.get(memo.shape.as_slice()) {
            return Arc::clone(known);
        }
        let aged = memo.old.remove(memo.shape.as_slice());
        let known = aged.unwrap_or_else(|| Arc::new(look()));
        if known.is_of_all_with_its_shape() {
            memo.remember(Arc::clone(&known), variables.shapes_max_entries);
        }
        known
    }

    /// Shapes that are remembered.
    pub(crate) fn len(&self) -> usize {
        let memo = self.0.lock();
        memo.young.len() + memo.old.len()
    }
}

impl Remembered {
    fn remember(&mut self, known: Arc<Known>, entries_max: u64) {
        if self.young.len() as u64 >= entries_max {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(self.shape.as_slice().into(), known);
    }
}

impl Known {
    /// Whether no literal can change it.
    fn is_of_all_with_its_shape(&self) -> bool {
        self.facts.kind.moves_rows() && self.facts.change == Change::None
    }
}

/// Tells ways of reading apart.
fn tag(lexing: Lexing) -> [u8; 5] {
    let Lexing { ansi_quotes, no_backslash_escapes, ascii_in_characters, server } = lexing;
    let (is_mysql, version) = match server {
        ServerFlavor::MariaDb(version) => (false, version),
        ServerFlavor::MySql(version) => (true, version),
    };
    let flags = [ansi_quotes, no_backslash_escapes, ascii_in_characters, is_mysql];
    let flags = flags.into_iter().fold(0, |bits, flag| bits << 1 | u8::from(flag));
    let [a, b, c, d] = version.to_le_bytes();
    [flags, a, b, c, d]
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use nuthatch_sql::ServerFlavor;

    use super::*;

    const LEXING: Lexing = Lexing::of(ServerFlavor::MySql(80_000));

    /// Counts how often statements had to be taken apart.
    #[derive(Default)]
    struct Looks {
        memo: Memo,
        count: Cell<usize>,
    }

    impl Looks {
        fn of(&self, statement: &str, lexing: Lexing, entries_max: u64, epoch: u64) -> usize {
            let variables = MysqlVariables { shapes_max_entries: entries_max, ..MysqlVariables::default() };
            let before = self.count.get();
            let _known = self.memo.known(statement.as_bytes(), lexing, &variables, Epoch(epoch), || {
                self.count.set(self.count.get() + 1);
                let facts = TextFacts::of(&nuthatch_sql::classify(statement.as_bytes(), lexing));
                Known {
                    facts: facts.into(),
                    is_plain: false,
                    digest: 0,
                    digest_text: Box::default(),
                    code: AtomicU64::default(),
                }
            });
            self.count.get() - before
        }
    }

    #[test]
    fn statement_is_taken_apart_once_for_its_shape_way_of_reading_and_configuration() {
        let looks = Looks::default();
        assert_eq!(looks.of("SELECT 1", LEXING, 10, 1), 1);
        assert_eq!(looks.of("SELECT 2", LEXING, 10, 1), 0);
        assert_eq!(looks.of("SELECT  2", LEXING, 10, 1), 1);
        assert_eq!(looks.of("SELECT 2", Lexing { ansi_quotes: true, ..LEXING }, 10, 1), 1);
        assert_eq!(looks.of("SELECT 2", LEXING, 10, 1), 0);
        assert_eq!(looks.of("SELECT 2", LEXING, 10, 2), 1);
        assert_eq!(looks.of("SELECT 2", LEXING, 0, 2), 1);
    }

    #[test]
    fn what_literals_may_change_is_looked_at_each_time() {
        let looks = Looks::default();
        for statement in ["SET autocommit=1", "KILL 5", "SELECT 1; SELECT 2", "SELECT 1 -- 2", "CALL p(1)"] {
            assert_eq!(looks.of(statement, LEXING, 10, 1), 1, "{statement}");
            assert_eq!(looks.of(statement, LEXING, 10, 1), 1, "{statement}");
        }
    }

    #[test]
    fn at_most_twice_the_limit_is_remembered_and_what_is_used_stays() {
        let looks = Looks::default();
        let shape = |n: usize| format!("SELECT a{n} FROM t");
        for n in 0..100 {
            looks.of(&shape(n), LEXING, 10, 1);
            assert!(n == 0 || looks.of(&shape(0), LEXING, 10, 1) == 0, "{n}");
            assert!(looks.memo.len() <= 20);
        }
        assert_eq!(looks.of(&shape(50), LEXING, 10, 1), 1);
    }
}
