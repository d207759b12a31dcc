//! What is known of the stored code that a statement runs, by the names in it.

use std::sync::atomic::Ordering;

use nuthatch_config::HostgroupId;
use nuthatch_sql::{Class, Leaves, StoredCode};

use crate::exact::CodeOf;
use crate::session::parts::{Context, Ground};
use crate::session::statement::{CodeRun, Known, LEAVES_BITS, Seen, memo_tag, of_bits, to_bits};

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
