//! On the seat and off it: what of a client's bytes is answered at once, and when a session sits down.

use std::mem::MaybeUninit;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use nuthatch_cache::Entry;
use nuthatch_net::Arrival;
use nuthatch_wire::{Command, FrameHeader, HEADER_LEN};

use crate::clock::Now;
use crate::roster::SessionEnd;
use crate::session::fall::{Fall, PanicCounter, trip};
use crate::session::life::arrival::hit::{count_hit, look_up, send_entry, write_entry_now};
use crate::session::parts::{Client, Dealings, Ground, Hands, Held, Unsent};
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

/// A longer execution's room is given back when the session sits down.
const EXECUTION_BYTES_KEPT: usize = 1024;

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attended {
    /// It is answered, or there was nothing to answer.
    Answered,
    /// The session must run for it; `reads_on` when the socket may have more.
    Rises { reads_on: bool },
}

/// Reads what has come from the client, and answers it if the cache does.
///
/// Cost: two system calls for a hit; see `look_up`.
pub(crate) fn attend(
    session: &mut Session,
    arrival: Arrival,
    now: Now,
    room: &mut [MaybeUninit<u8>],
) -> Attended {
    let room_bytes = room.len();
    // Under TLS it takes the task to know what has come.
    let Some(socket) = session.client.framed.plain_socket() else {
        return Attended::Rises { reads_on: true };
    };
    match socket.read_now(room) {
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && !arrival.is_last() => {
            Attended::Answered
        }
        // The task will meet it again.
        Err(_) => Attended::Rises { reads_on: true },
        Ok(bytes) => {
            let reads_on = arrival.is_last() || bytes.len() == room_bytes;
            match !reads_on && answer_at_once(session, bytes, now) {
                true if session.client.unsent.is_none() => Attended::Answered,
                true => Attended::Rises { reads_on },
                false => {
                    session.client.framed.feed(bytes);
                    Attended::Rises { reads_on }
                }
            }
        }
    }
}

/// Answers `bytes` from the cache, as far as the client takes it; `false` when they are nothing for it.
fn answer_at_once(session: &mut Session, bytes: &[u8], now: Now) -> bool {
    let now_ms = now.ms;
    let limit_bytes = session.ground.snapshot.mysql.max_allowed_packet;
    let Some(payload) = whole_command(bytes) else { return false };
    // Whoever was told that it is killed sees nothing more of it.
    if bytes.len() as u64 > limit_bytes || session.ground.handle.ending().is_some() {
        return false;
    }
    trip(payload, Fall::OnSeat);
    let Some(entry) = look_up(session, payload, now_ms) else {
        session.client.has_looked_up = true;
        session.ground.latest_us = now.us;
        return false;
    };
    if payload.first() == Some(&(Command::StmtExecute as u8)) {
        session.ground.worker.counters.stmt_execute.bump();
    }
    session.ground.handle.last_active_ms.store(now_ms, Ordering::Relaxed);
    let counters = &session.ground.worker.counters;
    counters.questions.bump();
    counters.frontend_bytes_received.add(bytes.len() as u64);
    session.client.sequence_shift = 0;
    give_hit(session, entry, now_ms);
    true
}

/// Whether nothing is left to do for the client at present.
pub(crate) fn may_sit_down(ground: &Ground, client: &mut Client) -> bool {
    !client.framed.has_more()
        && !client.framed.stream().has_buffered()
        && client.framed.socket().is_some_and(|socket| !socket.may_read())
        && ground.handle.ending().is_none()
        && !client.has_fallen
}

/// Lets go of what it needs only while it runs, and says that it is on that seat; `false` when it must run on.
pub(crate) fn may_sit_at(session: &mut Session, seat: usize) -> bool {
    session.client.framed.drop_packet();
    if session.statements.execution.capacity() > EXECUTION_BYTES_KEPT {
        session.statements.execution = Vec::new();
    }
    session.client.attributes = None;
    if !session.dealings.hands.held.is_empty() {
        watch_held(&session.ground, &mut session.dealings.hands, true);
    }
    let socket = session.client.framed.socket();
    let is_quiet = socket.is_none_or(|socket| socket.watch_writing(false).is_ok());
    is_quiet && session.ground.handle.sits(&session.ground.worker, seat)
}

/// Has the end of a connection that the session holds rouse it from its seat, or no longer.
pub(crate) fn watch_held(ground: &Ground, hands: &mut Hands, watches: bool) {
    for held in &mut hands.held {
        if let Some(socket) = held.connection.framed.socket() {
            socket.readiness().mourn(watches.then(|| ground.handle.rouser()));
        }
    }
}

/// Whether a server has closed a connection with state of the session: a client of that server would be closed too. A
/// connection that only remembers what the last statement left is let go.
pub(crate) fn has_lost_what_it_holds(dealings: &mut Dealings) -> bool {
    let is_lost = |held: &Held| held.connection.framed.stream_ref().is_disturbed();
    let has_lost_state =
        dealings.hands.held.iter().any(|held| is_lost(held) && dealings.results.is_state_of(held));
    dealings.hands.held.retain(|held| !is_lost(held));
    has_lost_state
}

/// Sends what the client did not take while the session sat.
pub(crate) async fn send_rest(session: &mut Session) -> Result<(), SessionEnd> {
    if session.client.has_fallen {
        return Err(SessionEnd::Gone);
    }
    match session.client.unsent.take() {
        Some(unsent) => send_entry(session, &unsent.entry, unsent.written).await,
        None => Ok(()),
    }
}

/// The payload, if `bytes` are one command in one frame and nothing else, of a kind that the cache may answer.
fn whole_command(bytes: &[u8]) -> Option<&[u8]> {
    let header = FrameHeader::parse(bytes)?;
    let payload = bytes.get(HEADER_LEN..)?;
    let is_whole = header.sequence == 0 && header.payload_len == payload.len();
    let command = *payload.first()?;
    let has_answers = command == Command::Query as u8 || command == Command::StmtExecute as u8;
    (is_whole && has_answers).then_some(payload)
}

/// It panicked on its seat, and must not go on.
pub(crate) fn fall(session: &mut Session) {
    PanicCounter::new(&session.ground.shared, session.ground.worker.id).count();
    session.client.has_fallen = true;
}

/// Answers with the entry's packets; what the client does not take now is kept as unsent.
fn give_hit(session: &mut Session, entry: Entry<Arc<HitPlan>>, now_ms: u64) {
    count_hit(session, &entry, now_ms);
    // An error will be met again by the task that sends the rest.
    let written = write_entry_now(session, &entry).unwrap_or(0);
    if written < entry.packets().len() {
        session.client.unsent = Some(Box::new(Unsent { entry, written }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_whole_query_or_execution_is_taken_from_the_seat() {
        assert_eq!(whole_command(b"\x02\0\0\0\x03q"), Some(b"\x03q".as_slice()));
        assert_eq!(whole_command(b"\x02\0\0\0\x17q"), Some(b"\x17q".as_slice()));
        for other in [
            b"\x02\0\0\0\x03".as_slice(),
            b"\x02\0\0\0\x03qq",
            b"\x02\0\0\x01\x03q",
            b"\x02\0\0\0\x04q",
            b"\x02\0\0",
            b"\0\0\0\0",
            b"",
        ] {
            assert_eq!(whole_command(other), None, "{other:?}");
        }
    }
}
