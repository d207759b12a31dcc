//! A server of the test's own, a proxy before it, and the same tables in a schema for each of the two ways: through the proxy, and
//! straight. What is defined straight is in the other schema, so the proxy is not deceived by it.

use nuthatch_lab::{Kind, Options, ScratchLab};
use nuthatch_wire::CapabilityFlags;

use crate::client::{Client, Value};
use crate::proxy::{Proxy, Setup};
use crate::servers;
use crate::stage;

/// See the module's doc.
pub(crate) struct TwoWays {
    pub(crate) proxy: Proxy,
    lab: ScratchLab,
}

impl TwoWays {
    /// With what `statements` define in both schemas.
    pub(crate) fn new(kind: Kind, setup: Setup, statements: &[&str]) -> Self {
        let options = Options {
            installation: servers::installation(kind),
            replicas: 0,
            buffer_pool_mib: 64,
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        let mut direct = servers::primary(&lab);
        for schema in ["proxied", "straight"] {
            direct.ok(format!("CREATE DATABASE {schema}"));
            direct.init_db(schema).expect("it is there");
            statements.iter().for_each(|statement| drop(direct.ok(statement)));
        }
        let setup = stage::before(setup, &lab).user(stage::user_row(&servers::account(&lab), ""));
        Self { proxy: Proxy::start(&setup), lab }
    }

    /// A session through the proxy.
    pub(crate) fn proxied(&self) -> Client {
        self.proxy.client(&servers::account(&self.lab).schema("proxied"))
    }

    /// The same of a client with more capabilities.
    pub(crate) fn proxied_with(&self, flags: CapabilityFlags) -> Client {
        self.proxy.client(&servers::account(&self.lab).schema("proxied").with(flags))
    }

    /// What an operator says to the proxy.
    pub(crate) fn administer<const N: usize>(&self, statements: [&str; N]) {
        let mut operator = self.proxy.operator();
        statements.iter().for_each(|statement| drop(operator.ok(statement)));
    }

    /// One straight at the server.
    pub(crate) fn straight(&self) -> Client {
        let mut client = servers::primary(&self.lab);
        client.init_db("straight").expect("it is there");
        // In a new session MariaDB 10.11 tells the FOUND_ROWS() of whoever had the thread before.
        client.ok("SELECT 1");
        client
    }

    /// A figure of `stats_mysql_global`.
    pub(crate) fn figure(&self, name: &str) -> u64 {
        stage::figure(&mut self.proxy.operator(), name)
    }
}

/// What a client sees of an answer: rows, or counts, or the number of the error.
pub(crate) fn seen(client: &mut Client, sql: &str) -> String {
    match client.query(sql) {
        Ok(answer) if answer.types.is_empty() => {
            format!("{} rows, id {}", answer.affected_rows, answer.insert_id)
        }
        Ok(answer) => format!("{:?}", answer.table()),
        Err(failure) => format!("error {}", failure.server().code),
    }
}

/// The same of an execution.
pub(crate) fn seen_prepared(client: &mut Client, sql: &str, values: &[Value]) -> String {
    let prepared = match client.prepare(sql) {
        Ok(prepared) => prepared,
        Err(failure) => return format!("error {}", failure.server().code),
    };
    let answer = client.execute(&prepared, values);
    client.close(&prepared);
    match answer {
        Ok(answer) if answer.types.is_empty() => {
            format!("{} rows, id {}", answer.affected_rows, answer.insert_id)
        }
        Ok(answer) => format!("{:?}", answer.table()),
        Err(failure) => format!("error {}", failure.server().code),
    }
}
