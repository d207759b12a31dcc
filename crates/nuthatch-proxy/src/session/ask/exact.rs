//! What the session has to do with the exact cache: whether it may be answered from it and fill it, and what its writes move.

use std::sync::Arc;

use nuthatch_cache::{Clock, Entry, Key, Sequence, Standing};
use nuthatch_config::QueryCacheType;
use nuthatch_sql::{
    Ddl, DefaultsChange, Kind, TableId, WriteFootprint, changes_privileges, leaves_binlog, read_footprint,
    rows_are_of_tables, write_footprint,
};
use nuthatch_wire::{AnswerEnd, AnswerKind, Command};

use crate::backend::StatementKey;
use crate::exact::{
    After, Catalogues, Commits, Flight, Inside, Intent, Isolation, Lost, Makes, Vouched, dependencies,
    is_transactional,
};
use crate::session::parts::{Context, Ground, Hands, Held, Transaction};
use crate::session::statement::{Caching, Facts, Plan};
use crate::session::way::{Capture, Depends, Reading, Sent, Trouble, command_packet};
use crate::session::{Session, is_in_transaction};
use crate::shared::answers::HitPlan;
use crate::state::Settings;
use crate::stats::not_cached::NotCached;

impl Session {
    /// Whether the exact entry may be served now; one that never will be again is removed.
    pub(crate) fn stands(&self, key: &Key<'_>, entry: &Entry<Arc<HitPlan>>) -> bool {
        let standing = self.standing(entry);
        // What has changed since the session's snapshot may be what others are told.
        let of_now = || self.ground.shared.exact.clocks.standing(entry.clocks(), entry.since());
        if standing == Standing::Moved
            && of_now() == Standing::Moved
            && self.ground.shared.answers.cache.remove_invalidated(key, entry)
        {
            entry.plan().count_invalidated();
            count_invalidation(&self.ground, entry);
        }
        standing == Standing::Holds
    }

    /// Whether some SELECTs are to be cached until what they read is written.
    pub(crate) fn wants_exact(&self) -> bool {
        let by_rule = || self.cache.own_type.is_none() && self.ground.snapshot.rules.caches_exact();
        self.cache.query_cache_type(&self.ground.snapshot) != QueryCacheType::Off || by_rule()
    }

    /// Whether its reads see what was committed at a moment that is known: each at its own, or all at that of their transaction's
    /// snapshot, be that opened by the statement at hand.
    pub(crate) fn reads_one_moment(&self) -> bool {
        if self.context.state.autocommit && !is_in_transaction(&self.transaction, &self.hands) {
            return true;
        }
        let knows_snapshot = self.transaction.beginning.snapshot().is_some() || self.may_open_snapshot();
        // A connection may have another default than its server has now; what the session has set itself holds for any.
        let sees_what_is_committed = self.context.own_isolation() == Some(Isolation::ReadCommitted);
        self.transaction.touched.is_empty() && (knows_snapshot || sees_what_is_committed)
    }

    /// What transactions begin with that set nothing, where it is known.
    pub(crate) fn default_isolation(&self) -> Option<Isolation> {
        let hostgroup =
            self.hands.open_transaction(&self.transaction).unwrap_or(self.account.user.default_hostgroup);
        let catalogues = self.ground.shared.exact.catalogues.current();
        Some(catalogues.domain(hostgroup).ok()?.isolation)
    }

    /// Has a connection to a replica whose answers may be stored say once whether it leads there.
    pub(crate) async fn identify_replica(&self, held: &mut Held) -> Result<(), Trouble> {
        let catalogues = self.ground.shared.exact.catalogues.current();
        let Ok(domain) = catalogues.domain(held.hostgroup) else { return Ok(()) };
        let Some(replica) = domain.replica(held.connection.server()) else { return Ok(()) };
        let question = replica.evidence.question();
        if held.connection.was_asked(question) {
            return Ok(());
        }
        let mut way = self.way(held);
        way.send(&command_packet(Command::Query, question.as_bytes())).await?;
        let answer = way.read_answer(AnswerKind::ResultSets).await?;
        held.connection.identity = Some((question.into(), answer.is_ok_and(|end| end.rows == 1)));
        Ok(())
    }

    /// What goes before a statement is sent over `held`: what it may write or commit is pending, and what an answer to be stored
    /// depends on is known.
    pub(crate) fn take_off(&self, plan: &Plan, capture: Option<&mut Capture>, held: &Held) -> Flight {
        let unwatched = unwatched(&self.ground, &self.transaction, &plan.facts);
        if capture.is_none()
            && let Some(flight) = unwatched
        {
            return flight;
        }
        let prepared = self.statements.prepared_text(plan);
        let key = self.statements.prepared_key(plan);
        let sent = Sent {
            text: prepared.as_deref().unwrap_or_else(|| self.client.statement_text()),
            schema: key.map_or(&self.context.state.schema, |key| &key.schema),
            parameters: &[],
            is_prepared: prepared.is_some(),
            is_read_otherwise: key.is_some_and(|key| reads_otherwise(&self.context, key)),
            is_repeated: false,
        };
        self.begin_to_watch(plan, &sent, unwatched, capture, held)
    }

    /// The same, with what is to be sent at hand.
    pub(crate) fn begin_to_watch(
        &self,
        plan: &Plan,
        sent: &Sent<'_>,
        unwatched: Option<Flight>,
        capture: Option<&mut Capture>,
        held: &Held,
    ) -> Flight {
        let flight = unwatched.unwrap_or_else(|| self.start_flight(plan, sent, held));
        if let Some(capture) = capture {
            match held.connection.prove(&self.context.begun.era) {
                Ok(()) => capture.begin(|| {
                    begin_reading(&self.ground, &self.context, &self.transaction, plan, sent, held)
                }),
                Err(why) => capture.give_up(why.into()),
            }
        }
        flight
    }

    /// Makes pending what the statement may write or commit.
    pub(crate) fn start_flight(&self, plan: &Plan, sent: &Sent<'_>, held: &Held) -> Flight {
        let commits = plan.facts.commits();
        note_binlog(&self.ground, plan.facts.kind, sent.text);
        let catalogues = self.ground.shared.exact.catalogues.current();
        let known = catalogues.domain(plan.hostgroup).ok().map(|domain| &domain.catalogue);
        self.ground.shared.exact.delayed.note(
            sent.text,
            plan.facts.kind,
            self.context.lexing,
            sent.schema,
            known,
        );
        let clocks = &self.ground.shared.exact.clocks;
        let (kind, may_define) = (plan.facts.kind, may_define(plan.facts.kind, commits));
        let mut intent = match catalogues.domain(plan.hostgroup) {
            Ok(domain) if domain.is_of(held.connection.server()) && !sent.is_read_otherwise => {
                let once = write_footprint(
                    sent.text,
                    plan.facts.class,
                    self.context.lexing,
                    sent.schema,
                    &domain.catalogue,
                    sent.parameters,
                );
                let footprint = if sent.is_repeated { once.repeated() } else { once };
                self.ground.shared.exact.table_counters.count_writes(&footprint);
                let defines = may_define
                    && (kind != Kind::Call || domain.catalogue.routines_may_define(sent.text, sent.schema));
                Intent::of(footprint, kind, defines, commits, clocks)
            }
            _ if !plan.facts.may_write() => Intent::nothing(commits),
            _ => Intent::of(WriteFootprint::Everything, kind, may_define, commits, clocks),
        };
        intent.changes_privileges = changes_privileges(sent.text, kind, self.context.lexing);
        intent.makes = Makes::of(sent.text, kind);
        intent.changes_defaults = plan.facts.changes_defaults != DefaultsChange::No;
        self.start(intent, &catalogues, held)
    }

    /// The same for what may change anything, definitions too, and says nothing of it, unless it is said that it may change privileges.
    pub(crate) fn start_unseen_flight(&self, held: &Held, changes_privileges: bool) -> Flight {
        let all = WriteFootprint::Everything;
        let mut intent = Intent::of(all, Kind::Other, true, Commits::Maybe, &self.ground.shared.exact.clocks);
        intent.changes_privileges = changes_privileges;
        self.start(intent, &self.ground.shared.exact.catalogues.current(), held)
    }

    fn start(&self, intent: Intent, catalogues: &Catalogues, held: &Held) -> Flight {
        if intent.is_nothing() && self.transaction.touched.is_empty() {
            return Flight::default();
        }
        let inside = match (held.in_transaction, held.is_surely_in_transaction) {
            (true, true) => Inside::Surely,
            (true, false) => Inside::Maybe,
            (false, _) if !self.context.state.autocommit => Inside::Maybe,
            (false, _) => Inside::No,
        };
        let lost = Lost::on(
            &held.connection,
            self.account.password.as_ref(),
            &self.ground.shared.exact,
            &self.ground.worker,
        );
        Flight::start(intent, catalogues, &self.transaction.touched, inside, lost, &self.ground.shared.exact)
    }
}

/// Whether a statement that may write anything may also define tables, views or triggers: what does commits. Of these it is known.
fn may_define(kind: Kind, commits: Commits) -> bool {
    let defines_nothing = matches!(kind, Kind::Grant | Kind::Flush | Kind::Xa | Kind::Ddl(Ddl::Truncate));
    commits == Commits::Maybe && !defines_nothing
}

/// Whether the answer may be stored. What a transaction saw may be older than now.
pub(crate) fn may_fill(transaction: &Transaction, hands: &Hands, caching: Caching) -> Result<(), NotCached> {
    match caching {
        Caching::No(why) => Err(why),
        Caching::Ttl(_) if is_in_transaction(transaction, hands) => Err(NotCached::InTransaction),
        Caching::Ttl(_) | Caching::Exact { .. } => Ok(()),
    }
}

/// Counts an entry that was written over for the table that was written, if it is certain which.
fn count_invalidation(ground: &Ground, entry: &Entry<Arc<HitPlan>>) {
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

/// What a SELECT that is about to be sent will depend on. Nothing may be noted later than this: what is written from now on moves
/// clocks past `since`.
fn begin_reading(
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
    let shows_all_of = match replica {
        None => now,
        Some(replica) => shown_by(ground, replica, held, now).ok_or(NotCached::UnknownReplica)?,
    };
    let since = transaction.beginning.snapshot().unwrap_or(shows_all_of);
    let is_older = domain.isolation_since.is_some_and(|since| held.connection.opened < since);
    if context.own_isolation().unwrap_or(domain.isolation) == Isolation::Other || is_older {
        return Err(NotCached::UnknownIsolation);
    }
    if sent.is_read_otherwise {
        return Err(NotCached::ReadOtherwise);
    }
    let footprint = read_footprint(
        sent.text,
        plan.facts.class,
        context.lexing,
        sent.schema,
        &domain.catalogue,
        sent.parameters,
    )?;
    if footprint.has_view && sent.is_prepared {
        return Err(NotCached::PreparedView);
    }
    ground.shared.exact.may_rest_on(&footprint, domain, &catalogues)?;
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
    let row_opens_snapshot = transaction.beginning.awaits_snapshot()
        && !footprint.has_view
        && !footprint.reads_definitions
        && is_transactional(&footprint, &domain.catalogue)
        && rows_are_of_tables(sent.text, context.lexing);
    Ok(Reading { since, sent: now, footprint, row_opens_snapshot })
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
        Ok(domain) if !domain.is_of(held.connection.server()) => {
            shown_by(ground, domain.replica(held.connection.server())?, held, now)
        }
        _ => Some(now),
    }
}

/// What the answer depends on, if nothing of it has been written meanwhile.
pub(crate) fn dependencies_of(
    ground: &Ground,
    reading: &Reading,
    end: &AnswerEnd,
) -> Result<Depends, NotCached> {
    let clocks = dependencies(&ground.shared.exact.clocks, &reading.footprint, end.rows)
        .ok_or(NotCached::TooManyTables)?;
    match ground.shared.exact.clocks.standing(clocks.iter().copied(), reading.since) {
        Standing::Holds => Ok(Depends { clocks, since: reading.since }),
        Standing::Moved if has_stood(ground, &clocks, reading.sent) => Err(NotCached::ReplicaBehind),
        Standing::Pending | Standing::Moved => Err(NotCached::WrittenMeanwhile),
    }
}

fn has_stood(ground: &Ground, clocks: &[Clock], since: Sequence) -> bool {
    ground.shared.exact.clocks.standing(clocks.iter().copied(), since) == Standing::Holds
}

/// Whether a statement that was prepared so is read otherwise than the session's statements are now.
pub(crate) fn reads_otherwise(context: &Context, key: &StatementKey) -> bool {
    let mode = |settings: &Settings| settings.get(b"sql_mode").map(<[u8]>::to_vec);
    key.charset != context.state.charset || mode(&key.settings) != mode(&context.state.settings)
}

/// In flight, a statement that writes and commits nothing that others read, as far as is known; none for one that may.
pub(crate) fn unwatched(ground: &Ground, transaction: &Transaction, facts: &Facts) -> Option<Flight> {
    // A lock may have what is inserted behind it seen later.
    let is_lock = facts.kind == Kind::Lock;
    let is_change = facts.changes_defaults != DefaultsChange::No;
    if is_lock
        || is_change
        || facts.may_write()
        || facts.commits() != Commits::No && !transaction.touched.is_empty()
    {
        return None;
    }
    if !ground.shared.exact.wants_catalogues() {
        return Some(Flight::Harmless);
    }
    // The picture first: by one that knows of reads that write, all are watched.
    let by = ground.shared.exact.catalogues.current();
    (!ground.shared.exact.catalogues.reads_may_write()).then_some(Flight::Reading { by, is_open: false })
}

/// A statement is to be sent by which the session's writes may be missing in the binlog.
fn note_binlog(ground: &Ground, kind: Kind, text: &[u8]) {
    let only_writes_rows =
        matches!(kind, Kind::Select | Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete);
    if !only_writes_rows && leaves_binlog(text) {
        ground.shared.exact.binlogs.leave();
    }
}

/// Counts what the open transaction has read as written, if it has become known since that a read may write.
pub(crate) fn own_up(ground: &Ground, transaction: &mut Transaction) {
    let catalogues = &ground.shared.exact.catalogues;
    if transaction
        .touched
        .read_by()
        .is_some_and(|by| catalogues.reads_may_write() && catalogues.has_left_behind(by))
    {
        transaction.touched.add([ground.shared.exact.clocks.everything()], &ground.shared.exact.clocks);
    }
}

/// Takes note of what became of the transaction.
pub(crate) fn land(ground: &Ground, transaction: &mut Transaction, hands: &Hands, flight: Flight) {
    match flight.land() {
        After::AsBefore => {}
        After::Read(by) => transaction.touched.note_read(by),
        After::Open(written) => transaction.touched.add(written, &ground.shared.exact.clocks),
        After::Fresh(written) => {
            // What other connections have open is still to be committed.
            if !is_in_transaction(transaction, hands) {
                transaction.touched.clear();
            }
            transaction.touched.add(written, &ground.shared.exact.clocks);
        }
    }
}
