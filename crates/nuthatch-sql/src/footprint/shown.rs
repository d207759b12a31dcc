//! What the answer to a SHOW of definitions depends on.

use std::borrow::Cow;

use super::information_schema;
use super::names::{Mention, Scope};
use super::{NotExact, ReadDefinitions, ReadFootprint};
use crate::classify::body::is_system_schema;
use crate::classify::cursor::Cursor;
use crate::classify::shown::{Shown, shown};
use crate::statement::Name;

/// What the answer to a SHOW that was classified as one of definitions depends on; `start` is its first word.
pub(super) fn footprint(start: &Cursor<'_>, scope: &Scope<'_>) -> Result<ReadFootprint, NotExact> {
    let mut behind = start.clone();
    behind.advance();
    let mut asked = ReadDefinitions::default();
    match shown(behind).ok_or(NotExact::NotUnderstood)? {
        Shown::Schemas => {}
        Shown::Tables(schema) => {
            is_known(schema, scope)?;
            asked.tables = true;
        }
        Shown::Columns { schema, table } => {
            asked.columns = is_view(Mention { schema, name: table }, scope)?;
        }
    }
    if asked.may_change_by_itself(scope.catalogue) {
        return Err(NotExact::MoreThanDefinitions);
    }
    Ok(ReadFootprint { definitions: Some(asked), ..ReadFootprint::default() })
}

/// Definitions of the server's own schemas are not looked at, nor those of schemas in which no table is known.
fn is_known(schema: Option<Name<'_>>, scope: &Scope<'_>) -> Result<(), NotExact> {
    let schema = schema.map_or(Cow::Borrowed(scope.schema), Name::text);
    if schema.is_empty() {
        return Err(NotExact::NoSchema);
    }
    if !schema.is_ascii() {
        return Err(NotExact::NameNotAscii);
    }
    let is_own = is_system_schema(&schema) || information_schema::is_named(Name(&schema));
    let is_looked_at = !is_own && scope.catalogue.schema(&schema).is_some();
    if is_looked_at { Ok(()) } else { Err(NotExact::MoreThanDefinitions) }
}

/// Columns of views are worked out anew each time, and those of some engines are told by other servers.
fn is_view(mention: Mention<'_>, scope: &Scope<'_>) -> Result<bool, NotExact> {
    is_known(mention.schema, scope)?;
    if !mention.name.text().is_ascii() {
        return Err(NotExact::NameNotAscii);
    }
    let table = mention.find(scope).ok_or_else(|| NotExact::UnknownTable(mention.text()))?;
    match table.unsuitable {
        Some(reason) => Err(NotExact::Unsuitable(mention.text(), reason)),
        None => Ok(table.is_view),
    }
}
