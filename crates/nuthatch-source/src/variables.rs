//! What SHOW answers of variables: names and values.

use crate::PictureError;
use crate::question::{Question, Server};

/// Those that were asked for, as far as the server has them.
pub(crate) struct Variables(Vec<[Vec<u8>; 2]>);

impl Variables {
    /// Asks for all of them at once.
    ///
    /// # Errors
    /// When the server does not answer, or otherwise than expected.
    pub(crate) async fn read(server: &mut impl Server, question: Question) -> Result<Self, PictureError> {
        let rows = server.ask(question).await?;
        rows.into_iter().map(|row| question.fields(row)).collect::<Result<_, _>>().map(Self)
    }

    /// Their names.
    pub(crate) fn names(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().map(|[name, _]| name.as_slice())
    }

    /// Names and values.
    pub(crate) fn into_pairs(self) -> Vec<[Vec<u8>; 2]> {
        self.0
    }

    /// Its value, if the server has it.
    pub(crate) fn value(&self, variable: &str) -> Option<&[u8]> {
        let mut found = self.0.iter().filter(|[name, _]| name.eq_ignore_ascii_case(variable.as_bytes()));
        found.next().map(|[_, value]| value.as_slice())
    }

    /// The same, of one that is a number.
    pub(crate) fn number(&self, variable: &str) -> Option<u64> {
        std::str::from_utf8(self.value(variable)?).ok()?.parse().ok()
    }
}
