//! The names of XA transactions, as texts of a binlog have them and as events do.

use nuthatch_source::Xid;

/// Its format, its global part, its branch.
pub(super) type OwnedXid = (i64, Vec<u8>, Vec<u8>);

pub(super) fn owned(xid: &Xid<'_>) -> OwnedXid {
    (xid.format_id.into(), xid.gtrid.to_vec(), xid.bqual.to_vec())
}

/// The name in `XA COMMIT X'61',X'',1`.
pub(super) fn xid_of(text: &[u8]) -> Option<OwnedXid> {
    let text = std::str::from_utf8(text).ok()?;
    let (_, name) = text.split_once(char::is_whitespace)?.1.trim_start().split_once(char::is_whitespace)?;
    let mut parts = name.trim().split(',').map(str::trim);
    let hex = |part: &str| {
        let digits = part.strip_prefix(['X', 'x'])?.strip_prefix('\'')?.strip_suffix('\'')?;
        let pairs = digits.as_bytes().chunks(2);
        pairs
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
            .collect::<Option<Vec<u8>>>()
    };
    let (global, branch) = (hex(parts.next()?)?, hex(parts.next()?)?);
    let format = parts.next()?.split_whitespace().next()?.parse().ok()?;
    Some((format, global, branch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_xa_transactions_are_read_from_texts() {
        assert_eq!(xid_of(b"XA COMMIT X'6162',X'',1"), Some((1, b"ab".to_vec(), Vec::new())));
        assert_eq!(xid_of(b"XA ROLLBACK X'61',X'62',7"), Some((7, b"a".to_vec(), b"b".to_vec())));
        for other in ["XA COMMIT", "XA COMMIT 'a'", "XA COMMIT X'6g',X'',1", "XA COMMIT X'61'"] {
            assert_eq!(xid_of(other.as_bytes()), None, "{other}");
        }
    }
}
