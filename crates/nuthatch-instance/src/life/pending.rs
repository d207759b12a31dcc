//! A change of an instance's data and of what is remembered of it, which both happen or neither: what is to be remembered is written down first,
//! and is in force as soon as the data are those of its server.

use crate::error::InstanceError;
use crate::life::check::series;
use crate::record::Record;
use crate::root::Place;

/// From here on a crash is no matter.
pub(crate) fn begin(place: &Place, next: &Record) -> Result<(), InstanceError> {
    place.write(&place.pending_file(), &next.to_text()?)
}

/// What was begun is ended, one way or the other.
pub(crate) fn settle(place: &Place) -> Result<(), InstanceError> {
    if !place.pending_file().exists() {
        return Ok(());
    }
    let next = Record::load(&place.pending_file())?;
    let data = place.data_version()?.and_then(|version| series(&version));
    if data.is_some() && data == series(&next.server.version()?) {
        place.write(&place.record_file(), &next.to_text()?)?;
    }
    Ok(nuthatch_server::remove_file(&place.pending_file())?)
}
