//! Taking stock: what registers hold by the server's own word, past every cache, and past what may still be under way there.
//!
//! So an owner finds out what became of a write of which it was told nothing, and whether all that it was told is there.

use crate::connection::{Form, Statement};
use crate::history::{Fault, Wrong};
use crate::register::{Contents, Register, held};
use crate::session::Session;

/// Whether a write of unknown outcome is done: what is there is what was there before, or what it leaves. Anything else is a violation.
pub(crate) fn is_done(session: &mut Session<'_>, before: &Contents, after: &Contents) -> bool {
    let mut registers: Vec<Register> = before.keys().chain(after.keys()).copied().collect();
    registers.sort_unstable();
    registers.dedup();
    let there = take(session, &registers);
    let differs = |contents: &Contents| -> Vec<String> {
        let other = registers.iter().filter(|&&register| held(&there, register) != held(contents, register));
        other.map(|&register| tell(register, &there, before, after)).collect()
    };
    let (from_before, from_after) = (differs(before), differs(after));
    let (is_undone, is_done) = (from_before.is_empty(), from_after.is_empty());
    session.tally.wrote(if is_done && !is_undone { "in doubt, and done" } else { "in doubt, and not done" });
    if !is_undone && !is_done {
        session.tell(&Fault { wrong: Wrong::Lost, account: from_before.join("; ") });
    }
    is_done && !is_undone
}

/// A violation unless all is there.
pub(crate) fn check(session: &mut Session<'_>, contents: &Contents) {
    let registers: Vec<Register> = contents.keys().copied().collect();
    let there = take(session, &registers);
    let other = registers.iter().filter(|&&register| held(&there, register) != held(contents, register));
    let other: Vec<String> = other.map(|&register| tell(register, &there, contents, contents)).collect();
    if !other.is_empty() {
        session.tell(&Fault { wrong: Wrong::Lost, account: other.join("; ") });
    }
}

fn tell(register: Register, there: &Contents, before: &Contents, after: &Contents) -> String {
    let [there, before, after] = [there, before, after].map(|contents| held(contents, register));
    format!("{register:?} is {there:?}, was {before:?} before the last write and is {after:?} behind it")
}

/// Asks until there is an answer for each.
fn take(session: &mut Session<'_>, registers: &[Register]) -> Contents {
    let mut contents = Contents::new();
    for &register in registers {
        let statement = statement(register);
        let reply = loop {
            if let Ok(reply) = session.attempt(&statement, Form::Text) {
                break reply;
            }
        };
        contents.insert(register, reply.rows[0][0]);
    }
    contents
}

/// One row of one value. It waits for whoever has written the rows and is not through; nothing that waits is answered by a cache.
fn statement(register: Register) -> Statement {
    match register {
        Register::Item(id) => Statement::new("SELECT MAX(version) FROM item WHERE id = ? FOR UPDATE", [id]),
        Register::ItemSum(group) => {
            Statement::new("SELECT SUM(version) FROM item WHERE grp = ? FOR UPDATE", [group])
        }
        Register::ItemCount(group) => {
            Statement::new("SELECT COUNT(*) FROM item WHERE grp = ? FOR UPDATE", [group])
        }
        Register::Pair(id) => Statement::new("SELECT MAX(version) FROM pair WHERE id = ? FOR UPDATE", [id]),
        Register::Badge(id) => Statement::new("SELECT MAX(version) FROM badge WHERE id = ? FOR UPDATE", [id]),
        Register::Code(code) => {
            Statement::new("SELECT MAX(version) FROM badge WHERE code = ? FOR UPDATE", [code])
        }
        Register::Arrival(id) => {
            Statement::new("SELECT MAX(version) FROM arrival WHERE id = ? FOR UPDATE", [id])
        }
        Register::Altered => Statement::new("SELECT MAX(edition) FROM altered FOR UPDATE", []),
        // Its rows are others'.
        Register::Glance => Statement::new("SELECT SQL_NO_CACHE MAX(edition) FROM glance", []),
        Register::Side(id) => Statement::new("SELECT MAX(version) FROM side WHERE id = ? FOR UPDATE", [id]),
        Register::Legacy(id) => {
            Statement::new("SELECT SQL_NO_CACHE MAX(version) FROM legacy WHERE id = ?", [id])
        }
        Register::Told => Statement::new(
            "SELECT SQL_NO_CACHE MAX(CAST(table_comment AS SIGNED)) FROM information_schema.tables \
             WHERE table_schema = DATABASE() AND table_name = 'told'",
            [],
        ),
        Register::Spare => Statement::new(
            "SELECT SQL_NO_CACHE CAST(NULLIF(COUNT(*), 0) AS SIGNED) FROM information_schema.columns \
             WHERE table_schema = DATABASE() AND table_name = 'item' AND column_name = 'spare'",
            [],
        ),
    }
}
