//! Second pass of the digest, in place: spaces around commas, parentheses and the operators of literals go, and so do signs
//! that do not subtract or add.
//!
//! ProxySQL decides on a sign by the two bytes before it in the buffer that it reads *and* writes, so what it sees there
//! depends on how many bytes it has dropped so far: with exactly one dropped, the byte before a space is the last one
//! *written* (that space itself), and a sign after `) ` is dropped that otherwise stays. The vectors hold both cases, so
//! [`Tightening::second_before`] does the same.

/// Tightens `text`. Comments are copied as they are if `has_comments`.
pub(super) fn tighten(text: &mut Vec<u8>, has_comments: bool) {
    let mut pass = Tightening { text, read: 0, written: 0, after_comment: false };
    while let Some(byte) = pass.at(pass.read) {
        if has_comments && byte == b'/' && pass.at(pass.read + 1) == Some(b'*') {
            pass.copy_comment();
        } else if pass.stays(byte) {
            pass.copy();
        } else {
            pass.read += 1;
        }
    }
    let written = pass.written;
    text.truncate(written);
}

/// Invariant: `written <= read <= text.len()`; bytes before `written` are the result, those from `read` on are untouched.
struct Tightening<'a> {
    text: &'a mut Vec<u8>,
    read: usize,
    written: usize,
    after_comment: bool,
}

impl Tightening<'_> {
    #[inline]
    fn at(&self, position: usize) -> Option<u8> {
        self.text.get(position).copied()
    }

    /// The byte just read: kept until the next but one is written.
    #[inline]
    fn before(&self) -> Option<u8> {
        if self.after_comment { None } else { self.at(self.read.checked_sub(1)?) }
    }

    /// The byte two before the next: what was written there if exactly one byte was dropped so far.
    fn second_before(&self) -> Option<u8> {
        self.at(self.read.checked_sub(2)?)
    }

    #[inline]
    fn stays(&self, byte: u8) -> bool {
        match byte {
            b' ' => !self.space_goes(),
            b'+' | b'-' => !self.sign_goes(),
            _ => true,
        }
    }

    fn space_goes(&self) -> bool {
        let (before, after) = (self.before(), self.at(self.read + 1));
        match (before, after) {
            (Some(b',' | b'('), _) | (_, Some(b',' | b')')) => true,
            (Some(b'?'), Some(operator)) | (Some(operator), Some(b'?')) => is_operator(operator),
            _ => false,
        }
    }

    fn sign_goes(&self) -> bool {
        match self.before() {
            Some(b' ') => !matches!(self.second_before(), Some(b'?' | b')')),
            Some(before) => matches!(
                before,
                b'(' | b','
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
            ),
            None => true,
        }
    }

    #[inline]
    fn copy(&mut self) {
        if let Some(byte) = self.at(self.read)
            && let Some(to) = self.text.get_mut(self.written)
        {
            *to = byte;
            self.written += 1;
            self.read += 1;
        }
        self.after_comment = false;
    }

    fn copy_comment(&mut self) {
        loop {
            let ends = self.at(self.read) == Some(b'*') && self.at(self.read + 1) == Some(b'/');
            self.copy();
            if ends {
                self.copy();
            }
            if ends || self.read == self.text.len() {
                break;
            }
        }
        self.after_comment = true;
    }
}

fn is_operator(byte: u8) -> bool {
    matches!(byte, b'+' | b'-' | b'*' | b'/' | b'%')
}
