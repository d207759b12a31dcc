//! Attributes of statements, of clients with `CLIENT_QUERY_ATTRIBUTES`.
//!
//! They are taken off a command before anybody looks at it, and put back on its way to a server that has the capability; one
//! without it has nothing that could read them. So rules, digests and the cache's keys are those of the statement alone. A session
//! whose client has the capability uses connections that have it, if its servers do.

use nuthatch_wire::{Attributes, Command, WireError};

use crate::session::parts::{Client, Statements};

/// Takes the attributes off the command at hand, which is then as other clients send it.
///
/// # Errors
/// When no client sends such a thing.
pub(crate) fn take_attributes(
    client: &mut Client,
    statements: &Statements,
    command: Option<Command>,
) -> Result<(), WireError> {
    client.set_attributes(None);
    match command {
        Some(Command::Query) => {
            let (attributes, place) = Attributes::parse_query(client.payload().get(1..).unwrap_or_default())?;
            client.framed_mut().drop_behind_first(place);
            client.set_attributes(attributes);
        }
        Some(Command::StmtExecute) => take_attributes_of_execution(client, statements)?,
        _ => {}
    }
    Ok(())
}

fn take_attributes_of_execution(client: &mut Client, statements: &Statements) -> Result<(), WireError> {
    let framed = client.framed_mut();
    let statement = statements.prepared().and_then(|prepared| prepared.named(framed.payload()));
    // An unknown number is an error anyhow.
    let Some(statement) = statement else { return Ok(()) };
    let mut plain = Vec::with_capacity(framed.payload().len());
    let attributes = statement.take_off_attributes(framed.payload(), &mut plain)?;
    framed.replace_payload(&plain);
    client.set_attributes(attributes);
    Ok(())
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
