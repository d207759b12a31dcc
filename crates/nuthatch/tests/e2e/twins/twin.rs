//! One session twice: through the proxy, and straight at the server with a schema of the same content.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nuthatch_lab::{Kind, ScratchLab};
use nuthatch_wire::{CapabilityFlags, Command};

use crate::client::{Address, Client, Failure, Login, Prepared, Value};
use crate::proxy::Proxy;
use crate::servers;

use super::pieces::{AGAIN, BEGINNING};
use super::step::Step;
use super::visible;

/// Slots of a script.
pub(super) const SLOTS: usize = 4;

/// What the proxy caches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    Off,
    Exact,
}

/// Where sessions come from.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) login: Login,
    pub(super) proxy: Address,
    /// Where the twins go.
    server: Address,
    server_login: Login,
    pub(super) kind: Kind,
    pub(super) cache: Cache,
}

impl Place {
    /// The proxy is before `behind`; twins go to `beside`, which may be the same.
    pub(super) fn new(
        behind: &ScratchLab,
        beside: &ScratchLab,
        kind: Kind,
        cache: Cache,
        proxy: &Proxy,
    ) -> Self {
        Self {
            login: servers::account(behind),
            proxy: Address::Tcp(proxy.mysql),
            // Over its Unix socket MySQL takes a password that it does not know yet.
            server: Address::Unix(beside.primary().socket().to_owned()),
            server_login: servers::account(beside),
            kind,
            cache,
        }
    }
}

/// A step whose answers differ.
#[derive(Debug, Clone)]
pub(super) struct Difference {
    pub(super) place: usize,
    pub(super) direct: Vec<String>,
    pub(super) proxied: Vec<String>,
}

/// How a client logs in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Manner {
    pub(super) collation: u8,
    pub(super) deprecates_eof: bool,
}

/// The two schemas of a session. Their names have one length, and none occurs in other texts.
pub(super) struct Twin {
    place: Place,
    direct: String,
    proxied: String,
}

impl Twin {
    pub(super) fn new(place: &Place, number: usize) -> Self {
        Self { place: place.clone(), direct: format!("tw{number:03}d"), proxied: format!("tw{number:03}p") }
    }

    /// Runs the script on both sides from the same beginning, statement by statement, up to the first difference.
    /// Tells how many statements were compared as well.
    pub(super) fn run(&self, steps: &[Step], manner: Manner) -> (usize, Option<Difference>) {
        self.begin();
        let mut direct = Side::connect(&self.place.server, &self.place.server_login, &self.direct, manner);
        let mut proxied = Side::connect(&self.place.proxy, &self.place.login, &self.proxied, manner);
        let mut in_doubt = false;
        for (place, step) in steps.iter().enumerate() {
            let expected: Vec<String> =
                direct.take(step).iter().map(|text| text.replace(&self.direct, &self.proxied)).collect();
            let found = proxied.take(step);
            if expected == [visible::UNREADABLE] {
                // MySQL 9.7 does that by itself, where an execution without a cursor follows one with a cursor.
                return (place, None);
            }
            let has_failed = is_in_doubt(&expected);
            in_doubt |= has_failed;
            let differs = found != expected;
            if differs && !(in_doubt && visible::differ_in_doubt(&expected, &found)) {
                return (place + 1, Some(Difference { place, direct: expected, proxied: found }));
            }
            // An answer in which both agree ends the doubt, if it tells.
            in_doubt &= has_failed || differs || !expected.iter().any(|text| text.contains("transaction="));
            if direct.is_over {
                return (place + 1, None);
            }
        }
        (steps.len(), None)
    }

    /// Runs the script through the proxy only, for its noise.
    pub(super) fn disturb(&self, steps: &[Step], manner: Manner, is_over: impl Fn() -> bool) {
        let mut proxied = Side::connect(&self.place.proxy, &self.place.login, &self.proxied, manner);
        for step in steps {
            if is_over() || proxied.is_over {
                return;
            }
            drop(proxied.take(step));
        }
    }

    /// Both schemas as every script finds them: the proxy sees what is written to its own, or it would serve what was there before.
    fn begin(&self) {
        let Place { login, proxy, server, server_login, .. } = &self.place;
        for (schema, address, login) in [(&self.direct, server, server_login), (&self.proxied, proxy, login)]
        {
            let mut client = Client::connect(address, login).expect("the login is taken");
            let is_there = client.query(format!("SELECT 1 FROM {schema}.y LIMIT 1")).is_ok();
            let statements: &[&str] = if is_there { &AGAIN } else { &BEGINNING };
            for statement in statements {
                let statement = statement.replace("{s}", schema);
                client.query(&statement).unwrap_or_else(|failure| panic!("{statement}: {failure:?}"));
            }
        }
    }
}

/// Whether the last of the answers was an error.
fn is_in_doubt(answers: &[String]) -> bool {
    answers.last().is_some_and(|answer| answer.starts_with("error"))
}

/// One of the two sessions.
struct Side {
    client: Client,
    login: Login,
    schema: String,
    statements: [Option<Prepared>; SLOTS],
    is_over: bool,
}

impl Side {
    fn connect(address: &Address, login: &Login, schema: &str, manner: Manner) -> Self {
        let flag = CapabilityFlags::CLIENT_DEPRECATE_EOF;
        let login = login.clone().schema(schema).collation(manner.collation);
        let login = if manner.deprecates_eof { login.with(flag) } else { login.without(flag) };
        let mut client = Client::connect(address, &login).expect("the login is taken");
        // In a new session MariaDB 10.11 tells the FOUND_ROWS() of whoever had the thread before.
        client.query("SELECT 1").expect("it is answered");
        Self { client, login, schema: schema.to_owned(), statements: Default::default(), is_over: false }
    }

    /// What the step is answered.
    fn take(&mut self, step: &Step) -> Vec<String> {
        // The client panics at what breaks the protocol; here that is an answer like others, to be compared.
        let performed = catch_unwind(AssertUnwindSafe(|| self.perform(step)));
        let seen = match performed.unwrap_or_else(|_| Ok(vec![visible::UNREADABLE.to_owned()])) {
            Ok(seen) => seen,
            Err(Failure::Server(error)) => vec![visible::one(Err(error), true)],
            Err(Failure::Gone(error)) => vec![visible::gone(&error)],
        };
        self.is_over = seen.iter().any(|text| text.starts_with(visible::GONE));
        seen
    }

    fn perform(&mut self, step: &Step) -> Result<Vec<String>, Failure> {
        let of = |text: &str| text.replace("{s}", &self.schema);
        Ok(match step {
            Step::Query(sql) => visible::answers(self.client.query_whole(of(sql))),
            Step::Prepare(slot, sql) => {
                let statement = self.client.prepare(of(sql))?;
                let seen = visible::prepared(&statement);
                self.statements[*slot] = Some(statement);
                vec![seen]
            }
            Step::InitDb(schema) => vec![visible::command(self.client.init_db(of(schema))?)],
            Step::Ping => self.command(Command::Ping)?,
            Step::ResetConnection => self.command(Command::ResetConnection)?,
            Step::ChangeUser => {
                self.client.change_user(&self.login)?;
                vec![]
            }
            Step::Execute(slot, ..)
            | Step::LongData(slot, ..)
            | Step::Fetch(slot, ..)
            | Step::ResetStatement(slot)
            | Step::Close(slot) => match self.statements[*slot].clone() {
                // It could not be prepared, or a shorter script left that out.
                None => vec![],
                Some(statement) => self.perform_prepared(step, &statement)?,
            },
        })
    }

    fn command(&mut self, command: Command) -> Result<Vec<String>, Failure> {
        Ok(vec![visible::command(self.client.command(command as u8, &[])?)])
    }

    fn perform_prepared(&mut self, step: &Step, statement: &Prepared) -> Result<Vec<String>, Failure> {
        Ok(match step {
            Step::Execute(slot, values, types, cursor) => {
                let wanted = usize::from(statement.parameters);
                let values: Vec<Value> = values.iter().cycle().take(wanted).cloned().collect();
                let whole = self.client.execute_whole(statement, &values, *types, *cursor);
                // What a cursor gives has the columns of the execution, not those that were told when it was prepared.
                if let (Some(prepared), Ok([Ok(answer)])) = (&mut self.statements[*slot], whole.as_deref()) {
                    prepared.types.clone_from(&answer.types);
                }
                visible::answers(whole)
            }
            Step::LongData(_, data) => {
                if statement.parameters > 0 {
                    self.client.send_long_data(statement, 0, data.as_bytes());
                }
                vec![]
            }
            Step::Fetch(_, rows) => vec![visible::one(Ok(self.client.fetch(statement, *rows)?), false)],
            Step::ResetStatement(_) => {
                vec![visible::command(self.client.reset_statement(statement)?)]
            }
            _ => {
                self.client.close(statement);
                vec![]
            }
        })
    }
}
