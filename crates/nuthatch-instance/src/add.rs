//! Adding an instance.
//!
//! Port and memory are chosen with the root locked, and written down in `.making-NAME` before anything slow is done; what is complete is
//! renamed. So two that are added at the same time never have the same port, and a crash leaves nothing that looks like an instance.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;

use nuthatch_server::{
    Installation, Password, ServerError, copy_empty_data, make_private_dir, remove_leftover,
};

use serde::{Deserialize, Serialize};

use crate::account::Account;
use crate::error::InstanceError;
use crate::life::check;
use crate::name::InstanceName;
use crate::port;
use crate::progress::{Progress, Step};
use crate::record::{Record, free_server_id};
use crate::root::{Place, Root, give_parts, is_held};
use crate::settling::{choose_pool, parse_assignment, pool_mib, settle, settle_in};
use crate::template::Template;

/// What an instance is to be.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wanted {
    /// Its name.
    pub name: InstanceName,
    /// Which server.
    pub server: Installation,
    /// From which template.
    pub template: String,
    /// Its own options, `name=value` each.
    pub own: Vec<String>,
    /// On which port; `None` for the first free one.
    pub port: Option<u16>,
    /// Its number in replication; `None` for one that follows from address and port.
    #[serde(default)]
    pub server_id: Option<u32>,
    /// Whether it is started with the host.
    pub enabled: bool,
}

/// The instance is there, and was not started yet.
///
/// # Errors
/// [`InstanceError::Refused`] before anything is touched; else what kept it from that, and nothing of it is left.
pub fn add(root: &Root, wanted: &Wanted, progress: &mut dyn Progress) -> Result<(), InstanceError> {
    add_filled(root, wanted, progress, |making, progress| {
        let mut say = |empty: &Path| progress.step(&Step::MakingEmpty(empty.to_owned()));
        copy_empty_data(&making.data(), &wanted.server, &root.empty_dir(), &mut say)?;
        making.write(&making.init_file(), &wanted.server.kind.lock_down(&making.password()?))
    })
}

/// The same with data that `fill` puts into the place that is being made, whose root's password is there already.
pub(crate) fn add_filled<T>(
    root: &Root,
    wanted: &Wanted,
    progress: &mut dyn Progress,
    fill: impl FnOnce(&Place, &mut dyn Progress) -> Result<T, InstanceError>,
) -> Result<T, InstanceError> {
    let name = &wanted.name;
    let account = Account::of(&root.host()?)?;
    let (making, _lock) = claim(root, wanted, progress)?;
    let made = make(root, &making, account.as_ref(), |making| fill(making, progress)).and_then(|filled| {
        let place = root.place(name);
        fs::rename(making.dir(), place.dir()).map_err(ServerError::file("rename", making.dir()))?;
        Ok(filled)
    });
    if made.is_err() {
        // What is left of it says nothing that the error does not.
        drop(remove_leftover(making.dir()));
    }
    made
}

/// Chooses what is to be chosen, and writes it down, so that nobody else chooses the same.
fn claim(root: &Root, wanted: &Wanted, progress: &mut dyn Progress) -> Result<(Place, File), InstanceError> {
    let name = &wanted.name;
    let _lock = root.lock()?;
    let (place, making) = (root.place(name), root.making(name));
    if place.dir().exists() {
        root.find(name)?;
        return Err(InstanceError::Refused(format!("add {name}: it is there already")));
    }
    if is_held(&making.dir().join("lock")) {
        return Err(InstanceError::Refused(format!("add {name}: another command is adding it")));
    }
    remove_leftover(making.dir()).map_err(ServerError::file("remove", making.dir()))?;
    making.check_depth()?;
    check::room_on_disk(&place)?;
    let record = choose(root, wanted)?;
    let place_made = make_private_dir(making.dir());
    place_made.map_err(ServerError::file("make the directory", making.dir()))?;
    let held = making.lock()?;
    let settings = settle(root, &record)?;
    let take = || {
        check::options_are_known(&record, &settings.to_text(), making.dir())?;
        making.write(&making.record_file(), &record.to_text()?)
    };
    if let Err(error) = take() {
        drop(remove_leftover(making.dir()));
        return Err(error);
    }
    let chosen = format!(
        "port {}, server_id {}, a buffer pool of {} MiB",
        record.port,
        record.server_id,
        pool_mib(&settings)?
    );
    progress.step(&Step::Chosen(name.clone(), chosen));
    Ok((making, held))
}

/// Port, memory and options of a new one; others count with what they have.
pub(crate) fn choose(root: &Root, wanted: &Wanted) -> Result<Record, InstanceError> {
    let host = root.host()?;
    Template::find(root, &wanted.template)?;
    let (mut taken, mut server_ids) = (Vec::new(), BTreeSet::new());
    for place in root.claimed()? {
        let other = place.record()?;
        taken.push((place.name().clone(), other.port));
        server_ids.insert(other.server_id);
    }
    let port = port::choose(&host, &taken, wanted.port)?;
    let mut record = Record::new(wanted.server.clone(), wanted.template.clone(), host.address, port);
    record.enabled = wanted.enabled;
    record.server_id = match wanted.server_id {
        None => free_server_id(host.address, port, &server_ids),
        Some(id) if id == 0 || server_ids.contains(&id) => {
            return Err(InstanceError::Refused(format!(
                "add {} with the server_id {id}: it has to be one from 1 on, and of no other instance",
                wanted.name
            )));
        }
        Some(id) => id,
    };
    for assignment in &wanted.own {
        let (option, value) = parse_assignment(assignment)?;
        record.own.insert(option, value);
    }
    choose_pool(root, &wanted.name, &mut record)?;
    refuse_shared_paths(root, &wanted.name, &record)?;
    Ok(record)
}

/// Two servers that write to one file destroy what the other writes.
fn refuse_shared_paths(root: &Root, name: &InstanceName, record: &Record) -> Result<(), InstanceError> {
    let own = settle(root, record)?;
    for place in root.claimed()?.into_iter().filter(|place| place.name() != name) {
        let other = settle(root, &place.record()?)?;
        if let Some((option, path)) =
            own.written_paths().find(|one| other.written_paths().any(|other| other.1 == one.1))
        {
            return Err(InstanceError::Refused(format!(
                "set {option}={path}: {} writes there",
                place.name()
            )));
        }
    }
    Ok(())
}

/// Makes what an instance consists of.
fn make<T>(
    root: &Root,
    making: &Place,
    account: Option<&Account>,
    fill: impl FnOnce(&Place) -> Result<T, InstanceError>,
) -> Result<T, InstanceError> {
    for dir in making.dirs() {
        make_private_dir(&dir).map_err(ServerError::file("make the directory", &dir))?;
    }
    let password = Password::fresh()?;
    making.write(&making.password_file(), password.reveal())?;
    let filled = fill(making)?;
    making.write(&making.client_file(), &root.place(making.name()).client_login(&password))?;
    give_parts(making.dir(), account)?;
    // As it will be where it will be.
    let place = root.place(making.name());
    let settings = settle_in(root, &place, &making.record()?)?;
    making.write(&making.option_file(), &settings.to_text())?;
    Ok(filled)
}
