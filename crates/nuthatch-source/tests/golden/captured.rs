//! The captured files.

use std::fs;
use std::path::{Path, PathBuf};

use nuthatch_sql::ServerFlavor;

/// One scenario with one server.
pub(crate) struct Stream {
    pub(crate) path: PathBuf,
    pub(crate) flavor: ServerFlavor,
    pub(crate) events: Vec<Vec<u8>>,
}

pub(crate) fn all() -> Vec<Stream> {
    let mut streams = Vec::new();
    for server in ["mariadb-10.11", "mariadb-11.8", "mysql-9.7"] {
        let folder = golden().join(server);
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "events") {
                streams.push(read(path));
            }
        }
    }
    streams.sort_by(|one, other| one.path.cmp(&other.path));
    streams
}

pub(crate) fn one(server: &str, scenario: &str) -> Stream {
    read(golden().join(server).join(scenario).with_extension("events"))
}

pub(crate) fn expected(stream: &Stream) -> String {
    fs::read_to_string(stream.path.with_extension("said")).unwrap_or_default()
}

pub(crate) fn keep(stream: &Stream, said: &str) {
    fs::write(stream.path.with_extension("said"), said).unwrap();
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn read(path: PathBuf) -> Stream {
    let text = fs::read_to_string(&path).unwrap();
    let version = text.lines().next().unwrap().trim_start_matches("# ");
    let flavor = ServerFlavor::of_version(version.as_bytes());
    let events = text.lines().filter(|line| !line.starts_with('#')).map(bytes).collect();
    Stream { path, flavor, events }
}

fn bytes(line: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        line.chars().map(|digit| u8::try_from(digit.to_digit(16).unwrap()).unwrap()).collect();
    digits.chunks(2).map(|pair| pair.iter().fold(0, |sum, digit| sum << 4 | digit)).collect()
}
