//! Who writes: rows by key, by group and by range, so that about as many rows are there at the end as at the beginning.

use crate::random::Random;
use crate::scene::{Scene, Session};
use crate::schema::{GROUPS, KEYS};

/// Between two writes, at most, so that answers are asked for again before they are written over.
const PAUSE_MS_MAX: usize = 60;

/// Of a session.
const STATEMENTS_MAX: usize = 1000;

/// Writes until the run is over.
pub(crate) fn write(scene: &Scene, random: Random) {
    scene.sessions(random, |mut session| {
        for _ in 0..=session.random.below(STATEMENTS_MAX) {
            if !session.goes_on() {
                return;
            }
            let sql = statement(&mut session);
            session.say(sql);
            session.pause_below(PAUSE_MS_MAX);
        }
    });
}

fn statement(session: &mut Session<'_>) -> String {
    let (often, any) = (session.key(), session.random.below(KEYS));
    let group = any % GROUPS;
    match session.random.below(100) {
        0..60 => format!("UPDATE item SET version = version + 1 WHERE id = {any}"),
        60..70 => format!("UPDATE item SET version = version + 1 WHERE id = {often}"),
        // Any row of the table may be another then.
        70 => format!("UPDATE item SET version = version + 1 WHERE grp = {group}"),
        71..75 => format!("UPDATE told SET version = version + 1 WHERE id = {often}"),
        75..90 => format!("REPLACE INTO passing VALUES ({any}, {group}, 1)"),
        90..95 => format!("DELETE FROM passing WHERE id BETWEEN {any} AND {}", any + 100),
        _ => {
            let row = format!("INSERT INTO item VALUES ({any}, {group}, 1)");
            format!("{row} ON DUPLICATE KEY UPDATE version = version + 1")
        }
    }
}
