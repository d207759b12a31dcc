//! Who does not stay: clients that vanish in the middle of an answer, and crowds of more than may be there.

use std::thread::sleep;
use std::time::Duration;

use crate::chance::ENTRY_BYTES_MAX;
use crate::random::Random;
use crate::scene::Scene;

/// Between two that vanish, at most, and between two crowds.
const PAUSE_MS_MAX: usize = 100;
const CROWD_PAUSE_MS_MAX: usize = 4000;

/// How many come at once: more than the proxy lets in.
const CROWD: usize = 120;

/// Answers of many rows, and of packets of which a client may see so many.
const LONG: &str = "SELECT a.id, REPEAT('v', 1000) FROM item a JOIN told b ON a.grp = b.grp WHERE a.id <";
const ROWS_MAX: usize = 400;
const PACKETS: usize = 4;

/// Comes, asks and vanishes until the run is over.
pub(crate) fn vanish(scene: &Scene, random: Random) {
    scene.sessions(random, |mut session| {
        let sql = if session.random.below(2) == 0 {
            format!("{LONG} {}", 1 + session.random.below(ROWS_MAX))
        } else {
            let bytes = session.random.below(2 * ENTRY_BYTES_MAX);
            format!("SELECT REPEAT('v', {bytes}) FROM item WHERE id = {}", session.key())
        };
        let sent = session.client.send(nuthatch_wire::Command::Query as u8, sql.as_bytes());
        let Some(()) = session.hear(&sql, sent.map_err(Into::into)) else { return };
        for _ in 0..session.random.below(PACKETS) {
            let packet = session.client.read_packet();
            let Some(packet) = session.hear(&sql, packet.map_err(Into::into)) else { return };
            // Nothing comes behind an error.
            if packet.first() == Some(&0xFF) {
                break;
            }
        }
        session.pause_below(PAUSE_MS_MAX);
        session.client.vanish();
    });
}

/// Crowds the proxy now and then until the run is over.
pub(crate) fn crowd(scene: &Scene, mut random: Random) {
    while !scene.is_over() {
        let crowd: Vec<_> = (0..CROWD).filter_map(|_| scene.try_session(random.fork())).collect();
        for mut session in crowd {
            let key = session.key();
            session.say(format!("SELECT id, version FROM item WHERE id = {key}"));
        }
        for _ in 0..random.below(CROWD_PAUSE_MS_MAX / PAUSE_MS_MAX) {
            if scene.is_over() {
                return;
            }
            sleep(Duration::from_millis(PAUSE_MS_MAX as u64));
        }
    }
}
