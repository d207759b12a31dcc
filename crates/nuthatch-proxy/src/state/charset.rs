//! Character sets and collation: what brings a connection into them, and how names and answers read in them.

use std::sync::Arc;

use mysql_common::collations::{Collation, CollationId};
use nuthatch_sql::ServerFlavor;

use crate::state::collation::ResultCollation;

/// In which character sets and collation a session talks.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Charset {
    /// As the login with this collation number set it.
    Collation(u8),
    /// As this statement set it: `SET NAMES …` in one canonical spelling.
    Names(Arc<str>),
}

impl Charset {
    /// As SET NAMES with these names in lower case sets it.
    pub(crate) fn set_names(charset: &str, collation: Option<&str>) -> Self {
        Self::Names(match collation {
            Some(collation) => format!("SET NAMES {charset} COLLATE {collation}").into(),
            None => format!("SET NAMES {charset}").into(),
        })
    }

    /// The collation number to log in with for it: what a `SET NAMES` will follow on is without meaning.
    pub(crate) const fn login_collation(&self) -> u8 {
        match self {
            Self::Collation(number) => *number,
            Self::Names(_) => 45,
        }
    }

    /// What servers keep names in.
    pub(crate) fn utf8() -> Self {
        Self::Names("SET NAMES utf8mb4".into())
    }

    /// Its name; `None` where it is the server's own, which may be any.
    fn name(&self) -> Option<String> {
        let statement = self.statement()?;
        let name = statement.strip_prefix("SET NAMES ")?.split(' ').next()?.to_owned();
        (name != "default").then_some(name)
    }

    /// In what servers read the names in a COM_CHANGE_USER of it: those of `binary` in `latin1` (measured on MariaDB 10.11, which reads
    /// them in a COM_INIT_DB as they are, and MySQL 9.7, which does not).
    pub(crate) fn of_names_in_change_user(&self) -> Self {
        const BINARY: u8 = 63;
        const LATIN1: u8 = 8;
        if *self == Self::Collation(BINARY) { Self::Collation(LATIN1) } else { self.clone() }
    }

    /// Whether a server reads texts in it as UTF-8.
    pub(crate) fn is_utf8(&self) -> bool {
        self.name().is_some_and(|name| matches!(name.as_str(), "utf8mb4" | "utf8mb3" | "utf8"))
    }

    /// Whether a server that reads `name` in it takes it for what the bytes are in UTF-8, in which servers keep names.
    pub(crate) fn reads_as_utf8(&self, name: &[u8]) -> bool {
        // No name has a character of four bytes.
        let is_text = || std::str::from_utf8(name).is_ok_and(|text| text.chars().all(|it| it.len_utf8() < 4));
        is_read_alike(name) || (self.is_utf8() && is_text())
    }

    /// Whether bytes of ASCII may be other characters, or the second byte of one: a quote, a backslash, a letter of `swe7`.
    pub(crate) fn has_ascii_in_characters(&self) -> bool {
        let statement = self.statement().unwrap_or_default();
        let name =
            statement.strip_prefix("SET NAMES ").unwrap_or_default().split(' ').next().unwrap_or_default();
        // The server's own may be any.
        matches!(name, "big5" | "cp932" | "gb18030" | "gbk" | "sjis" | "swe7" | "default")
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

/// Whether a name is the same in every character set that clients may talk in: in `swe7` some of ASCII's punctuation is letters.
pub(crate) fn is_read_alike(name: &[u8]) -> bool {
    name.iter().all(|byte| byte.is_ascii() && !b"#$@[\\]^`{|}~".contains(byte))
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

#[cfg(test)]
mod tests {
    use super::*;

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
    fn names_that_a_server_reads_as_utf8_are_told() {
        let names = |name: &str| Charset::Names(format!("SET NAMES {name}").into());
        let latin1 = || Charset::Collation(8);
        for (charset, name, expected) in [
            (Charset::Collation(45), "tëst".as_bytes(), true),
            (names("utf8mb3 COLLATE utf8mb3_bin"), "tëst".as_bytes(), true),
            (Charset::Collation(45), "t😀".as_bytes(), false),
            (Charset::Collation(45), b"t\xEBst", false),
            (latin1(), "tëst".as_bytes(), false),
            (latin1(), b"test_1", true),
            (latin1(), b"te~st", false),
            (names("swe7"), b"te}st", false),
            (names("default"), "tëst".as_bytes(), false),
            (names("binary"), "tëst".as_bytes(), false),
        ] {
            assert_eq!(charset.reads_as_utf8(name), expected, "{charset:?} {name:?}");
        }
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
