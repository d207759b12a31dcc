//! What every instance has of its own, by its place, and nobody sets by hand.

use nuthatch_server::Kind;

use crate::error::InstanceError;
use crate::record::Record;
use crate::root::Place;

/// Options that are chosen for each instance, and how that is said instead.
pub(crate) const FIXED: [(&str, &str); 16] = [
    ("port", "it is chosen when the instance is added (`add --port N`)"),
    ("bind_address", "it is the host's (`nuthatch instance host --address A`)"),
    ("server_id", "it is chosen when the instance is added (`add --server-id N`)"),
    ("socket", "it is in the instance's directory"),
    ("datadir", "it is in the instance's directory"),
    ("pid_file", "it is in the instance's directory"),
    ("tmpdir", "it is in the instance's directory"),
    ("innodb_data_home_dir", "it is in the instance's directory"),
    ("innodb_log_group_home_dir", "it is in the instance's directory"),
    ("innodb_undo_directory", "it is in the instance's directory"),
    ("aria_log_dir_path", "it is in the instance's directory"),
    ("log_error", "it is in the instance's directory"),
    ("slow_query_log_file", "it is in the instance's directory"),
    ("basedir", "it follows from the server that the instance was added with"),
    ("plugin_dir", "it follows from the server that the instance was added with"),
    ("user", "it is the host's (`nuthatch instance host --user NAME`)"),
];

/// The options that follow from where an instance is.
pub(crate) fn of_place(
    place: &Place,
    record: &Record,
    run_as: &str,
) -> Result<Vec<(String, String)>, InstanceError> {
    let path = |path: std::path::PathBuf| path.display().to_string();
    let mut options: Vec<(&str, String)> = vec![
        ("port", record.port.to_string()),
        ("bind_address", record.address.to_string()),
        ("server_id", record.server_id.to_string()),
        ("report_host", record.address.to_string()),
        ("report_port", record.port.to_string()),
        ("socket", path(place.socket())),
        ("datadir", path(place.data())),
        ("pid_file", path(place.run_dir().join("mysqld.pid"))),
        ("tmpdir", path(place.tmp_dir())),
        ("log_error", path(place.error_log())),
        ("slow_query_log_file", path(place.slow_log())),
    ];
    if run_as == "root" {
        options.push(("user", run_as.to_owned()));
    }
    let kind: Kind = record.server.kind;
    options.extend(kind.place_options(&record.server.root));
    Ok(options.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
