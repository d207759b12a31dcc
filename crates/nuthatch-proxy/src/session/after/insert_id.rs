//! `LAST_INSERT_ID()` of a session, which must not depend on the connection that its statements happen to get.
//!
//! An OK packet tells an id also when the statement or a trigger named the key, and then the server's `LAST_INSERT_ID()` stays what it
//! was (measured on MariaDB and MySQL). So an id counts as known only where text and catalogue show that the server made it up.
//! Otherwise the connection that ran the statement is asked: when somebody wants to know, or before the session lets go
//! of it.

use nuthatch_sql::{Kind, makes_up, names_another};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::parts::{Client, Context, Ground, Hands, Held, IdsBefore, InsertId, Results};
use crate::session::statement::Facts;
use crate::session::way::Trouble;
use crate::state::Found;
use crate::stats::pins::Pins;

impl Session {
    /// Takes note of what a statement did to the id.
    pub(crate) fn learn_insert_id(
        &mut self,
        facts: &Facts,
        prepared: Option<&[u8]>,
        end: &AnswerEnd,
        held: &mut Held,
    ) {
        let told = end.ok.insert_id;
        let is_insert = inserts(facts.kind);
        self.results.insert_id = match told {
            0 if !(may_set(facts) || is_insert && end.ending == Ending::ResultSet) => return,
            id if id > 0
                && is_insert
                && is_made_up(&self.ground, &self.client, &self.context, id, prepared, held) =>
            {
                held.connection.insert_id = Some(id);
                held.knows_insert_id = true;
                held.ids_before = None;
                InsertId::Known(id)
            }
            _ => only_known_at(&self.results, told, held),
        };
        self.hands.held.iter_mut().for_each(|other| other.knows_insert_id = false);
    }

    /// Whether the session's id must be on the connection before the statement runs: because it reads it, or because it could
    /// not be told afterwards whether it set it.
    /// Whether the connection must be told the session's id before the statement.
    pub(crate) fn must_bring_insert_id(&self, held: &Held, facts: &Facts, prepared: Option<&[u8]>) -> bool {
        !held.knows_insert_id && self.needs_insert_id(facts, prepared, held)
    }

    fn needs_insert_id(&self, facts: &Facts, prepared: Option<&[u8]>, held: &Held) -> bool {
        if may_set(facts) {
            return true;
        }
        inserts(facts.kind)
            && match (self.results.insert_id, held.connection.insert_id) {
                // The server makes no 0 up, and tells none. What it tells may be the connection's id only where the text can
                // hold that.
                (InsertId::Known(_), Some(0)) => false,
                (InsertId::Known(_), Some(id)) => {
                    let text = prepared.unwrap_or_else(|| self.client.statement_text());
                    tells_nothing(text)
                        || match self.ground.shared.exact.catalogues.current().domain(held.hostgroup) {
                            Ok(_) => {
                                !is_made_up(&self.ground, &self.client, &self.context, id, prepared, held)
                            }
                            // That a trigger names the very id of another session, nobody waits for in front of each INSERT.
                            Err(_) => !names_another(id, text, self.context.lexing),
                        }
                }
                _ => true,
            }
    }

    /// Brings the session's id to the connection if the statement needs it there. Tells whether anything was sent for it.
    pub(crate) async fn bring_insert_id(
        &mut self,
        held: &mut Held,
        facts: &Facts,
        prepared: Option<&[u8]>,
    ) -> Result<bool, Trouble> {
        if !self.must_bring_insert_id(held, facts, prepared) {
            return Ok(false);
        }
        let was_known = matches!(self.results.insert_id, InsertId::Known(_));
        let Some(id) = self.insert_id_for(held).await? else { return Ok(!was_known) };
        let differs = held.connection.insert_id != Some(id);
        if differs {
            let statement = format!("SET last_insert_id={id}");
            self.set(held, statement.as_bytes(), b"SET last_insert_id").await?;
            self.hands.last_ran_on = None;
            held.connection.insert_id = Some(id);
        }
        held.knows_insert_id = true;
        Ok(!was_known || differs)
    }

    /// Asks for the id, if only a held connection knows it.
    pub(crate) async fn learn_insert_id_of_held(&mut self) -> Result<(), SessionEnd> {
        let InsertId::At(thread_id) = self.results.insert_id else { return Ok(()) };
        let knows = |held: &Held| held.connection.thread_id == thread_id;
        let Some(place) = self.hands.held.iter().position(knows) else { return Ok(()) };
        let mut held = self.hands.held.swap_remove(place);
        let outcome = self.resolve_insert_id(&mut held).await;
        self.put_away(held, outcome.as_ref().err());
        outcome.map_err(|_trouble| SessionEnd::Gone)
    }

    /// Asks for the id before the session lets go of the connection that knows it. Not while the next statement may ask for
    /// warnings or FOUND_ROWS(): MySQL forgets the warnings at any question, and FOUND_ROWS() would be of this one.
    pub(crate) async fn keep_insert_id(&mut self, held: &mut Held) -> Result<(), Trouble> {
        let is_kept = held.in_transaction || !held.pins.is_empty();
        if !is_kept && self.results.insert_id == InsertId::At(held.connection.thread_id) {
            self.resolve_insert_id(held).await?;
        }
        Ok(())
    }

    /// The same for a connection that was held only for warnings or FOUND_ROWS(), once nobody can ask for them any more.
    pub(crate) async fn keep_insert_id_of_held(&mut self) -> Result<(), SessionEnd> {
        let InsertId::At(thread_id) = self.results.insert_id else { return Ok(()) };
        let is_let_go = |held: &Held| {
            held.connection.thread_id == thread_id
                && !held.in_transaction
                && held.pins.without(Pins::PASSING).is_empty()
        };
        let Some(place) = self.hands.held.iter().position(is_let_go) else { return Ok(()) };
        let mut held = self.hands.held.swap_remove(place);
        match self.resolve_insert_id(&mut held).await {
            Ok(()) => {
                self.hands.held.push(held);
                Ok(())
            }
            Err(trouble) => {
                self.put_away(held, Some(&trouble));
                Err(SessionEnd::Gone)
            }
        }
    }

    /// Asks this connection, which knows, for the id.
    async fn resolve_insert_id(&mut self, held: &mut Held) -> Result<(), Trouble> {
        if self.results.found_rows == Found::Elsewhere
            && self.results.found_rows_on == Some(held.connection.thread_id)
        {
            // This question would be what it tells of.
            Box::pin(self.fetch_found_rows(held)).await?;
        }
        let id = self.ask(held, "SELECT LAST_INSERT_ID()").await?.unwrap_or_default();
        held.connection.insert_id = Some(id);
        self.results.insert_id = InsertId::Known(match held.ids_before.take() {
            // The statement left it alone: it is another session's.
            Some(before) if before.connection == id && (id == 0 || before.told != id) => before.session,
            _ => id,
        });
        Ok(())
    }

    /// The value, if it is needed on this connection.
    async fn insert_id_for(&mut self, held: &mut Held) -> Result<Option<u64>, Trouble> {
        if let InsertId::At(thread_id) = self.results.insert_id {
            if held.connection.thread_id == thread_id {
                self.resolve_insert_id(held).await?;
            } else {
                let knows = |other: &Held| other.connection.thread_id == thread_id;
                let Some(place) = self.hands.held.iter().position(knows) else { return Ok(Some(0)) };
                let mut other = self.hands.held.swap_remove(place);
                let outcome = self.resolve_insert_id(&mut other).await;
                self.put_away(other, outcome.as_ref().err());
                outcome?;
            }
        }
        Ok(match self.results.insert_id {
            InsertId::Known(id) => Some(id),
            InsertId::At(_) => None,
        })
    }
}

/// What makes ids up.
const fn inserts(kind: Kind) -> bool {
    matches!(kind, Kind::Insert | Kind::Replace | Kind::LoadData)
}

/// Whether the statement may set the id without saying so in its answer.
const fn may_set(facts: &Facts) -> bool {
    facts.reads_insert_id || facts.is_opaque || facts.pins.contains(Pins::SESSION_VARIABLE)
}

/// `INSERT … RETURNING` answers with rows, and those tell no id.
fn tells_nothing(text: &[u8]) -> bool {
    let word = b"returning";
    text.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
}

/// The same of a statement that failed: an insert that was taken back has set the id all the same.
pub(crate) fn learn_insert_id_of_failed(
    hands: &mut Hands,
    results: &mut Results,
    facts: &Facts,
    held: &mut Held,
) {
    if may_set(facts) || inserts(facts.kind) {
        results.insert_id = only_known_at(results, 0, held);
        hands.held.iter_mut().for_each(|other| other.knows_insert_id = false);
    }
}

fn only_known_at(results: &Results, told: u64, held: &mut Held) -> InsertId {
    held.ids_before = match (results.insert_id, held.connection.insert_id) {
        (InsertId::Known(session), Some(connection)) if !held.knows_insert_id => {
            Some(IdsBefore { connection, session, told })
        }
        _ => None,
    };
    held.connection.insert_id = None;
    InsertId::At(held.connection.thread_id)
}

/// Whether an id that the statement tells is surely one that the server made up, as far as the catalogue tells: of the statement at
/// hand, or the prepared one that it executes.
fn is_made_up(
    ground: &Ground,
    client: &Client,
    context: &Context,
    id: u64,
    prepared: Option<&[u8]>,
    held: &Held,
) -> bool {
    let text = prepared.unwrap_or_else(|| client.statement_text());
    let catalogues = ground.shared.exact.catalogues.current();
    let domain = catalogues.domain(held.hostgroup);
    domain.is_ok_and(|domain| {
        makes_up(id, text, context.lexing, &held.connection.state.schema, &domain.catalogue)
    })
}
