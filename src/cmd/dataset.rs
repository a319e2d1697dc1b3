//! The dataset of a spec: made to stand on its server, and told in words.
//!
//! Must not know: what is measured on it.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, anyhow};

use crate::driver::DriverError;
use crate::driver::adapter::Admin;
use crate::load::{
    self, LoadError, LoadEvent, LoadOptions, LoadOutcome, LoadProgress, LoadReport, LoadStage,
    OwnTables,
};
use crate::model::{
    Bytes, Dataset, DatasetClass, DatasetRecord, Endpoint, Interrupt, Plan, PlannedSpec,
    ServerInfo, counted,
};
use crate::target::{host, server_process};
use crate::ui::{LoadingRows, Progress, RunEvent, figures};

/// Loaders wait for the server's DDL most of the time where tables are many and small, so even
/// two processors are served best by eight of them.
const LOADERS_MIN: u32 = 8;
/// More than this only queue at the server.
const LOADERS_MAX: u32 = 16;

/// A dataset that is to stand.
pub(super) struct Wanted<'a> {
    pub(super) planned: &'a PlannedSpec,
    pub(super) endpoint: &'a Endpoint,
    pub(super) options: &'a LoadOptions,
}

/// How many loaders there are where nobody says.
pub(super) fn default_loaders(host_cpus: u32) -> u32 {
    host_cpus.clamp(LOADERS_MIN, LOADERS_MAX)
}

/// Sees to it that the dataset stands, and says what became of it.
pub(super) fn stand(
    wanted: &Wanted<'_>,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<LoadReport, LoadError> {
    let Wanted { planned, endpoint, options } = wanted;
    let id = planned.spec.id.as_str();
    let observe = &mut |event: LoadEvent<'_>| match event {
        LoadEvent::Progress(at) => show(id, &at, progress),
        LoadEvent::Replacing { database, tables } => progress.warn(&format!(
            "{id}: --replace drops from schema {database}: {}",
            ranges(tables).join(", ")
        )),
        LoadEvent::Beside { database, names } => progress.warn(&format!(
            "{id}: warning: schema {database} also holds {}, which gridbench did not make: they \
             stay; drop or move them where only the dataset should take the buffer pool",
            ranges(names).join(", ")
        )),
        LoadEvent::Unsound { found } => progress.warn(&format!("{id}: {found}; it is made anew")),
        LoadEvent::Retrying { reason } => progress.warn(&format!("{id}: {reason}; trying again")),
    };
    let report = load::ensure(endpoint, &planned.dataset, options, interrupt, observe)?;
    progress.line(&format!("{id}: {}", outcome_text(&report)));
    if let Some(by) = &report.changed_by {
        let database = &report.database;
        progress.line(&format!(
            "{id}: dataset {database} was changed by {by} since it was loaded, and is used as it is"
        ));
    }
    Ok(report)
}

/// Whose own tables are to stand, and where.
pub(super) struct OwnPlace<'a> {
    pub(super) plan: &'a Plan,
    pub(super) planned: &'a PlannedSpec,
    /// With the dataset's schema as its database.
    pub(super) endpoint: &'a Endpoint,
}

/// Sees to it that the own tables of the matrix's workloads stand beside the dataset, and says
/// what became of them. `anew`: those that somebody has written to are made anew. Returns those
/// that are used as somebody has left them.
pub(super) fn own_tables(
    place: &OwnPlace<'_>,
    anew: bool,
    interrupt: &Interrupt,
    progress: &mut Progress,
) -> Result<Vec<String>, LoadError> {
    let OwnPlace { plan, planned, endpoint } = place;
    let (spec, tables) = (planned.spec.id.as_str(), plan.own_tables());
    if tables.is_empty() {
        return Ok(Vec::new());
    }
    let Dataset { seed, table_size, .. } = planned.dataset;
    let into_cache = plan.class() == DatasetClass::FullCache;
    let own = OwnTables { tables: &tables, seed, table_size, anew, into_cache };
    let observe = &mut |table: &str, rows_done, rows_total| {
        progress.tell(&RunEvent::Loading(LoadingRows {
            spec: spec.to_owned(),
            stage: format!("filling {table}"),
            rows_done,
            rows_found: 0,
            rows_total,
            bytes_sent: 0,
        }));
    };
    let report = load::ensure_own_tables(endpoint, &own, interrupt, observe)?;
    progress.line(&format!(
        "{spec}: own tables: {} found complete, {} made with {} in {}",
        report.reused,
        report.made,
        counted(report.rows, "row"),
        figures::duration(report.elapsed)
    ));
    if !report.changed.is_empty() {
        progress.line(&format!(
            "{spec}: changed since made, and used as left: {}",
            report.changed.join(", ")
        ));
    }
    Ok(report.changed)
}

/// Sees to it that what was loaded by the first address of an endpoint is there by the others, too.
pub(super) fn is_everywhere(endpoint: &Endpoint, dataset: &Dataset) -> anyhow::Result<()> {
    let wanted = u64::from(dataset.tables).saturating_mul(dataset.table_size);
    for other in endpoint.each().skip(1) {
        let rows = load::rows_in(&other, dataset)?;
        if rows != wanted {
            return Err(anyhow!(
                "{} holds {rows} of {} of the dataset: `endpoints` are ways to the same data; wait \
                 until it is replicated, or load it there",
                other.address,
                counted(wanted, "row")
            ));
        }
    }
    Ok(())
}

/// What the server says of itself, and the process that it is where it runs on this host.
pub(super) fn server_info(endpoint: &Endpoint) -> anyhow::Result<(ServerInfo, Option<u32>)> {
    const PATIENCE: Duration = Duration::from_secs(30);
    server_info_within(endpoint, PATIENCE)
}

/// The same, of a server that answers in this time.
pub(super) fn server_info_within(
    endpoint: &Endpoint,
    patience: Duration,
) -> anyhow::Result<(ServerInfo, Option<u32>)> {
    // The schema that the endpoint names may not be there yet.
    let endpoint = Endpoint { database: None, ..endpoint.clone() };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let asked = async {
        let mut admin = Admin::connect(&endpoint).await?;
        let info = admin.server_info().await?;
        let host = admin.scalar("SELECT @@hostname").await?.unwrap_or_default();
        let pid_file = admin.scalar("SELECT @@pid_file").await?.unwrap_or_default();
        admin.close().await;
        Ok::<_, DriverError>((info, host, pid_file))
    };
    let answer = runtime.block_on(async { tokio::time::timeout(patience, asked).await });
    let seconds = patience.as_secs();
    let info = answer.map_err(|_| anyhow!("the server did not answer within {seconds} s"))?;
    let (info, host, pid_file) = info.context("cannot ask the server what it is")?;
    // An address of this host may lead elsewhere through a tunnel.
    let is_here = endpoint.is_local() && host::name() == Some(host);
    let process = is_here.then(|| server_process(Path::new(&pid_file))).flatten();
    Ok((info, process))
}

/// What a manifest keeps of it.
pub(super) fn record(report: &LoadReport) -> DatasetRecord {
    DatasetRecord {
        database: report.database.clone(),
        rows_sent: match report.outcome {
            LoadOutcome::Reused => 0,
            LoadOutcome::Completed { rows, .. } | LoadOutcome::Loaded { rows } => rows,
        },
        route: report.route.map(|route| route.words().to_owned()),
        changed_by: report.changed_by.clone(),
        tables: report.tables.clone(),
    }
}

fn show(spec: &str, at: &LoadProgress, progress: &mut Progress) {
    let stage = match at.stage {
        LoadStage::Verify => return progress.step(&format!("{spec}: verifying rows")),
        LoadStage::Rows => "loading rows",
        LoadStage::Indexes => "building the last indexes, checking rows,",
    };
    progress.tell(&RunEvent::Loading(LoadingRows {
        spec: spec.to_owned(),
        stage: stage.to_owned(),
        rows_done: at.rows_done,
        rows_found: at.rows_found,
        rows_total: at.rows_total,
        bytes_sent: at.bytes_sent,
    }));
}

/// What became of the dataset, in one line.
fn outcome_text(report: &LoadReport) -> String {
    let size = report.dataset_bytes.map_or_else(String::new, |bytes| {
        format!(", {} on the server", figures::bytes(Bytes(bytes)))
    });
    let database = &report.database;
    let (what, rows) = match report.outcome {
        LoadOutcome::Reused => {
            let doubt = match report.is_counted {
                true => "",
                false => ", by the ids of its first and last rows: too many to count them",
            };
            return format!("dataset {database} found complete{size}{doubt}");
        }
        LoadOutcome::Completed { tables, rows } => {
            (format!("completed: {}, ", counted(tables, "table")), rows)
        }
        LoadOutcome::Loaded { rows } => ("loaded: ".to_owned(), rows),
    };
    let millis = report.elapsed.as_millis().max(1);
    let rate = u64::try_from(u128::from(rows) * 1_000 / millis).unwrap_or(u64::MAX);
    format!(
        "dataset {database} {what}{} in {} ({} rows/s){size}; by {}",
        counted(rows, "row"),
        figures::duration(report.elapsed),
        figures::count(rate),
        report.route.map_or("nothing but indexes", |route| route.words())
    )
}

/// Names of tables, those with consecutive numbers as one: `sbtest1 to sbtest250`.
pub(super) fn ranges(tables: &[String]) -> Vec<String> {
    let mut numbered: Vec<(&str, u64)> = Vec::new();
    let mut others: Vec<String> = Vec::new();
    for table in tables {
        let stem = table.trim_end_matches(|c: char| c.is_ascii_digit());
        match table[stem.len()..].parse() {
            Ok(number) if format!("{stem}{number}") == *table => numbered.push((stem, number)),
            _ => others.push(table.clone()),
        }
    }
    numbered.sort_unstable();
    let mut runs: Vec<(&str, u64, u64)> = Vec::new();
    for (stem, number) in numbered {
        match runs.last_mut() {
            Some((last, _, end)) if *last == stem && *end + 1 == number => *end = number,
            _ => runs.push((stem, number, number)),
        }
    }
    let text = |(stem, first, last): (&str, u64, u64)| match first == last {
        true => format!("{stem}{first}"),
        false => format!("{stem}{first} to {stem}{last}"),
    };
    runs.into_iter().map(text).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_tables_are_named_as_one() {
        let names = |names: &[&str]| -> Vec<String> {
            ranges(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(
            names(&["sbtest10", "sbtest1", "orders", "sbtest2", "sbtest3", "t007", "t7"]),
            ["sbtest1 to sbtest3", "sbtest10", "t7", "orders", "t007"]
        );
        assert!(names(&[]).is_empty());
    }
}
