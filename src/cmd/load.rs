//! `gridbench load`: the datasets of a matrix, without measuring.
//!
//! Must not know: how a row is made or sent.

use anyhow::{Context, anyhow};

use super::dataset::{self, OwnPlace, Wanted};
use super::matrix_source::{LoadedPlan, load_plan};
use super::run::site::Sites;
use super::{Failure, Outcome, chain, examine, signals};
use crate::cli::LoadArgs;
use crate::load::{self, LoadOptions, LoadOutcome, LoadReport};
use crate::model::{Bytes, Endpoint, Interrupt, PlannedSpec, ServerInfo, TableCheck, counted};
use crate::ui::{Align, Printer, Progress, ProgressMode, Table, figures};

/// The variable that says how large the buffer pool is.
const POOL: &str = "innodb_buffer_pool_size";

pub(super) fn run(arguments: &LoadArgs, printer: Printer) -> Result<Outcome, Failure> {
    let loaded = load_plan(&arguments.matrix)?;
    let sites = Sites::choose(&arguments.matrix, &arguments.server, &loaded.plan, printer)?;
    printer.talk(&sites.sentence());
    let wanted = sites.datasets(&loaded.plan);
    if wanted.is_empty() {
        return Err(Failure::input(anyhow!(
            "nothing of this matrix can run here; --targets names servers elsewhere, --rehearse \
             tries the matrix on this machine"
        )));
    }
    if let Some(targets) = sites.targets() {
        examine::before_start(&loaded.plan, targets, arguments.yes, printer)?;
    }
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let mode = ProgressMode::of(None, printer.terminal.can_redraw);
    let progress = Progress::new(printer, mode);
    let mut loading = Loading { arguments, loaded: &loaded, sites, interrupt, progress };
    let mut failed = 0;
    for planned in wanted {
        match loading.load(planned) {
            Ok(text) => loading.progress.aside(|| printer.data(&text))?,
            Err(error) if loading.interrupt.is_requested() => {
                let (id, rest) = (&planned.spec.id, "the same command goes on from there");
                loading.progress.warn(&format!("{id}: stopped: {}; {rest}", chain(&error)));
                break;
            }
            Err(error) => {
                failed += 1;
                loading.progress.warn(&format!("{}: {}", planned.spec.id, chain(&error)));
            }
        }
    }
    loading.progress.rest();
    Ok(match (loading.interrupt.is_requested(), failed) {
        (true, _) => Outcome::Interrupted,
        (false, 0) => Outcome::Done,
        (false, _) => Outcome::SomeFailed,
    })
}

struct Loading<'a> {
    arguments: &'a LoadArgs,
    loaded: &'a LoadedPlan,
    sites: Sites,
    interrupt: Interrupt,
    progress: Progress,
}

impl Loading<'_> {
    /// Loads the dataset of a spec; returns what to print of it.
    fn load(&mut self, planned: &PlannedSpec) -> anyhow::Result<String> {
        self.progress.step(&format!("{}: {}", planned.spec.id, self.sites.opening()));
        let mut site = self.sites.open(planned, 1, &self.interrupt)?;
        let (info, _) = dataset::server_info(&site.endpoint)?;
        let loaders = self.arguments.loaders;
        let options = LoadOptions {
            loaders: loaders.unwrap_or_else(|| dataset::default_loaders(self.loaded.host.cpus)),
            server_cpus: Some(planned.cpus),
            disk_free: self.sites.disk_free(),
            route: None,
            replace: self.arguments.replace,
            refresh: false,
        };
        let wanted = Wanted { planned, endpoint: &site.endpoint, options: &options };
        let report = dataset::stand(&wanted, &self.interrupt, &mut self.progress);
        let report = report.and_then(|report| {
            let database = Some(report.database.clone());
            let endpoint = &Endpoint { database, ..site.endpoint.clone() };
            let place = OwnPlace { plan: &self.loaded.plan, planned, endpoint };
            dataset::own_tables(&place, false, &self.interrupt, &mut self.progress)?;
            Ok(report)
        });
        let report = report.map_err(|error| match self.interrupt.is_requested() {
            true => what_is_in(planned, &site.endpoint).unwrap_or(error.into()),
            false => error.into(),
        });
        if let Some(server) = site.managed.take() {
            self.progress.step(&format!("{}: stopping the server", planned.spec.id));
            server.stop()?;
        }
        Ok(text(planned, &info, &report?))
    }
}

/// What a load that was stopped leaves; `None` where the server does not say.
fn what_is_in(planned: &PlannedSpec, endpoint: &Endpoint) -> Option<anyhow::Error> {
    let (dataset, rows) = (&planned.dataset, load::rows_in(endpoint, &planned.dataset).ok()?);
    let whole = counted(dataset.rows(), "row");
    Some(match dataset.rows() - rows.min(dataset.rows()) {
        0 => anyhow!("all {whole} of the dataset are in"),
        _ => anyhow!("{} of {whole} are in, and stay", figures::count(rows)),
    })
}

/// The dataset in a few lines, then a row for each table.
fn text(planned: &PlannedSpec, info: &ServerInfo, report: &LoadReport) -> String {
    let mut table = Table::new(&[
        ("table", Align::Left),
        ("rows", Align::Right),
        ("first id", Align::Right),
        ("last id", Align::Right),
        ("crc32 sum", Align::Right),
        ("crc32 xor", Align::Right),
    ]);
    for TableCheck { number, first_id, last_id, checksum } in &report.tables {
        table.row(vec![
            crate::workload::schema::table(*number),
            figures::count(checksum.rows),
            first_id.to_string(),
            last_id.to_string(),
            checksum.crc_sum.to_string(),
            format!("{:08x}", checksum.crc_xor),
        ]);
    }
    let mut size = size_text(planned, info, report.dataset_bytes);
    if report.outcome == LoadOutcome::Reused {
        size += "\nrows, ids and checksums as the server counted them when it was loaded";
    }
    format!(
        "{}: {} at {}\n{size}\n{}\n",
        planned.spec.id,
        report.database,
        info.address,
        table.render()
    )
}

/// What it weighs, against memory and buffer pool: the server's own, where it says.
fn size_text(planned: &PlannedSpec, info: &ServerInfo, bytes: Option<u64>) -> String {
    let Some(bytes) = bytes else { return "the server does not say how large it is".to_owned() };
    let pool = info.variables.get(POOL).and_then(|text| text.parse().ok().map(Bytes));
    let pool = pool.unwrap_or(planned.buffer_pool);
    let of = |base: Bytes| format!("{:.2}", bytes as f64 / base.0.max(1) as f64);
    format!(
        "{} of data and indexes: {} of the {} of memory, {} of the {} of buffer pool",
        figures::bytes(Bytes(bytes)),
        of(planned.memory),
        figures::bytes(planned.memory),
        of(pool),
        figures::bytes(pool)
    )
}
