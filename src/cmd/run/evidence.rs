//! What is known of the server during a trial.
//!
//! Must not know: how counters are read, or where evidence is kept.

use super::site::Site;
use crate::exec::{Looks, Probe, ProcessReader, Sent};
use crate::model::{CommandCount, Counter, Evidence, Part, Scenario, Statement, StatementKind};
use crate::target::process_use;

/// Begins to look at a trial's server.
///
/// # Errors
/// Why nobody looks: the trial is measured all the same.
pub(super) fn begin(site: &Site) -> Result<Probe, String> {
    let process = site.pid.map(|pid| -> ProcessReader { Box::new(move || process_use(pid)) });
    Probe::start(&site.endpoint, process).map_err(|error| format!("nobody looked: {error}"))
}

/// What the looks at a server say of a trial that sent this.
pub(super) fn of(begun: Result<Probe, String>, scenario: &Scenario, sent: &Sent) -> Evidence {
    let looks = match begun {
        Ok(probe) => probe.stop(),
        Err(trouble) => return Evidence { trouble: Some(trouble), ..Evidence::default() },
    };
    let commands = commands(&looks, scenario, sent);
    Evidence { commands, uncertain: sent.failed, ..looks.evidence() }
}

/// Each command that the workload has, as we sent it and as the server counted it. Nothing where
/// it is not known what was sent, or what it was.
fn commands(looks: &Looks, scenario: &Scenario, sent: &Sent) -> Vec<CommandCount> {
    let (Some(whole), false) = (looks.whole(), sent.statements.is_empty()) else {
        return Vec::new();
    };
    let mut commands: Vec<CommandCount> = Vec::new();
    let rollback = (Some(Counter::ComRollback), sent.rollbacks);
    let kinds = sent.statements.iter().map(|(kind, count)| (command_of(scenario, kind), *count));
    for (counter, sent) in kinds.chain([rollback]) {
        let Some(counter) = counter else { return Vec::new() };
        match commands.iter_mut().find(|command| command.counter == counter) {
            Some(known) => known.sent += sent,
            None => {
                let seen = whole.counters.get(counter);
                commands.push(CommandCount { counter, sent, seen });
            }
        }
    }
    commands
}

/// What the server counts the statements of a kind as; `None` where they are of several.
fn command_of(scenario: &Scenario, kind: &StatementKind) -> Option<Counter> {
    if *kind == StatementKind::begin() {
        return Some(Counter::ComBegin);
    }
    if *kind == StatementKind::commit() {
        return Some(Counter::ComCommit);
    }
    let groups = scenario.workload.groups.iter();
    let statements = groups.flat_map(|group| &group.statements);
    let mut counters = statements.filter(|of| of.kind == *kind).map(first_word);
    let first = counters.next()??;
    counters.all(|other| other == Some(first)).then_some(first)
}

fn first_word(statement: &Statement) -> Option<Counter> {
    match statement.parts.first()? {
        Part::Text(text) => Counter::of_command(text.split_whitespace().next()?),
        Part::Table | Part::Value(_) | Part::List(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{ScenarioId, WorkloadOptions};
    use crate::workload::builtin;

    #[test]
    fn every_statement_of_the_built_in_workloads_is_a_command_that_servers_count() {
        for name in ["oltp_read_write", "oltp_delete", "oltp_insert", "select_random_points"] {
            let scenario = Scenario {
                id: ScenarioId::new("s").unwrap(),
                title: None,
                workload: builtin(name).unwrap(),
                options: WorkloadOptions::default(),
            };
            for statement in scenario.workload.groups.iter().flat_map(|group| &group.statements) {
                let counter = command_of(&scenario, &statement.kind);
                assert!(counter.is_some(), "{name}: {:?}", statement.kind);
            }
            let begin = command_of(&scenario, &StatementKind::begin());
            assert_eq!(begin, Some(Counter::ComBegin));
        }
    }
}
