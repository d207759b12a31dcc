//! LIKE on the names of variables.

/// Whether `name` is like `pattern`, in any case: `%` is anything, `_` one byte, a backslash takes what follows as it is.
pub(super) fn is_like(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at_name, mut at_pattern) = (0, 0);
    // Behind the last `%`, and where in the name that one ends as yet.
    let mut retry = None;
    loop {
        let (step, is_match) = match (pattern.get(at_pattern), name.get(at_name)) {
            (Some(b'%'), _) => {
                at_pattern += 1;
                retry = Some((at_pattern, at_name));
                continue;
            }
            (None, None) => return true,
            (Some(b'\\'), Some(byte)) if at_pattern + 1 < pattern.len() => {
                (2, pattern.get(at_pattern + 1).is_some_and(|escaped| escaped.eq_ignore_ascii_case(byte)))
            }
            (Some(wanted), Some(byte)) => (1, *wanted == b'_' || wanted.eq_ignore_ascii_case(byte)),
            _ => (0, false),
        };
        if is_match {
            (at_pattern, at_name) = (at_pattern + step, at_name + 1);
            continue;
        }
        match retry {
            Some((behind, end)) if end < name.len() => {
                (at_pattern, at_name) = (behind, end + 1);
                retry = Some((behind, end + 1));
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_as_like_does() {
        let name = b"query_cache_size";
        for (pattern, expected) in [
            ("query_cache_size", true),
            ("QUERY\\_cache%", true),
            ("query_cache%", true),
            ("%cache%", true),
            ("%", true),
            ("%e%e%e", true),
            ("%e%e%e%e", false),
            ("query_cache_siz_", true),
            ("query_cache_size_", false),
            ("query_cache_size%", true),
            ("query_cache", false),
            ("query\\%", false),
            ("\\query%", true),
            ("query_cache_size\\", false),
            ("", false),
        ] {
            assert_eq!(is_like(name, pattern.as_bytes()), expected, "{pattern}");
        }
        assert!(is_like(b"", b"%%"));
    }
}
