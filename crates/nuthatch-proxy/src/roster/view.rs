//! What others see of a session.

use std::sync::Arc;

use crate::backend::{Control, Server};
use crate::roster::secrecy::shown;

/// What `stats_mysql_processlist` shows of a session; changed on the slow path only.
#[derive(Debug, Clone, Default)]
pub(crate) struct View {
    pub(crate) user: Option<Arc<str>>,
    pub(crate) schema: Vec<u8>,
    pub(crate) command: &'static str,
    pub(crate) since_ms: u64,
    /// The statement at hand, or the one before it: `has_info` tells.
    pub(crate) info: Vec<u8>,
    pub(crate) has_info: bool,
    /// Of the command at hand.
    pub(crate) bytes: usize,
    pub(crate) hostgroup: Option<u32>,
    /// The server that a session's bytes pass to as they are.
    pub(crate) passes_to: Option<Arc<Server>>,
    /// The connection that works for it at the moment.
    pub(crate) running: Option<Running>,
    /// For how many milliseconds a connection may work for the statement at hand; 0 for any.
    pub(crate) limit_ms: u64,
    /// The first connection that it holds between statements: its server, and its number there.
    pub(crate) holds: Option<(Arc<Server>, u32)>,
    pub(crate) pins: String,
}

/// A connection with a statement of the session on it.
#[derive(Debug, Clone)]
pub(crate) struct Running {
    pub(crate) control: Arc<Control>,
    pub(crate) server: Arc<Server>,
    /// `CONNECTION_ID()` on the server.
    pub(crate) thread_id: u32,
    /// When it began to.
    pub(crate) since_ms: u64,
}

/// How long a statement may still run.
#[derive(Debug, Clone)]
pub(crate) enum TimeLimit {
    /// As long as it takes, or none does, or it has been told that it is late.
    None,
    /// Until then.
    Until(u64),
    /// No longer: this works for it, for that user.
    Over(Box<(Running, Arc<str>)>),
}

impl View {
    /// Whether the connection of that number works for the session, or is held by it.
    pub(crate) fn has_connection(&self, server: &Server, thread_id: u32) -> bool {
        let is_it = |other: &Server, number| number == thread_id && other.is_same_as(server);
        self.running.as_ref().is_some_and(|running| is_it(&running.server, running.thread_id))
            || self.holds.as_ref().is_some_and(|(other, number)| is_it(other, *number))
    }

    /// Whether the time of the statement at hand is over. Told once: nobody else may use its connection then.
    pub(super) fn time_limit(&self, now_ms: u64) -> TimeLimit {
        let Some((running, user)) = self.running.as_ref().zip(self.user.as_ref()) else {
            return TimeLimit::None;
        };
        let until_ms = running.since_ms.saturating_add(self.limit_ms);
        match self.limit_ms {
            0 => TimeLimit::None,
            _ if now_ms < until_ms => TimeLimit::Until(until_ms),
            _ if running.control.be_late() => TimeLimit::Over(Box::new((running.clone(), Arc::clone(user)))),
            _ => TimeLimit::None,
        }
    }

    /// The server whose connection works for it, or is held by it between statements: of one that waits for a connection it is not
    /// known yet.
    pub(crate) fn server(&self) -> Option<&Server> {
        let running = self.running.as_ref().map(|running| &running.server);
        let held = || self.holds.as_ref().map(|(server, _)| server).filter(|_| self.command == "Sleep");
        running.or_else(held).or(self.passes_to.as_ref()).map(|server| &**server)
    }

    /// The statement at hand as others may see it.
    pub(crate) fn shown_info(&self) -> Option<Vec<u8>> {
        self.has_info.then(|| shown(&self.info).to_vec())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statement_is_late_once_when_its_connection_has_worked_for_it_so_long() {
        let control = Arc::new(Control::of(&"u".into()));
        let running = Running { control, server: Server::at("", 1), thread_id: 7, since_ms: 100 };
        let mut view =
            View { user: Some("u".into()), running: Some(running), limit_ms: 50, ..View::default() };
        assert!(matches!(view.time_limit(149), TimeLimit::Until(150)));
        assert!(matches!(view.time_limit(150), TimeLimit::Over(late) if late.0.thread_id == 7));
        assert!(matches!(view.time_limit(151), TimeLimit::None), "it has been told");
        view.limit_ms = 0;
        assert!(matches!(view.time_limit(u64::MAX), TimeLimit::None), "it has no limit");
        (view.limit_ms, view.running) = (50, None);
        assert!(matches!(view.time_limit(u64::MAX), TimeLimit::None), "no connection works for it");
    }
}
