//! What a failover left at who writes that nobody finished: it still knows the server that it has replaced as its source, and would receive
//! of it again when it is started anew: what was lost with that one came back, or the two followed each other.
//!
//! A failover has the heir receive nothing more before it takes writes, and forget its source behind that. A proxy that ends in between leaves
//! this; whoever looks finds it.

use std::time::Duration;

use super::care::{Care, Leftover};
use crate::dialect;
use crate::following::forget_source;
use crate::link::{Failure, Link};
use crate::order::KnownServer;
use crate::survey::{Channel, Survey};
use crate::votes;

/// Looks at who takes the writes of a pair whose servers are `pair`.
pub(super) async fn look(
    writer: &KnownServer,
    pair: &[KnownServer],
    care: Care<'_>,
    patience: Duration,
) -> Result<Leftover, Failure> {
    let (mut link, survey) = Survey::at(writer, patience).await?;
    let [channel] = &survey.follows[..] else { return Ok(Leftover::None) };
    let source = pair.iter().find(|(name, ..)| *name == channel.source);
    let (false, "No", Some(source)) = (survey.is_read_only, channel.fetches.as_str(), source) else {
        return Ok(Leftover::None);
    };
    // Two that follow each other, as somebody wants them to.
    if is_followed_by(&survey, source, patience).await {
        return Ok(Leftover::None);
    }
    let (name, source) = (&survey.name, &channel.source);
    let found =
        format!("{name} takes the writes, and would follow {source} again: it only receives nothing now");
    if matches!(care, Care::Look) || channel.applies != "Yes" || !has_applied(&survey, channel) {
        return Ok(Leftover::Found(found));
    }
    match end(&mut link, &survey).await {
        Ok(()) => {
            Ok(Leftover::Mended(format!("{name} takes the writes, and does not follow {source} any more")))
        }
        Err(failure) => Ok(Leftover::Left(format!("{found}, and that cannot be ended: {failure}"))),
    }
}

/// Whether all is applied that was received. MariaDB's position tells only of the last of each domain, its binlog of all.
fn has_applied(survey: &Survey, channel: &Channel) -> bool {
    let mut applied = survey.has.clone();
    applied.add(&survey.history);
    applied.holds(&channel.received, survey.server_id)
}

async fn end(link: &mut Link, survey: &Survey) -> Result<(), Failure> {
    votes::take(link, votes::AT_MOST).await?;
    link.ask(dialect::stop_replication(link.flavor)).await?;
    forget_source(link, survey).await
}

async fn is_followed_by(writer: &Survey, source: &KnownServer, patience: Duration) -> bool {
    let asked = Survey::at(source, patience).await;
    asked.is_ok_and(|(_, survey)| survey.follows.iter().any(|channel| channel.leads_to(writer)))
}
