//! Whether a statement may have run stored code without our being told what it left in the session.
//!
//! The one place that decides it. What a server tells of (`tracker.rs`) is the truth where it can tell: not behind an error, not in MySQL's EOF
//! packets, and of some things never. Elsewhere what is known of the server's code decides ([`nuthatch_sql::StoredCode`]), by the names in the
//! statement. Guarantees, with the reset of a connection whose session lets go of it: since its last reset nothing ran on a pooled
//! connection that may have run stored code without its being told of.
//!
//! Where nothing is known of the code (nobody needed to, or some has just been made, or no account may see it), the connection is
//! kept *in doubt* ([`Pins::UNSEEN_CODE`]), the servers are looked at, and the doubt is settled by what is found, before the session's next
//! statement.

use std::sync::atomic::Ordering;

use nuthatch_config::HostgroupId;
use nuthatch_sql::{Class, Kind, Leaves, Lexing, ServerFlavor, StoredCode};
use nuthatch_wire::{AnswerEnd, CapabilityFlags, Ending};

use super::Session;
use super::answer::Request;
use super::learn::NEVER_RAN;
use super::lease::Held;
use super::memo::Known;
use super::plan::{Facts, Plan};
use crate::exact::CodeOf;
use crate::exact::Exact;
use crate::pins::Pins;

/// Errors that are found before any stored code runs, if they are not its own: there is no such routine, or it may not be executed.
const BEFORE_STORED_CODE: [u16; 3] = [1305, 1370, 1418];

/// More statements that are in doubt, and longer ones, are not remembered: their doubt stays.
const DOUBTS_MAX: usize = 64;
const DOUBT_BYTES_MAX: usize = 16 << 10;

/// How often a silent session looks whether more is known.
const DOUBT_PAUSE_MS: u64 = 1000;

/// What is known, before a statement is sent, of the stored code that it may run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CodeRun {
    /// What that leaves, if it is known.
    leaves: Option<Leaves>,
    /// It may leave what no server tells of, as far as can be told.
    may_leave_untold: bool,
    /// It may read the session's last insert id.
    pub(super) asks_for_insert_id: bool,
    /// How often code had been made then.
    changes: u64,
}

/// What the server told of the session at the end of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Nothing that it tells of has changed, but by what the text says.
    NoChange,
    /// What the text does not explain has changed.
    Change,
    /// It could not tell, or what it told is of the text.
    Nothing,
}

/// A statement that may have run stored code of which nothing was known.
#[derive(Debug)]
struct Doubt {
    text: Box<[u8]>,
    class: Class,
    lexing: Lexing,
    schema: Box<[u8]>,
    /// How often code had been made then.
    changes: u64,
    least: Leaves,
}

/// The statements on a connection that are in doubt.
///
/// Invariant: while there are any, the connection is kept for [`Pins::UNSEEN_CODE`].
#[derive(Debug, Default)]
pub(super) struct Doubts(Vec<Doubt>);

impl Facts {
    /// Whether the statement needs a connection whose server tells of changes at the end of rows too.
    pub(super) fn must_be_tracked(&self, server: ServerFlavor) -> bool {
        let has_rows = matches!(self.kind, Kind::Select | Kind::Show | Kind::Explain | Kind::Multi);
        has_rows
            && match self.code.leaves {
                Some(leaves) => leaves > Leaves::Nothing,
                None => {
                    self.class.runs_unseen_code()
                        || matches!(server, ServerFlavor::MySql(_)) && self.may_run_code()
                }
            }
    }

    /// Whether the text explains no change of the session, but stored code may make one.
    fn hides_changes(&self) -> bool {
        let may_run_stored_code = matches!(
            self.kind,
            Kind::Select
                | Kind::Insert
                | Kind::Replace
                | Kind::Update
                | Kind::Delete
                | Kind::Do
                | Kind::LoadData
                | Kind::Explain
                | Kind::Commit
                | Kind::Rollback
        );
        let is_several = self.kind == Kind::Multi && self.pins.is_empty();
        (may_run_stored_code || is_several) && self.changes_nothing()
    }

    /// Whether it may run stored code on some server. (No definition but CREATE TABLE of a query does: measured on MariaDB 10.11 and MySQL 9.7, as
    /// is that locking tables, CHECK TABLE and the preparation of a statement run none, nor do cascades of foreign keys.)
    fn may_run_code(&self) -> bool {
        match self.kind {
            Kind::Insert
            | Kind::Replace
            | Kind::Update
            | Kind::Delete
            | Kind::LoadData
            | Kind::Multi
            | Kind::Explain => true,
            Kind::Select | Kind::Do | Kind::Set => !self.names_no_table || self.class.runs_unseen_code(),
            Kind::Show => self.has_query || self.class.runs_unseen_code(),
            Kind::Ddl(_) => self.has_query,
            _ => false,
        }
    }

    /// The least that code must leave for the connection to be kept, after the server told that.
    fn least_that_pins(&self, told: Told, ending: Ending) -> Leaves {
        match (told, ending) {
            (Told::Nothing, Ending::Err(code)) if NEVER_RAN.contains(&code) && !self.runs_texts() => {
                Leaves::Untold
            }
            (Told::Nothing, Ending::Err(code)) if BEFORE_STORED_CODE.contains(&code) => Leaves::Told,
            (Told::Nothing, _) => Leaves::Foreign,
            (Told::NoChange | Told::Change, _) => Leaves::Untold,
        }
    }
}

impl Session {
    /// What is known of the code that a statement runs which goes to that hostgroup.
    pub(super) fn code_run(&self, text: &[u8], known: &Known, hostgroup: HostgroupId) -> CodeRun {
        let memorized = |code: &StoredCode, version| {
            let find = || self.seen_in(text, known.facts.class, code);
            let Some(tag) = memo_tag(version, hostgroup, &self.state.schema) else { return find() };
            match known.code.load(Ordering::Relaxed) {
                memorized if memorized >> LEAVES_BITS == tag => of_bits(memorized),
                _ => {
                    let seen = find();
                    known.code.store(tag << LEAVES_BITS | to_bits(seen), Ordering::Relaxed);
                    seen
                }
            }
        };
        self.code_run_by(hostgroup, memorized)
    }

    fn seen_in(&self, text: &[u8], class: Class, code: &StoredCode) -> Seen {
        Seen {
            leaves: code.leaves(text, class, self.lexing, &self.state.schema),
            asks_for_insert_id: code.asks_for_insert_id(text, self.lexing),
        }
    }

    /// The same of a statement that was prepared by text.
    pub(super) fn code_run_by_name(&self, text: &[u8], class: Class, hostgroup: HostgroupId) -> CodeRun {
        self.code_run_by(hostgroup, |code, _| self.seen_in(text, class, code))
    }

    fn code_run_by(&self, hostgroup: HostgroupId, look: impl FnOnce(&StoredCode, u64) -> Seen) -> CodeRun {
        let catalogues = self.shared.exact.catalogues.look();
        let changes = catalogues.times_code_was_made();
        match catalogues.stored_code(hostgroup) {
            CodeOf::Known(code, version) => {
                let Seen { leaves, asks_for_insert_id } = look(code, version);
                CodeRun { leaves: Some(leaves), may_leave_untold: true, asks_for_insert_id, changes }
            }
            CodeOf::Changed => CodeRun { may_leave_untold: true, changes, ..CodeRun::default() },
            // What it did before it may do now.
            CodeOf::Stale(code) => {
                let Seen { leaves, asks_for_insert_id } = look(code, u64::MAX);
                let may_leave_untold = leaves >= Leaves::Untold;
                CodeRun { leaves: None, may_leave_untold, asks_for_insert_id, changes }
            }
            CodeOf::Unknown => CodeRun { changes, ..CodeRun::default() },
        }
    }

    /// Takes note of what stored code may have left behind the statement, which ended so.
    pub(super) fn learn_stored_code(
        &self,
        request: Request<'_>,
        plan: &Plan,
        end: &AnswerEnd,
        held: &mut Held,
    ) {
        let facts = &plan.facts;
        // What nobody knows anything of, and what an operator vouches for, is judged by its text.
        if facts.is_vouched_for() || facts.pins.contains(Pins::UNKNOWN) {
            return;
        }
        let told = self.told(facts, end, held);
        let least = facts.least_that_pins(told, end.ending);
        let is_as_before = self.shared.exact.catalogues.look().times_code_was_made() == facts.code.changes;
        let counts = told == Told::NoChange || is_as_before || matches!(facts.kind, Kind::Ddl(_));
        match facts.code.leaves.filter(|_| counts) {
            _ if told == Told::Change => held.pins = held.pins.with(Pins::STORED_CODE),
            _ if !facts.may_run_code() => {}
            Some(leaves) if leaves >= least => held.pins = held.pins.with(Pins::STORED_CODE),
            // A function may make up the errors of a parser.
            None if told == Told::Nothing && (least < Leaves::Untold || facts.class.runs_unseen_code()) => {
                self.doubt(request, plan, least, held);
            }
            // What was just made may do what no server tells of.
            None if facts.code.may_leave_untold && is_as_before => self.doubt(request, plan, least, held),
            _ => {}
        }
    }

    fn told(&self, facts: &Facts, end: &AnswerEnd, held: &Held) -> Told {
        let has_failed = matches!(end.ending, Ending::Err(_));
        if has_failed || facts.sets_by_hint || !facts.hides_changes() {
            return Told::Nothing;
        }
        match self.has_changed_unexplained(facts, end, &held.connection) {
            true => Told::Change,
            false if self.can_tell(facts, end, held) => Told::NoChange,
            false => Told::Nothing,
        }
    }

    /// Whether the server would have told of a change: MySQL does in OK packets only.
    fn can_tell(&self, facts: &Facts, end: &AnswerEnd, held: &Held) -> bool {
        let connection = &held.connection;
        let has_rows = end.ending == Ending::ResultSet || facts.is_several();
        let is_mariadb = matches!(self.lexing.server, ServerFlavor::MariaDb(_));
        connection.is_tracked()
            && connection.shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK)
            && (!has_rows || is_mariadb || connection.form().deprecate_eof)
    }

    /// Keeps the connection until it is known what the statement ran.
    fn doubt(&self, request: Request<'_>, plan: &Plan, least: Leaves, held: &mut Held) {
        self.shared.exact.want_stored_code();
        held.pins = held.pins.with(Pins::UNSEEN_CODE);
        let text = match request {
            Request::Text => self.executed_text(plan),
            Request::Execution { text, .. } => text.into(),
        };
        let is_as_before =
            self.shared.exact.catalogues.look().times_code_was_made() == plan.facts.code.changes;
        self.handle.delay_ends_ms.store(self.latest_us / 1000 + 1, Ordering::Relaxed);
        let is_same = |doubt: &Doubt| *doubt.text == *text && doubt.least <= least;
        if held.doubts.0.iter().any(is_same) {
            return;
        }
        if held.doubts.0.len() >= DOUBTS_MAX || text.len() > DOUBT_BYTES_MAX || !is_as_before {
            held.pins = held.pins.with(Pins::STORED_CODE);
            return;
        }
        held.doubts.0.push(Doubt {
            text: text.as_ref().into(),
            class: plan.facts.class,
            lexing: self.lexing,
            schema: self.state.schema.as_slice().into(),
            changes: plan.facts.code.changes,
            least,
        });
    }

    /// Judges by what is known now the statements that were in doubt.
    pub(super) fn settle_doubts(&mut self) {
        for held in &mut self.held {
            if let Some(pins) = judgement_of(&self.shared.exact, held) {
                held.settle_doubts(pins);
            }
        }
    }

    /// The same while the client is silent: connections that are not kept for anything else are put back.
    pub(super) async fn settle_doubts_alone(&mut self) -> Option<u64> {
        let judged = |session: &Self| {
            session
                .held
                .iter()
                .enumerate()
                .find_map(|(place, held)| Some((place, judgement_of(&session.shared.exact, held)?)))
        };
        while let Some((place, pins)) = judged(self) {
            let mut held = self.held.swap_remove(place);
            held.settle_doubts(pins);
            let outcome = Box::pin(self.keep_what_is_known(&mut held)).await;
            self.put_away(held, outcome.as_ref().err());
        }
        let is_in_doubt = self.held.iter().any(|held| !held.doubts.are_none());
        is_in_doubt.then(|| self.latest_us / 1000 + DOUBT_PAUSE_MS)
    }

    /// Whether a reset ends all that stored code may have left on the connection.
    pub(super) fn reset_ends_stored_code(&self, held: &Held) -> bool {
        let may_have_run = held.pins.without(CODE) != held.pins;
        if !may_have_run {
            return true;
        }
        let catalogues = self.shared.exact.catalogues.look();
        let CodeOf::Known(code, _) = catalogues.stored_code(held.hostgroup) else {
            self.shared.exact.want_stored_code();
            return false;
        };
        code.most() < Leaves::Lasting
    }
}

/// Why a connection with statements in doubt is kept, once it is known; none while it is not, or without any.
fn judgement_of(exact: &Exact, held: &Held) -> Option<Pins> {
    let doubts = &held.doubts.0;
    if doubts.is_empty() {
        return None;
    }
    let catalogues = exact.catalogues.look();
    // What the server did not tell of is judged by the code that is there now.
    let is_outdated =
        |doubt: &Doubt| doubt.least < Leaves::Untold && doubt.changes != catalogues.times_code_was_made();
    if doubts.iter().any(is_outdated) || held.connection.server().is_retired() {
        // It will never be known.
        return Some(Pins::STORED_CODE);
    }
    let CodeOf::Known(code, _) = catalogues.stored_code(held.hostgroup) else { return None };
    let has_left =
        |doubt: &Doubt| code.leaves(&doubt.text, doubt.class, doubt.lexing, &doubt.schema) >= doubt.least;
    Some(if doubts.iter().any(has_left) { Pins::STORED_CODE } else { Pins::NONE })
}

impl Doubts {
    pub(super) fn are_none(&self) -> bool {
        self.0.is_empty()
    }
}

impl Held {
    fn settle_doubts(&mut self, pins: Pins) {
        self.doubts = Doubts::default();
        self.pins = self.pins.without(Pins::UNSEEN_CODE).with(pins);
    }
}

/// Reasons to keep a connection because of stored code.
const CODE: Pins = Pins::STORED_CODE.with(Pins::UNSEEN_CODE);

/// What code does that a statement names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Seen {
    leaves: Leaves,
    asks_for_insert_id: bool,
}

/// How many bits of a memorized number say what code does.
const LEAVES_BITS: u32 = 4;

/// Which of them says that it may read the session's last insert id.
const ASKS_BIT: u64 = 1 << 3;

/// All that what is left depends on besides the statement's shape, as a number other than 0; none where it is not memorized.
fn memo_tag(version: u64, hostgroup: HostgroupId, schema: &[u8]) -> Option<u64> {
    let hostgroup = u16::try_from(hostgroup.0).ok()?;
    let is_ordinary = !nuthatch_sql::is_own_schema(schema) && version < 1 << 40;
    is_ordinary.then(|| (version + 1) << 16 | u64::from(hostgroup))
}

const LEAVES: [Leaves; 5] = [Leaves::Nothing, Leaves::Foreign, Leaves::Told, Leaves::Untold, Leaves::Lasting];

const fn to_bits(seen: Seen) -> u64 {
    seen.leaves as u64 | if seen.asks_for_insert_id { ASKS_BIT } else { 0 }
}

fn of_bits(memorized: u64) -> Seen {
    let bits = memorized & (ASKS_BIT - 1);
    let leaves = LEAVES.into_iter().find(|leaves| *leaves as u64 == bits).unwrap_or(Leaves::Lasting);
    Seen { leaves, asks_for_insert_id: memorized & ASKS_BIT != 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_memorized_is_of_one_version_and_hostgroup() {
        for (leaves, asks_for_insert_id) in
            LEAVES.into_iter().flat_map(|leaves| [(leaves, false), (leaves, true)])
        {
            let seen = Seen { leaves, asks_for_insert_id };
            assert_eq!(of_bits(to_bits(seen)), seen);
        }
        let tag =
            |version, hostgroup, schema: &str| memo_tag(version, HostgroupId(hostgroup), schema.as_bytes());
        assert!(tag(0, 0, "s").is_some_and(|tag| tag != 0));
        assert_ne!(tag(0, 1, "s"), tag(1, 1, "s"));
        assert_ne!(tag(0, 1, "s"), tag(0, 2, "s"));
        assert_eq!((tag(0, 1, "SYS"), tag(1 << 40, 1, "s"), tag(0, 1 << 16, "s")), (None, None, None));
    }
}
