//! Which statements nobody else may see.

/// What others may see of a statement: not one that may hold a password.
pub(super) fn shown(text: &[u8]) -> &[u8] {
    if may_hold_password(text) { HIDDEN } else { text }
}

/// What stands where a statement's text would, or what quotes it.
pub(crate) const HIDDEN: &[u8] = b"(hidden: the statement may hold a password)";

/// Whether nobody else may see the statement.
pub(crate) fn may_hold_password(text: &[u8]) -> bool {
    const MARKS: [&[u8]; 2] = [b"identified", b"password"];
    let names_one = |mark: &[u8]| text.windows(mark.len()).any(|window| window.eq_ignore_ascii_case(mark));
    MARKS.into_iter().any(names_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_with_passwords_are_not_shown() {
        for secret in
            ["ALTER USER a IDENTIFIED BY 's3cret'", "SET Password = 's3cret'", "SELECT PASSWORD('s3cret')"]
        {
            assert!(!String::from_utf8_lossy(shown(secret.as_bytes())).contains("s3cret"), "{secret}");
        }
        assert_eq!(shown(b"SELECT 1"), b"SELECT 1");
    }
}
