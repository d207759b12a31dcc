//! Units of systemd, where that runs the host.

use std::path::Path;
use std::process::{Command, Stdio};

use nuthatch_server::ServerError;

use crate::error::InstanceError;
use crate::host::Host;
use crate::name::InstanceName;
use crate::root::Root;

/// The file of the template unit.
pub const UNIT_FILE: &str = "/etc/systemd/system/nuthatch-instance@.service";

/// Whether systemd runs this host and has our unit: then it starts and stops the instances.
pub(crate) fn is_in_charge() -> bool {
    Path::new("/run/systemd/system").is_dir() && Path::new(UNIT_FILE).exists()
}

/// The template unit for the instances of a root; `program` is this one.
#[must_use]
pub fn unit(root: &Root, host: &Host, program: &Path) -> String {
    let (root, program) = (root.dir().display(), program.display());
    let user = &host.user;
    format!(
        "# One unit for each instance: systemctl start nuthatch-instance@NAME\n\
         [Unit]\n\
         Description=MariaDB or MySQL instance %i\n\
         Documentation=man:mariadbd(8) man:mysqld(8)\n\
         After=network.target local-fs.target\n\
         ConditionPathExists={root}/instances/%i/instance.toml\n\
         StartLimitIntervalSec=600\n\
         StartLimitBurst=5\n\
         \n\
         [Service]\n\
         Type=notify\n\
         NotifyAccess=main\n\
         User={user}\n\
         # Written as root, for the options to be those of the templates as they are now.\n\
         ExecStartPre=+{program} instance --root {root} write-options %i\n\
         ExecStart={program} instance --root {root} supervise %i\n\
         # The supervisor brings the server back; systemd brings the supervisor back.\n\
         Restart=on-abnormal\n\
         RestartSec=1\n\
         # A server writes down what it has before it ends, which can take long, and is never killed for that.\n\
         KillMode=mixed\n\
         TimeoutStartSec=infinity\n\
         TimeoutStopSec=infinity\n\
         SendSIGKILL=no\n\
         LimitNOFILE=65536\n\
         OOMScoreAdjust=-600\n\
         NoNewPrivileges=true\n\
         PrivateTmp=true\n\
         ProtectHome=true\n\
         ProtectSystem=full\n\
         ReadWritePaths={root}\n\
         \n\
         [Install]\n\
         WantedBy=multi-user.target\n"
    )
}

/// Has systemd do it: `start`, `stop`, `enable`, `disable`.
pub(crate) fn control(verb: &str, name: &InstanceName) -> Result<(), InstanceError> {
    let unit = format!("nuthatch-instance@{name}.service");
    let said = Command::new("systemctl").args([verb, &unit]).stdin(Stdio::null()).output();
    let said = said.map_err(ServerError::file("run", "systemctl"))?;
    if said.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&said.stderr).trim().to_owned();
    Err(InstanceError::Refused(format!("have systemd {verb} {unit}: {words}")))
}
