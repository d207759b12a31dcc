//! A secret that shows itself only to who asks for it by name.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use crate::error::ServerError;

/// Characters of a generated password: none needs quoting in SQL, in option files or in a shell.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";

/// Length of a generated password, in characters of 6 bits each.
const GENERATED_CHARS: usize = 24;

/// An account's password. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Password(String);

impl Password {
    /// A password given by someone; refused when empty, or when it has a control character, which no option
    /// file could hold.
    ///
    /// # Errors
    /// [`ServerError::BadPassword`].
    pub fn new(text: impl Into<String>) -> Result<Self, ServerError> {
        let text = text.into();
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(ServerError::BadPassword);
        }
        Ok(Self(text))
    }

    /// A random password of 144 bits from the system's generator.
    ///
    /// # Errors
    /// The generator's.
    pub fn generate() -> io::Result<Self> {
        let mut bytes = [0_u8; GENERATED_CHARS];
        File::open("/dev/urandom")?.read_exact(&mut bytes)?;
        Ok(Self(bytes.iter().map(|byte| char::from(ALPHABET[usize::from(byte & 63)])).collect()))
    }

    /// A random password, or why there is none.
    ///
    /// # Errors
    /// [`ServerError::File`].
    pub fn fresh() -> Result<Self, ServerError> {
        Self::generate().map_err(ServerError::file("read", "/dev/urandom"))
    }

    /// The password that a file holds; `None` where there is no file.
    ///
    /// # Errors
    /// [`ServerError::File`], [`ServerError::BadPassword`].
    pub fn load(file: &Path) -> Result<Option<Self>, ServerError> {
        match fs::read_to_string(file) {
            Ok(text) => Self::new(text).map(Some),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ServerError::file("read", file)(error)),
        }
    }

    /// The secret itself.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// The secret as an SQL string literal, quotes included.
    #[must_use]
    pub fn to_sql(&self) -> String {
        format!("'{}'", self.0.replace('\\', "\\\\").replace('\'', "\\'"))
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_does_not_show_the_secret() {
        let password = Password::new("s3cret").unwrap();
        assert!(!format!("{password:?}").contains("s3cret"));
    }

    #[test]
    fn quotes_and_backslashes_stay_inside_the_sql_literal() {
        assert_eq!(Password::new(r"a'b\c").unwrap().to_sql(), r"'a\'b\\c'");
    }

    #[test]
    fn generated_passwords_differ() {
        assert_ne!(Password::generate().unwrap(), Password::generate().unwrap());
    }

    #[test]
    fn control_characters_are_refused() {
        for bad in ["", "a\nb", "a\0b"] {
            assert!(Password::new(bad).is_err());
        }
    }
}
