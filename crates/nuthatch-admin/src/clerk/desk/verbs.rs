//! LOAD, SAVE and SET: moves between the layers, and what is put in force by them.

use nuthatch_config::{Direction, Module, StoreError, VariableFault, Verb, Warnings};

use super::Desk;
use super::select::refused;
use crate::answer::{Answer, Done};
use crate::clerk::{Call, TransactionState, Undone};
use crate::credentials::Rights;
use crate::error::AdminError;

impl Desk {
    /// Runs the move; when it returns with something for the runtime, every worker decides by that.
    pub(super) fn transfer(&mut self, call: &Call, verb: &Verb) -> Result<Answer, Undone> {
        self.wait_for_others(&call.caller)?;
        if self.transaction_of(&call.caller) == TransactionState::Open {
            return Err(AdminError::InTransaction.into());
        }
        if *verb == Verb::Copy(Module::MysqlServers, Direction::RuntimeToMemory) {
            self.show_servers_to_keep().map_err(|error| refused(&error))?;
        }
        let outcome = self.layers.run(verb).map_err(|error| refused(&error))?;
        if let Some(snapshot) = outcome.snapshot {
            self.plane.publish(snapshot);
            self.enforce_credentials();
        }
        Ok(warned(&outcome.warnings))
    }

    /// Puts one variable in force, and nothing else of its module, for a client of the proxy.
    pub(super) fn put_in_force(&mut self, call: &Call, name: &str, value: &str) -> Result<Answer, Undone> {
        self.wait_for_others(&call.caller)?;
        let snapshot = self.layers.put_in_force(name, value).map_err(|error| refused(&error))?;
        self.plane.publish(snapshot);
        Ok(Answer::done())
    }

    /// Writes a variable in memory. A value that the next LOAD would not take is a warning, as the LOAD's will be.
    pub(super) fn set_variable(&self, call: &Call, name: &str, value: &str) -> Result<Answer, Undone> {
        debug_assert_eq!(call.caller.rights, Rights::Full, "read-only accounts are refused before");
        self.wait_for_others(&call.caller)?;
        match self.layers.set_variable(name, value) {
            Ok(fault) => Ok(Answer::Done(Done {
                affected_rows: 1,
                warnings: fault.map(|fault| format!("variable \"{name}\": it {fault}")).into_iter().collect(),
                ..Done::default()
            })),
            Err(StoreError::Variable { name, reason: VariableFault::Unknown }) => {
                Err(AdminError::UnknownVariable(name).into())
            }
            Err(error) => Err(refused(&error).into()),
        }
    }
}

fn warned(warnings: &Warnings) -> Answer {
    let mut kept: Vec<String> = warnings.iter().map(str::to_owned).collect();
    let dropped = warnings.count() - kept.len();
    if dropped > 0 {
        kept.push(format!("and {dropped} more, which are in the log"));
    }
    Answer::Done(Done { warnings: kept, ..Done::default() })
}
