//! The floor's canned packets.

use crate::capability;
use crate::login::encode_packet;
use crate::reply::EofForm;

/// Status: autocommit.
const STATUS: [u8; 2] = [2, 0];

/// What MariaDB answers to `SELECT c FROM sbtest1 WHERE id=1`: 119 characters.
const ROW: &[u8] = b"68487932199-96439406143-93774651418-41631865787-96406072701-\
20604855487-25459966574-28203206787-41238978918-19503783441";

/// Every packet that the floor ever sends.
pub(super) struct Replies {
    /// Handshake v10.
    pub(super) greeting: Vec<u8>,
    /// OK to a login, sequence 2.
    pub(super) logged_in: Vec<u8>,
    /// OK to a command, sequence 1.
    pub(super) ok: Vec<u8>,
    with_eof: Vec<u8>,
    without_eof: Vec<u8>,
}

impl Replies {
    pub(super) fn new(rows: u32) -> Self {
        let ok = [&[0, 0, 0][..], &STATUS, &[0, 0]].concat();
        Self {
            greeting: encode_packet(0, &greeting()),
            logged_in: encode_packet(2, &ok),
            ok: encode_packet(1, &ok),
            with_eof: result_set(EofForm::Packets, rows),
            without_eof: result_set(EofForm::Deprecated, rows),
        }
    }

    pub(super) fn result_set(&self, form: EofForm) -> &[u8] {
        match form {
            EofForm::Packets => &self.with_eof,
            EofForm::Deprecated => &self.without_eof,
        }
    }
}

/// The form that a client's handshake response asks for.
pub(super) fn negotiated_form(response: &[u8]) -> EofForm {
    let bits = response.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
    if bits & capability::DEPRECATE_EOF == 0 { EofForm::Packets } else { EofForm::Deprecated }
}

fn greeting() -> Vec<u8> {
    let [low0, low1, high0, high1] = (capability::BASIC | capability::DEPRECATE_EOF).to_le_bytes();
    let mut payload = b"\x0a5.5.5-10.11.0-MariaDB-floor\0\x01\0\0\0abcdefgh\0".to_vec();
    payload.extend([low0, low1, 45]);
    payload.extend(STATUS);
    payload.extend([high0, high1, 21]);
    payload.extend([0; 10]);
    payload.extend(b"ijklmnopqrst\0mysql_native_password\0");
    payload
}

fn result_set(form: EofForm, rows: u32) -> Vec<u8> {
    let eof = [&[0xfe, 0, 0][..], &STATUS].concat();
    let mut packets = vec![vec![1], column()];
    if form == EofForm::Packets {
        packets.push(eof.clone());
    }
    packets.extend((0..rows).map(|_| [&[119][..], ROW].concat()));
    match form {
        EofForm::Packets => packets.push(eof),
        EofForm::Deprecated => packets.push([&eof[..], &[0, 0]].concat()),
    }
    (1..).zip(packets).flat_map(|(sequence, payload)| encode_packet(sequence, &payload)).collect()
}

/// Column `c` of `sbtest.sbtest1`: utf8mb4, 480 bytes, CHAR, NOT NULL.
fn column() -> Vec<u8> {
    let mut payload = Vec::new();
    for name in ["def", "sbtest", "sbtest1", "sbtest1", "c", "c"] {
        payload.push(u8::try_from(name.len()).expect("names here are short"));
        payload.extend(name.as_bytes());
    }
    payload.extend([0x0c, 45, 0, 0xe0, 1, 0, 0, 0xfe, 1, 0, 0, 0, 0]);
    payload
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reply::{Ending, ReplyScan};

    #[test]
    fn canned_answer_is_one_row_of_the_size_that_mariadb_sends() {
        let (replies, long) = (Replies::new(1), Replies::new(100));
        for (form, bytes) in [(EofForm::Packets, 195), (EofForm::Deprecated, 188)] {
            let reply = replies.result_set(form);
            assert_eq!(reply.len(), bytes);
            let finished = ReplyScan::new(form).feed(reply).unwrap().unwrap();
            assert_eq!((finished.ending, finished.consumed), (Ending::Rows(1), bytes));
            let range = long.result_set(form);
            assert_eq!(range.len(), bytes + 99 * 124);
            let finished = ReplyScan::new(form).feed(range).unwrap().unwrap();
            assert_eq!((finished.ending, finished.consumed), (Ending::Rows(100), range.len()));
        }
    }

    #[test]
    fn form_is_the_one_that_the_client_asks_for() {
        assert_eq!(negotiated_form(&[0, 0, 0, 1]), EofForm::Deprecated);
        assert_eq!(negotiated_form(&[0xff, 0xff, 0xff, 0]), EofForm::Packets);
    }
}
