//! What the rules look at: one statement and who sent it from where.

/// One statement as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct RuleInput<'a> {
    /// The client's login name.
    pub user: &'a [u8],
    /// The session's current schema; empty for none.
    pub schema: &'a [u8],
    /// The client's address without its port; empty for a Unix socket.
    pub client_addr: &'a str,
    /// The address that the client connected to, without its port.
    pub proxy_addr: &'a str,
    /// The port that the client connected to; 0 for a Unix socket.
    pub proxy_port: u16,
    /// Digest of the statement.
    pub digest: u64,
    /// The normalised text that the digest is of.
    pub digest_text: &'a [u8],
    /// The statement itself.
    pub query: &'a [u8],
    /// The flag to start with: 0, or what the session's last verdict left in `next_query_flag_in`.
    pub flag_in: u32,
}
