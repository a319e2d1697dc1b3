//! `gridbench audit`: what a run's or a baseline's numbers say of themselves.

use std::collections::BTreeMap;

use anyhow::anyhow;

use super::{Failure, Outcome};
use crate::audit::{AuditOptions, Finding, KnownServer, audit, audit_trials};
use crate::cli::{AuditArgs, AuditFormat};
use crate::model::{Bytes, ResultSet, ServerRecord, SpecId, TrialCounts};
use crate::report::{AuditReport, audit_json, audit_markdown, audit_opening, audit_text};
use crate::store::{self, RunDir, StoreError, baseline};
use crate::ui::Printer;

pub(super) fn run(arguments: &AuditArgs, printer: Printer) -> Result<Outcome, Failure> {
    let mut options = AuditOptions {
        round_trip_us: round_trip_us(&arguments.rtt_floor)?,
        bandwidth_bits: bandwidth_bits(&arguments.bandwidth)?,
        ..AuditOptions::default()
    };
    let audited = Audited::read(arguments)?;
    options.servers = known_servers(&audited.servers);
    let findings = audited.findings(&options);
    let report = AuditReport {
        name: &arguments.source,
        tables: &audited.tables,
        options: &options,
        findings: &findings,
    };
    match arguments.format {
        AuditFormat::Table => printer.data(&audit_text(&report))?,
        AuditFormat::Md => printer.data(&audit_markdown(&report))?,
        AuditFormat::Json => {
            printer.data(&audit_json(&report))?;
            printer.talk(&audit_opening(&report));
        }
    }
    let fails = arguments.fail_on_findings && !findings.is_empty();
    Ok(if fails { Outcome::Regression } else { Outcome::Done })
}

/// What stands under the name that was typed.
struct Audited {
    tables: Vec<ResultSet>,
    trials: Vec<TrialCounts>,
    servers: Vec<ServerRecord>,
}

impl Audited {
    /// A run, all tables of a set, or one of them.
    fn read(arguments: &AuditArgs) -> Result<Self, StoreError> {
        let (out, name) = (&arguments.out, &arguments.source);
        match RunDir::open(out, name) {
            Err(StoreError::Unknown(_) | StoreError::NotARun { .. }) => {}
            run => return Self::of_run(&run?),
        }
        let tables = match baseline::about(out, name) {
            Ok(about) => {
                let names = about.tables.iter().map(|table| format!("{name}/{}", table.name));
                names.map(|name| baseline::read(out, &name)).collect::<Result<_, _>>()?
            }
            Err(StoreError::Unknown(_)) => vec![store::resolve(out, name)?],
            Err(error) => return Err(error),
        };
        Ok(Self { tables, trials: Vec::new(), servers: Vec::new() })
    }

    fn of_run(run: &RunDir) -> Result<Self, StoreError> {
        Ok(Self {
            tables: vec![run.results()?],
            trials: run.counts()?,
            servers: run.description().servers.clone(),
        })
    }

    fn findings(&self, options: &AuditOptions) -> Vec<Finding> {
        let mut findings = Vec::new();
        for (index, table) in self.tables.iter().enumerate() {
            let (before, rest) = self.tables.split_at(index);
            let beside = [before, &rest[1..]].concat();
            findings.extend(audit(table, &beside, options));
            findings.extend(audit_trials(table, &self.trials));
        }
        findings
    }
}

/// What a run's servers add to what the audit takes as given.
pub(super) fn known_servers(servers: &[ServerRecord]) -> BTreeMap<SpecId, KnownServer> {
    let known = |server: &ServerRecord| {
        let pool = server.info.variables.get("innodb_buffer_pool_size");
        let known = KnownServer {
            data: server.dataset_bytes.map(Bytes),
            buffer_pool: pool.and_then(|bytes| bytes.parse().ok()).map(Bytes),
        };
        (known != KnownServer::default()).then(|| (server.spec.clone(), known))
    };
    servers.iter().filter_map(known).collect()
}

/// Whole microseconds of `100us`, `0.1ms` or `1s`.
fn round_trip_us(text: &str) -> Result<u64, Failure> {
    quantity(text, &[("us", 1), ("ms", 1_000), ("s", 1_000_000)]).ok_or_else(|| {
        let words = "give a time, such as 100us or 0.2ms";
        Failure::input(anyhow!("--rtt-floor {text}: {words}"))
    })
}

/// Whole bits per second of `10Gbit`, `2.5Gbit` or `100Mbit`.
fn bandwidth_bits(text: &str) -> Result<u64, Failure> {
    let units = [("kbit", 1_000), ("Mbit", 1_000_000), ("Gbit", 1_000_000_000)];
    quantity(text, &units).filter(|bits| *bits > 0).ok_or_else(|| {
        let words = "give bits per second, such as 10Gbit or 2.5Gbit";
        Failure::input(anyhow!("--bandwidth {text}: {words}"))
    })
}

/// A number with at most three decimals and one of these units, if it comes out whole.
fn quantity(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, unit) = text.split_at(at);
    let unit = units.iter().find(|(name, _)| *name == unit.trim())?.1;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if decimals.is_empty() || decimals.len() > 3 {
        return None;
    }
    let scale = 10_u64.pow(u32::try_from(decimals.len()).ok()?);
    let part = decimals.parse::<u64>().ok()?.checked_mul(unit)?;
    let rest = part.is_multiple_of(scale).then_some(part / scale)?;
    whole.parse::<u64>().ok()?.checked_mul(unit)?.checked_add(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_assumed_is_typed_with_its_unit() {
        for (text, us) in [("100us", 100), ("0.2ms", 200), ("1 s", 1_000_000), ("0us", 0)] {
            assert_eq!(round_trip_us(text).unwrap(), us, "{text}");
        }
        for bad in ["100", "", "us", "1.5us", "-1us", "1min", "1.us", "99999999999999999999us"] {
            assert_eq!(round_trip_us(bad).unwrap_err().exit_code, 2, "{bad}");
        }
        for (text, bits) in [("10Gbit", 10_000_000_000), ("2.5Gbit", 2_500_000_000)] {
            assert_eq!(bandwidth_bits(text).unwrap(), bits, "{text}");
        }
        for bad in ["10", "10GB", "0Gbit", "Gbit", "1.0001kbit"] {
            assert_eq!(bandwidth_bits(bad).unwrap_err().exit_code, 2, "{bad}");
        }
    }
}
