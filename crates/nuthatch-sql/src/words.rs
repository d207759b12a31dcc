//! The words of a text, wherever they stand: in a string or a comment too, which may be executed.

/// Runs of ASCII letters, digits and `_`, from left to right.
pub fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
    words.filter(|word| !word.is_empty())
}

/// The same without the number of a version, which stands before the first word of an executable comment: `/*!50003TRIGGER*/`.
pub fn bare_words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    words(text).map(|word| {
        let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
        word.get(digits..).unwrap_or_default()
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_before_a_word_is_no_part_of_it() {
        let found: Vec<_> = bare_words(b"SELECT /*!50003GET_LOCK('a',0)*/ t1.x").collect();
        assert_eq!(found, [&b"SELECT"[..], b"GET_LOCK", b"a", b"", b"t1", b"x"]);
    }
}
