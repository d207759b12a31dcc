//! How a client enters: greeting, capabilities, password, an authentication switch.

use std::net::SocketAddr;

use nuthatch_wire::{
    AuthSwitch, CapabilityFlags, FrameHeader, Greeting, HEADER_LEN, NATIVE_PASSWORD_PLUGIN,
    SHA2_PASSWORD_PLUGIN, Sha2Stage1, append_packet, scramble,
};

use super::{Address, Client, Failure, ServerError, Socket};

/// `utf8mb4_general_ci`.
const UTF8MB4: u8 = 45;

/// What a server says by `caching_sha2_password`: the scramble was right, and: it must see the password itself.
const SHA2_IS_KNOWN: [u8; 2] = [1, 3];
const SHA2_WANTS_PASSWORD: [u8; 2] = [1, 4];

/// Who logs in, and how.
#[derive(Debug, Clone)]
pub(crate) struct Login {
    pub(crate) user: String,
    pub(crate) password: String,
    /// As its bytes are sent, in the character set of the collation.
    pub(crate) schema: Option<Vec<u8>>,
    pub(crate) collation: u8,
    pub(crate) capabilities: CapabilityFlags,
}

impl Login {
    /// As today's drivers do it: with DEPRECATE_EOF and multiple statements.
    pub(crate) fn new(user: impl Into<String>, password: impl Into<String>) -> Self {
        Self {
            user: user.into(),
            password: password.into(),
            schema: None,
            collation: UTF8MB4,
            capabilities: CapabilityFlags::CLIENT_LONG_PASSWORD
                | CapabilityFlags::CLIENT_LONG_FLAG
                | CapabilityFlags::CLIENT_PROTOCOL_41
                | CapabilityFlags::CLIENT_TRANSACTIONS
                | CapabilityFlags::CLIENT_SECURE_CONNECTION
                | CapabilityFlags::CLIENT_MULTI_STATEMENTS
                | CapabilityFlags::CLIENT_MULTI_RESULTS
                | CapabilityFlags::CLIENT_PS_MULTI_RESULTS
                | CapabilityFlags::CLIENT_PLUGIN_AUTH
                | CapabilityFlags::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
                | CapabilityFlags::CLIENT_DEPRECATE_EOF,
        }
    }

    pub(crate) fn schema(self, schema: impl AsRef<[u8]>) -> Self {
        Self { schema: Some(schema.as_ref().to_vec()), ..self }
    }

    pub(crate) fn collation(self, collation: u8) -> Self {
        Self { collation, ..self }
    }

    pub(crate) fn with(self, flags: CapabilityFlags) -> Self {
        Self { capabilities: self.capabilities | flags, ..self }
    }

    pub(crate) fn without(self, flags: CapabilityFlags) -> Self {
        Self { capabilities: self.capabilities - flags, ..self }
    }
}

impl Client {
    /// Logs in.
    pub(crate) fn connect(address: &Address, login: &Login) -> Result<Self, Failure> {
        let mut client = Self::greeted(address)?;
        client.log_in(login)?;
        Ok(client)
    }

    /// Logs in from an address of ours.
    pub(crate) fn connect_from(local: SocketAddr, to: SocketAddr, login: &Login) -> Result<Self, Failure> {
        let mut client = Self::on(Socket::connect_from(local, to)?)?;
        client.log_in(login)?;
        Ok(client)
    }

    /// Connects and reads the greeting; an error in its place is an error.
    pub(crate) fn greeted(address: &Address) -> Result<Self, Failure> {
        Self::on(Socket::connect(address)?)
    }

    fn on(socket: Socket) -> Result<Self, Failure> {
        let greeting = Greeting {
            version: Vec::new(),
            connection_id: 0,
            nonce: [0; 20],
            capabilities: CapabilityFlags::empty(),
            collation: 0,
            status: nuthatch_wire::StatusFlags::empty(),
            auth_plugin: Vec::new(),
        };
        let mut client = Self {
            socket,
            inbox: Vec::new(),
            used: 0,
            raw: Vec::new(),
            next_sequence: 0,
            greeting,
            capabilities: CapabilityFlags::empty(),
        };
        let payload = client.read_packet()?;
        if payload.first() == Some(&0xFF) {
            return Err(Failure::Server(ServerError::parse(&payload)));
        }
        client.greeting = Greeting::parse(&payload).expect("a greeting is well formed");
        Ok(client)
    }

    /// The packet that answers the greeting.
    pub(crate) fn login_packet(&mut self, login: &Login) -> Vec<u8> {
        let mut capabilities = login.capabilities;
        capabilities.set(CapabilityFlags::CLIENT_CONNECT_WITH_DB, login.schema.is_some());
        if capabilities.intersects(CapabilityFlags::MARIADB) {
            capabilities.remove(CapabilityFlags::CLIENT_LONG_PASSWORD);
        }
        self.capabilities =
            capabilities & (self.greeting.capabilities | CapabilityFlags::CLIENT_LONG_PASSWORD);
        let answer = nuthatch_wire::Login {
            capabilities,
            max_packet_bytes: 1 << 30,
            collation: login.collation,
            user: login.user.as_bytes().to_vec(),
            auth_answer: scramble(&self.greeting.nonce, login.password.as_bytes()),
            schema: login.schema.clone(),
            auth_plugin: NATIVE_PASSWORD_PLUGIN.to_vec(),
            attributes: Vec::new(),
            zstd_level: 0,
        };
        let (mut payload, mut packet) = (Vec::new(), Vec::new());
        answer.encode(&mut payload);
        append_packet(&mut packet, &mut 1, &payload);
        packet
    }

    /// COM_CHANGE_USER.
    pub(crate) fn change_user(&mut self, login: &Login) -> Result<(), Failure> {
        let answer = scramble(&self.greeting.nonce, login.password.as_bytes());
        let mut argument = [login.user.as_bytes(), &[0, 20][..], &answer].concat();
        argument.extend_from_slice(login.schema.as_deref().unwrap_or_default());
        argument.extend([0, login.collation, 0]);
        argument.extend_from_slice(NATIVE_PASSWORD_PLUGIN);
        argument.push(0);
        self.send(nuthatch_wire::Command::ChangeUser as u8, &argument)?;
        self.await_verdict(login)
    }

    fn log_in(&mut self, login: &Login) -> Result<(), Failure> {
        let packet = self.login_packet(login);
        self.send_raw(&packet, 2)?;
        self.await_verdict(login)
    }

    /// The next packet of a login.
    fn send_next(&mut self, payload: &[u8]) -> Result<(), Failure> {
        let header = FrameHeader { payload_len: payload.len(), sequence: self.next_sequence };
        let next = self.next_sequence + 1;
        let header: [u8; HEADER_LEN] = header.encode();
        Ok(self.send_raw(&[&header[..], payload].concat(), next)?)
    }

    fn await_verdict(&mut self, login: &Login) -> Result<(), Failure> {
        loop {
            let payload = self.read_packet()?;
            match payload.first() {
                Some(0x00) => return Ok(()),
                Some(0xFF) => return Err(Failure::Server(ServerError::parse(&payload))),
                Some(&AuthSwitch::MARKER) => {
                    let switch = AuthSwitch::parse(&payload).expect("a switch is well formed");
                    let nonce = switch.data.as_slice().try_into().expect("20 bytes");
                    let answer = if switch.plugin == SHA2_PASSWORD_PLUGIN {
                        Sha2Stage1::of(login.password.as_bytes()).answer(nonce).to_vec()
                    } else {
                        scramble(nonce, login.password.as_bytes()).to_vec()
                    };
                    self.send_next(&answer)?;
                }
                Some(0x01) if payload == SHA2_IS_KNOWN => {}
                Some(0x01) if payload == SHA2_WANTS_PASSWORD => {
                    assert!(
                        matches!(self.socket, Socket::Unix(_)),
                        "a password only goes where nobody listens"
                    );
                    self.send_next(&[login.password.as_bytes(), &[0]].concat())?;
                }
                other => panic!("an answer to the login that begins with {other:?}"),
            }
        }
    }
}
