//! On the seat: what of a client's bytes is answered at once, be it from the cache or by a server that is [inquired](inquire) of.

pub(crate) mod inquire;
pub(crate) mod refresh;

use std::mem::MaybeUninit;

use nuthatch_cache::Entry;
use nuthatch_net::Arrival;
use nuthatch_wire::{Command, FrameHeader, HEADER_LEN};

use crate::clock::Now;
use crate::session::fall::{Fall, PanicCounter, trip};
use crate::session::life::arrival::hit::{count_hit, look_up, write_entry_now};
use crate::session::life::attend::refresh::refresh_if_due;
use crate::session::life::seat::count_command;
use crate::session::parts::Unsent;
use crate::session::whole::Session;
use crate::shared::answers::HitPlan;

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Attended {
    /// The session stays on its seat: it is answered, a server is asked, or there was nothing to answer.
    Stays,
    /// It stays, and will look at the arrival when it is done with what it waits for.
    Later,
    /// The session must run for it; `reads_on` when the socket may have more.
    Rises { reads_on: bool },
}

/// What the cache has for what has come.
enum Found {
    /// An answer, which the client has as far as it took it.
    Hit,
    /// None for this command.
    Miss,
    /// It is not one command of a kind that it answers.
    Nothing,
}

/// Reads what has come from the client to that seat, and answers it if the cache does, or asks a server if that takes no waiting.
///
/// Cost: two system calls for a hit; see `look_up`.
pub(crate) fn attend(
    session: &mut Session,
    arrival: Arrival,
    now: Now,
    room: &mut [MaybeUninit<u8>],
) -> Attended {
    if session.unfinished.is_some() {
        return if arrival.is_last() { Attended::Rises { reads_on: true } } else { Attended::Later };
    }
    let room_bytes = room.len();
    // Under TLS it takes the task to know what has come.
    let Some(socket) = session.client.framed().plain_socket() else {
        return Attended::Rises { reads_on: true };
    };
    let bytes = match socket.read_now(room) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::WouldBlock && !arrival.is_last() => {
            return Attended::Stays;
        }
        // The task will meet it again.
        Err(_) => return Attended::Rises { reads_on: true },
    };
    let reads_on = arrival.is_last() || bytes.len() == room_bytes;
    let found = if reads_on { Found::Nothing } else { answer_at_once(session, bytes, now) };
    if let Found::Hit = found {
        return stays_unless(session.client.has_unsent());
    }
    session.client.framed_mut().feed(bytes);
    match found {
        Found::Miss => stays_unless(!inquire::ask(session, arrival.seat, now)),
        Found::Hit | Found::Nothing => Attended::Rises { reads_on },
    }
}

const fn stays_unless(rises: bool) -> Attended {
    if rises { Attended::Rises { reads_on: false } } else { Attended::Stays }
}

/// Answers `bytes` from the cache, as far as the client takes it.
fn answer_at_once(session: &mut Session, bytes: &[u8], now: Now) -> Found {
    let now_ms = now.ms;
    let limit_bytes = session.ground.snapshot.mysql.max_allowed_packet;
    let Some(payload) = whole_command(bytes) else { return Found::Nothing };
    // Whoever was told that it is killed sees nothing more of it.
    if bytes.len() as u64 > limit_bytes || session.ground.handle.ending().is_some() {
        return Found::Nothing;
    }
    trip(payload, Fall::OnSeat);
    let Some(entry) = look_up(session, payload, now_ms) else {
        session.client.note_looked_up();
        session.ground.latest_us = now.us;
        return Found::Miss;
    };
    session.client.shift_sequence(0);
    count_command(session, payload, now_ms);
    give_hit(session, entry, payload, now_ms);
    Found::Hit
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
    session.client.fall();
}

/// Answers with the entry's packets; what the client does not take now is kept as unsent.
fn give_hit(session: &mut Session, entry: Entry<HitPlan>, payload: &[u8], now_ms: u64) {
    let bytes = entry.packet_bytes();
    count_hit(session, &entry, bytes, now_ms);
    // An error will be met again by the task that sends the rest.
    let written = write_entry_now(session, &entry).unwrap_or(0);
    refresh_if_due(session, &entry, payload, now_ms);
    if written < bytes {
        session.client.keep_unsent(Unsent { entry, written });
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
