//! SET statements: what they change, and what the session learns of it.
//!
//! One SET may change several kinds of things at once. That is all or nothing on a server: measured on MariaDB 10.11 and MySQL 9.7, all values are
//! worked out before the first is set, and what can be wrong is found then. So a SET that failed changed nothing, but for a commit
//! that failed when it turned autocommit on; and where the server's own variables are among the session's, of which some are refused only when
//! they are set (`GLOBAL key_buffer_size = 0`): such a SET is not understood.

use nuthatch_config::QueryCacheType;
use nuthatch_sql::ServerFlavor;

use crate::session::after::diagnostics::translate_diagnostics;
use crate::session::after::tracker::learn_tracker;
use crate::session::lease::environment::renumber_environment;
use crate::session::lease::question::{forget_what_a_question_changes, way};
use crate::session::parts::{Context, Dealings, Diagnostics, Ground, Held};
use crate::session::statement::{Change, Facts, Given, Setting, Step, TRACKER, seconds};
use crate::session::way::Trouble;
use crate::state::{
    CHARACTER_SET_CONNECTION, CHARACTER_SET_RESULTS, COLLATION_CONNECTION, Charset, literal_of,
};
use crate::stats::pins::Pins;

/// Takes note of what a SET has changed. What was worked out keeps the connection until it was asked for.
pub(crate) fn learn_steps(
    ground: &Ground,
    context: &mut Context,
    diagnostics: &mut Diagnostics,
    steps: &[Step],
    held: &mut Held,
) {
    for step in steps {
        match step {
            Step::Variable(setting) => learn_setting(ground, context, setting, held),
            Step::Autocommit { .. } => ground.worker.counters.autocommit.bump(),
            Step::Charset(charset) => learn_charset(ground, context, diagnostics, charset, held),
        }
    }
    if steps.iter().any(Step::changes_charset_of_strings) {
        // Strings have the character set of before the statement, wherever in it they stand.
        keep_strings_of_variables(context, held);
    }
    renumber_environment(ground, context);
}

/// After a SET NAMES.
pub(crate) fn learn_charset(
    ground: &Ground,
    context: &mut Context,
    diagnostics: &mut Diagnostics,
    charset: &Charset,
    held: &mut Held,
) {
    ground.worker.counters.frontend_set_names.bump();
    keep_strings_of_variables(context, held);
    context.state.settings.forget_names();
    held.connection.state.settings.forget_names();
    held.connection.state.charset = charset.clone();
    context.state.charset = charset.clone();
    diagnostics.set_results_charset(None);
    translate_diagnostics(context, diagnostics);
}

/// Asks for the values that the server has worked out.
pub(crate) async fn learn_worked_out(
    ground: &Ground,
    context: &mut Context,
    dealings: &mut Dealings,
    facts: &Facts,
    held: &mut Held,
) -> Result<(), Trouble> {
    let Change::Steps(steps) = &facts.change else { return Ok(()) };
    if !held.takes_to_be_asked() {
        return Ok(());
    }
    forget_what_a_question_changes(context, dealings);
    let is_older = context.is_older_than_defaults(held);
    for name in steps.iter().filter_map(|step| step.asks_for(is_older)) {
        let query = format!("SELECT @@session.{}", String::from_utf8_lossy(name));
        let told = way(ground, held).ask_value(&query).await?;
        let literal = match told.as_deref() {
            Some(told) => literal_of(told),
            // It may be NULL, and be set to it.
            None if *name == *CHARACTER_SET_RESULTS => Some(b"NULL"[..].into()),
            None => None,
        };
        let Some(literal) = literal else { return Ok(()) };
        if *name == *TRACKER {
            learn_tracker(context, Some(&literal), held);
            continue;
        }
        context.state.settings.set(name, Some(&literal));
        held.connection.state.settings.set(name, Some(&literal));
    }
    held.unpin(Pins::SESSION_VARIABLE);
    if let ServerFlavor::MySql(_) = context.lexing.server {
        context.lexing.ansi_quotes = context.has_ansi_quotes();
    }
    translate_diagnostics(context, &mut dealings.diagnostics);
    renumber_environment(ground, context);
    Ok(())
}

fn learn_setting(ground: &Ground, context: &mut Context, setting: &Setting, held: &mut Held) {
    let Setting { is_user_variable, name, value } = setting;
    if !is_user_variable {
        context.begun.let_go_of(name);
    }
    // It is what sessions begin with now, and not what this one has begun with.
    let is_of_now = setting.takes_default() && context.is_older_than_defaults(held);
    let value = match value {
        _ if is_of_now => &Given::WorkedOut,
        value => value,
    };
    let value = match value {
        Given::Literal(literal) => Some(&**literal),
        Given::Nothing => {
            if !is_user_variable && held.connection.begins_otherwise(name) {
                // That is not what a new connection begins with.
                held.pin(Pins::SESSION_VARIABLE);
            }
            None
        }
        Given::WorkedOut => {
            if !held.pins().contains(Pins::SESSION_VARIABLE) {
                held.note_to_be_asked();
            }
            held.pin(Pins::SESSION_VARIABLE);
            context.state.settings.forget_overwritten(name);
            held.connection.state.settings.forget_overwritten(name);
            return;
        }
    };
    let there = &mut held.connection.state;
    if *is_user_variable && value.is_none() {
        // It stays what it was before, a number or a string, and only this connection knows.
        if context.state.user_variables.get(name).is_some() {
            held.pin(Pins::USER_VARIABLE);
        }
        return;
    }
    if *is_user_variable {
        context.state.user_variables.set(name, value);
        there.user_variables.set(name, value);
        return;
    }
    if **name == *TRACKER {
        learn_tracker(context, value, held);
        return;
    }
    context.state.settings.learn(name, value);
    there.settings.learn(name, value);
    match &**name {
        b"wait_timeout" => ground.handle.set_wait_timeout(value.and_then(seconds)),
        CHARACTER_SET_CONNECTION | COLLATION_CONNECTION => keep_strings_of_variables(context, held),
        _ => {}
    }
}

/// A string in a user variable keeps the character set of the session: under another it could not be set again.
fn keep_strings_of_variables(context: &Context, held: &mut Held) {
    if context.state.user_variables.has_strings() {
        held.pin(Pins::USER_VARIABLE);
    }
}

/// Takes note of the type that a statement has given the session.
pub(crate) fn learn_query_cache_type(ground: &Ground, context: &mut Context, facts: &Facts) {
    if let Some(own) = facts.cache.own_type {
        take_query_cache_type(ground, context, own);
    }
}

pub(crate) fn take_query_cache_type(ground: &Ground, context: &mut Context, own: Option<QueryCacheType>) {
    context.query_cache_type = own;
    if context.query_cache_type_in(&ground.snapshot) != QueryCacheType::Off {
        ground.shared.exact.want_catalogues();
    }
}
