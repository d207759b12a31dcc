//! The golden files: what went over connections to real servers. `capture/recording.py` says how they are written.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use nuthatch_wire::CapabilityFlags;

/// One connection.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Folder and name of the file: `mysql-9.7/prepared-ok`.
    pub(crate) name: String,
    pub(crate) facts: HashMap<String, String>,
    pub(crate) steps: Vec<Step>,
}

/// The login, or one command with its answer.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) label: String,
    pub(crate) packets: Vec<Packet>,
}

/// One packet, or a packet of the compressed protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) side: Side,
    pub(crate) header: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Client,
    Server,
}

/// The folders; a file that is missing in one fails the test that reads it.
pub(crate) const MARIADB: [&str; 2] = ["mariadb-10.11", "mariadb-11.8"];
pub(crate) const MYSQL: &str = "mysql-9.7";
pub(crate) const SERVERS: [&str; 3] = [MARIADB[0], MARIADB[1], MYSQL];

fn folder() -> PathBuf {
    // Also another crate's tests use these files.
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("nuthatch-wire").join("tests/golden")
}

/// Every file of every server.
pub(crate) fn all() -> Vec<Recorded> {
    let names = SERVERS.iter().flat_map(|server| {
        let files = fs::read_dir(folder().join(server)).unwrap().map(|file| file.unwrap().path());
        let mut stems: Vec<_> =
            files.map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        stems.sort();
        stems.into_iter().map(move |stem| (*server, stem))
    });
    names.map(|(server, stem)| Recorded::read(server, &stem)).collect()
}

impl Recorded {
    pub(crate) fn read(server: &str, stem: &str) -> Self {
        let path = folder().join(server).join(stem).with_extension("txt");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        Self::parse(format!("{server}/{stem}"), &text)
    }

    fn parse(name: String, text: &str) -> Self {
        let mut recorded = Self { name, facts: HashMap::new(), steps: Vec::new() };
        for line in text.lines() {
            match line.split_once(' ').unwrap_or((line, "")) {
                ("#", _) => {}
                ("@", fact) => {
                    let (name, value) = fact.split_once(' ').unwrap_or((fact, ""));
                    recorded.facts.insert(name.to_owned(), value.to_owned());
                }
                ("===", label) => {
                    recorded.steps.push(Step { label: label.to_owned(), packets: Vec::new() });
                }
                ("C" | "CZ", header) => recorded.last().packets.push(Packet::begin(Side::Client, header)),
                ("S" | "SZ", header) => recorded.last().packets.push(Packet::begin(Side::Server, header)),
                ("", payload) => recorded.last().packets.last_mut().unwrap().add(payload),
                _ => panic!("{}: {line}", recorded.name),
            }
        }
        recorded
    }

    fn last(&mut self) -> &mut Step {
        self.steps.last_mut().expect("packets stand in a step")
    }

    pub(crate) fn server(&self) -> &str {
        self.name.split_once('/').unwrap().0
    }

    pub(crate) fn file(&self) -> &str {
        self.name.split_once('/').unwrap().1
    }

    pub(crate) fn fact(&self, name: &str) -> &str {
        self.facts.get(name).unwrap_or_else(|| panic!("{} has no {name}", self.name))
    }

    /// The capabilities in force.
    pub(crate) fn capabilities(&self) -> CapabilityFlags {
        let bits = |name: &str| u32::from_str_radix(self.fact(name).strip_prefix("0x").unwrap(), 16).unwrap();
        let mariadb = "mariadb_capabilities";
        let reserved = if self.facts.contains_key(mariadb) { bits(mariadb) } else { 0 };
        CapabilityFlags::of_halves(bits("capabilities"), reserved)
    }

    pub(crate) fn deprecates_eof(&self) -> bool {
        self.capabilities().contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    pub(crate) fn login(&self) -> &Step {
        self.steps.first().filter(|step| step.label == "login").expect("a file begins with a login")
    }

    /// The steps of that label.
    pub(crate) fn labelled(&self, label: &str) -> Vec<&Step> {
        let found: Vec<_> = self.steps.iter().filter(|step| step.label == label).collect();
        assert!(!found.is_empty(), "{} has no {label:?}", self.name);
        found
    }

    pub(crate) fn step(&self, label: &str) -> &Step {
        self.labelled(label)[0]
    }
}

impl Step {
    pub(crate) fn of(&self, side: Side) -> impl Iterator<Item = &Packet> {
        self.packets.iter().filter(move |packet| packet.side == side)
    }

    /// What the client asked.
    pub(crate) fn question(&self) -> &Packet {
        self.of(Side::Client).next().expect("a step begins with a packet of the client")
    }

    /// All bytes of the answer.
    pub(crate) fn answer(&self) -> Vec<u8> {
        self.of(Side::Server).flat_map(Packet::bytes).collect()
    }
}

impl Packet {
    fn begin(side: Side, header: &str) -> Self {
        Self { side, header: from_hex(header), payload: Vec::new() }
    }

    /// Adds a line: bytes in groups, their text behind a semicolon; or how often the line before comes again.
    fn add(&mut self, line: &str) {
        if let Some(times) = line.trim().strip_prefix("* ") {
            let before = self.payload[self.payload.len() - LINE_BYTES..].to_vec();
            self.payload.extend(before.repeat(times.parse().unwrap()));
        } else {
            self.payload.extend(from_hex(line.split_once(';').unwrap().0));
        }
    }

    pub(crate) fn sequence(&self) -> u8 {
        self.header[3]
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [self.header.as_slice(), &self.payload].concat()
    }
}

const LINE_BYTES: usize = 32;

fn from_hex(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len()).step_by(2).map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap()).collect()
}

/// The packets of an answer, with their headers; none of these is of several frames.
pub(crate) fn split(mut answer: &[u8]) -> Vec<Vec<u8>> {
    let mut packets = Vec::new();
    while let [a, b, c, _, ..] = answer {
        let len = 4 + u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        packets.push(answer[..len].to_vec());
        answer = &answer[len..];
    }
    packets
}
