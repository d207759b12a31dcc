//! Of those who ask the same for the cache at the same time one asks a server, and the others wait for what is stored of that
//! (`shared/answers/coalescing.rs`).
//!
//! Who has waited looks it up as if the statement had just come. So what was written before it came is shown: the clocks of that have moved
//! since the leader asked, and the entry does not stand. Whoever finds nothing asks by itself, and waits for nobody again.
//!
//! Only sessions that hold nothing wait: neither a transaction nor a connection.

use nuthatch_cache::Entry;
use tokio::time::timeout;

use crate::session::inquiry::{Inquiry, Leading, Wait};
use crate::session::life::answer::store::entry_of_any_epoch;
use crate::session::parts::Ground;
use crate::session::statement::{Asked, Plan};
use crate::session::way::Trouble;
use crate::session::whole::Session;
use crate::shared::answers::{Brought, HitPlan, Joined, Waited};

/// Who asks for the statement, whose answer may be stored.
pub(super) enum Company {
    Leads(Leading),
    Waits(Wait),
    Alone,
}

impl Company {
    /// Whom it leads, or for whom it waits.
    pub(super) fn split(self) -> (Option<Leading>, Option<Box<Wait>>) {
        match self {
            Self::Leads(leading) => (Some(leading), None),
            Self::Waits(wait) => (None, Some(Box::new(wait))),
            Self::Alone => (None, None),
        }
    }
}

/// Joins those who ask for the same at the moment.
pub(super) fn join(session: &Session, plan: &Plan, hash: Option<u64>, now_ms: u64) -> Company {
    let ground = &session.ground;
    let at_most = || plan.digest.as_ref()?.patience().wait_for(wait_max_ms(ground, plan), now_ms);
    let Some(at_most) = at_most().filter(|_| session.holds_nothing()) else { return Company::Alone };
    let Some(hash) = hash else { return Company::Alone };
    match ground.shared.answers.coalescing.join(hash) {
        Joined::Leads(lead) => Company::Leads(Leading { lead, since_us: ground.latest_us }),
        Joined::Waits(waiting) => Company::Waits(Wait { waiting, at_most }),
        Joined::Alone => Company::Alone,
    }
}

/// How long it waits for others; a rule goes before the variable.
fn wait_max_ms(ground: &Ground, plan: &Plan) -> u64 {
    plan.verdict.cache_timeout_ms.map_or(ground.snapshot.mysql.query_cache_wait_max_ms, u64::from)
}

/// Tells those who wait what became of the answer that the leader has by now.
pub(super) fn tell_others(ground: &Ground, plan: &Plan, leading: Leading, brought: Brought) {
    let Leading { lead, since_us } = leading;
    if let Some(digest) = &plan.digest {
        digest.patience().note_asking(ground.latest_us.saturating_sub(since_us));
    }
    lead.bring(brought);
}

/// Waits for the answer of another to what is to be asked. Returns the entry that answers it; without one it is to be counted and asked.
///
/// # Errors
/// The session ends, or its client has gone.
pub(super) async fn wait(
    session: &mut Session,
    inquiry: &mut Inquiry,
    wait: Wait,
) -> Result<Option<Entry<HitPlan>>, Trouble> {
    let Wait { waiting, at_most } = wait;
    let ground = &mut session.ground;
    ground.worker.counters.cache_waits.bump();
    let waiting = Box::pin(ground.worker.with_tokio(timeout(at_most, waiting)));
    let waited = ground.handle.while_client_waits(waiting).await?;
    let now_us = ground.look_at_clock();
    let Asked { request, plan, caching } = &inquiry.asked;
    let mut leading = None;
    let entry = match waited {
        Ok(Waited::For(Brought::Stored)) => {
            entry_of_any_epoch(session, request, plan, *caching, now_us / 1000)
        }
        Ok(Waited::For(Brought::Nothing)) => None,
        Ok(Waited::Leads(lead)) => {
            leading = Some(Leading { lead, since_us: now_us });
            None
        }
        Err(_over) => {
            session.ground.worker.counters.cache_waits_over.bump();
            None
        }
    };
    if entry.is_some() {
        session.ground.worker.counters.cache_waits_answered.bump();
    }
    if let Some(digest) = plan.digest.as_ref().filter(|_| leading.is_none()) {
        digest.patience().note_wait(entry.is_some(), now_us / 1000);
    }
    if let Ok(filling) = &mut inquiry.filling {
        filling.leading = leading;
    }
    Ok(entry)
}
