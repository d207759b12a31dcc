//! For how long a connection is kept without another reason.

/// For how long a connection is kept.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Delay {
    /// Statements, the last one included, for which it is kept after an AUTO_INCREMENT insert.
    statements_left: u64,
    /// When that ends at the latest.
    statements_until_ms: u64,
    /// Until when it is kept after the last statement.
    until_ms: u64,
}

impl Delay {
    /// Statements for which it lasts after an insert.
    pub(crate) const fn statements_left(self) -> u64 {
        self.statements_left
    }

    /// A statement is over.
    pub(crate) const fn count_statement(&mut self) {
        self.statements_left = self.statements_left.saturating_sub(1);
    }

    /// It lasts for so many statements, and at most until then.
    pub(crate) const fn last_for_statements(&mut self, statements: u64, ends_ms: u64) {
        (self.statements_left, self.statements_until_ms) = (statements, ends_ms);
    }

    /// It lasts until then at least.
    pub(crate) const fn last_until(&mut self, ends_ms: u64) {
        self.until_ms = ends_ms;
    }

    /// Whether anything has been said of it.
    pub(crate) const fn is_on(self) -> bool {
        self.until_ms > 0 || self.statements_left > 0
    }

    pub(crate) const fn lasts(self, now_ms: u64) -> bool {
        now_ms < self.until_ms || self.statements_left > 0 && now_ms < self.statements_until_ms
    }

    /// When it is over if no statement comes.
    pub(crate) const fn ends_ms(self) -> u64 {
        if self.statements_left > 0 && self.statements_until_ms > self.until_ms {
            self.statements_until_ms
        } else {
            self.until_ms
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_lasts_for_statements_and_for_a_time_whichever_is_longer() {
        let statements = Delay { statements_left: 2, statements_until_ms: 50, until_ms: 10 };
        assert!(statements.lasts(49) && !statements.lasts(50));
        assert_eq!(statements.ends_ms(), 50);
        let none_left = Delay { statements_left: 0, ..statements };
        assert!(none_left.lasts(9) && !none_left.lasts(10));
        assert_eq!(none_left.ends_ms(), 10);
        let long = Delay { until_ms: 90, ..statements };
        assert!(long.lasts(89) && !long.lasts(90));
        assert_eq!(long.ends_ms(), 90);
        assert!(!Delay::default().lasts(0));
    }
}
