//! `manifest.json`: what a run is, beside its numbers.
//!
//! Must not know: rows. Keys stand in a fixed order; the file is replaced whole, never edited.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::model::{Bytes, Flavour, Host, RunDescription, ServerInfo, ServerRecord};

use super::StoreError;
use super::clock;
use super::disk;
use super::wire::{Invalid, PlanWire, spec_id};
use super::wire_dataset::DatasetRecordWire;

/// The file's name in a run directory.
pub(super) const FILE: &str = "manifest.json";

/// Of this file and of every other one in the directory.
const FORMAT_VERSION: u32 = 1;
/// The largest plan that can be made, many times over.
const FILE_BYTES_MAX: u64 = 1 << 30;

/// Writes the manifest to a temporary name, syncs and renames: a reader sees the old one or
/// the new one.
pub(super) fn write(directory: &Path, description: &RunDescription) -> Result<(), StoreError> {
    disk::replace(&directory.join(FILE), render(description).as_bytes())
}

/// Reads the manifest of a run directory.
pub(super) fn read(directory: &Path) -> Result<RunDescription, StoreError> {
    let path = directory.join(FILE);
    let read = disk::read_file(&path, FILE_BYTES_MAX);
    let text = read.and_then(|bytes| String::from_utf8(bytes).map_err(io::Error::other));
    let text = text.map_err(StoreError::io("read", &path))?;
    parse(&text).map_err(|Invalid(message)| StoreError::Manifest { path, message })
}

fn render(description: &RunDescription) -> String {
    let mut text = serde_json::to_string_pretty(&ManifestWire::from(description))
        .expect("a manifest is texts, integers and lists, which JSON can always hold");
    text.push('\n');
    text
}

fn parse(text: &str) -> Result<RunDescription, Invalid> {
    let syntax = |error: serde_json::Error| Invalid(error.to_string());
    // Asked first: a manifest of another version may differ in everything else.
    let Version { format_version } = serde_json::from_str(text).map_err(syntax)?;
    if format_version != FORMAT_VERSION {
        return Err(Invalid(format!(
            "format_version is {format_version}, and this gridbench reads {FORMAT_VERSION}: \
             use the version that wrote the run"
        )));
    }
    serde_json::from_str::<ManifestWire>(text).map_err(syntax)?.try_into()
}

#[derive(Deserialize)]
struct Version {
    format_version: u32,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ManifestWire {
    format_version: u32,
    tool_version: String,
    tool_revision: Option<String>,
    started_utc: String,
    command: Vec<String>,
    driver: String,
    load_policy: String,
    matrix_sha256: String,
    host: HostWire,
    servers: Vec<ServerWire>,
    plan: PlanWire,
}

impl From<&RunDescription> for ManifestWire {
    fn from(run: &RunDescription) -> Self {
        Self {
            format_version: FORMAT_VERSION,
            tool_version: run.tool_version.clone(),
            tool_revision: run.tool_revision.clone(),
            started_utc: clock::rfc3339(run.started_unix_ms),
            command: run.command.clone(),
            driver: run.driver.clone(),
            load_policy: run.load_policy.clone(),
            matrix_sha256: run.matrix_sha256.clone(),
            host: (&run.host).into(),
            servers: run.servers.iter().map(Into::into).collect(),
            plan: (&run.plan).into(),
        }
    }
}

impl TryFrom<ManifestWire> for RunDescription {
    type Error = Invalid;

    fn try_from(wire: ManifestWire) -> Result<Self, Invalid> {
        let started_unix_ms = clock::parse_rfc3339(&wire.started_utc)
            .ok_or_else(|| Invalid(format!("started_utc: `{}` is no time", wire.started_utc)))?;
        Ok(Self {
            tool_version: wire.tool_version,
            tool_revision: wire.tool_revision,
            started_unix_ms,
            command: wire.command,
            matrix_sha256: wire.matrix_sha256,
            plan: wire.plan.try_into()?,
            host: wire.host.into(),
            driver: wire.driver,
            load_policy: wire.load_policy,
            servers: wire.servers.into_iter().map(TryInto::try_into).collect::<Result<_, _>>()?,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HostWire {
    cpus: u32,
    cpu_model: String,
    memory_bytes: u64,
    /// This and the next are absent in runs of an older gridbench.
    #[serde(default)]
    governor: Option<String>,
    #[serde(default)]
    cpu_quota_milli: Option<u64>,
    kernel: String,
    disk_free_bytes: Option<u64>,
}

impl From<&Host> for HostWire {
    fn from(host: &Host) -> Self {
        Self {
            cpus: host.cpus,
            cpu_model: host.cpu_model.clone(),
            memory_bytes: host.memory.0,
            governor: host.governor.clone(),
            cpu_quota_milli: host.cpu_quota_milli,
            kernel: host.kernel.clone(),
            disk_free_bytes: host.disk_free.map(|Bytes(free)| free),
        }
    }
}

impl From<HostWire> for Host {
    fn from(wire: HostWire) -> Self {
        Self {
            cpus: wire.cpus,
            cpu_model: wire.cpu_model,
            memory: Bytes(wire.memory_bytes),
            governor: wire.governor,
            cpu_quota_milli: wire.cpu_quota_milli,
            kernel: wire.kernel,
            disk_free: wire.disk_free_bytes.map(Bytes),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ServerWire {
    spec: String,
    managed: bool,
    version: String,
    flavour: String,
    address: String,
    cpus: Vec<u32>,
    load_cpus: Vec<u32>,
    dataset_bytes: Option<u64>,
    /// Absent in runs of an older gridbench.
    #[serde(default)]
    dataset: Option<DatasetRecordWire>,
    /// Absent in runs of an older gridbench.
    #[serde(default)]
    changes: Vec<String>,
    #[serde(default)]
    tls: Option<String>,
    /// Absent in runs of an older gridbench.
    #[serde(default)]
    auth_plugin: Option<String>,
    #[serde(default)]
    round_trip_us: Option<u64>,
    variables: BTreeMap<String, String>,
}

impl From<&ServerRecord> for ServerWire {
    fn from(record: &ServerRecord) -> Self {
        Self {
            spec: record.spec.to_string(),
            managed: record.managed,
            version: record.info.version.clone(),
            flavour: record.info.flavour.name().to_owned(),
            address: record.info.address.clone(),
            cpus: record.cpus.clone(),
            load_cpus: record.load_cpus.clone(),
            dataset_bytes: record.dataset_bytes,
            dataset: record.dataset.as_ref().map(Into::into),
            changes: record.changes.clone(),
            tls: record.info.tls.clone(),
            auth_plugin: record.info.auth_plugin.clone(),
            round_trip_us: record.info.round_trip_us,
            variables: record.info.variables.clone(),
        }
    }
}

impl TryFrom<ServerWire> for ServerRecord {
    type Error = Invalid;

    fn try_from(wire: ServerWire) -> Result<Self, Invalid> {
        let flavour = [Flavour::MySql, Flavour::MariaDb]
            .into_iter()
            .find(|flavour| flavour.name() == wire.flavour)
            .ok_or_else(|| Invalid(format!("`{}` is no flavour of server", wire.flavour)))?;
        Ok(Self {
            spec: spec_id(&wire.spec)?,
            managed: wire.managed,
            info: ServerInfo {
                version: wire.version,
                flavour,
                address: wire.address,
                tls: wire.tls,
                auth_plugin: wire.auth_plugin,
                round_trip_us: wire.round_trip_us,
                variables: wire.variables,
            },
            cpus: wire.cpus,
            load_cpus: wire.load_cpus,
            changes: wire.changes,
            dataset_bytes: wire.dataset_bytes,
            dataset: wire.dataset.map(TryInto::try_into).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::Refresh;
    use crate::store::testing;

    proptest! {
        #[test]
        fn a_manifest_is_read_back_as_it_was_written(run in testing::any_description()) {
            let text = render(&run);
            prop_assert_eq!(parse(&text).unwrap(), run.clone());
            prop_assert_eq!(render(&parse(&text).unwrap()), text);
        }

        #[test]
        fn no_bytes_of_a_manifest_make_the_reader_panic(
            run in testing::any_description(), at in 0_usize..20_000, byte in 32_u8..127,
        ) {
            let mut bytes = render(&run).into_bytes();
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = parse(&String::from_utf8_lossy(&bytes));
            let _ = parse(&String::from_utf8_lossy(&bytes[..at]));
        }
    }

    #[test]
    fn a_manifest_of_another_version_is_refused_by_its_version() {
        let error = parse(r#"{"format_version": 2, "new": true}"#).unwrap_err();
        assert!(error.0.contains("format_version is 2"), "{error}");
    }

    #[test]
    fn a_run_from_before_datasets_were_recorded_is_read() {
        let mut run = testing::description();
        run.plan.matrix.refresh = Refresh::Never;
        run.servers.push(testing::server("2c4g", "10.11.14-MariaDB"));
        let mut old: serde_json::Value = serde_json::from_str(&render(&run)).unwrap();
        let server = old["servers"][0].as_object_mut().unwrap();
        assert!(server.remove("dataset").is_some());
        assert!(old["plan"]["matrix"].as_object_mut().unwrap().remove("refresh").is_some());
        assert_eq!(parse(&old.to_string()).unwrap(), run);
    }

    #[test]
    fn a_cell_outside_the_plan_is_named() {
        let text =
            render(&testing::description()).replace("\"2c4g/write-only/64\"", "\"9c9g/x/1\"");
        assert!(parse(&text).unwrap_err().0.contains("`9c9g/x/1` names a spec or scenario"));
    }
}
