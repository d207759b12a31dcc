//! An sshd of a test's own: on an address of the loopback, with keys that were made for it, and an `ssh` that knows it by name.

use std::fs::{self, Permissions};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::host::await_that;

/// Runs until it is dropped.
pub(crate) struct Sshd {
    dir: TempDir,
    child: Child,
}

impl Sshd {
    /// On a free port of that address. Who has its configuration of ssh reaches it as `there`; `stranger` is the same one with a host key that
    /// ssh does not know, `nobody` a port on which nobody listens.
    pub(crate) fn new(address: &str) -> Self {
        let dir = tempfile::Builder::new().prefix("nuthatch-sshd").tempdir().expect("it goes well");
        let path = |name: &str| dir.path().join(name);
        for name in ["host_key", "key", "other_key"] {
            keygen(&path(name));
        }
        let address: IpAddr = address.parse().expect("it goes well");
        let free = || {
            let listener = TcpListener::bind((address, 0)).expect("it goes well");
            listener.local_addr().expect("it goes well").port()
        };
        let (port, closed) = (free(), free());
        let read = |name: &str| fs::read_to_string(path(name)).expect("it goes well");
        fs::write(path("authorized_keys"), read("key.pub")).expect("it goes well");
        let known = format!("[{address}]:{port} {}stranger {}", read("host_key.pub"), read("other_key.pub"));
        fs::write(path("known_hosts"), known).expect("it goes well");
        let lines = [
            format!("ListenAddress {address}:{port}"),
            format!("HostKey {}", path("host_key").display()),
            format!("AuthorizedKeysFile {}", path("authorized_keys").display()),
            "PidFile none\nUsePAM no\nStrictModes no\nPasswordAuthentication no\nKbdInteractiveAuthentication no".into(),
            "PermitRootLogin prohibit-password\nMaxStartups 100\nUseDNS no\nPrintMotd no\nLogLevel ERROR\n".into(),
        ];
        fs::write(path("sshd_config"), lines.join("\n")).expect("it goes well");
        let user = Command::new("id").arg("-un").output().expect("it goes well").stdout;
        let user = String::from_utf8_lossy(&user).trim().to_owned();
        let own = format!(
            "Host *\n HostName {address}\n Port {port}\n User {user}\n IdentityFile {}\n IdentitiesOnly yes\n IdentityAgent none\n \
             UserKnownHostsFile {}\n GlobalKnownHostsFile none\n StrictHostKeyChecking yes\n",
            path("key").display(),
            path("known_hosts").display()
        );
        let special = format!("Host stranger\n HostKeyAlias stranger\nHost nobody\n Port {closed}\n");
        fs::write(path("ssh_config"), special + &own).expect("it goes well");
        // Where sshd locks its helpers in; a package that starts none has not made it.
        drop(fs::create_dir_all("/run/sshd"));
        let child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f"])
            .arg(path("sshd_config"))
            .stdin(Stdio::null())
            .stderr(fs::File::create(path("log")).expect("it goes well"))
            .spawn()
            .expect("sshd, of Debian's openssh-server");
        await_that(|| TcpStream::connect((address, port)).is_ok());
        Self { dir, child }
    }

    /// The configuration with which ssh reaches it.
    pub(crate) fn client_config(&self) -> PathBuf {
        self.dir.path().join("ssh_config")
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn keygen(path: &Path) {
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"])
        .arg(path)
        .status()
        .expect("ssh-keygen, of Debian's openssh-client");
    assert!(made.success());
    fs::set_permissions(path, Permissions::from_mode(0o600)).expect("it goes well");
}
