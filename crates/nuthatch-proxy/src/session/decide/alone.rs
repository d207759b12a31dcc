//! Answers that need no server.

use nuthatch_sql::{Asked, Kind, Question, ServerFlavor, session_questions};
use nuthatch_wire::{CapabilityFlags, Column, ColumnFlags, ColumnType, ErrorCode};

use crate::session::after::diagnostics::answer_from_diagnostics;
use crate::session::after::errors::own_error;
use crate::session::after::set::learn_query_cache_type;
use crate::session::before::begin::begin_or_end_alone;
use crate::session::decide::query_cache::{answer_cache_show, cache_variable};
use crate::session::decide::schema_lock::refused_by_lock;
use crate::session::parts::{
    Account, Beginning, Client, Context, Dealings, Ground, InsertId, Rows, Statements,
};
use crate::session::statement::{Change, Plan};
use crate::session::way::reply;
use crate::state::Found;
use crate::stats::pins::Pins;

/// What is told who would stop a server.
const STOPS_NOTHING: &str = "Access denied; you need (at least one of) the SHUTDOWN privilege(s) for this operation: \
                             the proxy stops no server (mysql-allow_shutdown)";

/// What a session knows of itself.
enum Known {
    /// Unsigned ones by their bits.
    Number(i64),
    Text(String),
}

/// The answer to a statement that the proxy gives by itself; `None` when a server must.
pub(crate) fn answer_alone(
    ground: &Ground,
    client: &Client,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    statements: &Statements,
    plan: &Plan,
) -> Option<Vec<u8>> {
    if let Some(message) = &plan.verdict.error_msg {
        return Some(own_error(ground, context, dealings, ErrorCode::RULE_ERROR, message));
    }
    if may_not_stop(ground, plan) {
        return Some(own_error(ground, context, dealings, ErrorCode::SPECIFIC_ACCESS_DENIED, STOPS_NOTHING));
    }
    if let Some(message) = &plan.verdict.ok_msg {
        dealings.results.set_row_count(0);
        return Some(reply::ok_with_message(dealings.status(context), 0, message));
    }
    if plan.facts.asks.diagnostics {
        let text = statements.executed_text(client, plan);
        if let Some(answer) =
            answer_from_diagnostics(client, context, dealings, &plan.facts, text, Rows::Text)
        {
            return Some(answer);
        }
    }
    if let Some(answer) = begin_or_end_alone(ground, account, context, dealings, plan) {
        return Some(answer);
    }
    let counters = &ground.worker.counters;
    match (plan.facts.kind, &plan.facts.change) {
        (_, Change::Schema(schema)) => {
            let message = refused_by_lock(ground, account, context, schema)?;
            Some(own_error(ground, context, dealings, ErrorCode::DB_ACCESS_DENIED, &message))
        }
        (Kind::Set, Change::Autocommit(on)) => {
            let answer = set_autocommit_alone(ground, client, context, dealings, *on)?;
            learn_query_cache_type(ground, context, &plan.facts);
            Some(answer)
        }
        (Kind::Show, _) => {
            let answer = answer_cache_show(ground, client, context, dealings, statements, plan)?;
            // For a server it is a SELECT from a table.
            dealings.diagnostics.drop_list();
            Some(answer)
        }
        (Kind::Commit, _) => {
            counters.commit.bump();
            dealings.hands.needs_no_end(plan).then(|| {
                ground.worker.counters.commit_filtered.bump();
                dealings.results.set_row_count(0);
                reply::ok(dealings.status(context))
            })
        }
        (Kind::Rollback, _) => {
            counters.rollback.bump();
            dealings.hands.needs_no_end(plan).then(|| {
                ground.worker.counters.rollback_filtered.bump();
                dealings.results.set_row_count(0);
                reply::ok(dealings.status(context))
            })
        }
        // What only the session knows is never cacheable.
        (Kind::Select, _) if plan.facts.cache.allowed.is_err() => {
            answer_question(ground, client, context, dealings, statements, plan)
        }
        _ => None,
    }
}

/// `SET autocommit` without anything held is a note to ourselves; connections follow when they are lent. Whether a client is to be
/// told of the variable only a server knows (`session_track_system_variables`).
fn set_autocommit_alone(
    ground: &Ground,
    client: &Client,
    context: &mut Context,
    dealings: &mut Dealings,
    on: bool,
) -> Option<Vec<u8>> {
    if !dealings.hands.held.is_empty()
        || client.capabilities().contains(CapabilityFlags::CLIENT_SESSION_TRACK)
    {
        return None;
    }
    ground.worker.counters.autocommit.bump();
    ground.worker.counters.autocommit_filtered.bump();
    if on && !context.state.autocommit {
        // It commits what is open, which is nothing.
        dealings.transaction.set_beginning(Beginning::Usual);
    }
    context.state.autocommit = on;
    dealings.results.set_row_count(0);
    Some(reply::ok(dealings.status(context)))
}

/// A SELECT of nothing but what the session itself knows.
fn answer_question(
    ground: &Ground,
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    statements: &Statements,
    plan: &Plan,
) -> Option<Vec<u8>> {
    let (columns, values) = answer_to(ground, context, dealings, statements.executed_text(client, plan))?;
    // The question is itself a statement with one row.
    dealings.results.set_row_count(-1);
    dealings.results.set_found_rows(Found::Known(1), None);
    let text = |(column, value): (&Column, &Known)| match value {
        Known::Number(value) if column.flags.contains(ColumnFlags::UNSIGNED_FLAG) => {
            value.cast_unsigned().to_string()
        }
        Known::Number(value) => value.to_string(),
        Known::Text(text) => text.clone(),
    };
    let texts: Vec<_> = columns.iter().zip(&values).map(text).collect();
    let row: Vec<_> = texts.iter().map(|text| Some(text.as_bytes())).collect();
    Some(reply::result_set(client.capabilities(), dealings.status(context), &columns, Some(&row)))
}

/// The same as a prepared statement of that text, whose rows are binary.
pub(crate) fn answer_prepared_question(
    ground: &Ground,
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    text: &[u8],
) -> Option<Vec<u8>> {
    let (columns, values) = answer_to(ground, context, dealings, text)?;
    let number = |value: &Known| match value {
        Known::Number(number) => Some(*number),
        Known::Text(_) => None,
    };
    let values: Vec<_> = values.iter().map(number).collect::<Option<_>>()?;
    dealings.results.set_row_count(-1);
    dealings.results.set_found_rows(Found::Known(1), None);
    Some(reply::binary_numbers(client.capabilities(), dealings.status(context), &columns, &values))
}

/// What the session itself knows of all that is asked.
fn answer_to(
    ground: &Ground,
    context: &Context,
    dealings: &Dealings,
    text: &[u8],
) -> Option<(Vec<Column>, Vec<Known>)> {
    let questions = session_questions(text, context.lexing)?;
    questions.iter().map(|question| answer_one(ground, context, dealings, question)).collect()
}

fn answer_one(
    ground: &Ground,
    context: &Context,
    dealings: &Dealings,
    question: &Question<'_>,
) -> Option<(Column, Known)> {
    let name = String::from_utf8_lossy(&question.column.text()).into_owned();
    Some(match question.asked {
        Asked::LastInsertId => {
            let InsertId::Known(id) = dealings.results.insert_id() else { return None };
            let column = if question.is_variable { unsigned_or_null(name) } else { Column::unsigned(name) };
            (column, Known::Number(id.cast_signed()))
        }
        Asked::ConnectionId => {
            let column_type = match context.lexing.server {
                ServerFlavor::MariaDb(_) => ColumnType::MYSQL_TYPE_LONG,
                ServerFlavor::MySql(_) => ColumnType::MYSQL_TYPE_LONGLONG,
            };
            (Column { column_type, ..Column::unsigned(name) }, Known::Number(ground.handle.id.into()))
        }
        Asked::RowCount => (Column::never_null(name), Known::Number(dealings.results.row_count())),
        // Without that mode it is an error of the grammar.
        Asked::OracleRowCount if !context.has_set_oracle_mode() => return None,
        Asked::OracleRowCount if dealings.results.row_count() >= 0 => {
            (Column::never_null(name), Known::Number(dealings.results.row_count()))
        }
        Asked::FoundRows | Asked::OracleRowCount
            if dealings.hands.held.iter().any(|held| held.pins().contains(Pins::FOUND_ROWS)) =>
        {
            return None;
        }
        Asked::FoundRows | Asked::OracleRowCount => {
            let found = dealings.results.found_rows().known()?;
            (Column::never_null(name), Known::Number(found.cast_signed()))
        }
        Asked::QueryCache(variable, reads) => {
            let value = cache_variable(ground, context, variable, reads);
            match value.parse() {
                Ok(number) => (unsigned_or_null(name), Known::Number(number)),
                Err(_no_number) => (Column::text(name), Known::Text(value)),
            }
        }
    })
}

/// A variable's column of numbers.
fn unsigned_or_null(name: String) -> Column {
    let flags = ColumnFlags::BINARY_FLAG | ColumnFlags::UNSIGNED_FLAG;
    Column { flags, ..Column::integer(name) }
}

fn may_not_stop(ground: &Ground, plan: &Plan) -> bool {
    plan.facts.server.stops && !ground.snapshot.mysql.allow_shutdown
}

/// Refuses to prepare what would stop a server.
pub(crate) fn refusal_to_stop(ground: &Ground, plan: &Plan) -> Option<&'static str> {
    may_not_stop(ground, plan).then_some(STOPS_NOTHING)
}
