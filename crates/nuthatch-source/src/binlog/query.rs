//! Events that carry a statement's text, and the variables that it was executed under.

use super::BinlogError;
use super::cursor::Cursor;

/// A statement, as its server executed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryEvent<'e> {
    /// The session's number.
    pub thread_id: u32,
    /// What the statement failed with, 0 if it did not. One that changed something nevertheless is in the binlog too.
    pub error: u16,
    /// The default one; empty if there was none.
    pub schema: &'e [u8],
    /// In the client's character set.
    pub text: &'e [u8],
    /// Bits of its family's `sql_mode`. None if the event does not tell.
    pub sql_mode: Option<u64>,
    /// The number of the collation of `character_set_client`. None if the event does not tell.
    pub client_collation: Option<u16>,
}

impl<'e> QueryEvent<'e> {
    pub(super) fn parse(body: &'e [u8]) -> Result<Self, BinlogError> {
        Self::parse_with(body, 0)
    }

    /// `EXECUTE_LOAD_QUERY_EVENT`: which file, and where its name stands in the text, come between.
    pub(super) fn parse_load(body: &'e [u8]) -> Result<Self, BinlogError> {
        Self::parse_with(body, 4 + 4 + 4 + 1)
    }

    fn parse_with(body: &'e [u8], between: usize) -> Result<Self, BinlogError> {
        let mut fields = Cursor::new(body);
        let thread_id = fields.u32()?;
        fields.u32()?; // For how long it ran.
        let schema_len = fields.u8()?;
        let error = fields.u16()?;
        let variables_len = fields.u16()?;
        fields.bytes(between)?;
        let variables = Variables::parse(fields.bytes(usize::from(variables_len))?);
        let schema = fields.terminated(usize::from(schema_len))?;
        Ok(Self {
            thread_id,
            error,
            schema,
            text: fields.rest(),
            sql_mode: variables.sql_mode,
            client_collation: variables.client_collation,
        })
    }
}

#[derive(Debug, Default)]
struct Variables {
    sql_mode: Option<u64>,
    client_collation: Option<u16>,
}

impl Variables {
    /// Up to the first that is not known, as servers do: they stand in the order of their numbers, but for few.
    fn parse(bytes: &[u8]) -> Self {
        let mut variables = Self::default();
        let mut fields = Cursor::new(bytes);
        while !fields.is_empty() && matches!(variables.read_one(&mut fields), Ok(Known::Yes)) {}
        variables
    }

    fn read_one(&mut self, fields: &mut Cursor<'_>) -> Result<Known, BinlogError> {
        match fields.u8()? {
            0 | 3 | 10 => skip(fields, 4)?, // Flags, auto_increment's two, a length.
            1 => self.sql_mode = Some(fields.u64()?),
            2 => {
                let catalogue = fields.u8()?;
                skip(fields, usize::from(catalogue) + 1)?;
            }
            4 => {
                self.client_collation = Some(fields.u16()?);
                skip(fields, 4)?; // Those of the connection and of the server.
            }
            5 | 6 => _ = fields.short_bytes()?, // Time zone, catalogue.
            7 | 8 | 18 => skip(fields, 2)?,     // Names of days, the schema's collation, that of utf8mb4.
            9 | 17 | 129 => skip(fields, 8)?,   // Tables to be updated, the DDL's number, MariaDB's.
            11 => {
                fields.short_bytes()?; // The definer's user and host.
                fields.short_bytes()?;
            }
            13 | 128 => skip(fields, 3)?,     // Microseconds.
            16 | 19 | 20 => skip(fields, 1)?, // MySQL's settings of DDL.
            131 => {
                let pairs = fields.u8()?; // MariaDB's default collations of character sets, before all of MySQL's.
                skip(fields, usize::from(pairs) * 4)?;
            }
            _ => return Ok(Known::No),
        }
        Ok(Known::Yes)
    }
}

/// Whether a variable is one whose length is known.
enum Known {
    Yes,
    No,
}

fn skip(fields: &mut Cursor<'_>, len: usize) -> Result<(), BinlogError> {
    fields.bytes(len).map(|_skipped| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODE: [u8; 9] = [1, 7, 0, 0, 0, 0, 0, 0, 0];
    const CHARSET: [u8; 7] = [4, 45, 0, 45, 0, 8, 0];

    #[test]
    fn variables_are_read_up_to_what_is_not_known() {
        for (bytes, sql_mode, client_collation) in [
            ([&[0, 0, 0, 0, 0][..], &MODE, &CHARSET].concat(), Some(7), Some(45)),
            ([&[6, 3][..], b"std", &CHARSET, &MODE].concat(), Some(7), Some(45)),
            ([&[11, 1, b'u', 1, b'h'][..], &MODE].concat(), Some(7), None),
            ([&[200, 1, 2][..], &MODE].concat(), None, None),
            ([&MODE[..], &[200], &CHARSET].concat(), Some(7), None),
            (vec![1, 7], None, None),
            (vec![5, 200, 1], None, None),
            (vec![], None, None),
        ] {
            let variables = Variables::parse(&bytes);
            assert_eq!(
                (variables.sql_mode, variables.client_collation),
                (sql_mode, client_collation),
                "{bytes:?}"
            );
        }
    }
}
