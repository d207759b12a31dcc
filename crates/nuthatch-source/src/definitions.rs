//! What `information_schema` tells of all tables, as rows: one question for each of its tables.
//!
//! Nothing is asked that makes a server open tables or count rows, where there is a choice: a table's first use reads its statistics, which are
//! others once it has rows, and has warnings of its own. MariaDB opens all tables for some columns (measured on 10.11, by EXPLAIN and
//! `Opened_tables`): those are asked for elsewhere. It opens what a view reads to tell of the view's columns, and nothing else tells of them.

use nuthatch_sql::ServerFlavor;

use crate::PictureError;
use crate::question::{Question, Server};

/// Completes a question with the schemas that are the server's own.
macro_rules! outside_system_schemas {
    ($select:expr, $schema:literal, $and:literal) => {
        concat!(
            $select,
            " WHERE ",
            $schema,
            " NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')",
            $and
        )
    };
}

/// A part of `schema/table`, in the characters of file names, as a name.
macro_rules! name_of_file {
    ($column:literal, $part:literal) => {
        concat!(
            "CONVERT(CONVERT(CAST(SUBSTRING_INDEX(",
            $column,
            ", '/', ",
            $part,
            ") AS BINARY) USING filename) USING utf8mb4)"
        )
    };
}

const TABLES: Question = Question {
    what: "tables",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE FROM information_schema.TABLES",
        "TABLE_SCHEMA",
        ""
    ),
};

/// Those of keys, those that are generated, invisible or count, and those of type TIME.
const COLUMNS: Question = Question {
    what: "columns",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, DATA_TYPE, COLUMN_TYPE, EXTRA, \
         GENERATION_EXPRESSION FROM information_schema.COLUMNS",
        "TABLE_SCHEMA",
        " AND (COLUMN_KEY = 'PRI' OR EXTRA <> '' OR DATA_TYPE = 'time')"
    ),
};

/// All of them, for those whose values can be told apart.
const SHAPES: Question = Question {
    what: "columns",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, ORDINAL_POSITION, DATA_TYPE, COLUMN_TYPE, EXTRA, COLLATION_NAME \
         FROM information_schema.COLUMNS",
        "TABLE_SCHEMA",
        ""
    ),
};

/// Completes the question for one number of each table, made of all rows that describe it, in whatever order they come. The server
/// does the sum, because there are many rows. A NULL is not the text of one. MariaDB compares names without regard to accents here, unless they
/// are bytes.
macro_rules! number_of_each_table {
    ($table:literal, $values:literal) => {
        outside_system_schemas!(
            concat!(
                "SELECT TABLE_SCHEMA, TABLE_NAME, BIT_XOR(CAST(CONV(LEFT(SHA2(CONCAT_WS(',', ",
                $values,
                "), 256), 16), 16, 10) AS UNSIGNED)) FROM information_schema.",
                $table
            ),
            "TABLE_SCHEMA",
            " GROUP BY CAST(TABLE_SCHEMA AS BINARY), CAST(TABLE_NAME AS BINARY)"
        )
    };
}

const ALL_COLUMNS: Question = Question {
    what: "all columns",
    sql: number_of_each_table!(
        "COLUMNS",
        "ORDINAL_POSITION, QUOTE(COLUMN_NAME), QUOTE(COLUMN_TYPE), IS_NULLABLE, QUOTE(COLUMN_DEFAULT), \
         QUOTE(COLLATION_NAME), EXTRA, QUOTE(GENERATION_EXPRESSION)"
    ),
};

const ALL_INDEXES: Question = Question {
    what: "indexes",
    sql: number_of_each_table!(
        "STATISTICS",
        "QUOTE(INDEX_NAME), SEQ_IN_INDEX, NON_UNIQUE, QUOTE(COLUMN_NAME), QUOTE(SUB_PART), QUOTE(COLLATION), \
         INDEX_TYPE"
    ),
};

/// MariaDB opens tables to tell of direction and type: neither decides what an answer is.
const ALL_INDEXES_OF_MARIADB: Question = Question {
    what: "indexes",
    sql: number_of_each_table!(
        "STATISTICS",
        "QUOTE(INDEX_NAME), SEQ_IN_INDEX, NON_UNIQUE, QUOTE(COLUMN_NAME), QUOTE(SUB_PART)"
    ),
};

/// `COLUMN_KEY` says `PRI` of a unique key too, where there is no primary key.
const KEYS: Question = Question {
    what: "primary keys",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.STATISTICS",
        "TABLE_SCHEMA",
        " AND INDEX_NAME = 'PRIMARY'"
    ),
};

/// An index on an expression has no column. Nothing is made distinct: MariaDB takes `cafe` and `café` for one name here.
const UNIQUE_INDEXES: Question = Question {
    what: "unique indexes",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.STATISTICS",
        "TABLE_SCHEMA",
        " AND NON_UNIQUE = 0 AND INDEX_NAME <> 'PRIMARY'"
    ),
};

const VIEWS: Question = Question {
    what: "views",
    sql: outside_system_schemas!(
        "SELECT TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS",
        "TABLE_SCHEMA",
        ""
    ),
};

const TRIGGERS: Question = Question {
    what: "triggers",
    sql: outside_system_schemas!(
        "SELECT EVENT_OBJECT_SCHEMA, EVENT_OBJECT_TABLE, ACTION_STATEMENT, SQL_MODE \
         FROM information_schema.TRIGGERS",
        "TRIGGER_SCHEMA",
        ""
    ),
};

/// A row for each column that one refers to; without a column, should one not be shown.
const FOREIGN_KEYS: Question = Question {
    what: "foreign keys",
    sql: outside_system_schemas!(
        "SELECT r.CONSTRAINT_SCHEMA, r.TABLE_NAME, r.UNIQUE_CONSTRAINT_SCHEMA, r.REFERENCED_TABLE_NAME, r.UPDATE_RULE, \
         r.DELETE_RULE, k.REFERENCED_COLUMN_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS r \
         LEFT JOIN information_schema.KEY_COLUMN_USAGE k ON k.CONSTRAINT_SCHEMA = r.CONSTRAINT_SCHEMA \
         AND k.TABLE_NAME = r.TABLE_NAME AND k.CONSTRAINT_NAME = r.CONSTRAINT_NAME AND k.REFERENCED_COLUMN_NAME IS NOT NULL",
        "r.CONSTRAINT_SCHEMA",
        ""
    ),
};

/// The same from where MariaDB's InnoDB, which alone has any, keeps them, for who has PROCESS: for `REFERENTIAL_CONSTRAINTS` it opens all tables.
/// Names are written there as those of files, and the rules as bits (`DICT_FOREIGN_ON_UPDATE_CASCADE` and its like in its `dict0mem.h`).
const FOREIGN_KEYS_OF_INNODB: Question = Question {
    what: "foreign keys",
    sql: concat!(
        "SELECT ",
        name_of_file!("FOR_NAME", "1"),
        " AS child_schema, ",
        name_of_file!("FOR_NAME", "-1"),
        ", ",
        name_of_file!("REF_NAME", "1"),
        ", ",
        name_of_file!("REF_NAME", "-1"),
        ", IF(TYPE & 12, 'CASCADE', 'RESTRICT'), IF(TYPE & 3, 'CASCADE', 'RESTRICT'), REF_COL_NAME \
         FROM information_schema.INNODB_SYS_FOREIGN LEFT JOIN information_schema.INNODB_SYS_FOREIGN_COLS USING (ID) \
         HAVING child_schema NOT IN ('information_schema', 'performance_schema', 'mysql', 'sys')"
    ),
};

/// Those of all schemas: in `sys` too functions can be called by their names alone. A body of another language than SQL is not shown,
/// nor is it by the server to who may not see it.
const ROUTINES: Question = Question {
    what: "stored routines",
    sql: "SELECT ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, IF(ROUTINE_BODY = 'SQL', ROUTINE_DEFINITION, NULL) \
          FROM information_schema.ROUTINES",
};

/// All of it.
#[derive(Default)]
pub(crate) struct Definitions {
    pub(crate) tables: Vec<TableDefinition>,
    pub(crate) columns: Vec<ColumnDefinition>,
    /// All, if they were asked for.
    pub(crate) shapes: Vec<ColumnShape>,
    /// Of columns and of indexes.
    pub(crate) numbers: Vec<TableNumber>,
    pub(crate) keys: Vec<KeyColumn>,
    /// Those that have other unique indexes.
    pub(crate) uniquely_indexed: Vec<TableRef>,
    pub(crate) views: Vec<ViewDefinition>,
    pub(crate) triggers: Vec<TriggerDefinition>,
    pub(crate) foreign_keys: Vec<ForeignKey>,
    pub(crate) routines: Vec<RoutineDefinition>,
}

/// A table or view, by its name as the server writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TableRef {
    pub(crate) schema: Vec<u8>,
    pub(crate) name: Vec<u8>,
}

pub(crate) struct TableDefinition {
    pub(crate) table: TableRef,
    /// `BASE TABLE`, `VIEW`, `SEQUENCE`, `SYSTEM VERSIONED`.
    pub(crate) kind: Vec<u8>,
    /// Empty for views.
    pub(crate) engine: Vec<u8>,
}

pub(crate) struct ColumnDefinition {
    pub(crate) table: TableRef,
    pub(crate) name: Vec<u8>,
    /// From 1.
    pub(crate) ordinal: Vec<u8>,
    /// `int`.
    pub(crate) data_type: Vec<u8>,
    /// `int(10) unsigned zerofill`.
    pub(crate) column_type: Vec<u8>,
    /// `auto_increment`, `VIRTUAL GENERATED, INVISIBLE`.
    pub(crate) extra: Vec<u8>,
    /// Empty if it is not generated.
    pub(crate) generated_by: Vec<u8>,
}

/// A column of any kind, and how it compares.
pub(crate) struct ColumnShape {
    pub(crate) column: ColumnDefinition,
    /// Empty for what is not compared as characters.
    pub(crate) collation: Vec<u8>,
}

/// A number that stands for a part of a table's definition.
pub(crate) struct TableNumber {
    pub(crate) table: TableRef,
    pub(crate) number: u64,
}

/// A column of a primary key.
pub(crate) struct KeyColumn {
    pub(crate) table: TableRef,
    pub(crate) name: Vec<u8>,
}

pub(crate) struct ViewDefinition {
    pub(crate) view: TableRef,
    /// As the server has written it anew: names in back quotes, tables with their schemas.
    pub(crate) text: Vec<u8>,
}

pub(crate) struct TriggerDefinition {
    /// The table that sets it off; the trigger is of the same schema.
    pub(crate) table: TableRef,
    /// What is left of its body: see `trigger_body.rs`.
    pub(crate) body: Vec<u8>,
    pub(crate) sql_mode: Vec<u8>,
}

/// One column that a foreign key refers to.
pub(crate) struct ForeignKey {
    pub(crate) child: TableRef,
    pub(crate) parent: TableRef,
    /// `RESTRICT`, `NO ACTION`, `CASCADE`, `SET NULL`, `SET DEFAULT`.
    pub(crate) update_rule: Vec<u8>,
    pub(crate) delete_rule: Vec<u8>,
    /// The parent's column; empty if it is not told.
    pub(crate) referenced: Vec<u8>,
}

pub(crate) struct RoutineDefinition {
    pub(crate) schema: Vec<u8>,
    pub(crate) name: Vec<u8>,
    /// `FUNCTION`, `PROCEDURE`; MariaDB's `PACKAGE` and `PACKAGE BODY`.
    pub(crate) kind: Vec<u8>,
    /// Empty if it is not shown.
    pub(crate) body: Vec<u8>,
}

impl Definitions {
    /// Asks for all of it, one table of `information_schema` after the other; for the shapes of all columns if `wants_shapes`.
    ///
    /// # Errors
    /// When the server does not answer, or otherwise than expected.
    pub(crate) async fn read(
        server: &mut impl Server,
        flavor: ServerFlavor,
        wants_shapes: bool,
    ) -> Result<Self, PictureError> {
        let all_indexes = match flavor {
            ServerFlavor::MariaDb(_) => ALL_INDEXES_OF_MARIADB,
            ServerFlavor::MySql(_) => ALL_INDEXES,
        };
        Ok(Self {
            tables: all(server, TABLES, |[schema, name, kind, engine]| TableDefinition {
                table: TableRef { schema, name },
                kind,
                engine,
            })
            .await?,
            columns: all(
                server,
                COLUMNS,
                |[schema, table, name, ordinal, data_type, column_type, extra, generated_by]| {
                    let table = TableRef { schema, name: table };
                    ColumnDefinition { table, name, ordinal, data_type, column_type, extra, generated_by }
                },
            )
            .await?,
            shapes: if wants_shapes { all(server, SHAPES, ColumnShape::of_row).await? } else { Vec::new() },
            numbers: [numbers(server, ALL_COLUMNS).await?, numbers(server, all_indexes).await?]
                .into_iter()
                .flatten()
                .collect(),
            keys: all(server, KEYS, |[schema, table, name]| KeyColumn {
                table: TableRef { schema, name: table },
                name,
            })
            .await?,
            uniquely_indexed: all(server, UNIQUE_INDEXES, |[schema, name]| TableRef { schema, name }).await?,
            views: all(server, VIEWS, |[schema, name, text]| ViewDefinition {
                view: TableRef { schema, name },
                text,
            })
            .await?,
            triggers: all(server, TRIGGERS, |[schema, name, body, sql_mode]| TriggerDefinition {
                table: TableRef { schema, name },
                body,
                sql_mode,
            })
            .await?,
            foreign_keys: foreign_keys(server, flavor).await?,
            routines: all(server, ROUTINES, |[schema, name, kind, body]| RoutineDefinition {
                schema,
                name,
                kind,
                body,
            })
            .await?,
        })
    }
}

async fn foreign_keys(
    server: &mut impl Server,
    flavor: ServerFlavor,
) -> Result<Vec<ForeignKey>, PictureError> {
    if let ServerFlavor::MariaDb(_) = flavor {
        match all(server, FOREIGN_KEYS_OF_INNODB, ForeignKey::of_row).await {
            Err(PictureError::Refused { .. }) => {}
            outcome => return outcome,
        }
    }
    all(server, FOREIGN_KEYS, ForeignKey::of_row).await
}

/// The numbers of all tables.
async fn numbers(server: &mut impl Server, question: Question) -> Result<Vec<TableNumber>, PictureError> {
    let numbers = all(server, question, |[schema, name, number]| {
        let number = std::str::from_utf8(&number).ok()?.parse().ok()?;
        Some(TableNumber { table: TableRef { schema, name }, number })
    });
    let numbers: Option<_> = numbers.await?.into_iter().collect();
    numbers.ok_or(PictureError::NotUnderstood(question.what))
}

/// The answer's rows, each made into what it defines.
async fn all<T, const N: usize>(
    server: &mut impl Server,
    question: Question,
    of_row: impl Fn([Vec<u8>; N]) -> T,
) -> Result<Vec<T>, PictureError> {
    let rows = server.ask(question).await?;
    rows.into_iter().map(|row| question.fields(row).map(&of_row)).collect()
}

impl ForeignKey {
    fn of_row(
        [schema, name, parent_schema, parent, update_rule, delete_rule, referenced]: [Vec<u8>; 7],
    ) -> Self {
        Self {
            child: TableRef { schema, name },
            parent: TableRef { schema: parent_schema, name: parent },
            update_rule,
            delete_rule,
            referenced,
        }
    }

    /// A row that is removed from the parent may change the child's.
    pub(crate) fn cascades_removal(&self) -> bool {
        cascades(&self.delete_rule)
    }

    /// A change of what is referred to may change the child's rows.
    pub(crate) fn cascades_change(&self) -> bool {
        cascades(&self.update_rule)
    }
}

fn cascades(rule: &[u8]) -> bool {
    !matches!(rule, b"RESTRICT" | b"NO ACTION")
}

impl ColumnShape {
    fn of_row(
        [schema, table, name, ordinal, data_type, column_type, extra, collation]: [Vec<u8>; 8],
    ) -> Self {
        let table = TableRef { schema, name: table };
        let generated_by = Vec::new();
        let column = ColumnDefinition { table, name, ordinal, data_type, column_type, extra, generated_by };
        Self { column, collation }
    }
}

impl ColumnDefinition {
    /// Whether `EXTRA` holds the words.
    pub(crate) fn is(&self, words: &[u8]) -> bool {
        self.extra.windows(words.len()).any(|window| window.eq_ignore_ascii_case(words))
    }
}
