//! A column's definition, as far as a proxy must know it: where MariaDB tells more of the type.
//!
//! Source: "Protocol::ColumnDefinition41"; MariaDB's "Result Set Packets", "Column Definition Packet".

use crate::{Form, Reader, WireError, append_lenenc_bytes};

/// How many texts a definition begins with: catalogue, schema, both names of the table, both of the column.
const NAMES: usize = 6;

/// The parts of a definition. Nothing is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Definition<'a> {
    names: &'a [u8],
    /// What `MARIADB_CLIENT_EXTENDED_METADATA` tells; empty without.
    extension: &'a [u8],
    fixed: &'a [u8],
}

impl<'a> Definition<'a> {
    /// Takes the payload of a definition of that form apart.
    ///
    /// # Errors
    /// When it ends early.
    pub fn parse(payload: &'a [u8], form: Form) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        for _ in 0..NAMES {
            reader.lenenc_bytes()?;
        }
        let names = payload.get(..payload.len() - reader.rest().len()).ok_or(WireError::Truncated)?;
        let extension = if form.extended_metadata { reader.lenenc_bytes()? } else { &[] };
        Ok(Self { names, extension, fixed: reader.rest() })
    }

    /// Appends the payload in that form.
    pub fn encode(&self, form: Form, out: &mut Vec<u8>) {
        out.extend_from_slice(self.names);
        if form.extended_metadata {
            append_lenenc_bytes(out, self.extension);
        }
        out.extend_from_slice(self.fixed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Column;

    const PLAIN: Form = Form {
        deprecate_eof: false,
        session_track: false,
        optional_metadata: false,
        extended_metadata: false,
    };
    const EXTENDED: Form = Form { extended_metadata: true, ..PLAIN };

    #[test]
    fn extension_stands_between_names_and_the_rest_and_is_left_out_where_nobody_reads_it() {
        let plain = Column::text("c").encoded();
        let mut untold = Vec::new();
        Definition::parse(&plain, PLAIN).unwrap().encode(EXTENDED, &mut untold);
        assert_eq!(untold.len(), plain.len() + 1);
        let names = plain.len() - 13;
        let told = [&plain[..names], b"\x06\x01\x04json", &plain[names..]].concat();
        for (from, to, payload, expected) in [
            (EXTENDED, PLAIN, &untold, &plain),
            (EXTENDED, PLAIN, &told, &plain),
            (EXTENDED, EXTENDED, &told, &told),
            (PLAIN, PLAIN, &plain, &plain),
        ] {
            let mut found = Vec::new();
            Definition::parse(payload, from).unwrap().encode(to, &mut found);
            assert_eq!(found, *expected);
        }
    }

    #[test]
    fn what_ends_among_the_names_is_no_definition() {
        let plain = Column::text("c").encoded();
        for cut in 0..plain.len() - 13 {
            assert!(Definition::parse(&plain[..cut], PLAIN).is_err(), "{cut}");
        }
        assert!(Definition::parse(&plain[..plain.len() - 13], EXTENDED).is_err());
    }
}
