//! What a client says to the query cache in MySQL's own words: the session answers, and no server hears of it.
//!
//! Its own `query_cache_type` is the session's. What holds for all needs a user who may (`query_cache_admin`): SET GLOBAL, which goes to
//! [who keeps the configuration](crate::ConfigurationKeeper) and is what `mysql-query_cache_type` and `mysql-query_cache_size_MB` say then,
//! and FLUSH, RESET and PURGE. Prepared, none of it is taken: a server would hear of it.

use std::sync::Arc;

use nuthatch_config::{MysqlVariables, QueryCacheSize, QueryCacheType};
use nuthatch_sql::{
    CacheOrder, CachePart, CacheSetting, CacheSettings, CacheShow, CacheStatus, CacheVariable, Kind, Reads,
    ServerScope, Text, TokenKind, Tokens, Value, cache_show, classify,
};
use nuthatch_wire::{Column, ErrorCode};

use crate::configuration::keeper::Wish;
use crate::roster::SessionEnd;
use crate::session::after::errors::{note_warning, own_error};
use crate::session::after::set::take_query_cache_type;
use crate::session::lease::check_out::{destination, hostgroup_for, lease};
use crate::session::lease::put_away::let_go_after;
use crate::session::lease::question::way;
use crate::session::parts::{Account, Client, Context, Dealings, Ground, Statements};
use crate::session::statement::{Facts, Plan, SaidToCache, TextFacts, heed_hint, names, said_to_cache};
use crate::session::way::{Trouble, reply};
use crate::shared::purge::{UNCLEAR, purge};
use crate::state::Found;

/// What an error packet says.
type Refusal = (ErrorCode, String);

/// What a setting comes to.
enum Wanted {
    /// The session's own type; `None` follows the server's.
    OwnType(Option<QueryCacheType>),
    Type(QueryCacheType),
    Size(QueryCacheSize),
}

/// Completes the plan by what the statement says of the cache, or to it.
pub(crate) fn plan_for_cache(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    plan: &mut Plan,
    text: &[u8],
) {
    if plan.facts.cache.hint.ttl_ms.is_some() {
        heed_hint(&plan.facts, &mut plan.verdict);
    }
    let hint = &plan.facts.cache.hint;
    if hint.ttl_ms.is_some() {
        ground.shared.answers.ask_for();
    }
    plan.sent = hint.without_sql_cache(text, context.lexing.server).map(Vec::into_boxed_slice);
    let valued = with_cache_values(ground, context, plan.facts.kind, text);
    if let Some(valued) = &valued {
        plan_instead(account, context, dealings, plan, plan.facts.cache.own_type, valued.clone());
    }
    match said_to_cache(plan.facts.kind, valued.as_deref().unwrap_or(text), context.lexing) {
        Some(SaidToCache::Settings(CacheSettings::Among { settings, rest })) => {
            match own_type_of(ground, account, context, &settings) {
                Ok(own) => plan_instead(account, context, dealings, plan, Some(own), rest),
                Err(_) => {
                    let among = CacheSettings::Among { settings, rest };
                    plan.said_to_cache = Some(Box::new(SaidToCache::Settings(among)));
                }
            }
        }
        said => plan.said_to_cache = said.map(Box::new),
    }
}

/// The type that settings among others give the session.
pub(crate) fn own_type_of(
    ground: &Ground,
    account: &Account,
    context: &Context,
    settings: &[CacheSetting],
) -> Result<Option<QueryCacheType>, Refusal> {
    let mut own = context.query_cache_type;
    for setting in settings {
        match wanted_by(ground, account, context, setting)? {
            Wanted::OwnType(kind) => own = kind,
            Wanted::Type(_) | Wanted::Size(_) => return Err(set_it_alone()),
        }
    }
    Ok(own)
}

/// The server gets another SET than the client's: what is not the cache's of it. The session takes its type if the server takes the rest.
fn plan_instead(
    account: &Account,
    context: &Context,
    dealings: &Dealings,
    plan: &mut Plan,
    own: Option<Option<QueryCacheType>>,
    rest: Vec<u8>,
) {
    let mut text = TextFacts::of(&classify(&rest, context.lexing)).with_settings(&rest, context.lexing);
    (text.asks.tracker, text.cache.own_type) = (plan.facts.asks.tracker, own);
    text.tables.show_rows_at_once &= plan.facts.tables.show_rows_at_once;
    plan.facts = Facts::of_text(Arc::new(text), plan.facts.multiplex);
    plan.hostgroup = hostgroup_for(account, dealings, plan.wanted, &plan.facts);
    plan.sent = Some(rest.into_boxed_slice());
}

/// A SET with the values of the cache's variables in the place of what reads them (`SET @saved = @@query_cache_size`): servers have others, or none.
fn with_cache_values(ground: &Ground, context: &Context, kind: Kind, text: &[u8]) -> Option<Vec<u8>> {
    if kind != Kind::Set || !names(text, b"query_cache") {
        return None;
    }
    let tokens: Vec<_> = Tokens::new(text, context.lexing)
        .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
        .collect();
    let (mut valued, mut done) = (Vec::with_capacity(text.len()), 0);
    for (place, token) in tokens.iter().enumerate() {
        let next = tokens.get(place + 1).map(|next| next.kind);
        let is_target = matches!(next, Some(TokenKind::Symbol(b'=' | b':')));
        let read = CacheVariable::read(token.text).filter(|_| token.kind == TokenKind::SystemVariable);
        let Some((variable, reads)) = read.filter(|_| !is_target) else { continue };
        let value = cache_variable(ground, context, variable, reads);
        valued.extend_from_slice(text.get(done..token.start)?);
        match value.parse::<u64>() {
            Ok(number) => valued.extend(number.to_string().bytes()),
            Err(_no_number) => valued.extend(format!("'{value}'").bytes()),
        }
        done = token.start + token.text.len();
    }
    valued.extend_from_slice(text.get(done..)?);
    (done > 0).then_some(valued)
}

pub(crate) fn obey_cache_order(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    order: CacheOrder,
) -> Vec<u8> {
    if let Err(refusal) = check_may_change_cache(account) {
        return tell_refusal(ground, context, dealings, &refusal);
    }
    match order {
        CacheOrder::Flush => {}
        CacheOrder::Empty => {
            let entries = ground.shared.answers.cache.flush();
            tracing::info!(entries, user = %account.name(), "the query cache was emptied by a client");
        }
        CacheOrder::EmptyPart(part) => return purge_part(ground, account, context, dealings, &part),
        CacheOrder::Unclear => return own_error(ground, context, dealings, ErrorCode::PARSE_ERROR, UNCLEAR),
    }
    dealings.results.set_row_count(0);
    reply::ok(dealings.status(context))
}

fn purge_part(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &mut Dealings,
    part: &CachePart,
) -> Vec<u8> {
    match purge(&ground.shared, part, &context.state.schema) {
        Ok(purged) => {
            let told = purged.told();
            tracing::info!(told, user = %account.name(), "a client purged a part of the query cache");
            dealings.results.set_row_count(purged.entries().cast_signed());
            reply::ok_with_message(dealings.status(context), purged.entries(), &told)
        }
        Err(message) => own_error(ground, context, dealings, ErrorCode::UNKNOWN_ERROR, &message),
    }
}

/// The same with values that a server has worked out: of user variables and expressions.
pub(crate) async fn with_values_worked_out(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    mut settings: Vec<CacheSetting>,
) -> Result<Vec<CacheSetting>, Trouble> {
    for setting in &mut settings {
        let source = match &setting.value {
            Value::User(variable) => format!("@`{}`", variable.name()).into_bytes(),
            Value::Expression { source, .. } => source.to_vec(),
            _ => continue,
        };
        if let Some(told) =
            ask_any_server(ground, account, context, dealings, &[b"SELECT ", source.as_slice()].concat())
                .await?
        {
            setting.value = value_told(&told);
        }
    }
    Ok(settings)
}

/// Asks a server for one value on a connection in the session's state.
async fn ask_any_server(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    question: &[u8],
) -> Result<Option<Vec<u8>>, Trouble> {
    let hostgroup = destination(account, &dealings.hands, account.user().default_hostgroup);
    let mut held = lease(ground, account, context, dealings, hostgroup).await?;
    dealings.hands.forget_what_ran_last();
    let told = way(ground, &mut held).ask_bytes(question).await;
    let_go_after(ground, account, context, dealings, held, told.as_ref().err());
    told
}

/// Sets all or nothing, but for what who keeps the configuration refuses.
pub(crate) async fn set_cache(
    ground: &Ground,
    account: &Account,
    context: &mut Context,
    dealings: &mut Dealings,
    settings: &[CacheSetting],
) -> Result<Vec<u8>, SessionEnd> {
    let wanted: Result<Vec<_>, _> =
        settings.iter().map(|setting| wanted_by(ground, account, context, setting)).collect();
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(refusal) => return Ok(tell_refusal(ground, context, dealings, &refusal)),
    };
    for wanted in wanted {
        let (name, value) = match wanted {
            Wanted::OwnType(own) => {
                take_query_cache_type(ground, context, own);
                continue;
            }
            Wanted::Type(kind) => ("query_cache_type", kind.number().to_string()),
            Wanted::Size(size) => ("query_cache_size_MB", size.mib()),
        };
        if let Err(message) = wish(ground, account, name, value).await? {
            return Ok(own_error(ground, context, dealings, ErrorCode::UNKNOWN_ERROR, &message));
        }
    }
    dealings.results.set_row_count(0);
    let truncated: Vec<_> = settings.iter().filter_map(truncated_size).collect();
    Ok(match truncated.last() {
        None => reply::ok(dealings.status(context)),
        Some(message) => {
            note_warning(
                context,
                &mut dealings.hands,
                &mut dealings.diagnostics,
                ErrorCode::TRUNCATED_WRONG_VALUE.code,
                message.as_bytes(),
            );
            reply::ok_with_warning(dealings.status(context))
        }
    })
}

/// What a setting comes to, if the session may set it and the variable takes the value.
fn wanted_by(
    ground: &Ground,
    account: &Account,
    context: &Context,
    setting: &CacheSetting,
) -> Result<Wanted, Refusal> {
    let CacheSetting { variable, scope, value } = setting;
    match scope {
        None if *variable == CacheVariable::Type => {
            return type_of(ground, context, value).map(Wanted::OwnType);
        }
        None => {
            let message =
                "Variable 'query_cache_size' is a GLOBAL variable and should be set with SET GLOBAL";
            return Err((ErrorCode::GLOBAL_VARIABLE, message.to_owned()));
        }
        Some(ServerScope::Global) => check_may_change_cache(account)?,
        Some(ServerScope::Persist | ServerScope::PersistOnly) => {
            let message = format!(
                "{} cannot be persisted by a client: SET GLOBAL it, and have an operator SAVE MYSQL VARIABLES TO DISK",
                variable.name()
            );
            return Err((ErrorCode::NOT_SUPPORTED_YET, message));
        }
    }
    match variable {
        CacheVariable::Type => Ok(Wanted::Type(type_of(ground, context, value)?.unwrap_or_default())),
        _ => size_of(value).map(Wanted::Size),
    }
}

/// The type that a value stands for; `None` for DEFAULT.
fn type_of(ground: &Ground, context: &Context, value: &Value) -> Result<Option<QueryCacheType>, Refusal> {
    let kind = match value {
        Value::Default => return Ok(None),
        Value::System { reads, variable } if variable.name() == CacheVariable::Type.name() => {
            Some(type_read(ground, context, *reads))
        }
        Value::Number(number) if number.contains(['.', 'e', 'E']) => {
            return Err(wrong_type(CacheVariable::Type));
        }
        Value::Number(number) => number.parse().ok().and_then(QueryCacheType::of_number),
        Value::Word(word) if word.eq_ignore_ascii_case("TRUE") => Some(QueryCacheType::On),
        Value::Word(word) if word.eq_ignore_ascii_case("FALSE") => Some(QueryCacheType::Off),
        Value::Word(word) => QueryCacheType::of_word(word),
        Value::Text(text) => std::str::from_utf8(text.bytes()).ok().and_then(QueryCacheType::of_word),
        Value::System { .. } | Value::User(_) | Value::Expression { .. } => return Err(no_literal()),
    };
    kind.map(Some).ok_or_else(|| wrong_value(CacheVariable::Type, value))
}

fn type_read(ground: &Ground, context: &Context, reads: Reads) -> QueryCacheType {
    match reads {
        Reads::Global => ground.snapshot.mysql.query_cache_type,
        Reads::Either | Reads::Session => context.query_cache_type_in(&ground.snapshot),
    }
}

pub(crate) fn tell_refusal(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    (code, message): &Refusal,
) -> Vec<u8> {
    own_error(ground, context, dealings, *code, message)
}

/// The answer to a SHOW of nothing but the cache's variables or figures.
pub(crate) fn answer_cache_show(
    ground: &Ground,
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    statements: &Statements,
    plan: &Plan,
) -> Option<Vec<u8>> {
    let show = cache_show(statements.executed_text(client, plan), context.lexing)?;
    let rows: Vec<_> = match show {
        CacheShow::Variables { reads, chosen } => {
            chosen.iter().map(|one| (one.name(), cache_variable(ground, context, *one, reads))).collect()
        }
        CacheShow::Status(chosen) => {
            chosen.iter().map(|one| (one.name(), cache_status(ground, *one).to_string())).collect()
        }
    };
    Some(answer_pairs(client, context, dealings, ["Variable_name", "Value"], &rows))
}

/// A result set of two texts a row.
pub(crate) fn answer_pairs(
    client: &Client,
    context: &Context,
    dealings: &mut Dealings,
    columns: [&str; 2],
    rows: &[(&str, String)],
) -> Vec<u8> {
    let row = |(name, value): &(&str, String)| reply::text_row(&[name.as_bytes(), value.as_bytes()]).into();
    let rows: Vec<Box<[u8]>> = rows.iter().map(row).collect();
    dealings.results.set_row_count(-1);
    dealings.results.set_found_rows(Found::Known(rows.len() as u64), None);
    let definitions = columns.map(|name| Column::text(name).encoded().into());
    reply::result_set_of(client.capabilities(), dealings.status(context), &definitions, &rows)
}

/// What a variable of the cache has for a value.
pub(crate) fn cache_variable(
    ground: &Ground,
    context: &Context,
    variable: CacheVariable,
    reads: Reads,
) -> String {
    let variables = &ground.snapshot.mysql;
    match variable {
        CacheVariable::HaveQueryCache => "YES".to_owned(),
        CacheVariable::Limit => variables.threshold_resultset_size.to_string(),
        // An entry takes what it needs.
        CacheVariable::MinResUnit => "0".to_owned(),
        CacheVariable::Size => variables.query_cache_size.bytes().to_string(),
        CacheVariable::Type => type_read(ground, context, reads).word().to_owned(),
        CacheVariable::StripComments | CacheVariable::WlockInvalidate => "OFF".to_owned(),
    }
}

/// What a server has told, as if it stood in the statement.
fn value_told(told: &[u8]) -> Value {
    match std::str::from_utf8(told) {
        Ok(number) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            Value::Number(number.into())
        }
        _ => Value::Text(Text::new(told)),
    }
}

/// The size that a value stands for.
fn size_of(value: &Value) -> Result<QueryCacheSize, Refusal> {
    let number = match value {
        Value::Default => return Ok(MysqlVariables::default().query_cache_size),
        Value::Number(number) if !number.contains(['.', 'e', 'E']) => number,
        Value::System { .. } | Value::User(_) | Value::Expression { .. } => return Err(no_literal()),
        _ => return Err(wrong_type(CacheVariable::Size)),
    };
    let bytes = number.parse().ok().filter(|bytes| *bytes <= QueryCacheSize::BYTES_MAX);
    bytes.map(QueryCacheSize::of_bytes).ok_or_else(|| wrong_value(CacheVariable::Size, value))
}

/// What is said of a size that was rounded down.
fn truncated_size(setting: &CacheSetting) -> Option<String> {
    let Value::Number(number) = &setting.value else { return None };
    let size = size_of(&setting.value).ok().filter(|_| setting.variable == CacheVariable::Size)?;
    let is_exact = number.parse() == Ok(size.bytes());
    (!is_exact).then(|| format!("Truncated incorrect query_cache_size value: '{number}'"))
}

fn wrong_value(variable: CacheVariable, value: &Value) -> Refusal {
    let value = String::from_utf8_lossy(value.literal().unwrap_or_default());
    let message = format!("Variable '{}' can't be set to the value of '{value}'", variable.name());
    (ErrorCode::WRONG_VALUE_FOR_VARIABLE, message)
}

fn wrong_type(variable: CacheVariable) -> Refusal {
    let message = format!("Incorrect argument type to variable '{}'", variable.name());
    (ErrorCode::WRONG_TYPE_FOR_VARIABLE, message)
}

fn no_literal() -> Refusal {
    let message = "the proxy takes query_cache_type (OFF, ON, DEMAND, 0, 1, 2 or DEFAULT) and query_cache_size (bytes) \
                   as literals only";
    (ErrorCode::NOT_SUPPORTED_YET, message.to_owned())
}

pub(crate) fn set_it_alone() -> Refusal {
    let message = "query_cache_type and query_cache_size belong to the proxy, and cannot be taken out of this statement: \
                   set them alone, in a statement of their own";
    (ErrorCode::NOT_SUPPORTED_YET, message.to_owned())
}

/// Has a variable put in force for all.
async fn wish(
    ground: &Ground,
    account: &Account,
    name: &'static str,
    value: String,
) -> Result<Result<(), String>, SessionEnd> {
    let Some(keeper) = ground.shared.configuration.keeper() else {
        return Ok(Err(format!("nobody keeps the configuration: mysql-{name} stays as it is")));
    };
    tracing::info!(name, value, user = %account.name(), "a client sets a variable for all");
    let (user, host) = (account.name().to_string(), ground.handle.address().host.to_string());
    let granting = keeper.grant(Wish { name, value, user, host });
    Ok(ground.handle.unless_ended(granting).await?)
}

fn check_may_change_cache(account: &Account) -> Result<(), Refusal> {
    if account.user().query_cache_admin {
        return Ok(());
    }
    let message = "Access denied; you need (at least one of) the 'query_cache_admin' user attribute for this \
                   operation";
    Err((ErrorCode::SPECIFIC_ACCESS_DENIED, message.to_owned()))
}

/// What is free counts as one block, and each entry as one.
fn cache_status(ground: &Ground, figure: CacheStatus) -> u64 {
    let usage = ground.shared.answers.cache.usage();
    let free_blocks = u64::from(usage.bytes < usage.limit_bytes);
    match figure {
        CacheStatus::FreeBlocks => free_blocks,
        CacheStatus::FreeMemory => usage.limit_bytes.saturating_sub(usage.bytes),
        CacheStatus::Hits => ground.shared.totals().cache_get_ok,
        CacheStatus::Inserts => usage.sets,
        CacheStatus::LowmemPrunes => usage.evicted,
        CacheStatus::NotCached => ground.shared.totals().selects_not_cached,
        CacheStatus::QueriesInCache => usage.entries,
        CacheStatus::TotalBlocks => usage.entries + free_blocks,
    }
}
