//! A switchover that was not brought to an end, as its proxy ended in the middle or lost its servers: while the new primary does not take writes,
//! nobody does. It is taken back by whoever knows that it was begun.

use std::time::Duration;

use nuthatch_config::ServerName;

use crate::at_once;
use crate::dialect;
use crate::link::{Failure, Link};
use crate::order::{Begun, KnownServer};
use crate::survey::Survey;
use crate::votes;

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interrupted {
    /// The old primary takes the writes again: a sentence.
    TakenBack(String),
    /// There is nothing to be taken back: somebody takes the writes, or the servers are something else by now.
    Over,
    /// That is not known, or it could not be done: a sentence.
    NotYet(String),
}

/// Takes it back, if no server of the pair takes writes, and the two stand to each other as it has left them.
pub async fn take_back(begun: &Begun, pair: &[KnownServer], patience: Duration) -> Interrupted {
    let known = |name: &ServerName| pair.iter().any(|(known, ..)| known == name);
    if !known(&begun.old) || !known(&begun.new) {
        return Interrupted::Over;
    }
    let asking = pair.iter().map(|server| async move { (&server.0, Survey::at(server, patience).await) });
    let (mut old, mut new) = (None, None);
    for (name, asked) in at_once::all(asking).await {
        match asked {
            Ok((_, survey)) if !survey.is_read_only => return Interrupted::Over,
            Ok(one) if *name == begun.old => old = Some(one),
            Ok(one) if *name == begun.new => new = Some(one),
            Ok(_) => {}
            Err(failure) if *name == begun.old || *name == begun.new => {
                return Interrupted::NotYet(format!("{failure}; {}", by_hand(begun)));
            }
            Err(_) => {}
        }
    }
    let (Some(mut old), Some(mut new)) = (old, new) else { return Interrupted::Over };
    let is_as_it_was = old.1.follows.is_empty()
        && matches!(&new.1.follows[..], [channel] if channel.leads_to(&old.1))
        && old.1.everything().holds(&new.1.has, old.1.server_id);
    if !is_as_it_was {
        return Interrupted::Over;
    }
    match lift_again(begun, &mut old.0, &mut new).await {
        Ok(()) => Interrupted::TakenBack(format!(
            "a switchover from {} to {} was not brought to an end: {} takes the writes again",
            begun.old, begun.new, begun.old
        )),
        Err(failure) => Interrupted::NotYet(format!("{failure}; {}", by_hand(begun))),
    }
}

async fn lift_again(begun: &Begun, old: &mut Link, new: &mut (Link, Survey)) -> Result<(), Failure> {
    votes::take(old, votes::AT_MOST).await?;
    let (new, survey) = new;
    votes::take(new, votes::AT_MOST).await?;
    if survey.follows.iter().any(|channel| !channel.runs()) {
        new.ask(dialect::start_replication(new.flavor)).await?;
    }
    for sql in dialect::take_writes(old.flavor, true) {
        old.ask(sql).await?;
    }
    if begun.ran_events {
        old.ask("SET GLOBAL event_scheduler = ON").await?;
    }
    Ok(())
}

fn by_hand(begun: &Begun) -> String {
    format!(
        "a switchover from {0} to {1} was not brought to an end: if neither takes writes (SELECT @@global.read_only), lift \
         read_only on one of them, and only on one",
        begun.old, begun.new
    )
}
