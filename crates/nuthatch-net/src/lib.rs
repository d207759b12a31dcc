//! One MySQL connection over Tokio, either side.
//!
//! [`Stream`] is a TCP or Unix socket, [`Framed`] reads whole packets from it and writes bytes to it, [`greet`] and
//! [`prove`] are the server's part of a login, [`log_in`] the client's; an [`Asker`] is a whole small client. What a packet means is `nuthatch-wire`'s,
//! who may log in is the caller's.
//!
//! The sockets of a worker are not on Tokio's reactor but on the worker's [`Watch`] ([`WatchedSocket`]): clients', so that what
//! has arrived can be answered without a task, and servers', so that the thread sleeps in one place.
//!
//! An idle [`Framed`] holds no read buffer: bytes arrive in a scratch array on the stack and only those of an unfinished
//! packet are kept. There is one `read` for each packet that came in one piece, and one `write` for each answer.

mod address;
mod asker;
mod compressed;
mod ed25519;
mod error;
mod framed;
mod idle_stream;
mod login_backend;
mod login_client;
mod login_packet;
mod proxy_header;
mod rsa_key;
mod stream;
mod tls;
mod watch;
mod watched_socket;

pub use address::{BackendAddress, ListenAddress};
pub use asker::{AnswerTable, AskError, Asker, AskerLogin};
pub use compressed::{Algorithm, Compressed, Role};
pub use error::NetError;
pub use framed::Framed;
pub use idle_stream::IdleStream;
pub use login_backend::{BackendLogin, BackendPassword, LoggedIn, algorithm_of, change_user, log_in};
pub use login_client::{Credential, Greeted, Proof, Proving, ProxyHeaders, fresh_nonce, greet, prove};
pub use login_packet::ClearPasswords;
pub use proxy_header::Proxied;
pub use stream::Stream;
pub use tls::{BackendTls, OldestVersion, ServerTls, TlsError, TlsTexts, TlsVersions, Verify};
pub use watch::{Arrival, Bell, Readiness, Registrar, Watch};
pub use watched_socket::WatchedSocket;
