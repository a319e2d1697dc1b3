//! Baselines as people read them: the list, a set, a table.
//!
//! Must not know: how a baseline is stored.

use std::path::Path;

use crate::model::{Access, ResultCell, ResultSet, Scenario, Spec, counted};
use crate::store::StoreError;
use crate::store::baseline::{self, BaselineEntry, Place};
use crate::ui::{Align, Table, figures, paragraph};

/// Every table of every set, a line each.
pub(super) fn list(out: &Path) -> Result<String, StoreError> {
    Ok(entries_table(&baseline::list(out)?))
}

/// A set with its tables, or one table with its numbers.
pub(super) fn show(out: &Path, name: &str) -> Result<String, StoreError> {
    let Some((set, _)) = name.split_once('/') else {
        return show_set(out, name);
    };
    let results = baseline::read(out, name)?;
    let about = baseline::about(out, set)?;
    let table = about.tables.iter().find(|table| name.ends_with(&format!("/{}", table.name)));
    let table = table.expect("the table was read a moment ago");
    let mut text = format!("{}: {}\n\n", results.name, results.title);
    text += &facts((&table.origin, &table.date), &about.place);
    text += &sentences("Known of these numbers", &table.known);
    for scenario in &results.scenarios {
        text += &format!("\n{}: {}\n", scenario.id, options(scenario));
        text += &scenario_table(&results, scenario);
    }
    text += &format!("\nWhat is known of the method: gridbench baseline show {set}\n");
    Ok(text)
}

fn show_set(out: &Path, name: &str) -> Result<String, StoreError> {
    let about = baseline::about(out, name)?;
    let mut entries = baseline::list(out)?;
    entries.retain(|entry| entry.name.split('/').next() == Some(name));
    let mut text = format!("{}: {}\n\n", about.name, about.title);
    text += &facts((&about.origin, &about.date), &about.place);
    text += &sentences("Known of the method", &about.known);
    for table in &about.tables {
        text += &sentences(&format!("Known of {name}/{}", table.name), &table.known);
    }
    text += &sentences("Not known", &about.unknown);
    text += "\nTables\n";
    text += &set_table(&entries);
    Ok(text)
}

fn facts((origin, date): (&str, &str), kept: &Place) -> String {
    wrapped("origin  ", origin) + &format!("date    {date}\nkept    {}\n", place(kept))
}

fn sentences(heading: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let items = sentences.iter().map(|sentence| wrapped("  - ", sentence));
    format!("\n{heading}\n{}", items.collect::<String>())
}

/// A paragraph behind a label, its further lines indented to match.
fn wrapped(label: &str, text: &str) -> String {
    paragraph(label, &" ".repeat(label.len()), text)
}

fn entries_table(entries: &[BaselineEntry]) -> String {
    let columns = [
        ("BASELINE", Align::Left),
        ("CELLS", Align::Right),
        ("DATE", Align::Left),
        ("KEPT", Align::Left),
        ("ORIGIN", Align::Left),
    ];
    let mut table = Table::new(&columns);
    for entry in entries {
        table.row(vec![
            entry.name.clone(),
            entry.cells.to_string(),
            entry.date.clone(),
            place(&entry.place),
            shortened(&entry.origin),
        ]);
    }
    table.render()
}

fn set_table(entries: &[BaselineEntry]) -> String {
    let columns = [("BASELINE", Align::Left), ("CELLS", Align::Right), ("TITLE", Align::Left)];
    let mut table = Table::new(&columns);
    for entry in entries {
        table.row(vec![entry.name.clone(), entry.cells.to_string(), entry.title.clone()]);
    }
    table.render()
}

fn scenario_table(results: &ResultSet, scenario: &Scenario) -> String {
    let columns = [
        ("SPEC", Align::Left),
        ("CPU", Align::Right),
        ("MEMORY", Align::Right),
        ("CONCURRENCY", Align::Right),
        ("TABLE_SIZE", Align::Right),
        ("TABLES", Align::Right),
        ("QPS", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for cell in results.cells.iter().filter(|cell| cell.scenario == scenario.id) {
        table.row(cell_row(results, cell));
    }
    table.render()
}

fn cell_row(results: &ResultSet, cell: &ResultCell) -> Vec<String> {
    let spec = results.specs.iter().find(|spec| spec.id == cell.spec);
    let of_spec = |text: fn(&Spec) -> String| spec.map(text).unwrap_or_default();
    vec![
        cell.spec.to_string(),
        of_spec(|spec| spec.cpu.to_string()),
        of_spec(|spec| figures::bytes(spec.memory)),
        cell.concurrency.map(|at| at.to_string()).unwrap_or_default(),
        figures::count(cell.table_size),
        cell.tables.to_string(),
        cell.qps.map(figures::aligned_rate).unwrap_or_default(),
    ]
}

/// `oltp_read_only, range_selects=on, skip_trx=off; 16 queries an event`.
fn options(scenario: &Scenario) -> String {
    let switch = |on| if on { "on" } else { "off" };
    let ranges = match scenario.access() {
        Access::WriteOnly => String::new(),
        _ => format!(", range_selects={}", switch(scenario.options.range_selects)),
    };
    format!(
        "{}{ranges}, skip_trx={}; {} an event",
        scenario.workload.name(),
        switch(scenario.options.skip_trx),
        counted(scenario.queries_per_event(), "query"),
    )
}

fn place(place: &Place) -> String {
    match place {
        Place::BuiltIn => "built in".to_owned(),
        Place::Directory(path) => path.display().to_string(),
    }
}

/// The start of a text, for the last column of a list.
fn shortened(text: &str) -> String {
    const WIDTH: usize = 60;
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let mut start: String = text.chars().take(WIDTH - 1).collect();
    start.truncate(start.trim_end_matches([' ', ',', ':']).len());
    start + "…"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::Failure;

    const NOWHERE: &str = "/nonexistent";

    #[test]
    fn the_list_has_a_line_for_each_table() {
        let text = list(Path::new(NOWHERE)).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[1].starts_with("tdsql-c-2025-12/full-cache        70  2025-12-10  built in"));
        assert!(lines.iter().all(|line| line.chars().count() <= 120), "{text}");
    }

    #[test]
    fn a_table_is_shown_with_every_number_as_it_was_printed() {
        let text = show(Path::new(NOWHERE), "tdsql-c-2025-12/full-cache").unwrap();
        assert!(
            text.contains("read-only-range: oltp_read_only, range_selects=on, skip_trx=off; 16")
        );
        assert!(text.contains("write-only: oltp_write_only, skip_trx=off; 6 queries an event"));
        let row = "2c4g       2    4 GB           64      25,000     250   44613.74\n";
        assert!(text.contains(row), "{text}");
        assert!(text.contains("250  485157\n") && text.contains("250  309436.4\n"), "{text}");
        assert_eq!(text.matches("88c710g").count(), 5);
    }

    #[test]
    fn a_set_is_shown_with_what_is_known_and_what_is_not() {
        let text = show(Path::new(NOWHERE), "tdsql-c-2025-12").unwrap();
        for part in ["\nKnown of the method\n  - ", "\nNot known\n  - ", "\nTables\nBASELINE"] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= 96), "{text}");
    }

    #[test]
    fn an_unknown_name_is_the_inputs_fault_and_answered_with_the_nearest() {
        for (name, meant) in
            [("tdsql-c", "tdsql-c-2025-12/full-cache"), ("tdsql-c-2025-12/ful", "")]
        {
            let failure = Failure::from(show(Path::new(NOWHERE), name).unwrap_err());
            assert_eq!(failure.exit_code, 2);
            assert!(failure.to_string().contains(&format!("did you mean `{meant}")), "{failure}");
        }
    }
}
