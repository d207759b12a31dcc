//! Second pass of the digest, in place: long lists of literals become `?,?,?,...`, long sequences of such lists become
//! `(?,?,?,...),…,(?,?,?,...),...`.
//!
//! A literal belongs to a list if a comma or parenthesis stands on both sides of it. A list is folded when it is longer than
//! the limit by two or more, because folding a shorter one would not shorten the text.

use super::options::DigestOptions;

/// Folds the lists of `text`, in which so many `literals` stand, then the sequences of folded lists.
pub(super) fn fold(text: &mut Vec<u8>, literals: usize, options: &DigestOptions) {
    let limit = options.grouping_limit.max(1);
    if literals.saturating_sub(limit) < 2 {
        return;
    }
    if fold_lists(text, limit) && options.groups_grouping_limit > 0 {
        fold_groups(text, limit, options.groups_grouping_limit);
    }
}

const ELLIPSIS: &[u8] = b"...";

/// True if any list was folded.
fn fold_lists(text: &mut Vec<u8>, limit: usize) -> bool {
    let mut rewrite = Rewrite::new(text);
    let mut folded = false;
    while rewrite.copy_to_next(b"?") {
        let elements = if rewrite.before().is_some_and(|byte| matches!(byte, b'(' | b',')) {
            list_len(rewrite.unread())
        } else {
            0
        };
        if elements >= limit + 2 {
            rewrite.copy(2 * limit);
            rewrite.push(ELLIPSIS);
            rewrite.skip(2 * (elements - limit) - 1);
            folded = true;
        } else {
            rewrite.copy((2 * elements).saturating_sub(1).max(1));
        }
    }
    rewrite.finish();
    folded
}

/// How many literals stand in a row at the start of `text`, each followed by a comma or a closing parenthesis.
fn list_len(text: &[u8]) -> usize {
    let mut len = 0;
    for pair in text.chunks(2) {
        match pair {
            b"?," => len += 1,
            b"?)" => return len + 1,
            _ => break,
        }
    }
    len
}

fn fold_groups(text: &mut Vec<u8>, limit: usize, groups_limit: usize) {
    let group_bytes = 2 * limit + ELLIPSIS.len() + 2;
    let mut rewrite = Rewrite::new(text);
    while rewrite.copy_to_next(b"(?") {
        let groups = groups_len(rewrite.unread(), limit, group_bytes);
        if groups > groups_limit {
            rewrite.copy(groups_limit * (group_bytes + 1));
            rewrite.push(ELLIPSIS);
            rewrite.skip((groups - groups_limit) * (group_bytes + 1) - 1);
        } else {
            rewrite.copy((groups * group_bytes).max(1));
        }
    }
    rewrite.finish();
}

/// How many folded lists stand in a row at the start of `text`, with commas between them.
fn groups_len(mut text: &[u8], limit: usize, group_bytes: usize) -> usize {
    let mut len = 0;
    while let Some((group, after)) = text.split_at_checked(group_bytes) {
        if !is_folded_list(group, limit) {
            break;
        }
        len += 1;
        match after.split_first() {
            Some((b',', next)) => text = next,
            _ => break,
        }
    }
    len
}

fn is_folded_list(group: &[u8], limit: usize) -> bool {
    let Some(inner) = group.strip_prefix(b"(").and_then(|group| group.strip_suffix(b"...)")) else {
        return false;
    };
    inner.len() == 2 * limit && inner.chunks(2).all(|pair| pair == b"?,")
}

/// Where `wanted`, which ends in `?`, begins in `text`.
fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let end = from + text.get(from..)?.iter().position(|&byte| byte == b'?')? + 1;
        if text.get(..end)?.ends_with(wanted) {
            return Some(end - wanted.len());
        }
        from = end;
    }
}

/// Rewrites a text in place by something that is nowhere longer. Invariant: `written <= read <= text.len()`.
struct Rewrite<'a> {
    text: &'a mut Vec<u8>,
    read: usize,
    written: usize,
}

impl<'a> Rewrite<'a> {
    fn new(text: &'a mut Vec<u8>) -> Self {
        Self { text, read: 0, written: 0 }
    }

    fn unread(&self) -> &[u8] {
        self.text.get(self.read..).unwrap_or_default()
    }

    /// The last byte written.
    fn before(&self) -> Option<u8> {
        self.text.get(self.written.checked_sub(1)?).copied()
    }

    /// Copies up to the next `wanted`; false, with all copied, if there is none.
    fn copy_to_next(&mut self, wanted: &[u8]) -> bool {
        let found = find(self.unread(), wanted);
        self.copy(found.unwrap_or(self.unread().len()));
        found.is_some()
    }

    fn copy(&mut self, len: usize) {
        let end = (self.read + len).min(self.text.len());
        let len = end - self.read;
        if self.written != self.read {
            self.text.copy_within(self.read..end, self.written);
        }
        self.read = end;
        self.written += len;
    }

    /// Writes `bytes` over what was read already.
    fn push(&mut self, bytes: &[u8]) {
        if let Some(to) = self.text.get_mut(self.written..self.written + bytes.len()) {
            to.copy_from_slice(bytes);
            self.written += bytes.len();
        }
    }

    fn skip(&mut self, len: usize) {
        self.read = (self.read + len).min(self.text.len());
    }

    fn finish(self) {
        self.text.truncate(self.written);
    }
}
