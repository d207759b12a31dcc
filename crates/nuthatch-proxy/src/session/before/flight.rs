//! What a statement may write or commit: pending from before it is sent, moved when its answer is heard.

use nuthatch_sql::{
    Catalogue, Ddl, DefaultsChange, Kind, Leaves, WriteFootprint, changes_privileges, is_one_of,
    leaves_binlog, words,
};

use crate::backend::prove;
use crate::exact::{After, Catalogues, Commits, Flight, Inside, Intent, Lost, Makes};
use crate::session::before::reading::begin_reading;
use crate::session::parts::{Account, Context, Ground, Hands, Held, Transaction};
use crate::session::statement::{Facts, Plan, Written};
use crate::session::way::{Capture, Sent};

/// Notes what the answer to a statement that is about to be sent will depend on.
pub(crate) fn note_reading(
    ground: &Ground,
    context: &Context,
    transaction: &Transaction,
    plan: &Plan,
    sent: &Sent<'_>,
    capture: &mut Capture,
    held: &Held,
) {
    match prove(&held.connection, context.begun.era()) {
        Ok(()) => capture.begin(|| begin_reading(ground, context, transaction, plan, sent, held)),
        Err(why) => capture.give_up(why.into()),
    }
}

/// Makes pending what the statement may write or commit.
pub(crate) fn start_flight(
    ground: &Ground,
    account: &Account,
    context: &Context,
    transaction: &Transaction,
    plan: &Plan,
    sent: &Sent<'_>,
    held: &Held,
) -> Flight {
    let exact = &ground.shared.exact;
    let catalogues = exact.catalogues.look();
    let facts = &plan.facts;
    let commits = facts.commits();
    let changes_privileges =
        !facts.kind.moves_rows() && changes_privileges(sent.text, facts.kind, context.lexing);
    let changes_defaults = facts.server.defaults != DefaultsChange::No;
    let changes_rows_only = commits != Commits::Maybe && !changes_privileges && !changes_defaults;
    if changes_rows_only && exact.looks_away() && catalogues.is_empty() {
        note(ground, plan, sent, None);
        return start_unwatched(ground, account, context, transaction, facts, &catalogues, held);
    }
    let mut intent = intent(ground, context, plan, commits, sent, held, &catalogues);
    intent.changes_privileges = changes_privileges;
    intent.makes = makes(facts, sent);
    intent.changes_defaults = changes_defaults;
    start(ground, account, context, transaction, intent, &catalogues, held)
}

/// What code the statement may make.
fn makes(facts: &Facts, sent: &Sent<'_>) -> Makes {
    Makes::of_known(sent.text, facts.kind, facts.code.changes, || {
        facts.code.leaves == Some(Leaves::Nothing) && !facts.reads_insert_id() && !sent.is_read_otherwise
    })
}

/// What the statement may write, by that picture.
fn intent(
    ground: &Ground,
    context: &Context,
    plan: &Plan,
    commits: Commits,
    sent: &Sent<'_>,
    held: &Held,
    by: &Catalogues,
) -> Intent {
    let (exact, facts) = (&ground.shared.exact, &plan.facts);
    let written = Written {
        text: sent.text,
        class: facts.class,
        lexing: context.lexing,
        schema: sent.schema,
        parameters: sent.parameters,
        by,
        hostgroup: plan.hostgroup,
        server: held.connection.server(),
    };
    let may_define = may_define(facts.kind, commits);
    let of = |footprint: &WriteFootprint, may_define| {
        exact.table_counters.count_writes(footprint);
        Intent::of(footprint, facts.kind, may_define, commits, &exact.clocks)
    };
    let of_all = |once: WriteFootprint| if sent.is_repeated { once.repeated() } else { once };
    if !sent.is_read_otherwise
        && let Some(once) = facts.tables.template.footprint(&written)
    {
        return of(&of_all(once), may_define);
    }
    let domain = by.known_domain(plan.hostgroup);
    note(ground, plan, sent, domain.map(|domain| &domain.catalogue));
    match domain.filter(|domain| domain.is_of(written.server) && !sent.is_read_otherwise) {
        Some(domain) => {
            let catalogue = &domain.catalogue;
            let defines = may_define
                && (facts.kind != Kind::Call || catalogue.routines_may_define(sent.text, sent.schema));
            of(&of_all(facts.tables.template.learn(&written, catalogue)), defines)
        }
        None if !facts.may_write() => Intent::nothing(commits),
        None => Intent::of(&WriteFootprint::Everything, facts.kind, may_define, commits, &exact.clocks),
    }
}

/// The same for what may change anything, definitions too, and says nothing of it, unless it is said that it may change privileges.
pub(crate) fn start_unseen_flight(
    ground: &Ground,
    account: &Account,
    context: &Context,
    transaction: &Transaction,
    held: &Held,
    changes_privileges: bool,
) -> Flight {
    let all = WriteFootprint::Everything;
    let mut intent = Intent::of(&all, Kind::Other, true, Commits::Maybe, &ground.shared.exact.clocks);
    intent.changes_privileges = changes_privileges;
    start(ground, account, context, transaction, intent, &ground.shared.exact.catalogues.look(), held)
}

fn start(
    ground: &Ground,
    account: &Account,
    context: &Context,
    transaction: &Transaction,
    intent: Intent,
    catalogues: &Catalogues,
    held: &Held,
) -> Flight {
    if intent.is_nothing() && transaction.touched().is_empty() {
        return Flight::default();
    }
    Flight::start(
        intent,
        catalogues,
        transaction.touched(),
        inside(context, held),
        lost(ground, account, held),
    )
}

/// In flight, a statement while nothing is cached as exact.
fn start_unwatched(
    ground: &Ground,
    account: &Account,
    context: &Context,
    transaction: &Transaction,
    facts: &Facts,
    catalogues: &Catalogues,
    held: &Held,
) -> Flight {
    let (touched, writes) = (transaction.touched(), facts.may_write());
    if !writes && touched.is_empty() {
        return Flight::default();
    }
    let (inside, lost) = (inside(context, held), lost(ground, account, held));
    Flight::start_unwatched(facts.commits(), writes, catalogues, touched, inside, lost)
}

fn inside(context: &Context, held: &Held) -> Inside {
    match (held.in_transaction(), held.is_surely_in_transaction()) {
        (true, true) => Inside::Surely,
        (true, false) => Inside::Maybe,
        (false, _) if !context.state.autocommit => Inside::Maybe,
        (false, _) => Inside::No,
    }
}

fn lost(ground: &Ground, account: &Account, held: &Held) -> Lost {
    Lost::on(&held.connection, account.password(), &ground.shared.exact, &ground.worker)
}

/// Whether a statement that may write anything may also define tables, views or triggers: what does commits. Of these it is known.
fn may_define(kind: Kind, commits: Commits) -> bool {
    let defines_nothing = matches!(kind, Kind::Grant | Kind::Flush | Kind::Xa | Kind::Ddl(Ddl::Truncate));
    commits == Commits::Maybe && !defines_nothing
}

/// In flight, a statement that writes and commits nothing that others read, as far as is known; none for one that may.
pub(crate) fn unwatched(ground: &Ground, transaction: &Transaction, facts: &Facts) -> Option<Flight> {
    // A lock may have what is inserted behind it seen later.
    let is_lock = facts.kind == Kind::Lock;
    let is_change = facts.server.defaults != DefaultsChange::No;
    if is_lock
        || is_change
        || facts.may_write()
        || facts.commits() != Commits::No && !transaction.touched().is_empty()
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

/// Takes note of what a statement that is to be sent may do for good; `known` is what is known of the server.
fn note(ground: &Ground, plan: &Plan, sent: &Sent<'_>, known: Option<&Catalogue>) {
    note_binlog(ground, plan.facts.kind, sent.text);
    if !plan.facts.tables.show_rows_at_once {
        ground.shared.exact.delayed.note(sent.text, plan.facts.kind, sent.schema, known);
    }
}

/// A statement is to be sent by which the session's writes may be missing in the binlog.
pub(crate) fn note_binlog(ground: &Ground, kind: Kind, text: &[u8]) {
    if kind.moves_rows() {
        return;
    }
    if leaves_binlog(text) {
        ground.shared.exact.binlogs.leave();
    }
    let runs_others = matches!(kind, Kind::Execute | Kind::Multi | Kind::Other);
    if runs_others && words(text).any(|word| is_one_of(word, &[b"execute"])) {
        ground.shared.exact.binlogs.doubt("a text that is executed and was not seen");
    }
}

/// Counts what the open transaction has read as written, if it has become known since that a read may write.
pub(crate) fn own_up(ground: &Ground, transaction: &mut Transaction) {
    let catalogues = &ground.shared.exact.catalogues;
    if transaction
        .touched()
        .read_by()
        .is_some_and(|by| catalogues.reads_may_write() && catalogues.has_left_behind(by))
    {
        transaction.touch([ground.shared.exact.clocks.everything()], &ground.shared.exact.clocks);
    }
}

/// The same of a statement that has no answer.
pub(crate) fn land_lost(ground: &Ground, transaction: &mut Transaction, hands: &Hands, flight: Flight) {
    if !flight.is_undone_with_transaction() {
        transaction.outlast();
    }
    land(ground, transaction, hands, flight);
}

/// Takes note of what became of the transaction.
pub(crate) fn land(ground: &Ground, transaction: &mut Transaction, hands: &Hands, flight: Flight) {
    match flight.land() {
        After::AsBefore => {}
        After::Read(by) => transaction.note_read(by),
        After::Open { written, is_undone } => {
            if !is_undone {
                transaction.outlast();
            }
            transaction.touch(written, &ground.shared.exact.clocks);
        }
        After::Fresh(written) => {
            // What other connections have open is still to be committed.
            if !hands.are_in_transaction(transaction) {
                transaction.forget_touched();
            }
            if !written.is_empty() {
                transaction.touch(written, &ground.shared.exact.clocks);
            }
        }
    }
}
