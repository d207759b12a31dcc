//! What ProxySQL's variables say of digests.

/// ProxySQL's `mysql-query_digests_*` variables; the defaults are ProxySQL's.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "one for each of ProxySQL's independent boolean variables")]
pub struct DigestOptions {
    /// The digest text is cut to so many bytes (2048).
    pub max_digest_length: usize,
    /// Bytes of the statement past this one are not looked at (65000).
    pub max_query_length: usize,
    /// So many values of a longer list are kept before `...` (3).
    pub grouping_limit: usize,
    /// So many folded lists of a longer sequence are kept before `...` (10); 0 folds none.
    pub groups_grouping_limit: usize,
    /// ASCII letters of the text become lower-case.
    pub lowercase: bool,
    /// The word `NULL` becomes `?`.
    pub replace_null: bool,
    /// Digits inside names become `?`.
    pub no_digits: bool,
    /// `/* … */` comments stay in the text, as they are written.
    pub keep_comment: bool,
}

impl Default for DigestOptions {
    fn default() -> Self {
        Self {
            max_digest_length: 2048,
            max_query_length: 65_000,
            grouping_limit: 3,
            groups_grouping_limit: 10,
            lowercase: false,
            replace_null: false,
            no_digits: false,
            keep_comment: false,
        }
    }
}
