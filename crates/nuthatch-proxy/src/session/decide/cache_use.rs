//! Whether the session may use the cache now, or why not; and what that and the statement come to.
//!
//! Worked out after each command off the hit path; the hit path looks at two flags.

use crate::session::before::begin::{may_open_snapshot, reads_one_moment};
use crate::session::parts::{Account, Beginning, CacheUse, Context, Dealings, Ground, Held, Off, caching};
use crate::session::statement::{Caching, Facts, Plan};
use crate::stats::not_cached::NotCached;
use crate::stats::pins::Pins;

/// The same before a statement, unless nothing has changed since the last.
pub(crate) fn judge_cache_use_for(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &mut CacheUse,
    dealings: &Dealings,
    facts: &Facts,
) {
    // One with a hint of a time may be the first.
    let may_be_first = facts.cache.hint.ttl_ms.is_some();
    if may_be_first || !is_as_judged(context, cache, dealings) {
        judge_cache_use(ground, account, context, cache, dealings);
    }
}

/// The same behind a statement, unless it was plain, nothing of it is left, and nobody caches anything: then neither servers nor others
/// have a say in it.
pub(crate) fn judge_cache_use_behind(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &mut CacheUse,
    dealings: &Dealings,
    was_plain: bool,
) {
    let is_off = matches!(cache.off(), Off::Wholly(NotCached::TypeOff | NotCached::OwnTypeOff));
    if !(was_plain && is_off && is_as_judged(context, cache, dealings)) {
        judge_cache_use(ground, account, context, cache, dealings);
    }
}

/// What it was judged by at first is as it was.
fn is_as_judged(context: &Context, cache: &CacheUse, dealings: &Dealings) -> bool {
    cache.is_judged() && is_as_at_first(context, cache, dealings)
}

/// Neither a connection is held nor a transaction open, and the next statement is the first of the rules' walk.
fn is_as_at_first(context: &Context, cache: &CacheUse, dealings: &Dealings) -> bool {
    dealings.hands.held.is_empty()
        && cache.next_flag_in() == 0
        && context.state.autocommit
        && matches!(dealings.transaction.beginning(), Beginning::Usual)
        && dealings.transaction.touched().is_empty()
}

/// Works out *may use the cache* anew.
pub(crate) fn judge_cache_use(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &mut CacheUse,
    dealings: &Dealings,
) {
    cache.note_judged(is_as_at_first(context, cache, dealings));
    let off = off_by_configuration(ground, account, context)
        .or_wholly(|| state_off_cache(context, cache, dealings))
        .or_exact(|| transaction_off_exact(ground, account, context, dealings));
    take_cache_use(ground, account, context, cache, dealings, off);
}

/// Has the session, or the statement at hand, off the cache for that, or on it.
pub(crate) fn take_cache_use(
    ground: &Ground,
    account: &Account,
    context: &Context,
    cache: &mut CacheUse,
    dealings: &Dealings,
    off: Off,
) {
    let sticky = dealings.hands.held.iter().find(|held| held.pins().is_sticky());
    let bound = dealings.hands.open_transaction(&dealings.transaction).or(sticky.map(|held| held.hostgroup));
    let opens_snapshot = off.exact().is_none() && may_open_snapshot(ground, account, context, dealings);
    cache.take(off, opens_snapshot, bound);
}

pub(crate) fn state_off_cache(context: &Context, cache: &CacheUse, dealings: &Dealings) -> Option<NotCached> {
    let is_blocked =
        |held: &&Held| held.pins().blocks_cache() || held.pins().without(Pins::PASSING) != held.pins();
    match () {
        () if context.environment.is_none() => Some(NotCached::TooManyEnvironments),
        () if cache.next_flag_in() != 0 => Some(NotCached::UnderFlag),
        () if context.has_odd_isolation() => Some(NotCached::OddIsolation),
        () if dealings.hands.are_recorded() => Some(NotCached::InTransaction),
        () if dealings.transaction.has_written() && dealings.are_in_transaction() => {
            Some(NotCached::WroteInTransaction)
        }
        () => dealings.hands.held.iter().find(is_blocked).map(|held| NotCached::Pinned(held.pins())),
    }
}

fn transaction_off_exact(
    ground: &Ground,
    account: &Account,
    context: &Context,
    dealings: &Dealings,
) -> Option<NotCached> {
    match () {
        () if reads_one_moment(ground, account, context, dealings) => None,
        () if !dealings.transaction.touched().is_empty() => Some(NotCached::WroteInTransaction),
        () => Some(NotCached::UnknownMoment),
    }
}

/// How the answer may be cached, as far as statement, rules and session say.
pub(crate) fn caching_of(ground: &Ground, context: &Context, cache: &CacheUse, plan: &Plan) -> Caching {
    caching(&plan.facts, &plan.verdict, context.query_cache_type_in(&ground.snapshot), cache.off())
}

fn off_by_configuration(ground: &Ground, account: &Account, context: &Context) -> Off {
    Off::by_configuration(account.user(), context.query_cache_type, &ground.snapshot, &ground.shared.answers)
}
