//! A run under way: spec by spec a server, a dataset, and its trials.
//!
//! Must not know: what the numbers mean, or how they are printed as a page.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::bail;

use super::absence;
use super::changes;
use super::engine::{LoadEngine, guarded};
use super::evidence;
use super::handles;
use super::rounds::Rounds;
use super::site::{Site, Sites};
use super::telling;
use crate::cmd::calibrate::Ceilings;
use crate::cmd::dataset::{self, OwnPlace, Wanted};
use crate::cmd::matrix_source::LoadedPlan;
use crate::cmd::{Failure, Outcome, chain};
use crate::driver::wire::WireDriver;
use crate::exec::{self, LoadPolicy, Probe, SysbenchSetup, TrialOutput, TrialSetup};
use crate::load::{self, LoadOptions, LoadReport};
use crate::model::{
    Cell, Changes, DatasetClass, Evidence, Interrupt, Measurement, MilliRate, Plan, PlannedSpec,
    ServerRecord, Trial, TrialStatus, counted,
};
use crate::store::{RunDir, StoredTrial, TrialRecord};
use crate::sysbench::Refused;
use crate::target::host;
use crate::ui::{Progress, RunEvent};
use crate::workload::Program;

/// How long the events that are open at the end of a window are waited for.
pub(super) const DRAIN_LIMIT: Duration = Duration::from_secs(10);
/// A trial that reached this share of what the client can drive was limited by the client.
const CEILING_PERCENT: u128 = 90;
/// How long a connection may take to be made, and each of its statements to be prepared.
pub(super) const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// Where a run measures, and with what.
pub(super) struct Means {
    pub(super) sites: Sites,
    pub(super) engine: LoadEngine,
    /// Whether a run goes on where server or dataset are not what they were.
    pub(super) accept_changes: bool,
    /// Whether the tables of a schema that holds something else are dropped.
    pub(super) replace: bool,
}

/// A run that would go on on something else than it began with.
#[derive(Debug, thiserror::Error)]
#[error(
    "{spec}: this is not what the run began with:\n  {changes}\nits trials would be of two things; \
     set it back, start a new run without --resume, or go on all the same with --accept-changes, \
     which the results will say"
)]
struct Changed {
    spec: String,
    changes: String,
}

pub(super) struct Session<'a> {
    plan: &'a Plan,
    host_cpus: u32,
    means: Means,
    ceilings: Ceilings,
    directory: RunDir,
    interrupt: Interrupt,
    progress: &'a mut Progress,
    failed: u32,
    /// Whether somebody has written to the dataset at hand since it was loaded.
    is_changed: bool,
    /// The own tables beside it that somebody has written to since they were made.
    own_changed: Vec<String>,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        loaded: &'a LoadedPlan,
        means: Means,
        directory: RunDir,
        interrupt: Interrupt,
        progress: &'a mut Progress,
    ) -> Result<Self, Failure> {
        let plan = &loaded.plan;
        let host_cpus = loaded.host.cpus;
        let out = directory.path().parent().unwrap_or(directory.path());
        let ceilings = Ceilings::read(out, &loaded.host).unwrap_or_else(|words| {
            progress.warn(&format!("warning: {words}"));
            Ceilings::default()
        });
        Ok(Self {
            plan,
            host_cpus,
            means,
            ceilings,
            directory,
            interrupt,
            progress,
            failed: 0,
            is_changed: false,
            own_changed: Vec::new(),
        })
    }

    pub(super) fn into_directory(self) -> RunDir {
        self.directory
    }

    /// Measures what is not on disk yet. Fails only where results cannot be kept.
    pub(super) fn measure(&mut self) -> Result<Outcome, Failure> {
        let done = done_trials(self.plan, &self.directory)?;
        let outline = telling::outline(&self.directory, self.plan, &done);
        self.progress.tell(&RunEvent::Started(Box::new(outline)));
        for (index, planned) in self.plan.specs.iter().enumerate() {
            let mut rounds = Rounds::new(self.plan, index, &done);
            if rounds.next().is_some() && !self.interrupt.is_requested() {
                self.measure_spec(planned, &mut rounds)?;
            }
        }
        self.progress.rest();
        Ok(match (self.interrupt.is_requested(), self.failed) {
            (true, _) => Outcome::Interrupted,
            (false, 0) => Outcome::Done,
            (false, _) => Outcome::SomeFailed,
        })
    }

    /// Server, dataset, trials. What goes wrong becomes rows: the other specs go on.
    fn measure_spec(
        &mut self,
        planned: &PlannedSpec,
        rounds: &mut Rounds<'_>,
    ) -> Result<(), Failure> {
        self.progress.tell(&RunEvent::SpecStarted { spec: planned.spec.id.clone() });
        let mut site = match self.prepare(planned, rounds.next().as_ref()) {
            Ok(site) => site,
            Err(error) if self.interrupt.is_requested() => {
                self.progress.warn(&format!("{}: {}", planned.spec.id, chain(&error)));
                return Ok(());
            }
            Err(error) if error.is::<Changed>() => return Err(Failure::input(error)),
            Err(error) => return self.fail_rest(rounds, &chain(&error)),
        };
        let (mut previous, mut is_sound) = (None, true);
        while let Some(trial) = rounds.next().filter(|_| !self.interrupt.is_requested()) {
            let there = if is_sound { Ok(()) } else { self.await_server(planned, &site) };
            let around = (previous.as_ref(), &trial);
            if let Err(error) = there.and_then(|()| self.ready_dataset(planned, around, &site)) {
                self.progress.warn(&format!("{}: {}", planned.spec.id, chain(&error)));
                if !self.interrupt.is_requested() {
                    self.fail_rest(rounds, &chain(&error))?;
                }
                break;
            }
            let measured = self.measure_trial(planned, &trial, &site)?;
            let qps = measured.as_ref().ok().copied().flatten();
            is_sound = qps.is_some();
            rounds.took(&trial, qps.map(|MilliRate(milli)| milli));
            if let Err(changed) = measured {
                self.fail_rest(rounds, &changed)?;
                break;
            }
            if let Some(Err(error)) = site.managed.as_mut().map(|server| server.is_running()) {
                self.fail_rest(rounds, &error.to_string())?;
                break;
            }
            previous = Some(trial);
        }
        if let Some(server) = site.managed.take() {
            self.progress.step(&format!("{}: stopping the server", planned.spec.id));
            // What was measured is kept and the other specs go on, however this one ended.
            if let Err(error) = server.stop() {
                self.progress.warn(&format!("{}: {error}", planned.spec.id));
            }
        }
        if !self.interrupt.is_requested() {
            telling::left_out(self.progress, self.plan, &rounds.left_out());
        }
        telling::refused(self.progress, &self.directory.results()?, &planned.spec.id);
        Ok(())
    }

    /// Starts the server, makes sure of the dataset, and notes both in the manifest.
    fn prepare(&mut self, planned: &PlannedSpec, first: Option<&Trial>) -> anyhow::Result<Site> {
        let id = &planned.spec.id;
        self.progress.step(&format!("{id}: {}", self.means.sites.opening()));
        let cells = self.plan.cells.iter().filter(|cell| cell.id.spec == *id);
        let concurrency_max = cells.map(|cell| cell.id.concurrency).max().unwrap_or(1);
        let mut site = self.means.sites.open(planned, concurrency_max, &self.interrupt)?;
        let (info, process) = dataset::server_info(&site.endpoint)?;
        site.pid = site.pid.or(process);

        let refresh = first.is_some_and(|trial| self.plan.refreshes(None, trial));
        let report = self.load(planned, &site, refresh)?;
        site.endpoint.database = Some(report.database.clone());
        self.own_tables(planned, &site, refresh)?;
        let mut record = ServerRecord {
            spec: id.clone(),
            managed: site.managed.is_some(),
            info,
            cpus: site.server_cpus().to_vec(),
            load_cpus: site.load_cpus(),
            changes: Vec::new(),
            dataset_bytes: report.dataset_bytes,
            dataset: Some(dataset::record(&report)),
        };
        let changes = self.directory.server_changes(&record);
        if !changes.is_empty() && !self.means.accept_changes {
            return Err(Changed { spec: id.to_string(), changes: changes.join("\n  ") }.into());
        }
        record.changes = changes;
        self.directory.set_server(record)?;
        Ok(site)
    }

    /// Makes the dataset stand, anew if it was changed and `refresh` says so, and in the cache
    /// where it belongs there.
    fn load(
        &mut self,
        planned: &PlannedSpec,
        site: &Site,
        refresh: bool,
    ) -> anyhow::Result<LoadReport> {
        let options = LoadOptions {
            loaders: dataset::default_loaders(self.host_cpus),
            server_cpus: Some(planned.cpus),
            disk_free: self.means.sites.disk_free(),
            route: None,
            replace: self.means.replace,
            refresh,
        };
        let wanted = Wanted { planned, endpoint: &site.endpoint, options: &options };
        let report = dataset::stand(&wanted, &self.interrupt, self.progress)?;
        self.is_changed = report.changed_by.is_some();
        dataset::is_everywhere(&site.endpoint, &planned.dataset)?;
        if self.plan.class() == DatasetClass::FullCache {
            let id = &planned.spec.id;
            self.progress.step(&format!("{id}: reading the dataset into the buffer pool"));
            for each in site.endpoint.each() {
                load::fill_cache(&each, &planned.dataset, &options, &self.interrupt)?;
            }
        }
        Ok(report)
    }

    /// Waits for a server that a trial may have been left by. One that was away is looked at anew.
    fn await_server(&mut self, planned: &PlannedSpec, site: &Site) -> anyhow::Result<()> {
        let id = &planned.spec.id;
        let progress = &mut *self.progress;
        let waiting = || progress.step(&format!("{id}: waiting for the server"));
        if absence::wait(&site.endpoint, absence::PATIENCE, &self.interrupt, waiting)? {
            let changes = changes::of(&self.directory, id, &site.endpoint);
            if !changes.is_empty() && !self.means.accept_changes {
                bail!("{}", changes::words(&changes));
            }
            self.load(planned, site, false)?;
        }
        Ok(())
    }

    /// Sees to it that a trial finds the data that its matrix asks for, and that it is noted if the
    /// trial writes to it.
    fn ready_dataset(
        &mut self,
        planned: &PlannedSpec,
        (previous, trial): (Option<&Trial>, &Trial),
        site: &Site,
    ) -> anyhow::Result<()> {
        if self.plan.refreshes(previous, trial) {
            if self.is_changed {
                self.load(planned, site, true)?;
            }
            if !self.own_changed.is_empty() {
                self.own_tables(planned, site, true)?;
            }
        }
        let cell = &self.plan.cells[trial.cell];
        let Changes { dataset, mut own } = self.plan.changes(cell);
        own.retain(|table| !self.own_changed.contains(table));
        if !own.is_empty() {
            load::mark_own_changed(&site.endpoint, &own)?;
            self.own_changed.extend(own);
        }
        if dataset && !self.is_changed {
            let by = format!("run {}, cell {}", self.directory.name(), cell.id);
            load::mark_changed(&site.endpoint, &planned.dataset, &by)?;
            self.is_changed = true;
        }
        Ok(())
    }

    fn own_tables(&mut self, planned: &PlannedSpec, site: &Site, anew: bool) -> anyhow::Result<()> {
        let place = OwnPlace { plan: self.plan, planned, endpoint: &site.endpoint };
        self.own_changed = dataset::own_tables(&place, anew, &self.interrupt, self.progress)?;
        Ok(())
    }

    /// The rate, if there is one; the inner error says why the spec's other trials cannot follow.
    fn measure_trial(
        &mut self,
        planned: &PlannedSpec,
        trial: &Trial,
        site: &Site,
    ) -> Result<Result<Option<MilliRate>, String>, Failure> {
        let started_unix_ms = now_unix_ms();
        let (cell, repetition) = (self.plan.cells[trial.cell].id.clone(), trial.repetition);
        self.progress.tell(&RunEvent::TrialStarted { cell, repetition });
        let probe = evidence::begin(site);
        let looks = probe.as_ref().ok();
        let mut output = match &self.means.engine {
            LoadEngine::Native => self.measure_natively(planned, trial, (site, looks)),
            LoadEngine::Sysbench(program) => {
                let setup = program.setup(self.plan, planned, trial, site);
                self.measure_with_sysbench(setup, looks)
            }
        };
        let scenario = self.plan.scenario(&self.plan.cells[trial.cell]);
        let evidence = evidence::of(probe, scenario, &output.sent);
        let changed = self.changed_meanwhile(planned, site, (&output.measurement, &evidence));
        if let Some(changed) = &changed {
            let reason = match &output.measurement.status {
                TrialStatus::Failed { reason } => format!("{reason}; {changed}"),
                _ => changed.clone(),
            };
            output.measurement.status = TrialStatus::Failed { reason };
        }
        self.keep(trial, started_unix_ms, &output, Some(&evidence))?;
        if let Some(reason) = changed {
            return Ok(Err(reason));
        }
        let Measurement { status, queries, measured_us, .. } = &output.measurement;
        let is_done = *status == TrialStatus::Done;
        Ok(Ok(is_done.then(|| MilliRate::of(*queries, *measured_us)).flatten()))
    }

    /// Why this trial is of two servers and the next would be of another one, if it is so.
    fn changed_meanwhile(
        &self,
        planned: &PlannedSpec,
        site: &Site,
        (measurement, evidence): (&Measurement, &Evidence),
    ) -> Option<String> {
        if self.means.accept_changes || !changes::is_likely(measurement, evidence) {
            return None;
        }
        let changes = changes::of(&self.directory, &planned.spec.id, &site.endpoint);
        (!changes.is_empty()).then(|| changes::words(&changes))
    }

    fn measure_with_sysbench(
        &mut self,
        setup: Result<SysbenchSetup, Refused>,
        probe: Option<&Probe>,
    ) -> TrialOutput {
        let setup = match setup {
            Ok(setup) => setup,
            Err(refused) => return TrialOutput::failed(&refused.to_string()),
        };
        let progress = &mut *self.progress;
        exec::run_sysbench(&setup, &self.interrupt, &mut |event| {
            telling::event(progress, probe, (setup.concurrency, &event));
        })
    }

    fn measure_natively(
        &mut self,
        planned: &PlannedSpec,
        trial: &Trial,
        (site, probe): (&Site, Option<&Probe>),
    ) -> TrialOutput {
        let cell = &self.plan.cells[trial.cell];
        let mut setup = self.setup(cell, planned, (trial.repetition, site));
        let driver = WireDriver::new(&guarded(&site.endpoint, &setup));
        let wanted = setup.program.prepared_count();
        match handles::per_connection(&site.endpoint, &planned.spec, wanted, setup.concurrency) {
            Ok(each) => setup.handles_max = each,
            Err(error) => return TrialOutput::failed(&format!("{error:#}")),
        }
        if setup.handles_max < wanted {
            self.progress.line(&format!(
                "{}: {} for each connection, {} of them prepared at a time: the server has no \
                 room for more",
                cell.id,
                counted(wanted, "statement"),
                setup.handles_max
            ));
        }
        let progress = &mut *self.progress;
        let mut output = exec::run_trial(&driver, &setup, &self.interrupt, &mut |event| {
            telling::event(progress, probe, (setup.concurrency, &event));
        });
        self.hold_against_ceiling(cell, &mut output.measurement);
        output
    }

    /// Notes what the client could have driven, and whether it did.
    fn hold_against_ceiling(&self, cell: &Cell, measurement: &mut Measurement) {
        let load = (cell.id.concurrency, measurement.load_threads);
        let ceiling = self.ceilings.of(self.plan.scenario(cell), &self.plan.protocol, load);
        measurement.client_ceiling_qps = ceiling;
        let qps = MilliRate::of(measurement.queries, measurement.measured_us);
        if let (Some(MilliRate(qps)), Some(MilliRate(ceiling))) = (qps, ceiling)
            && u128::from(qps) * 100 >= u128::from(ceiling) * CEILING_PERCENT
        {
            measurement.client_bound = Some(true);
        }
    }

    fn setup(
        &self,
        cell: &Cell,
        planned: &PlannedSpec,
        (repetition, site): (u32, &Site),
    ) -> TrialSetup {
        let protocol = &self.plan.protocol;
        let scenario = self.plan.scenario(cell);
        let program = Program::new(scenario, &planned.dataset, protocol.statements, protocol.keys);
        let handles_max = program.prepared_count();
        TrialSetup {
            program: Arc::new(program),
            concurrency: cell.id.concurrency,
            handles_max,
            warmup: protocol.warmup,
            warmup_max: protocol.warmup_max.unwrap_or_default(),
            level: protocol.level_ppm as f64 / 1e6,
            duration: protocol.duration,
            drain_limit: DRAIN_LIMIT,
            connect_limit: CONNECT_LIMIT,
            seed: exec::trial_seed(protocol.seed, &cell.id, repetition),
            load_threads: site.load_threads(self.host_cpus, cell.id.concurrency),
            open_loop: protocol.open_loop,
            cpus: site.load_cpus(),
            policy: LoadPolicy::of(protocol.open_loop),
            run_delay: host::thread_run_delay,
        }
    }

    fn keep(
        &mut self,
        trial: &Trial,
        started_unix_ms: i64,
        output: &TrialOutput,
        evidence: Option<&Evidence>,
    ) -> Result<(), Failure> {
        let cell = &self.plan.cells[trial.cell];
        let record = TrialRecord {
            cell,
            spec: self.plan.spec(cell),
            repetition: trial.repetition,
            started_unix_ms,
            measurement: &output.measurement,
            service: &output.service,
            latency: &output.latency,
            statement_latency: &output.statement_latency,
            evidence,
        };
        self.directory.append(&record)?;
        if matches!(output.measurement.status, TrialStatus::Failed { .. }) {
            self.failed += 1;
        }
        let ending = (&output.measurement).into();
        let (cell, repetition) = (cell.id.clone(), trial.repetition);
        self.progress.tell(&RunEvent::TrialEnded { cell, repetition, ending });
        Ok(())
    }

    /// A row for each trial that could not even start.
    fn fail_rest(&mut self, rounds: &mut Rounds<'_>, reason: &str) -> Result<(), Failure> {
        while let Some(trial) = rounds.next() {
            self.keep(&trial, now_unix_ms(), &TrialOutput::failed(reason), None)?;
            rounds.took(&trial, None);
        }
        Ok(())
    }
}

/// The trials that are done, with their rates in thousandths per second.
fn done_trials(plan: &Plan, directory: &RunDir) -> Result<Vec<(Trial, u64)>, Failure> {
    let done = directory.trials()?.into_iter().filter(|trial| trial.status == TrialStatus::Done);
    let trial = |stored: StoredTrial| {
        let cell = plan.cells.iter().position(|cell| cell.id == stored.cell)?;
        Some((Trial { cell, repetition: stored.repetition }, stored.qps?.0))
    };
    Ok(done.filter_map(trial).collect())
}

/// Milliseconds since 1970-01-01 UTC.
pub(super) fn now_unix_ms() -> i64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}
