//! The accounts that each server of a lab has: the lab's own, and one for each duty with what that needs.

use std::path::PathBuf;

use nuthatch_server::{Password, write_private};

use crate::dialect::Binlog;
use crate::duty::{Duty, Login};
use crate::error::LabError;
use crate::lab::{Lab, Result};
use crate::role::Role;
use crate::status::AccountStatus;

/// Hosts that an account is made for: by Unix socket, by loopback without name lookup, from anywhere else.
const ACCOUNT_HOSTS: [&str; 3] = ["localhost", "127.0.0.1", "%"];

impl Lab {
    /// The account with all privileges.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.state.user
    }

    /// The account's password.
    ///
    /// # Errors
    /// When the file is not readable or gone.
    pub fn password(&self) -> Result<Password> {
        self.layout.load_password()?.ok_or_else(|| LabError::NoLab { dir: self.dir().into() })
    }

    /// The file that holds the account's password and nothing else.
    #[must_use]
    pub fn password_file(&self) -> PathBuf {
        self.layout.password()
    }

    /// The account for that duty, which every server has.
    ///
    /// # Errors
    /// When the file with its password is not readable or gone.
    pub fn login_for(&self, duty: Duty) -> Result<Login> {
        let password = Password::load(&self.layout.duty_password(duty))?;
        let password = password.ok_or_else(|| LabError::NoLab { dir: self.dir().into() })?;
        Ok(Login { user: duty.user().into(), password })
    }

    pub(crate) fn accounts(&self) -> Vec<AccountStatus> {
        let account =
            |duty: Duty| AccountStatus { user: duty.user(), password_file: self.layout.duty_password(duty) };
        Duty::ALL.into_iter().map(account).collect()
    }

    /// Every duty has a saved password afterwards.
    pub(crate) fn settle_duties(&self) -> Result<()> {
        for duty in Duty::ALL {
            let file = self.layout.duty_password(duty);
            if Password::load(&file)?.is_none() {
                write_private(&file, Password::fresh()?.reveal())?;
            }
        }
        Ok(())
    }

    /// Makes the lab's accounts on that server, or mends them.
    pub(crate) fn make_accounts(&self, role: Role, binlog: Binlog) -> Result<()> {
        let sql = self.accounts_sql(binlog)?;
        self.server(role)?.query(&sql)?;
        Ok(())
    }

    /// With the schema `test`. Replicas have accounts of their own, written to no binlog, so that a fresh one
    /// begins with an empty position.
    fn accounts_sql(&self, binlog: Binlog) -> Result<String> {
        let dialect = self.dialect();
        let mut sql = String::from(if binlog == Binlog::Off { "SET sql_log_bin = 0;\n" } else { "" });
        sql += dialect.lift_read_only();
        sql += "CREATE DATABASE IF NOT EXISTS test;\n";
        for host in ACCOUNT_HOSTS {
            sql += &dialect.account(self.user(), host, &self.password()?);
            sql += &grant("ALL PRIVILEGES", "*.*", self.user(), host, " WITH GRANT OPTION");
            for duty in Duty::ALL {
                let login = self.login_for(duty)?;
                sql += &dialect.account(&login.user, host, &login.password);
                for (privileges, objects) in dialect.grants(duty) {
                    sql += &grant(privileges, objects, &login.user, host, "");
                }
            }
        }
        Ok(sql)
    }
}

fn grant(privileges: &str, objects: &str, user: &str, host: &str, option: &str) -> String {
    format!("GRANT {privileges} ON {objects} TO '{user}'@'{host}'{option};\n")
}
