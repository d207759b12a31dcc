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
use nuthatch_sql::{Class, Kind, Leaves, ServerFlavor, StoredCode};
use nuthatch_wire::{AnswerEnd, CapabilityFlags, Ending};

use crate::exact::{CodeOf, Exact};
use crate::session::Session;
use crate::session::after::tracker::has_changed_unexplained;
use crate::session::parts::{CODE, Context, Doubt, Ground, Held};
use crate::session::statement::{
    CodeRun, Facts, Known, LEAVES_BITS, Plan, Request, Seen, Told, memo_tag, of_bits, to_bits,
};
use crate::stats::pins::Pins;

/// More statements that are in doubt, and longer ones, are not remembered: their doubt stays.
const DOUBTS_MAX: usize = 64;

const DOUBT_BYTES_MAX: usize = 16 << 10;

/// How often a silent session looks whether more is known.
const DOUBT_PAUSE_MS: u64 = 1000;

impl Session {
    /// Takes note of what stored code may have left behind the statement, which ended so.
    pub(crate) fn learn_stored_code(
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
        let told = told(&self.context, facts, end, held);
        let least = facts.least_that_pins(told, end.ending);
        let is_as_before =
            self.ground.shared.exact.catalogues.look().times_code_was_made() == facts.code.changes;
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

    /// Keeps the connection until it is known what the statement ran.
    fn doubt(&self, request: Request<'_>, plan: &Plan, least: Leaves, held: &mut Held) {
        self.ground.shared.exact.want_stored_code();
        held.pins = held.pins.with(Pins::UNSEEN_CODE);
        let text = match request {
            Request::Text => self.executed_text(plan),
            Request::Execution { text, .. } => text.into(),
        };
        let is_as_before =
            self.ground.shared.exact.catalogues.look().times_code_was_made() == plan.facts.code.changes;
        self.ground.handle.delay_ends_ms.store(self.ground.latest_us / 1000 + 1, Ordering::Relaxed);
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
            lexing: self.context.lexing,
            schema: self.context.state.schema.as_slice().into(),
            changes: plan.facts.code.changes,
            least,
        });
    }

    /// Judges by what is known now the statements that were in doubt.
    pub(crate) fn settle_doubts(&mut self) {
        for held in &mut self.hands.held {
            if let Some(pins) = judgement_of(&self.ground.shared.exact, held) {
                held.settle_doubts(pins);
            }
        }
    }

    /// The same while the client is silent: connections that are not kept for anything else are put back.
    pub(crate) async fn settle_doubts_alone(&mut self) -> Option<u64> {
        let judged =
            |session: &Self| {
                session.hands.held.iter().enumerate().find_map(|(place, held)| {
                    Some((place, judgement_of(&session.ground.shared.exact, held)?))
                })
            };
        while let Some((place, pins)) = judged(self) {
            let mut held = self.hands.held.swap_remove(place);
            held.settle_doubts(pins);
            let outcome = Box::pin(self.keep_what_is_known(&mut held)).await;
            self.put_away(held, outcome.as_ref().err());
        }
        let is_in_doubt = self.hands.held.iter().any(|held| !held.doubts.are_none());
        is_in_doubt.then(|| self.ground.latest_us / 1000 + DOUBT_PAUSE_MS)
    }

    /// Whether a reset ends all that stored code may have left on the connection.
    pub(crate) fn reset_ends_stored_code(&self, held: &Held) -> bool {
        let may_have_run = held.pins.without(CODE) != held.pins;
        if !may_have_run {
            return true;
        }
        let catalogues = self.ground.shared.exact.catalogues.look();
        let CodeOf::Known(code, _) = catalogues.stored_code(held.hostgroup) else {
            self.ground.shared.exact.want_stored_code();
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

/// What is known of the code that a statement runs which goes to that hostgroup.
pub(crate) fn code_run(
    ground: &Ground,
    context: &Context,
    text: &[u8],
    known: &Known,
    hostgroup: HostgroupId,
) -> CodeRun {
    let memorized = |code: &StoredCode, version| {
        let find = || seen_in(context, text, known.facts.class, code);
        let Some(tag) = memo_tag(version, hostgroup, &context.state.schema) else { return find() };
        match known.code.load(Ordering::Relaxed) {
            memorized if memorized >> LEAVES_BITS == tag => of_bits(memorized),
            _ => {
                let seen = find();
                known.code.store(tag << LEAVES_BITS | to_bits(seen), Ordering::Relaxed);
                seen
            }
        }
    };
    code_run_by(ground, hostgroup, memorized)
}

fn seen_in(context: &Context, text: &[u8], class: Class, code: &StoredCode) -> Seen {
    Seen {
        leaves: code.leaves(text, class, context.lexing, &context.state.schema),
        asks_for_insert_id: code.asks_for_insert_id(text, context.lexing),
    }
}

/// The same of a statement that was prepared by text.
pub(crate) fn code_run_by_name(
    ground: &Ground,
    context: &Context,
    text: &[u8],
    class: Class,
    hostgroup: HostgroupId,
) -> CodeRun {
    code_run_by(ground, hostgroup, |code, _| seen_in(context, text, class, code))
}

fn code_run_by(
    ground: &Ground,
    hostgroup: HostgroupId,
    look: impl FnOnce(&StoredCode, u64) -> Seen,
) -> CodeRun {
    let catalogues = ground.shared.exact.catalogues.look();
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

fn told(context: &Context, facts: &Facts, end: &AnswerEnd, held: &Held) -> Told {
    let has_failed = matches!(end.ending, Ending::Err(_));
    if has_failed || facts.sets_by_hint || !facts.hides_changes() {
        return Told::Nothing;
    }
    match has_changed_unexplained(context, facts, end, &held.connection) {
        true => Told::Change,
        false if can_tell(context, facts, end, held) => Told::NoChange,
        false => Told::Nothing,
    }
}

/// Whether the server would have told of a change: MySQL does in OK packets only.
fn can_tell(context: &Context, facts: &Facts, end: &AnswerEnd, held: &Held) -> bool {
    let connection = &held.connection;
    let has_rows = end.ending == Ending::ResultSet || facts.is_several();
    let is_mariadb = matches!(context.lexing.server, ServerFlavor::MariaDb(_));
    connection.is_tracked()
        && connection.shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK)
        && (!has_rows || is_mariadb || connection.form().deprecate_eof)
}
