//! What a transaction has done so far, statement by statement, so that it can be done again if its connection is lost.

use nuthatch_wire::{AnswerEnd, Ending};

use crate::backend::StatementKey;
use crate::state::SessionState;
use crate::stats::NoReplay;

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    entries: Vec<Entry>,
    bytes: u64,
    refused: Option<NoReplay>,
    attempts: u64,
    /// `LAST_INSERT_ID()` before its first statement, or behind that if it was first to set it; if it is known.
    id_before: Option<u64>,
    /// In which its session was when it began.
    state: Option<Box<SessionState>>,
}

/// One statement, and what the client was told.
#[derive(Debug)]
pub(crate) struct Entry {
    what: What,
    told: Told,
    made_id_up: bool,
}

/// A statement to be run again.
#[derive(Debug)]
pub(crate) enum What {
    Text(Box<[u8]>),
    /// A packet, whose number of the statement is another on each connection.
    Execution {
        key: StatementKey,
        packet: Box<[u8]>,
    },
}

/// What a client was told of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Told {
    ending: Ending,
    affected_rows: u64,
    insert_id: u64,
    warnings: u16,
    rows: u64,
    /// What the rows are: see [`Print`](crate::session::way::Print).
    sum: u64,
}

impl Told {
    pub(crate) fn of(end: &AnswerEnd, sum: u64) -> Self {
        let is_error = matches!(end.ending, Ending::Err(_));
        let ok = if is_error { nuthatch_wire::OkPacket::default() } else { end.ok };
        Self {
            ending: end.ending,
            affected_rows: ok.affected_rows,
            insert_id: ok.insert_id,
            warnings: ok.warnings,
            rows: end.rows,
            sum,
        }
    }

    /// The id that an OK packet told.
    pub(crate) const fn insert_id(&self) -> u64 {
        self.insert_id
    }
}

impl Journal {
    /// Of a transaction of which nothing is written down yet.
    pub(crate) fn new(id_before: Option<u64>, state: &SessionState) -> Self {
        Self { id_before, state: Some(Box::new(state.clone())), ..Self::default() }
    }

    /// Of one that begins with that statement, to which the server has said no more than OK.
    pub(crate) fn of_begin(text: &[u8], id_before: Option<u64>, state: &SessionState) -> Self {
        let mut journal = Self::new(id_before, state);
        let told = Told::of(&AnswerEnd { ending: Ending::Ok, ..AnswerEnd::default() }, 0);
        journal.add(Entry::new(What::Text(text.into()), told, false), u64::MAX);
        journal
    }

    /// The next statement was answered.
    pub(crate) fn add(&mut self, entry: Entry, bytes_max: u64) {
        if self.refused.is_some() {
            return;
        }
        self.bytes += entry.bytes();
        self.entries.push(entry);
        if self.bytes > bytes_max {
            self.refuse(NoReplay::Limits);
        }
    }

    /// It is not to be done again.
    pub(crate) fn refuse(&mut self, why: NoReplay) {
        self.refused.get_or_insert(why);
        self.entries = Vec::new();
    }

    /// Why it is not.
    pub(crate) const fn refused(&self) -> Option<NoReplay> {
        self.refused
    }

    pub(crate) const fn id_before(&self) -> Option<u64> {
        self.id_before
    }

    /// Whether its session is in another state now than where it began: what it has done is not written down then.
    pub(crate) fn has_changed(&self, state: &SessionState) -> bool {
        self.state.as_deref() != Some(state)
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// It is to be done again, if it was not too often.
    pub(crate) const fn try_again(&mut self, attempts_max: u64) -> bool {
        self.attempts += 1;
        self.attempts <= attempts_max
    }
}

impl Entry {
    /// `made_id_up`: the server made the id up that it told.
    pub(crate) const fn new(what: What, told: Told, made_id_up: bool) -> Self {
        Self { what, told, made_id_up }
    }

    pub(crate) const fn what(&self) -> &What {
        &self.what
    }

    pub(crate) const fn told(&self) -> &Told {
        &self.told
    }

    /// The id that the server made up for it.
    pub(crate) fn made_up_id(&self) -> Option<u64> {
        self.made_id_up.then_some(self.told.insert_id)
    }

    fn bytes(&self) -> u64 {
        let statement = match &self.what {
            What::Text(text) => text.len(),
            What::Execution { key, packet } => key.text.len() + packet.len(),
        };
        (statement + size_of::<Self>()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::Charset;

    fn state() -> SessionState {
        SessionState::new(b"app".to_vec(), Charset::Collation(45))
    }

    #[test]
    fn session_that_is_elsewhere_now_has_done_what_is_not_written_down() {
        let journal = Journal::of_begin(b"BEGIN", None, &state());
        assert!(!journal.has_changed(&state()));
        assert!(journal.has_changed(&SessionState { schema: b"other".to_vec().into(), ..state() }));
    }

    fn entry(bytes: usize) -> Entry {
        let told = Told::of(&AnswerEnd { ending: Ending::Ok, ..AnswerEnd::default() }, 0);
        Entry::new(What::Text(vec![b'x'; bytes].into()), told, false)
    }

    #[test]
    fn journal_past_its_limit_keeps_nothing_and_says_why() {
        let mut journal = Journal::of_begin(b"BEGIN", None, &state());
        let limit = journal.bytes + entry(100).bytes();
        journal.add(entry(100), limit);
        assert_eq!((journal.entries().len(), journal.refused()), (2, None));
        journal.add(entry(1), limit);
        assert_eq!((journal.entries().len(), journal.refused()), (0, Some(NoReplay::Limits)));
        journal.add(entry(1), u64::MAX);
        journal.refuse(NoReplay::Statement);
        assert_eq!((journal.entries().len(), journal.refused()), (0, Some(NoReplay::Limits)));
    }

    #[test]
    fn tries_are_counted() {
        let mut journal = Journal::of_begin(b"BEGIN", None, &state());
        assert!(journal.try_again(2) && journal.try_again(2) && !journal.try_again(2));
    }

    #[test]
    fn what_differs_in_any_number_is_told_otherwise() {
        let end = |affected_rows, insert_id, warnings, rows| AnswerEnd {
            ending: Ending::Ok,
            ok: nuthatch_wire::OkPacket {
                affected_rows,
                insert_id,
                warnings,
                ..nuthatch_wire::OkPacket::default()
            },
            rows,
            ..AnswerEnd::default()
        };
        let one = Told::of(&end(1, 2, 3, 4), 5);
        assert_eq!(one, Told::of(&end(1, 2, 3, 4), 5));
        for (end, sum) in [
            (end(0, 2, 3, 4), 5),
            (end(1, 0, 3, 4), 5),
            (end(1, 2, 0, 4), 5),
            (end(1, 2, 3, 0), 5),
            (end(1, 2, 3, 4), 0),
            (AnswerEnd { ending: Ending::Err(1062), ..end(1, 2, 3, 4) }, 5),
        ] {
            assert_ne!(one, Told::of(&end, sum));
        }
    }
}
