//! Cursors: rows that a server keeps for a prepared statement until the client fetches them.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{AnswerKind, ErrorCode, StatusFlags};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::parts::{Held, packet_with_id};
use crate::session::prepare::prepared::statement_at_hand;
use crate::session::way::{Trouble, reply};
use crate::stats::pins::Pins;

impl Session {
    /// COM_STMT_RESET and COM_STMT_FETCH: for the connection where the statement's cursor is open.
    pub(crate) async fn stmt_pass(&mut self, kind: AnswerKind) -> Result<(), SessionEnd> {
        let Some((id, _)) = statement_at_hand(&self.client, &self.statements) else {
            return self.reply_unknown_statement().await;
        };
        let is_reset = kind == AnswerKind::Single;
        if is_reset {
            self.statements.drop_long_data(id);
        }
        let cursor = self.statements.prepared_statement(id).and_then(|statement| statement.cursor);
        let taken = self.hands.take_cursor(cursor);
        let outcome = match taken {
            Some((mut held, number)) => {
                let outcome = self.pass_on(number, kind, &mut held).await;
                if let (false, Some(statement)) =
                    (held.pins.contains(Pins::CURSOR), self.statements.prepared_statement_mut(id))
                {
                    statement.cursor = None;
                }
                self.put_away(held, outcome.as_ref().err());
                outcome.map(|()| true)
            }
            None => Ok(false),
        };
        match outcome {
            Ok(true) => Ok(()),
            Ok(false) if is_reset => {
                self.results.row_count = 0;
                self.client.send(&self.ground, &reply::ok(self.status())).await
            }
            Ok(false) => {
                let end = if matches!(self.context.lexing.server, ServerFlavor::MySql(_)) { "." } else { "" };
                let message = format!("The statement ({id}) has no open cursor{end}");
                self.refuse_command(ErrorCode::NO_OPEN_CURSOR, &message).await
            }
            Err(trouble) => self.reply_trouble(trouble).await,
        }
    }

    async fn pass_on(&mut self, backend_id: u32, kind: AnswerKind, held: &mut Held) -> Result<(), Trouble> {
        let packet = packet_with_id(self.client.framed.payload(), backend_id);
        let (mut way, client) = self.way_and_client(held);
        way.send(&packet).await?;
        let end = way.pass_answer(client, kind, None, |_| ()).await?;
        let is_over =
            end.status.contains(StatusFlags::SERVER_STATUS_LAST_ROW_SENT) || kind == AnswerKind::Single;
        if is_over {
            held.pins = held.pins.without(Pins::CURSOR);
        }
        Ok(())
    }
}
