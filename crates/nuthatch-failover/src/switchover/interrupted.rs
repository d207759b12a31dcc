//! A switchover that was not brought to an end, as its proxy ended in the middle or lost its servers: while the new primary does not take writes,
//! nobody does. It is taken back by whoever knows that it was begun.

use std::time::Duration;

use nuthatch_config::ServerName;

use crate::at_once;
use crate::dialect;
use crate::link::{Failure, Link};
use crate::order::{Begun, KnownServer};
use crate::survey::Survey;
use crate::votes::{Votes, majority};

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// There is nothing to be taken back: somebody takes the writes, or the servers are something else by now.
    Over,
    /// Nobody takes the writes, as far as could be asked, and the two stand to each other as it has left them.
    ToBeTakenBack,
    /// That is not known: a sentence.
    NotKnown(String),
}

/// Looks how it stands. Nothing is touched.
pub async fn look_at_interrupted(begun: &Begun, pair: &[KnownServer], patience: Duration) -> Interrupted {
    let known = |name: &ServerName| pair.iter().any(|(known, ..)| known == name);
    if !known(&begun.old) || !known(&begun.new) {
        return Interrupted::Over;
    }
    let asking = pair.iter().map(|server| async move { (&server.0, Survey::at(server, patience).await) });
    let asked = at_once::all(asking).await;
    if asked.iter().flat_map(|(_, asked)| asked).any(|(_, survey)| !survey.is_read_only) {
        return Interrupted::Over;
    }
    let of = |name: &ServerName| {
        let (_, asked) = asked.iter().find(|(known, _)| *known == name)?;
        Some(asked.as_ref().map(|(_, survey)| survey))
    };
    match (of(&begun.old), of(&begun.new)) {
        (Some(Ok(old)), Some(Ok(new))) if is_as_it_was_left(old, new) => Interrupted::ToBeTakenBack,
        (Some(Err(failure)), _) | (_, Some(Err(failure))) => {
            Interrupted::NotKnown(format!("{failure}; {}", by_hand(begun)))
        }
        _ => Interrupted::Over,
    }
}

fn is_as_it_was_left(old: &Survey, new: &Survey) -> bool {
    let both_are_read_only = old.is_read_only && new.is_read_only;
    let follows = matches!(&new.follows[..], [channel] if channel.leads_to(old));
    both_are_read_only && follows && old.follows.is_empty() && old.everything().holds(&new.has, old.server_id)
}

/// Has the old primary take writes again, with the votes of the majority of the `configured` servers, and looks once more behind them. Returns
/// what was done.
///
/// # Errors
/// A sentence: why not.
pub async fn take_back(
    begun: &Begun,
    pair: &[KnownServer],
    configured: usize,
    patience: Duration,
) -> Result<String, String> {
    let told = |failure: Failure| format!("{failure}; {}", by_hand(begun));
    let opening = pair.iter().map(|server| Link::to(server, patience));
    let mut links: Vec<_> = at_once::all(opening).await.into_iter().flatten().collect();
    let is_other = |name: &ServerName| *name != begun.old && *name != begun.new;
    let votes = Votes::take(links.iter_mut(), majority(configured), configured, is_other).await;
    let mut votes = votes.map_err(|why| format!("{why}; {}", by_hand(begun)))?;
    let place = |name: &ServerName| links.iter().position(|link| link.name == *name);
    let (Some(old), Some(new)) = (place(&begun.old), place(&begun.new)) else {
        return Err(by_hand(begun));
    };
    let mut surveys = Vec::new();
    for link in &mut links {
        surveys.push(Survey::of(link).await);
    }
    let is_anybody_writing = surveys.iter().flatten().any(|survey| !survey.is_read_only);
    let (old_now, new_now) = (surveys[old].clone().map_err(told)?, surveys[new].clone().map_err(told)?);
    if is_anybody_writing || !is_as_it_was_left(&old_now, &new_now) {
        return Err(by_hand(begun));
    }
    if new_now.follows.iter().any(|channel| !channel.runs()) {
        let new = &mut links[new];
        new.ask(dialect::start_replication(new.flavor)).await.map_err(told)?;
    }
    let mut old = links.swap_remove(old);
    votes.hold(&mut old, links.iter_mut()).await?;
    old.take_writes(true).await.map_err(told)?;
    let events = match begun.ran_events {
        true => old.ask("SET GLOBAL event_scheduler = ON").await.err(),
        false => None,
    };
    let events = events.map_or_else(String::new, |failure| format!("; its events do not run: {failure}"));
    Ok(format!(
        "a switchover from {} to {} was not brought to an end: {} takes the writes again{events}",
        begun.old, begun.new, begun.old
    ))
}

fn by_hand(begun: &Begun) -> String {
    format!(
        "a switchover from {0} to {1} was not brought to an end: if neither takes writes (SELECT @@global.read_only), lift \
         read_only on one of them, and only on one",
        begun.old, begun.new
    )
}
