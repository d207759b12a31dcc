//! What a failover left at who writes that nobody finished: it still knows the server that it has replaced as its source, and would receive
//! of it again when it is started anew: what was lost with that one came back, or the two followed each other.
//!
//! A failover has the heir receive nothing more before it takes writes, and forget its source behind that. A proxy that ends in between leaves
//! this; whoever looks finds it.

use std::time::Duration;

use nuthatch_config::ServerName;

use crate::dialect;
use crate::following::forget_source;
use crate::link::{Failure, Link};
use crate::order::KnownServer;
use crate::survey::{Channel, Survey};
use crate::votes;

/// What was found at who writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remnant {
    /// Nothing, or what is not to be touched: its source sends to it, or is from elsewhere.
    None,
    /// It still knows its source: a sentence.
    Found(String),
    /// It did, and follows nobody now: a sentence.
    Ended(String),
}

/// Looks at who takes the writes of a pair whose servers are `pair`, and ends what it finds if it `may_end` it.
pub async fn look_for_remnant(
    writer: &KnownServer,
    pair: &[ServerName],
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
    pair: &[ServerName],
    may_end: bool,
    patience: Duration,
) -> Result<Remnant, Failure> {
    let mut link = Link::to(writer, patience).await?;
    let survey = Survey::of(&mut link).await?;
    let [channel] = &survey.follows[..] else { return Ok(Remnant::None) };
    if survey.is_read_only || !is_left(channel, pair) {
        return Ok(Remnant::None);
    }
    let (name, source) = (&survey.name, &channel.source);
    if !may_end || !survey.has.holds(&channel.received, survey.server_id) {
        return Ok(Remnant::Found(format!(
            "{name} takes the writes, and would follow {source} again: it only receives nothing now"
        )));
    }
    votes::take(&mut link).await?;
    link.ask(dialect::stop_replication(link.flavor)).await?;
    forget_source(&mut link, &survey).await?;
    Ok(Remnant::Ended(format!("{name} takes the writes, and does not follow {source} any more")))
}

/// Whether a failover leaves a channel so: of a server of the pair nothing more is received, and what was is applied.
fn is_left(channel: &Channel, pair: &[ServerName]) -> bool {
    channel.fetches == "No" && channel.applies == "Yes" && pair.contains(&channel.source)
}
