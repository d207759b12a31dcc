//! An answer on its way from the server to the client.
//!
//! Bytes go on as they come: what one read brought, one write sends. Memory is bounded by one read, however large the
//! answer and however slowly the client reads, for nothing is read from the server before the client took the last.

use std::future::poll_fn;

use nuthatch_net::Framed;
use nuthatch_wire::{AnswerEnd, AnswerKind, CapabilityFlags, Progress};

use crate::backend::Goodbye;
use crate::roster::SessionEnd;
use crate::session::way::relay::{Cause, Way};
use crate::session::way::see_out::write_in_time;
use crate::session::way::{Capture, Forms, Passage, Trouble};
use crate::stats::not_cached::NotCached;

impl Way<'_> {
    /// Passes the answer on to the client, and a copy into `capture`.
    ///
    /// `rewrite` may change the first bytes in place before the client sees them.
    pub(crate) async fn pass_answer(
        &mut self,
        client: &mut Framed,
        kind: AnswerKind,
        mut capture: Option<&mut Capture>,
        mut rewrite: impl FnMut(&mut [u8]) + Send,
    ) -> Result<AnswerEnd, Trouble> {
        if !self.connection.ahead.is_empty() {
            self.hear_ahead().await?;
        }
        let mut passage = self.passage(kind);
        let unsent = loop {
            if self.connection.framed.unread().is_empty() {
                match poll_fn(|cx| self.poll_fill(cx)).await {
                    Err(Cause::Late) => break Vec::new(),
                    filled => filled.map_err(|cause| cause.after(&passage))?,
                }
            }
            let is_first = !passage.scanner().has_begun();
            let progress = self.scan(&mut passage, is_first)?;
            if progress.consumed > 0 {
                let consumed = self.connection.framed.unread_mut().get_mut(..progress.consumed);
                let bytes = passage.told(consumed.unwrap_or_default());
                if is_first {
                    rewrite(bytes);
                }
                let bytes = &*bytes;
                if let Some(capture) = &mut capture {
                    capture.take(bytes);
                }
                self.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
                let written = client.write_now(bytes).map_err(SessionEnd::from)?;
                let mut unsent = Vec::new();
                if let rest @ [_, ..] = &bytes[written..] {
                    if progress.finished {
                        self.handle.lift_time_limit();
                        let writing = Box::pin(client.write(rest));
                        let written = self.handle.unless_ended(writing).await;
                        written.map_err(SessionEnd::InAnswer)?.map_err(SessionEnd::from)?;
                    } else {
                        let control = &self.connection.control;
                        unsent = Box::pin(write_in_time(self.handle, control, client, rest)).await?;
                    }
                }
                self.connection.framed.consume(progress.consumed);
                if !unsent.is_empty() {
                    break unsent;
                }
            }
            if progress.finished {
                self.connection.refusal = passage.scanner().refusal().cloned().map(Box::new);
                return Ok(passage.ended());
            }
            if progress.wants_file {
                let next = Box::pin(self.pass_file(client, &passage)).await?;
                passage.file_was_sent(next);
            }
            if !self.connection.framed.unread().is_empty() {
                // Half a packet.
                match poll_fn(|cx| self.poll_fill(cx)).await {
                    Err(Cause::Late) => break Vec::new(),
                    filled => filled.map_err(|cause| cause.after(&passage))?,
                }
            }
        };
        if let Some(capture) = capture {
            capture.give_up(NotCached::Failed);
        }
        Box::pin(self.see_out(client, passage, unsent, &mut rewrite)).await
    }

    /// Looks at what has come, and hears the end of the answer.
    ///
    /// # Errors
    /// It is no answer, or a goodbye.
    fn scan(&mut self, passage: &mut Passage, is_first: bool) -> Result<Progress, Trouble> {
        let unread = self.connection.framed.unread();
        let progress = passage.scan(unread).map_err(|error| Cause::Lost(error.into()).after(passage))?;
        if is_first && let Some(goodbye) = Goodbye::of(passage.scanner(), unread, progress.consumed) {
            return Err(goodbye.into());
        }
        if progress.finished {
            self.hear(passage);
        }
        Ok(progress)
    }

    /// What becomes of the answer's writes is known.
    pub(super) fn hear(&mut self, passage: &Passage) {
        if let Some(flight) = &mut self.flight {
            flight.hear(passage.scanner().end());
        }
        self.note_committed(passage.scanner());
    }

    fn passage(&self, kind: AnswerKind) -> Passage {
        let may_ask = self.connection.shape.contains(CapabilityFlags::CLIENT_LOCAL_FILES);
        let scanner = self.scanner(kind).with_local_files(may_ask);
        let (from, to) = (self.connection.form(), self.form);
        Passage::new(scanner, kind, Forms { from, to, hidden: self.hidden, status: self.status })
    }

    /// Passes an answer on to the client, and a copy into `capture`, that came from the server in one read, which was not counted. Returns
    /// how it ended and how many of its bytes the client took at once; none when [`Self::pass_answer`] must do it, and nothing was done.
    pub(crate) fn pass_at_once(
        &mut self,
        client: &mut Framed,
        kind: AnswerKind,
        capture: Option<&mut Capture>,
        bytes: &[u8],
    ) -> Option<(AnswerEnd, usize)> {
        self.count_received(bytes.len());
        let mut passage = self.passage(kind);
        let progress = passage.scan(bytes).ok()?;
        let is_whole = progress.finished && progress.consumed == bytes.len();
        if !is_whole
            || !passage.is_as_it_is()
            || Goodbye::of(passage.scanner(), bytes, progress.consumed).is_some()
        {
            return None;
        }
        self.hear(&passage);
        if let Some(capture) = capture {
            capture.take(bytes);
        }
        self.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
        self.connection.refusal = passage.scanner().refusal().cloned().map(Box::new);
        // A client that is gone is met again by who writes the rest.
        Some((passage.ended(), client.write_now(bytes).unwrap_or(0)))
    }
}
