//! The global variables: one definition each, and everything else made from it.
//!
//! A row of [`MysqlVariables`] or [`AdminVariables`] gives a typed field, its default, its range, the rows of
//! `global_variables`, what a wrong value is told, and the line in `docs/variables.md`. Nothing about a variable is
//! written down a second time.

mod admin;
mod define;
mod document;
mod kind;
mod mysql;

pub use self::{
    admin::AdminVariables,
    document::variables_markdown,
    kind::{Effect, Kind, Variable, VariableFault},
    mysql::MysqlVariables,
};

#[cfg(test)]
mod tests;
