//! The command byte that begins each packet of a client in the command phase.

/// Defines [`Command`] with its bytes once.
macro_rules! commands {
    ($($(#[$doc:meta])* $name:ident = $byte:literal, $text:literal;)*) => {
        /// A command that a client may send. Source: "Command Phase".
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Command { $($(#[$doc])* $name = $byte,)* }

        impl Command {
            /// The command of a packet's first byte, if the protocol has one.
            #[must_use]
            pub const fn parse(byte: u8) -> Option<Self> {
                match byte { $($byte => Some(Self::$name),)* _ => None }
            }

            /// The name as `SHOW PROCESSLIST` shows it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

commands! {
    /// Refused: internal to the server.
    Sleep = 0x00, "Sleep";
    /// The client leaves.
    Quit = 0x01, "Quit";
    /// Changes the default schema.
    InitDb = 0x02, "Init DB";
    /// A statement as text.
    Query = 0x03, "Query";
    /// A table's columns, as the command line client asks for completion.
    FieldList = 0x04, "Field List";
    /// One line about the server.
    Statistics = 0x09, "Statistics";
    /// `FLUSH` of what a byte names, as a command.
    Refresh = 0x07, "Refresh";
    /// Stops the server.
    Shutdown = 0x08, "Shutdown";
    /// `SHOW PROCESSLIST` as a command.
    ProcessInfo = 0x0A, "Processlist";
    /// `KILL` as a command.
    ProcessKill = 0x0C, "Kill";
    /// Makes the server write debug information to its log.
    Debug = 0x0D, "Debug";
    /// Asks for a sign of life.
    Ping = 0x0E, "Ping";
    /// Another login on the same connection.
    ChangeUser = 0x11, "Change user";
    /// Asks for the binlog from a file and position.
    BinlogDump = 0x12, "Binlog Dump";
    /// A replica says who it is.
    RegisterSlave = 0x15, "Register Slave";
    /// Prepares a statement.
    StmtPrepare = 0x16, "Prepare";
    /// Executes a prepared statement.
    StmtExecute = 0x17, "Execute";
    /// A piece of a parameter; has no answer.
    StmtSendLongData = 0x18, "Long Data";
    /// Closes a prepared statement; has no answer.
    StmtClose = 0x19, "Close stmt";
    /// Forgets a prepared statement's long data and cursor.
    StmtReset = 0x1A, "Reset stmt";
    /// Turns multi-statements on or off.
    SetOption = 0x1B, "Set option";
    /// Rows of a cursor.
    StmtFetch = 0x1C, "Fetch";
    /// Asks for the binlog from a GTID set.
    BinlogDumpGtid = 0x1E, "Binlog Dump GTID";
    /// Forgets the session's state without another login.
    ResetConnection = 0x1F, "Reset connection";
    /// MariaDB: a prepared statement with many sets of parameters.
    StmtBulkExecute = 0xFA, "Bulk execute";
}
