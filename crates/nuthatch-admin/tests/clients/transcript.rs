//! Transcripts: files of statements, each with what the `mariadb` command line must print for it.
//!
//! A block begins with `account> statements`; the lines below it, up to an empty line, are the output, columns separated by
//! tabs as the command line prints them in batch mode. Lines that begin with `#` in front of a block are remarks.

use crate::interface::Interface;

/// One block.
struct Block<'a> {
    account: &'a str,
    statements: &'a str,
    expected: String,
}

fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    for paragraph in text.split("\n\n") {
        let lines: Vec<&str> =
            paragraph.lines().skip_while(|line| line.is_empty() || line.starts_with('#')).collect();
        let Some((head, expected)) = lines.split_first() else {
            continue;
        };
        let (account, statements) = head.split_once("> ").unwrap_or_else(|| panic!("no block: {head}"));
        let expected = expected.iter().map(|line| format!("{line}\n")).collect();
        blocks.push(Block { account, statements, expected });
    }
    blocks
}

fn differences(interface: &Interface, text: &str) -> Vec<String> {
    let check = |block: &Block<'_>| {
        let found = interface.says(block.account, block.statements);
        let Block { account, statements, expected } = block;
        (found != *expected)
            .then(|| format!("{account}> {statements}\n--- expected\n{expected}--- found\n{found}"))
    };
    blocks(text).iter().filter_map(check).collect()
}

#[test]
fn a_wrong_transcript_is_noticed() {
    let interface = Interface::start();
    assert_eq!(differences(&interface, "admin> SELECT 1\n1\n2\n").len(), 1);
    assert_eq!(differences(&interface, "admin> SELECT 1\n1\n1\n").len(), 0);
}

macro_rules! transcripts {
    ($($name:ident,)*) => {
        $(#[test]
        fn $name() {
            let text = include_str!(concat!("transcripts/", stringify!($name), ".txt"));
            let differences = differences(&Interface::start(), text);
            assert!(differences.is_empty(), "\n{}", differences.join("\n"));
        })*
    };
}

transcripts! {
    configuration_is_edited_and_put_in_force,
    clients_probe_as_they_do,
    statistics_are_shown,
    what_is_not_allowed_is_refused,
}
