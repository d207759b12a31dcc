//! Who defines tables that others read: makes, changes, empties and drops them, also some that are there only once.

use crate::random::Random;
use crate::scene::{Scene, Session};
use crate::schema::{ALTERED, altered};

/// Between two definitions, at most.
const PAUSE_MS_MAX: usize = 2000;

/// Defines until the run is over, and leaves all tables there.
pub(crate) fn define(scene: &Scene, random: Random) {
    let mut times = 0;
    scene.sessions(random, |mut session| {
        while session.goes_on() {
            times += 1;
            define_something(&mut session, times);
            session.pause_below(PAUSE_MS_MAX);
        }
    });
}

fn define_something(session: &mut Session<'_>, times: u64) {
    let table = session.random.below(ALTERED);
    match session.random.below(5) {
        0 => {
            session.say(format!("ALTER TABLE altered_{table} ADD COLUMN extra INT NULL"));
            session.pause_below(PAUSE_MS_MAX);
            session.say(format!("ALTER TABLE altered_{table} DROP COLUMN extra"));
        }
        1 => {
            session.say(format!("DROP TABLE altered_{table}"));
            // Where that was refused for want of a connection the table is there, with rows in it.
            let [made, filled] = altered(table);
            if session.say(made) {
                session.say(filled);
            }
        }
        2 => {
            if session.say(format!("TRUNCATE TABLE altered_{table}")) {
                session.say(format!("INSERT INTO altered_{table} (id, version) VALUES (1, {times})"));
            }
        }
        3 => {
            session.say(format!(
                "CREATE OR REPLACE VIEW glance AS SELECT id, version FROM item WHERE id >= {table}"
            ));
        }
        _ => {
            session.say(format!("CREATE TABLE once_{times} (id INT PRIMARY KEY)"));
            session.say(format!("SELECT COUNT(*) FROM once_{times}"));
            session.say(format!("DROP TABLE once_{times}"));
        }
    }
}
