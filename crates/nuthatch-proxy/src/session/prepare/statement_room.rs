//! Room for prepared statements on a server whose `max_prepared_stmt_count` is reached.
//!
//! What the proxy keeps prepared on connections is kept to save time. So when a server refuses to prepare for want of room,
//! what nobody uses at the moment is closed, on the connection at hand and on those that are idle, and the statement is tried again.

use std::time::Duration;

use nuthatch_wire::{AnswerEnd, AnswerKind, Command, ErrorCode};

use crate::session::Session;
use crate::session::decide::query_cache::without_sql_cache;
use crate::session::parts::Held;
use crate::session::way::{Trouble, command_packet};

/// How often a statement is tried again: connections that were closed take a moment to end on the server.
const TRIES: usize = 4;

/// The pause before a further try.
const PAUSE: Duration = Duration::from_millis(25);

impl Session {
    /// Has the server prepare `text` by a command of the proxy's own, if need be after making room.
    pub(crate) async fn order_preparation(
        &self,
        command: Command,
        text: &[u8],
        kind: AnswerKind,
        held: &mut Held,
    ) -> Result<AnswerEnd, Trouble> {
        let sent = without_sql_cache(&self.context, text);
        let packet = command_packet(command, sent.as_deref().unwrap_or(text));
        let mut tries = TRIES;
        loop {
            let mut way = self.way(held);
            way.send(&packet).await?;
            match way.read_answer(kind).await? {
                Err(refusal) if refusal.code == ErrorCode::TOO_MANY_STATEMENTS.code && tries > 0 => {
                    self.make_room(TRIES - tries, held).await?;
                    tries -= 1;
                }
                answer => return answer.map_err(Trouble::Refused),
            }
        }
    }

    /// Sends the client's own command to prepare, or the same of the text that is to be sent `instead`, if need be after making room. Its answer has not been read.
    pub(crate) async fn send_preparation(
        &mut self,
        kind: AnswerKind,
        instead: Option<&[u8]>,
        held: &mut Held,
    ) -> Result<(), Trouble> {
        let text = instead.unwrap_or_else(|| self.client.statement_text());
        let sent = without_sql_cache(&self.context, text).or_else(|| instead.map(<[u8]>::to_vec));
        for earlier in 0..=TRIES {
            let (mut way, client) = self.way_and_client(held);
            way.send_packet_of_or(sent.as_deref(), client).await?;
            if earlier == TRIES || !way.is_refused_with(ErrorCode::TOO_MANY_STATEMENTS).await? {
                break;
            }
            way.read_answer(kind).await?.map_or_else(drop, drop);
            self.make_room(earlier, held).await?;
        }
        Ok(())
    }

    async fn make_room(&self, earlier: usize, held: &mut Held) -> Result<(), Trouble> {
        for number in held.connection.prepared.shrink_to(0) {
            self.close_on(number, held).await?;
        }
        self.take_names_back(held).await?;
        held.connection.server().close_idle();
        if earlier > 0 {
            self.ground.worker.with_tokio(tokio::time::sleep(PAUSE)).await;
        }
        Ok(())
    }
}
