//! What of `information_schema` changes only when a definition does.
//!
//! Even the tables that tell of definitions tell sizes, counts and times as well. So tables and columns are those of an allow-list,
//! from the manuals' pages "Information Schema ... Table" of both servers, and a statement asks for definitions only if each name
//! in it is in that list, or stands where it can only be an alias. `*` and NATURAL JOIN name columns that cannot be seen.
//! What a user may see of it follows from the user's privileges, which are no part of this.

use crate::classify::cursor::{Cursor, is_word};
use crate::statement::Name;
use crate::token::{Token, TokenKind};
use crate::words::is_one_of;

const SCHEMA: &[u8] = b"information_schema";

#[rustfmt::skip]
const TABLES: [&[u8]; 8] = [
    b"columns", b"key_column_usage", b"referential_constraints", b"schemata", b"statistics", b"table_constraints",
    b"tables", b"views",
];

/// Not among them, though they look like it: `auto_increment`, `cardinality`, `comment` of an index (keys are disabled while rows are
/// loaded), `create_time` (OPTIMIZE and TRUNCATE change it), `privileges`, and the texts that are printed anew each time.
#[rustfmt::skip]
const COLUMNS: [&[u8]; 58] = [
    b"catalog_name", b"character_maximum_length", b"character_octet_length", b"character_set_name", b"check_option",
    b"collation", b"collation_name", b"column_comment", b"column_default", b"column_key", b"column_name",
    b"column_type", b"constraint_catalog", b"constraint_name", b"constraint_schema", b"constraint_type",
    b"data_type", b"datetime_precision", b"default_character_set_name", b"default_collation_name", b"definer",
    b"delete_rule", b"enforced", b"engine", b"extra", b"index_comment", b"index_name", b"index_schema",
    b"index_type", b"is_nullable", b"is_updatable", b"is_visible", b"match_option", b"non_unique", b"nullable",
    b"numeric_precision", b"numeric_scale", b"ordinal_position", b"position_in_unique_constraint",
    b"referenced_column_name", b"referenced_table_name", b"referenced_table_schema", b"schema_name",
    b"security_type", b"seq_in_index", b"srs_id", b"sub_part", b"table_catalog", b"table_collation",
    b"table_comment", b"table_name", b"table_schema", b"table_type", b"unique_constraint_catalog",
    b"unique_constraint_name", b"unique_constraint_schema", b"update_rule", b"ignored",
];

/// None of them is a column there.
#[rustfmt::skip]
const KEYWORDS: [&[u8]; 43] = [
    b"all", b"and", b"as", b"asc", b"between", b"binary", b"by", b"case", b"collate", b"cross", b"desc",
    b"distinct", b"else", b"end", b"escape", b"exists", b"false", b"from", b"group", b"having", b"in", b"inner",
    b"is", b"join", b"left", b"like", b"limit", b"not", b"null", b"offset", b"on", b"or", b"order", b"outer",
    b"right", b"select", b"separator", b"then", b"true", b"union", b"using", b"when", b"where",
];

/// Whether `schema` is `information_schema`.
pub(super) fn is_named(schema: Name<'_>) -> bool {
    schema.text().eq_ignore_ascii_case(SCHEMA)
}

/// Whether the table of `information_schema` with this name tells of definitions.
pub(super) fn tells_of_definitions(table: Name<'_>) -> bool {
    is_one_of(&table.text(), &TABLES)
}

/// Whether it tells of columns, also of views: MariaDB works those out anew each time, and computes `NOW()` in them.
pub(super) fn tells_of_columns(table: Name<'_>) -> bool {
    table.text().eq_ignore_ascii_case(b"columns")
}

/// Whether it tells which tables there are without opening them, as all others do, which wait for who makes one or warn that they pass it
/// over.
pub(super) fn lists_tables(table: Name<'_>) -> bool {
    table.text().eq_ignore_ascii_case(b"tables")
}

/// Whether a SELECT that calls no function but known ones asks for nothing else of it than what changes with definitions.
pub(super) fn asks_for_definitions_only(start: &Cursor<'_>) -> bool {
    let mut cursor = start.clone();
    let mut before = Before::default();
    while let Some(token) = cursor.bump() {
        let is_known = match token.kind {
            TokenKind::Word | TokenKind::Quoted => is_known(token, before, &cursor),
            TokenKind::Symbol(b'*') => before == Before::OfCount,
            TokenKind::Symbol(_) | TokenKind::String | TokenKind::Number => true,
            _ => false,
        };
        if !is_known {
            return false;
        }
        before = before.then(token);
    }
    !cursor.has_executable
}

/// What stands before a token.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Before {
    #[default]
    Other,
    Dot,
    As,
    /// The name of the schema, then a dot, then one of its tables: an alias may follow.
    Schema,
    SchemaDot,
    Table,
    Count,
    /// And an opening parenthesis.
    OfCount,
}

impl Before {
    fn then(self, token: Token<'_>) -> Self {
        let is_name = matches!(token.kind, TokenKind::Word | TokenKind::Quoted);
        match (self, token.kind) {
            (Self::Schema, TokenKind::Symbol(b'.')) => Self::SchemaDot,
            (_, TokenKind::Symbol(b'.')) => Self::Dot,
            (Self::SchemaDot, _) if is_name => Self::Table,
            (Self::Count, TokenKind::Symbol(b'(')) => Self::OfCount,
            // Names, whatever word they are.
            (Self::Dot | Self::As, _) => Self::Other,
            _ if is_word(token, b"AS") => Self::As,
            _ if is_word(token, b"COUNT") => Self::Count,
            _ if is_name && is_named(Name(token.text)) => Self::Schema,
            _ => Self::Other,
        }
    }
}

/// Whether a name, or a keyword, is one that is known, or can be no column.
fn is_known(token: Token<'_>, before: Before, behind: &Cursor<'_>) -> bool {
    let qualifies_or_calls = behind.peek_symbol(b'.') || behind.peek_symbol(b'(');
    if is_word(token, b"NATURAL") {
        return false;
    }
    let name = Name(token.text).text();
    let is_keyword = token.kind == TokenKind::Word && is_one_of(&name, &KEYWORDS);
    match before {
        Before::SchemaDot => is_one_of(&name, &TABLES),
        Before::As | Before::Table => true,
        _ => qualifies_or_calls || is_keyword || is_one_of(&name, &COLUMNS),
    }
}
