//! Where the stripped text is written: spaces around commas, parentheses and the operators of literals go, and so do signs
//! that do not subtract or add.
//!
//! ProxySQL does this in a second pass over one buffer, which it reads *and* writes, and it decides on a sign by the two
//! bytes before it there. What it sees depends on how many bytes it has dropped so far: with exactly one dropped, the byte
//! before a space is the last one *written* (that space itself), so a sign after `) ` is dropped that otherwise stays. The
//! vectors hold both cases. Here one pass does it, by counting what was dropped ([`Tight::dropped`]).
//!
//! Bytes that go to the output as they stand in the statement are copied in one piece, when something else comes.

use std::ops::Range;

/// Stands for the byte before where none has a say: at the beginning, and after a comment that is kept.
const NOTHING: u8 = 0;

/// Writes a digest text, a piece of stripped text at a time.
pub(super) struct Tight<'a> {
    query: &'a [u8],
    out: &'a mut Vec<u8>,
    /// Piece of the statement that is to be written next, as it stands.
    verbatim: Range<usize>,
    /// The last byte written, the verbatim piece included.
    last_written: u8,
    /// The last byte of stripped text that was no space.
    before: u8,
    /// A space of stripped text follows, which stands at this place in the statement (or is no space there).
    space: Option<usize>,
    /// Bytes of stripped text that were not written.
    dropped: usize,
    /// How many `?` were written.
    pub(super) literals: usize,
}

impl<'a> Tight<'a> {
    pub(super) fn new(query: &'a [u8], out: &'a mut Vec<u8>) -> Self {
        Self {
            query,
            out,
            verbatim: 0..0,
            last_written: NOTHING,
            before: NOTHING,
            space: None,
            dropped: 0,
            literals: 0,
        }
    }

    /// A space, at `start` of the statement or for what stands there; one after another counts once, and none at the
    /// beginning.
    #[inline]
    pub(super) fn space(&mut self, start: usize) {
        if self.space.is_none() && self.last_written != NOTHING {
            self.space = Some(start);
        }
    }

    /// `?` for a literal.
    #[inline]
    pub(super) fn literal(&mut self) {
        self.settle_space(b'?');
        self.push(b'?');
        self.before = b'?';
        self.literals += 1;
    }

    /// The non-empty part `range` of a word, which begins with `first` and ends with `last`.
    #[inline]
    pub(super) fn word(&mut self, range: Range<usize>, first: u8, last: u8) {
        self.settle_space(first);
        self.copy(range, last);
        self.before = last;
    }

    /// One byte of punctuation at `start`, a sign or not.
    #[inline]
    pub(super) fn symbol(&mut self, byte: u8, start: usize) {
        let before_space = self.before;
        let had_space = self.settle_space(byte);
        if matches!(byte, b'+' | b'-') && self.sign_goes(before_space, had_space) {
            self.dropped += 1;
        } else {
            self.copy(start..start + 1, byte);
            self.literals += usize::from(byte == b'?');
        }
        self.before = byte;
    }

    /// A comment that is kept as it stands, with a space on both sides.
    pub(super) fn comment(&mut self, range: Range<usize>) {
        let end = range.end;
        self.before = NOTHING;
        self.settle_space(NOTHING);
        self.copy(range, b'/');
        self.before = NOTHING;
        self.space = Some(end);
    }

    /// Writes what is still to be written. A space at the end is not.
    pub(super) fn finish(mut self) -> usize {
        self.flush();
        self.literals
    }

    /// Writes or drops the space before `next`; true if there is one.
    #[inline]
    fn settle_space(&mut self, next: u8) -> bool {
        let Some(start) = self.space.take() else { return false };
        if space_goes(self.before, next) {
            self.dropped += 1;
        } else if self.query.get(start) == Some(&b' ') {
            self.copy(start..start + 1, b' ');
        } else {
            self.push(b' ');
        }
        true
    }

    fn sign_goes(&self, before_space: u8, had_space: bool) -> bool {
        if had_space {
            let seen = if self.dropped == 1 { self.last_written } else { before_space };
            return !matches!(seen, b'?' | b')');
        }
        matches!(
            self.before,
            NOTHING
                | b'('
                | b','
                | b'='
                | b'<'
                | b'>'
                | b'!'
                | b'+'
                | b'-'
                | b'*'
                | b'/'
                | b'%'
                | b'&'
                | b'|'
                | b'^'
                | b'~'
        )
    }

    #[inline]
    fn copy(&mut self, range: Range<usize>, last: u8) {
        if self.verbatim.end == range.start {
            self.verbatim.end = range.end;
        } else {
            self.flush();
            self.verbatim = range;
        }
        self.last_written = last;
    }

    #[inline]
    fn push(&mut self, byte: u8) {
        self.flush();
        self.verbatim = 0..0;
        self.out.push(byte);
        self.last_written = byte;
    }

    #[inline]
    fn flush(&mut self) {
        if let Some(piece) = self.query.get(self.verbatim.clone())
            && !piece.is_empty()
        {
            self.out.extend_from_slice(piece);
        }
    }
}

#[inline]
fn space_goes(before: u8, next: u8) -> bool {
    matches!(before, b',' | b'(')
        || matches!(next, b',' | b')')
        || (before == b'?' && is_operator(next))
        || (next == b'?' && is_operator(before))
}

#[inline]
fn is_operator(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'*' | b'/' | b'%')
}
