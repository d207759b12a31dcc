//! Reads the events of a server, one after the other: each is carried, and answered where the server waits for that.

use nuthatch_source::EventReader;
use nuthatch_source::follow::{Feed, FollowError};
use nuthatch_sql::ServerFlavor;
use tokio::time::{Duration, sleep, timeout};

use crate::following::carry::Carry;

/// A server that says nothing for so long, though it should say where it is, is not there any more.
const SILENCE: Duration = Duration::from_secs(5);

/// Goes on until something is wrong.
pub(super) async fn read(feed: &mut Feed, flavor: ServerFlavor, carry: &Carry) -> FollowError {
    let mut reader = EventReader::new(flavor);
    loop {
        if let Err(error) = read_one(feed, &mut reader, carry).await {
            return error;
        }
    }
}

async fn read_one(feed: &mut Feed, reader: &mut EventReader, carry: &Carry) -> Result<(), FollowError> {
    let silent = |_elapsed| FollowError::Lost("the server has sent nothing for too long".to_owned());
    let arrived = timeout(SILENCE, feed.next()).await.map_err(silent)??;
    let mut carried = Ok(());
    let read = reader.read(arrived.event, &mut |place, event| {
        if carried.is_ok() {
            carried = carry.carry(if place.is_artificial() { 0 } else { place.end }, &event);
        }
    });
    let wants_answer = arrived.wants_answer;
    read.map_err(|error| FollowError::Lost(format!("an event of its binlog is not understood: {error}")))?;
    carried.map_err(|why| FollowError::Lost(why.to_owned()))?;
    if wants_answer && let Some((file, offset)) = carry.answer() {
        if let Some(rest) = carry.rest() {
            sleep(rest).await;
        }
        feed.answer(&file, offset).await?;
    }
    carry.begin_changes();
    Ok(())
}
