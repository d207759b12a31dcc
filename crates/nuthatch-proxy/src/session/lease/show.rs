//! What the process list shows of a session.

use std::sync::Arc;

use crate::roster::{Running, View};
use crate::session::parts::{Client, Context, Ground, Hands, Held};
use crate::session::statement::Plan;
use crate::stats::pins::Pins;

/// A longer statement's room in the process list is given back when it is over.
const INFO_BYTES_KEPT: usize = 256;

/// Shows the statement at hand in the process list, and for how long it may run.
pub(crate) fn show_statement(
    ground: &Ground,
    client: &Client,
    now_ms: u64,
    command: &'static str,
    plan: &Plan,
) {
    let limit_ms = plan.time_limit_ms(&ground.snapshot.mysql);
    show_limited(ground, client, now_ms, command, (plan.hostgroup.0, limit_ms));
}

/// The same of a command that is no statement.
pub(crate) fn show(ground: &Ground, client: &Client, now_ms: u64, command: &'static str, hostgroup: u32) {
    let limit_ms = match command {
        // It lasts as long as whoever follows the binlog.
        "Binlog Dump" => 0,
        _ => ground.snapshot.mysql.default_query_timeout,
    };
    show_limited(ground, client, now_ms, command, (hostgroup, limit_ms));
}

fn show_limited(
    ground: &Ground,
    client: &Client,
    now_ms: u64,
    command: &'static str,
    (hostgroup, limit_ms): (u32, u64),
) {
    const INFO_BYTES_MAX: usize = 1024;
    let text = client.payload().get(1..).unwrap_or_default();
    let text = text.get(..INFO_BYTES_MAX).unwrap_or(text);
    ground.handle.busy.store(1, std::sync::atomic::Ordering::Release);
    let mut view = ground.handle.view.lock();
    view.command = command;
    view.since_ms = now_ms;
    view.hostgroup = Some(hostgroup);
    view.bytes = client.payload().len();
    view.limit_ms = limit_ms;
    view.info.clear();
    view.has_info = matches!(command, "Query" | "Prepare");
    if view.has_info {
        view.info.extend_from_slice(text);
    }
}

/// Shows that the session waits for its client.
pub(crate) fn show_idle(ground: &Ground, context: &Context, hands: &Hands) {
    // What is only held in doubt keeps nobody from stopping.
    let is_sticky = |held: &Held| held.pins().without(Pins::UNSEEN_CODE).is_sticky();
    let busy = hands.held.iter().any(|held| held.in_transaction() || is_sticky(held));
    ground.handle.busy.store(u8::from(busy), std::sync::atomic::Ordering::Release);
    let mut view = ground.handle.view.lock();
    view.command = "Sleep";
    view.has_info = false;
    if view.info.capacity() > INFO_BYTES_KEPT {
        view.info = Vec::new();
    }
    show_pins(hands, &mut view);
    if view.schema[..] != context.state.schema[..] {
        view.schema = context.state.schema.to_vec();
    }
}

/// Since when a connection works for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Since {
    /// Since the latest look at the clock.
    Latest,
    /// Since now: it was waited for.
    Now,
}

/// Beside a limit of so many milliseconds the wait for a connection does not count, and the clock need not be looked at.
const LONG_MS: u64 = 3_600_000;

/// Others see which connection works for the session, and since when.
pub(crate) fn show_running(ground: &Ground, held: &Held, since: Since) {
    held.connection.control.work(true);
    let mut view = ground.handle.view.lock();
    let server = held.connection.server();
    let (control, thread_id) = (Arc::clone(&held.connection.control), held.connection.thread_id);
    let since_ms = match since {
        Since::Now if view.limit_ms < LONG_MS => ground.shared.clock.now_us(),
        Since::Now | Since::Latest => ground.latest_us,
    }
    // No statement is killed before its time.
    .div_ceil(1000);
    view.running = Some(Running { control, server: Arc::clone(server), thread_id, since_ms });
}

/// Shows which connection is held, and why.
fn show_pins(hands: &Hands, view: &mut View) {
    view.pins.clear();
    view.holds =
        hands.held.first().map(|held| (Arc::clone(held.connection.server()), held.connection.thread_id));
    if let Some(held) = hands.held.first() {
        use std::fmt::Write as _;
        // Writing to a String does not fail.
        let _ok = write!(view.pins, "{}", held.reasons());
    }
}
