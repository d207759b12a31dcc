//! The answer of a statement whose time is over: seen out to its end, with an error in the place of what is left of it.
//!
//! Whoever looks at time ([`keep_time`](crate::keep_time)) has the server told by KILL QUERY, and rouses the session. What the server
//! says then is the truth: an error for a statement that was interrupted, which is told in ProxySQL's words; OK for one that was done
//! just then. The rows of a statement that only reads are cut off at the next packet, however slowly its client takes them; the
//! answer of one that may write goes on until its server ends it. Either way the connection is at the end of an answer, and once
//! the KILL is known to hit nothing more it is as good as before, with its transaction.
//!
//! A server that does not end the statement in [`PATIENCE`] is left: the connection is closed.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use nuthatch_net::{Framed, NetError};
use nuthatch_wire::{
    AnswerEnd, AnswerKind, Command, Ending, ErrPacket, ErrorCode, FrameHeader, HEADER_LEN, WireError,
    append_err,
};
use tokio::io::AsyncWrite;
use tokio::time::timeout;

use crate::backend::{Control, Lateness};
use crate::roster::{SessionEnd, SessionHandle};
use crate::session::way::relay::{Cause, Way, command_packet};
use crate::session::way::{Late, Passage, Trouble, WhenLate};

/// What the client is told.
pub(crate) const TIME_IS_OVER: &str = "Query execution was interrupted, query_timeout exceeded";

/// How long a server has for ending a statement, from when its time is over.
const PATIENCE: Duration = Duration::from_secs(3);

/// How long a client has for taking what it had begun to take.
const PATIENCE_WITH_CLIENT: Duration = Duration::from_secs(10);

/// Whether that is the error for a statement whose time was over.
pub(crate) fn is_of_time(refusal: Option<&ErrPacket>) -> bool {
    refusal.is_some_and(|refusal| {
        refusal.code == ErrorCode::QUERY_TIMEOUT.code && refusal.message == TIME_IS_OVER.as_bytes()
    })
}

/// Writes to the client until it has taken all, or the statement's time is over. Returns what it has not taken.
pub(super) async fn write_in_time(
    handle: &SessionHandle,
    control: &Control,
    client: &mut Framed,
    bytes: &[u8],
) -> Result<Vec<u8>, SessionEnd> {
    let mut rest = bytes;
    let writing = poll_fn(|cx| {
        while !rest.is_empty() {
            if control.is_late() {
                return Poll::Ready(Ok(()));
            }
            match poll_write(client, cx, rest) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                Poll::Ready(Ok(written)) => rest = rest.get(written..).unwrap_or_default(),
            }
        }
        Pin::new(client.stream()).poll_flush(cx).map_err(NetError::from)
    });
    handle.unless_ended(writing).await.map_err(SessionEnd::InAnswer)??;
    Ok(rest.to_vec())
}

fn poll_write(client: &mut Framed, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<Result<usize, NetError>> {
    match Pin::new(client.stream()).poll_write(cx, bytes) {
        Poll::Ready(Ok(0)) => Poll::Ready(Err(NetError::Closed)),
        polled => polled.map_err(NetError::from),
    }
}

/// The bytes of an ERR packet's payload besides its message: its mark, the number, `#` and the state.
const ERR_BYTES: usize = 1 + 2 + 1 + 5;

impl Way<'_> {
    /// Sees the answer out. `unsent` is what the client has not taken of what was passed on; the first bytes are shown to `rewrite`.
    pub(super) async fn see_out(
        &mut self,
        client: &mut Framed,
        mut passage: Passage,
        unsent: Vec<u8>,
        rewrite: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<AnswerEnd, Trouble> {
        let mut late = Late { unsent, next_sequence: passage.sequence_of_error(), is_undone: false };
        let worker = self.worker;
        let seeing = Box::pin(self.see_end(client, &mut passage, &mut late, rewrite));
        let error = match worker.with_tokio(timeout(PATIENCE, seeing)).await {
            Ok(Err(trouble @ (Trouble::End(_) | Trouble::Late(_)))) => return Err(trouble),
            Ok(Err(_)) | Err(_) => return Err(Trouble::Late(Box::new(late))),
            Ok(Ok(error)) => error,
        };
        self.outlive_kill_soon().await;
        let end = self.end_with(error, &passage, &mut late);
        self.worker.counters.frontend_bytes_sent.add(late.unsent.len() as u64);
        let writing = Box::pin(timeout(PATIENCE_WITH_CLIENT, client.write(&late.unsent)));
        match worker.with_tokio(self.handle.unless_ended(writing)).await.map_err(SessionEnd::InAnswer)? {
            Ok(written) => written.map_err(SessionEnd::from)?,
            Err(_elapsed) => return Err(SessionEnd::Gone.into()),
        }
        Ok(end)
    }

    /// Reads to the end of the answer. Returns the error that the client is still to get.
    async fn see_end(
        &mut self,
        client: &mut Framed,
        passage: &mut Passage,
        late: &mut Late,
        rewrite: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Option<ErrPacket>, Trouble> {
        match self.when_late {
            WhenLate::IsCutOff => self.cut_off(passage, late).await,
            WhenLate::GoesOn => self.go_on(client, passage, late, rewrite).await,
        }
    }

    /// How the answer ended for the client, which gets the error.
    fn end_with(&mut self, error: Option<ErrPacket>, passage: &Passage, late: &mut Late) -> AnswerEnd {
        let end = passage.ended();
        let Some(error) = error else {
            self.connection.refusal = passage.scanner().refusal().cloned().map(Box::new);
            return end;
        };
        let (code, mut sequence) = (error.code, late.next_sequence.unwrap_or_default());
        let number = ErrorCode { code, sql_state: error.sql_state };
        append_err(&mut late.unsent, &mut sequence, number, &error.message);
        self.connection.refusal = Some(Box::new(error));
        AnswerEnd { ending: Ending::Err(code), ..end }
    }

    /// Reads the answer to its end. The client is to get it up to where an error may stand; or all of it, if it is an OK.
    async fn cut_off(
        &mut self,
        passage: &mut Passage,
        late: &mut Late,
    ) -> Result<Option<ErrPacket>, Trouble> {
        while !passage.scanner().takes_error() {
            let len = self.rest_of_frame(passage).await?;
            let bytes = self.connection.framed.unread_mut().get_mut(..len).unwrap_or_default();
            let consumed = passage.scan(bytes).map_err(malformed)?.consumed;
            let told = passage.told(bytes.get_mut(..consumed).unwrap_or_default());
            late.unsent.extend_from_slice(told);
            late.next_sequence = passage.sequence_of_error();
            self.connection.framed.consume(consumed);
            if consumed == 0 {
                self.fill_late().await?;
            }
        }
        let is_untouched = !passage.scanner().has_begun();
        if is_untouched {
            late.next_sequence = Some(self.next_header().await?.sequence);
        }
        loop {
            let bytes = self.connection.framed.unread_mut();
            let progress = passage.scan(bytes).map_err(malformed)?;
            let is_done = is_untouched && progress.finished && passage.ended().ending == Ending::Ok;
            if is_done {
                late.unsent
                    .extend_from_slice(passage.told(bytes.get_mut(..progress.consumed).unwrap_or_default()));
            }
            self.connection.framed.consume(progress.consumed);
            if progress.finished {
                self.hear(passage);
                return Ok((!is_done).then(|| error_of(passage)));
            }
            self.fill_late().await?;
        }
    }

    /// Passes the answer on to its end, but for the error that it ends with if that is the KILL's.
    async fn go_on(
        &mut self,
        client: &mut Framed,
        passage: &mut Passage,
        late: &mut Late,
        rewrite: &mut (dyn FnMut(&mut [u8]) + Send),
    ) -> Result<Option<ErrPacket>, Trouble> {
        let mut bytes = std::mem::take(&mut late.unsent);
        let mut at_error = None;
        loop {
            // Until it is written there is no place for an error.
            late.next_sequence = None;
            self.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
            let written = self.handle.unless_ended(client.write(&bytes)).await;
            written.map_err(SessionEnd::InAnswer)?.map_err(SessionEnd::from)?;
            late.next_sequence = passage.sequence_of_error();
            if passage.scanner().is_finished() {
                late.next_sequence = at_error.or(late.next_sequence);
                return Ok(at_error.map(|_| time_is_over()));
            }
            if passage.scanner().wants_file() {
                let next = Box::pin(self.pass_file(client, passage)).await?;
                passage.file_was_sent(next);
            }
            let is_first = !passage.scanner().has_begun();
            let unread = self.connection.framed.unread_mut();
            let progress = passage.scan(unread).map_err(malformed)?;
            let told = passage.told(unread.get_mut(..progress.consumed).unwrap_or_default());
            if is_first && !told.is_empty() {
                rewrite(told);
            }
            bytes.clear();
            bytes.extend_from_slice(told);
            self.connection.framed.consume(progress.consumed);
            if progress.finished {
                self.hear(passage);
                at_error =
                    passage.scanner().refusal().and_then(|refusal| take_error_of_kill(&mut bytes, refusal));
            } else if progress.consumed == 0 {
                self.fill_late().await?;
            }
        }
    }

    /// Bytes that are there and belong to the frame at hand.
    async fn rest_of_frame(&mut self, passage: &Passage) -> Result<usize, Trouble> {
        let len = match passage.scanner().frame_left() {
            0 => HEADER_LEN + self.next_header().await?.payload_len,
            left => left,
        };
        Ok(len.min(self.connection.framed.unread().len()))
    }

    async fn next_header(&mut self) -> Result<FrameHeader, Trouble> {
        loop {
            match FrameHeader::parse(self.connection.framed.unread()) {
                Some(header) => return Ok(header),
                None => self.fill_late().await?,
            }
        }
    }

    /// Waits for more from the server, unless it could not be told.
    async fn fill_late(&mut self) -> Result<(), Trouble> {
        poll_fn(|cx| match self.connection.control.lateness() {
            Lateness::KillFailed => Poll::Ready(Err(unreachable_server())),
            _ => self.poll_receive(cx).map_err(Cause::before_any_answer),
        })
        .await
    }

    /// The same as [`Self::outlive_kill`], of a connection whose answer is over: if it comes to nothing, whoever is to use it next waits,
    /// or is told.
    async fn outlive_kill_soon(&mut self) {
        self.handle.lift_time_limit();
        let (worker, control) = (self.worker, Arc::clone(&self.connection.control));
        let outlived = worker.with_tokio(timeout(PATIENCE, Box::pin(self.outlive_kill()))).await;
        let is_asking = !control.is_late();
        if is_asking && !matches!(outlived, Ok(Ok(()))) {
            control.cut();
        }
    }

    /// Returns when the KILL hits nothing more.
    ///
    /// The server has heard it by then, so what it has not hit it hits now: a ping.
    pub(crate) async fn outlive_kill(&mut self) -> Result<(), Trouble> {
        let control = Arc::clone(&self.connection.control);
        let hearing = poll_fn(|_cx| match control.lateness() {
            Lateness::KillUnderWay => Poll::Pending,
            known => Poll::Ready(known),
        });
        if self.handle.unless_ended(hearing).await? == Lateness::KillFailed {
            return Err(unreachable_server());
        }
        control.outlive_kill();
        self.send(&command_packet(Command::Ping, b"")).await?;
        match self.read_answer(AnswerKind::Single).await? {
            Err(refusal) if refusal.code != ErrorCode::QUERY_INTERRUPTED.code => {
                Err(Trouble::Refused(refusal))
            }
            Ok(_) | Err(_) => Ok(()),
        }
    }
}

fn malformed(error: WireError) -> Trouble {
    Trouble::before_any_answer(error.into())
}

const fn unreachable_server() -> Trouble {
    Trouble::before_any_answer(NetError::Closed)
}

fn time_is_over() -> ErrPacket {
    let ErrorCode { code, sql_state } = ErrorCode::QUERY_TIMEOUT;
    ErrPacket { code, sql_state, message: TIME_IS_OVER.as_bytes().to_vec() }
}

/// The error for an answer that was cut off: the server's own, if it has another than that of the KILL.
fn error_of(passage: &Passage) -> ErrPacket {
    match passage.scanner().refusal() {
        Some(refusal) if refusal.code != ErrorCode::QUERY_INTERRUPTED.code => refusal.clone(),
        _ => time_is_over(),
    }
}

/// Takes the error out that `bytes` end with, if it is that of a KILL, and returns the number of its packet.
fn take_error_of_kill(bytes: &mut Vec<u8>, refusal: &ErrPacket) -> Option<u8> {
    let payload_len = ERR_BYTES + refusal.message.len();
    let start = bytes.len().checked_sub(HEADER_LEN + payload_len)?;
    let header = FrameHeader::parse(bytes.get(start..)?)?;
    let is_it = header.payload_len == payload_len && refusal.code == ErrorCode::QUERY_INTERRUPTED.code;
    is_it.then(|| {
        bytes.truncate(start);
        header.sequence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(code: u16) -> ErrPacket {
        ErrPacket { code, sql_state: *b"70100", message: b"interrupted".to_vec() }
    }

    #[test]
    fn error_of_a_kill_is_taken_out_from_behind_rows_and_another_one_left() {
        for (code, expected) in [(1317, Some(9)), (1062, None)] {
            let refusal = refusal(code);
            let mut bytes = b"\x02\0\0\x08\x011".to_vec();
            let (len, mut sequence) = (bytes.len(), 9);
            let number = ErrorCode { code, sql_state: refusal.sql_state };
            append_err(&mut bytes, &mut sequence, number, &refusal.message);
            let whole = bytes.len();
            assert_eq!(take_error_of_kill(&mut bytes, &refusal), expected, "{code}");
            assert_eq!(bytes.len(), if expected.is_some() { len } else { whole });
        }
    }

    #[test]
    fn own_error_is_known_again() {
        assert!(is_of_time(Some(&time_is_over())));
        assert!(
            !is_of_time(Some(&refusal(1907))) && !is_of_time(None),
            "servers give the number to another error"
        );
    }
}
