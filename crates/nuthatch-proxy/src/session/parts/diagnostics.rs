//! Where the warnings and errors of the last statement are.

mod list;

use nuthatch_sql::ServerFlavor;

pub(crate) use list::{List, Recipient, Rows};

use crate::session::parts::Left;
use crate::state::{Charset, ResultCollation};

/// The number of a warning of our own, which no server gives.
pub(crate) const MARK: u16 = 64_999;

/// What a statement does to the warnings and errors of the one before it.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    #[default]
    Forgotten,
    Kept,
    /// Only its server knows. So that it can be asked, the connection is given the [`MARK`] before: if that is there behind the
    /// statement, they are kept.
    Untold,
}

/// What the last statement left of warnings and errors, and where.
#[derive(Debug, Default)]
pub(crate) struct Diagnostics {
    /// The server's thread that has them, if the session holds it.
    on: Option<u32>,
    /// What the statement at hand does to those of the one before, unless it has some.
    fate: Fate,
    /// What a SET CHARACTER SET made of the results' character set.
    results_charset: Option<Box<Charset>>,
    /// All that there are, if the session has them itself.
    list: Option<Box<List>>,
}

impl Diagnostics {
    /// The server's thread that has them, if the session holds it.
    pub(crate) const fn thread(&self) -> Option<u32> {
        self.on
    }

    /// Whether that thread of a server has them.
    pub(crate) fn are_on(&self, thread_id: u32) -> bool {
        self.on == Some(thread_id)
    }

    /// The session's own list.
    pub(crate) fn list(&self) -> Option<&List> {
        self.list.as_deref()
    }

    /// A statement has left them on that thread of a server.
    pub(crate) fn note_left_on(&mut self, thread_id: u32) {
        (self.list, self.on) = (None, Some(thread_id));
    }

    /// The session has them itself.
    pub(crate) fn have(&mut self, list: List) {
        (self.list, self.on) = (Some(Box::new(list)), None);
    }

    /// The session has them itself, and the server's thread has them still.
    pub(crate) fn have_too(&mut self, list: List) {
        self.list = Some(Box::new(list));
    }

    /// The session has what was on the connection, on which something follows that may have left them alone.
    pub(crate) fn take_over(&mut self, list: List) {
        (self.on, self.fate) = (None, Fate::Untold);
        self.list = (list.is_lost() || list.len() > 0).then(|| Box::new(list));
    }

    /// The session lets go of that thread of a server.
    pub(crate) fn leave(&mut self, thread_id: u32) {
        if self.are_on(thread_id) {
            self.on = None;
        }
    }

    /// There are none.
    pub(crate) fn forget(&mut self) {
        self.drop_list();
        self.on = None;
    }

    /// The session has none itself.
    pub(crate) fn drop_list(&mut self) {
        // Cheaper than to drop nothing.
        if self.list.is_some() {
            self.list = None;
        }
    }

    pub(crate) const fn take_list(&mut self) -> Option<Box<List>> {
        self.list.take()
    }

    /// Where the session's own list is too; asked once.
    pub(crate) fn take_left(&mut self) -> Option<Left> {
        self.list.as_mut()?.take_left()
    }

    /// Puts what was there before in front of the session's own list, as long as a server's may be.
    pub(crate) fn put_before(&mut self, before: Option<Box<List>>) {
        if let (Some(before), Some(list)) = (before, &mut self.list) {
            list.put_behind(*before);
        }
    }

    /// From now on the session's own list comes in another collation.
    pub(crate) fn come_in(&mut self, server: ServerFlavor, collation: ResultCollation) {
        if let Some(list) = &mut self.list {
            list.come_in(server, collation);
        }
    }

    /// What the statement at hand does to those of the one before, unless it has some.
    pub(crate) const fn fate(&self) -> Fate {
        self.fate
    }

    pub(crate) const fn set_fate(&mut self, fate: Fate) {
        self.fate = fate;
    }

    /// What a SET CHARACTER SET made of the results' character set.
    pub(crate) fn results_charset(&self) -> Option<&Charset> {
        self.results_charset.as_deref()
    }

    pub(crate) fn set_results_charset(&mut self, charset: Option<Charset>) {
        self.results_charset = charset.map(Box::new);
    }

    /// All of it in words, but for where a list was left.
    pub(crate) fn shown(&self) -> String {
        let Self { on, fate, results_charset, list } = self;
        let list = list.as_ref().map(|list| list.shown());
        format!("{on:?} {fate:?} {results_charset:?} {list:?}")
    }

    /// The session has a list of which only a server can tell whether the statement leaves it alone.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.fate == Fate::Untold && self.list.is_some()
    }

    /// No server has what the session has itself, any more.
    pub(crate) fn forget_where_left(&mut self) {
        if let Some(list) = &mut self.list {
            list.take_left();
        }
    }

    /// A server has told what there is behind the statement, unless it is too much.
    pub(crate) fn settle(&mut self, there: Option<List>) {
        self.fate = Fate::Kept;
        match there {
            None => self.lose(),
            Some(there) if there.is_of_only(MARK) => {}
            Some(there) => self.list = (there.len() > 0).then(|| Box::new(there)),
        }
    }

    /// Nobody can tell any more.
    pub(crate) fn lose(&mut self) {
        self.fate = Fate::Kept;
        if let Some(list) = &mut self.list {
            list.lose();
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_config::HostgroupId;

    use super::*;
    use crate::backend::Server;

    fn list(code: u16) -> List {
        let server = ServerFlavor::MariaDb(101_119);
        List::of_one("Error", server, Charset::utf8().of_results(server), code, b"what")
    }

    #[test]
    fn they_are_on_a_server_or_the_sessions_own() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.note_left_on(7);
        diagnostics.leave(8);
        assert!(diagnostics.are_on(7) && diagnostics.list().is_none(), "it let go of another");
        diagnostics.have_too(list(1054));
        assert!(diagnostics.are_on(7) && diagnostics.list().is_some());
        diagnostics.leave(7);
        assert!(diagnostics.thread().is_none() && diagnostics.list().is_some());
        diagnostics.note_left_on(9);
        assert!(diagnostics.are_on(9) && diagnostics.list().is_none(), "others took their place");
        diagnostics.have(list(1146));
        assert!(
            diagnostics.thread().is_none() && diagnostics.list().is_some_and(|list| list.is_of_only(1146))
        );
        diagnostics.forget();
        assert!(diagnostics.thread().is_none() && diagnostics.list().is_none());
    }

    #[test]
    fn what_was_there_before_stands_in_front_up_to_what_a_server_lists() {
        let mut diagnostics = Diagnostics::default();
        diagnostics.put_before(Some(Box::new(list(1))));
        assert!(diagnostics.list().is_none(), "nothing came behind it");
        let mut before = None;
        for _ in 0..1025 {
            diagnostics.have(list(1054));
            diagnostics.put_before(before);
            before = diagnostics.take_list();
        }
        assert_eq!(before.map(|list| list.len()), Some(1024));
    }

    #[test]
    fn list_that_was_taken_over_is_kept_only_if_it_tells_something() {
        let lost = List::lost(list(1054).collation());
        for (there, is_kept) in [(list(1054), true), (lost, true), (list(1054).emptied(), false)] {
            let mut diagnostics = Diagnostics::default();
            diagnostics.note_left_on(7);
            diagnostics.take_over(there);
            assert_eq!((diagnostics.thread(), diagnostics.fate()), (None, Fate::Untold));
            assert_eq!(diagnostics.list().is_some(), is_kept);
        }
    }

    #[test]
    fn another_list_is_not_where_the_last_one_was_left() {
        let left = || (Server::at("a", 1), HostgroupId(0), 7);
        let mut diagnostics = Diagnostics::default();
        let mut first = list(1054);
        first.leave_on(left());
        diagnostics.have(first);
        assert!(diagnostics.take_left().is_some());
        assert!(diagnostics.take_left().is_none(), "it is asked once");
        let mut first = list(1054);
        first.leave_on(left());
        diagnostics.have(first);
        diagnostics.settle(Some(list(1146)));
        assert!(diagnostics.take_left().is_none());
    }

    #[test]
    fn list_in_doubt_is_what_a_server_tells_and_its_own_where_the_mark_is_still_there() {
        let none = || list(1054).emptied();
        for (there, expected) in [
            (Some(list(MARK)), Some((1054, false))),
            (Some(list(1146)), Some((1146, false))),
            (Some(none()), None),
            (None, Some((1054, true))),
        ] {
            let shown = format!("{there:?}");
            let (fate, own) = (Fate::Untold, Some(Box::new(list(1054))));
            let mut diagnostics = Diagnostics { fate, list: own, ..Diagnostics::default() };
            assert!(diagnostics.is_in_doubt());
            diagnostics.settle(there);
            let left = diagnostics.list.as_ref();
            let is_of = |code| left.is_some_and(|list| list.is_of_only(code));
            assert_eq!(left.map(|list| list.is_lost()), expected.map(|(_, is_lost)| is_lost), "{shown}");
            assert!(expected.is_none_or(|(code, _)| is_of(code)), "{shown}");
            assert!(!diagnostics.is_in_doubt());
        }
    }
}
