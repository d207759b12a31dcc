//! Which capability flags the proxy carries from end to end, and which of them a backend connection must share with the
//! session that uses it.

use nuthatch_wire::{CapabilityFlags, Form};

/// What the proxy can offer to a client when the backend offers it too.
///
/// Not in the list, because not supported end to end: MariaDB's progress reports and `COM_MULTI`. TLS and
/// compression are each side's own.
pub(crate) const SUPPORTED: CapabilityFlags = CapabilityFlags::CLIENT_LONG_PASSWORD
    .union(CapabilityFlags::CLIENT_FOUND_ROWS)
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_ODBC)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_IGNORE_SPACE)
    .union(CapabilityFlags::CLIENT_PROTOCOL_41)
    .union(CapabilityFlags::CLIENT_INTERACTIVE)
    .union(CapabilityFlags::CLIENT_IGNORE_SIGPIPE)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS)
    .union(CapabilityFlags::CLIENT_RESERVED)
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_CONNECT_ATTRS)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA)
    .union(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES)
    .union(CapabilityFlags::MARIADB_CLIENT_STMT_BULK_OPERATIONS)
    .union(CapabilityFlags::MARIADB_CLIENT_BULK_UNIT_RESULTS)
    .union(Form::FLAGS);

/// Flags that the proxy answers for itself, whatever the backend offers.
pub(crate) const OWN: CapabilityFlags = CapabilityFlags::CLIENT_PROTOCOL_41
    .union(CapabilityFlags::CLIENT_SECURE_CONNECTION)
    .union(CapabilityFlags::CLIENT_CONNECT_WITH_DB)
    .union(CapabilityFlags::CLIENT_PLUGIN_AUTH)
    .union(CapabilityFlags::CLIENT_TRANSACTIONS);

/// How either side packs; each side's own.
pub(crate) const COMPRESSION: CapabilityFlags =
    CapabilityFlags::CLIENT_COMPRESS.union(CapabilityFlags::CLIENT_ZSTD_COMPRESSION_ALGORITHM);

/// Flags that change what a server does with a statement or how its answer looks. A session uses only backend connections of its own
/// shape, but for what is [translated](TRANSLATED) where it must be.
pub(crate) const SHAPE: CapabilityFlags = CapabilityFlags::CLIENT_FOUND_ROWS
    .union(CapabilityFlags::CLIENT_LONG_FLAG)
    .union(CapabilityFlags::CLIENT_ODBC)
    .union(CapabilityFlags::CLIENT_LOCAL_FILES)
    .union(CapabilityFlags::CLIENT_IGNORE_SPACE)
    .union(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    .union(CapabilityFlags::CLIENT_MULTI_RESULTS)
    .union(CapabilityFlags::CLIENT_PS_MULTI_RESULTS)
    .union(TRANSLATED);

/// Flags in which a session and its connection may differ: the [form](Form) of answers, and how statements come.
pub(crate) const TRANSLATED: CapabilityFlags = Form::FLAGS.union(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);

/// What is offered before any backend has been seen: what every server since MySQL 5.7 and MariaDB 10.2 has.
pub(crate) const UNTIL_LEARNED: CapabilityFlags = SUPPORTED.difference(NOT_OF_ALL_SERVERS);

const NOT_OF_ALL_SERVERS: CapabilityFlags = CapabilityFlags::CLIENT_OPTIONAL_RESULTSET_METADATA
    .union(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES)
    .union(CapabilityFlags::MARIADB);
