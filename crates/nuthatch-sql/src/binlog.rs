//! Texts by which a write leaves the binlog.

use crate::words::{is_one_of, words};

/// Session variables by which a write leaves the binlog, takes another place in it than its turn, or another form than its rows.
const VARIABLES: [&[u8]; 4] = [b"sql_log_bin", b"gtid_next", b"gtid_seq_no", b"binlog_format"];

/// Whether a text names a variable by which what is written is no more told to replicas, or otherwise than it was done. It may stand in
/// a string, which may be executed.
#[must_use]
pub fn leaves_binlog(text: &[u8]) -> bool {
    words(text).any(|word| is_one_of(word, &VARIABLES))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_by_which_a_write_leaves_the_binlog_are_found_wherever_they_stand() {
        for (text, expected) in [
            ("SET sql_log_bin = 0", true),
            ("set @@session.SQL_LOG_BIN=0", true),
            ("SET GTID_NEXT='x'", true),
            ("SET @a = 'SET sql_log_bin=0'", true),
            ("SET sql_log_bin2 = 0", false),
            ("", false),
        ] {
            assert_eq!(leaves_binlog(text.as_bytes()), expected, "{text}");
        }
    }
}
