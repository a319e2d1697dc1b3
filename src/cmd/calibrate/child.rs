//! The processes of a calibration, seen from outside.
//!
//! Must not know: what they do.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail};
use clap::ValueEnum;

use super::record::Round;
use super::setting::{Cell, Client, Setting};
use crate::cli::CalibrateRole;

/// The server, up for as long as this lives. It ends when its standard input does, so it ends
/// with us, however we end.
pub(super) struct ServerProcess {
    process: Child,
    pub(super) port: u16,
}

impl ServerProcess {
    pub(super) fn start(cpu: u32, port: u16) -> Result<Self> {
        let mut command = part(CalibrateRole::Server, &[cpu])?;
        command.arg(format!("--port={port}")).stdin(Stdio::piped());
        let mut process = command.spawn().context("the server cannot start")?;
        let stdout = process.stdout.take();
        let mut server = Self { process, port: 0 };
        let mut line = String::new();
        if let Some(stdout) = stdout {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        server.port = line.trim().parse().map_err(|_| anyhow!("the server did not start"))?;
        Ok(server)
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It has nothing left to do, and nobody is left to tell.
        let _ = self.process.wait();
    }
}

/// One measurement in a process of its own.
pub(super) fn measure(client: &Client, cell: &Cell, setting: &Setting, port: u16) -> Result<Round> {
    let mut command = part(client.role(), &setting.client_cpus)?;
    command
        .arg(format!("--port={port}"))
        .arg(format!("--workload={}", cell.workload.name()))
        .arg(format!("--statements={}", cell.statements.name()))
        .arg(format!("--tables={}", cell.tables))
        .arg(format!("--connections={}", cell.connections))
        .arg(format!("--duration-ms={}", setting.duration.as_millis()))
        .arg(format!("--load-threads={}", setting.load_threads));
    if let Client::Sysbench(path) = client {
        command.arg("--sysbench").arg(path);
    }
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
    }
    serde_json::from_slice(&output.stdout).context("a measurement that cannot be read")
}

/// This program once more, in one of its roles.
fn part(role: CalibrateRole, cpus: &[u32]) -> Result<Command> {
    let role = role.to_possible_value().context("every role has a name")?;
    let cpus: Vec<String> = cpus.iter().map(u32::to_string).collect();
    let program = std::env::current_exe().context("cannot find this program's own file")?;
    let mut command = Command::new(program);
    command.arg("calibrate-part");
    command.arg(format!("--role={}", role.get_name())).arg(format!("--cpus={}", cpus.join(",")));
    command.stdout(Stdio::piped());
    Ok(command)
}
