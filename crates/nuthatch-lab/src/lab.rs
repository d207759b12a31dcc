//! A lab as a whole: brought up, found again, looked at, brought down, removed.
//!
//! Its truth is the state file, which is written after each change and before each wait, so that a lab whose
//! maker was killed can still be brought down. Changes wait for each other across processes (a lock file).

use std::path::{Path, PathBuf};

use nuthatch_server::{Password, copy_empty_data, write_private};

use crate::client::Client;
use crate::dialect::{Binlog, Dialect};
use crate::dialects::dialect_of;
use crate::duty::Duty;
use crate::error::LabError;
use crate::galera;
use crate::layout::Layout;
use crate::options::{Cluster, Options, Relays};
use crate::port;
use crate::progress::{Progress, Silent, Step};
use crate::role::Role;
use crate::state::{ServerState, State};
use crate::status::Status;
use crate::tmpfs;

/// What a lab's operations give.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

/// A primary and its replicas, or a cluster, under one directory. Dropping it stops nothing: see [`down`](Self::down).
#[derive(Clone, Debug)]
pub struct Lab {
    pub(crate) layout: Layout,
    pub(crate) state: State,
}

impl Lab {
    /// Brings up the lab in `dir`, silently: see [`up_with`](Self::up_with).
    ///
    /// # Errors
    /// As `up_with`.
    pub fn up(dir: impl AsRef<Path>, options: &Options) -> Result<Self> {
        Self::up_with(dir, options, &mut Silent)
    }

    /// Every server of the lab in `dir` answers, replicas replicate and the account exists. A new lab is
    /// made; of one that exists, the servers that do not run are started with its old data, and those that
    /// run are left alone. Options of running servers (memory, connections) do not change.
    ///
    /// # Errors
    /// What kept it from that; servers that this call started are then stopped again.
    pub fn up_with(dir: impl AsRef<Path>, options: &Options, progress: &mut dyn Progress) -> Result<Self> {
        options.check()?;
        let layout = Layout::create(dir.as_ref())?;
        let _lock = layout.lock()?;
        let state = if layout.state().exists() { State::load(&layout)? } else { lay_out(&layout, options)? };
        let mut lab = Self { layout, state };
        lab.check_shape(options)?;
        let ran_before = lab.running_roles();
        match lab.bring_up(options, progress) {
            Ok(()) => Ok(lab),
            Err(error) => {
                let started: Vec<Role> =
                    lab.running_roles().into_iter().filter(|role| !ran_before.contains(role)).collect();
                lab.stop_servers(&started, progress)?;
                Err(error)
            }
        }
    }

    /// The lab that was made in `dir` before, running or not.
    ///
    /// # Errors
    /// [`LabError::NoLab`], or what is wrong with its state file.
    pub fn open(dir: impl AsRef<Path>) -> Result<Self> {
        let layout = Layout::open(dir.as_ref())?;
        let state = State::load(&layout)?;
        Ok(Self { layout, state })
    }

    /// The lab's directory, absolute.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.layout.dir()
    }

    /// How each server is now; asks every one that runs.
    ///
    /// # Errors
    /// Only when the lab itself cannot be read. A server that does not answer is part of the answer.
    pub fn status(&self) -> Result<Status> {
        let now = Self::open(self.dir())?;
        Ok(Status {
            dir: now.dir().into(),
            kind: now.state.installation.kind,
            user: now.state.user.clone(),
            accounts: now.accounts(),
            password_file: now.layout.password(),
            servers: now.state.servers.iter().map(|server| now.server_status(server)).collect(),
        })
    }

    /// No process of the lab is left; its data stays, for the next [`up`](Self::up). Does nothing to a lab
    /// that is down.
    ///
    /// # Errors
    /// [`LabError::StillRunning`], or when the state cannot be read or written.
    pub fn down(&mut self) -> Result<()> {
        self.down_with(&mut Silent)
    }

    /// As [`down`](Self::down), and tells what it does.
    ///
    /// # Errors
    /// As `down`.
    pub fn down_with(&mut self, progress: &mut dyn Progress) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        self.stop_servers(&self.roles(), progress)?;
        self.end_relays()
    }

    /// No process and no file of the lab is left; other files in its directory stay.
    ///
    /// # Errors
    /// As `down`, or when a file cannot be removed.
    pub fn remove(mut self) -> Result<()> {
        let _lock = self.layout.lock()?;
        self.state = State::load(&self.layout)?;
        let roles = self.roles();
        self.stop_servers(&roles, &mut Silent)?;
        self.end_relays()?;
        roles.iter().try_for_each(|role| tmpfs::unmount(&self.layout.server(*role)))?;
        let of_servers = self.state.servers.iter().map(|server| &server.socket);
        let sockets: Vec<PathBuf> = of_servers.chain(&self.state.relay_socket).cloned().collect();
        self.layout.remove(&roles, &sockets)
    }

    pub(crate) fn dialect(&self) -> &'static dyn Dialect {
        dialect_of(self.state.installation.kind)
    }

    pub(crate) fn roles(&self) -> Vec<Role> {
        self.state.servers.iter().map(|server| server.role).collect()
    }

    pub(crate) fn server_state(&self, role: Role) -> Result<&ServerState> {
        self.state.servers.iter().find(|server| server.role == role).ok_or(LabError::NoSuchServer { role })
    }

    pub(crate) fn server_state_mut(&mut self, role: Role) -> Result<&mut ServerState> {
        self.state
            .servers
            .iter_mut()
            .find(|server| server.role == role)
            .ok_or(LabError::NoSuchServer { role })
    }

    pub(crate) fn client(&self, server: &ServerState) -> Result<Client> {
        Ok(Client {
            role: server.role,
            program: self.state.installation.find(self.state.installation.kind.client())?,
            config: self.layout.client_config(),
            socket: server.socket.clone(),
        })
    }

    fn running_roles(&self) -> Vec<Role> {
        self.servers().filter(|server| server.pid().is_some()).map(|server| server.role()).collect()
    }

    fn check_shape(&self, options: &Options) -> Result<()> {
        let replicas = self.state.servers.len().saturating_sub(1);
        let has_relays = self.state.relay_socket.is_some();
        let have = describe(self.state.cluster, replicas, &self.state.installation.root, has_relays);
        let asks_relays = options.relays != Relays::Off;
        let replicas = options.replicas.into();
        let asked = describe(options.cluster, replicas, &options.installation.root, asks_relays);
        let same_kind = self.state.installation == options.installation;
        if have == asked && same_kind { Ok(()) } else { Err(LabError::ShapeDiffers { have, asked }) }
    }

    fn bring_up(&mut self, options: &Options, progress: &mut dyn Progress) -> Result<()> {
        let account_changed = self.settle_account(options)?;
        self.state.environment.clone_from(&options.environment);
        self.start_relays(options)?;
        let mut untouched = self.state.settled && !account_changed;
        self.state.settled = false;
        for role in self.start_order()? {
            if self.server(role)?.pid().is_some() {
                progress.step(&Step::AlreadyRunning(role));
            } else {
                untouched = false;
                self.prepare_data(role, options, progress)?;
                self.start_anew(role, options, progress)?;
            }
        }
        if !untouched {
            self.connect_servers(options, progress)?;
        }
        self.state.settled = true;
        self.state.save(&self.layout)
    }

    /// Saves who the account is; tells whether that differs from what the servers were told before.
    fn settle_account(&mut self, options: &Options) -> Result<bool> {
        let saved = self.layout.load_password()?;
        let password = match options.password.clone().or_else(|| saved.clone()) {
            Some(password) => password,
            None => Password::fresh()?,
        };
        let changed = saved.as_ref() != Some(&password) || self.state.user != options.user;
        if changed {
            self.state.settled = false;
            self.state.user.clone_from(&options.user);
            write_private(&self.layout.password(), password.reveal())?;
            self.state.save(&self.layout)?;
        }
        Ok(changed)
    }

    fn prepare_data(&self, role: Role, options: &Options, progress: &mut dyn Progress) -> Result<()> {
        let data = self.layout.data(role);
        if data.exists() {
            return Ok(());
        }
        let beside = self.dir().parent().unwrap_or(self.dir()).join(".lab-templates");
        let templates = options.templates.as_ref().unwrap_or(&beside);
        let mut say = |template: &Path| progress.step(&Step::MakingTemplate(template.to_owned()));
        Ok(copy_empty_data(&data, &self.state.installation, templates, &mut say)?)
    }

    /// Gives every server its accounts and what it follows, or its place in the cluster.
    fn connect_servers(&self, options: &Options, progress: &mut dyn Progress) -> Result<()> {
        self.settle_duties()?;
        match self.state.cluster {
            None => self.connect_replicas(options, progress),
            Some(_) => self.connect_nodes(options.ready_within, progress),
        }
    }

    fn connect_replicas(&self, options: &Options, progress: &mut dyn Progress) -> Result<()> {
        for role in self.roles() {
            self.make_accounts(role, Binlog::Off)?;
        }
        let replication = self.login_for(Duty::Replication)?;
        let follow = self.dialect().follow(self.primary().port(), &replication);
        for role in self.roles().into_iter().filter(|role| *role != Role::Primary) {
            self.server(role)?.query(&follow)?;
            self.server(role)?.query(self.dialect().guard_replica())?;
            self.await_replication(role, options.ready_within)?;
            progress.step(&Step::Replicating(role));
        }
        Ok(())
    }
}

fn describe(cluster: Option<Cluster>, replicas: usize, root: &Path, has_relays: bool) -> String {
    let servers = cluster.map_or_else(|| format!("{replicas} replicas"), |cluster| cluster.to_string());
    let relays = if has_relays { ", with relays" } else { "" };
    format!("{servers} of the server under {}{relays}", root.display())
}

/// The files of a new lab that no server needs to be started for.
fn lay_out(layout: &Layout, options: &Options) -> Result<State> {
    let root = Password::fresh()?;
    let has_relays = options.relays != Relays::Off;
    let mut servers = Vec::new();
    for role in options.roles() {
        nuthatch_server::make_private_dir(&layout.server(role))
            .map_err(LabError::file("make the directory", layout.server(role)))?;
        if let Some(mib) = options.disk_mib {
            tmpfs::mount(&layout.server(role), mib)?;
        }
        write_private(&layout.init_file(role), &options.installation.kind.lock_down(&root))?;
        servers.push(ServerState {
            role,
            port: claim(layout)?,
            relay_port: if has_relays { Some(claim(layout)?) } else { None },
            cluster_ports: match options.cluster {
                Some(_) => Some((claim(layout)?, claim(layout)?)),
                None => None,
            },
            socket: layout.choose_socket(&role.to_string())?,
            version: String::new(),
            process: None,
        });
    }
    write_private(&layout.client_config(), &format!("[client]\nuser=root\npassword={}\n", root.reveal()))?;
    let mut state = State::new(options.installation.clone(), options.user.clone(), servers);
    state.cluster = options.cluster;
    if let Some(Cluster::Galera(_)) = options.cluster {
        galera::install_transfer(layout)?;
    }
    if has_relays {
        state.relay_socket = Some(layout.choose_socket("relay")?);
    }
    state.save(layout)?;
    Ok(state)
}

fn claim(layout: &Layout) -> Result<u16> {
    port::claim(layout.dir()).map_err(LabError::file("find a port for the lab in", layout.dir()))
}
