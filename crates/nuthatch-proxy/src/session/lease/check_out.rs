//! Connections that a session has: for one statement, or held for a reason.

use nuthatch_config::HostgroupId;
use nuthatch_wire::{CapabilityFlags, ErrPacket, ErrorCode};

use crate::backend::{AtOnce, CheckOutError, InLine, Joining, Met, Start, Turn, Wanted};
use crate::session::lease::bring_into::{bring_into_state, can_leave_schema, must_leave_schema};
use crate::session::lease::inheritance::{Inherited, inherit};
use crate::session::lease::multiplexing::pin_of_hostgroup;
use crate::session::lease::put_away::put_away;
use crate::session::lease::question::way;
use crate::session::lease::show::{Since, show_running};
use crate::session::parts::{Account, Context, Dealings, Ground, Hands, Held};
use crate::session::statement::Facts;
use crate::session::way::Trouble;

/// A connection for one statement, as far as it can be had without waiting.
#[derive(Debug)]
pub(crate) enum Leased {
    /// It is there, in that state.
    Had(Held, State),
    /// It must be waited for; the session has had its turn in line, if others do too.
    Nothing(Option<InLine>),
}

/// What a statement has at once.
#[derive(Debug)]
pub(crate) enum Begun {
    Leased(Leased),
    /// A place in line, as others wait too.
    InLine(InLine),
}

/// In which state a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The session's.
    Own,
    /// It must be brought into that.
    Other,
}

/// A connection for one statement, in the session's state: a held one, or one from the hostgroup's pools.
pub(crate) async fn lease(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
) -> Result<Held, Trouble> {
    let leased = lease_at_once(ground, account, context, dealings, hostgroup)?;
    finish_lease(ground, account, context, dealings, hostgroup, leased).await
}

/// The same of one that has been had so far.
pub(crate) async fn finish_lease(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
    leased: Leased,
) -> Result<Held, Trouble> {
    let (held, state) = match leased {
        Leased::Had(held, state) => (held, state),
        Leased::Nothing(in_line) => {
            let connecting = connect(ground, account, context, &dealings.hands, hostgroup, in_line);
            let held = leased_from_pool(ground, Box::pin(connecting).await?);
            begin_lease(ground, account, context, dealings, held, Since::Now)?
        }
    };
    match state {
        State::Own => Ok(held),
        State::Other => Box::pin(lease_changed(ground, account, context, dealings, hostgroup, held)).await,
    }
}

/// A connection for one statement, if one is held or idle.
///
/// Cost: a place of the pool under its lock, and a look at each part of its state.
pub(crate) fn lease_at_once(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
) -> Result<Leased, Trouble> {
    let held = match held_for(account, &dealings.hands, hostgroup) {
        Some(place) => take_held(context, dealings, place)?,
        None => match take_idle(ground, account, context, &dealings.hands, hostgroup) {
            Some(held) => leased_from_pool(ground, held),
            None => return Ok(Leased::Nothing(None)),
        },
    };
    let (held, state) = begin_lease(ground, account, context, dealings, held, Since::Latest)?;
    Ok(Leased::Had(held, state))
}

/// A connection that a pool has just lent is kept for as long as its hostgroup says.
fn leased_from_pool(ground: &Ground, mut held: Held) -> Held {
    held.pin(pin_of_hostgroup(ground, held.hostgroup));
    held
}

/// A connection for one statement as [`lease_at_once`] has it, or a place in line if others wait too.
pub(crate) fn lease_or_join(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
) -> Result<Begun, Trouble> {
    if !dealings.hands.held.is_empty() && held_for(account, &dealings.hands, hostgroup).is_some() {
        return lease_at_once(ground, account, context, dealings, hostgroup).map(Begun::Leased);
    }
    let wanted = wanted(ground, account, context, &dealings.hands);
    let joins = || {
        // More connections are opened by how long statements wait in line, and not for their turn on this thread.
        let since_us = ground.shared.clock.now_us();
        let bytes = ground.handle.view.lock().bytes;
        Joining::since(since_us, &ground.snapshot.mysql, bytes, ground.handle.rouser())
    };
    let now_ms = ground.latest_us / 1000;
    match ground.shared.hostgroups.take_idle_or_join(hostgroup, &wanted, now_ms, joins) {
        None => Ok(Begun::Leased(Leased::Nothing(None))),
        Some(AtOnce::InLine(in_line)) => Ok(Begun::InLine(in_line)),
        Some(AtOnce::Full(full)) => {
            let now_us = ground.shared.clock.now_us();
            Err(refused(ground, ground.shared.hostgroups.line_is_full(hostgroup, full, now_us)))
        }
        Some(AtOnce::Idle(connection)) => {
            let found = found_by(&wanted);
            let held = leased_from_pool(ground, Held::lent(ground, hostgroup, connection));
            let since = Since::Latest;
            let (held, state) = begin_lease_of(ground, account, context, dealings, held, (since, found))?;
            Ok(Begun::Leased(Leased::Had(held, state)))
        }
    }
}

/// Takes a connection when the turn has come in the line in which the session stood.
pub(crate) fn lease_in_turn(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
    (in_line, turn): (InLine, Turn),
) -> Result<Leased, Trouble> {
    let hostgroups = &ground.shared.hostgroups;
    if turn == Turn::Over {
        let now_us = ground.shared.clock.now_us();
        return Err(refused(ground, hostgroups.time_is_over(hostgroup, &in_line, now_us)));
    }
    let (wanted, now_ms) = (wanted(ground, account, context, &dealings.hands), in_line.since_us() / 1000);
    let Some(connection) = hostgroups.take_in_turn(hostgroup, &wanted, now_ms, &in_line) else {
        return Ok(Leased::Nothing(Some(in_line)));
    };
    drop(in_line);
    let found = found_by(&wanted);
    let held = leased_from_pool(ground, Held::lent(ground, hostgroup, connection));
    let (held, state) = begin_lease_of(ground, account, context, dealings, held, (Since::Now, found))?;
    Ok(Leased::Had(held, state))
}

/// In which state the pool has found the connection that it has just lent.
fn found_by(wanted: &Wanted<'_>) -> State {
    if wanted.met.is_met() { State::Own } else { State::Other }
}

/// A connection that the session holds.
fn take_held(context: &Context, dealings: &mut Dealings, place: usize) -> Result<Held, Trouble> {
    if let Some(held) = dealings.hands.held.get(place)
        && must_leave_schema(context, &dealings.hands, held)
        && !can_leave_schema(&dealings.hands, &dealings.results, held)
    {
        // The session has none, or it is gone, and the connection cannot be told to be in none.
        return Err(Trouble::Refused(no_schema()));
    }
    let mut held = dealings.hands.held.swap_remove(place);
    // Kept only for what the last statement left, it may have died like one in a pool.
    let is_fresh = !dealings.results.is_state_of(&held);
    held.take_up(is_fresh);
    held.close_if_lost();
    Ok(held)
}

/// The connection works for the session from now on.
fn begin_lease(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    held: Held,
    since: Since,
) -> Result<(Held, State), Trouble> {
    begin_lease_of(ground, account, context, dealings, held, (since, State::Other))
}

/// The same of one that a look has just found in that state: [`State::Other`] says that it must be looked at.
fn begin_lease_of(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    held: Held,
    (since, found): (Since, State),
) -> Result<(Held, State), Trouble> {
    show_running(ground, &held, since);
    let is_as_found = match inherit(ground, context, &held) {
        Ok(inherited) => found == State::Own && inherited == Inherited::Nothing,
        Err(trouble) => {
            put_away(ground, account, context, dealings, held, Some(&trouble));
            return Err(trouble);
        }
    };
    debug_assert!(!is_as_found || context.state.is_at(&held.connection.state), "the look was at another one");
    let is_in_state = is_as_found || context.state.is_at(&held.connection.state);
    let is_ready = is_in_state && !held.connection.control.is_late();
    let state = if is_ready { State::Own } else { State::Other };
    Ok((held, state))
}

/// A connection that had to be waited for.
async fn connect(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    hands: &Hands,
    hostgroup: HostgroupId,
    in_line: Option<InLine>,
) -> Result<Held, Trouble> {
    match check_out(ground, account, context, hands, hostgroup, in_line).await {
        // A new connection logs in with the schema.
        Err(trouble) if trouble.is_unknown_schema() => {
            may_forget_schema(hands)?;
            forget_schema(ground, account, context);
            check_out(ground, account, context, hands, hostgroup, None).await
        }
        checked_out => checked_out,
    }
}

/// The connection, brought into the session's state.
async fn lease_changed(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    hostgroup: HostgroupId,
    mut held: Held,
) -> Result<Held, Trouble> {
    match make_ready(ground, account, context, dealings, &mut held).await {
        Ok(()) => Ok(held),
        Err(trouble) if trouble.is_unknown_schema() => {
            put_away(ground, account, context, dealings, held, Some(&trouble));
            may_forget_schema(&dealings.hands)?;
            forget_schema(ground, account, context);
            Box::pin(lease(ground, account, context, dealings, hostgroup)).await
        }
        // One fewer of its kind.
        Err(trouble @ (Trouble::Unfit | Trouble::RefusedAhead(_))) if !held.was_held() => {
            dealings.hands.send_nothing_ahead();
            put_away(ground, account, context, dealings, held, Some(&trouble));
            Box::pin(lease(ground, account, context, dealings, hostgroup)).await
        }
        Err(trouble) => {
            put_away(ground, account, context, dealings, held, Some(&trouble));
            Err(trouble)
        }
    }
}

async fn make_ready(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    held: &mut Held,
) -> Result<(), Trouble> {
    if held.connection.control.is_late() {
        Box::pin(way(ground, held).outlive_kill()).await?;
    }
    bring_into_state(ground, account, context, dealings, held).await
}

/// An idle connection, if a server of the hostgroup has one: without waiting.
fn take_idle(
    ground: &Ground,
    account: &Account,
    context: &Context,
    hands: &Hands,
    hostgroup: HostgroupId,
) -> Option<Held> {
    let taken = ground.shared.hostgroups.take_idle(
        hostgroup,
        &wanted(ground, account, context, hands),
        ground.latest_us / 1000,
    )?;
    Some(Held::lent(ground, hostgroup, taken))
}

pub(crate) async fn check_out(
    ground: &Ground,
    account: &Account,
    context: &Context,
    hands: &Hands,
    hostgroup: HostgroupId,
    in_line: Option<InLine>,
) -> Result<Held, Trouble> {
    let wanted = wanted(ground, account, context, hands);
    let (variables, clock) = (&ground.snapshot.mysql, &ground.shared.clock);
    let start = match in_line {
        Some(in_line) => Start::InLine(in_line),
        None => Start::New { bytes: ground.handle.view.lock().bytes },
    };
    let checking_out = ground.shared.hostgroups.check_out(hostgroup, &wanted, variables, clock, start);
    match ground.handle.while_client_waits(checking_out).await? {
        Ok(connection) => Ok(Held::lent(ground, hostgroup, connection)),
        Err(error) => Err(refused(ground, error)),
    }
}

/// That there is no connection, counted.
fn refused(ground: &Ground, error: CheckOutError) -> Trouble {
    ground.worker.counters.pool_failure.bump();
    error.into()
}

/// What the session needs of a connection.
pub(crate) fn wanted<'a>(
    ground: &'a Ground,
    account: &'a Account,
    context: &'a Context,
    hands: &'a Hands,
) -> Wanted<'a> {
    let must_have = match hands.errand().is_tracked {
        true => CapabilityFlags::CLIENT_DEPRECATE_EOF,
        false => CapabilityFlags::empty(),
    };
    Wanted {
        user: account.name(),
        password: account.password().map(|password| &**password),
        shape: context.shape,
        must_have,
        state: &context.state,
        errand: hands.errand(),
        need: hands.position.demanded(),
        is_own: false,
        worker: &ground.worker,
        met: Met::default(),
    }
}

/// What a server says to a statement that needs a schema and has none.
fn no_schema() -> ErrPacket {
    let ErrorCode { code, sql_state } = ErrorCode::NO_DB_ERROR;
    ErrPacket { code, sql_state, message: b"No database selected".to_vec() }
}

/// Which held connection a statement for `hostgroup` must or can go to.
pub(crate) fn held_for(account: &Account, hands: &Hands, hostgroup: HostgroupId) -> Option<usize> {
    let persistent = account.user().transaction_persistent;
    let sticky = |held: &Held| held.pins().is_sticky() || (held.in_transaction() && persistent);
    let same = |held: &Held| held.hostgroup == hostgroup;
    hands.held.iter().position(sticky).or_else(|| hands.held.iter().position(same))
}

/// Where a statement goes that the rules or the user's default send to `hostgroup`.
pub(crate) fn destination(account: &Account, hands: &Hands, hostgroup: HostgroupId) -> HostgroupId {
    held_for(account, hands, hostgroup)
        .and_then(|place| hands.held.get(place))
        .map_or(hostgroup, |held| held.hostgroup)
}

/// A server that may be behind need not know the schema yet: others do.
fn may_forget_schema(hands: &Hands) -> Result<(), Trouble> {
    if hands.position.demanded().is_some() { Err(CheckOutError::Behind.into()) } else { Ok(()) }
}

/// Somebody dropped the session's schema: it goes on without, as it would on a server.
fn forget_schema(ground: &Ground, account: &Account, context: &mut Context) {
    ground.shared.doors.known_schemas.remove(account.name(), &context.state.schema);
    context.state.schema.clear();
}

/// Whether the statement can be sent again, behind awaited changes: it only reads, and nothing of the session was on the connection.
pub(crate) fn may_wait_instead(held: &Held, facts: &Facts) -> bool {
    !facts.writes && !held.was_held()
}

/// Where a statement goes that is wanted in hostgroup `wanted`.
pub(crate) fn hostgroup_for(
    account: &Account,
    dealings: &Dealings,
    wanted: HostgroupId,
    facts: &Facts,
) -> HostgroupId {
    let Dealings { hands, transaction, .. } = dealings;
    // Nearly always.
    if hands.held.is_empty() && transaction.beginning().hostgroup().is_none() {
        return wanted;
    }
    match hands.open_transaction(transaction) {
        Some(open) if facts.transaction.ends || facts.change.sets_autocommit() => open,
        _ => destination(account, hands, transaction.beginning().hostgroup().unwrap_or(wanted)),
    }
}
