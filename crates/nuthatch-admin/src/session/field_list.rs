//! COM_FIELD_LIST: the columns of a table, which the command line client asks for to complete names.

use nuthatch_wire::{append_lenenc_bytes, append_lenenc_int};
use rusqlite::types::Value;

use super::Session;
use super::reply::Writer;
use crate::answer::{Answer, Rows};
use crate::command::{Command, Filter, Show};

impl Session {
    /// Answers with one column definition for each column. The pattern behind the table's name is not looked at, as
    /// MariaDB does not either when it is empty.
    pub(super) async fn field_list(&mut self, out: &mut Writer, body: &[u8]) {
        let table = body.split(|&b| b == 0).next().unwrap_or_default();
        let table = String::from_utf8_lossy(table).into_owned();
        let schema = Some(self.schema.clone());
        let show = Show::Columns { schema, table: table.clone(), filter: Filter::None };
        match self.ask(Command::Show(show)).await {
            Ok(Answer::Rows(Rows { rows, .. })) => {
                for row in &rows {
                    if let Some(Value::Text(name)) = row.first() {
                        out.raw(&definition(&self.schema, &table, name));
                    }
                }
                out.end();
            }
            Ok(Answer::Done(_)) => out.end(),
            Err(error) => out.error(error.code(), &error.to_string()),
        }
    }
}

/// A column definition as COM_FIELD_LIST has it: names filled in, a default value behind ("Protocol::ColumnDefinition41").
fn definition(schema: &str, table: &str, column: &str) -> Vec<u8> {
    const UTF8MB4: u16 = 45;
    const VAR_STRING: u8 = 0xFD;
    const NULL: u8 = 0xFB;
    let mut out = Vec::new();
    for name in ["def", schema, table, table, column, column] {
        append_lenenc_bytes(&mut out, name.as_bytes());
    }
    append_lenenc_int(&mut out, 12);
    out.extend(UTF8MB4.to_le_bytes());
    out.extend(1024_u32.to_le_bytes());
    out.push(VAR_STRING);
    out.extend([0, 0, 0, 0, 0]);
    out.push(NULL);
    out
}
