//! What a run stands on: a server of its own, a proxy before it, the schema.

mod pair;

use nuthatch_lab::{Kind, Options, ScratchLab, SemiSync};

use crate::client::{Address, Client};
use crate::history::Reads;
use crate::proxy::{Proxy, Setup};
use crate::report::{self, Report};
use crate::run::{End, Place, Primary, Run};
use crate::{schema, servers, stage};

pub(crate) use pair::{Changes, Pair};

const SCHEMA: &str = "freshness";

/// A run while the primary changes again and again, and what was done to it.
pub(crate) fn run_while_the_primary_changes(
    kind: Kind,
    setup: Setup,
    reads: Reads,
    end: End,
) -> (Report, Changes) {
    let mut pair = Pair::new(kind, setup, SemiSync::AfterSync, &schema::statements());
    let report = Run::go_while(pair.place(reads), end, |run| pair.change_until_over(run));
    let answered = report::answered(&mut pair.proxy.operator());
    (Report { answered, ..report }, pair.changes)
}

/// A run in which a failover loses what was acknowledged.
pub(crate) fn run_while_writes_are_lost(kind: Kind, setup: Setup, end: End) -> Report {
    let mut pair = Pair::new(kind, setup, SemiSync::Off, &schema::statements());
    Run::go_while(pair.place(Reads::Current), end, |run| pair.lose_writes(run))
}

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Ground {
    lab: ScratchLab,
    proxy: Proxy,
}

impl Ground {
    /// `setup` says what is cached.
    pub(crate) fn new(kind: Kind, setup: Setup) -> Self {
        let options = Options {
            installation: servers::installation(kind),
            replicas: 0,
            buffer_pool_mib: 64,
            connections_max: 300,
            ..Options::default()
        };
        let lab = ScratchLab::up(&options).expect("a server comes up");
        let login = servers::account(&lab);
        let setup = stage::before(setup, &lab).user(stage::user_row(&login, ""));
        let proxy = Proxy::start(&setup);
        let ground = Self { lab, proxy };
        ground.fill();
        ground
    }

    fn fill(&self) {
        let mut client = Client::connect(&self.server(), &servers::account(&self.lab))
            .expect("the server takes the login");
        client.ok(format!("CREATE DATABASE {SCHEMA}"));
        client.ok(format!("USE {SCHEMA}"));
        for statement in schema::statements() {
            client.ok(statement);
        }
    }

    /// A run through the proxy. Once for each ground: the schema must be as it was made.
    pub(crate) fn run_through_the_proxy(self, end: End) -> Report {
        let report = Run::go(self.place(Address::Tcp(self.proxy.mysql)), end);
        Report { answered: report::answered(&mut self.proxy.operator()), ..report }
    }

    /// The same straight at the server.
    pub(crate) fn run_at_the_server(self, end: End) -> Report {
        Run::go(self.place(self.server()), end)
    }

    /// The same with every session at this level, whatever the checker takes it for.
    pub(crate) fn run_at_level(self, level: &'static str, end: End) -> Report {
        Run::go(Place { level: Some(level), ..self.place(self.server()) }, end)
    }

    fn place(&self, address: Address) -> Place {
        Place {
            address,
            login: servers::account(&self.lab).schema(SCHEMA),
            level: None,
            primary: Primary::Stays,
            reads: Reads::Current,
        }
    }

    /// Over its Unix socket MySQL takes a password that it does not know yet.
    fn server(&self) -> Address {
        Address::Unix(self.lab.primary().socket().to_owned())
    }
}
