//! Rows for the configuration out of `--backend` and `--user`.

use std::path::Path;

use anyhow::bail;
use nuthatch_config::{Seed, SeedRow};

use crate::password_file;

/// The rows that the flags stand for.
pub(crate) fn of_flags(backends: &[String], users: &[String]) -> anyhow::Result<Seed> {
    Ok(Seed {
        servers: backends.iter().map(|text| server(text)).collect::<anyhow::Result<_>>()?,
        users: users.iter().map(|text| user(text)).collect::<anyhow::Result<_>>()?,
        ..Seed::default()
    })
}

fn server(text: &str) -> anyhow::Result<SeedRow> {
    let row = |host: &str, port: i64| {
        SeedRow::new().with("hostgroup_id", 0).with("hostname", host).with("port", port)
    };
    if text.starts_with('/') {
        return Ok(row(text, 0));
    }
    let (host, port) = text.rsplit_once(':').unwrap_or((text, "3306"));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match port.parse::<u16>() {
        Ok(port) if !host.is_empty() && port > 0 => Ok(row(host, i64::from(port))),
        _ => bail!("--backend `{text}` is neither HOST:PORT nor the path of a Unix socket"),
    }
}

fn user(text: &str) -> anyhow::Result<SeedRow> {
    let (name, password) = match text.split_once(':') {
        Some((name, rest)) => match rest.strip_prefix('@') {
            Some(path) => (name, password_file::read(Path::new(path), &format!(" of user `{name}`"))?),
            None => (name, rest.to_owned()),
        },
        None => (text, from_environment(text)?),
    };
    if name.is_empty() {
        bail!("--user has no name before the colon");
    }
    Ok(SeedRow::new().with("username", name).with("password", password))
}

fn from_environment(name: &str) -> anyhow::Result<String> {
    let variable = format!("NUTHATCH_PASSWORD_{name}");
    #[expect(clippy::disallowed_methods, reason = "this is the program's command line")]
    let value = std::env::var(&variable);
    value.map_err(|_unset| {
        anyhow::anyhow!("--user {name} has no password: give NAME:@FILE or set the variable {variable}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_addresses_or_paths() {
        for good in ["db:3307", "127.0.0.1:3306", "[::1]:3306", "/run/m.sock", "db"] {
            assert!(server(good).is_ok(), "{good}");
        }
        for bad in ["db:", "db:0", "db:99999", ":3306", ""] {
            assert!(server(bad).unwrap_err().to_string().contains(&format!("`{bad}`")), "{bad}");
        }
    }

    #[test]
    fn passwords_come_from_files_and_never_stand_in_errors() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("password");
        std::fs::write(&path, "s3cret\nmore\n").unwrap();
        assert_eq!(user(&format!("app:@{}", path.display())).unwrap(), user("app:s3cret").unwrap());
        let error = format!("{:#}", user("app:@/no/such").unwrap_err());
        assert!(error.contains("app") && error.contains("/no/such"));
        assert!(user("nobody").unwrap_err().to_string().contains("NUTHATCH_PASSWORD_nobody"));
        assert!(!format!("{:?}", user("app:s3cret").unwrap()).contains("s3cret"));
    }
}
