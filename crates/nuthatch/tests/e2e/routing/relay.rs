//! A connection that is cut at a chosen moment between proxy and server: what no server can be made to do.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// When the connection is cut that carries the marked statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// The server never sees the statement.
    BeforeTheServer,
    /// The server has done it, and its answer is lost.
    BeforeTheAnswer,
    /// Half a packet of the answer comes.
    InTheAnswer,
    /// The server never sees the statement, and says this of itself: only the first time, else all is passed on.
    WithGoodbye(&'static [u8]),
    /// The same only that time, counted from 0.
    WithGoodbyeAt(usize, &'static [u8]),
    /// The same each time.
    WithGoodbyes(&'static [u8]),
}

/// Passes bytes on, and cuts each connection at the first packet that holds `mark`. Lives until the test ends.
pub(super) struct Relay {
    pub(super) address: SocketAddr,
    marked: Arc<AtomicUsize>,
}

impl Relay {
    pub(super) fn start(server: SocketAddr, mark: &'static [u8], cut: Cut) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let marked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&marked);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                let count = Arc::clone(&count);
                std::thread::spawn(move || pass(client, server, mark, cut, &count));
            }
        });
        Self { address, marked }
    }

    /// How often the marked statement came.
    pub(super) fn marked(&self) -> usize {
        self.marked.load(Ordering::SeqCst)
    }
}

/// Passes bytes both ways until the mark comes.
fn pass(mut client: TcpStream, mut server: TcpStream, mark: &[u8], cut: Cut, marked: &AtomicUsize) {
    let is_marked = Arc::new(AtomicBool::new(false));
    let back = {
        let (server, client) =
            (server.try_clone().expect("a descriptor"), client.try_clone().expect("a descriptor"));
        let is_marked = Arc::clone(&is_marked);
        std::thread::spawn(move || pass_back(server, client, cut, &is_marked))
    };
    let mut bytes = [0; 65536];
    while let Ok(n @ 1..) = client.read(&mut bytes) {
        if bytes[..n].windows(mark.len()).any(|window| window == mark) {
            let before = marked.fetch_add(1, Ordering::SeqCst);
            match cut {
                Cut::BeforeTheServer => break,
                Cut::WithGoodbye(_) if before > 0 => {}
                Cut::WithGoodbyeAt(time, _) if before != time => {}
                Cut::WithGoodbye(goodbye) | Cut::WithGoodbyeAt(_, goodbye) | Cut::WithGoodbyes(goodbye) => {
                    client.write_all(goodbye).expect("the proxy listens");
                    break;
                }
                Cut::BeforeTheAnswer | Cut::InTheAnswer => is_marked.store(true, Ordering::SeqCst),
            }
        }
        if server.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    close(&client, &server);
    drop(back.join());
}

/// Passes answers back; that to the marked statement proves that it is done, and is cut.
fn pass_back(mut server: TcpStream, mut client: TcpStream, cut: Cut, is_marked: &AtomicBool) {
    let mut bytes = [0; 65536];
    while let Ok(n @ 1..) = server.read(&mut bytes) {
        let is_answer = is_marked.load(Ordering::SeqCst);
        let sent = match (is_answer, cut) {
            (true, Cut::InTheAnswer) => n / 2,
            (true, _) => 0,
            (false, _) => n,
        };
        if client.write_all(&bytes[..sent]).is_err() || is_answer {
            break;
        }
    }
    close(&client, &server);
}

fn close(client: &TcpStream, server: &TcpStream) {
    drop(client.shutdown(Shutdown::Both));
    drop(server.shutdown(Shutdown::Both));
}

/// The address of a relay to that server by which each direction takes so much longer. Lives until the test ends.
pub(super) fn slow(server: SocketAddr, delay: Duration) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    std::thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let Ok(server) = TcpStream::connect(server) else { continue };
            let ends = [(&client, &server), (&server, &client)];
            for (from, to) in ends {
                let (from, to) =
                    (from.try_clone().expect("a descriptor"), to.try_clone().expect("a descriptor"));
                std::thread::spawn(move || pass_slowly(from, to, delay));
            }
        }
    });
    address
}

fn pass_slowly(mut from: TcpStream, mut to: TcpStream, delay: Duration) {
    let mut bytes = [0; 65536];
    while let Ok(n @ 1..) = from.read(&mut bytes) {
        std::thread::sleep(delay);
        if to.write_all(&bytes[..n]).is_err() {
            break;
        }
    }
    close(&from, &to);
}
