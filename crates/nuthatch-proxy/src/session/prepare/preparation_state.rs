//! The state that a statement is prepared under on a connection where the session has set what is not tracked.
//!
//! Such a connection has to be brought into another state for the moment of a preparation, and back into its own, which only the
//! server knows: it is asked for the statements that do it.

use nuthatch_wire::{AnswerKind, Command};

use crate::session::lease::bring_into::bring_into;
use crate::session::lease::question::{forget_what_a_question_changes, order, way};
use crate::session::parts::{Account, Context, Dealings, Ground, Held};
use crate::session::way::Trouble;
use crate::state::{OF_NAMES, SessionState, Settings};
use crate::stats::pins::Pins;

/// Asks for the statement that sets the character sets as they are.
const ASK_NAMES: &str = "SELECT CONCAT('SET character_set_client=', @@character_set_client, \
     ', character_set_results=', IFNULL(@@character_set_results, 'NULL'), \
     ', collation_connection=', @@collation_connection)";

/// What brings a connection back into its session's state.
#[derive(Debug)]
pub(crate) struct WaysBack {
    /// It is in another state, as far as is known.
    is_elsewhere: bool,
    ways: Vec<WayBack>,
}

/// A statement that brings a part of a connection's state back.
#[derive(Debug)]
struct WayBack {
    /// Asks for the statement.
    question: String,
    statement: Vec<u8>,
}

/// Brings a connection into the state that a statement is prepared under. `is_hidden`: that it was prepared here, under what is
/// there now.
pub(crate) async fn bring_into_preparation(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    state: &SessionState,
    is_hidden: bool,
    held: &mut Held,
) -> Result<WaysBack, Trouble> {
    let may_be_unknown = held.pins().contains(Pins::SESSION_VARIABLE) || held.pins().contains(Pins::UNKNOWN);
    let mut ways = Vec::new();
    if may_be_unknown && !is_hidden {
        let there = &held.connection.state;
        let are_names_the_same =
            state.charset == there.charset && state.settings.agrees_in_names(&there.settings);
        let mut questions = vec![ask_settings(&state.settings, &there.settings)];
        if !are_names_the_same {
            questions.push(ASK_NAMES.to_owned());
        }
        for question in questions {
            let Some(statement) = way(ground, held).ask_value(&question).await? else {
                return Err(Trouble::Unfit);
            };
            ways.push(WayBack { question, statement });
        }
    }
    let is_elsewhere = context.state != *state;
    if is_elsewhere || !ways.is_empty() {
        forget_what_a_question_changes(context, dealings);
    }
    bring_into(ground, account, context, dealings, state, held).await?;
    if !ways.is_empty() {
        // Tracked or not: how a statement is read.
        let mode = [b"SET sql_mode=", state.settings.get(b"sql_mode").unwrap_or(b"DEFAULT")].concat();
        order(ground, held, Command::Query, &mode, AnswerKind::Single).await?;
    }
    Ok(WaysBack { is_elsewhere, ways })
}

/// Brings it back after the preparation, whose `outcome` is returned. Not where nothing is another: a SET NAMES gives
/// `character_set_results` also a collation, which no other statement does.
pub(crate) async fn bring_back<T>(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    back: WaysBack,
    outcome: Result<T, Trouble>,
    held: &mut Held,
) -> Result<T, Trouble> {
    if outcome.as_ref().is_err_and(|trouble| !trouble.leaves_connection_usable()) {
        return outcome;
    }
    if back.is_elsewhere {
        bring_into(ground, account, context, dealings, &context.state, held).await?;
    }
    for WayBack { question, statement } in back.ways {
        if way(ground, held).ask_value(&question).await?.is_none_or(|now| now != statement) {
            order(ground, held, Command::Query, &statement, AnswerKind::Single).await?;
        }
    }
    if outcome.is_err() {
        // No statement follows, behind which it could go.
        way(ground, held).hear_ahead().await?;
    }
    outcome
}

/// Asks for the statement that sets the SQL mode, and each variable that differs in what is tracked, as they are; values as SQL
/// writes them.
fn ask_settings(wanted: &Settings, there: &Settings) -> String {
    let mut question = "SELECT CONCAT('SET sql_mode=', QUOTE(@@sql_mode)".to_owned();
    for (name, value) in wanted.differences(there) {
        if OF_NAMES.contains(&name) || name == b"sql_mode" {
            continue;
        }
        let known = value.or_else(|| there.get(name)).unwrap_or_default();
        let name = String::from_utf8_lossy(name);
        question.push_str(&match known.first() {
            Some(b'\'' | b'"') => format!(", ', @@session.{name}=', QUOTE(@@session.{name})"),
            _ => format!(", ', @@session.{name}=', @@session.{name}"),
        });
    }
    question + ")"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_asked_for_as_it_must_be_written() {
        let mut wanted = Settings::default();
        wanted.set(b"time_zone", Some(b"'+01:00'"));
        wanted.set(b"character_set_results", Some(b"NULL"));
        let mut there = Settings::default();
        there.set(b"sql_select_limit", Some(b"5"));
        assert_eq!(
            ask_settings(&wanted, &there),
            "SELECT CONCAT('SET sql_mode=', QUOTE(@@sql_mode), \
             ', @@session.time_zone=', QUOTE(@@session.time_zone), \
             ', @@session.sql_select_limit=', @@session.sql_select_limit)"
        );
    }
}
