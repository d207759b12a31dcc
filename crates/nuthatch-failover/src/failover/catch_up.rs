//! The heir applies all that it has received, while this proxy's votes are looked for again and again.

use std::time::Duration;

use tokio::time::Instant;

use super::demand::Demand;
use super::field::Field;
use crate::acknowledgements::{AT_FIRST, Acknowledgements};
use crate::gtid::Gtids;
use crate::survey::Survey;
use crate::votes::Votes;

/// How long the heir is waited for before votes are looked for again.
const SLICE: Duration = Duration::from_millis(500);

/// The heir has applied what it has received; returns what that is. It waits for acknowledgements as before.
pub(super) async fn catch_up(
    field: &mut Field,
    votes: &mut Votes,
    place: usize,
    demand: &Demand,
) -> Result<Gtids, String> {
    let mut acknowledgements = Acknowledgements::default();
    let applied = apply(field, votes, place, demand, &mut acknowledgements).await;
    match (applied, acknowledgements.restore(&mut field.asked[place].0).await) {
        (applied, Ok(())) => applied,
        (Ok(_), Err(failure)) => Err(failure.to_string()),
        (Err(why), Err(failure)) => Err(format!("{why}; {failure}")),
    }
}

async fn apply(
    field: &mut Field,
    votes: &mut Votes,
    place: usize,
    demand: &Demand,
    acknowledgements: &mut Acknowledgements,
) -> Result<Gtids, String> {
    let began = Instant::now();
    let mut slice = AT_FIRST;
    loop {
        let (link, survey) = &mut field.asked[place];
        let Some(channel) = survey.follows.first() else {
            return Err(format!("{} follows nobody any more", survey.name));
        };
        let has_applied = link.has_applied(&channel.received, slice).await;
        let has_applied = has_applied.map_err(|failure| failure.to_string())?;
        let now = Survey::of(link).await.map_err(|failure| failure.to_string())?;
        if let Some(channel) = now.follows.first().filter(|channel| channel.applies != "Yes") {
            return Err(format!("{} has stopped applying: {}", now.name, channel.error));
        }
        if has_applied {
            return Ok(channel.received.clone());
        }
        if began.elapsed() > demand.catch_up {
            let ms = demand.catch_up.as_millis();
            return Err(format!(
                "{} did not apply all that it has received within {ms} ms (mysql-failover_catch_up_ms): {} there, {} \
                 received",
                now.name, now.has, channel.received
            ));
        }
        acknowledgements.forgo(link).await.map_err(|failure| failure.to_string())?;
        slice = SLICE;
        hold(votes, field, place).await?;
    }
}

/// The votes are still this proxy's.
pub(super) async fn hold(votes: &mut Votes, field: &mut Field, heir: usize) -> Result<(), String> {
    let mut heirs = None;
    let mut others = Vec::new();
    for (place, (link, _)) in field.asked.iter_mut().enumerate() {
        match place == heir {
            true => heirs = Some(link),
            false => others.push(link),
        }
    }
    match heirs {
        Some(heir) => votes.hold(heir, others.into_iter()).await,
        None => Err("the heir is gone".to_owned()),
    }
}
