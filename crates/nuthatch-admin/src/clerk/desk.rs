//! The desk: what each command does, on the clerk's thread.
//!
//! It holds the layers, the scout and the data plane. A call either happens wholly or is refused, or is held because
//! another session's transaction is open; then nothing of it has happened.

mod select;
mod verbs;

use std::fmt;
use std::sync::{Arc, Weak};

use nuthatch_config::Layers;
use rusqlite::types::Value;

use super::functions::Functions;
use super::scout::Scout;
use super::watch::{STATEMENT_MAX, Watch};
use super::{Call, Caller, TransactionState, Undone};
use crate::answer::{Answer, Done};
use crate::command::{Command, help};
use crate::credentials::{Credentials, Rights};
use crate::data_plane::{DataPlane, Killed, Reading};
use crate::error::AdminError;
use crate::start_error::StartError;
use crate::{information_schema, metrics, stats};

/// SQLite, the configuration and the running proxy, in one hand.
pub(crate) struct Desk {
    layers: Layers,
    scout: Scout,
    functions: Functions,
    watch: Watch,
    plane: Arc<dyn DataPlane>,
    credentials: Credentials,
    /// Whose transaction is open on the shared connection.
    transaction: Option<Weak<Caller>>,
}

impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk").finish_non_exhaustive()
    }
}

impl Desk {
    /// Adds the schemas of this crate to the layers' connection and puts the accounts in force.
    pub(crate) fn set_up(
        layers: Layers,
        plane: Arc<dyn DataPlane>,
        credentials: Credentials,
    ) -> Result<Self, StartError> {
        layers.trusted(|connection| {
            stats::create(connection)?;
            Ok(information_schema::attach(connection)?)
        })?;
        let schemas = schemas(&layers)?;
        let scout = Scout::of(layers.connection(), &schemas)?;
        let functions = Functions::install(layers.connection())?;
        let watch = Watch::start(layers.connection(), STATEMENT_MAX)?;
        let desk = Self { layers, scout, functions, watch, plane, credentials, transaction: None };
        desk.enforce_credentials();
        Ok(desk)
    }

    /// The names of all schemas.
    pub(crate) fn schemas(&self) -> Result<Vec<String>, StartError> {
        schemas(&self.layers)
    }

    /// Whether this session has a transaction open.
    pub(super) fn transaction_of(&self, caller: &Arc<Caller>) -> TransactionState {
        match &self.transaction {
            Some(owner) if owner.ptr_eq(&Arc::downgrade(caller)) => TransactionState::Open,
            _ => TransactionState::None,
        }
    }

    /// Does what the call asks.
    pub(super) fn handle(&mut self, call: &Call) -> Result<Answer, Undone> {
        self.end_orphaned_transaction()?;
        self.functions.serve(call);
        let rights = call.caller.rights;
        match &call.command {
            Command::Nothing => Ok(Answer::done()),
            Command::Sql(sql) => self.sql(call, sql),
            Command::EndTransaction(sql) => self.end_transaction(call, sql),
            Command::Show(show) => self.show(call, show),
            Command::PrometheusMetrics => Ok(Answer::texts("Data", [metrics::text(self.plane.as_ref())])),
            Command::ExplainCache(statement) => {
                Ok(Answer::findings(self.plane.explain_cache(statement).map_err(AdminError::Malformed)?))
            }
            Command::Help => Ok(Answer::verbs(help())),
            Command::StatisticsLine => Ok(Answer::texts("", [self.statistics_line()])),
            Command::Malformed(reason) => Err(AdminError::Malformed(reason.clone()).into()),
            Command::Unsupported(what) => Err(AdminError::Unsupported(what.clone()).into()),
            _ if rights == Rights::ReadStats => Err(AdminError::StatsAccount.into()),
            // It takes its time: nobody else waits for it.
            Command::Use(_)
            | Command::Warnings
            | Command::WarningCount
            | Command::Switchover(_)
            | Command::Failover(_) => {
                Err(AdminError::Malformed("this is the session's to answer".to_owned()).into())
            }
            Command::SetVariable { name, value } => self.set_variable(call, name, value),
            Command::Transfer(verb) => self.transfer(call, verb),
            Command::PutInForce { name, value } => self.put_in_force(call, name, value),
            Command::EmptyQueryCache => {
                let entries = self.plane.flush_query_cache();
                tracing::info!(entries, "the query cache was purged by an operator");
                Ok(Answer::done())
            }
            Command::PurgeQueryCache(statement) => {
                let (affected_rows, told) =
                    self.plane.purge_query_cache(statement).map_err(AdminError::Refused)?;
                tracing::info!(told, "an operator purged a part of the query cache");
                Ok(Answer::Done(Done { affected_rows, warnings: vec![told], ..Done::default() }))
            }
            Command::ReloadTls => {
                self.plane.reload_tls().map_err(AdminError::Refused)?;
                Ok(Answer::done())
            }
            Command::Act(verb) => {
                tracing::info!(?verb, user = call.caller.user, "an operator acts on the process");
                self.plane.act(*verb);
                Ok(Answer::done())
            }
            Command::Order { hostgroup, order } => {
                tracing::info!(?order, hostgroup, user = call.caller.user, "an operator orders a hostgroup");
                self.plane.order(*hostgroup, *order).map_err(AdminError::Refused)?;
                Ok(Answer::done())
            }
            Command::Kill(session) => match self.plane.kill_connection(*session) {
                Killed::Told => Ok(Answer::done()),
                Killed::Unknown => Err(AdminError::UnknownSession(*session).into()),
            },
            Command::TruncateDigests => {
                drop(self.plane.query_digests(Reading::Reset));
                Ok(Answer::done())
            }
        }
    }

    /// Rolls back a transaction whose session is gone, so that it holds nobody.
    fn end_orphaned_transaction(&mut self) -> Result<(), AdminError> {
        if self.transaction.as_ref().is_some_and(|owner| owner.strong_count() == 0) {
            self.layers.connection().execute_batch("ROLLBACK")?;
            self.transaction = None;
        }
        Ok(())
    }

    /// Refuses for now what touches the configuration while another session has a transaction open.
    fn wait_for_others(&self, caller: &Arc<Caller>) -> Result<(), Undone> {
        if self.transaction.is_some() && self.transaction_of(caller) == TransactionState::None {
            return Err(Undone::Held);
        }
        Ok(())
    }

    /// Takes note of who has a transaction open after a statement of this session.
    fn note_transaction(&mut self, caller: &Arc<Caller>) {
        if self.layers.connection().is_autocommit() {
            self.transaction = None;
        } else if self.transaction.is_none() {
            self.transaction = Some(Arc::downgrade(caller));
        }
    }

    /// Puts the accounts of the configuration in force.
    fn enforce_credentials(&self) {
        let admin = &self.layers.snapshot().admin;
        self.credentials.replace(admin.admin_credentials.clone(), admin.stats_credentials.clone());
    }
}

fn schemas(layers: &Layers) -> Result<Vec<String>, StartError> {
    let mut found = Vec::new();
    layers.trusted(|connection| {
        found = information_schema::schemas(connection)?;
        Ok(())
    })?;
    Ok(found)
}

/// A variable's text as a value: a number where it is one.
fn typed(text: String) -> Value {
    text.parse().map_or(Value::Text(text), Value::Integer)
}
