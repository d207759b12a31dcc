//! An old primary that comes back after a failover.
//!
//! It is made read-only at once, and its events end, unless the new primary follows it and is read-only: then somebody has gone back to it. It
//! follows the new primary only if that has all that it has; else it stays out, and what it has beyond that is told: somebody must look at it,
//! and build the server anew.

use std::time::Duration;

use crate::dialect::{self, Followed};
use crate::following::{Telling, follow};
use crate::link::Failure;
use crate::loss::Lacking;
use crate::order::{Account, KnownServer};
use crate::survey::Survey;
use crate::votes;

/// How long the new primary may take for one answer while the old one takes writes too.
const TO_ASK: Duration = Duration::from_millis(300);

/// How an old primary stands to the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejoined {
    /// It follows the new one, and is read-only.
    Follows,
    /// It has what the new one does not have. It is read-only, and stays out.
    HasSurplus(Lacking),
    /// It takes the writes again: the new one is read-only, and follows it.
    Writes,
    /// It is not there, or could not be made to follow: a sentence.
    NotYet(String),
}

/// Has the old primary follow the new one, if it is there and nothing speaks against it.
pub async fn rejoin(
    old: &KnownServer,
    new: &KnownServer,
    replication: &Account,
    over_tls: bool,
    patience: Duration,
) -> Rejoined {
    match try_rejoin(old, new, replication, over_tls, patience).await {
        Ok(rejoined) => rejoined,
        Err(failure) => Rejoined::NotYet(failure.to_string()),
    }
}

/// Whether the old primary takes writes and has all that the new one has, and that is read-only and follows it: nobody but somebody who has
/// gone back to it has done that. What cannot be asked is not so.
pub async fn takes_writes_again(old: &KnownServer, new: &KnownServer, patience: Duration) -> bool {
    let Ok((_, survey)) = Survey::at(old, patience).await else { return false };
    !survey.is_read_only && is_followed_by(&survey, new, patience).await
}

async fn is_followed_by(old: &Survey, new: &KnownServer, patience: Duration) -> bool {
    let Ok((_, new)) = Survey::at(new, patience).await else { return false };
    let follows = matches!(&new.follows[..], [one] if one.runs() && one.leads_to(old));
    new.is_read_only && follows && old.everything().holds(&new.has, old.server_id)
}

async fn try_rejoin(
    old: &KnownServer,
    new: &KnownServer,
    replication: &Account,
    over_tls: bool,
    patience: Duration,
) -> Result<Rejoined, Failure> {
    let (mut old, mut survey) = Survey::at(old, patience).await?;
    // Two that take writes are worse than anything else.
    if !survey.is_read_only {
        if is_followed_by(&survey, new, patience.min(TO_ASK)).await {
            return Ok(Rejoined::Writes);
        }
        tracing::warn!(server = %survey.name, "an old primary is back and takes writes: it is made read-only");
        for sql in dialect::take_writes(old.flavor, false) {
            old.ask(sql).await?;
        }
        if survey.runs_events {
            old.ask("SET GLOBAL event_scheduler = OFF").await?;
        }
        survey = Survey::of(&mut old).await?;
    }
    let (_, of_new) = Survey::at(new, patience).await?;
    if of_new.is_read_only {
        return Ok(Rejoined::NotYet(format!("{} does not take writes", of_new.name)));
    }
    let surplus = survey.history.surplus_over(&of_new.history, survey.server_id);
    if !surplus.is_none() {
        return Ok(Rejoined::HasSurplus(surplus));
    }
    if matches!(&survey.follows[..], [one] if one.runs() && one.leads_to(&of_new)) {
        return Ok(Rejoined::Follows);
    }
    if let Some(channel) = survey.follows.iter().find(|channel| channel.runs()) {
        return Ok(Rejoined::NotYet(format!(
            "{} follows {}: it is left as it is",
            survey.name, channel.source
        )));
    }
    votes::take(&mut old).await?;
    let followed = Followed { source: &of_new.name, user: &replication.user, over_tls, delay_s: 0 };
    let telling = Telling { patience, tries: 1 };
    let told = follow(&mut old, &followed, replication.password.expose(), Some(&survey.has), telling).await;
    Ok(match told {
        Ok(()) => Rejoined::Follows,
        Err(why) => Rejoined::NotYet(format!("{} does not follow {}: {why}", survey.name, of_new.name)),
    })
}
