//! Who drives the load of a run: our own client, or the real sysbench.
//!
//! Must not know: how either of them does it.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::anyhow;

use super::session::{CONNECT_LIMIT, DRAIN_LIMIT};
use super::site::Site;
use crate::cmd::Failure;
use crate::exec::{self, LoadPolicy, SysbenchSetup, TrialSetup};
use crate::model::{Endpoint, Engine, Plan, PlannedSpec, Protocol, Scenario, Trial};
use crate::sysbench::{Invocation, Refused, Version, parse, refusals, remedy, unreachable, words};
use crate::target::Targets;
use crate::ui::Printer;

/// An engine that is there and can run the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) enum LoadEngine {
    Native,
    Sysbench(Program),
}

/// A sysbench that answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) struct Program {
    path: PathBuf,
    version: Version,
}

impl LoadEngine {
    /// The plan's engine. What it cannot run, or cannot reach, is refused here, before anything
    /// starts.
    pub(in crate::cmd) fn choose(
        named: Option<&Path>,
        plan: &Plan,
        targets: Option<&Targets>,
    ) -> Result<Self, Failure> {
        match (plan.protocol.engine, named) {
            (Engine::Native, None) => Ok(Self::Native),
            (Engine::Native, Some(_)) => Err(Failure::input(anyhow!(
                "--sysbench names the program of another engine; add --engine sysbench"
            ))),
            (Engine::Sysbench, named) => {
                let found = Program::find(named);
                let refused = refused(found.as_ref().ok(), plan, targets);
                match (found, refused) {
                    (Ok(program), None) => Ok(Self::Sysbench(program)),
                    (Ok(_), Some(refused)) => Err(Failure::input(anyhow!(refused))),
                    (Err(absent), None) => Err(absent),
                    (Err(absent), Some(refused)) => {
                        Err(Failure::input(anyhow!("{absent}\n{refused}")))
                    }
                }
            }
        }
    }

    /// The name in manifests and on pages: `native`, `sysbench 1.0.20`.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Native => Engine::Native.name().to_owned(),
            Self::Sysbench(program) => program.version.to_string(),
        }
    }

    /// The scheduling policy of what sends the load.
    pub(super) fn policy(&self, protocol: &Protocol) -> LoadPolicy {
        match self {
            Self::Native => LoadPolicy::of(protocol.open_loop),
            Self::Sysbench(_) => LoadPolicy::Normal,
        }
    }

    /// Says which program it is.
    pub(super) fn announce(&self, printer: Printer) {
        if let Self::Sysbench(program) = self {
            printer.talk(&format!("engine: {} ({})", program.path.display(), program.version));
        }
    }
}

impl Program {
    /// One trial of sysbench.
    ///
    /// # Errors
    /// What of the endpoint sysbench cannot be told.
    pub(super) fn setup(
        &self,
        plan: &Plan,
        planned: &PlannedSpec,
        trial: &Trial,
        site: &Site,
    ) -> Result<SysbenchSetup, Refused> {
        let (cell, protocol) = (&plan.cells[trial.cell], &plan.protocol);
        let invocation = Invocation {
            scenario: plan.scenario(cell),
            dataset: &planned.dataset,
            protocol,
            endpoint: &site.endpoint,
            concurrency: cell.id.concurrency,
            seed: exec::trial_seed(protocol.seed, &cell.id, trial.repetition),
        };
        Ok(SysbenchSetup {
            program: self.path.clone(),
            warmup_line: invocation.warmup_line()?,
            command_line: invocation.command_line()?,
            concurrency: cell.id.concurrency,
            warmup: protocol.warmup,
            duration: protocol.duration,
            is_open_loop: protocol.open_loop.is_some(),
            connect_limit: CONNECT_LIMIT,
            drain_limit: DRAIN_LIMIT,
            cpus: site.load_cpus(),
        })
    }

    /// Asks the program that was named, or the one on PATH, for its version.
    fn find(named: Option<&Path>) -> Result<Self, Failure> {
        let path = named.unwrap_or(Path::new("sysbench"));
        let shown = path.display();
        let fault = |words: String| Failure::input(anyhow!("engine sysbench: {words}"));
        let answer = match Command::new(path).arg("--version").output() {
            Ok(answer) => answer,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(fault(format!(
                    "there is no program `{shown}`; install sysbench 1.0, or name it with \
                     --sysbench PATH"
                )));
            }
            Err(error) => return Err(fault(format!("{shown} cannot be started: {error}"))),
        };
        Self::answered(path, &String::from_utf8_lossy(&answer.stdout)).map_err(fault)
    }

    /// What its `--version` makes of a program.
    fn answered(path: &Path, answer: &str) -> Result<Self, String> {
        let (shown, first) = (path.display(), answer.lines().next().unwrap_or("").trim());
        match Version::parse(first) {
            Some(version) if version.is_known() => Ok(Self { path: path.to_owned(), version }),
            Some(version) => {
                Err(format!("{shown} is {version}; 1.0 and 1.1 are what can be driven"))
            }
            None => Err(format!("{shown} is no sysbench: its --version says `{first}`")),
        }
    }

    /// Why it cannot even tell the options of a scenario's script; `None` if it can.
    fn lacks(&self, scenario: &Scenario) -> Option<String> {
        let name = scenario.workload.name();
        let answer = Command::new(&self.path).args([name, "help"]).output();
        let said = match answer {
            Ok(answer) if answer.status.success() => return None,
            Ok(answer) => parse(&answer.stdout).pop().and_then(|run| words(&run.messages)),
            Err(error) => Some(error.to_string()),
        };
        let said = said.unwrap_or_else(|| "it has no such script".to_owned());
        let remedy = remedy(&said).map_or_else(String::new, |remedy| format!("; {remedy}"));
        Some(format!("scenario {}: {said}{remedy}", scenario.id))
    }
}

/// A statement that outlives its trial is waited for by nobody: the server is told to end it.
pub(super) fn guarded(endpoint: &Endpoint, setup: &TrialSetup) -> Endpoint {
    let mut endpoint = endpoint.clone();
    let warmup = setup.warmup.max(setup.warmup_max);
    let trial = warmup + setup.duration + setup.drain_limit;
    endpoint.session.guard = Some(trial);
    endpoint
}

/// All that sysbench cannot run of the plan, or cannot reach, at once; `None` if it can all.
fn refused(program: Option<&Program>, plan: &Plan, targets: Option<&Targets>) -> Option<String> {
    let mut scenarios: Vec<&Scenario> = Vec::new();
    for cell in plan.runnable_cells() {
        if !scenarios.contains(&plan.scenario(cell)) {
            scenarios.push(plan.scenario(cell));
        }
    }
    let version = program.map(|program| &program.version);
    let mut refused = refusals(version, &plan.protocol, &scenarios);
    if let (true, Some(program)) = (refused.is_empty(), program) {
        refused.extend(scenarios.iter().filter_map(|scenario| program.lacks(scenario)));
    }
    for planned in plan.specs.iter().filter(|planned| planned.skip.is_none()) {
        let endpoint = targets.and_then(|targets| targets.endpoint(&planned.spec.id));
        let words = endpoint.as_ref().and_then(unreachable);
        refused.extend(words.map(|words| format!("spec {}: {words}", planned.spec.id)));
    }
    let who = version.map_or_else(|| "engine sysbench".to_owned(), Version::to_string);
    (!refused.is_empty())
        .then(|| format!("{who} cannot run this plan:\n  {}", refused.join("\n  ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ScenarioId, WorkloadOptions};

    #[test]
    fn a_program_is_asked_what_it_is() {
        let answered = |answer| Program::answered(Path::new("x/sysbench"), answer);
        let header = "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n";
        assert_eq!(answered(header).unwrap().version.text, "1.0.20");
        let old = answered("sysbench 0.5\n").unwrap_err();
        assert!(old.contains("1.0 and 1.1"), "{old}");
        let other = answered("hello\n").unwrap_err();
        assert!(other.contains("says `hello`"), "{other}");
    }

    #[test]
    fn a_program_without_its_scripts_is_told_before_anything_starts() {
        let version = Version::parse("sysbench 1.0.20").unwrap();
        let scenario = Scenario {
            id: ScenarioId::new("s").unwrap(),
            title: None,
            workload: crate::workload::builtin("oltp_insert").unwrap(),
            options: WorkloadOptions::default(),
        };
        let program = |path: &str| Program { path: path.into(), version: version.clone() };
        assert_eq!(program("true").lacks(&scenario), None);
        let words = program("false").lacks(&scenario).unwrap();
        assert_eq!(words, "scenario s: it has no such script");
    }

    #[test]
    fn a_program_that_is_not_there_is_the_inputs_fault() {
        let absent = Program::find(Some(Path::new("/nonexistent/sysbench"))).unwrap_err();
        assert_eq!(absent.exit_code, 2);
        assert!(absent.to_string().contains("--sysbench PATH"), "{absent}");
    }
}
