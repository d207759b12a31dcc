//! How a table and its columns are written down.

use std::fmt::Write;

/// One table of the configuration.
pub struct Table {
    /// ProxySQL's name.
    pub name: &'static str,
    /// The columns in order.
    pub columns: &'static [Column],
    /// Keys, as SQL.
    pub keys: &'static [&'static str],
    /// There is a `runtime_` twin.
    pub has_twin: bool,
    /// Something looks at its rows.
    pub acts: bool,
}

/// One column.
pub struct Column {
    /// ProxySQL's name.
    pub name: &'static str,
    /// Type, as SQL.
    pub sql_type: &'static str,
    /// Condition on its values, as SQL.
    pub check: Option<&'static str>,
    /// NULL is a value.
    pub nullable: bool,
    /// What stands in it when nothing is said.
    pub default: ColumnDefault,
    /// Something looks at it; otherwise it is stored only.
    pub acts: bool,
}

/// What stands in a column when nothing is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ColumnDefault {
    /// Nothing: NULL, or an error where NULL is no value.
    None,
    /// NULL, written out.
    Null,
    /// A number.
    Integer(i64),
    /// A text.
    Text(&'static str),
}

impl Table {
    /// `CREATE TABLE` for this table under `name` (its own, or its twin's), in `schema`.
    pub fn create_text(&self, schema: &str, name: &str) -> String {
        let qualified = if schema.is_empty() { name.to_owned() } else { format!("{schema}.{name}") };
        let columns = self.columns.iter().map(Column::declaration);
        let lines: Vec<String> = columns.chain(self.keys.iter().map(|key| (*key).to_owned())).collect();
        format!("CREATE TABLE {qualified} (\n    {}\n)", lines.join(",\n    "))
    }

    /// Name of the twin that shows what is in force.
    pub fn twin(&self) -> String {
        format!("runtime_{}", self.name)
    }

    /// The column of that name, in either case.
    pub fn column(&self, name: &str) -> Option<&'static Column> {
        self.columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
    }

    /// The names of all columns, quoted, separated by commas.
    pub fn column_list(&self) -> String {
        self.columns.iter().map(|column| format!("\"{}\"", column.name)).collect::<Vec<_>>().join(", ")
    }
}

impl Column {
    /// A whole number that must be there.
    pub(super) const fn int(name: &'static str) -> Self {
        let default = ColumnDefault::None;
        Self { name, sql_type: "INT", check: None, nullable: false, default, acts: true }
    }

    /// A text that must be there.
    pub(super) const fn text(name: &'static str) -> Self {
        Self { sql_type: "VARCHAR", ..Self::int(name) }
    }

    /// A key that counts itself up.
    pub(super) const fn serial(name: &'static str) -> Self {
        Self { sql_type: "INTEGER PRIMARY KEY AUTOINCREMENT", ..Self::int(name) }
    }

    pub(super) const fn of_type(self, sql_type: &'static str) -> Self {
        Self { sql_type, ..self }
    }

    pub(super) const fn check(self, condition: &'static str) -> Self {
        Self { check: Some(condition), ..self }
    }

    pub(super) const fn or_null(self) -> Self {
        Self { nullable: true, ..self }
    }

    pub(super) const fn default_null(self) -> Self {
        Self { nullable: true, default: ColumnDefault::Null, ..self }
    }

    pub(super) const fn default_int(self, value: i64) -> Self {
        Self { default: ColumnDefault::Integer(value), ..self }
    }

    pub(super) const fn default_text(self, value: &'static str) -> Self {
        Self { default: ColumnDefault::Text(value), ..self }
    }

    /// Nothing looks at it yet.
    pub(super) const fn stored(self) -> Self {
        Self { acts: false, ..self }
    }

    /// The condition that the column's value says something, as SQL.
    pub(crate) fn is_set(&self) -> String {
        let name = self.name;
        match self.default {
            ColumnDefault::None | ColumnDefault::Null => format!("\"{name}\" IS NOT NULL"),
            ColumnDefault::Integer(value) => format!("\"{name}\" IS NOT {value}"),
            ColumnDefault::Text(value) => format!("\"{name}\" IS NOT '{value}'"),
        }
    }

    fn declaration(&self) -> String {
        // SQLite takes `Default` for a word of its own.
        let name = if self.name == "Default" { "\"Default\"" } else { self.name };
        let mut text = format!("{name} {}", self.sql_type);
        if let Some(condition) = self.check {
            write!(text, " CHECK ({condition})").expect("a String takes what is written");
        }
        if !self.nullable {
            text.push_str(" NOT NULL");
        }
        match self.default {
            ColumnDefault::None => {}
            ColumnDefault::Null => text.push_str(" DEFAULT NULL"),
            ColumnDefault::Integer(value) => {
                write!(text, " DEFAULT {value}").expect("a String takes what is written");
            }
            ColumnDefault::Text(value) => {
                write!(text, " DEFAULT '{value}'").expect("a String takes what is written");
            }
        }
        text
    }
}
