//! The configuration file: the flags of `serve` under their names, and rows for a first start.
//!
//! ```toml
//! datadir = "/var/lib/nuthatch"
//! mysql = ["0.0.0.0:6033", "/run/nuthatch/mysql.sock"]
//!
//! [[mysql_servers]]
//! hostname = "10.0.0.11"
//!
//! [variables]
//! mysql-query_cache_size_MB = 512
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use nuthatch_config::{Seed, SeedRow, SeedValue};
use nuthatch_net::ListenAddress;
use serde::Deserialize;

use crate::cli::{ServeArguments, parse_mode};
use crate::faults::Faults;

/// What a file may hold. Every key is optional, an unknown one is refused.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ConfigFile {
    datadir: Option<PathBuf>,
    secrets_key: Option<PathBuf>,
    mysql: OneOrMore,
    mysql_socket_mode: Option<String>,
    admin: Option<String>,
    metrics: Option<String>,
    backend: OneOrMore,
    user: OneOrMore,
    workers: Option<u16>,
    drain_seconds: Option<u64>,
    log_level: Option<String>,
    mysql_users: Vec<SeedRow>,
    mysql_servers: Vec<SeedRow>,
    mysql_query_rules: Vec<SeedRow>,
    variables: BTreeMap<String, SeedValue>,
}

/// A text or a list of texts.
#[derive(Debug, Default, Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    #[default]
    None,
    One(String),
    More(Vec<String>),
}

impl OneOrMore {
    fn into_vec(self) -> Vec<String> {
        match self {
            Self::None => Vec::new(),
            Self::One(one) => vec![one],
            Self::More(more) => more,
        }
    }
}

/// Settings of the process, and what a first start begins with.
#[derive(Debug)]
pub(crate) struct FromFile {
    pub(crate) arguments: ServeArguments,
    pub(crate) seed: Seed,
}

impl ConfigFile {
    /// Reads `path`.
    pub(crate) fn read(path: &Path) -> anyhow::Result<FromFile> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration file {shown}"))?;
        let file: Self =
            toml::from_str(&text).map_err(|error| one_line(&shown.to_string(), &text, &error))?;
        file.into_settings().with_context(|| format!("in the configuration file {shown}"))
    }

    fn into_settings(self) -> anyhow::Result<FromFile> {
        let address = |text: &String| text.parse::<ListenAddress>().map_err(anyhow::Error::msg);
        let optional = |text: Option<String>| text.as_ref().map(address).transpose();
        let workers = match self.workers {
            Some(0) => bail!("`workers` must be at least 1"),
            workers => workers,
        };
        Ok(FromFile {
            arguments: ServeArguments {
                config: None,
                datadir: self.datadir,
                secrets_key: self.secrets_key,
                forget_lost_secrets: false,
                mysql: self.mysql.into_vec().iter().map(address).collect::<anyhow::Result<_>>()?,
                mysql_socket_mode: self
                    .mysql_socket_mode
                    .map(|text| parse_mode(&text).map_err(anyhow::Error::msg))
                    .transpose()?,
                admin: optional(self.admin)?,
                metrics: optional(self.metrics)?,
                backend: self.backend.into_vec(),
                user: self.user.into_vec(),
                workers,
                drain_seconds: self.drain_seconds,
                log_level: self.log_level,
                faults: Faults::default(),
            },
            seed: Seed {
                users: self.mysql_users,
                servers: self.mysql_servers,
                rules: self.mysql_query_rules,
                variables: self.variables,
            },
        })
    }
}

/// A parser's message in one sentence, without the excerpt of the file, which may hold a password.
fn one_line(path: &str, text: &str, error: &toml::de::Error) -> anyhow::Error {
    let line = error.span().map(|span| text.get(..span.start).unwrap_or_default().lines().count().max(1));
    let place = line.map(|line| format!(", line {line}")).unwrap_or_default();
    anyhow::anyhow!("cannot understand the configuration file {path}{place}: {}", error.message())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<FromFile, String> {
        let file: ConfigFile = toml::from_str(text).map_err(|error| error.message().to_owned())?;
        file.into_settings().map_err(|error| error.to_string())
    }

    #[test]
    fn every_flag_has_its_key() {
        let settings = parse(
            "datadir = '/d'\nsecrets_key = '/k'\nmysql = ['127.0.0.1:1', '/s']\nmysql_socket_mode = '660'\nadmin = '127.0.0.1:2'\n\
             metrics = '127.0.0.1:3'\nbackend = 'a:1'\nuser = ['u:@f']\nworkers = 2\ndrain_seconds = 3\n\
             log_level = 'debug'\n[[mysql_servers]]\nhostname = 'h'\n[variables]\nmysql-max_connections = 5\n",
        )
        .unwrap();
        let arguments = settings.arguments;
        assert_eq!(arguments.mysql.len(), 2);
        assert_eq!(arguments.secrets_key.as_deref(), Some(Path::new("/k")));
        assert_eq!((arguments.mysql_socket_mode, arguments.workers), (Some(0o660), Some(2)));
        assert_eq!((arguments.backend.len(), arguments.user.len()), (1, 1));
        assert_eq!((settings.seed.servers.len(), settings.seed.variables.len()), (1, 1));
    }

    #[test]
    fn wrong_input_is_named() {
        assert!(parse("datadirr = '/d'").unwrap_err().contains("datadirr"));
        assert!(parse("mysql = 'nonsense'").unwrap_err().contains("nonsense"));
        assert!(parse("workers = 0").unwrap_err().contains("workers"));
        assert!(parse("mysql_socket_mode = '999'").unwrap_err().contains("999"));
    }
}
