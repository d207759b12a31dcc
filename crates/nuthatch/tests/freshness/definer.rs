//! Sessions that write what no transaction holds: by DDL, and to a table without transactions.

use std::borrow::Cow;

use crate::connection::{Form, Statement};
use crate::question::{Kind, Question};
use crate::register::{Content, Contents, Owner, Register, SIDE_ROWS, Sight};
use crate::report::Tally;
use crate::run::Primary;
use crate::schema;
use crate::session::{Session, Setback};
use crate::stock;

/// Longest pause between two looks whether to define.
const PAUSE_MS_MAX: usize = 300;

/// The same of rows.
const PAUSE_OF_ROWS_MS_MAX: usize = 40;

/// What a session defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    /// A column that is dropped and added with another value in every row, and one of `item` that comes and goes.
    Columns,
    /// A view whose text holds a version.
    View,
    /// A table that is truncated and filled.
    Truncation,
    /// A table's comment, which holds a version.
    Comment,
    /// Rows of a table without transactions.
    Rows,
}

impl Definition {
    pub(crate) const ALL: [Self; 5] =
        [Self::Columns, Self::View, Self::Truncation, Self::Comment, Self::Rows];

    pub(crate) const fn owner(self) -> Owner {
        match self {
            Self::Columns => Owner::ALTERED,
            Self::View => Owner::GLANCE,
            Self::Truncation => Owner::SIDE,
            Self::Comment => Owner::TOLD,
            Self::Rows => Owner::LEGACY,
        }
    }

    /// The reads that show it.
    const fn kind(self) -> Kind {
        match self {
            Self::Columns => Kind::Altered,
            Self::View => Kind::View,
            Self::Truncation => Kind::Side,
            Self::Comment => Kind::Told,
            Self::Rows => Kind::Legacy,
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
    /// What is there for all to see.
    defined: Contents,
}

impl<'a> Definer<'a> {
    pub(crate) fn new(session: Session<'a>, witness: Session<'a>, definition: Definition) -> Self {
        let mut defined = schema::contents();
        defined.retain(|register, _| register.owner() == definition.owner());
        Self { session, witness, definition, steps_done: 0, defined }
    }

    /// Defines until the run is over.
    pub(crate) fn run(mut self) -> Tally {
        while !self.session.run.is_over() {
            let is_due = if self.definition == Definition::Rows {
                self.session.pause(PAUSE_OF_ROWS_MS_MAX);
                self.session.run.is_write_due()
            } else {
                self.session.pause(PAUSE_MS_MAX);
                self.session.run.is_definition_due()
            };
            if is_due {
                self.turn();
            }
        }
        if self.session.run.place.primary == Primary::MayDie {
            stock::check(&mut self.session, &self.defined);
        }
        self.session.tally.add(&self.witness.tally);
        self.session.tally
    }

    fn turn(&mut self) {
        let question = Question::about_definitions(self.definition.kind(), &mut self.session.random);
        let form = self.session.form();
        self.witness.read(&question, form);
        self.session.pause_before_write();
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
                changes: vec![Sight { register: Register::Spare, content: Some(1) }],
            },
            Definition::Columns if self.steps_done % 8 == 3 && self.steps_done > 8 => Step {
                what: "drop a column of item",
                sql: "ALTER TABLE item DROP COLUMN spare".into(),
                changes: vec![Sight { register: Register::Spare, content: None }],
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
            Definition::Comment => Step {
                what: "change a comment",
                sql: format!("ALTER TABLE told COMMENT = '{version}'").into(),
                changes: changed(Register::Told),
            },
            Definition::Rows => self.step_of_rows(version),
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

    /// Each fourth step writes all rows, the others one; every second of these is deleted and inserted again.
    fn step_of_rows(&self, version: i64) -> Step {
        let round = i64::try_from(self.steps_done / 4).expect("a run has an end");
        let id = 1 + round % SIDE_ROWS;
        let (what, sql, written, content) = match (self.steps_done % 4, round % 2) {
            (0, _) => (
                "update of all",
                format!("UPDATE legacy SET version = {version}"),
                1..=SIDE_ROWS,
                Some(version),
            ),
            (1, 0) => ("delete", format!("DELETE FROM legacy WHERE id = {id}"), id..=id, None),
            (2, 0) => {
                ("insert", format!("INSERT INTO legacy VALUES ({id}, {version})"), id..=id, Some(version))
            }
            _ => {
                let sql = format!("UPDATE legacy SET version = {version} WHERE id = {id}");
                ("update", sql, id..=id, Some(version))
            }
        };
        let changes = written.map(|id| Sight { register: Register::Legacy(id), content }).collect();
        Step { what, sql: sql.into(), changes }
    }

    fn take(&mut self, step: Step) {
        let (run, owner) = (self.session.run, self.definition.owner());
        let mut after = self.defined.clone();
        after.extend(step.changes.iter().map(|change| (change.register, change.content)));
        let statement = Statement::new(step.sql, []);
        run.history.send(owner, &step.changes, run.now());
        let is_done = match self.session.attempt(&statement, Form::Text) {
            Ok(_) => true,
            Err(Setback::Refused) => false,
            Err(Setback::Doubt) => stock::is_done(&mut self.session, &self.defined, &after),
        };
        if !is_done {
            return self.session.retract(owner);
        }
        run.history.acknowledge(owner, run.now());
        self.defined = after;
        match self.definition {
            Definition::Rows => run.count_write(),
            _ => run.count_definition(),
        }
        self.session.tally.wrote(step.what);
        self.steps_done += 1;
    }
}

/// Every row of the table alike.
fn side(content: Content) -> Vec<Sight> {
    (1..=SIDE_ROWS).map(|id| Sight { register: Register::Side(id), content }).collect()
}
