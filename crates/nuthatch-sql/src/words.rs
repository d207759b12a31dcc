//! The words of a text, wherever they stand: in a string or a comment too, which may be executed.

/// Runs of ASCII letters, digits and `_`, from left to right.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    words.filter(|word| !word.is_empty())
}

/// Whether `part` stands anywhere in the text, in any case, as a part of longer words too.
pub(crate) fn has_part(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|found| found.eq_ignore_ascii_case(part))
}

/// Whether `word` is one of `known`, in any case.
#[must_use]
pub fn is_one_of(word: &[u8], known: &[&[u8]]) -> bool {
    known.iter().any(|known| word.eq_ignore_ascii_case(known))
}
