//! What the proxy itself says to a server over a connection that no session has: KILL, resets, pings.

use nuthatch_net::NetError;
use nuthatch_wire::{AnswerEnd, AnswerKind, AnswerScanner, Command, ErrPacket, HEADER_LEN, append_packet};

use crate::backend::Connection;
use crate::backend::connection::goodbye::Goodbye;

impl Connection {
    /// Sends a command and awaits its answer. An ERR packet is returned as such.
    ///
    /// # Errors
    /// When the connection fails; it must be closed then.
    pub(in crate::backend) async fn order(
        &mut self,
        command: Command,
        argument: &[u8],
        kind: AnswerKind,
    ) -> Result<Result<AnswerEnd, ErrPacket>, NetError> {
        let answers = self.order_all(&[(command, argument, kind)]).await?;
        Ok(answers.into_iter().next().expect("an answer to each command"))
    }

    /// Sends commands one behind the other, and awaits all answers. What is refused does not keep the next from running.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub(in crate::backend) async fn order_all(
        &mut self,
        commands: &[(Command, &[u8], AnswerKind)],
    ) -> Result<Vec<Result<AnswerEnd, ErrPacket>>, NetError> {
        let mut packets = Vec::new();
        for (command, argument, _) in commands {
            let mut packet = Vec::with_capacity(argument.len() + HEADER_LEN + 1);
            append_packet(&mut packet, &mut 0, &[&[*command as u8], *argument].concat());
            packets.extend_from_slice(&self.worded(&packet));
        }
        self.framed.write(&packets).await?;
        self.count_bytes(packets.len(), 0);
        let mut answers = Vec::with_capacity(commands.len());
        for (_, _, kind) in commands {
            answers.push(self.answer_to_order(*kind, |_| ()).await?);
        }
        Ok(answers)
    }

    /// Asks for rows, and gives the packets of the answer, if they have no more than `bytes_max` bytes.
    ///
    /// # Errors
    /// As [`Self::order`].
    pub(in crate::backend) async fn ask(
        &mut self,
        query: &[u8],
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, NetError> {
        let mut packet = Vec::new();
        append_packet(&mut packet, &mut 0, &[&[Command::Query as u8], query].concat());
        self.framed.write(&packet).await?;
        self.count_bytes(packet.len(), 0);
        let (mut packets, mut is_whole) = (Vec::new(), true);
        let answer = self.answer_to_order(AnswerKind::ResultSets, |piece| {
            is_whole &= packets.len() + piece.len() <= bytes_max;
            if is_whole {
                packets.extend_from_slice(piece);
            }
        });
        let is_answered = answer.await?.is_ok();
        Ok((is_answered && is_whole).then_some(packets))
    }

    /// The answer to a command that was sent; its packets go to `take` as they come.
    async fn answer_to_order(
        &mut self,
        kind: AnswerKind,
        mut take: impl FnMut(&[u8]),
    ) -> Result<Result<AnswerEnd, ErrPacket>, NetError> {
        let form = self.form();
        let mut scanner =
            AnswerScanner::new(kind, form.deprecate_eof).with_optional_metadata(form.optional_metadata);
        let mut refusal = None;
        loop {
            let unread = self.framed.unread();
            let is_first = !scanner.has_begun();
            let progress = scanner.scan(unread)?;
            if is_first && let Some(goodbye) = Goodbye::of(&scanner, unread, progress.consumed) {
                return Err(NetError::Goodbye(goodbye.refusal));
            }
            if let Some(packet @ [ErrPacket::MARKER, ..]) = unread.get(HEADER_LEN..progress.consumed) {
                refusal = ErrPacket::parse(packet).ok();
            }
            take(unread.get(..progress.consumed).unwrap_or_default());
            self.framed.consume(progress.consumed);
            if progress.finished {
                return Ok(refusal.map_or(Ok(*scanner.end()), Err));
            }
            let received = self.framed.fill().await?;
            self.count_bytes(0, received);
        }
    }
}
