//! Pairs at the server itself: wherever the answer differs after the write, the clocks say so.
//!
//! Nothing is cached here. Every answer is judged as if it had been, with the clocks that follow from both statements' footprints.
//! Templates, where there are, must give the same footprints.

use std::collections::HashMap;
use std::path::PathBuf;

use nuthatch_lab::{Kind, ScratchLab};
use nuthatch_net::{BackendAddress, BackendPassword, ClearPasswords};
use nuthatch_proxy::Judge;
use nuthatch_source::{Login, Picture, TableIds, look};
use nuthatch_sql::{
    Catalogue, Class, Lexing, ReadFootprint, WriteFootprint, WriteTemplate, classify, read_footprint, shape,
    write_footprint,
};

use crate::answer::Told;
use crate::author::{Author, Ending, Pair, Sessions};
use crate::client::Client;
use crate::random::Random;
use crate::report::Outcome;
use crate::rounds::Trial;
use crate::schema::{SCHEMA, statements};
use crate::statement::Statement;
use crate::{ground, servers};

/// More than a schema has.
const TABLES_MAX: u32 = 10_000;

/// What is done to footprints before they are judged, so that a fault is there to be found.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Distortion {
    /// The number of rows too.
    pub(crate) read: Option<fn(&mut ReadFootprint, &mut u64)>,
    pub(crate) write: Option<fn(&mut WriteFootprint)>,
}

/// One session, and what is known of the server's tables.
pub(crate) struct AtServer {
    server: Kind,
    session: Client,
    address: BackendAddress,
    login: Login,
    ids: TableIds,
    picture: Picture,
    /// By the shapes that they are of, made by this picture.
    templates: HashMap<Vec<u8>, WriteTemplate>,
    lexing: Lexing,
    judge: Judge,
    distortion: Distortion,
    runtime: tokio::runtime::Runtime,
    _lab: ScratchLab,
}

impl AtServer {
    /// At a server of its own.
    pub(crate) fn new(server: Kind, distortion: Distortion) -> Self {
        let lab = ground::lab(server);
        let account = servers::account(&lab);
        let session = Client::connect(&ground::socket(&lab), &account).expect("the login is taken");
        let login = Login {
            user: account.user.clone(),
            password: BackendPassword::Clear(account.password.into_bytes()),
            tls: None,
            clear_passwords: ClearPasswords::Refused,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let ids = TableIds::new(TABLES_MAX);
        let address = BackendAddress::Unix(PathBuf::from(lab.primary().socket()));
        let picture = runtime.block_on(look(&address, &login, &ids, true)).expect("the catalogue is read");
        let lexing = Lexing::of(picture.flavor);
        let judge = Judge::default();
        let templates = HashMap::new();
        Self {
            server,
            session,
            address,
            login,
            ids,
            picture,
            templates,
            lexing,
            judge,
            distortion,
            runtime,
            _lab: lab,
        }
    }

    pub(crate) fn session(&mut self) -> &mut Client {
        &mut self.session
    }

    /// What the last look told.
    pub(crate) fn known(&self) -> (Lexing, &Catalogue) {
        (self.lexing, &self.picture.catalogue)
    }

    pub(crate) fn look(&mut self) {
        let picture = self.runtime.block_on(look(&self.address, &self.login, &self.ids, true));
        self.picture = picture.expect("the catalogue is read");
        self.templates.clear();
    }

    fn read_footprint(&self, read: &Statement) -> Result<ReadFootprint, String> {
        let parameters = read.parameters();
        let catalogue = &self.picture.catalogue;
        let footprint = read_footprint(
            read.sql.as_bytes(),
            self.class(read),
            self.lexing,
            SCHEMA.as_bytes(),
            catalogue,
            &parameters,
        );
        footprint.map_err(|reason| reason.to_string())
    }

    fn class(&self, statement: &Statement) -> Class {
        Class::of(&classify(statement.sql.as_bytes(), self.lexing))
    }

    fn write_footprint(&mut self, write: &Statement) -> WriteFootprint {
        let parameters = write.parameters();
        let catalogue = &self.picture.catalogue;
        let (text, class, schema) = (write.sql.as_bytes(), self.class(write), SCHEMA.as_bytes());
        let mut footprint = write_footprint(text, class, self.lexing, schema, catalogue, &parameters);
        let mut of_shape = Vec::new();
        if shape(text, self.lexing, &mut of_shape) {
            let known = self.templates.get(&of_shape);
            let by_template =
                known.and_then(|known| known.footprint(text, class, self.lexing, schema, &parameters));
            if let Some(by_template) = by_template {
                assert_eq!(by_template, footprint, "{}", write.sql);
            } else {
                let made = WriteTemplate::of(text, class, self.lexing, schema, catalogue, &parameters);
                made.and_then(|made| self.templates.insert(of_shape, made));
            }
        }
        if let Some(distort) = self.distortion.write {
            distort(&mut footprint);
        }
        footprint
    }

    /// Runs the writes; says whether what was read before is forgotten by them, and what the last was told.
    fn write(&mut self, writes: &[Statement], read: Option<(&ReadFootprint, u64)>) -> (bool, Told) {
        let mut is_forgotten = false;
        let mut last = None;
        for write in writes {
            let footprint = self.write_footprint(write);
            let kind = classify(write.sql.as_bytes(), self.lexing).kind;
            let told = write.run(&mut self.session);
            let ids = (!told.is_refused()).then_some((told.affected_rows, told.insert_id));
            is_forgotten |=
                read.is_some_and(|(read, rows)| self.judge.is_forgotten(read, rows, footprint, kind, ids));
            last = Some(told);
        }
        (is_forgotten, last.expect("a pair writes"))
    }
}

impl Trial for AtServer {
    fn author(&self, random: Random) -> Author {
        Author::new(random, self.server, Sessions::Plain)
    }

    fn begin(&mut self, sql_mode: &str) {
        self.session.ok("SET SESSION sql_mode = '', auto_increment_increment = 1");
        for statement in statements(self.server) {
            self.session.ok(statement);
        }
        self.session.ok(format!("SET SESSION sql_mode = '{sql_mode}'"));
        self.lexing.ansi_quotes = sql_mode.starts_with("ANSI");
        self.lexing.no_backslash_escapes = sql_mode == "NO_BACKSLASH_ESCAPES";
        self.look();
    }

    /// What writes rows only is mostly undone, so that the tables stay full.
    fn attempt(&mut self, pair: &Pair) -> Outcome {
        let is_undone = !pair.goes_beyond_rows() && pair.ending != Ending::Commit;
        if is_undone {
            self.session.ok("BEGIN");
        }
        let footprint = self.read_footprint(&pair.read);
        let before = pair.read.run(&mut self.session);
        let mut rows = before.rows;
        let mut footprint =
            if before.is_refused() { Err("the server refuses it".to_owned()) } else { footprint };
        if let (Some(distort), Ok(footprint)) = (self.distortion.read, &mut footprint) {
            distort(footprint, &mut rows);
        }
        let read = footprint.as_ref().ok().map(|footprint| (footprint, rows));
        let (is_forgotten, written) = self.write(&pair.writes, read);
        let after = pair.read.run(&mut self.session);
        if is_undone {
            self.session.ok("ROLLBACK");
        }
        if pair.defines() {
            self.look();
        }
        let has_changed = before != after;
        let is_wrong = footprint.is_ok() && has_changed && !is_forgotten;
        Outcome {
            difference: is_wrong.then(|| format!("{footprint:?}\n  before {before:?}\n  after {after:?}")),
            cached: footprint.map(drop),
            has_changed,
            is_kept: !is_forgotten,
            given: written.insert_id,
        }
    }
}
