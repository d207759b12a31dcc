//! An answer on its way from a server's connection to a client: as it is, or translated where their forms differ.

use nuthatch_wire::{
    AnswerEnd, AnswerKind, AnswerScanner, Form, Progress, StatusFlags, Translator, WireError,
};

/// One answer on its way.
#[derive(Debug)]
pub(super) enum Passage {
    /// The connection's form is the client's.
    AsItIs(AnswerScanner),
    Translated(Box<Translation>),
}

/// An answer in another form than the client's.
#[derive(Debug)]
pub(super) struct Translation {
    translator: Translator,
    /// What the bytes at hand became.
    bytes: Vec<u8>,
    /// Walks over what the client gets: its places of status flags are those that a cache must know.
    told: AnswerScanner,
}

impl Passage {
    /// Begins before the first byte. `scanner` is for the connection's form, `from`; packets that have to be made up for the
    /// client's, `to`, carry `status`.
    pub(super) fn new(
        scanner: AnswerScanner,
        kind: AnswerKind,
        from: Form,
        to: Form,
        status: StatusFlags,
    ) -> Self {
        if from == to {
            return Self::AsItIs(scanner);
        }
        let translator = Translator::new(scanner, from, to, status);
        // Files that the server asks for are the other scanner's.
        let told = AnswerScanner::new(kind, to.deprecate_eof)
            .with_optional_metadata(to.optional_metadata)
            .with_local_files(true);
        Self::Translated(Box::new(Translation { translator, bytes: Vec::new(), told }))
    }

    /// Looks at the next bytes from the server; see [`AnswerScanner::scan`].
    pub(super) fn scan(&mut self, bytes: &[u8]) -> Result<Progress, WireError> {
        match self {
            Self::AsItIs(scanner) => scanner.scan(bytes),
            Self::Translated(translation) => {
                let Translation { translator, bytes: out, told } = &mut **translation;
                out.clear();
                let progress = translator.translate(bytes, out)?;
                told.scan(out)?;
                Ok(progress)
            }
        }
    }

    /// What the client is told for the bytes just scanned, which are `bytes`.
    pub(super) fn told<'b>(&'b mut self, bytes: &'b mut [u8]) -> &'b mut [u8] {
        match self {
            Self::AsItIs(_) => bytes,
            Self::Translated(translation) => &mut translation.bytes,
        }
    }

    /// How the answer ended, as the client was told it; but all that the server's flags told.
    pub(super) const fn ended(&self) -> AnswerEnd {
        match self {
            Self::AsItIs(scanner) => *scanner.end(),
            Self::Translated(translation) => {
                let status_seen = translation.translator.scanner().end().status_seen;
                AnswerEnd { status_seen, ..*translation.told.end() }
            }
        }
    }

    /// What walks over the server's bytes.
    pub(super) const fn scanner(&self) -> &AnswerScanner {
        match self {
            Self::AsItIs(scanner) => scanner,
            Self::Translated(translation) => translation.translator.scanner(),
        }
    }

    /// The number of the client's next packet.
    pub(super) fn next_sequence(&self) -> Option<u8> {
        let sequence = self.scanner().next_sequence()?;
        Some(match self {
            Self::AsItIs(_) => sequence,
            Self::Translated(translation) => sequence.wrapping_add(translation.translator.shift()),
        })
    }

    /// The file that the server asked for was sent; its next packet has the number `next_sequence`.
    pub(super) const fn file_was_sent(&mut self, next_sequence: u8) {
        match self {
            Self::AsItIs(scanner) => scanner.file_was_sent(next_sequence),
            Self::Translated(translation) => {
                translation.translator.scanner_mut().file_was_sent(next_sequence);
                translation.told.file_was_sent(next_sequence);
            }
        }
    }
}
