//! The layers of the configuration in SQLite: disk, memory and runtime, and the commands that copy between them.
//!
//! `main` (in memory) is what admins edit, `disk` (DATADIR/nuthatch.db) is what a restart finds, the `runtime_` tables
//! show what is in force. A `LOAD … TO RUNTIME` validates every row and makes a new [`Snapshot`]; a row that cannot be
//! used is left out with a warning, and the others stand. A command happens wholly or not at all.
//!
//! On disk every secret is sealed (see `vault` and `sealing`); a copy between memory and disk seals and opens.
//!
//! [`Layers`] lives on the admin thread. It blocks on the disk; the data plane sees the snapshots only.

mod copy;
mod datadir;
mod error;
mod guard;
mod load;
mod merge;
mod row;
mod schema;
mod sealing;
mod seed;
mod show;
mod variable;
mod vault;
mod warnings;

use std::sync::Arc;

use rusqlite::Connection;

pub use self::{
    datadir::Datadir,
    error::StoreError,
    seed::{Seed, SeedRow, SeedValue},
    warnings::Warnings,
};
use self::{guard::Guard, merge::Meeting, variable::judge_variable, vault::Vault};
use crate::{
    server::{Server, ServerStatus},
    snapshot::{Epoch, Snapshot},
    variables::{Effect, VariableFault},
    verb::{Direction, Module, Verb},
};

/// The layers and the snapshot that is in force.
pub struct Layers {
    connection: Connection,
    guard: Guard,
    vault: Arc<Vault>,
    seed: Seed,
    /// The disk layer outlives the process.
    has_datadir: bool,
    snapshot: Arc<Snapshot>,
}

/// What a command did.
#[derive(Debug, Default)]
#[must_use]
pub struct Outcome {
    /// The snapshot to publish, if the command put something in force. Its epoch has moved only if the data plane can
    /// tell the difference.
    pub snapshot: Option<Arc<Snapshot>>,
    /// What the admin should know, one sentence each. Nothing secret.
    pub warnings: Warnings,
}

impl Layers {
    /// Opens the layers and puts the first snapshot (epoch 1) in force.
    ///
    /// Without `datadir` the disk layer is in memory and is lost with the value. With it, the directory and
    /// `nuthatch.db` are made if they are not there, for the owner only. A module that was saved to disk, or has rows
    /// there, comes from disk; any other comes from `seed`. `overrides` (flags given explicitly) then change memory
    /// row by row, whatever the source. Nothing is saved. Secrets that stand on disk in clear are sealed.
    ///
    /// # Errors
    /// The directory or file cannot be used; the key of the secrets there is missing or is another; a row of `seed` or
    /// `overrides` breaks a table's rules.
    pub fn open(
        datadir: Option<&Datadir>,
        seed: Seed,
        overrides: &Seed,
    ) -> Result<(Self, Warnings), StoreError> {
        let mut connection = Connection::open_in_memory()?;
        let guard = Guard::install(&mut connection)?;
        let mut warnings = Warnings::default();
        let vault = guard.lifted(|| datadir::attach(&connection, datadir, &mut warnings))?;
        let snapshot = Arc::new(Snapshot::default());
        let has_datadir = datadir.is_some();
        let mut layers = Self { connection, guard, vault, seed, has_datadir, snapshot };
        warnings.append(layers.guard.clone().lifted(|| layers.start(overrides))?);
        Ok((layers, warnings))
    }

    fn start(&mut self, overrides: &Seed) -> Result<Warnings, StoreError> {
        schema::create(&self.connection)?;
        merge::check_variable_names(&self.seed)?;
        merge::check_variable_names(overrides)?;
        let mut warnings = Warnings::default();
        for module in Module::ALL {
            if copy::is_on_disk(&self.connection, module)? {
                copy::disk_to_memory(&self.connection, module)?;
            } else {
                merge::merge(&self.connection, &self.seed, module, Meeting::Refuse)?;
            }
            merge::merge(&self.connection, overrides, module, Meeting::Change)?;
            warnings.append(self.load(module)?.warnings);
        }
        let first = Snapshot { epoch: Epoch(1), ..(*self.snapshot).clone() };
        self.snapshot = Arc::new(first);
        Ok(warnings)
    }

    /// The snapshot in force.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.snapshot
    }

    /// Runs a command. An open transaction of an admin is committed first.
    ///
    /// # Errors
    /// SQLite refused (a row from disk breaks a rule, the disk is full); then nothing changed.
    pub fn run(&mut self, verb: &Verb) -> Result<Outcome, StoreError> {
        self.guard.clone().lifted(|| self.atomically(|layers| layers.run_unguarded(verb)))
    }

    fn run_unguarded(&mut self, verb: &Verb) -> Result<Outcome, StoreError> {
        let (module, direction) = match verb {
            Verb::LoadUser(name) => return self.load_user(name),
            Verb::Copy(module, direction) => (*module, *direction),
        };
        match direction {
            Direction::MemoryToRuntime => return self.load(module),
            Direction::RuntimeToMemory => copy::runtime_to_memory(&self.connection, module)?,
            Direction::DiskToMemory if !copy::is_on_disk(&self.connection, module)? => {
                return Err(StoreError::NothingSaved { module });
            }
            Direction::DiskToMemory => copy::disk_to_memory(&self.connection, module)?,
            Direction::MemoryToDisk => copy::memory_to_disk(&self.connection, module)?,
            Direction::ConfigToMemory => {
                merge::merge(&self.connection, &self.seed, module, Meeting::Replace)?;
            }
        }
        let mut outcome = Outcome::default();
        match direction {
            Direction::MemoryToDisk if !self.has_datadir => outcome
                .warnings
                .push("there is no --datadir: what is saved is gone when the process ends".to_owned()),
            Direction::ConfigToMemory if !self.seed.has(module) => outcome.warnings.push(format!(
                "neither configuration file nor command line say anything of {}: memory stays as it is",
                module.as_str()
            )),
            _ => {}
        }
        Ok(outcome)
    }

    /// Runs `work` wholly or not at all. An admin's open transaction is committed first, as a server does at DDL.
    fn atomically<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !self.connection.is_autocommit() {
            self.connection.execute_batch("COMMIT")?;
        }
        let snapshot = Arc::clone(&self.snapshot);
        self.connection.execute_batch("BEGIN")?;
        let result = work(self).and_then(|done| {
            self.connection.execute_batch("COMMIT")?;
            Ok(done)
        });
        if result.is_err() {
            self.snapshot = snapshot;
            // SQLite has rolled back by itself after some errors; then there is nothing to roll back.
            if !self.connection.is_autocommit() {
                self.connection.execute_batch("ROLLBACK")?;
            }
        }
        result
    }

    /// What `LOAD … FROM CONFIG` will read: the configuration file, read anew.
    pub fn set_seed(&mut self, seed: Seed) {
        self.seed = seed;
    }

    /// `SET <name> = <value>`: writes the row of `global_variables` in memory. As in ProxySQL the value is judged by the
    /// next LOAD; what the LOAD would say is returned already.
    ///
    /// # Errors
    /// No such variable, or a read-only one.
    pub fn set_variable(&self, name: &str, value: &str) -> Result<Option<VariableFault>, StoreError> {
        let refused = |reason| StoreError::Variable { name: name.to_owned(), reason };
        let (full_name, effect, fault) =
            judge_variable(name, value).ok_or(refused(VariableFault::Unknown))?;
        if effect == Effect::ReadOnly {
            return Err(refused(VariableFault::ReadOnly));
        }
        let sql = "INSERT OR REPLACE INTO main.global_variables VALUES (?1, ?2)";
        self.connection.execute(sql, (full_name, value))?;
        Ok(fault)
    }

    /// Puts the variable `mysql-<name>` in force at once, and in memory, so that the next LOAD keeps it. What else an admin
    /// has written in memory stays as it is. An open transaction of an admin is committed first.
    ///
    /// # Errors
    /// No such variable, a read-only one, or a value that it does not take; then nothing changed.
    pub fn put_in_force(&mut self, name: &str, value: &str) -> Result<Arc<Snapshot>, StoreError> {
        self.guard.clone().lifted(|| self.atomically(|layers| layers.load_variable(name, value)))
    }

    /// Shows in `runtime_mysql_servers` these rows, each with that status. What is in force does not change, and the next LOAD shows what the
    /// admin asked for again; a SAVE to memory takes what is shown.
    ///
    /// # Errors
    /// SQLite refused.
    pub fn show_servers(&self, servers: &[(Arc<Server>, ServerStatus)]) -> Result<(), StoreError> {
        self.trusted(|connection| show::servers(connection, servers))
    }

    /// The connection, for an admin's own SQL. It may read everything and write the tables of `main` and `disk`; it
    /// may not write `runtime_` tables or statistics, change the schema, or reach other files.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Runs an admin's statement that writes to `disk`: what it writes there in clear is sealed before it is committed.
    /// If either fails, the statement has changed nothing.
    ///
    /// # Errors
    /// The outer: it wrote a value that was sealed with another key, or SQLite refused. The inner: what `work` returns.
    pub fn sealing_disk<T, E>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, E>,
    ) -> Result<Result<T, E>, StoreError> {
        let own_sql = |sql: &str| self.guard.lifted(|| self.connection.execute_batch(sql));
        let undo = match self.connection.is_autocommit() {
            // To release the savepoint would be to commit, which may be what failed.
            true => "ROLLBACK",
            false => "ROLLBACK TO nuthatch_statement; RELEASE nuthatch_statement",
        };
        own_sql("SAVEPOINT nuthatch_statement")?;
        let done = work(&self.connection);
        let kept = match &done {
            Ok(_) => self
                .guard
                .lifted(|| sealing::seal_disk(&self.connection))
                .and_then(|_| Ok(own_sql("RELEASE nuthatch_statement")?)),
            Err(_) => Ok(()),
        };
        let is_undone = done.is_err() || kept.is_err();
        // `INSERT OR ROLLBACK` has ended the transaction by itself, and the savepoint with it.
        if is_undone && !self.connection.is_autocommit() {
            own_sql(undo)?;
        }
        kept.map(|()| done)
    }

    /// Runs the program's own SQL, to which those limits do not apply (creating and filling statistics).
    ///
    /// # Errors
    /// What `work` returns.
    pub fn trusted<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.guard.lifted(|| work(&self.connection))
    }

    /// The names of the tables of a schema (`main`, `disk`, `stats`, …), sorted, without those that are internal.
    ///
    /// # Errors
    /// There is no such schema.
    pub fn tables(&self, schema: &str) -> Result<Vec<String>, StoreError> {
        schema::tables(&self.connection, schema)
    }

    /// The `CREATE TABLE` text of a table; `None` if there is none of that name.
    ///
    /// # Errors
    /// There is no such schema.
    pub fn create_table_text(&self, schema: &str, table: &str) -> Result<Option<String>, StoreError> {
        schema::create_table_text(&self.connection, schema, table)
    }
}

#[cfg(test)]
mod tests;
