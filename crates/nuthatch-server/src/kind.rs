//! What MariaDB and MySQL are called on the disk, and how each makes an empty data directory that only its root may enter.

use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::password::Password;

/// Debian's stable release has no MySQL.
const MYSQL_REMEDY: &str = "\"tools/side-apt.sh DIR sid mysql-server-core mysql-client-core\" unpacks MySQL to DIR, then say --root DIR";

/// Whose server it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// MariaDB 10.5 or later.
    MariaDb,
    /// MySQL 8.4 or later. The account uses `caching_sha2_password`.
    MySql,
}

/// A program of an installation, and what to do where it is not there.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// As its file is called.
    pub name: &'static str,
    /// What to do where it is missing.
    pub remedy: &'static str,
}

impl Kind {
    /// The server itself.
    #[must_use]
    pub fn server(self) -> Program {
        match self {
            Self::MariaDb => Program { name: "mariadbd", remedy: "install Debian's mariadb-server-core" },
            Self::MySql => Program { name: "mysqld", remedy: MYSQL_REMEDY },
        }
    }

    /// Its command-line client.
    #[must_use]
    pub fn client(self) -> Program {
        match self {
            Self::MariaDb => Program { name: "mariadb", remedy: "install Debian's mariadb-client-core" },
            Self::MySql => Program { name: "mysql", remedy: MYSQL_REMEDY },
        }
    }

    /// What makes an empty data directory.
    pub(crate) fn initializer(self) -> Program {
        match self {
            Self::MariaDb => {
                Program { name: "mariadb-install-db", remedy: "install Debian's mariadb-server-core" }
            }
            Self::MySql => self.server(),
        }
    }

    /// The command that fills `data` (which does not exist yet) with system tables and a passwordless root.
    pub(crate) fn initialize(self, program: &Path, root: &Path, data: &Path) -> Command {
        let mut command = Command::new(program);
        match self {
            // Without `--user`, also as root: with it, the script changes the owner of the system's PAM helper. With `--force`, because it
            // otherwise refuses on a machine that cannot look up its own name.
            Self::MariaDb => command
                .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
                .args(["--force", "--skip-name-resolve", "--innodb-log-file-size=32M"])
                .arg(format!("--basedir={}", root.join("usr").display())),
            Self::MySql => command
                .args(["--no-defaults", "--initialize-insecure", "--user=root"])
                .args(["--innodb-redo-log-capacity=32M", "--secure-file-priv=NULL"])
                .args(self.place_options(root).into_iter().map(|(name, value)| format!("--{name}={value}"))),
        };
        command.arg(format!("--datadir={}", data.display()));
        command
    }

    /// Files of a fresh data directory that must not be copied into a second one: one holds MySQL's UUID.
    #[must_use]
    pub fn unique_files(self) -> &'static [&'static str] {
        match self {
            Self::MariaDb => &[],
            Self::MySql => &["auto.cnf"],
        }
    }

    /// Options that tell a server where the rest of its installation is.
    #[must_use]
    pub fn place_options(self, root: &Path) -> Vec<(&'static str, String)> {
        let usr = root.join("usr").display().to_string();
        let below = |place: &str| format!("{usr}/{place}");
        match self {
            Self::MariaDb if root == Path::new("/") => Vec::new(),
            Self::MariaDb | Self::MySql => vec![
                ("basedir", usr.clone()),
                ("plugin_dir", below("lib/mysql/plugin")),
                ("lc_messages_dir", below("share/mysql")),
                ("character_sets_dir", below("share/mysql/charsets")),
            ],
        }
    }

    /// For the init file, one statement a line: no one but root with this password may log in.
    #[must_use]
    pub fn lock_down(self, root_password: &Password) -> String {
        let password = root_password.to_sql();
        let others = match self {
            Self::MariaDb => {
                "DELETE FROM mysql.global_priv WHERE user IN ('', 'root') AND NOT (user = 'root' AND host = 'localhost');\n\
                 FLUSH PRIVILEGES;\n"
            }
            Self::MySql => "",
        };
        format!("SET sql_log_bin = 0;\n{others}ALTER USER root@localhost IDENTIFIED BY {password};\n")
    }

    /// For the init file of data that come from elsewhere, one statement a line: root may log in with this password, whatever it had there.
    #[must_use]
    pub fn let_root_in(self, root_password: &Password) -> String {
        let password = root_password.to_sql();
        let in_force = match self {
            Self::MariaDb => "FLUSH PRIVILEGES;\n",
            Self::MySql => "",
        };
        format!(
            "SET sql_log_bin = 0;\n{in_force}CREATE USER IF NOT EXISTS root@localhost IDENTIFIED BY {password};\n\
             ALTER USER root@localhost IDENTIFIED BY {password};\nGRANT ALL ON *.* TO root@localhost WITH GRANT OPTION;\n"
        )
    }
}
