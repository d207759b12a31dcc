//! How many statements of each kind took how long: `stats_mysql_commands_counters`.
//!
//! Names and limits of time are ProxySQL's. Each worker counts its own. Answers of the cache are not counted here: their sum is known, so they are
//! added to the SELECTs when somebody reads, under the shortest time, as their digests have it.

use nuthatch_sql::{Ddl, Kind, NotCacheable, Statement, words};

use crate::stats::Counter;

/// The upper limits of all columns but the last, in microseconds.
const LIMITS_US: [u64; 11] =
    [100, 500, 1_000, 5_000, 10_000, 50_000, 100_000, 500_000, 1_000_000, 5_000_000, 10_000_000];

/// How many words tell the kind: `CREATE OR REPLACE TEMPORARY TABLE`.
const WORDS: usize = 6;

/// Columns of counts.
pub const COMMAND_BUCKETS: usize = LIMITS_US.len() + 1;

/// Defines the kinds once: their place and ProxySQL's name.
macro_rules! commands {
    ($($name:ident = $text:literal,)*) => {
        /// A kind of statement, as ProxySQL names it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum StatementCommand { $($name,)* }

        const NAMES: &[&str] = &[$($text,)*];
    };
}

commands! {
    AlterTable = "ALTER_TABLE",
    AlterView = "ALTER_VIEW",
    AnalyzeTable = "ANALYZE_TABLE",
    Begin = "BEGIN",
    Call = "CALL",
    ChangeMaster = "CHANGE_MASTER",
    Commit = "COMMIT",
    CreateDatabase = "CREATE_DATABASE",
    CreateIndex = "CREATE_INDEX",
    CreateTable = "CREATE_TABLE",
    CreateTemporary = "CREATE_TEMPORARY",
    CreateTrigger = "CREATE_TRIGGER",
    CreateUser = "CREATE_USER",
    CreateView = "CREATE_VIEW",
    Deallocate = "DEALLOCATE",
    Delete = "DELETE",
    Describe = "DESCRIBE",
    DropDatabase = "DROP_DATABASE",
    DropIndex = "DROP_INDEX",
    DropTable = "DROP_TABLE",
    DropTrigger = "DROP_TRIGGER",
    DropUser = "DROP_USER",
    DropView = "DROP_VIEW",
    Grant = "GRANT",
    Execute = "EXECUTE",
    Explain = "EXPLAIN",
    Flush = "FLUSH",
    Insert = "INSERT",
    Kill = "KILL",
    Load = "LOAD",
    LockTable = "LOCK_TABLE",
    Optimize = "OPTIMIZE",
    Prepare = "PREPARE",
    Purge = "PURGE",
    ReleaseSavepoint = "RELEASE_SAVEPOINT",
    RenameTable = "RENAME_TABLE",
    ResetMaster = "RESET_MASTER",
    ResetSlave = "RESET_SLAVE",
    Replace = "REPLACE",
    Revoke = "REVOKE",
    Rollback = "ROLLBACK",
    RollbackSavepoint = "ROLLBACK_SAVEPOINT",
    Savepoint = "SAVEPOINT",
    Select = "SELECT",
    SelectForUpdate = "SELECT_FOR_UPDATE",
    Set = "SET",
    ShowTableStatus = "SHOW_TABLE_STATUS",
    StartTransaction = "START_TRANSACTION",
    TruncateTable = "TRUNCATE_TABLE",
    UnlockTables = "UNLOCK_TABLES",
    Update = "UPDATE",
    Use = "USE",
    Show = "SHOW",
    Unknown = "UNKNOWN",
}

impl StatementCommand {
    /// The kind of the statement that `text` was found to be.
    pub(crate) fn of_statement(text: &[u8], statement: &Statement<'_>) -> Self {
        let text = text.get(statement.first_word.start..).unwrap_or_default();
        let words: Vec<_> =
            words(text).take(WORDS).map(|word| String::from_utf8_lossy(word).to_ascii_uppercase()).collect();
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        match statement.cache {
            Err(NotCacheable::Locking) if statement.kind == Kind::Select => Self::SelectForUpdate,
            _ => Self::of(statement.kind, &words),
        }
    }

    /// The kind of a statement that begins with these words, in upper case.
    fn of(kind: Kind, words: &[&str]) -> Self {
        let second = words.get(1).copied().unwrap_or_default();
        match kind {
            Kind::Select => Self::Select,
            Kind::Insert => Self::Insert,
            Kind::Replace => Self::Replace,
            Kind::Update => Self::Update,
            Kind::Delete => Self::Delete,
            Kind::Call => Self::Call,
            Kind::Set => Self::Set,
            Kind::Use => Self::Use,
            Kind::Begin if second == "TRANSACTION" => Self::StartTransaction,
            Kind::Begin => Self::Begin,
            Kind::Commit => Self::Commit,
            Kind::Rollback => Self::Rollback,
            Kind::Savepoint => match words.first() {
                Some(&"RELEASE") => Self::ReleaseSavepoint,
                Some(&"ROLLBACK") => Self::RollbackSavepoint,
                _ => Self::Savepoint,
            },
            Kind::Ddl(ddl) => Self::of_ddl(ddl, words.get(1..).unwrap_or_default()),
            Kind::Show if words.starts_with(&["SHOW", "TABLE", "STATUS"]) => Self::ShowTableStatus,
            Kind::Show => Self::Show,
            Kind::Explain if words.first().is_some_and(|word| word.starts_with("DESC")) => Self::Describe,
            Kind::Explain => Self::Explain,
            Kind::Lock => Self::LockTable,
            Kind::Unlock => Self::UnlockTables,
            Kind::Prepare => Self::Prepare,
            Kind::Execute => Self::Execute,
            Kind::Deallocate => Self::Deallocate,
            Kind::LoadData => Self::Load,
            Kind::Kill => Self::Kill,
            Kind::Grant if words.first() == Some(&"REVOKE") => Self::Revoke,
            Kind::Grant => Self::Grant,
            Kind::Flush => Self::Flush,
            Kind::Do | Kind::Handler | Kind::Xa | Kind::Other | Kind::Empty | Kind::Multi => {
                Self::of_other(words)
            }
        }
    }

    /// By the first word behind CREATE and its like that names a kind of thing.
    fn of_ddl(ddl: Ddl, words: &[&str]) -> Self {
        let thing = words.iter().find_map(|word| match *word {
            "DATABASE" | "SCHEMA" => Some("DATABASE"),
            known @ ("TABLE" | "VIEW" | "INDEX" | "TRIGGER" | "USER" | "TEMPORARY") => Some(known),
            _ => None,
        });
        match (ddl, thing.unwrap_or_default()) {
            (Ddl::Alter, "TABLE") => Self::AlterTable,
            (Ddl::Alter, "VIEW") => Self::AlterView,
            (Ddl::Create, "DATABASE") => Self::CreateDatabase,
            (Ddl::Create, "INDEX") => Self::CreateIndex,
            (Ddl::Create, "TABLE") => Self::CreateTable,
            (Ddl::Create, "TEMPORARY") => Self::CreateTemporary,
            (Ddl::Create, "TRIGGER") => Self::CreateTrigger,
            (Ddl::Create, "USER") => Self::CreateUser,
            (Ddl::Create, "VIEW") => Self::CreateView,
            (Ddl::Drop, "DATABASE") => Self::DropDatabase,
            (Ddl::Drop, "INDEX") => Self::DropIndex,
            (Ddl::Drop, "TABLE" | "TEMPORARY") => Self::DropTable,
            (Ddl::Drop, "TRIGGER") => Self::DropTrigger,
            (Ddl::Drop, "USER") => Self::DropUser,
            (Ddl::Drop, "VIEW") => Self::DropView,
            (Ddl::Rename, "TABLE") => Self::RenameTable,
            (Ddl::Truncate, _) => Self::TruncateTable,
            _ => Self::Unknown,
        }
    }

    fn of_other(words: &[&str]) -> Self {
        match words {
            ["ANALYZE", ..] => Self::AnalyzeTable,
            ["CHANGE", ..] => Self::ChangeMaster,
            ["OPTIMIZE", ..] => Self::Optimize,
            ["PURGE", ..] => Self::Purge,
            ["RESET", "MASTER", ..] => Self::ResetMaster,
            ["RESET", "SLAVE" | "REPLICA", ..] => Self::ResetSlave,
            _ => Self::Unknown,
        }
    }
}

/// One worker's counts of one kind.
#[derive(Debug, Default)]
struct Counts {
    time_us: Counter,
    buckets: [Counter; COMMAND_BUCKETS],
}

/// One worker's counts.
#[derive(Debug)]
pub(crate) struct CommandCounters(Box<[Counts]>);

impl Default for CommandCounters {
    fn default() -> Self {
        Self(NAMES.iter().map(|_| Counts::default()).collect())
    }
}

impl CommandCounters {
    /// Counts a statement that took so long.
    pub(crate) fn count(&self, command: StatementCommand, time_us: u64) {
        let Some(counts) = self.0.get(command as usize) else { return };
        counts.time_us.add(time_us);
        let bucket = LIMITS_US.iter().position(|limit| time_us <= *limit).unwrap_or(LIMITS_US.len());
        if let Some(bucket) = counts.buckets.get(bucket) {
            bucket.bump();
        }
    }
}

/// A row of `stats_mysql_commands_counters`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandRow {
    /// ProxySQL's name of the kind.
    pub command: &'static str,
    /// Time of all, in microseconds.
    pub time_us: u64,
    /// How many took at most 100 µs, 500 µs, 1 ms, 5 ms, 10 ms, 50 ms, 100 ms, 500 ms, 1 s, 5 s, 10 s, and longer.
    pub buckets: [u64; COMMAND_BUCKETS],
}

/// All kinds, with what the workers have counted and the answers of the cache.
pub(crate) fn command_rows<'a>(
    workers: impl Iterator<Item = &'a CommandCounters>,
    hits: u64,
) -> Vec<CommandRow> {
    let row = |command: &&'static str| CommandRow { command, time_us: 0, buckets: [0; COMMAND_BUCKETS] };
    let mut rows: Vec<_> = NAMES.iter().map(row).collect();
    for worker in workers {
        for (row, counts) in rows.iter_mut().zip(&worker.0) {
            row.time_us += counts.time_us.read();
            row.buckets.iter_mut().zip(&counts.buckets).for_each(|(sum, bucket)| *sum += bucket.read());
        }
    }
    if let Some([shortest, ..]) = rows.get_mut(StatementCommand::Select as usize).map(|row| &mut row.buckets)
    {
        *shortest += hits;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_have_the_names_that_proxysql_gives_them() {
        let lexing = nuthatch_sql::Lexing::of(nuthatch_sql::ServerFlavor::MariaDb(101_119));
        for (text, expected) in [
            ("SELECT 1", "SELECT"),
            ("SELECT 1 FROM t FOR UPDATE", "SELECT_FOR_UPDATE"),
            ("INSERT INTO t VALUES (1)", "INSERT"),
            ("START TRANSACTION", "START_TRANSACTION"),
            ("BEGIN", "BEGIN"),
            ("ROLLBACK TO s", "ROLLBACK_SAVEPOINT"),
            ("RELEASE SAVEPOINT s", "RELEASE_SAVEPOINT"),
            ("CREATE OR REPLACE TABLE t (a INT)", "CREATE_TABLE"),
            ("CREATE TEMPORARY TABLE t (a INT)", "CREATE_TEMPORARY"),
            ("CREATE UNIQUE INDEX i ON t (a)", "CREATE_INDEX"),
            ("DROP DATABASE d", "DROP_DATABASE"),
            ("TRUNCATE t", "TRUNCATE_TABLE"),
            ("ALTER TABLE t ADD b INT", "ALTER_TABLE"),
            ("desc t", "DESCRIBE"),
            ("EXPLAIN SELECT 1", "EXPLAIN"),
            ("SHOW TABLE STATUS", "SHOW_TABLE_STATUS"),
            ("SHOW TABLES", "SHOW"),
            ("REVOKE ALL ON *.* FROM a", "REVOKE"),
            ("OPTIMIZE TABLE t", "OPTIMIZE"),
            ("XA START 'x'", "UNKNOWN"),
        ] {
            let statement = nuthatch_sql::classify(text.as_bytes(), lexing);
            let command = StatementCommand::of_statement(text.as_bytes(), &statement);
            assert_eq!(NAMES[command as usize], expected, "{text}");
        }
    }

    #[test]
    fn times_go_where_they_belong_and_hits_to_the_selects() {
        let (one, two) = (CommandCounters::default(), CommandCounters::default());
        one.count(StatementCommand::Select, 100);
        one.count(StatementCommand::Select, 101);
        two.count(StatementCommand::Select, 10_000_001);
        two.count(StatementCommand::Unknown, 0);
        let rows = command_rows([&one, &two].into_iter(), 7);
        let select = rows.iter().find(|row| row.command == "SELECT").unwrap();
        assert_eq!(select.time_us, 10_000_202);
        assert_eq!(select.buckets, [8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(rows.last().unwrap().buckets[0], 1);
        assert_eq!(rows.len(), NAMES.len());
    }
}
