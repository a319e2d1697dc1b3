//! `gridbench check`: what a server is, and what of it would stand in the way.

use anyhow::anyhow;
use serde::Serialize;

use super::examine::{Examined, examine, needs};
use super::matrix_source::{load_plan, load_targets};
use super::{Failure, Outcome};
use crate::cli::{CheckArgs, CheckFormat};
use crate::model::{Examination, Gravity, Needs, Remark, SpecId, counted};
use crate::target::Targets;
use crate::ui::{Printer, figures, paragraph, plain};

pub(super) fn run(arguments: &CheckArgs, printer: Printer) -> Result<Outcome, Failure> {
    let Some(path) = &arguments.matrix.targets else {
        return Err(Failure::input(anyhow!("which servers? name a file with --targets FILE")));
    };
    let targets = load_targets(path, printer)?;
    let examined = match arguments.matrix.matrix.is_file() {
        true => of_plan(arguments, &targets)?,
        false => of_target(arguments, &targets)?,
    };
    match arguments.format {
        CheckFormat::Text => {
            let texts: Vec<String> = examined.iter().map(text).collect();
            printer.data(&texts.join("\n"))?;
        }
        CheckFormat::Json => printer.data(&json(&examined))?,
    }
    let fails = |examined: &Examined| {
        let is_refused = |remark: &Remark| remark.gravity == Gravity::Refused;
        examined.seen.is_err() || examined.remarks.iter().any(is_refused)
    };
    match examined.iter().filter(|examined| fails(examined)).count() {
        0 => Ok(Outcome::Done),
        count => {
            let of = counted(examined.len(), "server");
            Err(Failure::input(anyhow!("of {of}, {count} cannot be used as found")))
        }
    }
}

/// The servers of a matrix's specs.
fn of_plan(arguments: &CheckArgs, targets: &Targets) -> Result<Vec<Examined>, Failure> {
    let plan = load_plan(&arguments.matrix)?.plan;
    let mut examined = Vec::new();
    for planned in &plan.specs {
        let id = &planned.spec.id;
        let endpoint = targets.endpoint(id).ok_or_else(|| unknown(arguments, id.as_str()))?;
        examined.extend(examine(id.as_str(), &endpoint, &needs(&plan, planned, &endpoint))?);
    }
    Ok(examined)
}

/// One server, held against what any matrix needs.
fn of_target(arguments: &CheckArgs, targets: &Targets) -> Result<Vec<Examined>, Failure> {
    let name = arguments.matrix.matrix.to_string_lossy();
    let endpoint = SpecId::new(&name).ok().and_then(|id| targets.endpoint(&id));
    let endpoint = endpoint.ok_or_else(|| unknown(arguments, &name))?;
    let database = endpoint.database.clone().unwrap_or_else(|| "gridbench".to_owned());
    let needs = Needs { database, ..Needs::default() };
    Ok(examine(&name, &endpoint, &needs)?)
}

fn unknown(arguments: &CheckArgs, name: &str) -> Failure {
    let path = arguments.matrix.targets.as_deref().unwrap_or(std::path::Path::new("")).display();
    Failure::input(anyhow!(
        "{path} has no [target.{name}] and no default host, and no matrix file is called so"
    ))
}

fn text(examined: &Examined) -> String {
    let seen = match &examined.seen {
        Ok(seen) => seen,
        Err(error) => return format!("{}: {}\n", examined.name, plain(&error.to_string())),
    };
    let mut text = String::new();
    for (label, value) in facts(seen) {
        text += &paragraph(&format!("  {label:<12}"), "              ", &value);
    }
    // Where there are several, the name says which.
    let address = plain(&seen.info.address);
    let mut text = match examined.name.contains(&*address) {
        true => format!("{}\n{text}", examined.name),
        false => format!("{}: {address}\n{text}", examined.name),
    };
    for Remark { gravity, words, remedy } in &examined.remarks {
        text += &paragraph(&format!("  {:<12}", gravity.name()), "              ", words);
        if !remedy.is_empty() {
            text += &paragraph("              ", "              ", remedy);
        }
    }
    text
}

fn facts(seen: &Examination) -> Vec<(&'static str, String)> {
    let info = &seen.info;
    let clock = match seen.clock_ahead_ms {
        0 => "as ours".to_owned(),
        ahead @ 1.. => format!("{ahead} ms ahead of ours"),
        behind => format!("{} ms behind ours", behind.unsigned_abs()),
    };
    let limit = |name: &str| {
        let value = info.variables.get(name).map_or("unknown", String::as_str);
        format!("{name} {value}")
    };
    let limits = ["max_connections", "max_prepared_stmt_count", "max_allowed_packet"];
    let limits: Vec<String> =
        limits.into_iter().chain(["open_files_limit", "table_open_cache"]).map(limit).collect();
    vec![
        ("server", format!("{} ({})", info.version, info.flavour.name())),
        ("account", seen.account.clone()),
        ("login", info.auth_plugin.clone().unwrap_or_else(|| "by an unknown plug-in".to_owned())),
        ("transport", transport(seen)),
        ("TLS", info.tls.clone().unwrap_or_else(|| "none: in clear text".to_owned())),
        ("round trip", info.round_trip_us.map_or_else(|| "unknown".to_owned(), figures::latency)),
        ("clock", clock),
        ("limits", limits.join(", ")),
    ]
}

fn transport(seen: &Examination) -> String {
    let kind = match seen.info.address.starts_with("unix:") {
        true => "Unix socket",
        false => "TCP",
    };
    match &seen.comes_from {
        Some(host) => format!("{kind}; the server sees {host}"),
        None => kind.to_owned(),
    }
}

#[derive(Serialize)]
struct ServerObject<'a> {
    target: &'a str,
    address: Option<&'a str>,
    error: Option<String>,
    version: Option<&'a str>,
    flavour: Option<&'static str>,
    account: Option<&'a str>,
    auth_plugin: Option<&'a str>,
    tls: Option<&'a str>,
    comes_from: Option<&'a str>,
    round_trip_us: Option<u64>,
    clock_ahead_ms: Option<i64>,
    other_connections: Option<u64>,
    replicas: Option<u64>,
    variables: Option<&'a std::collections::BTreeMap<String, String>>,
    remarks: Vec<RemarkObject<'a>>,
}

#[derive(Serialize)]
struct RemarkObject<'a> {
    gravity: &'static str,
    words: &'a str,
    remedy: &'a str,
}

impl<'a> RemarkObject<'a> {
    fn of(remark: &'a Remark) -> Self {
        let Remark { gravity, words, remedy } = remark;
        Self { gravity: gravity.name(), words, remedy }
    }
}

fn json(examined: &[Examined]) -> String {
    let objects: Vec<ServerObject<'_>> = examined
        .iter()
        .map(|of| {
            let seen = of.seen.as_ref().ok();
            let info = seen.map(|seen| &seen.info);
            ServerObject {
                target: &of.name,
                address: info.map(|info| info.address.as_str()),
                error: of.seen.as_ref().err().map(ToString::to_string),
                version: info.map(|info| info.version.as_str()),
                flavour: info.map(|info| info.flavour.name()),
                account: seen.map(|seen| seen.account.as_str()),
                auth_plugin: info.and_then(|info| info.auth_plugin.as_deref()),
                tls: info.and_then(|info| info.tls.as_deref()),
                comes_from: seen.and_then(|seen| seen.comes_from.as_deref()),
                round_trip_us: info.and_then(|info| info.round_trip_us),
                clock_ahead_ms: seen.map(|seen| seen.clock_ahead_ms),
                other_connections: seen.map(|seen| seen.others.connections),
                replicas: seen.map(|seen| seen.others.replicas),
                variables: info.map(|info| &info.variables),
                remarks: of.remarks.iter().map(RemarkObject::of).collect(),
            }
        })
        .collect();
    let text = serde_json::to_string_pretty(&objects);
    text.expect("plain fields always serialise") + "\n"
}
