//! The option file of one server: small in memory, quick rather than safe against a power cut, everything
//! logged that replication and a binlog reader want.

use rustix::process::geteuid;

use crate::dialects::dialect_of;
use crate::error::LabError;
use crate::layout::Layout;
use crate::options::{Cluster, Options, QueryCache, SemiSync};
use crate::role::Role;
use crate::state::{ServerState, State};
use crate::{galera, group};

/// The text of the server's `my.cnf`. `options.extra` comes last, so it wins.
pub(crate) fn server_config(
    layout: &Layout,
    state: &State,
    server: &ServerState,
    options: &Options,
) -> Result<String, LabError> {
    let installation = &state.installation;
    let dialect = dialect_of(installation.kind);
    let mut lines = vec!["[server]".to_owned()];
    lines.extend(place_lines(layout, server));
    lines.extend(size_lines(options));
    lines.extend(replication_lines(server));
    match state.cluster {
        None => {}
        Some(Cluster::Galera(_)) => lines.extend(galera::option_lines(state, server)?),
        Some(Cluster::GroupReplication(_)) => lines.extend(group::option_lines(state, server)),
    }
    if matches!(server.role, Role::Replica(_)) {
        lines.extend(dialect.replica_lines().iter().map(ToString::to_string));
    }
    if options.semi_sync == SemiSync::AfterSync {
        lines.extend(dialect.semi_sync_lines().iter().map(ToString::to_string));
    }
    let query_cache_mib = match options.query_cache {
        QueryCache::Off => 0,
        QueryCache::OnMib(mib) => mib,
    };
    lines.extend(dialect.option_lines(query_cache_mib));
    let places = installation.kind.place_options(&installation.root);
    lines.extend(places.into_iter().map(|(name, value)| format!("{name}={value}")));
    lines.extend(options.extra.iter().cloned());
    Ok(lines.join("\n") + "\n")
}

fn place_lines(layout: &Layout, server: &ServerState) -> Vec<String> {
    let role = server.role;
    let dir = layout.server(role);
    let mut lines = vec![
        format!("datadir={}", layout.data(role).display()),
        format!("socket={}", server.socket.display()),
        format!("pid_file={}", dir.join("pid").display()),
        format!("log_error={}", layout.error_log(role).display()),
        format!("init_file={}", layout.init_file(role).display()),
        format!("tmpdir={}", dir.display()),
        format!("port={}", server.port),
        "bind_address=127.0.0.1".into(),
        "skip_name_resolve=ON".into(),
    ];
    if geteuid().is_root() {
        lines.push("user=root".into());
    }
    lines
}

fn size_lines(options: &Options) -> Vec<String> {
    vec![
        format!("innodb_buffer_pool_size={}M", options.buffer_pool_mib),
        format!("max_connections={}", options.connections_max),
        "back_log=1000".into(),
        "performance_schema=OFF".into(),
        "key_buffer_size=1M".into(),
        // The most that a server takes, so that packets over 16 MiB can be tried.
        "max_allowed_packet=1G".into(),
        // What is lost in a power cut is a lab's last second; a flush a commit would be most of a test's
        // time.
        "innodb_flush_log_at_trx_commit=2".into(),
        "sync_binlog=0".into(),
    ]
}

/// Who asks a server for its replicas can connect to what it names.
fn replication_lines(server: &ServerState) -> Vec<String> {
    vec![
        format!("server_id={}", server.role.server_id()),
        "log_bin=binlog".into(),
        "relay_log=relay".into(),
        "binlog_format=ROW".into(),
        "binlog_row_image=FULL".into(),
        "report_host=127.0.0.1".into(),
        format!("report_port={}", server.public_port()),
    ]
}
