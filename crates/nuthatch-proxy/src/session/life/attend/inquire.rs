//! On the seat: a plain statement that is no hit is asked of a server, and its answer passed on.
//!
//! Nearly all statements take two steps without waiting: they are sent over a connection that is free, and their answer comes in one
//! read. The session takes both on its seat, and the lobby tells it of the server as it tells it of the client; so a miss costs no task
//! either. Whatever else happens makes the session rise, and its task goes on from where the statement is
//! ([`Unfinished`]): a connection to be made or brought into the session's state, half an answer or one in another form, a client that
//! does not take it or hangs up, an order to end, a server that is gone.

use std::mem::MaybeUninit;
use std::task::{Context, Poll};

use nuthatch_wire::Command;

use crate::clock::Now;
use crate::session::after::doubts::has_delays;
use crate::session::after::forget::must_ask_before_forgetting;
use crate::session::inquiry::{Answered, Inquiry, Stage, Unfinished, capture_of};
use crate::session::lease::causal::is_ready;
use crate::session::lease::question::way_and_client;
use crate::session::life::answer::{begin, conclude, heard, lease, take_turn};
use crate::session::life::arrival::attributes::take_attributes;
use crate::session::life::execution::{plain_execution, plan_plain_execution};
use crate::session::life::seat::{count_command, may_stay, rest, watch_held};
use crate::session::life::statement::{plain_statement, plan_text};
use crate::session::parts::Held;
use crate::session::statement::{Asked, Plan};
use crate::session::way::{Departure, Trouble};
use crate::session::whole::Session;

/// Asks a server for the command at hand, which is no hit. Returns whether the session stays on that seat; else its task goes on.
pub(crate) fn ask(session: &mut Session, seat: usize, now: Now) -> bool {
    if !may_ask(session) || !take_command(session, now) {
        return false;
    }
    let is_execution = session.client.payload().first() == Some(&(Command::StmtExecute as u8));
    if session.client.has_attributes() {
        let command = if is_execution { Command::StmtExecute } else { Command::Query };
        if take_attributes(&mut session.client, &session.statements, Some(command)).is_err() {
            session.unfinished = Some(Unfinished::Malformed);
            return false;
        }
    }
    let plan = if is_execution { plan_plain_execution(session) } else { plan_text(session) };
    let unfinished = match plan {
        None => Unfinished::Taken,
        Some(plan) if must_rise_for(session, &plan) => Unfinished::Planned(Box::new(plan)),
        Some(plan) => match as_asked(session, plan, is_execution, now.ms) {
            None => Unfinished::Taken,
            Some(asked) => match begin(session, asked, now.ms) {
                Ok(mut inquiry) => {
                    let stepped = lease(session, &mut inquiry);
                    return waits(session, seat, inquiry, stepped);
                }
                Err(entry) => Unfinished::Found(entry),
            },
        },
    };
    session.unfinished = Some(unfinished);
    false
}

/// Whether a statement takes more than to send it and to pass its answer on.
fn must_rise_for(session: &Session, plan: &Plan) -> bool {
    !plan.goes_to_a_server()
        || plan.delay_ms(&session.ground.snapshot.mysql) > 0
        || must_ask_before_forgetting(&session.dealings)
        || !is_ready(&session.ground, &session.account, &session.dealings, plan)
}

/// The session on that seat was called: its turn in line has come, or it is wanted for something else. Returns whether it stays.
pub(crate) fn take_turn_at(session: &mut Session, seat: usize) -> bool {
    let is_wanted_otherwise = session.ground.handle.ending().is_some()
        || has_delays(&session.ground)
        || !session.dealings.hands.held.is_empty();
    let rouser = session.ground.handle.rouser();
    let turn = match &session.unfinished {
        Some(Unfinished::Asked(inquiry)) if !is_wanted_otherwise => match &inquiry.stage {
            Stage::InLine(in_line) => in_line.poll_turn(&Context::from_waker(&rouser)),
            _ => Poll::Pending,
        },
        _ => Poll::Pending,
    };
    let Poll::Ready(turn) = turn else { return false };
    let Some(Unfinished::Asked(mut inquiry)) = session.unfinished.take() else { return false };
    let Stage::InLine(in_line) = std::mem::take(&mut inquiry.stage) else { return false };
    let stepped = take_turn(session, &mut inquiry, in_line, turn);
    waits(session, seat, inquiry, stepped)
}

/// Something has come for the session on that seat from the server that it asked. Returns whether it stays.
pub(crate) fn hear(session: &mut Session, now: Now, room: &mut [MaybeUninit<u8>]) -> bool {
    let mut inquiry = match session.unfinished.take() {
        Some(Unfinished::Asked(inquiry)) if matches!(inquiry.stage, Stage::Sent(..)) => inquiry,
        unfinished => {
            // It waits for something else by now.
            session.unfinished = unfinished;
            return true;
        }
    };
    session.ground.latest_us = now.us;
    pass_answer(session, &mut inquiry, room);
    let Stage::Done(end) = inquiry.stage else {
        session.unfinished = Some(Unfinished::Asked(inquiry));
        return false;
    };
    conclude(session, inquiry, &end);
    rest(session, true);
    may_stay(session)
}

/// Whether a session with a command that is no hit may ask for it from its seat, as far as it knows.
fn may_ask(session: &Session) -> bool {
    let ground = &session.ground;
    !session.account.user().fast_forward
        && !has_delays(ground)
        && ground.shared.configuration.epoch() == ground.snapshot.epoch.0
}

/// Takes the command from what the client has sent; `false` if it cannot be had so.
fn take_command(session: &mut Session, now: Now) -> bool {
    let Session { ground, client, dealings, .. } = &mut *session;
    let limit_bytes = usize::try_from(ground.snapshot.mysql.max_allowed_packet).unwrap_or(usize::MAX);
    if !client.framed_mut().take_packet_at_hand(limit_bytes) {
        return false;
    }
    client.forget_looked_up();
    client.shift_sequence(0);
    if !dealings.hands.held.is_empty() {
        watch_held(ground, &mut dealings.hands, false);
    }
    count_command(session, session.client.payload(), now.ms);
    true
}

fn as_asked(session: &mut Session, plan: Plan, is_execution: bool, now_ms: u64) -> Option<Asked> {
    match is_execution {
        true => plain_execution(session, now_ms, plan),
        false => Some(plain_statement(session, now_ms, plan)),
    }
}

/// Whether the session waits on that seat, from now on, for its turn or the answer, after a step of the inquiry came to that; else its
/// task goes on.
fn waits(
    session: &mut Session,
    seat: usize,
    mut inquiry: Box<Inquiry>,
    stepped: Result<(), Trouble>,
) -> bool {
    if let Err(trouble) = stepped {
        inquiry.stage = Stage::Failed(trouble);
    }
    let stays = match &inquiry.stage {
        Stage::InLine(_) => true,
        Stage::Sent(held, departure) => awaits_answer(held, departure, seat),
        _ => false,
    };
    session.unfinished = Some(Unfinished::Asked(inquiry));
    stays
}

/// Whether the answer can be awaited on that seat, and is from now on.
fn awaits_answer(held: &Held, departure: &Departure, seat: usize) -> bool {
    let socket = held.connection.framed.plain_socket();
    departure.rest.is_none() && socket.is_some_and(|socket| socket.readiness().await_on_seat(seat))
}

/// Passes the answer on that has come, if it is whole; what is not is left to the task.
fn pass_answer(session: &mut Session, inquiry: &mut Inquiry, room: &mut [MaybeUninit<u8>]) {
    let Inquiry { stage: Stage::Sent(held, departure), filling, .. } = &mut *inquiry else { return };
    let control = &held.connection.control;
    if session.ground.handle.ending().is_some() || control.is_cut() || control.is_late() {
        return;
    }
    let room_bytes = room.len();
    let Some(socket) = held.connection.framed.plain_socket() else { return };
    // The task will meet the end and errors again.
    let Ok(bytes @ [_, ..]) = socket.read_now(room) else { return };
    let is_all = bytes.len() < room_bytes;
    if is_all {
        socket.readiness().drained();
    }
    let Session { ground, client, context, dealings, .. } = &mut *session;
    let (way, framed) = way_and_client(ground, client, context, dealings, held);
    let Departure { flight, kind, .. } = departure;
    let capture = capture_of(filling);
    let Some((end, taken)) = way.hearing(flight).pass_at_once(framed, *kind, capture, bytes) else {
        held.connection.framed.feed(bytes);
        return;
    };
    let rest: Box<[u8]> = bytes.get(taken..).unwrap_or_default().into();
    let Stage::Sent(held, departure) = std::mem::take(&mut inquiry.stage) else { return };
    match rest.is_empty() {
        true => heard(session, inquiry, held, departure, Ok(end)),
        false => {
            session.ground.handle.lift_time_limit();
            inquiry.stage = Stage::Answered(Box::new(Answered { held, departure, end, rest }));
        }
    }
}
