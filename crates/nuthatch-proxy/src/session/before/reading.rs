//! What an answer that may be stored depends on, noted before its statement is sent.

use std::sync::Arc;

use nuthatch_cache::{Clock, Sequence, Standing};
use nuthatch_sql::{Catalogue, Lexing, ReadFootprint, TableRead, read_footprint, rows_are_of_tables};
use nuthatch_wire::AnswerEnd;

use crate::backend::StatementKey;
use crate::exact::{
    Followed, Isolation, Tenure, Vouched, are_told_by_what_they_hold, dependencies, is_transactional,
};
use crate::session::parts::{Context, Ground, Hands, Held, Transaction};
use crate::session::statement::{Caching, Plan};
use crate::session::way::{Depends, Reading, Sent};
use crate::stats::not_cached::NotCached;

/// Whether the answer may be stored. What a transaction saw may be older than now.
pub(crate) fn may_fill(transaction: &Transaction, hands: &Hands, caching: Caching) -> Result<(), NotCached> {
    match caching {
        Caching::No(why) => Err(why),
        Caching::Ttl(_) if hands.are_in_transaction(transaction) => Err(NotCached::InTransaction),
        Caching::Ttl(_) | Caching::Exact { .. } => Ok(()),
    }
}

/// What a SELECT that is about to be sent will depend on. Nothing may be noted later than this: what is written from now on moves
/// clocks past `since`.
pub(crate) fn begin_reading(
    ground: &Ground,
    context: &Context,
    transaction: &Transaction,
    plan: &Plan,
    sent: &Sent<'_>,
    held: &Held,
) -> Result<Reading, NotCached> {
    let now = ground.shared.exact.clocks.now();
    let catalogues = ground.shared.exact.catalogues.current();
    let domain = catalogues.domain(plan.hostgroup).map_err(|_sentence| NotCached::NoCatalogue)?;
    if plan.hostgroup != plan.wanted {
        return Err(NotCached::OtherHostgroup);
    }
    let server = held.connection.server();
    let replica = match domain.is_of(server) {
        true => None,
        false => Some(domain.replica(server).ok_or(NotCached::OtherServer)?),
    };
    let snapshot = transaction.beginning().snapshot();
    let wanted = ground.snapshot.follow(plan.hostgroup);
    let teller = ground.shared.exact.follows.teller(wanted, domain)?;
    let shows_all_of = match replica {
        None => now,
        Some(replica) => shown_by(ground, replica, held, now).ok_or(NotCached::UnknownReplica)?,
    };
    let since = snapshot.unwrap_or(shows_all_of);
    let is_older = domain.isolation_since.is_some_and(|since| held.connection.opened < since);
    if context.own_isolation().unwrap_or(domain.isolation) == Isolation::Other || is_older {
        return Err(NotCached::UnknownIsolation);
    }
    if sent.is_read_otherwise {
        return Err(NotCached::ReadOtherwise);
    }
    let mut footprint = read_footprint(
        sent.text,
        plan.facts.class,
        context.lexing,
        sent.schema,
        &domain.catalogue,
        sent.parameters,
    )?;
    ground.shared.exact.may_rest_on(
        &footprint,
        domain,
        &catalogues,
        teller.is_some().then_some(context.lexing.server),
    )?;
    if teller.is_some() {
        footprint = footprint.with_columns(sent.text, context.lexing, sent.schema, &domain.catalogue);
        learn(ground, &footprint);
    }
    if let Some(replica) = replica {
        // A write without a transaction may stand in the binlog long after it was acknowledged.
        if !is_transactional(&footprint, &domain.catalogue) {
            return Err(NotCached::ReplicaWithoutTransactions);
        }
        if !replica.has_all_of(&footprint) {
            return Err(NotCached::DefinedOtherwise);
        }
    }
    // What knows no transactions knows no snapshots.
    let row_opens_snapshot = transaction.beginning().awaits_snapshot()
        && does_row_open_snapshot(&footprint, &domain.catalogue, sent.text, context.lexing);
    let is_of_replica = replica.is_some();
    Ok(Reading { since, sent: now, footprint, teller, is_of_replica, row_opens_snapshot })
}

fn does_row_open_snapshot(
    footprint: &ReadFootprint,
    catalogue: &Catalogue,
    text: &[u8],
    lexing: Lexing,
) -> bool {
    !footprint.has_view
        && footprint.definitions.is_none()
        && is_transactional(footprint, catalogue)
        && rows_are_of_tables(text, lexing)
}

/// Whether a server that is asked so, and answers with a row, has opened the snapshot of its transaction for that. Cost: that of finding out
/// what the statement reads.
pub(crate) fn would_open_snapshot(ground: &Ground, context: &Context, plan: &Plan, sent: &Sent<'_>) -> bool {
    let catalogues = ground.shared.exact.catalogues.current();
    let Ok(domain) = catalogues.domain(plan.hostgroup) else { return false };
    let (catalogue, lexing) = (&domain.catalogue, context.lexing);
    let has_snapshots = context.own_isolation().unwrap_or(domain.isolation) == Isolation::RepeatableRead;
    if !has_snapshots || sent.is_read_otherwise {
        return false;
    }
    read_footprint(sent.text, plan.facts.class, lexing, sent.schema, catalogue, sent.parameters)
        .is_ok_and(|footprint| does_row_open_snapshot(&footprint, catalogue, sent.text, lexing))
}

/// Takes note of the columns that it compares and looks at, so that events come to show what rows hold in them.
fn learn(ground: &Ground, footprint: &ReadFootprint) {
    let sets_max = ground.snapshot.mysql.query_cache_follow_columns_max;
    let sets_max = usize::try_from(sets_max).unwrap_or(usize::MAX);
    for read in footprint.tables.iter().filter(|read| are_told_by_what_they_hold(&read.rows)) {
        ground.shared.exact.learnt.learn(read, sets_max);
    }
}

/// Of which moment it is known that a read over a replica's connection shows all that was written before it.
fn shown_by(ground: &Ground, replica: &Vouched, held: &Held, now: Sequence) -> Option<Sequence> {
    let since = replica.since(&held.connection, now);
    since.filter(|_| !ground.shared.exact.binlogs.are_left())
}

/// Of which moment a snapshot that is opened from now on over the connection shows all; none if that of a replica is not known.
pub(crate) fn snapshot_on(ground: &Ground, held: &Held) -> Option<Sequence> {
    let now = ground.shared.exact.clocks.now();
    let catalogues = ground.shared.exact.catalogues.current();
    match catalogues.domain(held.hostgroup) {
        Ok(domain) if domain.is_of(held.connection.server()) => Some(now),
        Ok(domain) => shown_by(ground, domain.replica(held.connection.server())?, held, now),
        // It may be a replica that is behind.
        Err(_) => None,
    }
}

/// What the answer depends on, if nothing of it has been written meanwhile.
pub(crate) fn dependencies_of(
    ground: &Ground,
    reading: &Reading,
    end: &AnswerEnd,
) -> Result<Depends, NotCached> {
    let exact = &ground.shared.exact;
    let held = |read: &TableRead| {
        let shown = exact.shown(reading.teller.as_deref(), read, reading.since)?;
        Some(shown.hashes_of(read))
    };
    let clocks =
        dependencies(&exact.clocks, &reading.footprint, end.rows, held).ok_or(NotCached::TooManyTables)?;
    match exact.clocks.standing(clocks.iter().copied(), reading.since) {
        Standing::Holds => {
            let tenure =
                |teller: &Arc<Followed>| Tenure::new(Arc::clone(teller.horizon()), reading.is_of_replica);
            Ok(Depends { clocks, since: reading.since, tenure: reading.teller.as_ref().map(tenure) })
        }
        Standing::Moved if has_stood(ground, &clocks, reading.sent) => Err(NotCached::ReplicaBehind),
        Standing::Pending | Standing::Moved => Err(NotCached::WrittenMeanwhile),
    }
}

fn has_stood(ground: &Ground, clocks: &[Clock], since: Sequence) -> bool {
    ground.shared.exact.clocks.standing(clocks.iter().copied(), since) == Standing::Holds
}

/// Whether a statement that was prepared so is read otherwise than the session's statements are now.
pub(crate) fn reads_otherwise(context: &Context, key: &StatementKey) -> bool {
    const NAMES: [&[u8]; 3] = [b"sql_mode", b"character_set_connection", b"collation_connection"];
    let is_other = |name: &[u8]| key.settings.get(name) != context.state.settings.get(name);
    key.charset != context.state.charset || NAMES.iter().any(|name| is_other(name))
}
