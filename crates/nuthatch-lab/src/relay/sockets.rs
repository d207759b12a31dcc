//! What the kernel tells of TCP sockets of this host: which ports are listened on, whose process holds one end.

use std::collections::HashSet;
use std::fs;
use std::net::SocketAddr;

use nuthatch_server::ProcessMark;

use crate::role::Role;

/// Fields of a line of `/proc/net/tcp`: proc_pid_net(5).
const LOCAL: usize = 1;
const REMOTE: usize = 2;
const STATE: usize = 3;
const INODE: usize = 9;
const LISTENING: &str = "0A";

/// Ports that somebody listens on, over IPv4.
pub(crate) fn listened() -> HashSet<u16> {
    let text = table();
    let listening = text.lines().filter_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(LOCAL);
        let local = fields.next()?;
        (fields.nth(STATE - LOCAL - 1)? == LISTENING).then(|| port(local))?
    });
    listening.collect()
}

/// Which of these processes is the client that has connected from `peer` to the port `to`.
pub(crate) fn owner(peer: SocketAddr, to: u16, processes: &[(Role, ProcessMark)]) -> Option<Role> {
    let ends = (Some(peer.port()), Some(to));
    let inode = table().lines().find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(LOCAL);
        let found = (port(fields.next()?), port(fields.next()?));
        (found == ends).then(|| fields.nth(INODE - REMOTE - 1).map(str::to_owned))?
    })?;
    let name = format!("socket:[{inode}]");
    let holds = |mark: &ProcessMark| {
        let files = fs::read_dir(format!("/proc/{}/fd", mark.pid())).into_iter().flatten().flatten();
        files
            .filter_map(|file| fs::read_link(file.path()).ok())
            .any(|target| target.as_os_str() == name.as_str())
    };
    processes.iter().find(|(_, mark)| holds(mark)).map(|(role, _)| *role)
}

/// A line for each socket, below one of headings. No more is taken apart than is asked for: a busy host has thousands.
fn table() -> String {
    fs::read_to_string("/proc/net/tcp").unwrap_or_default()
}

/// The port of `0100007F:1A2B`.
fn port(address: &str) -> Option<u16> {
    u16::from_str_radix(address.split_once(':')?.1, 16).ok()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};
    use std::process::id;

    use super::*;

    #[test]
    fn client_is_known_by_its_process() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        assert!(listened().contains(&to.port()));
        let client = TcpStream::connect(to).unwrap();
        let (_server, peer) = listener.accept().unwrap();
        let processes = [(Role::Replica(1), ProcessMark::of(id()).unwrap())];
        assert_eq!(owner(peer, to.port(), &processes), Some(Role::Replica(1)));
        assert_eq!(owner(peer, to.port(), &[]), None);
        drop((client, listener));
        assert!(!listened().contains(&to.port()));
    }
}
