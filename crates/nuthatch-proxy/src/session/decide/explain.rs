//! `EXPLAIN CACHE`: what the cache would do with a statement, step by step.
//!
//! The steps are those of a statement, decided by the same functions: digest and rules (`plan.rs`), session and statement
//! (`cache_use.rs`), tables (nuthatch-sql), entry. Nothing is counted, learned, remembered or asked of a server.

use nuthatch_cache::{Entry, Judgement, Sequence, Standing};
use nuthatch_config::{Follow, HostgroupId, QueryCacheType, RuleInput, Snapshot, User, Verdict};
use nuthatch_sql::{
    CacheQuestion, Class, ColumnSet, Lexing, ReadFootprint, ReadRows, TableRead, cache_question, classify,
    read_footprint,
};

use crate::exact::{AsOf, Domain, are_told_by_what_they_hold, standing};
use crate::roster::ClientAddress;
use crate::session::before::begin::may_open_snapshot;
use crate::session::decide::cache_use::state_off_cache;
use crate::session::decide::key::key;
use crate::session::lease::check_out::hostgroup_for;
use crate::session::parts::{Account, CacheUse, Context, Dealings, Ground, Off, caching};
use crate::session::statement::{Caching, Facts, heed_hint, look};
use crate::shared::Shared;
use crate::shared::answers::HitPlan;
use crate::stats::Observed;
use crate::stats::not_cached::NotCached;

/// A step and what came of it.
pub type Finding = (&'static str, String);

/// Who would ask, as far as it decides what the cache does.
struct Asker<'a> {
    shared: &'a Shared,
    snapshot: &'a Snapshot,
    user: &'a User,
    schema: &'a [u8],
    lexing: Lexing,
    address: &'a ClientAddress,
    flag_in: u32,
    kind: QueryCacheType,
    /// Why it is off the cache, a statement with these facts considered.
    off: &'a dyn Fn(&Facts) -> Off,
    /// Where it goes that is wanted there.
    routed: &'a dyn Fn(HostgroupId, &Facts) -> HostgroupId,
    sees: Sees,
    /// What is stored for it.
    entries: Vec<Entry<HitPlan>>,
    now_ms: u64,
}

/// Of which moment the tables are that its statement sees.
#[derive(Debug, Clone, Copy)]
enum Sees {
    Now,
    /// When the snapshot of its transaction was opened.
    At(Sequence, AsOf),
    /// A server is to open the snapshot for this statement.
    SnapshotToOpen,
}

/// What the cache would do with the statement, were it the session's next.
pub(crate) fn explain_cache(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &CacheUse,
    dealings: &Dealings,
    statement: &[u8],
) -> Vec<Finding> {
    let off = |facts: &Facts| match facts.cache.hint.ttl_ms {
        Some(_) => {
            cache.off().when_asked_for_a_time().or_wholly(|| state_off_cache(context, cache, dealings))
        }
        None => *cache.off(),
    };
    let routed = |wanted, facts: &Facts| hostgroup_for(account, dealings, wanted, facts);
    let entry = key(account, context, statement).and_then(|key| ground.shared.answers.cache.peek(&key));
    let asker = Asker {
        shared: &ground.shared,
        snapshot: &ground.snapshot,
        user: account.user(),
        schema: &context.state.schema,
        lexing: context.lexing,
        address: ground.handle.address(),
        flag_in: cache.next_flag_in(),
        kind: context.query_cache_type_in(&ground.snapshot),
        off: &off,
        routed: &routed,
        sees: match dealings.transaction.beginning().snapshot() {
            _ if may_open_snapshot(ground, account, context, dealings) => Sees::SnapshotToOpen,
            Some(snapshot) => Sees::At(snapshot, dealings.transaction.as_of()),
            None => Sees::Now,
        },
        entries: entry.into_iter().collect(),
        now_ms: ground.latest_us / 1000,
    };
    asker.explain(statement)
}

/// What the cache would do with the statement that an operator's `EXPLAIN CACHE [FOR USER 'u'] [IN SCHEMA s] …` is about, for a new
/// session. Without them, it is the first active user's, in its default schema.
///
/// # Errors
/// A sentence: it is not of that form, or there is no such user.
pub(crate) fn explain_for_operator(shared: &Shared, question: &[u8]) -> Result<Vec<Finding>, String> {
    let lexing = shared.greetings.lexing();
    let CacheQuestion { user, schema, statement } = cache_question(question, lexing)
        .ok_or("EXPLAIN CACHE [FOR USER 'u'] [IN SCHEMA s] is followed by a SELECT")?;
    let snapshot = shared.configuration.snapshot();
    let user = match user {
        Some(name) => snapshot.users.frontend(&name),
        None => snapshot.users.iter().find(|user| user.frontend && user.active),
    };
    let user = user.ok_or("there is no such active user")?;
    let default_schema = || user.default_schema.clone().unwrap_or_default().into_bytes();
    let schema = schema.unwrap_or_else(default_schema);
    let mut entries = Vec::new();
    shared.answers.cache.visit(|entry| {
        let asked = (entry.user(), entry.schema(), entry.statement());
        if asked == (user.name.as_bytes(), &schema, statement) {
            entries.push(entry.clone());
        }
    });
    let off = |facts: &Facts| {
        let off = Off::by_configuration(user, None, &snapshot, &shared.answers);
        if facts.cache.hint.ttl_ms.is_some() { off.when_asked_for_a_time() } else { off }
    };
    let asker = Asker {
        shared,
        snapshot: &snapshot,
        user,
        schema: &schema,
        lexing,
        address: &ClientAddress::default(),
        flag_in: 0,
        kind: snapshot.mysql.query_cache_type,
        off: &off,
        routed: &|wanted, _facts| wanted,
        sees: Sees::Now,
        entries,
        now_ms: shared.clock.now_ms(),
    };
    Ok(asker.explain(statement))
}

impl Asker<'_> {
    fn explain(&self, statement: &[u8]) -> Vec<Finding> {
        let known = look(statement, self.lexing, self.snapshot);
        let facts = Facts::of_text(known.facts, None);
        let mut verdict = self.judge(statement, known.digest, &known.digest_text);
        heed_hint(&facts, &mut verdict);
        let wanted = verdict.destination_hostgroup.unwrap_or(self.user.default_hostgroup);
        let hostgroup = (self.routed)(wanted, &facts);
        let off = (self.off)(&facts);
        let caching = caching(&facts, &verdict, self.kind, &off);
        let mut findings = vec![
            ("user", self.user.name.clone()),
            ("schema", text(self.schema)),
            ("digest", format!("0x{:016X}", known.digest)),
            ("digest_text", text(&known.digest_text)),
            ("rules", rules(&verdict)),
            ("hostgroup", hostgroup.0.to_string()),
            ("query_cache_type", self.kind.word().to_owned()),
            ("session", off.told()),
            ("statement", statement_told(&facts)),
            ("mode", mode(caching) + &self.ageing(&verdict, caching)),
        ];
        if facts.cache.allowed.is_ok() && facts.cache.volatile.is_none() {
            findings.extend(self.tables(statement, hostgroup));
        }
        if caching.is_any() {
            findings.extend(self.admission(known.digest, hostgroup));
            findings.extend(self.entries_told(caching));
        }
        findings
    }

    fn judge(&self, query: &[u8], digest: u64, digest_text: &[u8]) -> Verdict {
        self.snapshot.rules.evaluate(&RuleInput {
            user: self.user.name.as_bytes(),
            schema: self.schema,
            client_addr: &self.address.host,
            proxy_addr: &self.address.proxy_host,
            proxy_port: self.address.proxy_port,
            digest,
            digest_text,
            query,
            flag_in: self.flag_in,
        })
    }

    /// What becomes of the answer before its time is over, and behind it.
    fn ageing(&self, verdict: &Verdict, caching: Caching) -> String {
        let ageing = caching.ageing(verdict, &self.snapshot.mysql);
        let refreshed = match ageing.refreshed_after_ms {
            u32::MAX => String::new(),
            after_ms => format!("; read anew when it is asked for from {after_ms} ms on"),
        };
        let stale = match caching.stale_if_error_ms(verdict) {
            0 => String::new(),
            longer_ms => format!("; for {longer_ms} ms more while no server answers"),
        };
        refreshed + &stale
    }

    /// Whose writes are seen, and what the answer would depend on.
    fn tables(&self, statement: &[u8], hostgroup: HostgroupId) -> Vec<Finding> {
        let catalogues = self.shared.exact.catalogues.current();
        let domain = match catalogues.domain(hostgroup).cloned() {
            Ok(domain) => domain,
            Err(sentence) => return vec![("source", format!("none: {sentence}"))],
        };
        let catalogue = &domain.catalogue;
        let source = format!("{}:{}, {} tables are known", domain.host, domain.port, catalogue.len());
        let mut findings = vec![("source", source)];
        findings.extend(domain.replicas.iter().map(|replica| ("replica", replica.told())));
        findings.extend(self.follow(hostgroup, &domain));
        let is_followed = self.snapshot.follow(hostgroup) != Follow::Off;
        let class = Class::of(&classify(statement, self.lexing));
        let footprint = read_footprint(statement, class, self.lexing, self.schema, catalogue, &[])
            .map_err(|why| why.to_string())
            .and_then(|read| {
                let is_known = self.shared.exact.may_rest_on(
                    &read,
                    &domain,
                    &catalogues,
                    is_followed.then_some(self.lexing.server),
                );
                let read = read.with_columns(statement, self.lexing, self.schema, catalogue);
                is_known
                    .map(|()| self.as_depended_on(read, hostgroup, &domain))
                    .map_err(|why| why.to_string())
            });
        match footprint.map(|read| read.told(catalogue)) {
            Ok(told) if told.is_empty() => findings.push(("reads", "no table".to_owned())),
            Ok(told) => findings.extend(told.into_iter().map(|told| ("reads", told))),
            Err(why) => findings.push(("reads", format!("not cached as exact: {why}"))),
        }
        findings
    }

    /// The same with the whole table in the place of rows by what they hold, where it is not known yet what they do.
    fn as_depended_on(&self, read: ReadFootprint, hostgroup: HostgroupId, domain: &Domain) -> ReadFootprint {
        let exact = &self.shared.exact;
        let is_followed = self.snapshot.follow(hostgroup) != Follow::Off;
        let teller = exact.follows.of(domain).filter(|_| is_followed);
        let now = exact.clocks.now();
        let depended_on = |read: TableRead| match exact.shown(teller.as_deref(), &read, now) {
            _ if !are_told_by_what_they_hold(&read.rows) => TableRead { looked_at: ColumnSet::ALL, ..read },
            None => TableRead { rows: ReadRows::Any, looked_at: ColumnSet::ALL, ..read },
            Some(shown) if shown.columns.is_empty() => {
                TableRead { rows: ReadRows::Any, looked_at: shown.looked_at, ..read }
            }
            Some(shown) => TableRead { looked_at: shown.looked_at, ..read },
        };
        ReadFootprint { tables: read.tables.into_iter().map(depended_on).collect(), ..read }
    }

    /// Whether copies of its answers pay, if that is known.
    fn admission(&self, digest: u64, hostgroup: HostgroupId) -> Option<Finding> {
        let variables = &self.snapshot.mysql;
        let observed = Observed {
            hostgroup: hostgroup.0.into(),
            schema: self.schema,
            user: &self.user.name,
            client_addr: if variables.query_digests_track_hostname { &self.address.host } else { "" },
            digest,
            digest_text: b"",
        };
        let row = self.shared.answers.digests.known(&observed).filter(|_| variables.query_cache_admission)?;
        Some(("admission", row.admission().told(self.now_ms)?))
    }

    /// What is promised of writes past the proxy.
    fn follow(&self, hostgroup: HostgroupId, domain: &Domain) -> Option<Finding> {
        if self.snapshot.follow(hostgroup) == Follow::Off {
            return None;
        }
        let told = match self.shared.exact.follows.of(domain) {
            Some(followed) => followed.told(),
            None => NotCached::NotFollowed.to_string(),
        };
        Some(("follow", told))
    }

    /// What would become of the entries now; an operator's question may be about several, of sessions with other settings.
    fn entries_told(&self, caching: Caching) -> Vec<Finding> {
        match self.entries.as_slice() {
            [] => vec![("entry", "miss: there is none".to_owned())],
            entries => entries.iter().map(|entry| ("entry", self.entry_told(entry, caching))).collect(),
        }
    }

    fn entry_told(&self, entry: &Entry<HitPlan>, caching: Caching) -> String {
        let age_ms = self.now_ms.saturating_sub(entry.created_ms());
        format!(
            "{}: {} rows, {} bytes{}, stored {}.{:03} s ago",
            self.fate(entry, caching),
            entry.rows(),
            entry.packet_bytes(),
            if entry.is_compressed() { ", compressed" } else { "" },
            age_ms / 1000,
            age_ms % 1000
        )
    }

    fn fate(&self, entry: &Entry<HitPlan>, caching: Caching) -> &'static str {
        let (snapshot, of) = match self.sees {
            Sees::At(snapshot, of) => (Some(snapshot), of),
            Sees::Now | Sees::SnapshotToOpen => (None, AsOf::Now),
        };
        let standing = standing(&self.shared.exact.clocks, entry, snapshot);
        match (standing, entry.judge(self.now_ms, self.snapshot.epoch.0)) {
            _ if entry.is_exact() != caching.is_exact() => "miss, it was stored in the other mode",
            _ if entry.is_exact() && matches!(self.sees, Sees::SnapshotToOpen) => {
                "miss, a server opens its transaction's snapshot first"
            }
            (Standing::Holds, _) if !entry.plan().is_within_tenure(|| of, || entry.created_ms()) => {
                "miss, it is not known that all that was written past the proxy is seen (stats_query_cache_follow)"
            }
            (Standing::Moved, _) => "stale, what it reads has been written since",
            (Standing::Pending, _) => "pending, what it reads is being written",
            (Standing::Holds, Judgement::Expired) => "miss, its time is over",
            _ if entry.plan().is_stale(entry.created_ms(), self.now_ms) => {
                "miss, its time is over, and it is kept for when no server answers"
            }
            (Standing::Holds, Judgement::OlderEpoch) => "hit, if the rules in force would have made it",
            (Standing::Holds, Judgement::Fresh) => "hit",
        }
    }
}

impl Off {
    fn told(&self) -> String {
        match self {
            Self::Wholly(why) => format!("off the cache: {why}"),
            Self::Exact(why) => format!("only what is given a time: {why}"),
            Self::Not => "may use the cache".to_owned(),
        }
    }
}

fn rules(verdict: &Verdict) -> String {
    let matched: Vec<_> = verdict.matched.iter().map(|rule| rule.rule_id().to_string()).collect();
    let answers = match (&verdict.error_msg, &verdict.ok_msg) {
        (None, None) => "",
        _ => "; the last answers it, and no server",
    };
    if matched.is_empty() { "none matches".to_owned() } else { format!("{}{answers}", matched.join(", ")) }
}

fn statement_told(facts: &Facts) -> String {
    match (facts.cache.allowed, facts.cache.volatile) {
        (Err(why), _) => format!("cannot be cached: {why}"),
        (Ok(()), Some(what)) => format!("only for a time: {}", NotCached::Volatile(what)),
        (Ok(()), None) => "may be cached".to_owned(),
    }
}

pub(crate) fn mode(caching: Caching) -> String {
    match caching {
        Caching::No(why) => format!("not cached: {why}"),
        Caching::Ttl(ttl_ms) => format!("ttl: for {ttl_ms} ms, whatever is written meanwhile"),
        Caching::Exact { ttl_ms: None } => "exact: until something is written that it depends on".to_owned(),
        Caching::Exact { ttl_ms: Some(ttl_ms) } => {
            format!("both: until something is written that it depends on, for {ttl_ms} ms at most")
        }
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
