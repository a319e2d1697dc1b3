//! A plan as people read it: a row per spec and per scenario, then what it takes.
//!
//! Must not know: how a plan came about. The cells themselves belong to JSON and CSV.

use std::collections::BTreeSet;

use super::estimate::{Estimate, Handles, LOAD_ROWS_PER_SECOND, LOAD_TABLE};
use crate::model::{
    Bytes, Dataset, Engine, Exclusion, Host, Ladder, Plan, PlannedSpec, Publish, Refresh, Scenario,
    counted,
};
use crate::stats::{SIGNIFICANCE, least_p, repeats_for_one_in};
use crate::ui::figures::{bytes, count, duration, rate};
use crate::ui::{Align, Table};

/// The width of a label such as `Connections`, for the second line of an entry.
const INDENT: &str = "             ";

/// The whole text. `managed_on` is the host that would run the servers, `refused` why a run would
/// not start, in its words.
pub(super) fn render(
    plan: &Plan,
    estimate: &Estimate,
    (managed_on, refused): (Option<&Host>, Option<&str>),
) -> String {
    let mut lines: Vec<String> = Vec::new();
    lines.extend(rehearsal(plan));
    lines.push(format!("{}: {}", plan.matrix.name, plan.matrix.title));
    lines.push(header(plan));
    lines.push(String::new());
    lines.push(cells(plan));
    lines.push(String::new());
    lines.push(specs(plan));
    lines.push(scenarios(plan));
    lines.push(protocol(plan));
    lines.extend(excluded(plan));
    lines.extend(skipped(plan, managed_on));
    lines.extend(refused.map(|words| format!("Refused      {}", words.replace('\n', "\n     "))));
    lines.extend(budgets(plan, estimate, managed_on));
    lines.join("\n") + "\n"
}

fn rehearsal(plan: &Plan) -> Option<String> {
    let factor = count(plan.rehearsal?.factor);
    Some(format!(
        "REHEARSAL: memory and rows divided by {factor}, trials cut short; no measurement of these \
         specs.\n"
    ))
}

fn header(plan: &Plan) -> String {
    let baseline = plan.matrix.baseline.as_deref().unwrap_or("none");
    format!("class {}, baseline {baseline}, layout {}", plan.class().name(), plan.matrix.template)
}

fn cells(plan: &Plan) -> String {
    let runnable = plan.runnable_cells().count();
    let all = plan.cells.len();
    let axes = format!(
        "{}, {}, {}",
        counted(plan.specs.len(), "spec"),
        counted(used_scenarios(plan).len(), "scenario"),
        levels(plan)
    );
    let here = match all - runnable {
        0 => String::new(),
        skipped => format!("; {} of them cannot run here", count(skipped as u64)),
    };
    format!("{} ({axes}), {}{here}", counted(all, "cell"), counted(plan.trials().len(), "trial"))
}

fn levels(plan: &Plan) -> String {
    match &plan.protocol.concurrency {
        Ladder::Levels(levels) => counted(levels.len(), "concurrency"),
        Ladder::Published => "the published concurrency of each".to_owned(),
    }
}

fn specs(plan: &Plan) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("spec", Left),
        ("cpu", Right),
        ("memory", Right),
        ("pool", Right),
        ("tables x rows", Right),
        ("data", Right),
        ("/memory", Right),
        ("/pool", Right),
        ("cells", Left),
    ]);
    for (index, spec) in plan.specs.iter().enumerate() {
        let cells = plan.cells.iter().filter(|cell| cell.spec == index).count();
        let data = spec.dataset.planned_bytes();
        table.row(vec![
            spec.spec.id.to_string(),
            count(u64::from(spec.cpus)),
            bytes(spec.memory),
            bytes(spec.buffer_pool),
            shape(&spec.dataset),
            bytes(data),
            ratio(data, spec.memory),
            ratio(data, spec.buffer_pool),
            cells_or_reason(spec, cells),
        ]);
    }
    table.render()
}

fn cells_or_reason(spec: &PlannedSpec, cells: usize) -> String {
    match &spec.skip {
        None => count(cells as u64),
        Some(skip) => format!("none: {}", skip.reason),
    }
}

fn shape(dataset: &Dataset) -> String {
    format!("{} x {}", count(u64::from(dataset.tables)), count(dataset.table_size))
}

fn ratio(data: Bytes, base: Bytes) -> String {
    match data.0 as f64 / base.0.max(1) as f64 {
        small if small < 0.005 => "<0.01".to_owned(),
        ratio => format!("{ratio:.2}"),
    }
}

fn scenarios(plan: &Plan) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("scenario", Left),
        ("workload", Left),
        ("options", Left),
        ("statements", Right),
        ("cells", Right),
        ("title", Left),
    ]);
    let mut used: Vec<usize> = used_scenarios(plan).into_iter().collect();
    used.sort_by_key(|index| plan.matrix.scenarios[*index].access());
    for index in used {
        let scenario = &plan.matrix.scenarios[index];
        let cells = plan.runnable_cells().filter(|cell| cell.scenario == index).count();
        table.row(vec![
            scenario.id.to_string(),
            scenario.workload.name().to_owned(),
            options(scenario),
            count(u64::from(scenario.queries_per_event())),
            count(cells as u64),
            scenario.title.clone().unwrap_or_default(),
        ]);
    }
    table.render()
}

fn used_scenarios(plan: &Plan) -> BTreeSet<usize> {
    plan.cells.iter().map(|cell| cell.scenario).collect()
}

/// Those options that differ from sysbench's defaults, as sysbench spells them.
fn options(scenario: &Scenario) -> String {
    let changed = scenario.options.changed();
    if changed.is_empty() { "-".to_owned() } else { changed.join(" ") }
}

fn protocol(plan: &Plan) -> String {
    let protocol = &plan.protocol;
    let concurrency = match &protocol.concurrency {
        Ladder::Published => "the one that the baseline prints for each cell".to_owned(),
        Ladder::Levels(levels) => {
            let levels: Vec<String> = levels.iter().map(u32::to_string).collect();
            levels.join(", ")
        }
    };
    let publish = match protocol.publish {
        Publish::Peak => "the peak is published",
        Publish::All => "every level is published",
    };
    let pace = protocol.open_loop.map_or_else(String::new, |open| {
        let arrivals = open.arrivals.name();
        format!("{INDENT}open loop, {} events/s, {arrivals} arrivals\n", rate(open.rate))
    });
    let engine = match protocol.engine {
        Engine::Native => String::new(),
        other => format!("{INDENT}engine {}\n", other.name()),
    };
    let longest = protocol.warmup_max.map_or_else(String::new, |longest| {
        format!(", or up to {} until the rate is level", duration(longest))
    });
    let until = protocol.until.map_or_else(String::new, |until| {
        let width = until.width_ppm as f64 / 1e4;
        format!(", then up to {} until the rate is known to {width} %", until.repeats_max)
    });
    let stop = protocol.stop_after_falling.map_or_else(String::new, |levels| {
        format!("; the ladder ends after {} below the best", counted(levels, "level"))
    });
    format!(
        "Protocol     {} measured after {} of warm-up{longest}, {}{until}\n\
         {INDENT}{} statements, {} keys, seed {}\n{pace}{engine}\
         Concurrency  {concurrency}; {publish}{stop}\n\
         Comparisons  {}",
        duration(protocol.duration),
        duration(protocol.warmup),
        counted(protocol.repeats, "repeat"),
        protocol.statements.name(),
        protocol.keys.name(),
        protocol.seed,
        power(plan)
    )
}

/// The fewest on each side that can show anything.
const LEAST_REPEATS: usize = 4;

/// Which differences so many repeats can show, before any is made.
fn power(plan: &Plan) -> String {
    let repeats = plan.protocol.repeats as usize / if plan.protocol.is_aa { 2 } else { 1 };
    let numbers = match plan.protocol.publish {
        Publish::Peak => {
            let pairs: BTreeSet<(usize, usize)> =
                plan.runnable_cells().map(|cell| (cell.spec, cell.scenario)).collect();
            pairs.len()
        }
        Publish::All => plan.runnable_cells().count(),
    };
    let one = repeats_for_one_in(numbers);
    let against_run = match repeats {
        enough if enough >= one => "a change of any one cell can be shown".to_owned(),
        some if least_p(some, some) <= SIGNIFICANCE => format!(
            "a change of all cells can be shown, of one alone among {numbers} only from {one} \
             repeats on"
        ),
        _ if one == LEAST_REPEATS => format!("no change can be shown: it takes {one} repeats"),
        _ => format!(
            "no change can be shown: it takes {LEAST_REPEATS} repeats, {one} for one cell alone"
        ),
    };
    let against_number = match repeats {
        0..=2 => "no interval below 3 repeats",
        _ => "by the interval of the repeats",
    };
    format!(
        "with another such run: {against_run}\n{INDENT}with a published number: {against_number}"
    )
}

/// A line for each exclusion that took cells.
fn excluded(plan: &Plan) -> Vec<String> {
    let mut groups: Vec<(&Exclusion, usize)> = Vec::new();
    for (_, exclusion) in &plan.excluded {
        match groups.iter_mut().find(|(known, _)| *known == exclusion) {
            Some((_, cells)) => *cells += 1,
            None => groups.push((exclusion, 1)),
        }
    }
    let line = |(exclusion, cells): (&Exclusion, usize)| {
        let reason = &exclusion.reason;
        format!("Excluded     {}, {}: {reason}", counted(cells, "cell"), what(exclusion))
    };
    groups.into_iter().map(line).collect()
}

fn what(exclusion: &Exclusion) -> String {
    let spec = exclusion.spec.as_ref().map(|spec| format!("spec {spec}"));
    let scenario = exclusion.scenario.as_ref().map(|scenario| format!("scenario {scenario}"));
    let concurrency = exclusion.concurrency.map(|level| format!("concurrency {level}"));
    let parts: Vec<String> = [spec, scenario, concurrency].into_iter().flatten().collect();
    parts.join(" and ")
}

fn skipped(plan: &Plan, managed_on: Option<&Host>) -> Option<String> {
    let specs = plan.specs.iter().filter(|spec| spec.skip.is_some()).count();
    let host = managed_on.filter(|_| specs > 0)?;
    Some(format!(
        "This host    {} and {} of memory: {} of {} cannot run here;\n\
         {INDENT}--targets names servers elsewhere, --rehearse tries the matrix on this one",
        counted(host.cpus, "CPU"),
        bytes(host.memory),
        count(specs as u64),
        counted(plan.specs.len(), "spec")
    ))
}

fn budgets(plan: &Plan, estimate: &Estimate, managed_on: Option<&Host>) -> Vec<String> {
    if plan.trials().is_empty() {
        return vec!["Time         nothing can run here".to_owned()];
    }
    let mut lines = vec![time(plan, estimate)];
    lines.extend(refreshes(plan, estimate));
    lines.extend([disk(estimate, managed_on), connections(estimate)]);
    lines.extend(estimate.handles.as_ref().map(statement_handles));
    lines
}

fn time(plan: &Plan, estimate: &Estimate) -> String {
    let is_open = plan.protocol.until.is_some() || plan.protocol.warmup_max.is_some();
    let about = if is_open { "at least" } else { "about" };
    format!(
        "Time         {about} {}: trials {}, loading {}, around them {}\n\
         {INDENT}loading, if not done yet: {} at {} a second, {} at {};\n\
         {INDENT}by LOAD DATA LOCAL where MySQL allows it, by prepared INSERT elsewhere",
        duration(estimate.total()),
        duration(estimate.measuring),
        duration(estimate.loading),
        duration(estimate.overhead),
        counted(estimate.rows, "row"),
        count(LOAD_ROWS_PER_SECOND),
        counted(estimate.tables, "table"),
        duration(LOAD_TABLE)
    )
}

/// How often data is made anew, where the matrix wants that.
fn refreshes(plan: &Plan, estimate: &Estimate) -> Option<String> {
    let before = match plan.matrix.refresh {
        Refresh::Never => return None,
        Refresh::Scenario => "scenario",
        Refresh::Cell => "trial",
    };
    let own = match estimate.own_refreshes {
        0 => String::new(),
        tables => format!(" and {tables} of an own table"),
    };
    Some(format!(
        "Refresh      {} of a dataset{own} before a {before} that would find it changed, in {}",
        counted(estimate.refreshes, "reload"),
        duration(estimate.refreshing)
    ))
}

fn disk(estimate: &Estimate, managed_on: Option<&Host>) -> String {
    let need = format!("{} for {}", bytes(estimate.disk), counted(estimate.datasets, "dataset"));
    match managed_on.map(|host| host.disk_free) {
        None => format!("Disk         {need}, on the servers"),
        Some(None) => format!("Disk         {need}; free space is not known"),
        Some(Some(free)) if free < estimate.disk => {
            format!("Disk         TOO LITTLE: {need}, {} free", bytes(free))
        }
        Some(Some(free)) => format!("Disk         {need}, {} free", bytes(free)),
    }
}

fn connections(estimate: &Estimate) -> String {
    let most = count(u64::from(estimate.connections));
    match &estimate.tightest {
        Some((spec, limit)) => {
            let verdict = if estimate.connections > *limit { "TOO MANY: " } else { "" };
            let limit = count(u64::from(*limit));
            format!("Connections  {verdict}{most} at most; max_connections is {limit} on {spec}")
        }
        None => format!("Connections  {most} at most"),
    }
}

fn statement_handles(handles: &Handles) -> String {
    let Handles { wanted, room, cell } = handles;
    let (room, is_too_many) = (count(*room), wanted > room);
    let wanted = counted(*wanted, "prepared statement");
    let outcome = match is_too_many {
        true => "so each connection holds its share, and prepares and closes in turn",
        false => "if the server's max_prepared_stmt_count allows as many",
    };
    let verdict = if is_too_many { "TOO MANY: " } else { "" };
    format!(
        "Handles      {verdict}{wanted} in {cell};\n\
         {INDENT}there is room for {room}, {outcome}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::{ExpandOptions, Source, expand, parse};

    fn text(rehearse: bool, overrides: &[&str], host: &Host) -> String {
        let bytes = include_bytes!("../../../matrices/large-dataset.toml");
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let matrix = parse(&Source { name: "m", bytes }, &overrides).unwrap();
        let options =
            ExpandOptions { rehearse, host: Some(host.clone()), ..ExpandOptions::default() };
        let plan = expand(matrix, &options).unwrap();
        render(&plan, &Estimate::of(&plan, Some(host)), (Some(host), None))
    }

    fn host(cpus: u32, gigabytes: u64) -> Host {
        Host {
            cpus,
            cpu_model: String::new(),
            memory: Bytes(gigabytes * Bytes::GB),
            governor: None,
            cpu_quota_milli: None,
            kernel: String::new(),
            disk_free: Some(Bytes(15 * Bytes::GB)),
        }
    }

    #[test]
    fn a_rehearsal_is_announced_in_the_first_line() {
        let text = text(true, &[], &host(2, 8));
        assert!(text.starts_with("REHEARSAL: memory and rows divided by 468"), "{text}");
        assert!(!text.contains("cannot run here"), "{text}");
    }

    #[test]
    fn reads_come_first_and_reloads_are_counted() {
        let text = text(true, &["dataset.refresh=cell"], &host(2, 8));
        let place = |id: &str| text.find(&format!("\n{id} ")).unwrap();
        assert!(place("read-only-point") < place("read-write-range"));
        assert!(place("read-write-point") < place("write-only"));
        // 14 specs: two levels of two mixed scenarios and one that only writes, less the first.
        assert!(
            text.contains("70 reloads of a dataset before a trial that would find it"),
            "{text}"
        );
    }

    #[test]
    fn what_this_host_cannot_hold_is_said_with_the_figures() {
        let text = text(false, &[], &host(2, 4));
        assert!(text.contains("none: needs 8 CPUs and 16 GB; this host has 2 and 4 GB"), "{text}");
        assert!(text.contains("13 of 14 specs cannot run here"), "{text}");
        assert!(text.contains("455 of them cannot run here"), "{text}");
        assert!(text.contains("TOO LITTLE: 20.4 GB for 1 dataset, 15 GB free"), "{text}");
    }

    #[test]
    fn a_host_that_can_hold_nothing_has_no_time_to_estimate() {
        assert!(text(false, &[], &host(1, 2)).contains("nothing can run here"));
    }

    #[test]
    fn too_many_connections_and_handles_are_flagged() {
        let overrides = ["protocol.statements=prepared", "protocol.concurrency=[2000]"];
        let text = text(false, &overrides, &host(2, 4));
        assert!(
            text.contains("TOO MANY: 2,000 at most; max_connections is 1,500 on 2c4g"),
            "{text}"
        );
        assert!(text.contains("TOO MANY: 1,804,000 prepared statements"), "{text}");
    }

    #[test]
    fn no_line_but_a_reason_is_wider_than_a_terminal() {
        for line in text(true, &[], &host(2, 8)).lines() {
            assert!(line.chars().count() <= 100, "{line}");
        }
    }
}
