//! Numbers for session environments: everything besides user, schema and text that can change an answer's bytes or the
//! verdict of the rules.
//!
//! Equal environments have equal numbers for the life of the proxy. The table is bounded; a session whose environment
//! finds no room does not use the cache.

use std::collections::HashMap;
use std::sync::Arc;

use nuthatch_wire::CapabilityFlags;
use parking_lot::Mutex;

use crate::backend::Inheritance;
use crate::state::{Charset, Settings};

/// How many environments are numbered at most.
pub(crate) const ENVIRONMENTS_MAX: usize = 65_536;

/// What a cached answer depends on besides user, schema and text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Environment {
    /// Capabilities that change the answer's form.
    pub(crate) shape: CapabilityFlags,
    /// Character sets and collation.
    pub(crate) charset: Charset,
    /// Session variables that were set.
    pub(crate) settings: Settings,
    /// What it began with, where that is not what sessions began with at first.
    pub(crate) inheritance: Option<Inheritance>,
    /// Its SET ROLE: what it may see.
    pub(crate) role: Option<Arc<str>>,
    /// The client's address, if a rule looks at it.
    pub(crate) client_addr: Option<Arc<str>>,
    /// Where the client connected to, if a rule looks at it.
    pub(crate) proxy_addr: Option<(Arc<str>, u16)>,
}

/// The table of numbers.
#[derive(Debug, Default)]
pub(crate) struct Environments {
    numbers: Mutex<HashMap<Environment, u32>>,
}

impl Environments {
    /// The number of `environment`; `None` when the table is full.
    pub(crate) fn number(&self, environment: Environment) -> Option<u32> {
        let mut numbers = self.numbers.lock();
        let next = u32::try_from(numbers.len()).ok()?;
        if let Some(number) = numbers.get(&environment) {
            return Some(*number);
        }
        (numbers.len() < ENVIRONMENTS_MAX).then(|| {
            numbers.insert(environment, next);
            next
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.lock().len()
    }
}
