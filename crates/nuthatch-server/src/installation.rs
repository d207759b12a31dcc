//! Where a kind of server is installed, and its programs there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};

use crate::error::ServerError;
use crate::kind::{Kind, Program};

/// Where a kind of server is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Installation {
    /// Whose server it is.
    pub kind: Kind,
    /// The directory that holds `usr/sbin`: `/` for Debian's packages, or the destination of
    /// `tools/side-apt.sh`.
    pub root: PathBuf,
}

impl Installation {
    /// The MariaDB that Debian's packages installed.
    #[must_use]
    pub fn debian_mariadb() -> Self {
        Self { kind: Kind::MariaDb, root: "/".into() }
    }

    /// The one that a person names: `mariadb` and `mysql` for the system's, else the directory that holds `usr/sbin`, or the server's program
    /// there.
    ///
    /// # Errors
    /// [`ServerError::NoInstallation`], [`ServerError::File`].
    pub fn named(text: &str) -> Result<Self, ServerError> {
        match text {
            "mariadb" => return Ok(Self::debian_mariadb()),
            "mysql" => return Ok(Self { kind: Kind::MySql, root: "/".into() }),
            _ => {}
        }
        let path = Path::new(text).canonicalize().map_err(ServerError::file("find a server in", text))?;
        let root = if path.is_file() { path.ancestors().nth(3).unwrap_or(&path) } else { &path };
        let is_there = |kind: &Kind| Self { kind: *kind, root: root.into() }.find(kind.server()).is_ok();
        match [Kind::MariaDb, Kind::MySql].into_iter().find(is_there) {
            Some(kind) => Ok(Self { kind, root: root.into() }),
            None => Err(ServerError::NoInstallation { path }),
        }
    }

    /// As [`named`](Self::named) takes it.
    #[must_use]
    pub fn name(&self) -> String {
        match self.kind {
            _ if self.root != Path::new("/") => self.root.display().to_string(),
            Kind::MariaDb => "mariadb".into(),
            Kind::MySql => "mysql".into(),
        }
    }

    /// What the server's program says of its version: `10.11.14-MariaDB-0+deb12u2`; `unknown` where it says none.
    ///
    /// # Errors
    /// [`ServerError::ProgramMissing`], [`ServerError::File`].
    pub fn version(&self) -> Result<String, ServerError> {
        let program = self.find(self.kind.server())?;
        let said = Command::new(&program).arg("--version").stdin(Stdio::null()).output();
        let said = said.map_err(ServerError::file("run", &program))?.stdout;
        let said = String::from_utf8_lossy(&said);
        let version =
            said.split_once("Ver ").map_or("unknown", |(_, rest)| rest.split(' ').next().unwrap_or(rest));
        Ok(version.trim().to_owned())
    }

    /// The full path of a program of this installation. MariaDB's, which go by MySQL's old names too, are no MySQL.
    ///
    /// # Errors
    /// [`ServerError::ProgramMissing`].
    pub fn find(&self, program: Program) -> Result<PathBuf, ServerError> {
        let places =
            ["usr/sbin", "usr/bin", "usr/local/sbin", "usr/local/bin"].map(|place| self.root.join(place));
        let missing = || ServerError::ProgramMissing {
            program: program.name,
            places: places.iter().map(|place| place.display().to_string()).collect(),
            remedy: program.remedy,
        };
        let is_it = |path: &PathBuf| path.exists() && (self.kind == Kind::MariaDb || !is_mariadb(path));
        places.iter().map(|place| place.join(program.name)).find(is_it).ok_or_else(missing)
    }
}

/// Whether it is a link to a program of MariaDB's, as Debian's `mysqld` and `mysql` are.
fn is_mariadb(path: &Path) -> bool {
    let real = path.canonicalize();
    real.is_ok_and(|real| real.file_name().is_some_and(|name| name.to_string_lossy().starts_with("mariadb")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mariadb_under_mysqls_name_is_no_mysql() {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("usr/sbin");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("mariadbd"), "").unwrap();
        std::os::unix::fs::symlink("mariadbd", place.join("mysqld")).unwrap();
        let installation = Installation { kind: Kind::MySql, root: root.path().into() };
        let error = installation.find(Kind::MySql.server()).unwrap_err().to_string();
        assert!(error.contains("tools/side-apt.sh"), "{error}");
        std::fs::remove_file(place.join("mysqld")).unwrap();
        std::fs::write(place.join("mysqld"), "").unwrap();
        assert_eq!(installation.find(Kind::MySql.server()).unwrap(), place.join("mysqld"));
    }
}
