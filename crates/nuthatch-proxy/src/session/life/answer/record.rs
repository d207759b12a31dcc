//! What a transaction does is written down while `mysql-transaction_replay` is on, so that it can be done again if its connection is lost.
//!
//! Only what a server does the same way again, on whatever connection: statements that read and write rows, and savepoints. What is told of
//! them is compared when they are done again; so it is of no account whether a row is there by chance, but a clock or a user variable is
//! not asked for, nor anything left on the connection that ends with it. What is answered from the cache is not written down: a
//! transaction that is written down does not use it.

use std::sync::atomic::Ordering;

use nuthatch_sql::{Kind, Lexing, NotCacheable, TokenKind, Tokens, TransactionEnd};
use nuthatch_wire::{AnswerEnd, Ending};

use crate::session::after::insert_id::{inserts, is_made_up};
use crate::session::parts::{
    Client, Context, Dealings, Entry, Ground, Held, Journal, Statements, Told, What, asks_for_cursor, is_bulk,
};
use crate::session::statement::{Asked, Asks, Change, Facts, Plan, Request};
use crate::session::way::Print;
use crate::session::whole::Session;
use crate::stats::NoReplay;
use crate::stats::pins::Pins;

/// Pins of what a transaction may leave on its connection and still be done again.
const HARMLESS: Pins = Pins::PASSING.with(Pins::CONFIGURED).with(Pins::METADATA_LOCK);

/// Errors that a statement is refused with, or that undo no more than the statement.
const OF_STATEMENT: [u16; 19] = [
    1022, 1048, 1054, 1062, 1064, 1136, 1146, 1169, 1216, 1217, 1264, 1292, 1364, 1366, 1406, 1451, 1452,
    3819, 4025,
];

/// Whether the answer to the statement at hand is to be written down.
pub(super) fn may_be_recorded(ground: &Ground, context: &Context, dealings: &Dealings, plan: &Plan) -> bool {
    ground.snapshot.mysql.transaction_replay
        && (plan.facts.kind == Kind::Begin
            || !context.state.autocommit
            || dealings.hands.are_recorded()
            || dealings.transaction.beginning().is_held_back())
}

/// Writes the statement down, which was answered so, if it is of a transaction that is.
pub(super) fn record(session: &mut Session, asked: &Asked, end: &AnswerEnd, print: &Print, held: &mut Held) {
    let Session { ground, client, context, dealings, statements, .. } = session;
    let facts = &asked.plan.facts;
    let id = dealings.results.known_insert_id();
    let is_begin = facts.kind == Kind::Begin;
    if !held.in_transaction() || ends_another(facts) {
        return held.set_journal(None);
    }
    if is_begin {
        let begun = matches!(end.ending, Ending::Ok)
            .then(|| Journal::of_begin(client.statement_text(), id, &context.state));
        return held.set_journal(begun);
    }
    if !held.is_recorded() {
        // Without autocommit it begins with its first statement.
        if ground.handle.transaction_since_ms.load(Ordering::Relaxed) > 0 {
            return;
        }
        held.set_journal(Some(Journal::new(id, &context.state)));
    }
    let refused = match dealings.transaction.takes_outlasting() {
        true => Err(NoReplay::Tables),
        false => refused(client, context, facts, end, asked, held),
    };
    let what = what(client, statements, &asked.request, held);
    let text = asked.request.text(client.statement_text());
    let told = Told::of(end, print.sum());
    let told_id = told.insert_id();
    let made_id_up = told_id > 0 && inserts(facts.kind) && is_made_up(ground, context, told_id, text, held);
    let Some(journal) = held.journal_mut() else { return };
    match (refused, what) {
        (Ok(()), Some(what)) => {
            let bytes_max = ground.snapshot.mysql.transaction_replay_max_bytes;
            journal.add(Entry::new(what, told, made_id_up), bytes_max);
        }
        (refused, _) => journal.refuse(refused.err().unwrap_or(NoReplay::Statement)),
    }
}

/// Whether the transaction that is open behind it is another than before.
fn ends_another(facts: &Facts) -> bool {
    facts.kind != Kind::Begin && facts.transaction.end != TransactionEnd::No
}

/// Whether the statement could be done again.
fn refused(
    client: &Client,
    context: &Context,
    facts: &Facts,
    end: &AnswerEnd,
    asked: &Asked,
    held: &Held,
) -> Result<(), NoReplay> {
    let is_harmless = held.pins().without(HARMLESS).is_empty();
    let is_known_error = match end.ending {
        Ending::Err(code) => OF_STATEMENT.contains(&code),
        Ending::Ok | Ending::ResultSet => end.results <= 1,
    };
    let is_plain = client.attributes().is_none() && asked.plan.sent.is_none() && asked.plan.named.is_none();
    let text = asked.request.text(client.statement_text());
    let can = is_harmless && is_known_error && is_plain && may_be_repeated(facts, text, context.lexing);
    if can { Ok(()) } else { Err(NoReplay::Statement) }
}

/// Whether a statement of that text does the same whenever it runs on the same rows, and leaves nothing but rows.
fn may_be_repeated(facts: &Facts, text: &[u8], lexing: Lexing) -> bool {
    let moves_rows = match facts.kind {
        // Where it has run first, its count is.
        Kind::Select if facts.counts_all_rows() => false,
        Kind::Select => !facts.writes && matches!(facts.cache.allowed, Ok(()) | Err(NotCacheable::Locking)),
        Kind::Insert | Kind::Replace | Kind::Update | Kind::Delete | Kind::Savepoint => true,
        _ => false,
    };
    let has_variables = || {
        Tokens::new(text, lexing)
            .any(|token| matches!(token.kind, TokenKind::UserVariable | TokenKind::SystemVariable))
    };
    moves_rows
        && facts.cache.volatile.is_none()
        && !facts.transaction.is_opaque
        && !facts.reads_insert_id()
        && facts.asks == Asks::default()
        && facts.change == Change::None
        && !facts.sets_by_hint
        && facts.pins.without(HARMLESS).is_empty()
        && !has_variables()
}

/// The statement at hand; none if it takes more than to send it again.
fn what(client: &Client, statements: &mut Statements, request: &Request, held: &Held) -> Option<What> {
    let id = match request {
        Request::Text => return Some(What::Text(client.statement_text().into())),
        Request::Execution { id, .. } => *id,
    };
    let payload = client.payload();
    if asks_for_cursor(payload) || is_bulk(payload) {
        return None;
    }
    let statement = statements.prepared_statement_mut(id)?;
    if statement.has_long_data() || statement.key().hidden.is_some() {
        return None;
    }
    // All connections of the session's are alike in that.
    let packet = match held.connection.takes_attributes() {
        true => statement.binding_mut().packet_with_attributes(payload, 0, None),
        false => statement.binding_mut().packet_of(payload, 0),
    };
    Some(What::Execution { key: statement.key().clone(), packet: packet.into() })
}

#[cfg(test)]
mod tests {
    use nuthatch_sql::ServerFlavor;

    use super::*;

    #[test]
    fn only_what_moves_rows_and_asks_nothing_else_is_repeated() {
        for (text, expected) in [
            ("SELECT * FROM t WHERE id = 1 FOR UPDATE", true),
            ("INSERT INTO t VALUES (1, 'one')", true),
            ("UPDATE t SET v = v + 1", true),
            ("REPLACE INTO t VALUES (1)", true),
            ("DELETE FROM t WHERE id IN (SELECT id FROM u)", true),
            ("SAVEPOINT a", true),
            ("ROLLBACK TO SAVEPOINT a", true),
            ("INSERT INTO t VALUES (NOW())", false),
            ("UPDATE t SET v = CURRENT_TIMESTAMP", false),
            ("INSERT INTO t VALUES (RAND())", false),
            ("INSERT INTO t VALUES (UUID())", false),
            ("INSERT INTO t VALUES (@a)", false),
            ("INSERT INTO t SELECT @a := v FROM u", false),
            ("INSERT INTO t VALUES (@@server_id)", false),
            ("INSERT INTO t VALUES (LAST_INSERT_ID())", false),
            ("INSERT INTO t VALUES (CONNECTION_ID())", false),
            ("INSERT INTO t VALUES (own_function(1))", false),
            ("SELECT own_function(1)", false),
            ("SELECT GET_LOCK('a', 1)", false),
            ("SELECT ROW_COUNT()", false),
            ("SHOW WARNINGS", false),
            ("SET @a = 1", false),
            ("CALL p()", false),
            ("CREATE TEMPORARY TABLE x (id INT)", false),
            ("LOCK TABLES t WRITE", false),
            ("LOAD DATA LOCAL INFILE 'x' INTO TABLE t", false),
            ("SELECT 1; SELECT 2", false),
        ] {
            let facts = Plan::of_text(text).facts;
            let lexing = Lexing::of(ServerFlavor::MariaDb(101_119));
            assert_eq!(may_be_repeated(&facts, text.as_bytes(), lexing), expected, "{text}: {facts:?}");
        }
    }
}
