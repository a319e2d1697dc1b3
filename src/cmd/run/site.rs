//! Where the specs of a run live: servers of our own, or the addresses of a targets file.
//!
//! Must not know: what is measured there.

use std::path::PathBuf;

use anyhow::anyhow;

use crate::cli::{MatrixArgs, ServerArgs};
use crate::cmd::Failure;
use crate::cmd::matrix_source::load_targets;
use crate::exec::{LoadCpus, default_load_threads};
use crate::model::{Bytes, Endpoint, Interrupt, Plan, PlannedSpec};
use crate::target::{
    ManagedServer, ServerBinary, ServerSettings, TargetError, Targets, cpus_apart_from,
    find_server, host,
};
use crate::ui::Printer;

/// Connections beyond the concurrency that a managed server must have room for: loaders,
/// administration, and the ones that a reconnect leaves behind for a moment.
const SPARE_CONNECTIONS: u32 = 50;

/// How the server of each spec is reached.
pub(in crate::cmd) enum Sites {
    /// gridbench starts one after the other.
    Managed { binary: ServerBinary, data_dir: PathBuf, port: Option<u16> },
    /// They run elsewhere.
    Targets(Targets),
}

/// One spec's server, up for as long as this lives.
pub(in crate::cmd) struct Site {
    pub(in crate::cmd) endpoint: Endpoint,
    pub(in crate::cmd) managed: Option<ManagedServer>,
    /// The server's process, where it is on this host and known.
    pub(in crate::cmd) pid: Option<u32>,
}

impl Site {
    /// Processors that the server is bound to; none where it is not, or not by us.
    pub(in crate::cmd) fn server_cpus(&self) -> &[u32] {
        self.managed.as_ref().map_or(&[], ManagedServer::cpus)
    }

    /// Processors for the load: those that the server leaves. Where it leaves none, and where
    /// it is elsewhere, the load runs wherever this process may.
    pub(in crate::cmd) fn load_cpus(&self) -> Vec<u32> {
        match self.server_cpus() {
            [] => Vec::new(),
            taken => cpus_apart_from(taken),
        }
    }

    /// How many threads send the load.
    pub(in crate::cmd) fn load_threads(&self, host_cpus: u32, concurrency: u32) -> u32 {
        let own = self.load_cpus();
        let cpus = match (own.len(), self.managed.is_some() || self.endpoint.is_local()) {
            (0, true) => LoadCpus::Shared(host_cpus),
            (0, false) => LoadCpus::Own(host_cpus),
            (own, _) => LoadCpus::Own(u32::try_from(own).unwrap_or(u32::MAX)),
        };
        default_load_threads(cpus, concurrency)
    }
}

impl Sites {
    /// Finds the server binary, or reads the targets file and sees that it names every spec.
    pub(in crate::cmd) fn choose(
        matrix: &MatrixArgs,
        server: &ServerArgs,
        plan: &Plan,
        printer: Printer,
    ) -> Result<Self, Failure> {
        let Some(path) = &matrix.targets else {
            let binary = find_server(server.server.as_deref()).map_err(Failure::input)?;
            let data_dir = matrix.data_dir.clone();
            return Ok(Self::Managed { binary, data_dir, port: server.server_port });
        };
        let targets = load_targets(path, printer)?;
        let unknown =
            plan.specs.iter().find(|planned| targets.endpoint(&planned.spec.id).is_none());
        match unknown {
            None => Ok(Self::Targets(targets)),
            Some(planned) => Err(Failure::input(anyhow!(
                "{} has no [target.{id}] and no default host; add one, or measure less with \
                 --only spec=...",
                path.display(),
                id = planned.spec.id
            ))),
        }
    }

    /// The servers that run elsewhere.
    pub(in crate::cmd) fn targets(&self) -> Option<&Targets> {
        match self {
            Self::Managed { .. } => None,
            Self::Targets(targets) => Some(targets),
        }
    }

    /// One line on where the load goes.
    pub(in crate::cmd) fn sentence(&self) -> String {
        match self {
            Self::Managed { binary, data_dir, .. } => format!(
                "managed server: {} ({}), data in {}; it shares this machine with the client",
                binary.path.display(),
                binary.version,
                data_dir.display()
            ),
            Self::Targets(_) => "servers from the targets file".to_owned(),
        }
    }

    /// Whether there may be data: a managed server that was never started has none, and is not made
    /// to look.
    pub(in crate::cmd) fn has_data(&self) -> bool {
        match self {
            Self::Managed { binary, data_dir, .. } => ManagedServer::has_data(binary, data_dir),
            Self::Targets(_) => true,
        }
    }

    /// Room for the data of a managed server.
    pub(in crate::cmd) fn disk_free(&self) -> Option<Bytes> {
        match self {
            Self::Managed { data_dir, .. } => host::read(data_dir).disk_free,
            Self::Targets(_) => None,
        }
    }

    /// The specs of the plan that can be reached, each dataset of a managed server once.
    pub(in crate::cmd) fn datasets<'a>(&self, plan: &'a Plan) -> Vec<&'a PlannedSpec> {
        let mut distinct: Vec<&PlannedSpec> = Vec::new();
        for planned in plan.specs.iter().filter(|planned| planned.skip.is_none()) {
            let is_managed = matches!(self, Self::Managed { .. });
            let is_alike = |known: &&PlannedSpec| known.dataset == planned.dataset;
            if !(is_managed && distinct.iter().any(is_alike)) {
                distinct.push(planned);
            }
        }
        distinct
    }

    /// What [`Self::open`] is about to do.
    pub(in crate::cmd) fn opening(&self) -> &'static str {
        match self {
            Self::Managed { .. } => "starting the server",
            Self::Targets(_) => "reaching the server",
        }
    }

    /// Starts (or only addresses) the server of a spec.
    pub(in crate::cmd) fn open(
        &self,
        planned: &PlannedSpec,
        concurrency_max: u32,
        interrupt: &Interrupt,
    ) -> Result<Site, TargetError> {
        match self {
            Self::Managed { binary, data_dir, port } => {
                let connections = planned.spec.max_connections();
                let settings = ServerSettings {
                    data_dir: data_dir.clone(),
                    buffer_pool: planned.buffer_pool,
                    max_connections: connections.max(concurrency_max + SPARE_CONNECTIONS),
                    cpus: Some(planned.cpus),
                    port: *port,
                };
                let server = ManagedServer::start(binary, &settings, interrupt)?;
                let (endpoint, pid) = (server.endpoint().clone(), Some(server.pid()));
                Ok(Site { endpoint, managed: Some(server), pid })
            }
            Self::Targets(targets) => {
                let endpoint = targets.endpoint(&planned.spec.id);
                let endpoint = endpoint.expect("every spec's endpoint was checked by choose()");
                Ok(Site { endpoint, managed: None, pid: None })
            }
        }
    }
}
