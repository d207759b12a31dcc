//! The connection of a replica: registered under a number of its own, the events come as they are written.
//!
//! A number is used once: MariaDB takes no new connections while a semi-synchronous replica registers with that of another whose
//! connection is still open (measured on 10.11 and 11.8).

use nuthatch_net::{Asker, BackendAddress, Framed};
use nuthatch_sql::{GtidSet, ServerFlavor};
use nuthatch_wire::{Command, ErrPacket, append_packet};

use super::{FollowError, Start};
use crate::Login;

/// The largest event that is read: what servers can be set to send.
const EVENT_BYTES_MAX: usize = 1 << 30;

/// What precedes an event of a server that may wait for an answer, and the answer: `kPacketMagicNum`.
const SEMI_SYNC: u8 = 0xEF;
/// The server waits for the answer to this one: `kPacketFlagSync`.
const WANTS_ANSWER: u8 = 1;

/// What a server says to an account that may not: `ER_ACCESS_DENIED_ERROR`, `ER_SPECIFIC_ACCESS_DENIED_ERROR`.
const OF_GRANTS: [u16; 2] = [1045, 1227];

/// What `@mariadb_slave_capability` says to understand: GTIDs.
const MARIADB_CAPABILITY: u8 = 4;

/// How the binlog is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedOptions {
    /// After so many nanoseconds without an event the server says where it is.
    pub heartbeat_ns: u64,
    /// The server may wait for answers.
    pub is_semi_sync: bool,
    /// The number in replication, used once.
    pub server_id: u32,
}

/// See the module's doc.
#[derive(Debug)]
pub struct Feed {
    framed: Framed,
    is_semi_sync: bool,
}

/// An event as it came.
#[derive(Debug, Clone, Copy)]
pub struct Arrived<'a> {
    /// Its bytes, from its header on.
    pub event: &'a [u8],
    /// The server waits until it is told that it has come.
    pub wants_answer: bool,
}

impl Feed {
    /// Connects, registers, and has the events come from there on.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn open(
        server: &BackendAddress,
        login: &Login,
        from: &Start,
        options: FeedOptions,
    ) -> Result<Self, FollowError> {
        let mut asker = Asker::open(server, login, 1 << 20).await?;
        let flavor = ServerFlavor::of_version(asker.version().as_bytes());
        for preparation in preparations(flavor, from, options) {
            asker.ask(&preparation).await?;
        }
        let mut feed = Self { framed: asker.into_framed(), is_semi_sync: options.is_semi_sync };
        feed.send(&registration(options.server_id)).await?;
        feed.framed.read_packet_of_any_number(1 << 16).await?;
        refusal(feed.framed.payload())?;
        feed.send(&dump(from, options.server_id)).await?;
        Ok(feed)
    }

    /// The next event. Dropping the future loses nothing of an event below 16 MiB.
    ///
    /// # Errors
    /// See [`FollowError`].
    pub async fn next(&mut self) -> Result<Arrived<'_>, FollowError> {
        self.framed.read_packet_of_any_number(EVENT_BYTES_MAX).await?;
        let packet = self.framed.payload();
        refusal(packet)?;
        let event = packet.get(1..).unwrap_or_default();
        match event {
            [SEMI_SYNC, flags, event @ ..] if self.is_semi_sync => {
                Ok(Arrived { event, wants_answer: flags & WANTS_ANSWER != 0 })
            }
            _ => Ok(Arrived { event, wants_answer: false }),
        }
    }

    /// Tells the server that all up to there has come, in the file of that name.
    ///
    /// # Errors
    /// [`FollowError::Lost`].
    pub async fn answer(&mut self, file: &[u8], offset: u64) -> Result<(), FollowError> {
        self.send(&[&[SEMI_SYNC][..], &offset.to_le_bytes(), file].concat()).await
    }

    async fn send(&mut self, payload: &[u8]) -> Result<(), FollowError> {
        let mut packet = Vec::with_capacity(payload.len() + 4);
        append_packet(&mut packet, &mut 0, payload);
        Ok(self.framed.write(&packet).await?)
    }
}

/// What the server is told before: "MySQL source code documentation, Replication Protocol"; "MariaDB, 5-slave-registration".
fn preparations(flavor: ServerFlavor, from: &Start, options: FeedOptions) -> Vec<String> {
    let FeedOptions { heartbeat_ns, is_semi_sync, server_id } = options;
    match flavor {
        ServerFlavor::MariaDb(_) => {
            let position = match from {
                Start::Position(text, _) => text.as_str(),
                Start::Set(_) => "",
            };
            let mut said = vec![
                "SET @master_binlog_checksum = @@global.binlog_checksum".to_owned(),
                format!("SET @mariadb_slave_capability = {MARIADB_CAPABILITY}"),
                format!("SET @master_heartbeat_period = {heartbeat_ns}"),
                format!("SET @slave_connect_state = '{position}'"),
                "SET @slave_gtid_strict_mode = 0, @slave_gtid_ignore_duplicates = 0".to_owned(),
            ];
            said.extend(is_semi_sync.then(|| "SET @rpl_semi_sync_slave = 1".to_owned()));
            said
        }
        ServerFlavor::MySql(_) => {
            let uuid = format!("6e757468-6174-4368-8000-0000{server_id:08x}");
            let both =
                |name: &str, value: &str| format!("SET @source_{name} = {value}, @master_{name} = {value}");
            let mut said = vec![
                both("binlog_checksum", "@@global.binlog_checksum"),
                both("heartbeat_period", &heartbeat_ns.to_string()),
                format!("SET @replica_uuid = '{uuid}', @slave_uuid = '{uuid}'"),
            ];
            said.extend(
                is_semi_sync.then(|| "SET @rpl_semi_sync_replica = 1, @rpl_semi_sync_slave = 1".to_owned()),
            );
            said
        }
    }
}

/// COM_REGISTER_SLAVE, without a host, a name or a port.
fn registration(server_id: u32) -> Vec<u8> {
    let mut command = vec![Command::RegisterSlave as u8];
    command.extend(server_id.to_le_bytes());
    command.extend([0; 3]);
    command.extend([0; 10]);
    command
}

fn dump(from: &Start, server_id: u32) -> Vec<u8> {
    const FIRST_EVENT: u32 = 4;
    match from {
        Start::Position(..) => {
            let mut command = vec![Command::BinlogDump as u8];
            command.extend(FIRST_EVENT.to_le_bytes());
            command.extend([0; 2]);
            command.extend(server_id.to_le_bytes());
            command
        }
        Start::Set(set) => {
            let mut command = vec![Command::BinlogDumpGtid as u8, 0, 0];
            command.extend(server_id.to_le_bytes());
            command.extend(0_u32.to_le_bytes());
            command.extend(u64::from(FIRST_EVENT).to_le_bytes());
            let set = encode(set);
            command.extend(u32::try_from(set.len()).unwrap_or(u32::MAX).to_le_bytes());
            command.extend(set);
            command
        }
    }
}

/// A set as a replica sends it (`Gtid_set::encode`). With tags its first eight bytes say so, and each UUID is followed by its tag.
fn encode(set: &GtidSet) -> Vec<u8> {
    let has_tags = set.origins().any(|(_, tag, _)| !tag.is_empty());
    let count = set.origins().len() as u64;
    let mut bytes = Vec::new();
    match has_tags {
        false => bytes.extend(count.to_le_bytes()),
        true => bytes.extend((1 | count << 8 | 1 << 56).to_le_bytes()),
    }
    for (uuid, tag, intervals) in set.origins() {
        bytes.extend(uuid.to_be_bytes());
        if has_tags {
            // A length of its variable form: below 64 one byte, shifted by one.
            bytes.push(u8::try_from(tag.len() << 1).unwrap_or(0));
            bytes.extend(tag.as_bytes());
        }
        bytes.extend((intervals.len() as u64).to_le_bytes());
        for (first, last) in intervals {
            bytes.extend(first.to_le_bytes());
            bytes.extend((last + 1).to_le_bytes());
        }
    }
    bytes
}

/// # Errors
/// What the server says in the place of an event, or that the stream is over.
fn refusal(packet: &[u8]) -> Result<(), FollowError> {
    match packet.first() {
        Some(0xFF) => {
            let Ok(error) = ErrPacket::parse(packet) else {
                return Err(FollowError::Lost("the server refused it".to_owned()));
            };
            let message = String::from_utf8_lossy(&error.message);
            let told = format!("the server answered error {}: {message}", error.code);
            match OF_GRANTS.contains(&error.code) {
                true => Err(FollowError::Refused(told)),
                false => Err(FollowError::Lost(told)),
            }
        }
        Some(0xFE) if packet.len() < 9 => Err(FollowError::Lost("the server ended its binlog".to_owned())),
        Some(_) => Ok(()),
        None => Err(FollowError::Lost("the server sent nothing".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_encoded_with_their_ends_behind_the_last() {
        let set = GtidSet::parse("00000000-0000-0000-0000-0000000000ff:1-5:7").expect("a set");
        let mut expected = 1_u64.to_le_bytes().to_vec();
        expected.extend([0; 15]);
        expected.push(0xFF);
        for number in [2_u64, 1, 6, 7, 8] {
            expected.extend(number.to_le_bytes());
        }
        assert_eq!(encode(&set), expected);
        assert_eq!(encode(&GtidSet::default()), [0; 8]);
    }

    #[test]
    fn error_in_the_place_of_an_event_is_told() {
        assert_eq!(refusal(b"\0event"), Ok(()));
        let Err(FollowError::Lost(told)) = refusal(b"\xFF\xD4\x04#HY000gone") else {
            panic!("it is an error")
        };
        assert_eq!(told, "the server answered error 1236: gone");
        assert!(refusal(b"\xFE\0\0\0\0").is_err() && refusal(b"").is_err());
    }
}
