//! The way to a server and back: statements to it, the client's file, answers that are not for the client.
//!
//! Every wait ends when the session is told to end, the client hangs up, the connection is cut, or the time of the statement is over.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use nuthatch_net::{Framed, NetError, Stream};
use nuthatch_wire::{
    AnswerEnd, AnswerKind, AnswerScanner, Attributes, CapabilityFlags, Command, ErrPacket, ErrorCode, Form,
    HEADER_LEN, Hidden, SmallResult, StatusFlags, append_packet, query_packet,
};

use crate::backend::{Connection, Control, Goodbye};
use crate::exact::Flight;
use crate::roster::{SessionEnd, SessionHandle};
use crate::session::way::{Answered, Late, Passage, Trouble, WhenLate};
use crate::worker::Worker;

/// The largest packet of a local file that is taken; clients cut a file into packets of some kilobytes.
const FILE_PACKET_BYTES_MAX: usize = 64 << 20;

/// The largest packet that is copied behind what goes ahead of it.
const JOINED_BYTES_MAX: usize = 64 << 10;

/// Both ends of the way, and who counts.
pub(crate) struct Way<'a> {
    pub(crate) handle: &'a SessionHandle,
    pub(crate) worker: &'a Worker,
    pub(crate) connection: &'a mut Connection,
    /// How the client wants its answers.
    pub(crate) form: Form,
    /// What it did not ask to be told.
    pub(crate) hidden: Hidden,
    /// What packets say that have to be made up for it.
    pub(crate) status: StatusFlags,
    /// Those of the client's statement.
    pub(crate) attributes: Option<&'a Attributes>,
    /// Who hears how the answer ended before the client does.
    pub(crate) flight: Option<&'a mut Flight>,
    /// What becomes of the answer when its statement's time is over.
    pub(crate) when_late: WhenLate,
}

impl<'a> Way<'a> {
    /// For what the proxy asks itself: nothing goes on to a client.
    pub(crate) fn own(handle: &'a SessionHandle, worker: &'a Worker, connection: &'a mut Connection) -> Self {
        let (form, status) = (Form::of(CapabilityFlags::empty()), StatusFlags::empty());
        let when_late = WhenLate::GoesOn;
        Way {
            handle,
            worker,
            connection,
            form,
            hidden: Hidden { state: true, gtids: true },
            status,
            attributes: None,
            flight: None,
            when_late,
        }
    }

    /// The same, where the end of the answer is heard before the client gets it.
    pub(crate) fn hearing(self, flight: &'a mut Flight) -> Self {
        Self { flight: Some(flight), ..self }
    }

    /// The same for an answer of which that becomes when its statement's time is over.
    pub(crate) fn when_late(self, when_late: WhenLate) -> Self {
        Self { when_late, ..self }
    }

    /// Sends the client's packet to the server as it came, with the statement's attributes if it has any.
    pub(crate) async fn send_packet_of(&mut self, client: &Framed) -> Result<(), Trouble> {
        if self.connection.takes_attributes()
            && let [first, text @ ..] = client.payload()
            && *first == Command::Query as u8
        {
            return self.send_as_it_is(&query_packet(text, self.attributes)).await;
        }
        if let Some(frame) = client.frame() {
            return self.send_as_it_is(frame).await;
        }
        if let Some(unsent) = self.connection.ahead.take_unsent() {
            self.write_ahead(&unsent).await?;
        }
        let bytes = client.payload().len() + 4;
        let Connection { framed, control, .. } = &mut *self.connection;
        let sent = on_connection(self.handle, control, framed.forward_packet(client)).await;
        sent.map_err(Cause::before_any_answer)?;
        self.count_sent(bytes);
        Ok(())
    }

    /// The same with another text of the same command, if there is one.
    pub(crate) async fn send_packet_of_or(
        &mut self,
        text: Option<&[u8]>,
        client: &Framed,
    ) -> Result<(), Trouble> {
        let command = client.payload().first().copied().and_then(Command::parse);
        match text.zip(command) {
            Some((text, Command::Query)) if self.connection.takes_attributes() => {
                self.send_as_it_is(&query_packet(text, self.attributes)).await
            }
            Some((text, command)) => self.send(&command_packet(command, text)).await,
            None => self.send_packet_of(client).await,
        }
    }

    /// Sends a packet, behind what goes ahead of it. A statement is one of the proxy's own, which has no attributes.
    pub(crate) async fn send(&mut self, packet: &[u8]) -> Result<(), Trouble> {
        if self.connection.takes_attributes() {
            let worded = self.connection.worded(packet);
            return self.send_as_it_is(&worded).await;
        }
        self.send_as_it_is(packet).await
    }

    async fn send_as_it_is(&mut self, packet: &[u8]) -> Result<(), Trouble> {
        match self.connection.ahead.take_unsent() {
            None => self.write(packet).await,
            Some(mut bytes) if packet.len() <= JOINED_BYTES_MAX => {
                bytes.extend_from_slice(packet);
                self.write(&bytes).await
            }
            Some(unsent) => {
                self.write_ahead(&unsent).await?;
                self.write(packet).await
            }
        }
    }

    /// Sends bytes; most go out at once.
    ///
    /// # Errors
    /// [`Answered::Unasked`] if none of them was given to the socket.
    pub(crate) async fn write(&mut self, packet: &[u8]) -> Result<(), Trouble> {
        let written = self.write_at_once(packet)?;
        if let rest @ [_, ..] = &packet[written..] {
            let Connection { framed, control, .. } = &mut *self.connection;
            if written == 0 && control.is_cut() {
                return Err(Cause::Cut.with(Answered::Unasked));
            }
            let sending = Box::pin(framed.write(rest));
            on_connection(self.handle, control, sending).await.map_err(Cause::before_any_answer)?;
            self.count_sent(rest.len());
        }
        Ok(())
    }

    /// Sends what goes before a statement: should that fail, the statement was not sent.
    async fn write_ahead(&mut self, orders: &[u8]) -> Result<(), Trouble> {
        let written = self.write(orders).await;
        written.map_err(|trouble| match trouble {
            Trouble::Lost(error, _) => Trouble::Lost(error, Answered::Unasked),
            Trouble::Cut(_) => Trouble::Cut(Answered::Unasked),
            trouble => trouble,
        })
    }

    /// Sends as much of the bytes as goes out at once, and returns how much that was.
    ///
    /// # Errors
    /// [`Answered::Unasked`]: none of them was given to the socket.
    pub(crate) fn write_at_once(&mut self, packet: &[u8]) -> Result<usize, Trouble> {
        let Connection { framed, control, .. } = &mut *self.connection;
        let written = match control.is_cut() {
            true => 0,
            false => framed.write_now(packet).map_err(|error| Cause::Lost(error).with(Answered::Unasked))?,
        };
        self.count_sent(written);
        Ok(written)
    }

    fn count_sent(&self, bytes: usize) {
        self.worker.counters.backend_bytes_sent.add(bytes as u64);
        self.connection.count_bytes(bytes, 0);
    }

    pub(super) fn count_received(&self, bytes: usize) {
        self.worker.counters.backend_bytes_received.add(bytes as u64);
        self.connection.count_bytes(0, bytes);
    }

    /// Waits for more bytes from the server: what [`on_connection`] does, in one step, since every statement takes it twice.
    pub(super) fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Cause>> {
        if self.connection.control.is_late() {
            return Poll::Ready(Err(Cause::Late));
        }
        self.poll_receive(cx)
    }

    /// The same, however long it takes.
    pub(super) fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Cause>> {
        if let Some(reason) = self.handle.ending() {
            return Poll::Ready(Err(Cause::Ended(reason.into())));
        }
        let Connection { framed, control, .. } = &mut *self.connection;
        if control.is_cut() {
            return Poll::Ready(Err(Cause::Cut));
        }
        match framed.poll_fill(cx) {
            Poll::Pending if self.handle.has_lost_client(cx) => {
                Poll::Ready(Err(Cause::Ended(SessionEnd::Gone)))
            }
            Poll::Pending => Poll::Pending,
            Poll::Ready(Err(error)) => Poll::Ready(Err(Cause::Lost(error))),
            Poll::Ready(Ok(bytes)) => {
                self.count_received(bytes);
                Poll::Ready(Ok(()))
            }
        }
    }

    /// Walks over an answer of that kind from the connection.
    pub(super) fn scanner(&self, kind: AnswerKind) -> AnswerScanner {
        let form = self.connection.form();
        AnswerScanner::new(kind, form.deprecate_eof)
            .with_optional_metadata(form.optional_metadata)
            .with_session_track(form.session_track)
    }

    /// Passes the client's file on to the server, packet by packet, up to the empty one that ends it. Returns the number of
    /// the server's next packet.
    ///
    /// Once the statement's time is over the server is hung up on, which takes back what it has read of a file that breaks off: shortened, the
    /// file could be loaded. The client says all of its file before it hears of that, or of a server that is gone.
    pub(super) async fn pass_file(&mut self, client: &mut Framed, passage: &Passage) -> Result<u8, Trouble> {
        let mut sequence = passage.scanner().next_sequence().unwrap_or_default();
        let shift = passage.next_sequence().unwrap_or_default().wrapping_sub(sequence);
        let mut lost = None;
        loop {
            let reading = client.read_packet(sequence.wrapping_add(shift), FILE_PACKET_BYTES_MAX);
            let last = self.unless_late_hang_up(pin!(reading)).await?.wrapping_sub(shift);
            let is_last = client.payload().is_empty();
            let bytes = client.payload().len() + HEADER_LEN;
            if lost.is_none() {
                let Connection { framed, control, .. } = &mut *self.connection;
                let forwarding = framed.forward_packet_from(client, sequence);
                match on_connection(self.handle, control, forwarding).await {
                    Ok(()) => self.count_sent(bytes),
                    Err(Cause::Ended(end)) => return Err(end.into()),
                    Err(cause) => lost = Some(cause),
                }
            }
            sequence = last.wrapping_add(1);
            if is_last {
                return match lost {
                    None => Ok(sequence),
                    Some(cause) => Err(cause.of_file(sequence.wrapping_add(shift))),
                };
            }
        }
    }

    /// What `reading` from the client comes to; the server is hung up on if the statement's time is over before.
    async fn unless_late_hang_up<T>(
        &mut self,
        mut reading: Pin<&mut impl Future<Output = Result<T, NetError>>>,
    ) -> Result<T, SessionEnd> {
        let (handle, connection) = (self.handle, &mut *self.connection);
        let reading = poll_fn(|cx| {
            if connection.control.is_late() {
                *connection.framed.stream() = Stream::Closed;
            }
            reading.as_mut().poll(cx)
        });
        Ok(handle.unless_ended(reading).await??)
    }

    /// Whether the answer that comes is that error; it has not been read.
    pub(crate) async fn is_refused_with(&mut self, error: ErrorCode) -> Result<bool, Trouble> {
        self.hear_ahead().await?;
        loop {
            match self.connection.framed.unread() {
                [_, _, _, _, ErrPacket::MARKER, low, high, ..] => {
                    return Ok(u16::from_le_bytes([*low, *high]) == error.code);
                }
                [_, _, _, _, first, ..] if *first != ErrPacket::MARKER => return Ok(false),
                _ => {}
            }
            poll_fn(|cx| self.poll_fill(cx)).await.map_err(Cause::before_any_answer)?;
        }
    }

    /// Asks the server for one number: the only value of the only row. `None` when the answer is anything else.
    pub(crate) async fn ask_number(&mut self, query: &str) -> Result<Option<u64>, Trouble> {
        let value = self.ask_value(query).await?;
        Ok(value.and_then(|value| std::str::from_utf8(&value).ok()?.parse().ok()))
    }

    /// Reads an answer that is not for the client, if it has no more than `bytes_max` bytes.
    pub(crate) async fn read_up_to(
        &mut self,
        kind: AnswerKind,
        bytes_max: usize,
    ) -> Result<Option<Vec<u8>>, Trouble> {
        Ok(self.read_whole(kind, bytes_max).await?.0)
    }

    /// The same, with how it ended.
    pub(crate) async fn read_whole(
        &mut self,
        kind: AnswerKind,
        bytes_max: usize,
    ) -> Result<(Option<Vec<u8>>, AnswerEnd), Trouble> {
        self.hear_ahead().await?;
        let (mut answer, mut is_whole) = (Vec::new(), true);
        let end = self
            .read_pieces(kind, |piece| {
                is_whole &= answer.len() + piece.len() <= bytes_max;
                if is_whole {
                    answer.extend_from_slice(piece);
                }
            })
            .await?;
        Ok((is_whole.then_some(answer), end))
    }

    /// Asks the server for one value: the only one of the only row, as text. `None` when the answer is anything else.
    pub(crate) async fn ask_value(&mut self, query: &str) -> Result<Option<Vec<u8>>, Trouble> {
        self.ask_bytes(query.as_bytes()).await
    }

    /// The same of a question in the character set of the session.
    pub(crate) async fn ask_bytes(&mut self, query: &[u8]) -> Result<Option<Vec<u8>>, Trouble> {
        self.send(&command_packet(Command::Query, query)).await?;
        self.hear_ahead().await?;
        let mut answer = Vec::new();
        self.read_pieces(AnswerKind::ResultSets, |piece| answer.extend_from_slice(piece)).await?;
        let result = SmallResult::parse(&answer, self.connection.form());
        Ok(result.and_then(|result| Some(result.only_value()?.to_vec())))
    }

    /// Reads an answer that is not for the client. An ERR packet is returned as such.
    pub(crate) async fn read_answer(
        &mut self,
        kind: AnswerKind,
    ) -> Result<Result<AnswerEnd, ErrPacket>, Trouble> {
        self.hear_ahead().await?;
        self.read_one(kind).await
    }

    /// Reads the answers to what went ahead.
    pub(crate) async fn hear_ahead(&mut self) -> Result<(), Trouble> {
        match self.connection.ahead.is_empty() {
            true => Ok(()),
            false => Box::pin(self.hear_all_ahead()).await,
        }
    }

    async fn hear_all_ahead(&mut self) -> Result<(), Trouble> {
        if let Some(unsent) = self.connection.ahead.take_unsent() {
            self.write(&unsent).await?;
        }
        while self.connection.ahead.take_answer() {
            self.read_one(AnswerKind::Single).await?.map_err(Trouble::RefusedAhead)?;
        }
        Ok(())
    }

    async fn read_one(&mut self, kind: AnswerKind) -> Result<Result<AnswerEnd, ErrPacket>, Trouble> {
        let mut refusal = None;
        let end = self
            .read_pieces(kind, |piece| {
                refusal = piece
                    .get(HEADER_LEN..)
                    .filter(|payload| payload.first() == Some(&ErrPacket::MARKER))
                    .and_then(|payload| ErrPacket::parse(payload).ok());
            })
            .await?;
        Ok(refusal.map_or(Ok(end), Err))
    }

    /// The same as [`Self::read_answer`] of any ending, whose bytes are shown to `take` as they come.
    pub(crate) async fn read_showing(
        &mut self,
        kind: AnswerKind,
        take: impl FnMut(&[u8]),
    ) -> Result<AnswerEnd, Trouble> {
        self.hear_ahead().await?;
        self.read_pieces(kind, take).await
    }

    /// Reads an answer to its end and shows its bytes, as they come, to `take`.
    async fn read_pieces(
        &mut self,
        kind: AnswerKind,
        mut take: impl FnMut(&[u8]),
    ) -> Result<AnswerEnd, Trouble> {
        let mut scanner = self.scanner(kind);
        loop {
            let unread = self.connection.framed.unread();
            let is_first = !scanner.has_begun();
            let progress =
                scanner.scan(unread).map_err(|error| Cause::Lost(error.into()).before_any_answer())?;
            if is_first && let Some(goodbye) = Goodbye::of(&scanner, unread, progress.consumed) {
                return Err(goodbye.into());
            }
            take(unread.get(..progress.consumed).unwrap_or_default());
            self.connection.framed.consume(progress.consumed);
            if progress.finished {
                self.note_committed(&scanner);
                return Ok(*scanner.end());
            }
            poll_fn(|cx| self.poll_fill(cx)).await.map_err(Cause::before_any_answer)?;
        }
    }

    /// The server has acknowledged what its answer tells of.
    pub(super) fn note_committed(&self, scanner: &AnswerScanner) {
        if let Some(gtids) = scanner.gtids() {
            self.connection.server().known.acknowledged.note(gtids);
        }
    }
}

/// A command of the proxy's own as a whole packet.
pub(crate) fn command_packet(command: Command, argument: &[u8]) -> Vec<u8> {
    let mut packet = Vec::with_capacity(argument.len() + HEADER_LEN + 1);
    append_packet(&mut packet, &mut 0, &[&[command as u8], argument].concat());
    packet
}

/// Why the server's side of the way is no more.
pub(super) enum Cause {
    Ended(SessionEnd),
    Cut,
    /// The statement's time is over.
    Late,
    Lost(NetError),
}

impl Cause {
    pub(super) fn before_any_answer(self) -> Trouble {
        self.with(Answered::Nothing)
    }

    pub(super) fn after(self, passage: &Passage) -> Trouble {
        self.with(match passage.scanner().has_begun() {
            false => Answered::Nothing,
            true => Answered::Some(passage.sequence_of_error()),
        })
    }

    /// Of a file that did not get through. Its client has said all of it, and awaits a packet of that number.
    fn of_file(self, next_sequence: u8) -> Trouble {
        let next_sequence = Some(next_sequence);
        match self {
            Self::Late => {
                Trouble::Late(Box::new(Late { unsent: Vec::new(), next_sequence, is_undone: true }))
            }
            cause => cause.with(Answered::Some(next_sequence)),
        }
    }

    fn with(self, answered: Answered) -> Trouble {
        match self {
            Self::Ended(end) if matches!(answered, Answered::Some(_)) => Trouble::End(end.in_answer()),
            Self::Ended(end) => Trouble::End(end),
            Self::Cut => Trouble::Cut(answered),
            Self::Late => Trouble::Late(Box::new(Late::after(answered))),
            Self::Lost(error) => Trouble::Lost(error, answered),
        }
    }
}

/// Does `work` on a connection, unless the session is told to end; if the connection is cut meanwhile, that is as if it were closed.
pub(crate) async fn unless_cut<T>(
    handle: &SessionHandle,
    control: &Control,
    work: impl Future<Output = Result<T, NetError>>,
) -> Result<Result<T, NetError>, SessionEnd> {
    let done = handle.unless_ended(until_cut(control, pin!(work))).await?;
    Ok(done.unwrap_or(Err(NetError::Closed)))
}

/// Does `work` on the connection, unless the session is told to end, its client hangs up, the connection is cut or the statement's time
/// is over meanwhile.
async fn on_connection<T>(
    handle: &SessionHandle,
    control: &Control,
    work: impl Future<Output = Result<T, NetError>>,
) -> Result<T, Cause> {
    let work = pin!(work);
    let mut work = pin!(until_cut(control, work));
    let in_time = poll_fn(|cx| match control.is_late() {
        true => Poll::Ready(Err(Cause::Late)),
        false => work.as_mut().poll(cx).map(|done| done.ok_or(Cause::Cut)),
    });
    match handle.while_client_waits(in_time).await {
        Err(end) => Err(Cause::Ended(end)),
        Ok(done) => done?.map_err(Cause::Lost),
    }
}

/// What `work` comes to; none once the connection is cut, or the statement's time is over. Whoever says so rouses who waits.
fn until_cut<T>(
    control: &Control,
    mut work: Pin<&mut impl Future<Output = T>>,
) -> impl Future<Output = Option<T>> {
    poll_fn(move |cx| match control.is_cut() || control.is_late() {
        true => Poll::Ready(None),
        false => work.as_mut().poll(cx).map(Some),
    })
}
