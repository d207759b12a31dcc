//! Attributes of statements, of clients with `CLIENT_QUERY_ATTRIBUTES`.
//!
//! They are taken off a command before anybody looks at it, and put back on its way to a server that has the capability; one
//! without it has nothing that could read them. So rules, digests and the cache's keys are those of the statement alone. A session
//! whose client has the capability uses connections that have it, if its servers do.

use nuthatch_sql::ServerFlavor;
use nuthatch_wire::{Attributes, Command, ErrorCode, WireError};

use crate::roster::SessionEnd;
use crate::session::Session;
use crate::session::parts::{Client, Statements};

/// A longer execution's room is given back.
const PLAIN_BYTES_KEPT: usize = 1024;

impl Session {
    /// Takes the attributes off the command at hand, which is then as other clients send it.
    ///
    /// # Errors
    /// When no client sends such a thing.
    pub(crate) fn take_attributes(&mut self, command: Option<Command>) -> Result<(), WireError> {
        self.client.attributes = None;
        match command {
            Some(Command::Query) => {
                let (attributes, place) =
                    Attributes::parse_query(self.client.framed.payload().get(1..).unwrap_or_default())?;
                self.client.framed.drop_behind_first(place);
                self.client.attributes = attributes.map(Box::new);
            }
            Some(Command::StmtExecute) => self.take_attributes_of_execution()?,
            _ => {}
        }
        Ok(())
    }

    fn take_attributes_of_execution(&mut self) -> Result<(), WireError> {
        let (client, prepared) = (&mut self.client.framed, &self.statements.prepared);
        let statement = prepared.as_ref().and_then(|prepared| prepared.named(client.payload()));
        // An unknown number is an error anyhow.
        let Some(statement) = statement else { return Ok(()) };
        let mut plain = Vec::with_capacity(client.payload().len());
        let attributes = statement.take_off_attributes(client.payload(), &mut plain)?;
        client.replace_payload(&plain);
        self.client.attributes = attributes.map(Box::new);
        Ok(())
    }

    /// As MySQL 9.7 and MariaDB 10.11 answer what they cannot read, and go on.
    pub(crate) async fn refuse_malformed(&mut self) -> Result<(), SessionEnd> {
        self.ground.worker.counters.malformed_packets.bump();
        let message = match self.context.lexing.server {
            ServerFlavor::MySql(_) => "Malformed communication packet.",
            _ => "Malformed communication packet",
        };
        self.refuse(ErrorCode::MALFORMED_PACKET, message).await
    }
}

/// The text of a COM_QUERY, of which `behind_command` is all but the command byte. Cost: for those without attributes two bytes are
/// compared.
pub(crate) fn text_in<'p>(client: &Client, behind_command: &'p [u8]) -> Option<&'p [u8]> {
    if !client.has_attributes() {
        return Some(behind_command);
    }
    let (_, place) = Attributes::parse_query(behind_command).ok()?;
    behind_command.get(place..)
}

/// Writes down what an execution is without its attributes; `None` if that cannot be told.
pub(crate) fn write_plain_execution(statements: &mut Statements, payload: &[u8]) -> Option<()> {
    let Statements { prepared, plain_execution, .. } = statements;
    plain_execution.clear();
    plain_execution.shrink_to(PLAIN_BYTES_KEPT);
    prepared.as_ref()?.named(payload)?.take_off_attributes(payload, plain_execution).ok().map(drop)
}
