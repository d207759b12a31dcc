//! The connections that a session has in its hands, and those that it let go of.

mod position;

use std::num::NonZeroU32;
use std::sync::Arc;

use nuthatch_config::HostgroupId;

use crate::backend::Server;
use crate::session::parts::hands::position::Position;
use crate::session::parts::{Held, Outcome, Statement, Transaction};
use crate::session::statement::Plan;
use crate::state::{Behind, Errand};

/// A connection that the session let go of: its server, its hostgroup, the server's thread.
pub(crate) type Left = (Arc<Server>, HostgroupId, u32);

/// See the module's doc.
#[derive(Debug, Default)]
pub(crate) struct Hands {
    pub(crate) held: Vec<Held>,
    errand: Errand,
    /// What has been seen with them.
    pub(crate) position: Position,
    has_lost_state: bool,
    outcome: Outcome,
    left: Option<Left>,
    /// No thread of a server has the number 0.
    last_ran_on: Option<NonZeroU32>,
}

impl Hands {
    /// What the statement at hand asks of a connection.
    pub(crate) const fn errand(&self) -> &Errand {
        &self.errand
    }

    /// Its server may be any, until [it must show something](Position::demand).
    pub(crate) fn set_errand(&mut self, errand: Errand) {
        self.errand = errand;
        self.position.demand(None);
    }

    /// A connection was lost under the statement at hand.
    pub(crate) const fn ask_others_first(&mut self) {
        self.errand.is_again = true;
    }

    /// The same; returns what was asked before.
    pub(crate) const fn replace_errand(&mut self, errand: Errand) -> Errand {
        std::mem::replace(&mut self.errand, errand)
    }

    /// Nothing is sent in front of what the server has accepted.
    pub(crate) const fn send_nothing_ahead(&mut self) {
        self.errand.behind = Behind::Nothing;
    }

    /// A connection with state of the session was lost: the client must not go on as if it were still there.
    pub(crate) const fn lose_state(&mut self) {
        self.has_lost_state = true;
    }

    /// Whether one was; asked once.
    pub(crate) fn takes_lost_state(&mut self) -> bool {
        std::mem::take(&mut self.has_lost_state)
    }

    /// The same, to be asked again.
    pub(crate) const fn has_lost_state(&self) -> bool {
        self.has_lost_state
    }

    /// What is known of a statement whose connection was lost. What was noted of it first holds.
    pub(crate) fn note_outcome(&mut self, outcome: Outcome) {
        if self.outcome == Outcome::Nothing {
            self.outcome = outcome;
        }
    }

    /// The same, asked once.
    pub(crate) fn take_outcome(&mut self) -> Outcome {
        std::mem::take(&mut self.outcome)
    }

    /// A connection was let go of; none if it is not to be asked for what its last statement left.
    pub(crate) fn let_go_of(&mut self, left: Option<Left>) {
        self.left = left;
    }

    /// The connection that was let go of last; asked once.
    pub(crate) const fn take_left(&mut self) -> Option<Left> {
        self.left.take()
    }

    /// The server's thread that ran the last statement; `None` when no server did.
    pub(crate) fn last_ran_on(&self) -> Option<u32> {
        self.last_ran_on.map(NonZeroU32::get)
    }

    pub(crate) const fn note_ran_on(&mut self, thread_id: u32) {
        self.last_ran_on = NonZeroU32::new(thread_id);
    }

    /// Another statement ran on that thread, or the last one ran on none.
    pub(crate) const fn forget_what_ran_last(&mut self) {
        self.last_ran_on = None;
    }

    /// The held connection on which that cursor is open, and the statement's number there.
    pub(crate) fn take_cursor(&mut self, cursor: Option<(u32, u32)>) -> Option<(Held, u32)> {
        let (thread_id, number) = cursor?;
        let place = self.held.iter().position(|held| held.connection.thread_id == thread_id)?;
        Some((self.held.swap_remove(place), number))
    }

    /// The held connection that alone has the statement, and its number there.
    pub(crate) fn take_hidden(&mut self, statement: &Statement) -> Option<(Held, u32)> {
        let owner = statement.key().hidden?;
        let numbers = self.held.iter().map(|held| held.connection.prepared.number_of(owner));
        let (place, number) = numbers.enumerate().find_map(|(place, number)| Some((place, number?)))?;
        Some((self.held.swap_remove(place), number))
    }

    /// Neither a transaction nor anything else is open that COMMIT or ROLLBACK could end, and it does nothing else: AND CHAIN
    /// begins a transaction also where none was, RELEASE hangs up.
    pub(crate) fn needs_no_end(&self, plan: &Plan) -> bool {
        self.held.is_empty() && plan.facts.transaction.ends && !plan.facts.server.disconnects
    }

    /// Whether a server has something of the session that a BEGIN would end.
    pub(crate) fn is_open_somewhere(&self) -> bool {
        self.held.iter().any(|held| held.in_transaction() || held.pins().is_sticky())
    }
}

impl Hands {
    /// Whether a transaction is open on one of them, or has begun for the client.
    pub(crate) fn are_in_transaction(&self, transaction: &Transaction) -> bool {
        transaction.beginning().is_held_back() || self.held.iter().any(|held| held.in_transaction())
    }

    /// Whether what a transaction does on one of them is written down.
    pub(crate) fn are_recorded(&self) -> bool {
        self.held.iter().any(Held::is_recorded)
    }

    /// The hostgroup of the connection with an open transaction.
    pub(crate) fn open_transaction(&self, transaction: &Transaction) -> Option<HostgroupId> {
        let begun = self.held.iter().find(|held| held.in_transaction()).map(|held| held.hostgroup);
        begun.or(transaction.beginning().hostgroup())
    }
}

#[cfg(test)]
mod tests {
    use nuthatch_cache::{ClockOptions, Clocks};
    use nuthatch_sql::{Lexing, ServerFlavor, classify};

    use super::*;
    use crate::session::parts::Beginning;
    use crate::session::statement::{Facts, SaidByRules, TextFacts};

    impl Plan {
        /// That of a text of which nothing else is known; for the tests of other parts too.
        pub(crate) fn of_text(text: &str) -> Self {
            let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
            let text_facts = TextFacts::of(&classify(text.as_bytes(), lexing));
            Self {
                facts: Facts::of_text(Arc::new(text_facts), None),
                verdict: SaidByRules::default(),
                digest: None,
                wanted: HostgroupId(0),
                hostgroup: HostgroupId(0),
                causal: None,
                named: None,
                said_to_cache: None,
                sent: None,
                started_us: 0,
            }
        }
    }

    #[test]
    fn empty_hands_are_in_a_transaction_only_while_its_begin_is_held_back() {
        let (to, since) = (HostgroupId(7), Clocks::new(ClockOptions::default()).now());
        for (beginning, expected) in [
            (Beginning::Usual, None),
            (Beginning::HeldBack(to), Some(to)),
            (Beginning::Sent { held_back: Some(to), since }, Some(to)),
            (Beginning::Sent { held_back: None, since }, None),
            (Beginning::Begun(since), None),
            (Beginning::Snapshot(since), None),
        ] {
            let mut transaction = Transaction::default();
            transaction.set_beginning(beginning);
            let hands = Hands::default();
            assert_eq!(hands.are_in_transaction(&transaction), expected.is_some(), "{beginning:?}");
            assert_eq!(hands.open_transaction(&transaction), expected, "{beginning:?}");
            assert!(!hands.is_open_somewhere(), "no server has anything of it: {beginning:?}");
        }
    }

    #[test]
    fn with_empty_hands_only_what_does_nothing_but_end_a_transaction_needs_no_server() {
        for (text, expected) in [
            ("COMMIT", true),
            ("commit work", true),
            ("ROLLBACK", true),
            ("COMMIT AND NO CHAIN NO RELEASE", true),
            ("COMMIT AND CHAIN", false),
            ("ROLLBACK AND CHAIN", false),
            ("COMMIT RELEASE", false),
            ("ROLLBACK RELEASE", false),
            ("ROLLBACK TO a", false),
            ("COMMIT; SELECT 1", false),
            ("BEGIN", false),
            ("SELECT 1", false),
        ] {
            assert_eq!(Hands::default().needs_no_end(&Plan::of_text(text)), expected, "{text}");
        }
    }
}
