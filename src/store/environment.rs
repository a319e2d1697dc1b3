//! What two runs must have in common so that their numbers may be compared, as texts by name.
//!
//! Must not know: which of it is meant to differ.

use crate::model::{Bytes, Dataset, Facts, RunDescription, ServerRecord, fact_differences};

/// What a run that went on on another server is told by: it is comparable with no other.
const CHANGED_WITHIN_RUN: &str = "server.changed_within_run";

/// The facts of one spec's measurements.
pub(super) fn facts(run: &RunDescription, server: &ServerRecord) -> Facts {
    let mut facts = Facts::new();
    let mut add = |name: &str, value: String| _ = facts.insert(name.to_owned(), value);
    let host = &run.host;
    add("client.cpu_model", host.cpu_model.clone());
    add("client.cpus", host.cpus.to_string());
    add("client.memory_bytes", host.memory.0.to_string());
    add("client.kernel", host.kernel.clone());
    add("client.governor", known(host.governor.as_deref()));
    add("client.cpu_quota_milli", known(host.cpu_quota_milli));
    add("client.cpus_for_load", known(count(&server.load_cpus)));
    let protocol = &run.plan.protocol;
    add("protocol.duration_ms", protocol.duration.as_millis().to_string());
    add("protocol.warmup_ms", protocol.warmup.as_millis().to_string());
    add("protocol.warmup_max_ms", known(protocol.warmup_max.map(|longest| longest.as_millis())));
    add("protocol.level_ppm", protocol.level_ppm.to_string());
    add("server.version", server.info.version.clone());
    add("server.is_managed", server.managed.to_string());
    add("server.cpus", known(count(&server.cpus)));
    for (name, value) in &server.info.variables {
        if name != "version" {
            add(&format!("server.{name}"), value.clone());
        }
    }
    let (transport, _) = server.info.address.split_once(':').unwrap_or(("unknown", ""));
    add("connection.transport", transport.to_owned());
    add("connection.tls", server.info.tls.clone().unwrap_or_else(|| "none".to_owned()));
    if !server.changes.is_empty() {
        add(CHANGED_WITHIN_RUN, server.changes.join(", "));
    }
    let planned = run.plan.specs.iter().find(|planned| planned.spec.id == server.spec);
    if let Some(planned) = planned {
        add("dataset.fingerprint", fingerprint(&planned.dataset));
    }
    facts
}

/// What is not known is a value too: it is not the same as what is known.
fn known(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "unknown".to_owned(), |value| value.to_string())
}

/// How many processors something was bound to; `None` where it was not.
fn count(cpus: &[u32]) -> Option<usize> {
    Some(cpus.len()).filter(|count| *count > 0)
}

fn fingerprint(dataset: &Dataset) -> String {
    let Dataset { tables, table_size, charset, seed, .. } = dataset;
    format!("{tables} x {table_size} {charset} seed {seed}")
}

/// What is not the same of two records of one spec, as `server.version 8.0 against 9.7`.
pub(super) fn changes(run: &RunDescription, [old, new]: [&ServerRecord; 2]) -> Vec<String> {
    let (old, new) = (facts(run, old), facts(run, new));
    let differences = fact_differences(&old, &new).into_iter();
    differences.filter(|(name, _)| *name != CHANGED_WITHIN_RUN).map(|(_, words)| words).collect()
}

/// The buffer pool that the server has.
pub(super) fn pool_bytes(server: &ServerRecord) -> Option<Bytes> {
    server.info.variables.get("innodb_buffer_pool_size")?.parse().ok().map(Bytes)
}
