//! Statements that a server answers which may be behind: none does that does not show what the session has seen.
//!
//! Where no server shows it yet, the session waits until one is known to ([`CatchUp`](crate::backend::CatchUp)), for
//! `mysql-causal_reads_timeout_ms` at most. Then, or if no server of the hostgroup can answer, or nobody proves what they show, the statement
//! goes to who writes. What is read there waits too where replicas have shown what its server may not show yet: they may apply a write before
//! it is visible on the server that has made it; with semi-synchronous replication long before, if acknowledgements are late.

use std::pin::pin;
use std::time::Duration;

use tokio::time::timeout;

use crate::backend::{CheckOutError, Need, WhoShows};
use crate::roster::SessionEnd;
use crate::session::lease::check_out::held_for;
use crate::session::parts::{Account, Dealings, Ground, Held};
use crate::session::statement::Plan;
use crate::session::way::Trouble;

/// What causal reads have to show, as `mysql-causal_reads` has it: all that anybody wrote.
const GLOBAL: &str = "GLOBAL";

/// What the server must show that answers the statement.
fn need_of(ground: &Ground, dealings: &Dealings, plan: &Plan) -> Need {
    let Some(writer) = plan.causal else { return Need::default() };
    let need = dealings.hands.position.need(writer);
    let is_for_all = plan.may_be_behind() && ground.snapshot.mysql.causal_reads == GLOBAL;
    if is_for_all { need.with_all_until(plan.started_us) } else { need }
}

/// Whether the statement can be sent, as far as it depends on what servers show.
pub(crate) fn is_ready(ground: &Ground, account: &Account, dealings: &Dealings, plan: &Plan) -> bool {
    let shown = || who_shows(ground, account, dealings, plan, &need_of(ground, dealings, plan));
    plan.causal.is_none() || shown() == WhoShows::Somebody
}

/// Has only servers answer the statement at hand that show what they must.
pub(crate) fn demand(ground: &Ground, dealings: &mut Dealings, plan: &Plan) {
    let need = plan.may_be_behind().then(|| need_of(ground, dealings, plan));
    dealings.hands.position.demand(need);
}

/// Whether the server of that connection may be asked, as far as it depends on what it shows: a statement for who writes may have stood in
/// line meanwhile, and nothing be proven yet of who takes statements now.
pub(crate) fn may_be_asked_of(
    ground: &Ground,
    account: &Account,
    dealings: &Dealings,
    plan: &Plan,
    held: &Held,
) -> bool {
    let Some(writer) = plan.causal else { return true };
    // What was held stood in no line.
    if plan.may_be_behind() || held.was_held() {
        return true;
    }
    let need = need_of(ground, dealings, plan);
    need.is_met_by(&held.connection.server().known.caught_up)
        || !ground.shared.hostgroups.catch_ups.of(writer).can_be_proven()
        || who_shows(ground, account, dealings, plan, &need) == WhoShows::Somebody
}

/// Returns when a server shows what the statement needs: one of the hostgroup, or who writes.
///
/// # Errors
/// Also who writes does not show it in time: it waits itself, as for an acknowledgement of replicas that show it already.
pub(crate) async fn await_server(
    ground: &Ground,
    account: &Account,
    dealings: &Dealings,
    plan: &mut Plan,
) -> Result<(), Trouble> {
    let Some(writer) = plan.causal else { return Ok(()) };
    let variables = &ground.snapshot.mysql;
    if plan.may_be_behind() {
        let need = need_of(ground, dealings, plan);
        let patience_ms = variables.causal_reads_timeout_ms;
        if wait(ground, account, dealings, plan, &need, patience_ms).await? == Waited::Shown {
            return Ok(());
        }
        ground.worker.counters.causal_reads_by_writer.bump();
        plan.go_to_writer();
    }
    let need = need_of(ground, dealings, plan);
    let patience_ms = variables.connect_timeout_server_max;
    match wait(ground, account, dealings, plan, &need, patience_ms).await? {
        Waited::Shown | Waited::ForNobody => Ok(()),
        Waited::InVain => Err(Trouble::CheckOut(CheckOutError::Timeout {
            hostgroup: writer,
            waited_ms: patience_ms,
            why: "no server shows yet what this session has seen".to_owned(),
        })),
    }
}

/// What came of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waited {
    /// A server shows it.
    Shown,
    /// None does in time.
    InVain,
    /// There is no server, or nobody can prove anything of any.
    ForNobody,
}

/// Waits until a server of the statement's hostgroup shows it, if none does at once.
async fn wait(
    ground: &Ground,
    account: &Account,
    dealings: &Dealings,
    plan: &Plan,
    need: &Need,
    patience_ms: u64,
) -> Result<Waited, SessionEnd> {
    let cluster = match (plan.causal, who_shows(ground, account, dealings, plan, need)) {
        (_, WhoShows::Somebody) => return Ok(Waited::Shown),
        (Some(writer), WhoShows::NobodyYet) => ground.shared.hostgroups.catch_ups.of(writer),
        (None, _) | (_, WhoShows::Nobody) => return Ok(Waited::ForNobody),
    };
    let caught_up = async {
        loop {
            let mut told = pin!(cluster.proofs().notified());
            told.as_mut().enable();
            match who_shows(ground, account, dealings, plan, need) {
                WhoShows::Somebody => return Waited::Shown,
                WhoShows::NobodyYet if cluster.can_be_proven() => cluster.wish(need.until_us()),
                WhoShows::NobodyYet | WhoShows::Nobody => return Waited::ForNobody,
            }
            told.await;
        }
    };
    let counters = &ground.worker.counters;
    counters.causal_reads_waited.bump();
    let began_us = ground.shared.clock.now_us();
    let patience = Duration::from_millis(patience_ms);
    let waiting = Box::pin(ground.worker.with_tokio(timeout(patience, caught_up)));
    let waited = ground.handle.while_client_waits(waiting).await?;
    counters.causal_reads_waited_us.add(ground.shared.clock.now_us().saturating_sub(began_us));
    Ok(waited.unwrap_or(Waited::InVain))
}

fn who_shows(ground: &Ground, account: &Account, dealings: &Dealings, plan: &Plan, need: &Need) -> WhoShows {
    let hands = &dealings.hands;
    // What is held is taken before any other.
    match held_for(account, hands, plan.hostgroup).and_then(|place| hands.held.get(place)) {
        Some(held) if need.is_met_by(&held.connection.server().known.caught_up) => WhoShows::Somebody,
        Some(_) => WhoShows::NobodyYet,
        None => {
            let (worker, now_ms) = (ground.worker.id, ground.latest_us / 1000);
            ground.shared.hostgroups.who_shows(worker, plan.hostgroup, need, now_ms)
        }
    }
}
