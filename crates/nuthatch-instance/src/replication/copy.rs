//! An instance of this host copied to another one while it runs: a backup that goes through ssh and is kept nowhere.

use crate::add::Wanted;
use crate::backup::take::{Taking, take_to_pipe};
use crate::error::InstanceError;
use crate::name::InstanceName;
use crate::progress::Progress;
use crate::replication::ssh::Ssh;
use crate::root::Root;

/// The wanted instance is there, with the data of the one here, and runs.
pub(crate) fn copy(
    root: &Root,
    name: &InstanceName,
    there: &Ssh,
    wanted: &Wanted,
    taking: &Taking,
    progress: &mut dyn Progress,
) -> Result<(), InstanceError> {
    let feed = |input| take_to_pipe(root, name, Box::new(input), taking, progress).map(drop);
    there.run(&words(wanted), feed).map(drop)
}

/// What the program there is told: all of it, because a backup that comes through a pipe tells of itself last.
fn words(wanted: &Wanted) -> Vec<String> {
    let mut words = vec!["restore".to_owned(), wanted.name.to_string()];
    let mut say = |option: &str, value: String| words.extend([option.to_owned(), value]);
    say("--from", "-".to_owned());
    say("--template", wanted.template.clone());
    say("--server", wanted.server.name());
    if let Some(port) = wanted.port {
        say("--port", port.to_string());
    }
    for assignment in &wanted.own {
        say("--set", assignment.clone());
    }
    words.push("--another".to_owned());
    words
}
