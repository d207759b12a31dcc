//! A transaction whose connection was lost is done again on another, and its client is none the wiser (`mysql-transaction_replay`).
//!
//! Two transactions must never be there at once, nor one be committed that the client was not told of. So it is done again only if the
//! statement at hand does not end it, or no byte of that was given to a server; and only when the lost connection's thread is known to be
//! gone, and its transaction with it: the server says that it has no such thread, or has begun anew, or it is OFFLINE_HARD, by which
//! it is fenced. Each statement must be answered as the client was told ([`Told`]); a difference ends it, and the client is told
//! what it would have been told without a replay.
//!
//! What was written is pending for the exact cache when the new transaction commits, as it would have been with the old one: what a
//! transaction has touched stays with the session.

use std::sync::Arc;
use std::time::Duration;

use nuthatch_wire::{AnswerKind, Command, StatusFlags};
use tokio::time::sleep;

use crate::backend::{Means, Server, Thread};
use crate::exact::Commits;
use crate::session::lease::check_out::lease;
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::{order, way};
use crate::session::parts::{Beginning, Given, Ground, Held, InsertId, Journal, Told, What, packet_with_id};
use crate::session::prepare::prepared::{known_number, prepare_anew};
use crate::session::statement::Plan;
use crate::session::way::{Print, Trouble, command_packet};
use crate::session::whole::Session;
use crate::state::{Errand, Found};
use crate::stats::NoReplay;

/// Pauses between two looks for a thread: the first, and the longest.
const PAUSE: Duration = Duration::from_millis(2);
const PAUSE_MAX: Duration = Duration::from_millis(100);

/// The thread of a connection that was lost.
#[derive(Debug)]
struct LostThread {
    server: Arc<Server>,
    id: u32,
    user: Arc<str>,
    shape: nuthatch_wire::CapabilityFlags,
}

/// A transaction that was lost with its connection, and may be done again.
#[derive(Debug)]
pub(crate) struct LostTransaction {
    thread: LostThread,
    journal: Journal,
    /// It alone knew the session's `LAST_INSERT_ID()`.
    knew_insert_id: bool,
}

impl LostTransaction {
    /// That of the connection, if it was written down and may be done again behind that trouble.
    pub(crate) fn of(
        session: &mut Session,
        plan: &Plan,
        held: &mut Held,
        trouble: &Trouble,
        given: Given,
    ) -> Option<Box<Self>> {
        let may_have_ended = given == Given::Something && plan.facts.commits() != Commits::No;
        let is_on = session.ground.snapshot.mysql.transaction_replay;
        if !is_on || !held.in_transaction() || may_have_ended || !trouble.left_no_trace() {
            return None;
        }
        let mut journal = held.take_journal()?;
        if session.dealings.transaction.takes_outlasting() {
            journal.refuse(NoReplay::Tables);
        }
        if journal.has_changed(&session.context.state) {
            journal.refuse(NoReplay::Statement);
        }
        let knew_insert_id = session.dealings.results.insert_id_is_at(held.connection.thread_id);
        if knew_insert_id && journal.id_before().is_none() {
            // It cannot be told which one it is of those that another connection would say.
            journal.refuse(NoReplay::Statement);
        }
        Some(Box::new(Self { thread: LostThread::on(held), journal, knew_insert_id }))
    }
}

impl LostThread {
    fn on(held: &Held) -> Self {
        let connection = &held.connection;
        Self {
            server: Arc::clone(connection.server()),
            id: connection.thread_id,
            user: Arc::clone(&connection.user),
            shape: connection.shape,
        }
    }
}

/// Does the transaction again, of which the connection was let go of. Returns that on which it is open now; none if it cannot be done, and the
/// session has lost it.
pub(crate) async fn replay(session: &mut Session, plan: &Plan, lost: Box<LostTransaction>) -> Option<Held> {
    let LostTransaction { thread, mut journal, knew_insert_id } = *lost;
    let done = replay_in_time(session, plan, &mut journal, thread).await;
    let Session { ground, account, dealings, .. } = session;
    let counters = &ground.worker.counters;
    match done {
        Ok(mut held) => {
            counters.replays_done.bump();
            tracing::info!(session = ground.handle.id, user = %account.name(), server = %held.connection.server().host,
                statements = journal.entries().len(), "a transaction whose connection was lost was done again");
            dealings.hands.takes_lost_state();
            dealings.hands.take_outcome();
            held.set_journal(Some(journal));
            if knew_insert_id {
                dealings.results.set_insert_id(InsertId::At(held.connection.thread_id));
            }
            Some(held)
        }
        Err(why) => {
            why.count(counters);
            tracing::info!(session = ground.handle.id, user = %account.name(), ?why,
                "a transaction whose connection was lost is not done again");
            None
        }
    }
}

async fn replay_in_time(
    session: &mut Session,
    plan: &Plan,
    journal: &mut Journal,
    mut lost: LostThread,
) -> Result<Held, NoReplay> {
    session.ground.worker.counters.replays.bump();
    let began_us = session.ground.look_at_clock();
    let variables = &session.ground.snapshot.mysql;
    let until_us = began_us.saturating_add(variables.transaction_replay_max_ms.saturating_mul(1000));
    let attempts_max = variables.transaction_replay_attempts;
    loop {
        if let Some(why) = journal.refused() {
            return Err(why);
        }
        if !journal.try_again(attempts_max) {
            return Err(NoReplay::Limits);
        }
        until_gone(session, &lost, until_us).await?;
        let Session { ground, account, context, dealings, .. } = &mut *session;
        let &Errand { is_tracked, is_again, .. } = dealings.hands.errand();
        let errand = dealings.hands.replace_errand(Errand { is_tracked, is_again, ..Errand::USUAL });
        dealings.transaction.set_beginning(Beginning::Usual);
        let leased = lease(ground, account, context, dealings, plan.hostgroup).await;
        dealings.hands.set_errand(errand);
        let mut held = leased.map_err(|_trouble| NoReplay::Limits)?;
        if held.was_held() || ground.look_at_clock() > until_us {
            put_away(ground, account, context, dealings, held, None);
            return Err(NoReplay::Limits);
        }
        match do_again(session, journal, &mut held).await {
            Ok(()) => {
                settle_in(session, &lost, &mut held);
                return Ok(held);
            }
            Err(failed) => {
                lost = LostThread::on(&held);
                let Session { ground, account, context, dealings, .. } = &mut *session;
                let cut = Trouble::before_any_answer(nuthatch_net::NetError::Closed);
                put_away(ground, account, context, dealings, held, Some(&cut));
                match failed {
                    Failed::Lost => {}
                    Failed::Differs => return Err(NoReplay::Differs),
                }
            }
        }
    }
}

/// Why the statements did not all run again.
enum Failed {
    Lost,
    Differs,
}

impl From<Trouble> for Failed {
    fn from(trouble: Trouble) -> Self {
        match trouble {
            Trouble::Lost(..) | Trouble::Cut(_) => Self::Lost,
            _ => Self::Differs,
        }
    }
}

/// Runs the statements again, each of which must be answered as it was.
async fn do_again(session: &mut Session, journal: &Journal, held: &mut Held) -> Result<(), Failed> {
    if let Some(id) = journal.id_before() {
        let text = format!("SET last_insert_id={id}");
        order(&session.ground, held, Command::Query, text.as_bytes(), AnswerKind::Single).await?;
    }
    for entry in journal.entries() {
        let Session { ground, account, context, dealings, .. } = &mut *session;
        if let Some(id) = entry.made_up_id() {
            // A transaction that is taken back has used its numbers up.
            let text = format!("SET insert_id={id}");
            order(ground, held, Command::Query, text.as_bytes(), AnswerKind::Single).await?;
        }
        let packet = match entry.what() {
            What::Text(text) => command_packet(Command::Query, text),
            What::Execution { key, packet } => {
                let number = match known_number(context, key, held) {
                    Some(number) => number,
                    None => prepare_anew(ground, account, context, dealings, key.clone(), held).await?,
                };
                packet_with_id(packet.get(nuthatch_wire::HEADER_LEN..).unwrap_or_default(), number)
            }
        };
        held.connection.count_statement();
        let mut print = Print::new(held.connection.form().optional_metadata);
        let mut way = way(ground, held);
        way.send(&packet).await?;
        let end = way.read_showing(AnswerKind::ResultSets, |bytes| print.take(bytes)).await?;
        let is_open = end.status.contains(StatusFlags::SERVER_STATUS_IN_TRANS)
            || matches!(end.ending, nuthatch_wire::Ending::Err(_));
        if Told::of(&end, print.sum()) != *entry.told() || !is_open {
            return Err(Failed::Differs);
        }
    }
    Ok(())
}

/// What was known of the lost connection is known of this one.
fn settle_in(session: &mut Session, lost: &LostThread, held: &mut Held) {
    let Session { dealings, .. } = session;
    let thread_id = held.connection.thread_id;
    held.note_transaction(true);
    held.take_up(false);
    held.connection.insert_id = None;
    dealings.results.set_found_rows(Found::Elsewhere, Some(thread_id));
    if dealings.diagnostics.thread() == Some(lost.id) {
        dealings.diagnostics.note_left_on(thread_id);
    }
    dealings.hands.note_ran_on(thread_id);
}

/// Returns when the thread is known to be gone.
async fn until_gone(session: &mut Session, lost: &LostThread, until_us: u64) -> Result<(), NoReplay> {
    let mut pause = PAUSE;
    let mut has_killed = false;
    loop {
        let now_ms = session.ground.look_at_clock() / 1000;
        if lost.server.is_fenced(now_ms) {
            return Ok(());
        }
        let Session { ground, account, .. } = &mut *session;
        let may_kill = ground.snapshot.mysql.kill_backend_connection_when_disconnect && !has_killed;
        let looked = look(ground, account.password().map(|password| &**password), lost, may_kill);
        match ground.handle.while_client_waits(Box::pin(looked)).await {
            Ok(Ok(true)) => return Ok(()),
            Ok(Ok(false)) => has_killed = true,
            Ok(Err(_unknown)) => {}
            Err(_ended) => return Err(NoReplay::Alive),
        }
        if session.ground.look_at_clock() > until_us {
            return Err(NoReplay::Alive);
        }
        let ground = &session.ground;
        let pausing = Box::pin(ground.worker.with_tokio(sleep(pause)));
        if ground.handle.while_client_waits(pausing).await.is_err() {
            return Err(NoReplay::Alive);
        }
        pause = (pause * 2).min(PAUSE_MAX);
    }
}

async fn look(
    ground: &Ground,
    password: Option<&nuthatch_net::BackendPassword>,
    lost: &LostThread,
    may_kill: bool,
) -> Result<bool, String> {
    let thread = Thread { server: &lost.server, id: lost.id, user: &lost.user, password };
    let means = if may_kill { Means::Kill } else { Means::Look };
    let (variables, hostgroups) = (&ground.snapshot.mysql, &ground.shared.hostgroups);
    let looking =
        thread.is_gone(means, lost.shape, &ground.worker, variables, hostgroups, ground.shared.clock);
    ground.worker.with_tokio(looking).await
}
