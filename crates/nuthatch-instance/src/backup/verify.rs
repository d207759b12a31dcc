//! Trying a backup: it is unpacked, a server is started on it, and that looks at all tables.

use nuthatch_server::{Password, ServerError, make_private_dir, remove_leftover};

use crate::ask::quoted;
use crate::backup::fill::{Filled, Origin, Using, fill};
use crate::backup::pace::Meter;
use crate::backup::store::Backup;
use crate::clock::now_s;
use crate::error::InstanceError;
use crate::progress::Progress;
use crate::record::Record;
use crate::root::{Place, Root, is_held};
use crate::scratch::{AT_LENGTH, Scratch};

/// What a server found in a backup.
#[derive(Clone, Debug)]
pub struct Verified {
    /// The backup, and its GTID position.
    pub filled: Filled,
    /// How many tables it looked at.
    pub tables: usize,
}

/// The backup can be used: a server of its series has run on it, and has looked at all of its tables.
///
/// # Errors
/// What is wrong with it.
pub fn verify(
    root: &Root,
    backup: &Backup,
    using: &Using,
    progress: &mut dyn Progress,
) -> Result<Verified, InstanceError> {
    let name = &backup.manifest.instance;
    let place = root.verifying(name);
    if is_held(&place.dir().join("lock")) {
        return Err(InstanceError::Refused(format!("try a backup of {name}: another command tries one")));
    }
    remove_leftover(place.dir()).map_err(ServerError::file("remove", place.dir()))?;
    make_private_dir(place.dir()).map_err(ServerError::file("make the directory", place.dir()))?;
    let lock = place.lock()?;
    let tried = try_it(root, &place, backup, using, progress);
    drop(lock);
    remove_leftover(place.dir()).map_err(ServerError::file("remove", place.dir()))?;
    backup.note_verified(tried.is_ok().then(now_s))?;
    tried
}

fn try_it(
    root: &Root,
    place: &Place,
    backup: &Backup,
    using: &Using,
    progress: &mut dyn Progress,
) -> Result<Verified, InstanceError> {
    place.write(&place.password_file(), Password::fresh()?.reveal())?;
    let record = &backup.manifest.record;
    let filled = fill(root, place, record, Origin::Store(Box::new(backup.clone())), using, progress)?;
    let tables = look_at_tables(root, place, record, progress)?;
    Ok(Verified { filled, tables })
}

/// A server looks at all tables of the place's data, and finds nothing wrong. Gives how many there are.
pub(crate) fn look_at_tables(
    root: &Root,
    place: &Place,
    record: &Record,
    progress: &mut dyn Progress,
) -> Result<usize, InstanceError> {
    let scratch = Scratch::start(root, place, record)?;
    let tables = scratch.ask(
        "SELECT TABLE_SCHEMA, TABLE_NAME, COALESCE(DATA_LENGTH + INDEX_LENGTH, 0) FROM information_schema.TABLES \
         WHERE TABLE_TYPE NOT IN ('VIEW', 'SYSTEM VIEW') AND TABLE_SCHEMA NOT IN ('information_schema', 'performance_schema')",
    )?;
    let tables: Vec<[String; 3]> = tables.texts().collect();
    let bytes = |[_, _, bytes]: &[String; 3]| bytes.parse::<u64>().unwrap_or(0);
    let mut meter =
        Meter::new(format!("check {}", place.name()), Some(tables.iter().map(bytes).sum()), progress);
    let mut wrong = Vec::new();
    let mut done = 0;
    for table in &tables {
        let [schema, name, _] = table;
        let answer =
            scratch.ask_within(&format!("CHECK TABLE {}.{}", quoted(schema), quoted(name)), AT_LENGTH)?;
        let is_wrong = |[_, _, kind, _]: &[String; 4]| kind.eq_ignore_ascii_case("error");
        wrong.extend(answer.texts().filter(is_wrong).map(|[table, _, _, words]| format!("{table}: {words}")));
        done += bytes(table);
        meter.set(done);
    }
    meter.end();
    scratch.stop()?;
    if wrong.is_empty() {
        return Ok(tables.len());
    }
    Err(InstanceError::Refused(format!("trust the data: {}", wrong.join("; "))))
}
