//! The statements that a client has prepared, by number and by name, and the execution at hand.

use std::sync::Arc;

use crate::backend::StatementKey;
use crate::session::parts::names::NamedStatement;
use crate::session::parts::{Client, Names, Prepared, Statement};
use crate::session::statement::{Named, Plan};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    prepared: Option<Box<Prepared>>,
    names: Option<Box<Names>>,
}

impl Statements {
    /// Those that are known by number.
    #[inline]
    pub(crate) fn prepared(&self) -> Option<&Prepared> {
        self.prepared.as_deref()
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn prepared_mut(&mut self) -> Option<&mut Prepared> {
        self.prepared.as_deref_mut()
    }

    /// For another session, which executes the same: what that takes.
    pub(crate) fn stand_in(&self, payload: &[u8]) -> Self {
        let mut new = Self::default();
        if let Some((id, statement)) = self.prepared().and_then(|prepared| prepared.stand_in(payload)) {
            new.add(id, statement);
        }
        new
    }

    /// Those that are known by name.
    pub(crate) fn names(&self) -> Option<&Names> {
        self.names.as_deref()
    }

    /// The number that the next statement gets.
    pub(crate) fn next_id(&self) -> u32 {
        self.prepared.as_ref().map_or(1, |prepared| prepared.next_id())
    }

    /// The statement has that number, which is the last.
    pub(crate) fn add(&mut self, id: u32, statement: Statement) {
        self.prepared.get_or_insert_default().add(id, statement);
    }

    /// Forgets the statement of that number.
    pub(crate) fn close(&mut self, id: u32) -> Option<Statement> {
        self.prepared.as_mut()?.remove(id)
    }

    /// The name means that statement.
    pub(crate) fn name(&mut self, name: Arc<[u8]>, statement: NamedStatement) {
        self.names.get_or_insert_default().insert(name, statement);
    }

    /// Only the connection that is pinned knows what the names mean.
    pub(crate) fn give_names_up(&mut self) {
        if let Some(names) = &mut self.names {
            names.give_up();
        }
    }

    /// Forgets all.
    pub(crate) fn forget_all(&mut self) {
        self.names = None;
        if let Some(prepared) = &mut self.prepared {
            prepared.forget_all();
        }
    }

    /// The execution at hand as the cache knows it: as it was [written down](Prepared::write_down) last.
    #[inline]
    pub(crate) fn execution(&self) -> &[u8] {
        self.prepared.as_ref().map_or(&[], |prepared| prepared.execution())
    }

    /// What is prepared under a name.
    pub(crate) fn named_text(&self, name: &[u8]) -> Option<Arc<[u8]>> {
        Some(Arc::clone(&self.names.as_ref()?.get(name)?.text))
    }

    /// The statement that the one at hand executes by its name.
    pub(crate) fn prepared_text(&self, plan: &Plan) -> Option<&[u8]> {
        match plan.named.as_deref() {
            Some(Named::Execute { name }) => Some(&self.names.as_ref()?.get(name)?.text),
            _ => None,
        }
    }

    /// What the statement at hand executes: itself, unless it names another.
    #[inline]
    pub(crate) fn executed_text<'a>(&'a self, client: &'a Client, plan: &Plan) -> &'a [u8] {
        // Most name none.
        let named = plan.named.as_ref().and_then(|_| self.prepared_text(plan));
        named.unwrap_or_else(|| client.statement_text())
    }

    /// Under what the statement was prepared that the one at hand executes by its name.
    pub(crate) fn prepared_key(&self, plan: &Plan) -> Option<&StatementKey> {
        let Some(Named::Execute { name }) = plan.named.as_deref() else { return None };
        Some(&self.names.as_ref()?.get(name)?.key)
    }

    /// The statement of that number.
    pub(crate) fn prepared_statement(&self, id: u32) -> Option<&Statement> {
        self.prepared.as_ref()?.get(id)
    }

    /// The same, to be changed.
    pub(crate) fn prepared_statement_mut(&mut self, id: u32) -> Option<&mut Statement> {
        self.prepared.as_mut()?.get_mut(id)
    }

    /// Forgets what long data was sent for the statement.
    pub(crate) fn drop_long_data(&mut self, id: u32) {
        if let Some(statement) = self.prepared_statement_mut(id) {
            statement.drop_long_data();
        }
    }

    /// Whether more long data came than is kept; asked once.
    pub(crate) fn takes_too_much(&mut self, id: u32) -> bool {
        self.prepared_statement_mut(id).is_some_and(Statement::takes_too_much)
    }

    pub(crate) fn long_data(&self, id: u32) -> Vec<Vec<u8>> {
        self.prepared_statement(id).map(|statement| statement.long_data().to_vec()).unwrap_or_default()
    }

    pub(crate) fn forget_name(&mut self, name: &[u8]) -> bool {
        self.names.as_mut().is_some_and(|names| names.remove(name))
    }
}

#[cfg(test)]
mod tests;
