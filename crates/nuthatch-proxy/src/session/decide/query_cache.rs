//! What a client says to the query cache in MySQL's own words: the session answers, and no server hears of it.
//!
//! Its own `query_cache_type` is the session's. What holds for all needs a user who may (`query_cache_admin`): SET GLOBAL, which goes to
//! [who keeps the configuration](crate::ConfigurationKeeper) and is what `mysql-query_cache_type` and `mysql-query_cache_size_MB` say then,
//! and FLUSH, RESET and PURGE. Prepared, none of it is taken: a server would hear of it.

use nuthatch_config::{MysqlVariables, QueryCacheSize, QueryCacheType};
use nuthatch_sql::{
    CacheOrder, CachePart, CacheSetting, CacheSettings, CacheShow, CacheStatus, CacheVariable, Kind, Reads,
    ServerScope, Text, TokenKind, Tokens, Value, cache_hint, cache_show, classify,
};
use nuthatch_wire::{Column, ErrorCode};

use crate::configuration::keeper::Wish;
use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::after::diagnostics::note_warning;
use crate::session::after::found_rows::set_found_rows;
use crate::session::ask::lease::destination;
use crate::session::parts::{Account, Context, Ground};
use crate::session::statement::{Facts, Plan, SaidToCache, heed_hint, names, said_to_cache};
use crate::session::way::{Trouble, reply};
use crate::shared::purge::{UNCLEAR, purge};

/// What an error packet says.
type Refusal = (ErrorCode, String);

/// What a setting comes to.
enum Wanted {
    /// The session's own type; `None` follows the server's.
    OwnType(Option<QueryCacheType>),
    Type(QueryCacheType),
    Size(QueryCacheSize),
}

impl Session {
    /// Completes the plan by what the statement says of the cache, or to it.
    pub(crate) fn plan_for_cache(&self, plan: &mut Plan, text: &[u8]) {
        heed_hint(&mut plan.facts, &mut plan.verdict);
        let hint = &plan.facts.cache_hint;
        if hint.ttl_ms.is_some() {
            self.ground.shared.answers.ask_for();
        }
        plan.sent = hint.without_sql_cache(text, self.context.lexing.server);
        let valued = self.with_cache_values(plan.facts.kind, text);
        if let Some(valued) = &valued {
            self.plan_instead(plan, plan.facts.query_cache_type, valued.clone());
        }
        match said_to_cache(plan.facts.kind, valued.as_deref().unwrap_or(text), self.context.lexing) {
            Some(SaidToCache::Settings(CacheSettings::Among { settings, rest })) => {
                match self.own_type_of(&settings) {
                    Ok(own) => self.plan_instead(plan, Some(own), rest),
                    Err(_) => {
                        let among = CacheSettings::Among { settings, rest };
                        plan.said_to_cache = Some(SaidToCache::Settings(among));
                    }
                }
            }
            said => plan.said_to_cache = said,
        }
    }

    /// The type that settings among others give the session.
    fn own_type_of(&self, settings: &[CacheSetting]) -> Result<Option<QueryCacheType>, Refusal> {
        let mut own = self.cache.own_type;
        for setting in settings {
            match self.wanted_by(setting)? {
                Wanted::OwnType(kind) => own = kind,
                Wanted::Type(_) | Wanted::Size(_) => return Err(set_it_alone()),
            }
        }
        Ok(own)
    }

    /// The server gets another SET than the client's: what is not the cache's of it. The session takes its type if the server takes the rest.
    fn plan_instead(&self, plan: &mut Plan, own: Option<Option<QueryCacheType>>, rest: Vec<u8>) {
        let facts =
            Facts::of(&classify(&rest, self.context.lexing)).with_settings(&rest, self.context.lexing);
        let Facts { multiplex, reads_tracker, .. } = plan.facts;
        plan.facts = Facts { multiplex, reads_tracker, query_cache_type: own, ..facts };
        plan.hostgroup = self.hostgroup_for(plan.wanted, &plan.facts);
        plan.sent = Some(rest);
    }

    /// A SET with the values of the cache's variables in the place of what reads them (`SET @saved = @@query_cache_size`): servers have others, or none.
    fn with_cache_values(&self, kind: Kind, text: &[u8]) -> Option<Vec<u8>> {
        if kind != Kind::Set || !names(text, b"query_cache") {
            return None;
        }
        let tokens: Vec<_> = Tokens::new(text, self.context.lexing)
            .filter(|token| !matches!(token.kind, TokenKind::Space | TokenKind::Comment))
            .collect();
        let (mut valued, mut done) = (Vec::with_capacity(text.len()), 0);
        for (place, token) in tokens.iter().enumerate() {
            let next = tokens.get(place + 1).map(|next| next.kind);
            let is_target = matches!(next, Some(TokenKind::Symbol(b'=' | b':')));
            let read = CacheVariable::read(token.text).filter(|_| token.kind == TokenKind::SystemVariable);
            let Some((variable, reads)) = read.filter(|_| !is_target) else { continue };
            let value = self.cache_variable(variable, reads);
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

    /// Takes note of the type that a statement has given the session.
    pub(crate) fn learn_query_cache_type(&mut self, facts: &Facts) {
        if let Some(own) = facts.query_cache_type {
            self.take_query_cache_type(own);
        }
    }

    fn take_query_cache_type(&mut self, own: Option<QueryCacheType>) {
        self.cache.own_type = own;
        if self.cache.query_cache_type(&self.ground.snapshot) != QueryCacheType::Off {
            self.ground.shared.exact.want_catalogues();
        }
    }

    /// Does what the statement says to the cache, and returns the answer.
    pub(crate) async fn do_as_said_to_cache(&mut self, said: SaidToCache) -> Result<Vec<u8>, SessionEnd> {
        match said {
            SaidToCache::Order(order) => Ok(self.obey_cache_order(order)),
            SaidToCache::Question(Some(statement)) => {
                let findings = self.explain_cache(&statement);
                Ok(self.answer_pairs(["step", "finding"], &findings))
            }
            SaidToCache::Question(None) => {
                let message = "EXPLAIN CACHE is about this session; for others, an operator may ask";
                Ok(self.own_error(ErrorCode::SPECIFIC_ACCESS_DENIED, message))
            }
            SaidToCache::Settings(CacheSettings::Alone(settings)) => {
                match self.with_values_worked_out(settings).await {
                    Ok(settings) => self.set_cache(&settings).await,
                    Err(Trouble::End(end)) => Err(end),
                    Err(_) => {
                        let message =
                            "no server could be asked for the value of query_cache_type or query_cache_size";
                        Ok(self.own_error(ErrorCode::UNKNOWN_ERROR, message))
                    }
                }
            }
            SaidToCache::Settings(CacheSettings::Among { settings, .. }) => {
                let refusal = self.own_type_of(&settings).err().unwrap_or_else(set_it_alone);
                Ok(self.refusal(&refusal))
            }
            SaidToCache::Settings(CacheSettings::Entangled) => Ok(self.refusal(&set_it_alone())),
        }
    }

    fn obey_cache_order(&mut self, order: CacheOrder) -> Vec<u8> {
        if let Err(refusal) = check_may_change_cache(&self.account) {
            return self.refusal(&refusal);
        }
        match order {
            CacheOrder::Flush => {}
            CacheOrder::Empty => {
                let entries = self.ground.shared.answers.cache.flush();
                tracing::info!(entries, user = %self.account.name, "the query cache was emptied by a client");
            }
            CacheOrder::EmptyPart(part) => return self.purge_part(&part),
            CacheOrder::Unclear => return self.own_error(ErrorCode::PARSE_ERROR, UNCLEAR),
        }
        self.results.row_count = 0;
        reply::ok(self.status())
    }

    fn purge_part(&mut self, part: &CachePart) -> Vec<u8> {
        match purge(&self.ground.shared, part, &self.context.state.schema) {
            Ok(purged) => {
                let told = purged.told();
                tracing::info!(told, user = %self.account.name, "a client purged a part of the query cache");
                self.results.row_count = purged.entries().cast_signed();
                reply::ok_with_message(self.status(), purged.entries(), &told)
            }
            Err(message) => self.own_error(ErrorCode::UNKNOWN_ERROR, &message),
        }
    }

    /// The same with values that a server has worked out: of user variables and expressions.
    async fn with_values_worked_out(
        &mut self,
        mut settings: Vec<CacheSetting>,
    ) -> Result<Vec<CacheSetting>, Trouble> {
        for setting in &mut settings {
            let source = match &setting.value {
                Value::User(variable) => format!("@`{}`", variable.name()).into_bytes(),
                Value::Expression { source, .. } => source.to_vec(),
                _ => continue,
            };
            if let Some(told) = self.ask_any_server(&[b"SELECT ", source.as_slice()].concat()).await? {
                setting.value = value_told(&told);
            }
        }
        Ok(settings)
    }

    /// Asks a server for one value on a connection in the session's state.
    async fn ask_any_server(&mut self, question: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        let hostgroup = destination(&self.account, &self.hands, self.account.user.default_hostgroup);
        let mut held = self.lease(hostgroup).await?;
        self.hands.last_ran_on = None;
        let told = self.way(&mut held).ask_bytes(question).await;
        match &told {
            Ok(_) => self.settle(held),
            Err(trouble) => self.put_away(held, Some(trouble)),
        }
        told
    }

    /// Sets all or nothing, but for what who keeps the configuration refuses.
    async fn set_cache(&mut self, settings: &[CacheSetting]) -> Result<Vec<u8>, SessionEnd> {
        let wanted: Result<Vec<_>, _> = settings.iter().map(|setting| self.wanted_by(setting)).collect();
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(refusal) => return Ok(self.refusal(&refusal)),
        };
        for wanted in wanted {
            let (name, value) = match wanted {
                Wanted::OwnType(own) => {
                    self.take_query_cache_type(own);
                    continue;
                }
                Wanted::Type(kind) => ("query_cache_type", kind.number().to_string()),
                Wanted::Size(size) => ("query_cache_size_MB", size.mib()),
            };
            if let Err(message) = wish(&self.ground, &self.account, name, value).await? {
                return Ok(self.own_error(ErrorCode::UNKNOWN_ERROR, &message));
            }
        }
        self.results.row_count = 0;
        let truncated: Vec<_> = settings.iter().filter_map(truncated_size).collect();
        Ok(match truncated.last() {
            None => reply::ok(self.status()),
            Some(message) => {
                note_warning(
                    &self.context,
                    &mut self.hands,
                    &mut self.diagnostics,
                    ErrorCode::TRUNCATED_WRONG_VALUE.code,
                    message.as_bytes(),
                );
                reply::ok_with_warning(self.status())
            }
        })
    }

    /// What a setting comes to, if the session may set it and the variable takes the value.
    fn wanted_by(&self, setting: &CacheSetting) -> Result<Wanted, Refusal> {
        let CacheSetting { variable, scope, value } = setting;
        match scope {
            None if *variable == CacheVariable::Type => return self.type_of(value).map(Wanted::OwnType),
            None => {
                let message =
                    "Variable 'query_cache_size' is a GLOBAL variable and should be set with SET GLOBAL";
                return Err((ErrorCode::GLOBAL_VARIABLE, message.to_owned()));
            }
            Some(ServerScope::Global) => check_may_change_cache(&self.account)?,
            Some(ServerScope::Persist | ServerScope::PersistOnly) => {
                let message = format!(
                    "{} cannot be persisted by a client: SET GLOBAL it, and have an operator SAVE MYSQL VARIABLES TO DISK",
                    variable.name()
                );
                return Err((ErrorCode::NOT_SUPPORTED_YET, message));
            }
        }
        match variable {
            CacheVariable::Type => Ok(Wanted::Type(self.type_of(value)?.unwrap_or_default())),
            _ => size_of(value).map(Wanted::Size),
        }
    }

    /// The type that a value stands for; `None` for DEFAULT.
    fn type_of(&self, value: &Value) -> Result<Option<QueryCacheType>, Refusal> {
        let kind = match value {
            Value::Default => return Ok(None),
            Value::System { reads, variable } if variable.name() == CacheVariable::Type.name() => {
                Some(self.type_read(*reads))
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

    fn type_read(&self, reads: Reads) -> QueryCacheType {
        match reads {
            Reads::Global => self.ground.snapshot.mysql.query_cache_type,
            Reads::Either | Reads::Session => self.cache.query_cache_type(&self.ground.snapshot),
        }
    }

    fn refusal(&mut self, (code, message): &Refusal) -> Vec<u8> {
        self.own_error(*code, message)
    }

    /// The answer to a SHOW of nothing but the cache's variables or figures.
    pub(crate) fn answer_cache_show(&mut self, plan: &Plan) -> Option<Vec<u8>> {
        let show = match self.statements.prepared_text(plan) {
            Some(text) => cache_show(&text, self.context.lexing),
            None => cache_show(self.client.statement_text(), self.context.lexing),
        }?;
        let rows: Vec<_> = match show {
            CacheShow::Variables { reads, chosen } => {
                chosen.iter().map(|one| (one.name(), self.cache_variable(*one, reads))).collect()
            }
            CacheShow::Status(chosen) => {
                chosen.iter().map(|one| (one.name(), cache_status(&self.ground, *one).to_string())).collect()
            }
        };
        Some(self.answer_pairs(["Variable_name", "Value"], &rows))
    }

    /// A result set of two texts a row.
    fn answer_pairs(&mut self, columns: [&str; 2], rows: &[(&str, String)]) -> Vec<u8> {
        let row =
            |(name, value): &(&str, String)| reply::text_row(&[name.as_bytes(), value.as_bytes()]).into();
        let rows: Vec<Box<[u8]>> = rows.iter().map(row).collect();
        self.results.row_count = -1;
        set_found_rows(&mut self.results, rows.len() as u64);
        let definitions = columns.map(|name| Column::text(name).encoded().into());
        reply::result_set_of(self.client.capabilities, self.status(), &definitions, &rows)
    }

    /// What a variable of the cache has for a value.
    pub(crate) fn cache_variable(&self, variable: CacheVariable, reads: Reads) -> String {
        let variables = &self.ground.snapshot.mysql;
        match variable {
            CacheVariable::HaveQueryCache => "YES".to_owned(),
            CacheVariable::Limit => variables.threshold_resultset_size.to_string(),
            // An entry takes what it needs.
            CacheVariable::MinResUnit => "0".to_owned(),
            CacheVariable::Size => variables.query_cache_size.bytes().to_string(),
            CacheVariable::Type => self.type_read(reads).word().to_owned(),
            CacheVariable::StripComments | CacheVariable::WlockInvalidate => "OFF".to_owned(),
        }
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

fn set_it_alone() -> Refusal {
    let message = "query_cache_type and query_cache_size belong to the proxy, and cannot be taken out of this statement: \
                   set them alone, in a statement of their own";
    (ErrorCode::NOT_SUPPORTED_YET, message.to_owned())
}

/// The text as the server must get it, if that differs: without a SQL_CACHE that it does not know.
pub(crate) fn without_sql_cache(context: &Context, text: &[u8]) -> Option<Vec<u8>> {
    cache_hint(text, context.lexing).without_sql_cache(text, context.lexing.server)
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
    tracing::info!(name, value, user = %account.name, "a client sets a variable for all");
    let (user, host) = (account.name.to_string(), ground.handle.address().host.to_string());
    let granting = keeper.grant(Wish { name, value, user, host });
    Ok(ground.handle.unless_ended(granting).await?)
}

fn check_may_change_cache(account: &Account) -> Result<(), Refusal> {
    if account.user.query_cache_admin {
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
