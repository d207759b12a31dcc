//! Whether a statement may have run stored code without our being told what it left in the session.
//!
//! What a server tells of (`tracker.rs`) is the truth where it can tell: not behind an error, not in MySQL's EOF packets, and of some things
//! never. Elsewhere what is known of the server's code decides ([`nuthatch_sql::StoredCode`]), by the names in the statement. Guarantees, with
//! the reset of a connection whose session lets go of it: since its last reset nothing ran on a pooled connection that may have run stored
//! code without its being told of.
//!
//! Where nothing is known of the code (nobody needed to, or some has just been made, or no account may see it), the connection is
//! kept *in doubt* ([`Pins::UNSEEN_CODE`]), the servers are looked at, and the doubt is settled by what is found, before the session's next
//! statement (`doubts.rs`).

use std::sync::atomic::Ordering;

use nuthatch_sql::{Kind, Leaves, ServerFlavor};
use nuthatch_wire::{AnswerEnd, CapabilityFlags, Ending};

use crate::session::after::tracker::has_changed_unexplained;
use crate::session::parts::{Context, Doubt, Ground, Held};
use crate::session::statement::{Facts, Plan, Told};
use crate::stats::pins::Pins;

/// More statements that are in doubt, and longer ones, are not remembered: their doubt stays.
const DOUBTS_MAX: usize = 64;

const DOUBT_BYTES_MAX: usize = 16 << 10;

/// Takes note of what stored code may have left behind the statement, which executed `text` and ended so.
pub(crate) fn learn_stored_code(
    ground: &Ground,
    context: &Context,
    plan: &Plan,
    text: &[u8],
    end: &AnswerEnd,
    held: &mut Held,
) {
    let facts = &plan.facts;
    // What nobody knows anything of, and what an operator vouches for, is judged by its text.
    if facts.is_vouched_for() || facts.pins.contains(Pins::UNKNOWN) {
        return;
    }
    let told = told(context, facts, end, held);
    if told == Told::Change {
        held.pin(Pins::STORED_CODE);
        return;
    }
    if !facts.may_run_code() {
        return;
    }
    let least = || facts.least_that_pins(told, end.ending);
    let is_as_before = || ground.shared.exact.catalogues.look().times_code_was_made() == facts.code.changes;
    let counts = || told == Told::NoChange || matches!(facts.kind, Kind::Ddl(_)) || is_as_before();
    match facts.code.leaves.filter(|_| counts()) {
        Some(leaves) if leaves >= least() => held.pin(Pins::STORED_CODE),
        // A function may make up the errors of a parser.
        None if told == Told::Nothing && (least() < Leaves::Untold || facts.class.runs_unseen_code()) => {
            doubt(ground, context, plan, text, least(), held);
        }
        // What was just made may do what no server tells of.
        None if facts.code.may_leave_untold && is_as_before() => {
            doubt(ground, context, plan, text, least(), held);
        }
        _ => {}
    }
}

/// Keeps the connection until it is known what the statement ran.
fn doubt(ground: &Ground, context: &Context, plan: &Plan, text: &[u8], least: Leaves, held: &mut Held) {
    ground.shared.exact.want_stored_code();
    held.pin(Pins::UNSEEN_CODE);
    let is_as_before = ground.shared.exact.catalogues.look().times_code_was_made() == plan.facts.code.changes;
    ground.handle.delay_ends_ms.store(ground.latest_us / 1000 + 1, Ordering::Relaxed);
    let is_same = |doubt: &Doubt| *doubt.text == *text && doubt.least <= least;
    if held.doubts().iter().any(is_same) {
        return;
    }
    if held.doubts().len() >= DOUBTS_MAX || text.len() > DOUBT_BYTES_MAX || !is_as_before {
        held.pin(Pins::STORED_CODE);
        return;
    }
    held.seldom_mut().doubts.add(Doubt {
        text: text.into(),
        class: plan.facts.class,
        lexing: context.lexing,
        schema: context.state.schema[..].into(),
        changes: plan.facts.code.changes,
        least,
    });
}

pub(crate) fn told(context: &Context, facts: &Facts, end: &AnswerEnd, held: &Held) -> Told {
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
    held.is_tracked()
        && connection.shape.contains(CapabilityFlags::CLIENT_SESSION_TRACK)
        && (!has_rows || is_mariadb || connection.form().deprecate_eof)
}
