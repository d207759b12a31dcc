//! Sessions that write by DDL.

use std::borrow::Cow;

use crate::connection::{Form, Statement};
use crate::question::{Kind, Question};
use crate::register::{Content, Owner, Register, SIDE_ROWS, Sight};
use crate::report::Tally;
use crate::session::Session;

/// Longest pause between two looks whether to define.
const PAUSE_MS_MAX: usize = 300;

/// What a session defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    /// A column that is dropped and added with another value in every row, and one of `item` that comes and goes.
    Columns,
    /// A view whose text holds a version.
    View,
    /// A table that is truncated and filled.
    Truncation,
}

impl Definition {
    pub(crate) const ALL: [Self; 3] = [Self::Columns, Self::View, Self::Truncation];

    pub(crate) const fn owner(self) -> Owner {
        match self {
            Self::Columns => Owner::ALTERED,
            Self::View => Owner::GLANCE,
            Self::Truncation => Owner::SIDE,
        }
    }

    /// The reads that show it.
    const fn kind(self) -> Kind {
        match self {
            Self::Columns => Kind::Altered,
            Self::View => Kind::View,
            Self::Truncation => Kind::Side,
        }
    }
}

/// One statement, and what it leaves.
#[derive(Debug)]
struct Step {
    what: &'static str,
    sql: Cow<'static, str>,
    changes: Vec<Sight>,
}

#[derive(Debug)]
pub(crate) struct Definer<'a> {
    session: Session<'a>,
    /// Somebody else, who looks just before and just after.
    witness: Session<'a>,
    definition: Definition,
    steps_done: u64,
}

impl<'a> Definer<'a> {
    pub(crate) const fn new(session: Session<'a>, witness: Session<'a>, definition: Definition) -> Self {
        Self { session, witness, definition, steps_done: 0 }
    }

    /// Defines until the run is over.
    pub(crate) fn run(mut self) -> Tally {
        while !self.session.run.is_over() {
            self.session.pause(PAUSE_MS_MAX);
            if self.session.run.is_definition_due() {
                self.turn();
            }
        }
        self.session.tally.add(&self.witness.tally);
        self.session.tally
    }

    fn turn(&mut self) {
        let question = Question::about_definitions(self.definition.kind(), &mut self.session.random);
        let form = self.session.form();
        self.witness.read(&question, form);
        let version = self.session.run.next_version();
        self.take(self.step(version));
        self.witness.read(&question, form);
    }

    fn step(&self, version: i64) -> Step {
        let is_odd = !self.steps_done.is_multiple_of(2);
        let changed = |register| vec![Sight { register, content: Some(version) }];
        match self.definition {
            Definition::Columns if self.steps_done % 8 == 7 => Step {
                what: "add a column to item",
                sql: "ALTER TABLE item ADD COLUMN spare INT NOT NULL DEFAULT 5".into(),
                changes: Vec::new(),
            },
            Definition::Columns if self.steps_done % 8 == 3 && self.steps_done > 8 => Step {
                what: "drop a column of item",
                sql: "ALTER TABLE item DROP COLUMN spare".into(),
                changes: Vec::new(),
            },
            Definition::Columns => Step {
                what: "drop and add a column",
                sql: format!(
                    "ALTER TABLE altered DROP COLUMN edition, ADD COLUMN edition BIGINT NOT NULL DEFAULT {version}"
                )
                .into(),
                changes: changed(Register::Altered),
            },
            Definition::View => Step {
                what: "replace a view",
                sql: format!(
                    "CREATE OR REPLACE VIEW glance AS SELECT id, grp, version, {version} AS edition FROM item"
                )
                .into(),
                changes: changed(Register::Glance),
            },
            Definition::Truncation if is_odd => {
                Step { what: "truncate", sql: "TRUNCATE TABLE side".into(), changes: side(None) }
            }
            Definition::Truncation => {
                let rows: Vec<String> = (1..=SIDE_ROWS).map(|id| format!("({id}, {version})")).collect();
                Step {
                    what: "insert of several rows",
                    sql: format!("INSERT INTO side VALUES {}", rows.join(", ")).into(),
                    changes: side(Some(version)),
                }
            }
        }
    }

    fn take(&mut self, step: Step) {
        let (run, owner) = (self.session.run, self.definition.owner());
        let statement = Statement::new(step.sql, []);
        run.history.send(owner, &step.changes, run.now());
        let outcome = self.session.connection.run(&statement, Form::Text);
        if self.session.forgive(&statement, outcome).is_none() {
            run.history.retract(owner);
            return;
        }
        run.history.acknowledge(owner, run.now());
        run.count_definition();
        self.session.tally.wrote(step.what);
        self.steps_done += 1;
    }
}

/// Every row of the table alike.
fn side(content: Content) -> Vec<Sight> {
    (1..=SIDE_ROWS).map(|id| Sight { register: Register::Side(id), content }).collect()
}
