//! What an installation speaks, and where its programs are.

use std::path::{Path, PathBuf};

use crate::dialect::{Dialect, Program};
use crate::error::LabError;
use crate::mariadb::MariaDb;
use crate::mysql::MySql;
use crate::options::{Installation, Kind};

impl Installation {
    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        match self.kind {
            Kind::MariaDb => &MariaDb,
            Kind::MySql => &MySql,
        }
    }

    /// The full path of a program of this installation. MariaDB's, which go by MySQL's old names too, are no MySQL.
    pub(crate) fn find(&self, program: Program) -> Result<PathBuf, LabError> {
        let places =
            ["usr/sbin", "usr/bin", "usr/local/sbin", "usr/local/bin"].map(|place| self.root.join(place));
        let missing = || LabError::ProgramMissing {
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
        let error = installation.find(MySql.server()).unwrap_err().to_string();
        assert!(error.contains("tools/side-apt.sh"), "{error}");
        std::fs::remove_file(place.join("mysqld")).unwrap();
        std::fs::write(place.join("mysqld"), "").unwrap();
        assert_eq!(installation.find(MySql.server()).unwrap(), place.join("mysqld"));
    }
}
