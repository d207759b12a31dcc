//! A BEGIN is held back until a statement needs a server, so that it is known since when the transaction's snapshot may be open.
//!
//! In REPEATABLE READ a transaction sees what was committed when its snapshot was opened, and which statement opens it differs
//! between servers and versions (`SELECT 1`, `WHERE 1=0` and a first UPDATE do not). So nothing is done to have it opened where a
//! server might not open it ([`open`](crate::session::life::answer) does where it surely would), and the server alone decides: the
//! moment before its BEGIN is noted, which no snapshot of it is older than. Exact entries are served that have not changed since that
//! moment, whenever it was opened. But not before it surely is, or it would open later than at a server that was asked each time: a
//! transaction reads past the cache until an answer has had a row that only a snapshot shows
//! ([`rows_are_of_tables`](nuthatch_sql::rows_are_of_tables)). The snapshot of a replica shows what it is known to have applied; where
//! that is not known, its transaction reads past the cache too.

use nuthatch_config::QueryCacheType;
use nuthatch_wire::{AnswerKind, Command};

use crate::exact::Isolation;
use crate::session::before::reading::snapshot_on;
use crate::session::lease::question::{order, way};
use crate::session::parts::{Account, Beginning, Context, Dealings, Ground, Held, Journal};
use crate::session::statement::{Facts, Plan};
use crate::session::way::{Trouble, command_packet, reply};
use crate::state::Behind;

/// The word alone begins a block in MariaDB's Oracle mode.
pub(crate) const BEGIN: &[u8] = b"START TRANSACTION";

/// It has the server tell clients of transactions in a form that only the server knows.
const TRANSACTION_TRACKER: &[u8] = b"session_track_transaction_info";

/// Answers a BEGIN that can be held back, and what ends a transaction of which no server knows.
pub(crate) fn begin_or_end_alone(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    plan: &Plan,
) -> Option<Vec<u8>> {
    let ends = plan.facts.transaction.ends && !plan.facts.server.disconnects;
    if ends && dealings.transaction.beginning().is_held_back() {
        dealings.transaction.set_beginning(Beginning::Usual);
    } else if plan.facts.transaction.begins_plainly
        && !dealings.hands.is_open_somewhere()
        && may_hold_back(ground, account, context, dealings)
    {
        dealings.transaction.set_beginning(Beginning::HeldBack(plan.hostgroup));
    } else {
        return None;
    }
    dealings.results.set_row_count(0);
    Some(reply::ok(dealings.status(context)))
}

fn may_hold_back(ground: &Ground, account: &Account, context: &Context, dealings: &Dealings) -> bool {
    wants_exact(ground, context)
        && dealings.transaction.touched().is_empty()
        && account.user().transaction_persistent
        && context.state.settings.get(TRANSACTION_TRACKER).is_none()
        && sees_a_snapshot(ground, account, context, dealings)
}

/// Whether its transactions see one snapshot, or at least nothing older. By their default they may be READ COMMITTED: a pooled
/// connection keeps the default of its login.
fn sees_a_snapshot(ground: &Ground, account: &Account, context: &Context, dealings: &Dealings) -> bool {
    match context.own_isolation() {
        Some(own) => own == Isolation::RepeatableRead,
        None if context.begun.has_odd_isolation() => false,
        None => {
            default_isolation(ground, account, dealings).is_some_and(|default| default != Isolation::Other)
        }
    }
}

/// Whether a transaction begins with the next statement, of which the moment will be known.
fn may_begin(ground: &Ground, account: &Account, context: &Context, dealings: &Dealings) -> bool {
    let begins_by_itself = !context.state.autocommit && !dealings.hands.is_open_somewhere();
    dealings.transaction.beginning().is_held_back()
        || begins_by_itself && may_hold_back(ground, account, context, dealings)
}

/// Whether the next statement may be the one at which a server opens the transaction's snapshot.
pub(crate) fn may_open_snapshot(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
) -> bool {
    may_begin(ground, account, context, dealings) || dealings.transaction.beginning().awaits_snapshot()
}

/// Whether anything of a transaction is to go before the statement.
pub(crate) fn must_bring_transaction(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    held: &Held,
    facts: &Facts,
) -> bool {
    !(held.in_transaction() || held.pins().is_sticky())
        && (may_begin(ground, account, context, dealings) || must_identify_replica(ground, context, facts))
}

/// Whether it must be known which server the connection leads to, of those that may answer.
fn must_identify_replica(ground: &Ground, context: &Context, facts: &Facts) -> bool {
    facts.is_plain_read() && wants_exact(ground, context) && ground.shared.exact.catalogues.has_replicas()
}

/// Sends the BEGIN that was held back, ahead of a plain read, awaited before anything else; and notes since when the transaction
/// may have a snapshot, also one that autocommit=0 stands for.
pub(crate) async fn bring_transaction(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
    facts: &Facts,
) -> Result<(), Trouble> {
    if held.in_transaction() || held.pins().is_sticky() {
        return Ok(());
    }
    let is_plain_read = facts.is_plain_read();
    if must_identify_replica(ground, context, facts) {
        identify_replica(ground, held).await?;
    }
    if !may_begin(ground, account, context, dealings) {
        return Ok(());
    }
    let held_back = dealings.transaction.beginning().hostgroup();
    let since = if facts.keeps_snapshots() { snapshot_on(ground, held) } else { None };
    let is_ahead = is_plain_read && dealings.hands.errand().behind == Behind::All;
    let beginning = match since {
        Some(since) if held_back.is_none() => Beginning::Sent { held_back, since },
        Some(since) if is_ahead => {
            held.connection.add_ahead(&command_packet(Command::Query, BEGIN));
            Beginning::Sent { held_back, since }
        }
        _ if held_back.is_none() => Beginning::Usual,
        _ => {
            order(ground, held, Command::Query, BEGIN, AnswerKind::Single).await?;
            held.note_transaction(true);
            since.map_or(Beginning::Usual, Beginning::Begun)
        }
    };
    dealings.transaction.set_beginning(beginning);
    if held_back.is_some() && !ground.shared.exact.catalogues.reads_may_write() {
        dealings.transaction.begin_to_read();
    }
    if held_back.is_some() && ground.snapshot.mysql.transaction_replay {
        held.set_journal(Some(Journal::of_begin(BEGIN, dealings.results.known_insert_id(), &context.state)));
    }
    Ok(())
}

/// Whether some SELECTs are to be cached until what they read is written.
fn wants_exact(ground: &Ground, context: &Context) -> bool {
    let by_rule = || context.query_cache_type.is_none() && ground.snapshot.rules.caches_exact();
    context.query_cache_type_in(&ground.snapshot) != QueryCacheType::Off || by_rule()
}

/// Whether its reads see what was committed at a moment that is known: each at its own, or all at that of their transaction's
/// snapshot, be that opened by the statement at hand.
pub(crate) fn reads_one_moment(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
) -> bool {
    if context.state.autocommit && !dealings.are_in_transaction() {
        return true;
    }
    let knows_snapshot = dealings.transaction.beginning().snapshot().is_some()
        || may_open_snapshot(ground, account, context, dealings);
    // A connection may have another default than its server has now; what the session has set itself holds for any.
    let sees_what_is_committed = context.own_isolation() == Some(Isolation::ReadCommitted);
    dealings.transaction.touched().is_empty() && (knows_snapshot || sees_what_is_committed)
}

/// What transactions begin with that set nothing, where it is known.
fn default_isolation(ground: &Ground, account: &Account, dealings: &Dealings) -> Option<Isolation> {
    let hostgroup =
        dealings.hands.open_transaction(&dealings.transaction).unwrap_or(account.user().default_hostgroup);
    let catalogues = ground.shared.exact.catalogues.current();
    Some(catalogues.domain(hostgroup).ok()?.isolation)
}

/// Has a connection to a replica whose answers may be stored say once whether it leads there.
async fn identify_replica(ground: &Ground, held: &mut Held) -> Result<(), Trouble> {
    let catalogues = ground.shared.exact.catalogues.current();
    let Ok(domain) = catalogues.domain(held.hostgroup) else { return Ok(()) };
    let Some(replica) = domain.replica(held.connection.server()) else { return Ok(()) };
    let question = replica.evidence.question();
    if held.connection.was_asked(question) {
        return Ok(());
    }
    let mut way = way(ground, held);
    way.send(&command_packet(Command::Query, question.as_bytes())).await?;
    let answer = way.read_answer(AnswerKind::ResultSets).await?;
    held.connection.identity = Some((question.into(), answer.is_ok_and(|end| end.rows == 1)));
    Ok(())
}
