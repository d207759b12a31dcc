//! The tables: `item` is read and written by key and group, `told` by a rule with a time, `altered_N` are defined anew and again.

/// Keys of `item` and of `told`.
pub(crate) const KEYS: usize = 4000;

/// Groups of `item`.
pub(crate) const GROUPS: usize = 100;

/// Tables `altered_N`.
pub(crate) const ALTERED: usize = 4;

/// How many rows a statement makes.
const ROWS_AT_ONCE: usize = 1000;

/// Statements that make all.
pub(crate) fn statements() -> Vec<String> {
    let columns = "(id INT PRIMARY KEY, grp INT NOT NULL, version BIGINT NOT NULL, KEY (grp))";
    let mut statements = vec![
        format!("CREATE TABLE item {columns}"),
        format!("CREATE TABLE told {columns}"),
        format!("CREATE TABLE passing {columns}"),
        "CREATE VIEW glance AS SELECT id, version FROM item".to_owned(),
    ];
    for first in (0..KEYS).step_by(ROWS_AT_ONCE) {
        let rows: Vec<_> =
            (first..first + ROWS_AT_ONCE).map(|id| format!("({id}, {}, 1)", id % GROUPS)).collect();
        let rows = rows.join(", ");
        statements.extend(["item", "told"].map(|table| format!("INSERT INTO {table} VALUES {rows}")));
    }
    statements.extend((0..ALTERED).flat_map(altered));
    statements
}

/// Statements that make a table that is defined anew.
pub(crate) fn altered(number: usize) -> [String; 2] {
    [
        format!("CREATE TABLE altered_{number} (id INT PRIMARY KEY, version BIGINT NOT NULL)"),
        format!("INSERT INTO altered_{number} VALUES (1, 1), (2, 1), (3, 1)"),
    ]
}
