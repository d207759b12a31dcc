//! The statements of a binlog that define something, read from its file.
//!
//! "MariaDB Knowledge Base, Replication Protocol: Binlog Event Header, QUERY_EVENT"; MySQL's are the same.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;

use nuthatch_server::ServerError;

use crate::error::InstanceError;

/// What every binlog begins with that is not encrypted as a whole.
const MAGIC: [u8; 4] = [0xfe, b'b', b'i', b'n'];

const HEADER_BYTES: usize = 19;
const CHECKSUM_BYTES: usize = 4;

/// Numbers of events.
const QUERY: u8 = 2;
const FORMAT_DESCRIPTION: u8 = 15;
const START_ENCRYPTION: u8 = 164;

/// A statement that defines a table is never longer, in bytes; an event that says it is, is not looked into.
const STATEMENT_BYTES_MAX: usize = 64 << 20;

/// Gives each statement that begins like a definition to `sink`: when it was said, in which schema, its text. What cannot be read is left out.
pub(super) fn statements(path: &Path, sink: impl FnMut(u32, &str, &[u8])) -> Result<(), InstanceError> {
    let read = File::open(path).and_then(|file| walk(&mut BufReader::new(file), sink));
    match read {
        // It is being written to, or the server has removed it just now.
        Err(error) if matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::NotFound) => Ok(()),
        read => Ok(read.map_err(ServerError::file("read", path))?),
    }
}

fn walk(from: &mut BufReader<File>, mut sink: impl FnMut(u32, &str, &[u8])) -> std::io::Result<()> {
    let mut magic = [0; MAGIC.len()];
    from.read_exact(&mut magic)?;
    if magic != MAGIC {
        return Ok(());
    }
    let mut checksum = 0;
    loop {
        let mut header = [0; HEADER_BYTES];
        from.read_exact(&mut header)?;
        let [a, b, c, d, kind, _, _, _, _, e, f, g, h, ..] = header;
        let (when_s, bytes) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        let Some(rest) = usize::try_from(bytes).unwrap_or(usize::MAX).checked_sub(HEADER_BYTES) else {
            return Ok(());
        };
        if kind == START_ENCRYPTION {
            return Ok(());
        }
        if !(kind == QUERY || kind == FORMAT_DESCRIPTION) || rest > STATEMENT_BYTES_MAX {
            from.seek_relative(i64::try_from(rest).unwrap_or(i64::MAX))?;
            continue;
        }
        let mut body = vec![0; rest];
        from.read_exact(&mut body)?;
        if kind == FORMAT_DESCRIPTION {
            checksum = checksum_bytes(&body);
        } else if let Some((schema, text)) = query(&body, checksum)
            && defines(text)
        {
            sink(when_s, &String::from_utf8_lossy(schema), text);
        }
    }
}

/// How many bytes stand behind each event: the byte before its own checksum tells.
fn checksum_bytes(description: &[u8]) -> usize {
    let which = description.len().checked_sub(CHECKSUM_BYTES + 1).and_then(|place| description.get(place));
    if which == Some(&1) { CHECKSUM_BYTES } else { 0 }
}

/// The schema and the text of a statement.
fn query(body: &[u8], checksum: usize) -> Option<(&[u8], &[u8])> {
    let body = body.get(..body.len().checked_sub(checksum)?)?;
    // Session, seconds, the schema's length, error, the variables' length.
    let (fixed, rest) = body.split_at_checked(13)?;
    let variables = usize::from(u16::from_le_bytes([*fixed.get(11)?, *fixed.get(12)?]));
    let (schema, text) = rest.get(variables..)?.split_at_checked(usize::from(*fixed.get(8)?))?;
    Some((schema, text.get(1..)?))
}

/// Whether it may be one: a comment may stand before it. What every transaction begins and ends with is not.
fn defines(text: &[u8]) -> bool {
    let begins = |word: &[u8]| text.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word));
    [&b"CREATE"[..], b"ALTER", b"RENAME", b"/", b"-", b"#", b" ", b"\n", b"\t", b"\r"].into_iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An event with its header.
    fn event(when_s: u32, kind: u8, body: &[u8]) -> Vec<u8> {
        let bytes = u32::try_from(HEADER_BYTES + body.len()).unwrap();
        let mut event = when_s.to_le_bytes().to_vec();
        event.push(kind);
        event.extend([0; 4]);
        event.extend(bytes.to_le_bytes());
        event.extend([0; 6]);
        event.extend(body);
        event
    }

    fn query_event(when_s: u32, schema: &str, text: &str, checksum: &[u8]) -> Vec<u8> {
        let mut body = vec![0; 8];
        body.push(u8::try_from(schema.len()).unwrap());
        body.extend([0, 0, 2, 0, 77, 77]);
        body.extend([schema.as_bytes(), b"\0", text.as_bytes(), checksum].concat());
        event(when_s, QUERY, &body)
    }

    fn found(parts: &[Vec<u8>]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("binlog.000001");
        std::fs::write(&path, parts.concat()).unwrap();
        let mut found = Vec::new();
        statements(&path, |when_s, schema, text| {
            found.push(format!("{when_s} {schema} {}", String::from_utf8_lossy(text)));
        })
        .unwrap();
        found
    }

    #[test]
    fn definitions_are_found_with_and_without_checksums() {
        for (algorithm, checksum) in [(0, &b""[..]), (1, b"sum!")] {
            let description = event(1, FORMAT_DESCRIPTION, &[0, 0, algorithm, 1, 2, 3, 4]);
            let parts = [
                MAGIC.to_vec(),
                description,
                query_event(7, "d", "create table t (a INT)", checksum),
                query_event(8, "d", "BEGIN", checksum),
                event(8, 30, b"rows of any length"),
                query_event(9, "", "/* it */ CREATE TABLE d.u (a INT)", checksum),
            ];
            assert_eq!(found(&parts), ["7 d create table t (a INT)", "9  /* it */ CREATE TABLE d.u (a INT)"]);
            // One that is being written to.
            let mut cut = parts.concat();
            cut.truncate(cut.len() - 3);
            assert_eq!(found(&[cut]).len(), 1);
        }
    }

    #[test]
    fn what_is_encrypted_proves_nothing() {
        let statement = query_event(7, "d", "CREATE TABLE t (a INT)", b"");
        assert!(found(&[vec![0xfd, b'b', b'i', b'n'], statement.clone()]).is_empty());
        assert!(found(&[MAGIC.to_vec(), event(1, START_ENCRYPTION, b"key"), statement]).is_empty());
        assert!(found(&[]).is_empty());
    }
}
