//! An answer on its way from a server's connection to a client: as it is, or translated where their forms differ.

use nuthatch_wire::{
    AnswerEnd, AnswerKind, AnswerScanner, Form, Hidden, Progress, StatusFlags, Translator, WireError,
};

/// How the answers of a connection come, and how the client wants them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Forms {
    pub(crate) from: Form,
    pub(crate) to: Form,
    /// What the client did not ask to be told; the proxy did.
    pub(crate) hidden: Hidden,
    /// What packets carry that have to be made up for the client.
    pub(crate) status: StatusFlags,
}

impl Forms {
    /// Whether answers look alike as long as they tell of no changes.
    fn are_alike(&self) -> bool {
        self.from.is_nearly(self.to)
    }

    /// Whether the client must not be told what the server has told.
    fn tell_too_much(&self, scanner: &AnswerScanner) -> bool {
        let end = scanner.end();
        let is_told = end.status_seen.contains(StatusFlags::SERVER_SESSION_STATE_CHANGED);
        let is_hidden = self.hidden.state && (end.told.state || !self.from.deprecate_eof)
            || self.hidden.gtids && scanner.gtids().is_some();
        is_told && self.from.session_track && (is_hidden || !self.to.session_track)
    }
}

/// One answer on its way.
#[derive(Debug)]
pub(crate) enum Passage {
    /// The connection's form is the client's; so far.
    AsItIs(AnswerScanner, Forms),
    Translated(Box<Translation>),
}

/// An answer in another form than the client's.
#[derive(Debug)]
pub(crate) struct Translation {
    translator: Translator,
    /// What the bytes at hand became.
    bytes: Vec<u8>,
    /// Walks over what the client gets: its places of status flags are those that a cache must know.
    told: AnswerScanner,
}

impl Passage {
    /// Begins before the first byte. `scanner` is for the connection's form.
    #[inline]
    pub(crate) fn new(scanner: AnswerScanner, kind: AnswerKind, forms: Forms) -> Self {
        if forms.are_alike() {
            return Self::AsItIs(scanner, forms);
        }
        // Files that the server asks for are the other scanner's.
        let told = AnswerScanner::new(kind, forms.to.deprecate_eof)
            .with_optional_metadata(forms.to.optional_metadata)
            .with_local_files(true);
        Self::translated(scanner, told, forms)
    }

    fn translated(scanner: AnswerScanner, told: AnswerScanner, forms: Forms) -> Self {
        let Forms { from, to, hidden, status } = forms;
        let translator = Translator::new(scanner, from, to, status).hiding(hidden);
        Self::Translated(Box::new(Translation { translator, bytes: Vec::new(), told }))
    }

    /// Looks at the next bytes from the server; see [`AnswerScanner::scan`].
    pub(crate) fn scan(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        match self {
            Self::AsItIs(scanner, forms) => {
                let begun = scanner.has_begun().then(|| scanner.clone());
                let progress = scanner.scan(bytes)?;
                if !forms.tell_too_much(scanner) {
                    return Ok(progress);
                }
                let before = begun.unwrap_or_else(|| scanner.anew());
                let told = before.clone().with_session_track(false);
                *self = Self::translated(before, told, *forms);
                self.scan(bytes)
            }
            Self::Translated(translation) => {
                let Translation { translator, bytes: out, told } = &mut **translation;
                out.clear();
                let progress = translator.translate(bytes, out)?;
                told.scan(out)?;
                Ok(progress)
            }
        }
    }

    /// Whether the client gets the server's bytes.
    pub(crate) const fn is_as_it_is(&self) -> bool {
        matches!(self, Self::AsItIs(..))
    }

    /// What the client is told for the bytes just scanned, which are `bytes`.
    pub(crate) fn told<'b>(&'b mut self, bytes: &'b mut [u8]) -> &'b mut [u8] {
        match self {
            Self::AsItIs(..) => bytes,
            Self::Translated(translation) => &mut translation.bytes,
        }
    }

    /// How the answer ended, as the client was told it; but all that the server told of changes.
    pub(crate) const fn ended(&self) -> AnswerEnd {
        match self {
            Self::AsItIs(scanner, _) => *scanner.end(),
            Self::Translated(translation) => {
                let AnswerEnd { status_seen, told, .. } = *translation.translator.scanner().end();
                AnswerEnd { status_seen, told, ..*translation.told.end() }
            }
        }
    }

    /// What walks over the server's bytes.
    pub(crate) const fn scanner(&self) -> &AnswerScanner {
        match self {
            Self::AsItIs(scanner, _) => scanner,
            Self::Translated(translation) => translation.translator.scanner(),
        }
    }

    /// The number of the client's next packet.
    pub(crate) fn next_sequence(&self) -> Option<u8> {
        let sequence = self.scanner().next_sequence()?;
        Some(match self {
            Self::AsItIs(..) => sequence,
            Self::Translated(translation) => sequence.wrapping_add(translation.translator.shift()),
        })
    }

    /// The number that an ERR packet would have; none where the client takes none.
    pub(crate) fn sequence_of_error(&self) -> Option<u8> {
        if self.scanner().takes_error() { self.next_sequence() } else { None }
    }

    /// The file that the server asked for was sent; its next packet has the number `next_sequence`.
    pub(crate) const fn file_was_sent(&mut self, next_sequence: u8) {
        match self {
            Self::AsItIs(scanner, _) => scanner.file_was_sent(next_sequence),
            Self::Translated(translation) => {
                translation.translator.scanner_mut().file_was_sent(next_sequence);
                translation.told.file_was_sent(next_sequence);
            }
        }
    }
}
