//! The client's side of a session: its socket, and how it wants to be talked to.

use std::sync::Arc;

use nuthatch_cache::Entry;
use nuthatch_net::Framed;
use nuthatch_wire::{Attributes, CapabilityFlags, Nonce};

use crate::roster::SessionEnd;
use crate::session::parts::Ground;
use crate::session::way::reply;
use crate::shared::answers::HitPlan;

/// See the module's doc.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) framed: Framed,
    /// By how much answers are numbered higher than from 1: the command's frames but one.
    pub(crate) sequence_shift: u8,
    pub(crate) capabilities: CapabilityFlags,
    /// What the client's first password answer was computed with; COM_CHANGE_USER goes by it again.
    pub(crate) nonce: Nonce,
    /// The rest of an answer that the client has not taken yet.
    pub(crate) unsent: Option<Box<Unsent>>,
    /// Those of the statement at hand.
    pub(crate) attributes: Option<Box<Attributes>>,
    /// The command at hand was looked up on the seat, in vain; the ground tells when.
    pub(crate) has_looked_up: bool,
    /// The session panicked on its seat.
    pub(crate) has_fallen: bool,
}

/// An answer of which the client took only the first bytes.
#[derive(Debug)]
pub(crate) struct Unsent {
    pub(crate) entry: Entry<Arc<HitPlan>>,
    pub(crate) written: usize,
}

impl Client {
    /// The text of the statement at hand.
    pub(crate) fn statement_text(&self) -> &[u8] {
        self.framed.payload().get(1..).unwrap_or_default()
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
            return Ok(ground.handle.unless_ended(self.framed.write(&renumbered)).await??);
        }
        Ok(ground.handle.unless_ended(self.framed.write(bytes)).await??)
    }
}
