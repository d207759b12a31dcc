//! An instance of this host copied to another one while it runs: a backup that goes through ssh and is kept nowhere.

use std::sync::Arc;

use nuthatch_server::Kind;

use crate::add::Wanted;
use crate::backup::pace::Pace;
use crate::backup::sealed::Seal;
use crate::backup::store::Retention;
use crate::backup::take::{Taking, take_to_pipe};
use crate::error::InstanceError;
use crate::progress::Progress;
use crate::replication::end::End;

/// The instance of that name is there too, with the data of the one here, and runs.
pub(crate) fn copy(
    here: &End,
    there: &End,
    wanted: &Wanted,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let (End::Here(root), End::There(ssh)) = (here, there) else {
        return Err(InstanceError::Refused(format!(
            "copy {}: it goes from here to another host",
            wanted.name
        )));
    };
    let taking = Taking {
        incremental: false,
        seal: Seal::default(),
        pace: Arc::new(Pace::new(None)),
        retention: Retention::default(),
    };
    let feed = |input| take_to_pipe(root, &wanted.name, Box::new(input), &taking, progress).map(drop);
    ssh.run(&words(wanted), feed).map(drop)
}

/// What the program there is told: all of it, because a backup that comes through a pipe tells of itself last.
fn words(wanted: &Wanted) -> Vec<String> {
    let server = match (wanted.server.kind, wanted.server.root.as_os_str() == "/") {
        (Kind::MariaDb, true) => "mariadb".to_owned(),
        (Kind::MySql, true) => "mysql".to_owned(),
        _ => wanted.server.root.display().to_string(),
    };
    let mut words = vec!["restore".to_owned(), wanted.name.to_string()];
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("--from", "-".to_owned());
    say("--template", wanted.template.clone());
    say("--server", server);
    if let Some(port) = wanted.port {
        say("--port", port.to_string());
    }
    for assignment in &wanted.own {
        say("--set", assignment.clone());
    }
    words.push("--another".to_owned());
    words
}
