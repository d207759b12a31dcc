//! Where the warnings and errors of the last statement are.

mod list;

pub(crate) use list::{List, Recipient, Rows};

use crate::state::Charset;

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
    pub(crate) on: Option<u32>,
    /// What the statement at hand does to those of the one before, unless it has some.
    pub(crate) fate: Fate,
    /// What a SET CHARACTER SET made of the results' character set.
    pub(crate) results_charset: Option<Box<Charset>>,
    /// All that there are, if the session has them itself.
    pub(crate) list: Option<Box<List>>,
}

impl Diagnostics {
    /// The session has a list of which only a server can tell whether the statement leaves it alone.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.fate == Fate::Untold && self.list.is_some()
    }

    /// No server has what the session has itself, any more.
    pub(crate) fn forget_where_left(&mut self) {
        if let Some(list) = &mut self.list {
            list.left_on = None;
        }
    }

    /// A server has told what there is behind the statement, unless it is too much.
    pub(crate) fn settle(&mut self, there: Option<List>) {
        self.fate = Fate::Kept;
        match there {
            None => self.lose(),
            Some(there) if there.is_of_only(MARK) => {}
            Some(there) => self.list = (!there.rows.is_empty()).then(|| Box::new(there)),
        }
    }

    /// Nobody can tell any more.
    pub(crate) fn lose(&mut self) {
        self.fate = Fate::Kept;
        if let Some(list) = &mut self.list {
            list.is_lost = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::ServerFlavor;

    use super::*;

    fn list(code: u16) -> List {
        let server = ServerFlavor::MariaDb(101_119);
        List::of_one("Error", server, Charset::utf8().of_results(server), code, b"what")
    }

    #[test]
    fn list_in_doubt_is_what_a_server_tells_and_its_own_where_the_mark_is_still_there() {
        let none = || List { rows: Vec::new(), ..list(1054) };
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
            assert_eq!(left.map(|list| list.is_lost), expected.map(|(_, is_lost)| is_lost), "{shown}");
            assert!(expected.is_none_or(|(code, _)| is_of(code)), "{shown}");
            assert!(!diagnostics.is_in_doubt());
        }
    }
}
