//! Sessions whose transaction lasts, or is idle, for longer than it may.
//!
//! A session notes by itself since when it has a transaction and since when it waits for its client: here two numbers are compared.

use std::sync::atomic::Ordering;

use nuthatch_config::MysqlVariables;

use crate::roster::{EndReason, Roster, SessionHandle};

/// Ends the sessions whose transaction takes longer than the variables let it.
pub(super) fn end_old_transactions(roster: &Roster, now_ms: u64, variables: &MysqlVariables) {
    roster.for_each(|_, handle| {
        if let Some(reason) = reason_to_end(handle, now_ms, variables) {
            handle.end(reason);
        }
    });
}

fn reason_to_end(handle: &SessionHandle, now_ms: u64, variables: &MysqlVariables) -> Option<EndReason> {
    let since_ms = handle.transaction_since_ms.load(Ordering::Relaxed);
    if since_ms == 0 {
        return None;
    }
    if now_ms.saturating_sub(since_ms) > variables.max_transaction_time {
        return Some(EndReason::LongTransaction);
    }
    let idle_ms = now_ms.saturating_sub(handle.last_active_ms.load(Ordering::Relaxed));
    let is_idle = idle_ms > variables.max_transaction_idle_time && handle.view.lock().command == "Sleep";
    is_idle.then_some(EndReason::IdleTransaction)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::ClientAddress;

    #[test]
    fn only_a_transaction_ends_a_session_by_its_age_or_the_silence_in_it() {
        let variables = MysqlVariables {
            max_transaction_time: 9_500,
            max_transaction_idle_time: 3_000,
            ..MysqlVariables::default()
        };
        for (since_ms, active_ms, command, expected) in [
            (0, 100, "Sleep", None),
            (500, 7_000, "Sleep", None),
            (500, 6_999, "Sleep", Some(EndReason::IdleTransaction)),
            (500, 100, "Query", None),
            (499, 9_999, "Query", Some(EndReason::LongTransaction)),
            (499, 9_999, "Sleep", Some(EndReason::LongTransaction)),
        ] {
            let handle = SessionHandle::new(7, ClientAddress::default(), 0);
            handle.transaction_since_ms.store(since_ms, Ordering::Relaxed);
            handle.last_active_ms.store(active_ms, Ordering::Relaxed);
            handle.view.lock().command = command;
            let found = reason_to_end(&handle, 10_000, &variables);
            assert_eq!(found, expected, "{since_ms} {active_ms} {command}");
        }
    }
}
