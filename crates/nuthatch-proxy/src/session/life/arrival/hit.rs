//! The hit path: what is asked, in full, was answered before and may be given again.
//!
//! Cost of a hit: one hash of the key, one look-up under a shared lock, a full comparison, a few counters, one write. No
//! allocation, no tokenising, no lock across an await; the answer is copied only into the kernel.

use std::cell::RefCell;
use std::io::IoSlice;

use nuthatch_cache::{Clock, Entry, Judgement, Key, Protocol, Standing};
use nuthatch_config::HostgroupId;
use nuthatch_net::{Framed, NetError};
use nuthatch_sql::TableId;
use nuthatch_wire::Command;

use crate::roster::SessionEnd;
use crate::session::decide::key::{key, key_in, standing_of};
use crate::session::life::arrival::attributes::text_in;
use crate::session::life::arrival::compressed::{send_compressed, write_compressed_now};
use crate::session::life::sent_execution::write_down_execution;
use crate::session::parts::{CacheUse, Context, Dealings, Ground, Transaction};
use crate::session::way::STORED_STATUS;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

/// Each place of status flags makes two pieces more of the two.
const PIECES_MAX: usize = 2 * nuthatch_cache::STATUS_OFFSETS_MAX + 2;

/// So short an answer is sent as one piece: to join it costs less than it costs the kernel to take two.
const JOINED_BYTES_MAX: usize = 4 << 10;

thread_local! {
    static JOINED: RefCell<[u8; JOINED_BYTES_MAX]> = const { RefCell::new([0; JOINED_BYTES_MAX]) };
}

/// Cuts the entry's packets at its status flags, with `flags` in their place. Returns how many pieces there are.
fn cut<'a>(
    entry: &Entry<HitPlan>,
    packets: [&'a [u8]; 2],
    flags: &'a [u8; 2],
    pieces: &mut [IoSlice<'a>; PIECES_MAX],
) -> usize {
    let offsets = entry.status_offsets();
    let (mut done, mut count) = (0, 0);
    for mut rest in packets {
        let end = done + rest.len();
        for offset in offsets.iter().flatten().map(|offset| *offset as usize) {
            if !(done..end).contains(&offset) {
                continue;
            }
            let (before, from_flags) = rest.split_at(offset - done);
            pieces[count] = IoSlice::new(before);
            pieces[count + 1] = IoSlice::new(flags);
            rest = &from_flags[flags.len()..];
            done = offset + flags.len();
            count += 2;
        }
        pieces[count] = IoSlice::new(rest);
        (done, count) = (end, count + 1);
    }
    count
}

/// The entry that answers the command with that payload, if the session may use it as it stands.
pub(crate) fn look_up(session: &mut Session, payload: &[u8], now_ms: u64) -> Option<Entry<HitPlan>> {
    if !may_look_up(&session.ground, &session.cache) {
        return None;
    }
    let (command, rest) = payload.split_first()?;
    match Command::parse(*command)? {
        Command::Query => {
            find(session, &key(&session.account, &session.context, text_in(&session.client, rest)?)?, now_ms)
        }
        Command::StmtExecute => {
            let (prepared, state) = (session.statements.prepared_mut()?, &session.context.state);
            match session.client.has_attributes() {
                true => prepared.write_down_plain(payload, state)?,
                false => prepared.write_down(payload, state)?,
            }
            find_execution(session, now_ms)
        }
        _ => None,
    }
}

/// The same of the command at hand, whose payload is the session's own.
pub(crate) fn look_up_at_hand(session: &mut Session, now_ms: u64) -> Option<Entry<HitPlan>> {
    if !may_look_up(&session.ground, &session.cache) {
        return None;
    }
    let command = session.client.payload().first().copied().and_then(Command::parse);
    match command? {
        Command::Query => {
            find(session, &key(&session.account, &session.context, session.client.statement_text())?, now_ms)
        }
        Command::StmtExecute
            if write_down_execution(&session.client, &session.context, &mut session.statements) =>
        {
            find_execution(session, now_ms)
        }
        _ => None,
    }
}

fn find_execution(session: &Session, now_ms: u64) -> Option<Entry<HitPlan>> {
    find(
        session,
        &key_in(&session.account, &session.context, Protocol::Binary, session.statements.execution())?,
        now_ms,
    )
}

fn find(session: &Session, key: &Key<'_>, now_ms: u64) -> Option<Entry<HitPlan>> {
    let Session { ground, cache, context, dealings, .. } = session;
    let transaction = &dealings.transaction;
    let entry = ground.shared.answers.cache.get(key)?;
    // Asked before the clocks: what is carried while they are looked at would be missed.
    let plan = entry.plan();
    if plan.terms.is_some() {
        let is_told = !plan.counts_all_rows() || may_tell_count(ground, context, dealings);
        let is_within = || plan.is_within_tenure(|| transaction.as_of(), || entry.created_ms());
        if !is_told || plan.is_stale(entry.created_ms(), now_ms) || !is_within() {
            return None;
        }
    }
    let is_allowed = match entry.is_exact() {
        true => {
            cache.may_use_exact()
                && cache.answers_from().is_none_or(|bound| bound.0 == entry.hostgroup())
                && standing_of(ground, transaction, &entry) == Standing::Holds
        }
        false => cache.may_use_any(),
    };
    (is_allowed && entry.judge(now_ms, ground.snapshot.epoch.0) == Judgement::Fresh).then_some(entry)
}

/// Whether nobody can ask a connection for the count of all rows behind a hit, as larger statements and stored code do: it would tell that of the
/// statement before. Where a transaction may begin with it, its connection is held from then on.
#[cold]
pub(crate) fn may_tell_count(ground: &Ground, context: &Context, dealings: &Dealings) -> bool {
    let begins_nothing = context.state.autocommit && !dealings.are_in_transaction();
    begins_nothing && dealings.hands.held.is_empty() && !ground.snapshot.mysql.hold_for_diagnostics
}

/// Answers with the entry's packets.
pub(crate) async fn serve_hit(
    session: &mut Session,
    entry: Entry<HitPlan>,
    now_ms: u64,
) -> Result<(), SessionEnd> {
    let bytes = entry.packet_bytes();
    count_hit(session, &entry, bytes, now_ms);
    let written = write_entry_now(session, &entry)?;
    if written < bytes { send_entry(session, &entry, written).await } else { Ok(()) }
}

/// Writes as much of the entry's packets as goes out at once, under the session's own status flags.
#[inline]
pub(crate) fn write_entry_now(session: &mut Session, entry: &Entry<HitPlan>) -> Result<usize, NetError> {
    let Some(packets) = entry.packets() else { return write_compressed_now(session, entry) };
    let Session { client, context, dealings, .. } = session;
    let status = dealings.status(context).bits();
    if status == STORED_STATUS.bits() {
        return write_as_it_is(client.framed_mut(), packets);
    }
    let flags = status.to_le_bytes();
    let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
    let count = cut(entry, packets, &flags, &mut pieces);
    client.framed_mut().write_pieces_now(&pieces[..count])
}

#[inline]
fn write_as_it_is(client: &mut Framed, [head, rest]: [&[u8]; 2]) -> Result<usize, NetError> {
    if head.is_empty() {
        return client.write_now(rest);
    }
    JOINED.with_borrow_mut(|joined| match joined.get_mut(..bytes_of([head, rest])) {
        Some(joined) => {
            let (first, second) = joined.split_at_mut(head.len());
            first.copy_from_slice(head);
            second.copy_from_slice(rest);
            client.write_now(joined)
        }
        None => client.write_pieces_now(&[IoSlice::new(head), IoSlice::new(rest)]),
    })
}

/// Sends the entry's packets from the byte `written` on.
pub(crate) async fn send_entry(
    session: &mut Session,
    entry: &Entry<HitPlan>,
    written: usize,
) -> Result<(), SessionEnd> {
    let Some(packets) = entry.packets() else { return send_compressed(session, entry, written).await };
    let flags = session.dealings.status(&session.context).bits().to_le_bytes();
    let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
    let count = cut(entry, packets, &flags, &mut pieces);
    let mut left = &mut pieces[..count];
    IoSlice::advance_slices(&mut left, written);
    let writing = session.client.framed_mut().write_pieces(left);
    Ok(session.ground.handle.unless_ended(writing).await.map_err(SessionEnd::InAnswer)??)
}

/// How many bytes the packets of an entry have.
#[inline]
fn bytes_of([head, rest]: [&[u8]; 2]) -> usize {
    head.len() + rest.len()
}

/// Counts a hit of the entry, whose packets have so many bytes.
pub(crate) fn count_hit(session: &mut Session, entry: &Entry<HitPlan>, bytes: usize, now_ms: u64) {
    let Session { ground, dealings, .. } = session;
    let counters = &ground.worker.counters;
    counters.cache_get.bump();
    counters.cache_get_ok.bump();
    counters.cache_bytes_out.add(bytes as u64);
    counters.frontend_bytes_sent.add(bytes as u64);
    entry.note_hit(now_ms);
    if dealings.hands.position.is_kept() {
        // Whoever gave the answer had given it before the next millisecond.
        let writer = ground.snapshot.writer_of(HostgroupId(entry.hostgroup()));
        dealings.hands.position.saw_somewhere(writer, (entry.created_ms() + 1) * 1000);
    }
    let plan = entry.plan();
    let worker = ground.worker.id;
    if let Some(digest) = &plan.digest {
        digest.hit(worker, now_ms, entry.rows());
    }
    plan.rules.iter().for_each(|rule| rule.bump_cached(worker));
    if !plan.leaves_diagnostics {
        dealings.diagnostics.forget();
    }
    dealings.hands.forget_what_ran_last();
    dealings.results.set_found_rows(plan.found_rows(entry.rows()), None);
    dealings.results.set_row_count(-1);
}

fn may_look_up(ground: &Ground, cache: &CacheUse) -> bool {
    (cache.may_use_any() || cache.may_use_exact())
        && ground.shared.configuration.epoch() == ground.snapshot.epoch.0
}

/// Whether the exact entry may be served now; one that never will be again is removed.
pub(crate) fn stands(
    ground: &Ground,
    transaction: &Transaction,
    key: &Key<'_>,
    entry: &Entry<HitPlan>,
) -> bool {
    if !entry.plan().is_within_tenure(|| transaction.as_of(), || entry.created_ms()) {
        return false;
    }
    let standing = standing_of(ground, transaction, entry);
    // What has changed since the session's snapshot may be what others are told.
    let of_now = || ground.shared.exact.clocks.standing(entry.clocks(), entry.since());
    if standing == Standing::Moved
        && of_now() == Standing::Moved
        && ground.shared.answers.cache.remove_invalidated(key, entry)
    {
        entry.plan().count_invalidated();
        count_invalidation(ground, entry);
    }
    standing == Standing::Holds
}

/// Counts an entry that was written over for the table that was written, if it is certain which.
pub(crate) fn count_invalidation(ground: &Ground, entry: &Entry<HitPlan>) {
    let clocks = &ground.shared.exact.clocks;
    let is_moved = |clock: &Clock| clocks.standing([*clock], entry.since()) == Standing::Moved;
    let mut tables = entry.clocks().filter_map(|clock| clocks.table_of(clock));
    let first = tables.next();
    let only = || first.filter(|first| tables.all(|table| table == *first));
    let table = entry.clocks().find(is_moved).and_then(|clock| clocks.table_of(clock)).or_else(only);
    if let Some(table) = table {
        ground.shared.exact.table_counters.count_invalidation(TableId(table));
    }
}
