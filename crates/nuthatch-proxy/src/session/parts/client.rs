//! The client's side of a session: its socket, and how it wants to be talked to.

use nuthatch_cache::Entry;
use nuthatch_net::{Framed, Stream};
use nuthatch_wire::{Attributes, CapabilityFlags, Nonce};

use crate::roster::SessionEnd;
use crate::session::parts::Ground;
use crate::session::way::reply;
use crate::shared::answers::HitPlan;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Client {
    framed: Framed,
    sequence_shift: u8,
    capabilities: CapabilityFlags,
    nonce: Nonce,
    unsent: Option<Box<Unsent>>,
    attributes: Option<Box<Attributes>>,
    has_looked_up: bool,
    has_fallen: bool,
}

/// An answer of which the client took only the first bytes.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) entry: Entry<HitPlan>,
    pub(crate) written: usize,
}

impl Client {
    /// Of one that has logged in, with a password answer that was computed with `nonce`: COM_CHANGE_USER goes by it again.
    pub(crate) const fn new(framed: Framed, capabilities: CapabilityFlags, nonce: Nonce) -> Self {
        Self {
            framed,
            sequence_shift: 0,
            capabilities,
            nonce,
            unsent: None,
            attributes: None,
            has_looked_up: false,
            has_fallen: false,
        }
    }

    /// Nobody, who talks as this one does.
    pub(crate) const fn nobody(&self) -> Self {
        Self::new(Framed::new(Stream::Nowhere), self.capabilities, self.nonce)
    }

    pub(crate) const fn framed(&self) -> &Framed {
        &self.framed
    }

    pub(crate) const fn framed_mut(&mut self) -> &mut Framed {
        &mut self.framed
    }

    /// Both at once.
    pub(crate) const fn framed_and_nonce(&mut self) -> (&mut Framed, &Nonce) {
        (&mut self.framed, &self.nonce)
    }

    /// Both at once.
    pub(crate) fn framed_and_attributes(&mut self) -> (&mut Framed, Option<&Attributes>) {
        (&mut self.framed, self.attributes.as_deref())
    }

    pub(crate) const fn capabilities(&self) -> CapabilityFlags {
        self.capabilities
    }

    /// The command at hand.
    #[inline]
    pub(crate) fn payload(&self) -> &[u8] {
        self.framed.payload()
    }

    /// The text of the statement at hand.
    pub(crate) fn statement_text(&self) -> &[u8] {
        self.payload().get(1..).unwrap_or_default()
    }

    /// Those of the statement at hand.
    pub(crate) fn attributes(&self) -> Option<&Attributes> {
        self.attributes.as_deref()
    }

    pub(crate) fn set_attributes(&mut self, attributes: Option<Attributes>) {
        self.attributes = attributes.map(Box::new);
    }

    /// By how much answers are numbered higher than from 1: the command's frames but one.
    pub(crate) const fn sequence_shift(&self) -> u8 {
        self.sequence_shift
    }

    pub(crate) const fn shift_sequence(&mut self, by: u8) {
        self.sequence_shift = by;
    }

    /// The rest of an answer that the client has not taken yet.
    pub(crate) const fn has_unsent(&self) -> bool {
        self.unsent.is_some()
    }

    pub(crate) fn keep_unsent(&mut self, unsent: Unsent) {
        self.unsent = Some(Box::new(unsent));
    }

    pub(crate) const fn take_unsent(&mut self) -> Option<Box<Unsent>> {
        self.unsent.take()
    }

    /// The command at hand was looked up on the seat, in vain; the ground tells when.
    pub(crate) const fn has_looked_up(&self) -> bool {
        self.has_looked_up
    }

    pub(crate) const fn note_looked_up(&mut self) {
        self.has_looked_up = true;
    }

    pub(crate) const fn forget_looked_up(&mut self) {
        self.has_looked_up = false;
    }

    /// Whether it was; asked once.
    pub(crate) fn takes_looked_up(&mut self) -> bool {
        std::mem::take(&mut self.has_looked_up)
    }

    /// The session panicked on its seat.
    pub(crate) const fn has_fallen(&self) -> bool {
        self.has_fallen
    }

    pub(crate) const fn fall(&mut self) {
        self.has_fallen = true;
    }

    /// Whether the client's statements come with attributes.
    pub(crate) const fn has_attributes(&self) -> bool {
        self.capabilities.contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES)
    }
}

impl Client {
    /// Sends bytes of the proxy's own making to the client.
    pub(crate) async fn send(&mut self, ground: &Ground, bytes: &[u8]) -> Result<(), SessionEnd> {
        ground.worker.counters.frontend_bytes_sent.add(bytes.len() as u64);
        if self.sequence_shift > 0 {
            let renumbered = reply::renumbered(bytes, self.sequence_shift);
            return Ok(ground
                .handle
                .unless_ended(self.framed.write(&renumbered))
                .await
                .map_err(SessionEnd::InAnswer)??);
        }
        Ok(ground.handle.unless_ended(self.framed.write(bytes)).await.map_err(SessionEnd::InAnswer)??)
    }
}
