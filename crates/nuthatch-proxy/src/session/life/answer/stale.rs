//! What is served past its time because no server answers: only where a rule says so (`cache_stale_if_error_ms` in its attributes), never
//! what is exact, and never to a session that would take it for the answer of its own transaction.

use nuthatch_cache::Entry;

use crate::backend::CheckOutError;
use crate::session::life::answer::store::key_of;
use crate::session::statement::{Caching, Plan, Request};
use crate::session::way::Trouble;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

/// Whether it may be given the session in the place of an answer.
pub(super) fn may_be_stale(session: &Session, plan: &Plan, caching: Caching) -> bool {
    caching.stale_if_error_ms(&plan.verdict) > 0 && session.holds_nothing()
}

/// The same where it is known before the statement is sent that no server takes it.
pub(super) fn instead_of_asking(
    session: &Session,
    request: &Request,
    plan: &Plan,
    caching: Caching,
) -> Option<Entry<HitPlan>> {
    let ground = &session.ground;
    if !may_be_stale(session, plan, caching)
        || ground.shared.hostgroups.takes_statements(plan.hostgroup, ground.latest_us)
    {
        return None;
    }
    kept(session, request, plan)
}

/// What is given for the answer of a statement that came to nothing.
pub(super) fn instead_of(
    session: &Session,
    request: &Request,
    plan: &Plan,
    trouble: &Trouble,
) -> Option<Entry<HitPlan>> {
    let is_unanswered =
        matches!(trouble, Trouble::CheckOut(CheckOutError::Timeout { .. } | CheckOutError::NoServer { .. }));
    if is_unanswered || trouble.left_no_trace() { kept(session, request, plan) } else { None }
}

/// The entry that is kept for that, and is counted as given.
fn kept(session: &Session, request: &Request, plan: &Plan) -> Option<Entry<HitPlan>> {
    let ground = &session.ground;
    let entry = ground.shared.answers.cache.get(&key_of(session, request)?)?;
    let now_ms = ground.latest_us / 1000;
    let may_be_given = !entry.is_exact()
        && entry.hostgroup() == plan.hostgroup.0
        && now_ms < entry.expires_ms()
        && !entry.plan().counts_all_rows();
    may_be_given.then(|| {
        ground.worker.counters.cache_stale_answers.bump();
        entry
    })
}
