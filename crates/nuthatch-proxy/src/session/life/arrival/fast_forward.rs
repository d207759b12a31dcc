//! `mysql_users.fast_forward`: the session's bytes pass as they are, over a connection of its own, until one side ends.
//!
//! No rule is looked at, nothing comes from the cache, nothing is counted as a statement, and the connection goes into no pool. It is
//! opened with the first command, as the client agreed with the proxy, so that nothing has to be translated. Memory: what one read
//! brought.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use nuthatch_net::NetError;
use nuthatch_wire::{Command, FrameHeader, HEADER_LEN};

use crate::backend::{CheckOutError, Start, Wanted};
use crate::roster::SessionEnd;
use crate::session::before::flight::start_unseen_flight;
use crate::session::lease::bring_into::bring_into;
use crate::session::lease::check_out::wanted;
use crate::session::lease::put_away::{abandon, show_reasons};
use crate::session::life::replies::reply_trouble;
use crate::session::parts::{Client, Ground, Held};
use crate::session::way::{Answered, Trouble};
use crate::session::whole::Session;
use crate::stats::pins::Pins;

/// COM_QUIT as a whole packet.
const QUIT: [u8; HEADER_LEN + 1] = [1, 0, 0, 0, Command::Quit as u8];

/// Who brought bytes.
enum Came {
    FromServer(Result<usize, NetError>),
    FromClient(Result<usize, NetError>),
}

/// What the client sent last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastSaid {
    /// Something that the server has begun to answer, or nothing yet.
    Answered,
    /// Something else.
    Unanswered,
    Quit,
}

/// What was passed so far.
#[derive(Debug)]
struct Passed {
    last_said: LastSaid,
    to_client: Packets,
}

/// How far bytes have come that are whole packets in the end.
#[derive(Debug, Default)]
struct Packets {
    header: [u8; HEADER_LEN],
    /// Bytes of it that are there.
    begun: usize,
    /// Bytes that are still to come of the packet's content.
    left: usize,
    /// Bytes are being passed, nobody knows how many of them.
    is_passing: bool,
}

impl Packets {
    fn pass(&mut self, mut bytes: &[u8]) {
        while let Some((first, rest)) = bytes.split_first() {
            if self.left > 0 {
                let taken = self.left.min(bytes.len());
                self.left -= taken;
                bytes = &bytes[taken..];
                continue;
            }
            self.header[self.begun] = *first;
            self.begun += 1;
            if self.begun == HEADER_LEN {
                self.left = FrameHeader::parse(&self.header).map_or(0, |header| header.payload_len);
                self.begun = 0;
            }
            bytes = rest;
        }
    }

    /// Whether the next byte would begin a packet.
    const fn is_between(&self) -> bool {
        self.begun == 0 && self.left == 0 && !self.is_passing
    }
}

/// Passes bytes until one side ends.
pub(crate) async fn fast_forward(session: &mut Session) -> SessionEnd {
    if session.client.framed().unread().is_empty() {
        match session.ground.handle.unless_ended(session.client.framed_mut().fill()).await {
            Ok(Ok(_)) => {}
            Ok(Err(error)) => return error.into(),
            Err(reason) => return reason.into(),
        }
    }
    let opened = open_own(session).await;
    let mut held = match opened {
        Ok(held) => held,
        Err(trouble) => {
            return reply_trouble(session, trouble).await.err().unwrap_or(SessionEnd::Gone);
        }
    };
    held.pin(Pins::FAST_FORWARD);
    show_reasons(&session.ground, &mut held);
    show_fast_forward(&session.ground, &held);
    // What it writes is not looked at: as long as it may write, nothing is answered by the exact cache.
    session.ground.shared.exact.delayed.note_unseen();
    let Session { ground, account, context, dealings, .. } = session;
    let _until_its_thread_is_gone =
        start_unseen_flight(ground, account, context, &dealings.transaction, &held, false);
    let mut passed = Passed { last_said: LastSaid::Answered, to_client: Packets::default() };
    let trouble = pass_bytes(&session.ground, &mut session.client, &mut held, &mut passed).await;
    // In the middle of a packet, what is said would be taken for its content.
    let may_be_told = passed.to_client.is_between();
    match (trouble, passed.last_said) {
        (_, LastSaid::Quit) => SessionEnd::Quit,
        (Trouble::End(end), last_said) => {
            if last_said == LastSaid::Unanswered || !may_be_told {
                abandon(&session.ground, &session.account, held.connection);
            }
            if may_be_told { end } else { end.in_answer() }
        }
        (_, _) if !may_be_told => SessionEnd::Gone,
        (trouble, _) => reply_trouble(session, trouble).await.err().unwrap_or(SessionEnd::Gone),
    }
}

/// A connection that was nobody's before.
async fn open_own(session: &mut Session) -> Result<Held, Trouble> {
    let hostgroup = session.account.user().default_hostgroup;
    let wanted = Wanted {
        need: None,
        is_own: true,
        ..wanted(&session.ground, &session.account, &session.context, &session.dealings.hands)
    };
    let variables = &session.ground.snapshot.mysql;
    let opening = session.ground.shared.hostgroups.check_out(
        hostgroup,
        &wanted,
        variables,
        &session.ground.shared.clock,
        Start::New { bytes: session.client.payload().len() },
    );
    let connection = session.ground.handle.while_client_waits(Box::pin(opening)).await??;
    if connection.shape != session.context.shape {
        let why = "the server does not speak the protocol in the form that the client wants (fast_forward)";
        return Err(CheckOutError::Login(why.to_owned()).into());
    }
    let mut held = Held::lent(&session.ground, hostgroup, connection);
    if held.connection.state.schema != session.context.state.schema {
        // Its name could not go with the login.
        bring_into(
            &session.ground,
            &session.account,
            &session.context,
            &session.dealings,
            &session.context.state,
            &mut held,
        )
        .await?;
    }
    Ok(held)
}

/// What the client has of an answer is not looked at: it is told nothing, but hung up on.
fn lost(error: NetError) -> Trouble {
    Trouble::Lost(error, Answered::Some(None))
}

/// Returns why it is over.
async fn pass_bytes(
    ground: &Ground,
    client: &mut Client,
    held: &mut Held,
    Passed { last_said, to_client }: &mut Passed,
) -> Trouble {
    let (Ground { handle, worker, .. }, client) = (ground, client.framed_mut());
    let connection = &mut *held.connection;
    let (control, counters) = (std::sync::Arc::clone(&connection.control), &worker.counters);
    loop {
        let passing = async {
            let said = client.unread();
            if !said.is_empty() {
                *last_said = if said.ends_with(&QUIT) { LastSaid::Quit } else { LastSaid::Unanswered };
                let sent = said.len();
                connection.framed.write(said).await.map_err(lost)?;
                client.consume(sent);
                counters.frontend_bytes_received.add(sent as u64);
                counters.backend_bytes_sent.add(sent as u64);
                connection.count_bytes(sent, 0);
            }
            let answer = connection.framed.unread();
            if !answer.is_empty() {
                *last_said = LastSaid::Answered;
                let received = answer.len();
                to_client.is_passing = true;
                client.write(answer).await.map_err(SessionEnd::from)?;
                to_client.is_passing = false;
                to_client.pass(answer);
                connection.framed.consume(received);
                counters.frontend_bytes_sent.add(received as u64);
                counters.backend_bytes_received.add(received as u64);
                connection.count_bytes(0, received);
            }
            let came = tokio::select! {
                biased;
                came = connection.framed.fill() => Came::FromServer(came),
                came = client.fill() => Came::FromClient(came),
            };
            match came {
                Came::FromServer(Err(error)) => Err(lost(error)),
                Came::FromClient(Err(error)) => Err(SessionEnd::from(error).into()),
                Came::FromServer(Ok(_)) | Came::FromClient(Ok(_)) => Ok(()),
            }
        };
        let mut passing = pin!(passing);
        let unless_cut = poll_fn(|cx| match control.is_cut() {
            true => Poll::Ready(Err(Trouble::Cut(Answered::Nothing))),
            false => passing.as_mut().poll(cx),
        });
        match handle.unless_ended(unless_cut).await {
            Ok(Ok(())) => {}
            Ok(Err(trouble)) => return trouble,
            Err(reason) => return reason.into(),
        }
    }
}

fn show_fast_forward(ground: &Ground, held: &Held) {
    ground.handle.busy.store(1, std::sync::atomic::Ordering::Release);
    let mut view = ground.handle.view.lock();
    view.command = "Fast Forward";
    view.since_ms = ground.latest_us / 1000;
    view.hostgroup = Some(held.hostgroup.0);
    view.passes_to = Some(std::sync::Arc::clone(held.connection.server()));
    view.pins = held.pins().to_string();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_end_where_their_headers_say() {
        let bytes = [&[3, 0, 0, 1][..], b"abc", &[0, 0, 0, 2], &[1, 0, 0, 3], b"d"].concat();
        let ends = [0, 7, 11, 16];
        for at in 0..=bytes.len() {
            for step in [1, 2, 5, 99] {
                let mut packets = Packets::default();
                bytes[..at].chunks(step).for_each(|chunk| packets.pass(chunk));
                assert_eq!(packets.is_between(), ends.contains(&at), "{at} by {step}");
            }
        }
    }
}
