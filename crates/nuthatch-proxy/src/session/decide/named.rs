//! What `PREPARE`, `EXECUTE` and `DEALLOCATE PREPARE` as text come to: an `EXECUTE` is judged by what it executes.

use std::sync::Arc;

use nuthatch_sql::{Kind, NotCacheable, TextPrepared, classify, kill, text_prepared};
use nuthatch_wire::ErrorCode;

use crate::session::after::errors::own_error;
use crate::session::before::numbers::with_own_number;
use crate::session::decide::stored_code::code_run_by_name;
use crate::session::lease::check_out::hostgroup_for;
use crate::session::parts::names::{NAMES_MAX, folded};
use crate::session::parts::{Account, Client, Context, Dealings, Ground, Hands, Names, Statements};
use crate::session::prepare::statement_room::append_quoted;
use crate::session::statement::{Facts, Named, Plan, TextFacts, asks_for_numbers, said_to_cache};
use crate::session::way::{UNSUPPORTED_PS, reply};
use crate::stats::pins::Pins;

/// Completes the plan of a `PREPARE`, `EXECUTE` or `DEALLOCATE`. Returns the answer if the session itself gives it.
pub(crate) fn plan_named(
    ground: &Ground,
    client: &Client,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    statements: &mut Statements,
    plan: &mut Plan,
) -> Option<Vec<u8>> {
    if !matches!(plan.facts.kind, Kind::Prepare | Kind::Execute | Kind::Deallocate)
        || statements.names().is_some_and(Names::are_given_up)
    {
        return None;
    }
    match text_prepared(client.statement_text(), context.lexing)? {
        TextPrepared::Prepare { name, statement: Some(text) } => {
            let name = folded(&name);
            let mut inner = TextFacts::of(&classify(&text, context.lexing));
            let is_unknown_kill = inner.kind == Kind::Kill && kill(&text, context.lexing).is_none();
            if is_unknown_kill || said_to_cache(inner.kind, &text, context.lexing).is_some() {
                return Some(own_error(ground, context, dealings, ErrorCode::UNSUPPORTED_PS, UNSUPPORTED_PS));
            }
            if statements.names().is_some_and(|names| !names.have_room_for(&name)) {
                let message = format!("Can't create more than {NAMES_MAX} prepared statements in a session");
                return Some(own_error(ground, context, dealings, ErrorCode::TOO_MANY_STATEMENTS, &message));
            }
            let of_text = plan.facts.text_mut();
            of_text.pins = of_text.pins.without(Pins::TEXT_PREPARE).with(inner.pins_when_prepared());
            of_text.sets_by_hint = inner.sets_by_hint;
            inner.asks.numbers = asks_for_numbers(inner.kind, &text);
            let numbered = with_own_number(ground, context, &inner, &text);
            let sent = numbered.map(|numbered| preparation_of(context, &name, &numbered).into());
            plan.named = Some(Box::new(Named::Prepare { name, text: text.into(), sent }));
            None
        }
        TextPrepared::Prepare { name, statement: None } => {
            statements.forget_name(&folded(&name));
            None
        }
        TextPrepared::Execute { name } => match statements.named_text(&folded(&name)) {
            Some(text) => {
                let executed = classify(&text, context.lexing);
                let mut of_text = TextFacts::of(&executed).with_settings(&text, context.lexing);
                of_text.cache.allowed = Err(NotCacheable::NotSelect);
                let code = code_run_by_name(ground, context, &text, of_text.class, plan.hostgroup);
                plan.facts = Facts::of_text(Arc::new(of_text), plan.facts.multiplex);
                (plan.facts.has_parameters, plan.facts.code) = (true, code);
                plan.hostgroup = hostgroup_for(account, dealings, plan.wanted, &plan.facts);
                plan.named = Some(Box::new(Named::Execute { name: folded(&name) }));
                None
            }
            None => {
                plan_unknown(context, &dealings.hands, plan, &name);
                None
            }
        },
        TextPrepared::Deallocate { name } => match statements.forget_name(&folded(&name)) {
            true => {
                dealings.results.set_row_count(0);
                Some(reply::ok(dealings.status(context)))
            }
            false => {
                plan_unknown(context, &dealings.hands, plan, &name);
                None
            }
        },
    }
}

/// A `PREPARE` of that text, which no character set cuts otherwise.
fn preparation_of(context: &Context, name: &[u8], text: &[u8]) -> Vec<u8> {
    let mut statement = b"PREPARE ".to_vec();
    append_quoted(&mut statement, name, b'`', b"`");
    statement.extend_from_slice(b" FROM ");
    let escaped: &[u8] = if context.lexing.no_backslash_escapes { b"'" } else { b"'\\" };
    append_quoted(&mut statement, text, b'\'', escaped);
    statement
}

/// A name that the session does not know: a server says so. A connection that is held for good may know it all the same.
fn plan_unknown(context: &Context, hands: &Hands, plan: &mut Plan, name: &[u8]) {
    if hands.held.iter().any(|held| held.pins().is_sticky()) {
        return;
    }
    let text = b"DEALLOCATE PREPARE x";
    let nothing = TextFacts::of(&classify(text, context.lexing)).with_settings(text, context.lexing);
    plan.facts = Facts::of_text(Arc::new(nothing), plan.facts.multiplex);
    plan.named = Some(Box::new(Named::Unknown { name: folded(name) }));
}
