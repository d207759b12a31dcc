//! `@@variable` in SQL: SQLite does not know it, so each becomes a parameter that is bound to the variable's value.

use super::split::{Stretch, first_stretch};

/// A variable as it was named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemVariable {
    /// As it was typed, with its `@@`: the name of its column.
    pub(crate) typed: String,
    /// The bare name in lower case, without `global.` or `session.`.
    pub(crate) name: String,
}

/// The SQL with `?1`, `?2` … in place of its `@@` variables, and the variables in that order.
pub(crate) fn rewrite(sql: &str) -> (String, Vec<SystemVariable>) {
    let mut out = String::with_capacity(sql.len());
    let mut variables = Vec::new();
    let mut rest = sql;
    while !rest.is_empty() {
        let (stretch, len) = first_stretch(rest);
        if stretch == Stretch::Word && rest.starts_with("@@") {
            let len = variable_len(rest);
            variables.push(variable(&rest[..len]));
            out.push_str(&format!("?{}", variables.len()));
            rest = &rest[len..];
        } else {
            out.push_str(&rest[..len]);
            rest = &rest[len..];
        }
    }
    (out, variables)
}

fn variable(typed: &str) -> SystemVariable {
    let lower = typed[2..].to_ascii_lowercase();
    let name = ["global.", "session.", "local."]
        .iter()
        .find_map(|scope| lower.strip_prefix(scope))
        .unwrap_or(&lower);
    SystemVariable { typed: typed.to_owned(), name: name.trim_matches('`').to_owned() }
}

/// Bytes of the variable at the start of `text`: a hyphen belongs to it only behind `mysql` and `admin`.
fn variable_len(text: &str) -> usize {
    let head = text.get(..8).unwrap_or_default().to_ascii_lowercase();
    let start = if head == "@@mysql-" || head == "@@admin-" { 8 } else { 2 };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '`');
    text[start..].find(|c| !is_name(c)).map_or(text.len(), |len| start + len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_become_parameters_outside_of_literals_only() {
        for (sql, expected, names) in [
            ("SELECT @@version_comment LIMIT 1", "SELECT ?1 LIMIT 1", vec!["version_comment"]),
            ("select @@Session.Autocommit, @@GLOBAL.x", "select ?1, ?2", vec!["autocommit", "x"]),
            ("SELECT @@mysql-max_connections", "SELECT ?1", vec!["mysql-max_connections"]),
            ("SELECT @@a-@@b", "SELECT ?1-?2", vec!["a", "b"]),
            ("SELECT '@@a', \"@@b\" -- @@c", "SELECT '@@a', \"@@b\" -- @@c", vec![]),
            ("SELECT a@@b", "SELECT a@@b", vec![]),
        ] {
            let (found, variables) = rewrite(sql);
            let found_names: Vec<_> = variables.iter().map(|variable| variable.name.as_str()).collect();
            assert_eq!((found.as_str(), found_names), (expected, names), "{sql}");
        }
    }
}
