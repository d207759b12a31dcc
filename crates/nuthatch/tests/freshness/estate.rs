//! What an owner holds, as it knows it, and the statements by which it changes that.
//!
//! An estate is the writer's own truth: after each statement it is what the writer itself must see, and once committed what
//! everybody must.

mod arrivals;
mod group;

use std::fmt;

use crate::connection::Statement;
use crate::question::Question;
use crate::random::Random;
use crate::register::{Contents, Owner};

pub(crate) use arrivals::Arrivals;
pub(crate) use group::Group;

/// A statement that writes.
#[derive(Debug, Clone)]
pub(crate) struct Write {
    /// Its kind, for the report.
    pub(crate) what: &'static str,
    pub(crate) statement: Statement,
    /// The key that the server will give.
    pub(crate) insert_id: Option<i64>,
}

impl Write {
    fn new(
        what: &'static str,
        sql: impl Into<std::borrow::Cow<'static, str>>,
        arguments: impl Into<Vec<i64>>,
    ) -> Self {
        Self { what, statement: Statement::new(sql, arguments), insert_id: None }
    }
}

/// See the module's doc.
pub(crate) trait Estate: Clone + fmt::Debug {
    fn owner(&self) -> Owner;

    /// All that is there.
    fn contents(&self) -> Contents;

    /// Makes a random change; `stamp` is a version that was never written before.
    fn write(&mut self, random: &mut Random, stamp: i64) -> Write;

    /// Goes back to what was before, as far as a rollback does.
    fn roll_back(&mut self, before: Self);

    /// A read of something that the owner holds.
    fn question(&self, random: &mut Random) -> Question;
}
