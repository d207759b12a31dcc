//! The part of a session's state that travels with it from connection to connection.

use std::sync::Arc;

use mysql_common::collations::{Collation, CollationId};
use nuthatch_sql::ServerFlavor;

use crate::backend::ConnectionState;

use super::Settings;

/// Behind the last number of a collation that is known.
const COLLATIONS_END: u16 = 400;

/// In which character sets and collation a session talks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Charset {
    /// As the login with this collation number set it.
    Collation(u8),
    /// As this statement set it: `SET NAMES …` in one canonical spelling.
    Names(Arc<str>),
}

impl Charset {
    /// The collation number to log in with for it: what a `SET NAMES` will follow on is without meaning.
    pub(crate) const fn login_collation(&self) -> u8 {
        match self {
            Self::Collation(number) => *number,
            Self::Names(_) => 45,
        }
    }

    /// Whether the second byte of a character may look like a quote or a backslash.
    pub(crate) fn has_ascii_in_characters(&self) -> bool {
        let statement = self.statement().unwrap_or_default();
        let name =
            statement.strip_prefix("SET NAMES ").unwrap_or_default().split(' ').next().unwrap_or_default();
        // The server's own may be any.
        matches!(name, "big5" | "cp932" | "gb18030" | "gbk" | "sjis" | "default")
    }

    /// The statement that brings a connection into it; `None` when there is none but a new login.
    pub(crate) fn statement(&self) -> Option<String> {
        match self {
            Self::Names(statement) => Some(statement.to_string()),
            Self::Collation(number) => {
                let collation = Collation::resolve(CollationId::from(u16::from(*number)));
                let known = !collation.charset().is_empty() && collation.charset() != "unknown";
                known.then(|| format!("SET NAMES {} COLLATE {}", collation.charset(), collation.collation()))
            }
        }
    }
}

/// A collation as result sets name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ResultCollation {
    pub(crate) number: u16,
    /// Bytes of its longest character.
    pub(crate) character_bytes_max: u8,
}

impl Charset {
    /// What a variable's value, as SQL writes it, stands for; NULL leaves texts as servers keep their own.
    pub(crate) fn of_variable(value: &[u8]) -> Self {
        let value = String::from_utf8_lossy(value).to_lowercase();
        let name = value.trim_matches(['\'', '"']);
        Self::Names(format!("SET NAMES {}", if name == "null" { "utf8mb3" } else { name }).into())
    }

    /// The collation of texts that a server makes up; that of `utf8mb4` where it is not known.
    pub(crate) fn of_results(&self, server: ServerFlavor) -> ResultCollation {
        let of_utf8mb4 = if matches!(server, ServerFlavor::MySql(_)) { 255 } else { 45 };
        let names = match self {
            Self::Collation(number) => return ResultCollation::numbered((*number).into()),
            Self::Names(statement) => statement.strip_prefix("SET NAMES ").unwrap_or_default(),
        };
        let found = match names.split_once(" COLLATE ") {
            Some((_, collation)) => ResultCollation::find(|known| known.collation() == collation),
            None if names == "utf8mb4" => Some(ResultCollation::numbered(of_utf8mb4)),
            None => {
                let charset = if names == "utf8" { "utf8mb3" } else { names };
                ResultCollation::find(|known| known.is_default() && known.charset() == charset)
            }
        };
        found.unwrap_or_else(|| ResultCollation::numbered(of_utf8mb4))
    }
}

impl ResultCollation {
    /// The character set's name.
    pub(crate) fn charset(self) -> String {
        Collation::resolve(CollationId::from(self.number)).charset().to_owned()
    }

    fn numbered(number: u16) -> Self {
        let known = Collation::resolve(CollationId::from(number));
        Self { number, character_bytes_max: known.max_len().max(1) }
    }

    fn find(is_it: impl Fn(&Collation<'_>) -> bool) -> Option<Self> {
        (1..COLLATIONS_END)
            .find(|number| is_it(&Collation::resolve(CollationId::from(*number))))
            .map(Self::numbered)
    }
}

/// A session's state, as far as it is a value. See the module's doc.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SessionState {
    /// Default schema; empty for none.
    pub(crate) schema: Vec<u8>,
    /// Character sets and collation.
    pub(crate) charset: Charset,
    /// Whether statements commit by themselves.
    pub(crate) autocommit: bool,
    /// Session variables that it has set.
    pub(crate) settings: Settings,
    /// User variables; all that it has, unless it is pinned for others.
    pub(crate) user_variables: Settings,
    /// The SET ROLE that it sent, if any.
    pub(crate) role: Option<Arc<str>>,
}

impl SessionState {
    /// As after a login.
    pub(crate) fn new(schema: Vec<u8>, charset: Charset) -> Self {
        let (settings, user_variables) = (Settings::default(), Settings::default());
        Self { schema, charset, autocommit: true, settings, user_variables, role: None }
    }

    /// How many statements it takes to bring a connection from `there` to here.
    pub(crate) fn differences(&self, there: &ConnectionState) -> u32 {
        u32::from(self.schema != there.schema)
            + u32::from(self.charset != there.charset)
            + u32::from(Some(self.autocommit) != there.autocommit)
            + u32::from(!self.settings.is_same(&there.settings))
            + u32::from(!self.user_variables.is_same(&there.user_variables))
            + u32::from(self.role != there.role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_states_have_no_difference_and_each_part_counts() {
        let state = SessionState::new(b"a".to_vec(), Charset::Collation(45));
        let same = ConnectionState::new(b"a".to_vec(), Charset::Collation(45), true);
        assert_eq!(state.differences(&same), 0);
        let mut other = ConnectionState::new(Vec::new(), Charset::Collation(8), false);
        other.settings.set(b"sql_mode", Some(b"''"));
        other.user_variables.set(b"a", Some(b"1"));
        other.role = Some("SET ROLE a".into());
        assert_eq!(state.differences(&other), 6);
    }

    #[test]
    fn results_have_the_collation_that_servers_give_them() {
        let mariadb = ServerFlavor::MariaDb(101_119);
        let mysql = ServerFlavor::MySql(90_704);
        // Measured on MariaDB 10.11 and MySQL 9.7: collation and length of a character.
        for (names, server, expected) in [
            ("utf8mb4", mariadb, (45, 4)),
            ("utf8mb4", mysql, (255, 4)),
            ("utf8mb4 COLLATE utf8mb4_unicode_ci", mariadb, (224, 4)),
            ("latin1", mariadb, (8, 1)),
            ("utf8", mysql, (33, 3)),
            ("latin1 COLLATE latin1_bin", mysql, (47, 1)),
            ("ascii", mariadb, (11, 1)),
            ("binary", mariadb, (63, 1)),
        ] {
            let found = Charset::Names(format!("SET NAMES {names}").into()).of_results(server);
            assert_eq!((found.number, found.character_bytes_max), expected, "{names}");
        }
        assert_eq!(Charset::of_variable(b"'latin1'").of_results(mariadb).number, 8);
        assert_eq!(Charset::of_variable(b"NULL").of_results(mariadb).number, 33);
        assert_eq!(
            Charset::Collation(8).of_results(mysql),
            ResultCollation { number: 8, character_bytes_max: 1 }
        );
    }

    #[test]
    fn a_collation_number_has_its_statement() {
        let statement = Charset::Collation(45).statement();
        assert_eq!(statement.as_deref(), Some("SET NAMES utf8mb4 COLLATE utf8mb4_general_ci"));
        assert_eq!(
            Charset::Collation(8).statement().as_deref(),
            Some("SET NAMES latin1 COLLATE latin1_swedish_ci")
        );
    }
}
