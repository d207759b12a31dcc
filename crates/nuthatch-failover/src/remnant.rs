//! What a failover left at who writes that nobody finished: it still knows the server that it has replaced as its source, and would receive
//! of it again when it is started anew: what was lost with that one came back, or the two followed each other.
//!
//! A failover has the heir receive nothing more before it takes writes, and forget its source behind that. A proxy that ends in between leaves
//! this; whoever looks finds it.

use std::time::Duration;

use crate::dialect;
use crate::following::forget_source;
use crate::link::{Failure, Link};
use crate::order::KnownServer;
use crate::survey::{Channel, Survey};
use crate::votes;

/// What was found at who writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remnant {
    /// Nothing, or what is not to be touched: its source sends to it, follows it, or is from elsewhere.
    None,
    /// It still knows its source, and could not be made to forget it, or was not told to: a sentence.
    Found(String),
    /// It did, and follows nobody now: a sentence.
    Ended(String),
}

/// Looks at who takes the writes of a pair whose servers are `pair`, and ends what it finds if it `may_end` it.
pub async fn look_for_remnant(
    writer: &KnownServer,
    pair: &[KnownServer],
    may_end: bool,
    patience: Duration,
) -> Remnant {
    match look(writer, pair, may_end, patience).await {
        Ok(found) => found,
        // Who cannot be asked is told of by the monitor.
        Err(failure) => {
            tracing::debug!(writer = %writer.0, %failure, "what a failover left there is not known");
            Remnant::None
        }
    }
}

async fn look(
    writer: &KnownServer,
    pair: &[KnownServer],
    may_end: bool,
    patience: Duration,
) -> Result<Remnant, Failure> {
    let mut link = Link::to(writer, patience).await?;
    let survey = Survey::of(&mut link).await?;
    let [channel] = &survey.follows[..] else { return Ok(Remnant::None) };
    let source = pair.iter().find(|(name, ..)| *name == channel.source);
    let (false, "No", Some(source)) = (survey.is_read_only, channel.fetches.as_str(), source) else {
        return Ok(Remnant::None);
    };
    // Two that follow each other, as somebody wants them to.
    if is_followed_by(&survey, source, patience).await {
        return Ok(Remnant::None);
    }
    let (name, source) = (&survey.name, &channel.source);
    let found =
        format!("{name} takes the writes, and would follow {source} again: it only receives nothing now");
    if !may_end || channel.applies != "Yes" || !has_applied(&survey, channel) {
        return Ok(Remnant::Found(found));
    }
    match end(&mut link, &survey).await {
        Ok(()) => {
            Ok(Remnant::Ended(format!("{name} takes the writes, and does not follow {source} any more")))
        }
        Err(failure) => Ok(Remnant::Found(format!("{found}, and that cannot be ended: {failure}"))),
    }
}

/// Whether all is applied that was received. MariaDB's position tells only of the last of each domain, its binlog of all.
fn has_applied(survey: &Survey, channel: &Channel) -> bool {
    let mut applied = survey.has.clone();
    applied.add(&survey.history);
    applied.holds(&channel.received, survey.server_id)
}

async fn end(link: &mut Link, survey: &Survey) -> Result<(), Failure> {
    votes::take(link).await?;
    link.ask(dialect::stop_replication(link.flavor)).await?;
    forget_source(link, survey).await
}

async fn is_followed_by(writer: &Survey, source: &KnownServer, patience: Duration) -> bool {
    let Ok(mut link) = Link::to(source, patience).await else { return false };
    let asked = Survey::of(&mut link).await;
    asked.is_ok_and(|survey| survey.follows.iter().any(|channel| channel.leads_to(writer)))
}
