//! A matrix file becomes a validated matrix, and a matrix becomes a plan. Both are pure.
//!
//! Must not know: files, servers, or how a plan is shown. The format is FORMAT.md's; what is
//! left out of a file has these defaults: `template` "tdsql-c-en", `warmup` "10s", `repeats` 1,
//! `publish` "peak", `statements` "text", `keys` "uniform", `seed` 1, no `rate` (closed loop),
//! `arrivals` "poisson" where there is one, `charset` "utf8mb4", a spec's `id` its size
//! ("2c4g"), and a workload's options those of sysbench.

mod axes;
mod expand;
mod limits;
mod percent;
mod protocol;
mod rehearsal;
mod selection;
mod sizing;
mod value;
mod workload_values;
mod workloads;

use axes::Axis;
use limits::MAX_CELLS;
use protocol::ProtocolDraft;
use value::baseline;

pub use crate::written::{Diagnostics, Source};
pub use expand::{ExpandError, ExpandOptions, expand};
pub use limits::MAX_FILE_BYTES;

use crate::model::{Ladder, Matrix, Scenario, Spec, counted, grouped};
use crate::written::{Fault, Faults, Section, Table, id, integer, sources, text};

/// What such a file is called in the codes of its faults.
const KIND: &str = "matrix";
/// The format that this version reads.
const FORMAT: u64 = 1;
const DEFAULT_TEMPLATE: &str = "tdsql-c-en";

/// Parses and validates a matrix. Each override is a `KEY=VALUE` as typed after `--set`: a
/// dotted key and a TOML value (a bare text counts as a string); it is merged before anything
/// is checked.
///
/// # Errors
/// Every fault of the file and of the overrides, with its place.
pub fn parse(source: &Source<'_>, overrides: &[String]) -> Result<Matrix, Diagnostics> {
    let text = source.text(KIND, MAX_FILE_BYTES)?;
    let sources = sources(source.name, text, overrides);
    let faults = Faults::default();
    let table = document_of(text, overrides, &faults);
    // What follows from a half-read document would be noise.
    let matrix = if faults.is_empty() { read(&table, &faults) } else { None };
    match matrix {
        Some(matrix) if faults.is_empty() => Ok(matrix),
        _ => Err(Diagnostics::new(KIND, sources, faults.into_vec())),
    }
}

fn document_of(text: &str, overrides: &[String], faults: &Faults) -> Table {
    let mut table = Table::parse(text, faults);
    if faults.is_empty() && table.entries.is_empty() {
        let fault = Fault::new("empty", "the matrix declares nothing")
            .help("start from a copy of matrices/quickstart.toml");
        faults.push(fault);
        return table;
    }
    for (index, text) in overrides.iter().enumerate() {
        if let Err(fault) = table.set(index + 1, text) {
            faults.push(fault);
        }
    }
    table
}

/// Reads the whole document; what is missing in the result has been reported.
fn read(table: &Table, faults: &Faults) -> Option<Matrix> {
    let mut root = Section::root(table, faults);
    if !is_known_format(&mut root) {
        return None;
    }
    let name = root.required("name", "\"full-cache\"", id);
    let title = root.required("title", "\"Full-cache test\"", text);
    let baseline = root.optional("baseline", baseline);
    let template = root.optional("template", text);
    let protocol = root.section("protocol").and_then(protocol::read);
    let dataset = root.section("dataset").map(sizing::read);
    let specs = axes::specs(&mut root);
    let workloads = workloads::read(&mut root);
    let scenarios = axes::scenarios(&mut root, &workloads);
    let exclusions = axes::exclusions(&mut root);
    let ladder = protocol.as_ref().map(|protocol| &protocol.protocol.concurrency);
    let exclusions = axes::check_exclusions(&root, exclusions, (&specs, &scenarios), ladder);
    let seed = protocol.as_ref().map_or(0, |protocol| protocol.protocol.seed);
    let sized = dataset.as_ref().map(|draft| sizing::apply(&root, draft, &specs, seed));
    if let Some(protocol) = &protocol {
        check_published(&root, protocol);
        check_cells(&root, protocol, &specs, &scenarios);
    }
    root.finish();
    Some(Matrix {
        name: name?.value,
        title: title?.value,
        baseline: baseline.map(|baseline| baseline.value),
        template: template.map_or_else(|| DEFAULT_TEMPLATE.to_owned(), |name| name.value),
        protocol: protocol?.protocol,
        class: dataset.as_ref()?.class?,
        refresh: dataset?.refresh,
        specs: sized?,
        scenarios: scenarios.items.into_iter().map(|scenario| scenario.value).collect(),
        exclusions,
    })
}

/// A file of another format is not held against the keys of this one.
fn is_known_format(root: &mut Section<'_>) -> bool {
    let Some(format) = root.required("format", "1", integer(0..=u64::MAX)) else {
        return !root.has("format");
    };
    if format.value == FORMAT {
        return true;
    }
    root.fault(
        Fault::new("format", format!("a matrix of format {}", format.value))
            .at(format.place, format!("this version reads format {FORMAT}"))
            .help(format!("write `format = {FORMAT}`, or use the version that wrote this file")),
    );
    false
}

/// "published" takes the baseline's concurrencies: there must be a baseline.
fn check_published(root: &Section<'_>, protocol: &ProtocolDraft) {
    if protocol.concurrency.value == Ladder::Published && !root.has("baseline") {
        root.fault(
            Fault::new("ladder", "concurrency \"published\" without a baseline")
                .at(protocol.concurrency.place, "published where?")
                .help("add a line such as `baseline = \"tdsql-c-2025-12/full-cache\"`"),
        );
    }
}

fn check_cells(
    root: &Section<'_>,
    protocol: &ProtocolDraft,
    specs: &Axis<Spec>,
    scenarios: &Axis<Scenario>,
) {
    let levels = match &protocol.protocol.concurrency {
        Ladder::Levels(levels) => levels.len(),
        Ladder::Published => 1,
    };
    let cells = specs.items.len() * scenarios.items.len() * levels;
    if cells > MAX_CELLS {
        let limit = grouped(MAX_CELLS as u64);
        let message = format!("a matrix of {}", counted(cells, "cell"));
        root.fault(
            Fault::new("limit", message)
                .at(protocol.concurrency.place, format!("with {}", counted(levels, "level")))
                .help(format!("specs x scenarios x levels may be {limit} at most")),
        );
    }
}
