//! What SHOW may show.

/// Something that SHOW shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Show {
    Databases(Filter),
    Tables { schema: Option<String>, with_type: WithType, filter: Filter },
    TableStatus { schema: Option<String>, filter: Filter },
    CreateTable { schema: Option<String>, table: String },
    Columns { schema: Option<String>, table: String, filter: Filter },
    Indexes,
    Variables { scope: VariableScope, filter: Filter },
    Status(Filter),
    Processlist(InfoLength),
    Servers,
    Users,
    Charsets(Filter),
    Collations(Filter),
    Engines,
}

/// Whether SHOW TABLES has a second column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WithType {
    Yes,
    No,
}

/// How much of a statement SHOW PROCESSLIST shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InfoLength {
    First100,
    Full,
}

/// Which variables SHOW VARIABLES shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableScope {
    /// Ours, and with a filter also those that clients probe a server for.
    All,
    /// `mysql-…` only.
    Mysql,
    /// `admin-…` only.
    Admin,
}

/// What follows LIKE or WHERE.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Filter {
    None,
    Like(String),
    Where(String),
}
