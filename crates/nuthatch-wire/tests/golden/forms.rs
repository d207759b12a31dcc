//! Answers of one form, translated, are what the same server sent in the other.

use nuthatch_wire::{AnswerScanner, Form, StatusFlags, Translator};

use crate::answers::kind;
use crate::recorded::{MYSQL, Recorded, SERVERS, Side, Step, split};

/// What a step's answer becomes, its bytes coming in pieces of `piece`.
fn translated(step: &Step, from: Form, to: Form, piece: usize) -> Vec<u8> {
    let answer = step.answer();
    let scanner = AnswerScanner::new(kind(step).unwrap(), from.deprecate_eof)
        .with_optional_metadata(from.optional_metadata)
        .with_local_files(true);
    let mut translator = Translator::new(scanner, from, to, StatusFlags::SERVER_STATUS_AUTOCOMMIT);
    let (mut out, mut done, mut seen) = (Vec::new(), 0, 0);
    while done < answer.len() {
        seen = (seen + piece).min(answer.len());
        let progress = translator.translate(&answer[done..seen], &mut out).unwrap();
        done += progress.consumed;
        if progress.wants_file {
            let last_of_client = step.of(Side::Client).last().unwrap();
            translator.scanner_mut().file_was_sent(last_of_client.sequence().wrapping_add(1));
        }
        assert_eq!(progress.finished, done == answer.len(), "{} in pieces of {piece}", step.label);
    }
    out
}

/// What of an answer is the same whenever it is given.
#[derive(Clone, Copy)]
enum Same {
    /// All but the status of an EOF packet in the middle, which cannot always be known.
    Bytes,
    /// Which packets follow on another: what is in them has numbers of the moment.
    Packets,
}

impl Same {
    fn of(self, answer: &[u8]) -> Vec<Vec<u8>> {
        let mut packets = split(answer);
        let last = packets.len().saturating_sub(1);
        for (place, packet) in packets.iter_mut().enumerate() {
            let is_eof = packet.len() == 9 && packet[4] == 0xFE;
            match self {
                Self::Bytes if is_eof && place < last => packet.truncate(5),
                Self::Bytes => {}
                // Number and first byte.
                Self::Packets => *packet = packet.iter().skip(3).take(2).copied().collect(),
            }
        }
        packets
    }
}

const STEMS: [(&str, Same); 11] = [
    ("text-results", Same::Bytes),
    ("ok-and-err", Same::Packets),
    ("several-results", Same::Bytes),
    ("commands", Same::Bytes),
    ("local-file", Same::Bytes),
    ("optional-metadata", Same::Bytes),
    ("prepared", Same::Packets),
    ("cursors", Same::Packets),
    ("failing-rows", Same::Packets),
    ("tracking", Same::Packets),
    ("no-tracking", Same::Packets),
];

#[test]
fn answers_of_each_form_become_those_of_the_other() {
    let mut count = 0;
    for server in SERVERS {
        for (stem, same) in STEMS {
            if stem == "optional-metadata" && server != MYSQL {
                continue;
            }
            let read = |form| Recorded::read(server, &format!("{stem}-{form}"));
            let (eof, ok) = (read("eof"), read("ok"));
            let (eof_form, ok_form) = (Form::of(eof.capabilities()), Form::of(ok.capabilities()));
            let mut others = eof.steps.iter().skip(1);
            for in_ok in ok.steps.iter().skip(1).filter(|step| kind(step).is_some()) {
                // One file may have a step more.
                let Some(in_eof) = others.clone().find(|step| step.label == in_ok.label) else { continue };
                while others.next().is_some_and(|step| !std::ptr::eq(step, in_eof)) {}
                count += 1;
                for piece in [1, 5, 1 << 20] {
                    let name = format!("{server} {stem}: {}", in_ok.label);
                    let found = translated(in_ok, ok_form, eof_form, piece);
                    assert_eq!(same.of(&found), same.of(&in_eof.answer()), "{name}, to EOF packets");
                    let found = translated(in_eof, eof_form, ok_form, piece);
                    assert_eq!(same.of(&found), same.of(&in_ok.answer()), "{name}, to OK packets");
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}
