//! Which scenarios an import may mean: those of the set, the published five, and what was
//! defined on the command line.
//!
//! Must not know: files to be read.

use std::path::Path;

use anyhow::anyhow;

use crate::cli::KeepArgs;
use crate::cmd::Failure;
use crate::model::{Access, Flag, Number, ReadType, Scenario, ScenarioId, WorkloadOptions};
use crate::store::baseline;
use crate::sysbench::{Block, Invoked};
use crate::workload::builtin;

/// The set that brings the published five.
const PUBLISHED: &str = "tdsql-c-2025-12";

/// Scenarios by id, each once, the likeliest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalogue(Vec<Scenario>);

impl Catalogue {
    /// # Errors
    /// A definition that is none, or that contradicts the set.
    pub(super) fn of(out: &Path, keep: &KeepArgs) -> Result<Self, Failure> {
        let mut catalogue = Self::default();
        for text in &keep.define {
            catalogue.0.push(definition(text)?);
        }
        let set = keep.name.split('/').next().unwrap_or_default();
        // A set that is not there yet has none; one that is broken is told when it is written.
        let known = [set, PUBLISHED].map(|name| baseline::about(out, name).ok());
        for scenario in known.into_iter().flatten().flat_map(|about| about.scenarios) {
            if catalogue.named(scenario.id.as_str()).is_none() {
                catalogue.0.push(scenario);
            }
        }
        Ok(catalogue)
    }

    /// The scenario of that id.
    pub(super) fn named(&self, id: &str) -> Option<&Scenario> {
        self.0.iter().find(|scenario| scenario.id.as_str() == id)
    }

    /// The scenario of that id, or what to do.
    pub(super) fn find(&self, id: &str) -> Result<Scenario, String> {
        self.named(id).cloned().ok_or_else(|| {
            let ids: Vec<&str> = self.0.iter().map(|scenario| scenario.id.as_str()).collect();
            format!(
                "there is no scenario `{id}` ({}); say what it sends with --define \
                 '{id}=WORKLOAD,OPTION=VALUE'",
                ids.join(", ")
            )
        })
    }

    /// The one that a heading of a page names: by its title, by what it does and reads, by its
    /// script, or by its id behind a dash.
    pub(super) fn under_heading(&self, heading: &str) -> Option<&Scenario> {
        if let Some((_, id)) = heading.rsplit_once(" – ")
            && let Some(scenario) = self.named(id.trim())
        {
            return Some(scenario);
        }
        let mut meant = self.0.iter().filter(|scenario| is_named(scenario, heading));
        let first = meant.next()?;
        meant.next().is_none().then_some(first)
    }

    /// The one whose command line this is.
    pub(super) fn invoked(&self, invoked: &Invoked) -> Option<&Scenario> {
        let workload = invoked.workload.as_deref()?;
        let on_line = |scenario: &&Scenario| {
            scenario.workload.name() == workload && options_of(invoked) == scenario.options
        };
        self.0.iter().find(on_line)
    }

    /// The only one that sends such a mix of statements.
    pub(super) fn sending(&self, block: &Block) -> Option<&Scenario> {
        let mut meant = self.0.iter().filter(|scenario| contradiction(scenario, block).is_none());
        let first = meant.next()?;
        meant.next().is_none().then_some(first)
    }
}

/// Why a report cannot be the scenario's; `None` if it can.
pub(super) fn contradiction(scenario: &Scenario, block: &Block) -> Option<String> {
    let (queries, events) = (block.queries?, block.events.filter(|events| *events > 0)?);
    let per_event = u64::from(scenario.queries_per_event());
    let expected = events.checked_mul(per_event)?;
    // What was tried again counts too; and events are open at both ends.
    let repeated = block.ignored_errors.unwrap_or(0).saturating_mul(per_event);
    let most = expected.saturating_add(repeated).saturating_add(expected / 50);
    let least = expected - expected / 50;
    if queries < least || queries > most {
        return Some(format!(
            "{:.1} queries an event, and `{}` sends {per_event}",
            queries as f64 / events as f64,
            scenario.id
        ));
    }
    let does = |reads, writes| match (reads, writes) {
        (true, true) => "reads and writes",
        (true, false) => "only reads",
        (false, true) => "only writes",
        (false, false) => "neither reads nor writes",
    };
    let sends = match scenario.access() {
        Access::ReadOnly => does(true, false),
        Access::ReadWrite => does(true, true),
        Access::WriteOnly => does(false, true),
    };
    let sent = does(block.read.unwrap_or(0) > 0, block.write.unwrap_or(0) > 0);
    (sent != sends).then(|| format!("it {sent}, and `{}` {sends}", scenario.id))
}

/// What a heading calls it, in either language.
fn is_named(scenario: &Scenario, heading: &str) -> bool {
    let heading = heading.trim();
    if scenario.title.as_deref() == Some(heading) || scenario.workload.name() == heading {
        return true;
    }
    let names = match scenario.access() {
        Access::ReadOnly => ["Read-Only", "只读"],
        Access::ReadWrite => ["Mixed Read-Write", "混合读写"],
        Access::WriteOnly => ["Write-Only", "只写"],
    };
    let reads = match scenario.read_type() {
        Some(ReadType::RangeSelect) => "(range select)",
        Some(ReadType::PointSelect) => "(point select)",
        None => "",
    };
    let plain = |text: &str| text.replace([' ', '（', '）'], "").to_lowercase();
    names.iter().any(|name| plain(heading) == plain(&format!("{name}{reads}")))
}

/// sysbench's defaults where the line does not say.
fn options_of(invoked: &Invoked) -> WorkloadOptions {
    let mut options = WorkloadOptions::default();
    for flag in Flag::ALL {
        let place = flag.of_mut(&mut options);
        *place = invoked.switch(flag.name()).unwrap_or(*place);
    }
    for number in Number::ALL {
        let place = number.of_mut(&mut options);
        let value = invoked.number(number.name()).and_then(|value| u32::try_from(value).ok());
        *place = value.unwrap_or(*place);
    }
    options
}

/// Why a command line cannot be the scenario's: another script, or another value of an option
/// that the script knows. `None` if it can, and where it is no script that is known here.
pub(super) fn typed_otherwise(scenario: &Scenario, invoked: &Invoked) -> Option<String> {
    let (id, ours) = (&scenario.id, &scenario.workload);
    let typed = builtin(invoked.workload.as_deref()?)?;
    if typed.name() != ours.name() {
        let (ours, typed) = (ours.name(), typed.name());
        return Some(format!(
            "scenario `{id}` is {ours}, and the command line in the text runs {typed}: one of \
             them is wrong"
        ));
    }
    let options = options_of(invoked);
    let flags = Flag::ALL.iter().filter(|flag| ours.uses_flag(**flag));
    let numbers = Number::ALL.iter().filter(|number| ours.uses(**number));
    let texts = flags.map(|flag| (flag.text(&scenario.options), flag.text(&options)));
    let numbers = numbers.map(|number| (number.text(&scenario.options), number.text(&options)));
    let (ours, typed) = texts.chain(numbers).find(|(ours, typed)| ours != typed)?;
    Some(format!(
        "scenario `{id}` has {ours}, and the command line in the text {typed}: one of them is \
         wrong"
    ))
}

/// `ID=WORKLOAD,OPTION=VALUE,...`
fn definition(text: &str) -> Result<Scenario, Failure> {
    let fault = |what: String| Failure::input(anyhow!("--define {text}: {what}"));
    let mut parts = text.split(',');
    let head = parts.next().unwrap_or_default();
    let (id, workload) = head.split_once('=').ok_or_else(|| {
        fault("give ID=WORKLOAD, for example points=oltp_read_only,range_selects=off".to_owned())
    })?;
    let id = ScenarioId::new(id).map_err(|error| fault(error.to_string()))?;
    let workload =
        builtin(workload).ok_or_else(|| fault(format!("`{workload}` is no workload")))?;
    let mut options = WorkloadOptions::default();
    for part in parts {
        set(&mut options, part).map_err(fault)?;
    }
    Ok(Scenario { id, title: None, workload, options })
}

fn set(options: &mut WorkloadOptions, part: &str) -> Result<(), String> {
    let (name, value) = part.split_once('=').ok_or(format!("`{part}` is not OPTION=VALUE"))?;
    let switch = || match value {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => Err(format!("{name} is on or off")),
    };
    match (Flag::from_name(name), Number::from_name(name)) {
        (Some(flag), _) => *flag.of_mut(options) = switch()?,
        (None, Some(number)) => {
            let value = value.parse().map_err(|_| format!("`{value}` is not a whole number"))?;
            *number.of_mut(options) = value;
        }
        (None, None) => return Err(format!("`{name}` is no option")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sysbench::parse;

    fn published() -> Catalogue {
        Catalogue(baseline::about(Path::new("/nonexistent"), PUBLISHED).unwrap().scenarios)
    }

    fn block(read: u64, write: u64, other: u64) -> Block {
        let total = read + write + other;
        let text = format!(
            "SQL statistics:\n read: {}\n write: {}\n other: {}\n total: {}\n transactions: 100 \
             (9.00 per sec.)\n queries: {} (9.00 per sec.)\n",
            read * 100,
            write * 100,
            other * 100,
            total * 100,
            total * 100
        );
        parse(text.as_bytes()).pop().unwrap().block.unwrap()
    }

    #[test]
    fn the_published_five_are_known_by_their_mix() {
        let five = [(14, 0, 2), (10, 0, 2), (14, 4, 2), (10, 4, 2), (0, 4, 2)];
        let published = published();
        for (scenario, (read, write, other)) in published.0.iter().zip(five) {
            assert_eq!(published.sending(&block(read, write, other)), Some(scenario));
        }
        assert_eq!(published.sending(&block(3, 0, 0)), None);
        let wrong = contradiction(&published.0[0], &block(10, 4, 2)).unwrap();
        assert_eq!(wrong, "it reads and writes, and `read-only-range` only reads");
        let wrong = contradiction(&published.0[0], &block(10, 0, 2)).unwrap();
        assert_eq!(wrong, "12.0 queries an event, and `read-only-range` sends 16");
    }

    #[test]
    fn headings_of_both_languages_name_a_scenario() {
        let published = published();
        let id = |heading| published.under_heading(heading).map(|s| s.id.to_string());
        assert_eq!(id("Read-Only (range select)").as_deref(), Some("read-only-range"));
        assert_eq!(id("混合读写(point select)").as_deref(), Some("read-write-point"));
        assert_eq!(id("只写").as_deref(), Some("write-only"));
        assert_eq!(id("Write-Only – write-only").as_deref(), Some("write-only"));
        assert_eq!(id("Read-Only"), None);
    }

    #[test]
    fn a_command_line_names_the_scenario_with_these_options() {
        let line = "sysbench oltp_read_write --range_selects=off --threads=4 run";
        let invoked = Invoked::parse(line).unwrap();
        let published = published();
        assert_eq!(published.invoked(&invoked).unwrap().id.as_str(), "read-write-point");
        let other = Invoked::parse("sysbench oltp_read_only --point_selects=3 run").unwrap();
        assert_eq!(published.invoked(&other), None);
    }

    #[test]
    fn a_definition_is_checked_word_by_word() {
        let scenario = definition("p=oltp_read_only,range_selects=off,point_selects=50").unwrap();
        assert_eq!((scenario.options.point_selects, scenario.queries_per_event()), (50, 52));
        for bad in ["p", "P=oltp_insert", "p=oltp", "p=oltp_insert,x=1", "p=oltp_insert,skip_trx=2"]
        {
            assert_eq!(definition(bad).unwrap_err().exit_code, 2, "{bad}");
        }
    }
}
