//! How much may wait in a line.

use std::sync::atomic::{AtomicU64, Ordering};

use nuthatch_config::MysqlVariables;

/// See the module's doc. 0 stands for no limit.
#[derive(Debug, Default)]
pub(super) struct Limits {
    statements: AtomicU64,
    bytes: AtomicU64,
}

/// That a line is full, by which limit. As text, what is said to who is turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Full {
    /// Of statements.
    #[error("{waiting} statements wait in its line, and mysql-line_max_statements allows no more")]
    OfStatements { waiting: u64 },
    /// Of their bytes.
    #[error("statements of {bytes} bytes wait in its line, and mysql-line_max_bytes allows {bytes_max}")]
    OfBytes { bytes: u64, bytes_max: u64 },
}

impl Limits {
    /// Keeps to what the variables say from now on.
    pub(super) fn take_over(&self, variables: &MysqlVariables) {
        self.statements.store(variables.line_max_statements, Ordering::Relaxed);
        self.bytes.store(variables.line_max_bytes, Ordering::Relaxed);
    }

    /// Statements, and bytes of them.
    pub(super) fn shown(&self) -> (u64, u64) {
        (self.statements.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }

    /// Lets one more statement wait beside so many; a single one may be as long as it likes.
    pub(super) fn admit(&self, waiting: u64, waiting_bytes: u64, bytes: u64) -> Result<(), Full> {
        let (statements_max, bytes_max) = self.shown();
        if statements_max > 0 && waiting >= statements_max {
            return Err(Full::OfStatements { waiting });
        }
        if bytes_max > 0 && waiting > 0 && waiting_bytes.saturating_add(bytes) > bytes_max {
            return Err(Full::OfBytes { bytes: waiting_bytes, bytes_max });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_takes_as_much_as_its_limits_say_and_one_statement_of_any_length() {
        let limits = Limits::default();
        assert_eq!(limits.admit(1_000_000, u64::MAX, 9), Ok(()), "there is no limit");
        let mut variables = MysqlVariables::default();
        (variables.line_max_statements, variables.line_max_bytes) = (3, 100);
        limits.take_over(&variables);
        for (waiting, waiting_bytes, bytes, expected) in [
            (0, 0, 5_000, Ok(())),
            (2, 90, 10, Ok(())),
            (2, 90, 11, Err(Full::OfBytes { bytes: 90, bytes_max: 100 })),
            (3, 3, 1, Err(Full::OfStatements { waiting: 3 })),
        ] {
            assert_eq!(
                limits.admit(waiting, waiting_bytes, bytes),
                expected,
                "{waiting} {waiting_bytes} {bytes}"
            );
        }
    }
}
