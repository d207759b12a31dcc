//! As whom and how a server is logged in to for a session.

use std::time::Duration;

use nuthatch_config::MysqlVariables;
use nuthatch_net::{BackendPassword, ClearPasswords};
use nuthatch_wire::CapabilityFlags;

use crate::backend::check_out::connect::Login;
use crate::backend::check_out::errors::CheckOutError;
use crate::backend::check_out::wanted::Wanted;
use crate::backend::connection::Server;
use crate::state::{Charset, SessionState};

pub(in crate::backend) fn require_password<'a>(
    wanted: &Wanted<'a>,
) -> Result<&'a BackendPassword, CheckOutError> {
    wanted.password.ok_or_else(|| {
        CheckOutError::Login(format!(
            "no backend password is known for user '{}': mysql_users has no active backend row for it, or holds \
             a hash and no client has logged in with the password since the start",
            wanted.user
        ))
    })
}

pub(in crate::backend) fn login<'a>(
    wanted: &'a Wanted<'_>,
    variables: &MysqlVariables,
    server: &Server,
) -> Result<Login<'a>, CheckOutError> {
    let password = require_password(wanted)?;
    let keepalive = variables.use_tcp_keepalive && variables.tcp_keepalive_time > 0;
    Ok(Login {
        user: wanted.user,
        password,
        schema: if can_enter_schema(wanted.state) { &wanted.state.schema } else { &[] },
        collation: wanted.state.charset.login_collation(),
        shape: if wanted.is_own {
            wanted.shape
        } else {
            wanted.shape | wanted.must_have | CapabilityFlags::CLIENT_SESSION_TRACK
        },
        is_tracked: !wanted.is_own,
        tells_gtids: server.tells_gtids(),
        timeout: Duration::from_millis(variables.connect_timeout_server),
        keepalive: keepalive.then(|| Duration::from_secs(variables.tcp_keepalive_time)),
        max_packet_bytes: u32::try_from(variables.max_allowed_packet).unwrap_or(u32::MAX),
        init_connect: server.settings().init_connect.as_str().into(),
        clear_passwords: clear_passwords(variables),
    })
}

/// Whether a login may name the state's schema: a role may be what gives access to it, and its name must be read as what it is.
fn can_enter_schema(state: &SessionState) -> bool {
    let login = Charset::Collation(state.charset.login_collation());
    state.role.is_none() && login.reads_as_utf8(&state.schema)
}

/// Whether a server that asks for a password itself gets it.
pub(crate) const fn clear_passwords(variables: &MysqlVariables) -> ClearPasswords {
    match variables.clear_password_to_servers {
        true => ClearPasswords::Allowed,
        false => ClearPasswords::Refused,
    }
}
