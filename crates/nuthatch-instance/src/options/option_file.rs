//! An option file as the servers read it: groups, `name = value`, comments.
//!
//! Of a file the groups count that a server reads: `[mysqld]` and `[server]` for both kinds, `[mariadb]` and `[mariadbd]` for MariaDB, and,
//! which is ours, `[mysql-server]` for MySQL alone. Others, and lines before the first group, are mistakes, and so is `!include`: what is in
//! force is to be seen in one place.

use nuthatch_server::Kind;

use crate::options::fixed::FIXED;

/// The options of one file, in its order. Names are written with `_`; an option without a value has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct OptionFile {
    lines: Vec<Line>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    /// For whom it is; `None` for both.
    kind: Option<Kind>,
    name: String,
    value: Option<String>,
}

impl OptionFile {
    /// What the text says; else what is wrong with which line.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut file = Self::default();
        let mut group = None;
        for (number, line) in text.lines().enumerate() {
            let bad = |what: &str| format!("line {}: {what}", number + 1);
            let line = line.trim();
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            if let Some(name) = line.strip_prefix('[') {
                let name = name.strip_suffix(']').ok_or_else(|| bad("a group ends with ]"))?;
                group = Some(kind_of_group(name).map_err(|what| bad(&what))?);
                continue;
            }
            if line.starts_with('!') {
                return Err(bad("files that include others are not read"));
            }
            let Some(kind) = group else {
                return Err(bad("it stands before any group: begin with [mysqld]"));
            };
            let (name, value) = split(line);
            let name = check_name(&name).map_err(|what| bad(&what))?;
            file.lines.push(Line { kind, name, value });
        }
        Ok(file)
    }

    /// The options that this kind of server reads, the last of a name alone.
    pub(crate) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = (&str, Option<&str>)> {
        let is_for = move |line: &&Line| line.kind.is_none_or(|of| of == kind);
        self.lines.iter().filter(is_for).map(|line| (line.name.as_str(), line.value.as_deref()))
    }
}

fn kind_of_group(name: &str) -> Result<Option<Kind>, String> {
    match name.trim() {
        "mysqld" | "server" => Ok(None),
        "mariadb" | "mariadbd" => Ok(Some(Kind::MariaDb)),
        "mysql-server" => Ok(Some(Kind::MySql)),
        other => Err(format!(
            "the group [{other}] is not for a server: [mysqld] is for both kinds, [mariadb] for MariaDB, [mysql-server] for MySQL"
        )),
    }
}

/// Name and value of a line, without quotes and what a comment says.
fn split(line: &str) -> (String, Option<String>) {
    let Some((name, rest)) = line.split_once('=') else {
        return (without_comment(line).to_owned(), None);
    };
    let rest = rest.trim();
    for quote in ['"', '\''] {
        if let Some((value, _)) = rest.strip_prefix(quote).and_then(|rest| rest.split_once(quote)) {
            return (name.to_owned(), Some(value.to_owned()));
        }
    }
    (name.to_owned(), Some(without_comment(rest).to_owned()))
}

fn without_comment(text: &str) -> &str {
    text.split_once(" #").map_or(text, |(before, _)| before).trim_end()
}

/// The name as it is known everywhere: with `_`, without dashes before it. What every instance has of its own is no option.
pub(crate) fn check_name(name: &str) -> Result<String, String> {
    let name = name.trim().trim_start_matches("--").replace('-', "_").to_ascii_lowercase();
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_.".contains(&byte);
    if name.is_empty() || !name.bytes().all(is_plain) {
        return Err(format!("{name:?} is no option's name"));
    }
    match FIXED.iter().find(|(fixed, _)| *fixed == name) {
        Some((_, why)) => Err(format!("{name} is not set here: {why}")),
        None => Ok(name),
    }
}

/// A value that an option file can hold on one line.
pub(crate) fn check_value(name: &str, value: &str) -> Result<(), String> {
    if value.chars().any(char::is_control) {
        return Err(format!("the value of {name} has a control character"));
    }
    if value.contains('"') && value.contains('\'') {
        return Err(format!("the value of {name} has both kinds of quotes, which no option file can hold"));
    }
    Ok(())
}

/// A line of an option file.
#[must_use]
pub fn line_of(name: &str, value: Option<&str>) -> String {
    match value {
        None => name.to_owned(),
        Some(value) if value.contains(['#', '\'']) || value.starts_with('"') => format!("{name}=\"{value}\""),
        Some(value) if value.contains('"') => format!("{name}='{value}'"),
        Some(value) => format!("{name}={value}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_for_their_kind() {
        let text = "# all\n[mysqld]\nmax-connections = 50 # few\nskip_name_resolve\n[mariadb]\na=1\n[mysql-server]\na='2 # two'\n";
        let file = OptionFile::parse(text).unwrap();
        let of = |kind| file.of_kind(kind).map(|(name, value)| line_of(name, value)).collect::<Vec<_>>();
        assert_eq!(of(Kind::MariaDb), ["max_connections=50", "skip_name_resolve", "a=1"]);
        assert_eq!(of(Kind::MySql), ["max_connections=50", "skip_name_resolve", "a=\"2 # two\""]);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, word) in [
            ("a=1", "line 1: it stands before any group"),
            ("[client]\nuser=x", "line 1: the group [client]"),
            ("[mysqld", "ends with ]"),
            ("[mysqld]\n\n!includedir /etc", "line 3: files that include others"),
            ("[mysqld]\nport=1", "line 2: port is not set here"),
            ("[mysqld]\na b=1", "\"a b\" is no option's name"),
        ] {
            let said = OptionFile::parse(text).unwrap_err();
            assert!(said.contains(word), "{said}");
        }
    }
}
