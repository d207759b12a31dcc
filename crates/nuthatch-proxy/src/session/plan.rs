//! What is to become of a statement: its digest, its class, what the rules say, where it goes.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use memchr::memchr2_iter;
use nuthatch_config::{HostgroupId, QueryCacheType, RuleInput, Snapshot, Verdict};
use nuthatch_sql::{
    CacheHint, CacheWish, Class, Ddl, DefaultsChange, DigestOptions, Effects, FoundRows, Kind, Lexing,
    NotCacheable, PinReason, Sequences, ServerFlavor, SetEffect, Statement, Token, TokenKind, Tokens,
    TransactionEnd, cache_hint, defaults_change, found_rows, stops_server,
};

use crate::answers::HitPlan;
use crate::pins::Pins;
use crate::state::Charset;

use super::Session;
use super::connection_numbers::asks_for_numbers;
use super::memo::Known;
use super::own_values::{asks_for_gtid, sequences_in};
use super::query_cache::SaidToCache;
use super::set::{SetOutcome, Step, set_outcome};
use super::stored_code::CodeRun;
use super::text_prepared::Named;
use super::tracker::{INFORMATION_SCHEMA, OWN_SCHEMAS, reads_tracker};
use crate::not_cached::NotCached;
use crate::state::Found;
use crate::stats::{DigestCounters, Observation, Observed, StatementCommand};
use nuthatch_wire::{AnswerEnd, Ending};

/// A change of the session's state that a statement makes if it succeeds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    None,
    Autocommit(bool),
    Charset(Charset),
    Schema(Vec<u8>),
    /// Several things, in this order.
    Steps(Vec<Step>),
    /// The role, by this statement.
    Role(Arc<str>),
}

/// What the session must know of a statement after its text is gone.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a statement")]
pub(super) struct Facts {
    pub(super) kind: Kind,
    /// As what it is counted.
    pub(super) command: StatementCommand,
    /// What its footprint goes by.
    pub(super) class: Class,
    /// Whether it is one plain SELECT that may be answered from the cache.
    pub(super) cacheable: Result<(), NotCacheable>,
    /// What it says of the cache.
    pub(super) cache_hint: CacheHint,
    /// What it makes of the session's own `query_cache_type`.
    pub(super) query_cache_type: Option<Option<QueryCacheType>>,
    pub(super) change: Change,
    /// The character set that a SET CHARACTER SET names.
    pub(super) character_set: Option<Arc<str>>,
    /// Why its connection is kept, if it does not fail.
    pub(super) pins: Pins,
    /// What it releases.
    pub(super) unpins: Pins,
    /// Warnings or errors of the statement before.
    pub(super) reads_diagnostics: bool,
    /// FOUND_ROWS() of the statements before.
    pub(super) reads_found_rows: bool,
    /// ROW_COUNT() of the statement before.
    pub(super) reads_row_count: bool,
    /// What it does to FOUND_ROWS().
    pub(super) found_rows: FoundRows,
    pub(super) names_no_table: bool,
    /// It is the same in whatever default schema it runs.
    pub(super) needs_no_schema: bool,
    pub(super) reads_insert_id: bool,
    /// Values come besides the text.
    pub(super) has_parameters: bool,
    pub(super) writes: bool,
    /// It surely ends the transaction, or is the whole of it.
    pub(super) ends_transaction: bool,
    pub(super) transaction_end: TransactionEnd,
    /// A BEGIN that says nothing of how.
    pub(super) begins_plainly: bool,
    /// Why its answer may change although no table does.
    pub(super) volatile: Option<&'static str>,
    /// What it did to the transaction cannot be told when it fails.
    pub(super) is_opaque: bool,
    /// The server hangs up after it.
    pub(super) disconnects: bool,
    /// The server stops.
    pub(super) stops_server: bool,
    /// It may show the value of a variable that the proxy has set.
    pub(super) reads_tracker: bool,
    pub(super) names_information_schema: bool,
    /// It may name a table in a schema of the server's own.
    pub(super) names_own_schema: bool,
    /// It may ask for numbers of connections.
    pub(super) asks_for_numbers: bool,
    /// It is SHOW PROCESSLIST.
    pub(super) lists_connections: bool,
    /// It changes the character set of a schema, which connections that are in it do not notice.
    pub(super) alters_schema: bool,
    /// It has a query inside, that makes rows of a table or is asked behind WHERE.
    pub(super) has_query: bool,
    /// A hint sets a variable for it, before it is known whether it fails.
    pub(super) sets_by_hint: bool,
    /// The sequences in it.
    pub(super) sequences: Option<Arc<Sequences>>,
    /// It asks for `@@last_gtid`.
    pub(super) asks_for_gtid: bool,
    /// What is known of the stored code that it runs.
    pub(super) code: CodeRun,
    /// Whether it changes what sessions begin with.
    pub(super) changes_defaults: DefaultsChange,
    /// What a rule says of multiplexing: 0 pins, 1 unpins.
    pub(super) multiplex: Option<u8>,
}

impl Facts {
    /// It asks what the statement before left: that must be kept until it has run.
    pub(super) const fn asks_of_the_last(&self) -> bool {
        self.reads_diagnostics || self.reads_counts()
    }

    /// FOUND_ROWS() or ROW_COUNT().
    pub(super) const fn reads_counts(&self) -> bool {
        self.reads_found_rows || self.reads_row_count
    }
}

/// A statement with all that was found out before it is sent anywhere.
#[derive(Debug)]
pub(super) struct Plan {
    pub(super) facts: Facts,
    pub(super) verdict: Verdict,
    pub(super) digest: Option<Arc<DigestCounters>>,
    /// Where rules or the user's default send it.
    pub(super) wanted: HostgroupId,
    /// Where it goes, open transactions and pins considered.
    pub(super) hostgroup: HostgroupId,
    /// What it does with a statement that text has prepared.
    pub(super) named: Option<Named>,
    /// What it says to the cache itself: no server is to hear it.
    pub(super) said_to_cache: Option<SaidToCache>,
    /// The text that a server gets in the place of the client's.
    pub(super) sent: Option<Vec<u8>>,
    pub(super) started_us: u64,
}

impl Session {
    /// Looks at the statement as the client sent it.
    pub(super) fn plan(&self, text: &[u8]) -> Plan {
        let started_us = self.latest_us;
        let variables = &self.snapshot.mysql;
        let known = self.memo.known(text, self.lexing, variables, self.snapshot.epoch, || {
            look(text, self.lexing, &self.snapshot)
        });
        let verdict = self.judge(text, known.digest, &known.digest_text);
        let mut facts = Facts { multiplex: verdict.multiplex, ..known.facts.clone() };
        let wanted = verdict.destination_hostgroup.unwrap_or(self.account.user.default_hostgroup);
        let hostgroup = self.hostgroup_for(wanted, &facts);
        facts.code = self.code_run(text, &known, hostgroup);
        facts.reads_insert_id |= facts.code.asks_for_insert_id;
        let digest = variables
            .query_digests
            .then(|| self.digest_row(i64::from(hostgroup.0), known.digest, &known.digest_text))
            .flatten();
        let (named, said_to_cache, sent) = (None, None, None);
        let mut plan =
            Plan { facts, verdict, digest, wanted, hostgroup, named, said_to_cache, sent, started_us };
        self.plan_for_cache(&mut plan, text);
        plan
    }

    /// Where a statement goes that is wanted in hostgroup `wanted`.
    pub(super) fn hostgroup_for(&self, wanted: HostgroupId, facts: &Facts) -> HostgroupId {
        match self.open_transaction() {
            Some(open) if facts.ends_transaction || facts.change.sets_autocommit() => open,
            _ => self.destination(self.beginning.hostgroup().unwrap_or(wanted)),
        }
    }

    fn judge(&self, query: &[u8], digest: u64, digest_text: &[u8]) -> Verdict {
        let rules = &self.snapshot.rules;
        if rules.is_empty() {
            return Verdict::default();
        }
        let address = &self.handle.address();
        rules.evaluate(&RuleInput {
            user: self.account.name.as_bytes(),
            schema: &self.state.schema,
            client_addr: &address.host,
            proxy_addr: &address.proxy_host,
            proxy_port: address.proxy_port,
            digest,
            digest_text,
            query,
            flag_in: self.next_flag_in,
        })
    }

    fn digest_row(&self, hostgroup: i64, digest: u64, digest_text: &[u8]) -> Option<Arc<DigestCounters>> {
        let variables = &self.snapshot.mysql;
        let client_addr =
            if variables.query_digests_track_hostname { &*self.handle.address().host } else { "" };
        let (schema, user) = (self.state.schema.as_slice(), &*self.account.name);
        let observed = Observed { hostgroup, schema, user, client_addr, digest, digest_text };
        self.shared.answers.digests.row(&observed, variables.query_digests_max_entries)
    }

    /// Counts the statement, which has its answer now.
    pub(super) fn observe(&mut self, plan: &Plan, rows_affected: u64, rows_sent: u64) {
        let now_us = self.look_at_clock();
        self.observe_at(now_us, plan, rows_affected, rows_sent);
    }

    /// Counts the statement, which had its answer at `now_us`.
    pub(super) fn observe_at(&self, now_us: u64, plan: &Plan, rows_affected: u64, rows_sent: u64) {
        let time_us = now_us.saturating_sub(plan.started_us);
        if let Some(digest) = &plan.digest {
            digest.observe(&Observation { now_ms: now_us / 1000, time_us, rows_affected, rows_sent });
        }
        if self.snapshot.mysql.commands_stats {
            self.worker.commands.count(plan.facts.command, time_us);
        }
        if time_us / 1000 >= self.snapshot.mysql.long_query_time.max(1) {
            self.worker.counters.slow_queries.bump();
        }
    }

    /// What a hit on the statement's answer will bump.
    pub(super) fn hit_plan(&self, plan: &Plan, found_rows: Found) -> Arc<HitPlan> {
        let digest = plan
            .digest
            .as_ref()
            .and_then(|row| self.digest_row(crate::stats::HOSTGROUP_CACHE, row.digest(), row.digest_text()));
        let leaves_diagnostics =
            matches!(self.lexing.server, ServerFlavor::MariaDb(_)) && plan.facts.names_no_table;
        Arc::new(HitPlan {
            digest,
            rules: plan.verdict.matched.as_slice().into(),
            found_rows,
            leaves_diagnostics,
        })
    }
}

/// Takes the statement apart.
pub(super) fn look(text: &[u8], lexing: Lexing, snapshot: &Snapshot) -> Known {
    let statement = nuthatch_sql::classify(text, lexing);
    let mut facts = Facts::of(&statement).with_settings(text, lexing);
    facts.command = StatementCommand::of_statement(text, &statement);
    facts.needs_no_schema = nuthatch_sql::needs_no_schema(text, &statement, lexing);
    if facts.pins.contains(Pins::SESSION_VARIABLE) && outlasts_reset(text) {
        facts.pins = facts.pins.with(Pins::UNKNOWN);
    }
    if facts.kind == Kind::Select {
        facts.cache_hint = cache_hint(text, lexing);
    }
    facts.begins_plainly = facts.kind == Kind::Begin && !names(text, b"read") && !names(text, b"snapshot");
    facts.reads_tracker = reads_tracker(facts.kind, text);
    // Among all variables are `last_insert_id` and `identity`.
    facts.reads_insert_id |= facts.reads_tracker;
    facts.names_information_schema = names(text, INFORMATION_SCHEMA);
    facts.asks_for_numbers = asks_for_numbers(facts.kind, text);
    facts.lists_connections = facts.kind == Kind::Show && names(text, b"processlist");
    facts.names_own_schema = OWN_SCHEMAS.iter().any(|start| names(text, start));
    let is_alter = facts.kind == Kind::Ddl(Ddl::Alter) || facts.kind == Kind::Multi && names(text, b"alter");
    facts.alters_schema = is_alter && (names(text, b"database") || names(text, b"schema"));
    let variables = &snapshot.mysql;
    let mut digest_text = Vec::new();
    if variables.query_digests || !snapshot.rules.is_empty() {
        nuthatch_sql::digest_text(text, &digest_options(variables), &mut digest_text);
    }
    let digest = nuthatch_sql::digest(&digest_text).0;
    Known { facts, digest, digest_text: digest_text.into(), code: AtomicU64::default() }
}

/// Whether it may be a CREATE TABLE of rows that a query has, whatever options stand in between: of other tables (`… SELECT … FROM`, MySQL's
/// `… TABLE t`), or of what `class` says that it calls (`… SELECT f()`), or of rows (`… VALUES ROW(f())`; partitions have them too).
fn makes_table_of_rows(text: &[u8], class: Class, lexing: Lexing) -> bool {
    let words = || Tokens::new(text, lexing).filter(|token| token.kind == TokenKind::Word);
    let is_table = |word: &Token<'_>| word.text.eq_ignore_ascii_case(b"table");
    let has_values = || names(text, b"values") && !names(text, b"partition");
    let has_query = || class.runs_unseen_code() || names(text, b"from") || has_values();
    words().take(6).any(|word| is_table(&word)) && (has_query() || words().filter(is_table).count() > 1)
}

/// What the statement says of its own caching goes before what rules say.
pub(super) fn heed_hint(facts: &mut Facts, verdict: &mut Verdict) {
    if facts.cache_hint.ttl_ms.is_some() {
        (verdict.cache_ttl_ms, verdict.cache_mode) = (facts.cache_hint.ttl_ms, None);
    }
    if facts.cache_hint.wish == CacheWish::NoCache {
        facts.cacheable = facts.cacheable.and(Err(NotCacheable::SqlNoCache));
    }
}

impl Plan {
    /// Counts the hits of the rules that matched; a hit of the cache counts them by itself.
    pub(super) fn count_rules(&self) {
        self.verdict.matched.iter().for_each(|rule| rule.bump());
    }

    /// Counts a look-up that found nothing to serve.
    pub(super) fn count_miss(&self) {
        if let Some(digest) = &self.digest {
            digest.cache().count_miss();
        }
    }

    /// Takes note of whether a SELECT's answer was stored.
    pub(super) fn count_fill(&self, stored: Result<(), NotCached>) {
        if let (Some(digest), Kind::Select) = (&self.digest, self.facts.kind) {
            digest.cache().count_fill(stored);
        }
    }
}

impl Facts {
    /// Whether the server hangs up after it, which ended so. Of several statements one may have failed before it came to that.
    pub(super) const fn hangs_up(&self, end: &AnswerEnd) -> bool {
        self.disconnects && !matches!(end.ending, Ending::Err(_))
    }

    pub(super) fn of(statement: &Statement<'_>) -> Self {
        let effects = &statement.effects;
        let change = Change::of(&effects.set);
        let mut pins = effects.pin.map_or(Pins::NONE, Pins::of);
        if effects.set != SetEffect::None && change == Change::None {
            pins = pins.with(Pins::SESSION_VARIABLE);
        }
        if runs_code_that_may_set(statement.kind, effects) {
            pins = pins.with(Pins::UNKNOWN);
        }
        Self {
            kind: statement.kind,
            command: StatementCommand::Unknown,
            class: Class::of(statement),
            cacheable: statement.cache,
            cache_hint: CacheHint::default(),
            query_cache_type: None,
            character_set: match &effects.set {
                SetEffect::CharacterSet(name) => {
                    Some(String::from_utf8_lossy(&name.text()).to_lowercase().into())
                }
                _ => None,
            },
            change,
            pins,
            unpins: effects.unpin.map_or(Pins::NONE, Pins::of),
            reads_diagnostics: effects.reads_diagnostics,
            reads_found_rows: effects.reads_found_rows,
            reads_row_count: effects.reads_row_count,
            found_rows: FoundRows::Unknown,
            names_no_table: effects.names_no_table,
            needs_no_schema: false,
            reads_insert_id: effects.reads_insert_id,
            has_parameters: false,
            writes: effects.writes,
            ends_transaction: matches!(
                effects.ends_transaction,
                TransactionEnd::Commit | TransactionEnd::Rollback
            ),
            transaction_end: effects.ends_transaction,
            begins_plainly: false,
            volatile: statement.volatile,
            is_opaque: statement.kind == Kind::Multi || effects.runs_unseen_code,
            disconnects: effects.disconnects,
            stops_server: false,
            reads_tracker: false,
            names_information_schema: false,
            names_own_schema: false,
            asks_for_numbers: false,
            lists_connections: false,
            alters_schema: false,
            has_query: false,
            sets_by_hint: effects.sets_by_hint,
            sequences: None,
            asks_for_gtid: false,
            code: CodeRun::default(),
            changes_defaults: DefaultsChange::No,
            multiplex: None,
        }
    }
}

impl Facts {
    /// Why a connection is kept on which it was prepared only: MySQL does then what hints say, and leaves what they leave.
    pub(super) fn pins_when_prepared(&self) -> Pins {
        if self.sets_by_hint { self.pins } else { Pins::NONE }
    }

    /// The same with what is found in the statement's text. Where a SET is understood, it pins nothing.
    pub(super) fn with_settings(mut self, text: &[u8], lexing: Lexing) -> Self {
        self.found_rows = found_rows(text, self.kind, lexing);
        self.stops_server = stops_server(text, lexing);
        self.sequences = sequences_in(text, lexing);
        self.asks_for_gtid = asks_for_gtid(text, self.kind);
        self.has_query = match self.kind {
            Kind::Ddl(Ddl::Create) => makes_table_of_rows(text, self.class, lexing),
            Kind::Show => names(text, b"select") && names(text, b"from"),
            _ => false,
        };
        self.changes_defaults = defaults_change(text, self.kind, lexing);
        let is_unknown = self.kind == Kind::Set && self.change == Change::None && !self.pins.is_empty();
        match is_unknown.then(|| set_outcome(text, lexing)).flatten() {
            Some(SetOutcome::Steps { steps, is_of_next_transaction }) => {
                self.pins = if is_of_next_transaction { Pins::NEXT_TRANSACTION } else { Pins::NONE };
                // About the next transaction alone it changes nothing yet.
                if !(is_of_next_transaction && steps.is_empty()) {
                    self.change = Change::Steps(steps);
                }
            }
            Some(SetOutcome::Role(statement)) => {
                (self.change, self.pins) = (Change::Role(statement), Pins::NONE);
            }
            None => {}
        }
        self
    }
}

/// Whether a SET may be of a role or resource group, which a server does not forget at a reset.
fn outlasts_reset(text: &[u8]) -> bool {
    names(text, b"role") || names(text, b"resource")
}

/// Whether the word stands in the text, in any case of its letters.
pub(super) fn names(text: &[u8], word: &[u8]) -> bool {
    let Some(first) = word.first() else { return true };
    let mut places = memchr2_iter(first.to_ascii_lowercase(), first.to_ascii_uppercase(), text);
    places.any(|place| {
        text.get(place..place + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word))
    })
}

/// Whether a statement may leave anything in the session that the server does not tell of (`tracker.rs`): a procedure may. Several
/// statements in one do what each of them does, if none of them sets anything.
fn runs_code_that_may_set(kind: Kind, effects: &Effects<'_>) -> bool {
    match kind {
        Kind::Call | Kind::Execute | Kind::Other => effects.runs_unseen_code,
        Kind::Multi => effects.runs_unseen_code || effects.set != SetEffect::None,
        _ => false,
    }
}

impl Change {
    fn sets_autocommit(&self) -> bool {
        match self {
            Self::Autocommit(_) => true,
            Self::Steps(steps) => steps.iter().any(|step| matches!(step, Step::Autocommit { .. })),
            _ => false,
        }
    }

    fn of(effect: &SetEffect<'_>) -> Self {
        match effect {
            SetEffect::Autocommit(on) => Self::Autocommit(*on),
            SetEffect::Schema(name) => Self::Schema(name.text().into_owned()),
            SetEffect::Names { charset, collation } => {
                let text =
                    |name: nuthatch_sql::Name<'_>| String::from_utf8_lossy(&name.text()).to_lowercase();
                let charset = text(*charset);
                Self::Charset(Charset::set_names(&charset, collation.map(text).as_deref()))
            }
            SetEffect::None | SetEffect::CharacterSet(_) | SetEffect::Unknown => Self::None,
        }
    }
}

impl Pins {
    fn of(reason: PinReason) -> Self {
        match reason {
            PinReason::UserVariable => Self::USER_VARIABLE,
            PinReason::TemporaryTable => Self::TEMPORARY_TABLE,
            PinReason::LockTables | PinReason::FlushTablesWithReadLock | PinReason::Backup => {
                Self::LOCK_TABLES
            }
            PinReason::GetLock => Self::GET_LOCK,
            PinReason::PreparedStatement => Self::TEXT_PREPARE,
            PinReason::Handler => Self::HANDLER,
            PinReason::Xa => Self::XA,
            PinReason::FoundRows => Self::FOUND_ROWS,
            PinReason::SessionVariable => Self::SESSION_VARIABLE,
        }
    }
}

/// The digest options that the variables say.
fn digest_options(variables: &nuthatch_config::MysqlVariables) -> DigestOptions {
    let size = |value: u64| usize::try_from(value).unwrap_or(usize::MAX);
    DigestOptions {
        max_digest_length: size(variables.query_digests_max_digest_length),
        max_query_length: size(variables.query_digests_max_query_length),
        grouping_limit: size(variables.query_digests_grouping_limit),
        groups_grouping_limit: size(variables.query_digests_groups_grouping_limit),
        lowercase: variables.query_digests_lowercase,
        replace_null: variables.query_digests_replace_null,
        no_digits: variables.query_digests_no_digits,
        keep_comment: variables.query_digests_keep_comment,
    }
}
