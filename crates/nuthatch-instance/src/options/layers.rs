//! The layers of an instance's options put together, each option with where it comes from.

use std::collections::BTreeMap;
use std::fmt;

use nuthatch_server::Kind;

use crate::options::option_file::{OptionFile, line_of};
use crate::options::size::parse_share;

/// InnoDB's buffer pool, the one option whose value may be a share of the host's memory.
pub(crate) const POOL: &str = "innodb_buffer_pool_size";

/// Which file says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// What is built in, for every instance.
    BuiltIn,
    /// The host's `defaults.cnf`.
    Host,
    /// The template of that name.
    Template(String),
    /// The instance itself.
    Own,
    /// Its place: port, directories.
    Place,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Host => f.write_str("defaults.cnf"),
            Self::Template(name) => write!(f, "template {name}"),
            Self::Own => f.write_str("the instance"),
            Self::Place => f.write_str("its place"),
        }
    }
}

/// An option's value, and who says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The value; an option may have none.
    pub value: Option<String>,
    /// Where it comes from.
    pub source: Source,
}

/// All options of an instance, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings(BTreeMap<String, Setting>);

impl Settings {
    /// Lays a file above what is there.
    pub(crate) fn lay(&mut self, file: &OptionFile, kind: Kind, source: &Source) {
        for (name, value) in file.of_kind(kind) {
            self.put(name, value.map(str::to_owned), source.clone());
        }
    }

    /// Lays one option above what is there.
    pub(crate) fn put(&mut self, name: &str, value: Option<String>, source: Source) {
        self.0.insert(name.to_owned(), Setting { value, source });
    }

    /// Without the paths that somebody has set, but for what is only read: another server on a copy of the data must not write to the same
    /// files.
    pub(crate) fn forget_paths(&mut self) {
        let is_elsewhere = |setting: &Setting| {
            !matches!(setting.source, Source::Place | Source::BuiltIn)
                && setting
                    .value
                    .as_deref()
                    .is_some_and(|value| value.trim_matches(['"', '\'']).starts_with('/'))
        };
        self.0.retain(|name, setting| !is_elsewhere(setting) || only_read(name));
    }

    /// The paths that somebody has set, and that the server writes to.
    pub(crate) fn written_paths(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_set = |setting: &&Setting| !matches!(setting.source, Source::Place | Source::BuiltIn);
        self.iter().filter(move |(name, setting)| is_set(setting) && !only_read(name)).filter_map(
            |(name, setting)| {
                let value = setting.value.as_deref()?.trim_matches(['"', '\'']);
                value.starts_with('/').then_some((name, value))
            },
        )
    }

    /// What a share of the host's memory has come to, in the place of the share.
    pub(crate) fn settle_pool(&mut self, pool_mib: u64) {
        if let Some(setting) = self.0.get_mut(POOL) {
            setting.value = Some(format!("{pool_mib}M"));
        }
    }

    /// The share of what the host has left that the buffer pool is to have, in percent; `None` where it has a size.
    pub(crate) fn pool_share(&self) -> Option<u64> {
        parse_share(self.value(POOL)?)
    }

    /// An option's value.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.value.as_deref()
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Setting)> {
        self.0.iter().map(|(name, setting)| (name.as_str(), setting))
    }

    /// The server's option file.
    pub(crate) fn to_text(&self) -> String {
        let lines: String =
            self.iter().map(|(name, setting)| line_of(name, setting.value.as_deref()) + "\n").collect();
        format!(
            "# Written anew at each start: change it with `nuthatch instance set`, in templates or in defaults.cnf.\n[server]\n{lines}"
        )
    }

    /// The options of a file that [`to_text`](Self::to_text) has written.
    pub(crate) fn lines_of(text: &str) -> BTreeMap<String, String> {
        let is_option = |line: &&str| !line.starts_with(['#', '[']) && !line.is_empty();
        let name = |line: &str| line.split_once('=').map_or(line, |(name, _)| name).to_owned();
        text.lines().filter(is_option).map(|line| (name(line), line.to_owned())).collect()
    }

    /// What differs from the file that a server was started with: each option with its line there and its line here.
    pub(crate) fn differences(&self, text: &str) -> Vec<(String, Option<String>, Option<String>)> {
        let before = Self::lines_of(text);
        let after = Self::lines_of(&self.to_text());
        let names: std::collections::BTreeSet<&String> = before.keys().chain(after.keys()).collect();
        let of = |name: &String| (name.clone(), before.get(name).cloned(), after.get(name).cloned());
        names.into_iter().map(of).filter(|(_, before, after)| before != after).collect()
    }
}

/// Whether the file or directory that an option names is only read.
fn only_read(option: &str) -> bool {
    let starts = [
        "ssl_",
        "tls_",
        "file_key",
        "plugin",
        "character_sets",
        "lc_messages",
        "init_file",
        "secure_file",
        "keyring",
    ];
    starts.iter().any(|start| option.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn upper_layer_wins_and_says_so() {
        let mut settings = Settings::default();
        let file = |text: &str| OptionFile::parse(text).unwrap();
        settings.lay(&file("[mysqld]\na=1\nb=1\nskip_x"), Kind::MariaDb, &Source::BuiltIn);
        settings.lay(
            &file("[mysqld]\nb=2\n[mysql-server]\na=9"),
            Kind::MariaDb,
            &Source::Template("t".into()),
        );
        settings.put("c", Some("3".into()), Source::Own);
        let all: Vec<String> = settings
            .iter()
            .map(|(name, setting)| format!("{} {}", line_of(name, setting.value.as_deref()), setting.source))
            .collect();
        assert_eq!(all, ["a=1 built in", "b=2 template t", "c=3 the instance", "skip_x built in"]);
        let text = settings.to_text();
        assert!(settings.differences(&text).is_empty());
        settings.put("c", Some("4".into()), Source::Own);
        assert_eq!(settings.differences(&text), [("c".into(), Some("c=3".into()), Some("c=4".into()))]);
    }

    #[test]
    fn share_of_the_memory_is_settled() {
        let mut settings = Settings::default();
        settings.put(POOL, Some("25%".into()), Source::BuiltIn);
        assert_eq!(settings.pool_share(), Some(25));
        settings.settle_pool(512);
        assert_eq!((settings.pool_share(), settings.value(POOL)), (None, Some("512M")));
    }
}
