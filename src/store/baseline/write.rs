//! A table kept under a name: its CSV file, and its place in the set's `about.toml`.
//!
//! Must not know: where the numbers are from. Nothing is written before both files have been
//! read back from memory as what was meant.

use std::path::{Path, PathBuf};

use crate::model::{
    Bytes, Flag, Number, ResultCell, ResultSet, ResultSource, Scenario, SpecId, WorkloadOptions,
};
use crate::store::disk;
use crate::store::error::{Fault, Faults, StoreError};

use super::{About, AboutTable, Place, about, sets, table};

/// Keeps published results as `OUT/baselines/SET/TABLE.csv`; `results.name` is `SET/TABLE`. The
/// set is made if there is none; a further table leaves what stands in its `about.toml` as it is.
/// `known` is what is known of how the table's numbers were made, a sentence or two each. Returns
/// the set's directory.
///
/// # Errors
/// [`StoreError::Baseline`]: what cannot be kept in this format, or that the name is taken and
/// `replace` was not asked for. Then nothing is changed.
pub fn write(
    out: &Path,
    results: &ResultSet,
    known: &[String],
    replace: bool,
) -> Result<PathBuf, StoreError> {
    let new = New::of(out, results, known)?;
    let kept = sets(out)?.into_iter().find(|set| set.name == new.set);
    let (about_text, is_in_place) = match kept {
        None => (new.whole_about(&[], None), false),
        Some(set) if set.place == Place::BuiltIn && !replace => {
            return Err(new.taken("the set is built in, and one on disk would hide all of it"));
        }
        Some(set) if set.place == Place::BuiltIn => (new.whole_about(&[], None), false),
        Some(set) => {
            let about = set.about()?;
            new.check_scenarios(&about)?;
            let is_taken = about.tables.iter().any(|table| table.name == new.table);
            match (is_taken, replace) {
                (true, false) => return Err(new.taken("there is such a table")),
                (true, true) => (new.replaced_about(&about), true),
                (false, _) => (set.text(about::FILE)? + &new.further_sections(&about), true),
            }
        }
    };
    let csv = new.csv()?;
    new.read_back(&about_text, &csv)?;
    let directory = new.directory.clone();
    if !is_in_place {
        std::fs::create_dir_all(&directory).map_err(StoreError::io("create", &directory))?;
    }
    // The table is there before its set names it.
    disk::replace(&directory.join(new.file()), csv.as_bytes())?;
    disk::replace(&directory.join(about::FILE), about_text.as_bytes())?;
    Ok(directory)
}

/// A table that is to be kept.
struct New<'a> {
    set: String,
    table: String,
    directory: PathBuf,
    results: &'a ResultSet,
    known: &'a [String],
    origin: &'a str,
    date: &'a str,
}

impl<'a> New<'a> {
    fn of(out: &Path, results: &'a ResultSet, known: &'a [String]) -> Result<Self, StoreError> {
        let fault = |message: &str| {
            Faults(vec![Fault { file: results.name.clone(), line: None, message: message.into() }])
        };
        let is_id = |name: &str| SpecId::new(name).is_ok();
        let parts = results.name.split_once('/').filter(|(set, table)| is_id(set) && is_id(table));
        let Some((set, table)) = parts else {
            let rule = "a name has the form SET/TABLE, each of a-z, 0-9, '-', '_' and '.'";
            return Err(fault(rule).into());
        };
        let ResultSource::Published { origin, date } = &results.source else {
            return Err(fault("only published numbers are kept as a baseline").into());
        };
        let directory = out.join("baselines").join(set);
        let (set, table) = (set.to_owned(), table.to_owned());
        Ok(Self { set, table, directory, results, known, origin, date })
    }

    fn fault(&self, message: String) -> StoreError {
        Faults(vec![Fault { file: self.results.name.clone(), line: None, message }]).into()
    }

    fn taken(&self, why: &str) -> StoreError {
        self.fault(format!("{why}; choose another name, or add --replace"))
    }

    fn file(&self) -> String {
        format!("{}.csv", self.table)
    }

    /// A scenario's id means one thing in a set.
    fn check_scenarios(&self, about: &About) -> Result<(), StoreError> {
        for scenario in &self.results.scenarios {
            let known = about.scenarios.iter().find(|known| known.id == scenario.id);
            let is_other = known.is_some_and(|known| {
                (&known.workload, known.options) != (&scenario.workload, scenario.options)
            });
            if is_other {
                let id = &scenario.id;
                let message =
                    format!("the set has another scenario `{id}`; give this one a new id");
                return Err(self.fault(message));
            }
        }
        Ok(())
    }

    /// The whole file: tables that stay, then this one.
    fn whole_about(&self, others: &[String], of: Option<&About>) -> String {
        let (title, origin, date) = match of {
            Some(about) => (&*about.title, &*about.origin, &*about.date),
            None => (&*self.results.title, self.origin, self.date),
        };
        let mut text = format!(
            "# Where these numbers are from, and what is known of how they were made.\n\n\
             format = 1\nname   = {}\ntitle  = {}\norigin = {}\ndate   = {}\n\n",
            quoted(&self.set),
            quoted(title),
            quoted(origin),
            quoted(date)
        );
        text += &of.map_or_else(String::new, |about| list("known", &about.known));
        text += &of.map_or_else(String::new, |about| list("unknown", &about.unknown));
        others.iter().for_each(|other| text += other);
        text += &self.table_section();
        let scenarios = of.map_or(&[][..], |about| &about.scenarios[..]);
        scenarios.iter().for_each(|scenario| text += &scenario_section(scenario));
        text + &self.missing_scenarios(scenarios)
    }

    /// What is added to the end of a set's file.
    fn further_sections(&self, about: &About) -> String {
        self.table_section() + &self.missing_scenarios(&about.scenarios)
    }

    /// The file anew, without the table of this name.
    fn replaced_about(&self, about: &About) -> String {
        let others = about.tables.iter().filter(|table| table.name != self.table);
        let others: Vec<String> = others.map(section_of_table).collect();
        self.whole_about(&others, Some(about))
    }

    fn table_section(&self) -> String {
        section_of_table(&AboutTable {
            name: self.table.clone(),
            file: self.file(),
            title: self.results.title.clone(),
            template: self.results.template.clone(),
            class: self.results.class,
            date: self.date.to_owned(),
            origin: self.origin.to_owned(),
            known: self.known.to_vec(),
        })
    }

    fn missing_scenarios(&self, known: &[Scenario]) -> String {
        let is_missing = |scenario: &&Scenario| !known.iter().any(|known| known.id == scenario.id);
        self.results.scenarios.iter().filter(is_missing).map(scenario_section).collect()
    }

    fn csv(&self) -> Result<String, StoreError> {
        let mut text = table::COLUMNS.join(",") + "\n";
        for cell in &self.results.cells {
            text += &self.row(cell).map_err(|message| self.fault(message))?;
        }
        Ok(text)
    }

    fn row(&self, cell: &ResultCell) -> Result<String, String> {
        let place = format!("{}/{}", cell.spec, cell.scenario);
        let spec = self.results.specs.iter().find(|spec| spec.id == cell.spec);
        let spec = spec.ok_or_else(|| format!("{place}: there is no such spec"))?;
        let gigabytes = spec.memory.0 / Bytes::GB;
        if format!("{}c{gigabytes}g", spec.cpu) != spec.id.as_str() {
            let form = "a baseline names specs by their size, such as 2c4g";
            return Err(format!("{place}: {form}"));
        }
        let (Some(concurrency), Some(qps)) = (cell.concurrency, cell.qps) else {
            return Err(format!("{place}: there is no number"));
        };
        let decimals = format!("{}.{:03}", qps.0 / 1_000, qps.0 % 1_000);
        let decimals = decimals.trim_end_matches('0').trim_end_matches('.');
        let (cpu, size, tables) = (spec.cpu, cell.table_size, cell.tables);
        Ok(format!(
            "{},{cpu},{gigabytes},{concurrency},{size},{tables},{decimals}\n",
            cell.scenario
        ))
    }

    /// What a reader will make of the two files: the same cells, or their faults.
    fn read_back(&self, about_text: &str, csv: &str) -> Result<(), StoreError> {
        let label = |file: &str| self.directory.join(file).display().to_string();
        let place = Place::Directory(self.directory.clone());
        let about = about::parse(&label(about::FILE), &self.set, about_text, place);
        let about = about.map_err(Faults)?;
        let table = about.tables.iter().find(|table| table.name == self.table);
        let table = table.expect("the table's section was just written");
        table::parse(&label(&self.file()), csv, &about, table).map_err(Faults)?;
        Ok(())
    }
}

fn section_of_table(table: &AboutTable) -> String {
    let values = [
        ("name", &*table.name),
        ("file", &*table.file),
        ("title", &*table.title),
        ("template", &*table.template),
        ("class", table.class.name()),
        ("date", &*table.date),
        ("origin", &*table.origin),
    ];
    let lines = values.map(|(key, value)| format!("{key:<8} = {}\n", quoted(value)));
    format!("\n[[table]]\n{}{}", lines.concat(), list("known", &table.known))
}

/// The options that the page names, and those that are not sysbench's defaults.
fn scenario_section(scenario: &Scenario) -> String {
    let (options, default) = (&scenario.options, WorkloadOptions::default());
    let mut text = format!("\n[[scenario]]\nid            = {}\n", quoted(scenario.id.as_str()));
    if let Some(title) = &scenario.title {
        text += &format!("title         = {}\n", quoted(title));
    }
    text += &format!("workload      = {}\n", quoted(scenario.workload.name()));
    for flag in Flag::ALL {
        text += &format!("{:<13} = {}\n", flag.name(), flag.of(options));
    }
    for number in Number::ALL {
        if number.of(options) != number.of(&default) {
            text += &format!("{} = {}\n", number.name(), number.of(options));
        }
    }
    text
}

fn list(key: &str, sentences: &[String]) -> String {
    if sentences.is_empty() {
        return String::new();
    }
    let lines: String = sentences.iter().map(|text| format!("    {},\n", quoted(text))).collect();
    format!("{key} = [\n{lines}]\n")
}

/// A text as a TOML string on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => quoted.extend(['\\', sign]),
            sign if sign.is_control() => quoted += &format!("\\u{:04X}", u32::from(sign)),
            sign => quoted.push(sign),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::store::baseline::{about, read};

    /// The published table under another name.
    fn published(name: &str) -> ResultSet {
        let nowhere = Path::new("/nonexistent");
        let results = read(nowhere, "tdsql-c-2025-12/full-cache").unwrap();
        ResultSet { name: name.to_owned(), ..results }
    }

    fn kept(out: &Path, results: &ResultSet, replace: bool) -> Result<PathBuf, String> {
        write(out, results, &[], replace).map_err(|error| {
            assert!(error.is_input());
            error.to_string()
        })
    }

    #[test]
    fn a_table_is_read_back_as_it_was_kept() {
        let out = tempfile::tempdir().unwrap();
        let results = published("mine/a");
        let directory = kept(out.path(), &results, false).unwrap();
        assert_eq!(read(out.path(), "mine/a").unwrap(), results);
        let built_in = include_bytes!("../../../results/baselines/tdsql-c-2025-12/full-cache.csv");
        assert_eq!(std::fs::read(directory.join("a.csv")).unwrap(), built_in);
    }

    #[test]
    fn a_further_table_leaves_the_set_as_it_is() {
        let out = tempfile::tempdir().unwrap();
        let directory = kept(out.path(), &published("mine/a"), false).unwrap();
        let path = directory.join("about.toml");
        let before = std::fs::read_to_string(&path).unwrap() + "# a note of the user's\n";
        std::fs::write(&path, &before).unwrap();
        let mut other = published("mine/b");
        let (origin, date) = ("a third party".to_owned(), "2026-02-03".to_owned());
        other.source = ResultSource::Published { origin, date };
        kept(out.path(), &other, false).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().starts_with(&before));
        assert_eq!(read(out.path(), "mine/a").unwrap(), published("mine/a"));
        assert_eq!(read(out.path(), "mine/b").unwrap(), other, "its origin is its own");
        assert_eq!(about(out.path(), "mine").unwrap().scenarios.len(), 5);
    }

    #[test]
    fn a_name_that_is_taken_is_kept_unless_it_is_to_be_replaced() {
        let out = tempfile::tempdir().unwrap();
        kept(out.path(), &published("mine/a"), false).unwrap();
        kept(out.path(), &published("mine/b"), false).unwrap();
        let mut less = published("mine/a");
        less.cells.truncate(1);
        less.specs.truncate(1);
        less.scenarios.truncate(1);
        less.title = "Less".to_owned();
        assert!(kept(out.path(), &less, false).unwrap_err().contains("add --replace"));
        assert_eq!(read(out.path(), "mine/a").unwrap(), published("mine/a"));
        kept(out.path(), &less, true).unwrap();
        assert_eq!(read(out.path(), "mine/a").unwrap(), less);
        assert_eq!(read(out.path(), "mine/b").unwrap(), published("mine/b"));
        let built_in = published("tdsql-c-2025-12/a");
        assert!(kept(out.path(), &built_in, false).unwrap_err().contains("is built in"));
    }

    #[test]
    fn what_the_format_cannot_hold_is_said_and_nothing_is_written() {
        let out = tempfile::tempdir().unwrap();
        for (name, part) in [("mine", "SET/TABLE"), ("a/../b", "SET/TABLE"), ("A/b", "SET/TABLE")] {
            assert!(kept(out.path(), &published(name), false).unwrap_err().contains(part));
        }
        let mut odd = published("mine/a");
        odd.specs[0].memory = Bytes(1_500_000_000);
        assert!(kept(out.path(), &odd, false).unwrap_err().contains("by their size"));
        let mut twice = published("mine/a");
        twice.cells.push(twice.cells[0].clone());
        assert!(kept(out.path(), &twice, false).unwrap_err().contains("stands in line 2 already"));
        let mut dateless = published("mine/a");
        let origin = "x".to_owned();
        dateless.source = ResultSource::Published { origin, date: "soon".to_owned() };
        assert!(kept(out.path(), &dateless, false).unwrap_err().contains("`soon` is not a date"));
        assert!(!out.path().join("baselines").exists());
    }

    #[test]
    fn a_scenario_of_that_id_means_the_same_in_the_whole_set() {
        let out = tempfile::tempdir().unwrap();
        kept(out.path(), &published("mine/a"), false).unwrap();
        let mut other = published("mine/b");
        other.scenarios[0].options.point_selects = 3;
        assert!(kept(out.path(), &other, false).unwrap_err().contains("another scenario"));
    }

    proptest! {
        #[test]
        fn any_texts_survive(title in ".{1,40}", origin in any::<String>(), known in ".{0,40}") {
            let out = tempfile::tempdir().unwrap();
            let mut results = published("mine/a");
            results.title = title;
            let date = "2026-01-02".to_owned();
            results.source = ResultSource::Published { origin, date };
            results.scenarios[0].title = Some(known.clone());
            let known = vec![known];
            write(out.path(), &results, &known, false).unwrap();
            prop_assert_eq!(read(out.path(), "mine/a").unwrap(), results);
            let mut tables = about(out.path(), "mine").unwrap().tables;
            prop_assert_eq!(tables.remove(0).known, known);
        }
    }
}
