//! The statements that a client has prepared, by number and by name, and the execution at hand.

use std::sync::Arc;

use crate::backend::StatementKey;
use crate::session::parts::{Client, Names, Prepared, Statement};
use crate::session::statement::{Named, Plan};

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Statements {
    pub(crate) prepared: Option<Box<Prepared>>,
    pub(crate) names: Option<Box<Names>>,
}

impl Statements {
    /// The execution at hand as the cache knows it: as it was [written down](Prepared::write_down) last.
    #[inline]
    pub(crate) fn execution(&self) -> &[u8] {
        self.prepared.as_ref().map_or(&[], |prepared| &prepared.execution)
    }

    /// What is prepared under a name.
    pub(crate) fn named_text(&self, name: &[u8]) -> Option<Arc<[u8]>> {
        Some(Arc::clone(&self.names.as_ref()?.statements.get(name)?.text))
    }

    /// The statement that the one at hand executes by its name.
    pub(crate) fn prepared_text(&self, plan: &Plan) -> Option<&[u8]> {
        match plan.named.as_deref() {
            Some(Named::Execute { name }) => Some(&self.names.as_ref()?.statements.get(name)?.text),
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
        Some(&self.names.as_ref()?.statements.get(name)?.key)
    }

    /// The statement of that number.
    pub(crate) fn prepared_statement(&self, id: u32) -> Option<&Statement> {
        self.prepared.as_ref()?.statements.get(&id)
    }

    /// The same, to be changed.
    pub(crate) fn prepared_statement_mut(&mut self, id: u32) -> Option<&mut Statement> {
        self.prepared.as_mut()?.statements.get_mut(&id)
    }

    /// Forgets what long data was sent for the statement.
    pub(crate) fn drop_long_data(&mut self, id: u32) {
        if let Some(statement) = self.prepared_statement_mut(id) {
            statement.long_data = Vec::new();
        }
    }

    /// Whether more long data came than is kept; asked once.
    pub(crate) fn takes_too_much(&mut self, id: u32) -> bool {
        self.prepared_statement_mut(id).is_some_and(|statement| std::mem::take(&mut statement.has_too_much))
    }

    pub(crate) fn long_data(&self, id: u32) -> Vec<Vec<u8>> {
        self.prepared_statement(id).map(|statement| statement.long_data.clone()).unwrap_or_default()
    }

    pub(crate) fn forget_name(&mut self, name: &[u8]) -> bool {
        self.names.as_mut().is_some_and(|names| names.statements.remove(name).is_some())
    }
}

#[cfg(test)]
mod tests;
