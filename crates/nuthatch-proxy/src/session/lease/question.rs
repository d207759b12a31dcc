//! What the proxy asks a server itself, over a connection that the session has.

use nuthatch_net::Framed;
use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerEnd, AnswerKind, Command, Ending, Form, Hidden};

use crate::exact::Flight;
use crate::session::parts::{Client, Context, Dealings, Ground, Held};
use crate::session::way::{Trouble, Way, WhenLate, command_packet};

/// Asks the connection for a number.
pub(crate) async fn ask(
    ground: &Ground,
    context: &Context,
    dealings: &mut Dealings,
    held: &mut Held,
    question: &str,
) -> Result<Option<u64>, Trouble> {
    forget_what_a_question_changes(context, dealings);
    way(ground, held).ask_number(question).await
}

/// The proxy asks something on the connection: counts are of the question then, and MySQL keeps no list over it.
pub(crate) fn forget_what_a_question_changes(context: &Context, dealings: &mut Dealings) {
    dealings.hands.forget_what_ran_last();
    dealings.results.forget_where_found();
    if let ServerFlavor::MySql(_) = context.lexing.server {
        dealings.diagnostics.forget_where_left();
    }
}

pub(crate) async fn order_and_hear(
    ground: &Ground,
    held: &mut Held,
    text: &[u8],
    flight: &mut Flight,
) -> Result<(), Trouble> {
    let mut way = way(ground, held);
    way.send(&command_packet(Command::Query, text)).await?;
    let answer = way.read_answer(AnswerKind::ResultSets).await?;
    flight.hear(&match &answer {
        Ok(end) => *end,
        Err(packet) => AnswerEnd { ending: Ending::Err(packet.code), ..AnswerEnd::default() },
    });
    answer.map(drop).map_err(Trouble::Refused)
}

/// Sends a command of the proxy's own and awaits its answer.
pub(crate) async fn order(
    ground: &Ground,
    held: &mut Held,
    command: Command,
    argument: &[u8],
    kind: AnswerKind,
) -> Result<(), Trouble> {
    let mut way = way(ground, held);
    way.send(&command_packet(command, argument)).await?;
    way.read_answer(kind).await?.map(drop).map_err(Trouble::Refused)
}

/// The same, with the client at its other end.
pub(crate) fn way_and_client<'a>(
    ground: &'a Ground,
    client: &'a mut Client,
    context: &'a Context,
    dealings: &'a Dealings,
    held: &'a mut Held,
) -> (Way<'a>, &'a mut Framed) {
    let form = Form::of(context.shape);
    let hidden = Hidden { state: !context.is_told_of_changes, gtids: !ground.snapshot.tells_gtids() };
    let status = dealings.status(context);
    let (handle, worker) = (&*ground.handle, &*ground.worker);
    let (framed, attributes) = client.framed_and_attributes();
    let connection = &mut held.connection;
    let (flight, when_late) = (None, WhenLate::GoesOn);
    (Way { handle, worker, connection, form, hidden, status, attributes, flight, when_late }, framed)
}

/// The way to a connection and back, for what the proxy asks itself.
pub(crate) fn way<'a>(ground: &'a Ground, held: &'a mut Held) -> Way<'a> {
    Way::own(&ground.handle, &ground.worker, &mut held.connection)
}
