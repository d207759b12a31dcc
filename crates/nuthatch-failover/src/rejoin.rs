//! An old primary that comes back after a failover.
//!
//! It is made read-only at once, and its events end, as long as the new primary takes the writes. It follows that one only if it has all that the
//! old one has; else the old one stays out, and what it has beyond that is told: somebody must look at it, and build the server anew.
//!
//! Where the new primary is read-only and follows it, somebody has gone back to it. Where the new primary is not there, the old one is left as
//! it is: it may be the only one that another proxy, or an operator, has left to take the writes.

use std::time::Duration;

use crate::at_once;
use crate::dialect::Followed;
use crate::following::{Telling, follow};
use crate::link::{Failure, Link};
use crate::loss::Lacking;
use crate::order::{Account, KnownServer};
use crate::survey::Survey;
use crate::votes;

/// How an old primary stands to the new one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejoined {
    /// It follows the new one, and is read-only.
    Follows,
    /// It has what the new one does not have. It is read-only, and stays out.
    HasSurplus(Lacking),
    /// It takes the writes again: the new one is read-only, and follows it.
    Writes,
    /// It takes writes, the new one is not there, and no other server of the pair that is there has more.
    WritesAlone {
        /// For how long its process has been up, in seconds.
        up_s: u64,
    },
    /// It is not there, or could not be made to follow.
    NotYet {
        /// In words.
        why: String,
        /// Whether it was seen to be read-only.
        is_read_only: bool,
    },
}

/// What is done about an old primary.
#[derive(Clone, Copy, Debug)]
pub enum Rejoining<'a> {
    /// It is looked at.
    Look,
    /// It is made to follow as this account, over TLS or not.
    Follow {
        /// As whom it logs in to the new one.
        replication: &'a Account,
        /// As the new one followed it.
        over_tls: bool,
    },
}

/// Has the old primary of that pair follow the new one, if it is there and nothing speaks against it.
pub async fn rejoin(
    old: &KnownServer,
    new: &KnownServer,
    pair: &[KnownServer],
    rejoining: Rejoining<'_>,
    patience: Duration,
) -> Rejoined {
    let not_yet = |failure: &Failure| Rejoined::NotYet { why: failure.to_string(), is_read_only: false };
    let (mut link, survey) = match Survey::at(old, patience).await {
        Ok(asked) => asked,
        Err(failure) => return not_yet(&failure),
    };
    let done = match survey.is_read_only {
        true => follow_new(&mut link, survey, new, rejoining, patience).await,
        false => end_writing(&mut link, survey, (new, pair), rejoining, patience).await,
    };
    done.unwrap_or_else(|failure| not_yet(&failure))
}

/// Both take writes, or only the old one: two that do are worse than anything else.
async fn end_writing(
    old: &mut Link,
    survey: Survey,
    (new, pair): (&KnownServer, &[KnownServer]),
    rejoining: Rejoining<'_>,
    patience: Duration,
) -> Result<Rejoined, Failure> {
    let of_new = match Survey::at(new, patience).await {
        Ok((_, of_new)) => of_new,
        Err(failure) if failure.is_of_account() => return Err(failure),
        Err(_) => return Ok(writes_alone(old, &survey, pair, patience).await),
    };
    let writes = |why: String| Ok(Rejoined::NotYet { why, is_read_only: false });
    if of_new.is_read_only {
        let follows = matches!(&of_new.follows[..], [one] if one.runs() && one.leads_to(&survey));
        return match follows && survey.everything().holds(&of_new.has, survey.server_id) {
            true => Ok(Rejoined::Writes),
            false => writes(format!("{} does not take writes", of_new.name)),
        };
    }
    if matches!(rejoining, Rejoining::Look) {
        return writes(format!("{} takes writes, and so does {}", survey.name, of_new.name));
    }
    tracing::warn!(server = %survey.name, "an old primary is back and takes writes: it is made read-only");
    old.take_writes(false).await?;
    if survey.runs_events {
        old.ask("SET GLOBAL event_scheduler = OFF").await?;
    }
    let survey = Survey::of(old).await?;
    follow_new(old, survey, new, rejoining, patience).await
}

/// The new one is not there. The old one is all that is left only if no other server of the pair takes writes or has what it lacks.
async fn writes_alone(old: &mut Link, survey: &Survey, pair: &[KnownServer], patience: Duration) -> Rejoined {
    let everything = survey.everything();
    let others = pair.iter().filter(|(name, ..)| *name != survey.name);
    let asking = others.map(|other| async move { Survey::at(other, patience).await });
    for other in at_once::all(asking).await.into_iter().flatten().map(|(_, other)| other) {
        if !other.is_read_only || !everything.holds(&other.come_to(), survey.server_id) {
            let why = format!("{} takes writes, or has what {} does not have", other.name, survey.name);
            return Rejoined::NotYet { why, is_read_only: false };
        }
    }
    match began_s_ago(old).await {
        Ok(up_s) => Rejoined::WritesAlone { up_s },
        Err(failure) => Rejoined::NotYet { why: failure.to_string(), is_read_only: false },
    }
}

/// For how many seconds the server has been up.
async fn began_s_ago(link: &mut Link) -> Result<u64, Failure> {
    let answer = link.ask("SHOW GLOBAL STATUS LIKE 'Uptime'").await?;
    let up_s = answer.text("Value").and_then(|text| text.parse().ok());
    up_s.ok_or_else(|| Failure::Lost {
        server: link.name.clone(),
        why: "it does not tell for how long it has been up".to_owned(),
    })
}

/// The old one, which is read-only, follows the new one.
async fn follow_new(
    old: &mut Link,
    survey: Survey,
    new: &KnownServer,
    rejoining: Rejoining<'_>,
    patience: Duration,
) -> Result<Rejoined, Failure> {
    let not_yet = |why: String| Ok(Rejoined::NotYet { why, is_read_only: true });
    let (_, of_new) = match Survey::at(new, patience).await {
        Ok(asked) => asked,
        Err(failure) => return not_yet(failure.to_string()),
    };
    if of_new.is_read_only {
        return not_yet(format!("{} does not take writes", of_new.name));
    }
    let surplus = survey.history.surplus_over(&of_new.history, survey.server_id);
    if !surplus.is_none() {
        return Ok(Rejoined::HasSurplus(surplus));
    }
    if matches!(&survey.follows[..], [one] if one.runs() && one.leads_to(&of_new)) {
        return Ok(Rejoined::Follows);
    }
    if let Some(channel) = survey.follows.iter().find(|channel| channel.runs()) {
        return not_yet(format!("{} follows {}: it is left as it is", survey.name, channel.source));
    }
    let Rejoining::Follow { replication, over_tls } = rejoining else {
        return not_yet(format!("{} follows nobody", survey.name));
    };
    votes::take(old, votes::AT_MOST).await?;
    let followed = Followed { source: &of_new.name, user: &replication.user, over_tls, delay_s: 0 };
    let telling = Telling { patience, tries: 1 };
    match follow(old, &followed, replication.password.expose(), Some(&survey.has), telling).await {
        Ok(()) => Ok(Rejoined::Follows),
        Err(why) => not_yet(format!("{} does not follow {}: {why}", survey.name, of_new.name)),
    }
}
