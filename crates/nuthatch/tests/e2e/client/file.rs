//! A file that the client sends to the server.

use std::io;

use nuthatch_wire::{Command, append_packet};

use super::answer::RowForm;
use super::{Answer, Client, ServerError};

impl Client {
    /// LOAD DATA LOCAL of those pieces, with all that it is answered.
    pub(crate) fn load_file(
        &mut self,
        sql: &str,
        pieces: &[Vec<u8>],
    ) -> io::Result<Vec<Result<Answer, ServerError>>> {
        self.send(Command::Query as u8, sql.as_bytes())?;
        let asked = self.read_packet()?;
        if asked.first() == Some(&0xFF) {
            return Ok(vec![Err(ServerError::parse(&asked))]);
        }
        assert_eq!(asked.first(), Some(&0xFB), "a file is asked for");
        let mut sequence = 2;
        for piece in pieces.iter().map(Vec::as_slice).chain([&b""[..]]) {
            let mut packet = Vec::new();
            append_packet(&mut packet, &mut sequence, piece);
            self.send_raw(&packet, sequence)?;
        }
        self.read_whole(RowForm::Text)
    }
}
