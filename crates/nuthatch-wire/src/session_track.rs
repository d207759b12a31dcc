//! What an OK packet tells of the session's state, on connections with `CLIENT_SESSION_TRACK`.
//!
//! [`TrackedOk`] finds where the message ends and the block of changes begins; [`StateChanges`] walks over the block.
//! Nothing is copied, and every length must fit exactly: what is too short is [`WireError::Truncated`], what is left over is
//! [`WireError::Malformed`]. Entries of kinds that came after this was written are handed out as they are.
//!
//! Source: MySQL's "Protocol::OK_Packet" ("Session State Information") and `Session_tracker::store`; MariaDB's "OK_Packet".
//! The manuals say that without the flag the message is the rest of the packet. No server sends it so: `net_send_ok` of both
//! writes its length in front either way, and clients' libraries expect it.

use mysql_common::constants::StatusFlags;

use crate::{OkPacket, Reader, WireError, append_lenenc_bytes};

/// An OK packet of a connection with `CLIENT_SESSION_TRACK`.
#[derive(Debug, Clone, Copy)]
pub struct TrackedOk<'a> {
    /// The packet's first byte: `0x00`, or `0xFE` at the end of a result set.
    pub marker: u8,
    /// The fixed part.
    pub ok: OkPacket,
    /// The message, such as `Rows matched: 1  Changed: 1  Warnings: 0`; mostly empty.
    pub info: &'a [u8],
    /// What has changed; nothing if `SERVER_SESSION_STATE_CHANGED` is not set.
    pub changes: StateChanges<'a>,
}

impl<'a> TrackedOk<'a> {
    /// Reads the payload, its first byte included. The changes themselves are checked as they are walked over.
    ///
    /// # Errors
    /// When it is cut, has no block of changes although its flag is set, or goes on behind its last field.
    pub fn parse(payload: &'a [u8]) -> Result<Self, WireError> {
        let mut reader = Reader::new(payload);
        let marker = reader.u8()?;
        let ok = OkPacket::read(&mut reader)?;
        let has_changes = ok.status.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        // A message that is empty is left out where nothing follows it.
        let has_info = has_changes || !reader.rest().is_empty();
        let info = if has_info { reader.lenenc_bytes()? } else { &[] };
        let mut block = if has_changes { reader.lenenc_bytes()? } else { &[] };
        // MariaDB writes the byte in front of the block as a character of the default schema's set: zeroes come first in utf16 and utf32.
        while block.is_empty() && !reader.rest().is_empty() && has_changes {
            block = reader.lenenc_bytes()?;
        }
        must_end(reader, "bytes behind an OK packet")?;
        Ok(Self { marker, ok, info, changes: StateChanges::of(block) })
    }

    /// Appends the payload that the server would have sent without `CLIENT_SESSION_TRACK`: the block is gone and its flag
    /// cleared, an empty message loses its length; nothing else differs.
    pub fn encode_untracked(&self, out: &mut Vec<u8>) {
        let status = self.ok.status.difference(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        OkPacket { status, ..self.ok }.encode_with_info(out, self.marker, self.info);
    }

    /// Whether it tells something of what is to be hidden.
    #[must_use]
    pub fn tells_of(&self, hidden: Hidden) -> bool {
        self.changes.into_iter().any(|change| match change {
            Ok(StateChange::State(_)) => hidden.state,
            Ok(StateChange::Gtids { .. } | StateChange::SystemVariable { name: LAST_GTID, .. }) => {
                hidden.gtids
            }
            _ => false,
        })
    }

    /// Appends the payload that the server would have sent if it had not been asked to tell of what is hidden.
    ///
    /// # Errors
    /// When the block cannot be read.
    pub fn encode_without(&self, hidden: Hidden, out: &mut Vec<u8>) -> Result<(), WireError> {
        let mut entries = self.changes.entries;
        let mut kept = Vec::with_capacity(entries.rest().len());
        while !entries.rest().is_empty() {
            let kind = entries.u8()?;
            let data = entries.lenenc_bytes()?;
            match kind {
                STATE if hidden.state => {}
                GTIDS if hidden.gtids => {}
                VARIABLES if hidden.gtids => {
                    let others = variables_without_gtid(data)?;
                    if !others.is_empty() {
                        kept.push(kind);
                        append_lenenc_bytes(&mut kept, &others);
                    }
                }
                _ => {
                    kept.push(kind);
                    append_lenenc_bytes(&mut kept, data);
                }
            }
        }
        if kept.is_empty() {
            self.encode_untracked(out);
            return Ok(());
        }
        self.ok.encode(out, self.marker);
        append_lenenc_bytes(out, self.info);
        append_lenenc_bytes(out, &kept);
        Ok(())
    }
}

/// What a client is not to hear of: it did not ask for it, the proxy did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hidden {
    /// [`StateChange::State`].
    pub state: bool,
    /// [`StateChange::Gtids`], and MariaDB's `last_gtid`.
    pub gtids: bool,
}

/// The number of entries of [`StateChange::SystemVariable`].
const VARIABLES: u8 = 0;

/// The number of [`StateChange::State`].
const STATE: u8 = 2;

/// The number of [`StateChange::Gtids`].
const GTIDS: u8 = 3;

/// MariaDB's variable that tells what a session has committed last.
pub(crate) const LAST_GTID: &[u8] = b"last_gtid";

/// An entry of variables without that one.
fn variables_without_gtid(data: &[u8]) -> Result<Vec<u8>, WireError> {
    let (mut variables, mut kept) = (Reader::new(data), Vec::with_capacity(data.len()));
    while !variables.rest().is_empty() {
        let (name, value) = (variables.lenenc_bytes()?, variables.lenenc_bytes()?);
        if name != LAST_GTID {
            append_lenenc_bytes(&mut kept, name);
            append_lenenc_bytes(&mut kept, value);
        }
    }
    Ok(kept)
}

/// One thing that has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StateChange<'a> {
    /// A variable that is tracked was set, also to what it was. MariaDB's `last_gtid` comes so too.
    SystemVariable {
        /// Its name.
        name: &'a [u8],
        /// Its value as text.
        value: &'a [u8],
    },
    /// The default schema, empty if there is none any more.
    Schema(&'a [u8]),
    /// `1` if something changed at all, also a user variable, a temporary table or a prepared statement.
    State(&'a [u8]),
    /// MySQL: what this session has committed.
    Gtids {
        /// How they are written; 0, as text, is the only way so far.
        encoding: u8,
        /// The set.
        gtids: &'a [u8],
    },
    /// Statements that would begin a transaction like the open or next one; empty if that is the session's default.
    TransactionCharacteristics(&'a [u8]),
    /// Eight letters on the open transaction, all `_` if there is none: see MySQL's `session_track_transaction_info`.
    TransactionState(&'a [u8]),
    /// A kind that is not known here.
    Other {
        /// Its number.
        kind: u8,
        /// What it holds.
        data: &'a [u8],
    },
}

/// The changes of one OK packet, in the server's order. After an error it ends.
#[derive(Debug, Clone, Copy)]
pub struct StateChanges<'a> {
    entries: Reader<'a>,
    /// What is left of an entry of variables: MariaDB puts several into one.
    variables: Reader<'a>,
}

impl<'a> StateChanges<'a> {
    /// Those of a block, without the length in front of it.
    #[must_use]
    pub const fn of(block: &'a [u8]) -> Self {
        Self { entries: Reader::new(block), variables: Reader::new(&[]) }
    }

    fn read(&mut self) -> Result<StateChange<'a>, WireError> {
        if !self.variables.rest().is_empty() {
            return self.variable();
        }
        let kind = self.entries.u8()?;
        let data = self.entries.lenenc_bytes()?;
        let mut reader = Reader::new(data);
        let change = match kind {
            VARIABLES => {
                self.variables = reader;
                return self.variable();
            }
            1 => StateChange::Schema(reader.lenenc_bytes()?),
            // The only one whose text has no length of its own.
            STATE => return Ok(StateChange::State(data)),
            GTIDS => StateChange::Gtids { encoding: reader.u8()?, gtids: reader.lenenc_bytes()? },
            4 => StateChange::TransactionCharacteristics(reader.lenenc_bytes()?),
            5 => StateChange::TransactionState(reader.lenenc_bytes()?),
            _ => return Ok(StateChange::Other { kind, data }),
        };
        must_end(reader, "bytes behind a change of the session's state")?;
        Ok(change)
    }

    fn variable(&mut self) -> Result<StateChange<'a>, WireError> {
        let name = self.variables.lenenc_bytes()?;
        Ok(StateChange::SystemVariable { name, value: self.variables.lenenc_bytes()? })
    }
}

impl<'a> Iterator for StateChanges<'a> {
    type Item = Result<StateChange<'a>, WireError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.entries.rest().is_empty() && self.variables.rest().is_empty() {
            return None;
        }
        let change = self.read();
        if change.is_err() {
            *self = Self::of(&[]);
        }
        Some(change)
    }
}

impl std::iter::FusedIterator for StateChanges<'_> {}

const fn must_end(reader: Reader<'_>, what: &'static str) -> Result<(), WireError> {
    if reader.rest().is_empty() { Ok(()) } else { Err(WireError::Malformed(what)) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ALL: Hidden = Hidden { state: true, gtids: true };

    const CHANGED: [u8; 4] = [0x02, 0x40, 0, 0];

    /// What servers send is in `tests/golden`; here is what they never do.
    fn ok_with(status_and_warnings: [u8; 4], rest: &[u8]) -> Vec<u8> {
        [&[0, 0, 0][..], &status_and_warnings, rest].concat()
    }

    fn changes(block: &[u8]) -> Vec<Result<StateChange<'_>, WireError>> {
        StateChanges::of(block).collect()
    }

    #[test]
    fn kind_that_is_not_known_is_handed_out_and_the_next_is_read() {
        let block = [77, 2, 8, 9, 2, 1, b'1'];
        let other = StateChange::Other { kind: 77, data: &[8, 9] };
        assert_eq!(changes(&block), [Ok(other), Ok(StateChange::State(b"1"))]);
    }

    #[test]
    fn gtids_are_left_out_from_between_what_is_told() {
        let variables =
            [&[0, 31, 10][..], b"autocommit", &[2], b"ON", &[9], b"last_gtid", &[5], b"0-1-7"].concat();
        let mut variables_with_length = variables.clone();
        variables_with_length[1] = u8::try_from(variables.len() - 2).unwrap();
        let block = [&variables_with_length[..], &[2, 1, b'1', 3, 3, 0, 1, b'g']].concat();
        let mut rest = Vec::new();
        append_lenenc_bytes(&mut rest, b"");
        append_lenenc_bytes(&mut rest, &block);
        let payload = ok_with(CHANGED, &rest);
        let mut less = Vec::new();
        let hidden = Hidden { state: false, gtids: true };
        let tracked = TrackedOk::parse(&payload).unwrap();
        assert!(tracked.tells_of(hidden));
        tracked.encode_without(hidden, &mut less).unwrap();
        let told: Vec<_> = TrackedOk::parse(&less).unwrap().changes.map(Result::unwrap).collect();
        let autocommit = StateChange::SystemVariable { name: b"autocommit", value: b"ON" };
        assert_eq!(told, [autocommit, StateChange::State(b"1")]);
    }

    #[test]
    fn length_that_does_not_fit_ends_the_walk() {
        let truncated = Err(WireError::Truncated);
        let left_over = Err(WireError::Malformed("bytes behind a change of the session's state"));
        for (block, expected) in [
            // The entry is cut, its text is longer than the entry, or shorter.
            (&[1, 3, 2, b'a'][..], truncated),
            (&[1, 3, 3, b'a', b'b', 2, 1, b'1'], truncated),
            (&[1, 3, 1, b'a', b'b', 2, 1, b'1'], left_over),
            (&[1, 0], truncated),
            (&[1], truncated),
            // A variable without a value, and none at all.
            (&[0, 2, 1, b'a'], truncated),
            (&[0, 0, 2, 1, b'1'], truncated),
            // GTIDs without an encoding.
            (&[3, 0], truncated),
        ] {
            assert_eq!(changes(block), [expected], "{block:?}");
        }
    }

    #[test]
    fn flag_and_block_come_together() {
        for (status, rest) in [
            // The flag without a block, with a part of it, with more than it.
            (CHANGED, &[][..]),
            (CHANGED, &[0]),
            (CHANGED, &[0, 3, 2, 1]),
            (CHANGED, &[0, 3, 2, 1, b'1', 0]),
            // A block without the flag.
            ([2, 0, 0, 0], &[0, 3, 2, 1, b'1']),
            // A message without its length.
            ([2, 0, 0, 0], b"Records"),
        ] {
            assert!(TrackedOk::parse(&ok_with(status, rest)).is_err(), "{rest:?}");
        }
    }

    #[test]
    fn zeroes_of_a_wide_default_schema_stand_in_front_of_the_block() {
        // MariaDB 10.11's answers to USE of a schema in utf16, and in utf32.
        for zeroes in [&[0][..], &[0, 0, 0]] {
            let rest = [&[0][..], zeroes, &[5, 1, 3, 2, b'd', b'1']].concat();
            let payload = ok_with(CHANGED, &rest);
            let told: Vec<_> = TrackedOk::parse(&payload).expect("it is read").changes.collect();
            assert_eq!(told, [Ok(StateChange::Schema(b"d1"))]);
        }
    }

    proptest! {
        #[test]
        fn any_block_without_what_is_hidden_is_read_again_or_refused(block in prop::collection::vec(any::<u8>(), 0..80)) {
            let mut rest = Vec::new();
            append_lenenc_bytes(&mut rest, b"");
            append_lenenc_bytes(&mut rest, &block);
            let payload = ok_with(CHANGED, &rest);
            let mut less = Vec::new();
            if TrackedOk::parse(&payload).unwrap().encode_without(ALL, &mut less).is_ok() {
                let told = TrackedOk::parse(&less).unwrap().changes;
                let hidden = |change| matches!(change, Ok(StateChange::State(_) | StateChange::Gtids { .. }));
                prop_assert!(!told.into_iter().any(hidden));
                prop_assert!(!TrackedOk::parse(&less).unwrap().tells_of(ALL));
            }
        }

        #[test]
        fn any_bytes_are_walked_over_without_panic(block in prop::collection::vec(any::<u8>(), 0..80)) {
            let walked = changes(&block);
            prop_assert!(walked.len() <= block.len());
            let errors = walked.iter().filter(|change| change.is_err()).count();
            prop_assert_eq!(errors, usize::from(walked.last().is_some_and(Result::is_err)));
        }

        #[test]
        fn any_ok_packet_is_untracked_without_panic(
            info in prop::collection::vec(any::<u8>(), 0..300),
            block in prop::collection::vec(any::<u8>(), 0..300),
            cut in 0_usize..620,
        ) {
            let mut rest = Vec::new();
            append_lenenc_bytes(&mut rest, &info);
            append_lenenc_bytes(&mut rest, &block);
            let payload = ok_with(CHANGED, &rest);
            let tracked = TrackedOk::parse(&payload).unwrap();
            prop_assert_eq!(tracked.info, &info);
            let mut untracked = Vec::new();
            tracked.encode_untracked(&mut untracked);
            let again = TrackedOk::parse(&untracked).unwrap();
            prop_assert_eq!((again.info, again.changes.count()), (info.as_slice(), 0));
            if cut < payload.len() {
                prop_assert!(TrackedOk::parse(&payload[..cut]).is_err());
            }
        }
    }
}
