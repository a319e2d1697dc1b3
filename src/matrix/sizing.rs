//! `[dataset]`: the rules that give each spec its dataset; the first that matches decides.
//!
//! Must not know: scenarios, or how a cell is measured.

use super::axes::Axis;
use super::limits::{CPU, MAX_ROWS, MAX_RULES, TABLE_SIZE, TABLES};
use super::value::ratio_millionths;
use crate::model::{Bytes, Dataset, DatasetClass, ROW_BYTES, Refresh, Spec, counted};
use crate::written::{
    Fault, Located, Place, Section, charset, integer, integer_u32, named, size, size_text,
};

/// The section as read.
pub(super) struct DatasetDraft {
    pub(super) class: Option<DatasetClass>,
    pub(super) refresh: Refresh,
    charset: String,
    rules: Vec<Rule>,
    /// False where a rule could not be read: then no spec can be said to be without one.
    complete: bool,
    place: Place,
}

/// Which specs a rule is for, and what they get.
struct Rule {
    /// Absent: any number of cores.
    max_cpu: Option<u32>,
    /// Absent: any memory.
    max_memory: Option<Bytes>,
    table_size: u64,
    tables: Tables,
    place: Place,
}

enum Tables {
    Given(u32),
    /// As many as make the data this many millionths of the base, rounded up.
    Derived {
        ratio_millionths: u64,
        base: Base,
    },
}

#[derive(Clone, Copy)]
enum Base {
    Memory,
    BufferPool,
}

const CLASSES: &[DatasetClass] = &[DatasetClass::FullCache, DatasetClass::LargerThanMemory];

/// Reads the section; faults of single rules and of their order are reported here.
pub(super) fn read(mut section: Section<'_>) -> DatasetDraft {
    let class = section.required("class", "\"full-cache\"", named(CLASSES, DatasetClass::name));
    let charset = section.optional("charset", charset);
    let refresh = section.optional("refresh", named(Refresh::ALL, Refresh::name));
    let sections = section.sections("rule", MAX_RULES);
    let mut complete = sections.complete;
    if sections.items.is_empty() && complete {
        section.missing("rule", "add a section [[dataset.rule]] with table_size and tables");
        complete = false;
    }
    let mut rules: Vec<Rule> = Vec::new();
    for item in sections.items {
        match rule(item) {
            Some(rule) => {
                report_unreachable(&section, &rules, &rule);
                rules.push(rule);
            }
            None => complete = false,
        }
    }
    let place = section.place;
    section.finish();
    DatasetDraft {
        class: class.map(|class| class.value),
        refresh: refresh.map_or_else(Refresh::default, |refresh| refresh.value),
        charset: charset.map_or_else(|| "utf8mb4".to_owned(), |charset| charset.value),
        rules,
        complete,
        place,
    }
}

/// Gives each spec its dataset; a spec without one is reported and left out.
pub(super) fn apply(
    root: &Section<'_>,
    draft: &DatasetDraft,
    specs: &Axis<Spec>,
    seed: u64,
) -> Vec<(Spec, Dataset)> {
    let mut sized = Vec::new();
    for spec in &specs.items {
        let Some(rule) = draft.rules.iter().find(|rule| rule.matches(&spec.value)) else {
            if draft.complete {
                root.fault(no_rule(draft, spec));
            }
            continue;
        };
        match dataset(draft, rule, spec, seed) {
            Ok(dataset) => sized.push((spec.value.clone(), dataset)),
            Err(fault) => root.fault(fault),
        }
    }
    sized
}

impl Rule {
    fn matches(&self, spec: &Spec) -> bool {
        self.max_cpu.is_none_or(|max| spec.cpu <= max)
            && self.max_memory.is_none_or(|max| spec.memory <= max)
    }

    /// Whether every spec that `other` is for is one that this rule is for. Both conditions are
    /// upper bounds, so several rules cover another only if one of them does alone.
    fn covers(&self, other: &Self) -> bool {
        let cpu = self.max_cpu.is_none_or(|max| other.max_cpu.is_some_and(|cpu| cpu <= max));
        let memory =
            self.max_memory.is_none_or(|max| other.max_memory.is_some_and(|memory| memory <= max));
        cpu && memory
    }
}

fn rule(mut section: Section<'_>) -> Option<Rule> {
    let condition = condition(&mut section);
    let table_size = section.required("table_size", "25_000", integer(TABLE_SIZE));
    let tables = tables(&mut section);
    let place = section.place;
    let too_large = match (table_size, &tables) {
        (Some(size), Some(Tables::Given(tables))) => too_many_rows(*tables, size.value, place),
        _ => None,
    };
    let is_sane = too_large.is_none();
    too_large.into_iter().for_each(|fault| section.fault(fault));
    section.finish();
    let (max_cpu, max_memory) = condition?;
    let rule = Rule { max_cpu, max_memory, table_size: table_size?.value, tables: tables?, place };
    is_sane.then_some(rule)
}

/// Upper bounds of a rule, both absent where it has no `when`; `None` where one is faulty.
fn condition(section: &mut Section<'_>) -> Option<(Option<u32>, Option<Bytes>)> {
    if !section.has("when") {
        section.optional_section("when");
        return Some((None, None));
    }
    let mut when = section.optional_section("when")?;
    let max_cpu = when.optional("max_cpu", integer_u32(CPU));
    let max_memory = when.optional("max_memory", size(1..=u64::MAX));
    report_empty_condition(&when);
    let is_read =
        when.has("max_cpu") == max_cpu.is_some() && when.has("max_memory") == max_memory.is_some();
    when.finish();
    is_read.then_some((max_cpu.map(|cpu| cpu.value), max_memory.map(|memory| memory.value)))
}

fn report_empty_condition(when: &Section<'_>) {
    if !when.has("max_cpu") && !when.has("max_memory") {
        when.fault(
            Fault::new("rule", "a condition that says nothing")
                .at(when.place, "neither max_cpu nor max_memory")
                .help("leave `when` out for a rule that always holds"),
        );
    }
}

fn tables(section: &mut Section<'_>) -> Option<Tables> {
    let tables = section.optional("tables", integer_u32(TABLES));
    let ratio = section.optional("ratio", ratio_millionths);
    let bases: &[(&str, Base)] = &[("memory", Base::Memory), ("buffer_pool", Base::BufferPool)];
    let base = section.optional("of", named(bases, |base| base.0));
    let (has_tables, has_ratio) = (section.has("tables"), section.has("ratio"));
    let fault = |message: &str, help: &str| {
        let place = section.place;
        section.fault(Fault::new("rule", message).at(place, "in this rule").help(help));
    };
    match (has_tables, has_ratio) {
        (true, true) => {
            fault("a rule with both `tables` and `ratio`", "keep one: `ratio` derives `tables`");
            None
        }
        (false, false) => {
            let help = "add `tables = 250`, or `ratio = 2.0` with `of = \"memory\"`";
            fault("a rule without `tables`", help);
            None
        }
        (true, false) if section.has("of") => {
            fault("`of` without `ratio`", "`of` says of what `ratio` is a multiple");
            None
        }
        (true, false) => tables.map(|tables| Tables::Given(tables.value)),
        (false, true) if !section.has("of") => {
            fault("`ratio` without `of`", "add `of = \"memory\"` or `of = \"buffer_pool\"`");
            None
        }
        (false, true) => {
            Some(Tables::Derived { ratio_millionths: ratio?.value, base: base?.value.1 })
        }
    }
}

fn report_unreachable(section: &Section<'_>, earlier: &[Rule], rule: &Rule) {
    let Some(cover) = earlier.iter().find(|earlier| earlier.covers(rule)) else { return };
    let unconditional = cover.max_cpu.is_none() && cover.max_memory.is_none();
    let identical = cover.max_cpu == rule.max_cpu && cover.max_memory == rule.max_memory;
    let label = match (unconditional, identical) {
        (true, _) => "this rule has no condition and takes every spec",
        (_, true) => "this rule has the same condition",
        _ => "this rule takes every spec that it is for",
    };
    section.fault(
        Fault::new("unreachable", "a sizing rule that no spec can reach")
            .at(rule.place, "never decides")
            .at(cover.place, label)
            .help("the first rule that matches decides: order them from narrow to wide"),
    );
}

fn no_rule(draft: &DatasetDraft, spec: &Located<Spec>) -> Fault {
    let message = format!("no sizing rule matches spec `{}`", spec.value.id);
    Fault::new("no-rule", message)
        .at(spec.place, "has no dataset")
        .at(draft.place, "none of these rules")
        .help("end the rules with one that has no `when`")
}

fn dataset(
    draft: &DatasetDraft,
    rule: &Rule,
    spec: &Located<Spec>,
    seed: u64,
) -> Result<Dataset, Fault> {
    let tables = match rule.tables {
        Tables::Given(tables) => tables,
        Tables::Derived { ratio_millionths, base } => {
            derived_tables(rule, &spec.value, ratio_millionths, base)
                .ok_or_else(|| too_many_tables(rule, spec))?
        }
    };
    let dataset =
        Dataset { tables, table_size: rule.table_size, charset: draft.charset.clone(), seed };
    if let Some(fault) = too_many_rows(tables, rule.table_size, rule.place) {
        return Err(fault);
    }
    let pool = spec.value.buffer_pool();
    if draft.class == Some(DatasetClass::FullCache) && dataset.planned_bytes() > pool {
        return Err(not_cached(&dataset, rule, spec));
    }
    Ok(dataset)
}

fn too_many_rows(tables: u32, table_size: u64, place: Place) -> Option<Fault> {
    let tables = u64::from(tables);
    if tables.saturating_mul(table_size) <= MAX_ROWS {
        return None;
    }
    let message =
        format!("a dataset of {} x {}", counted(tables, "table"), counted(table_size, "row"));
    let label = format!("more than {} in all", counted(MAX_ROWS, "row"));
    let fault = Fault::new("limit", message).at(place, label);
    Some(fault.help("lower table_size or tables"))
}

/// As many tables as make the planned bytes reach the ratio; `None` where that is too many.
fn derived_tables(rule: &Rule, spec: &Spec, ratio_millionths: u64, base: Base) -> Option<u32> {
    let base = match base {
        Base::Memory => spec.memory,
        Base::BufferPool => spec.buffer_pool(),
    };
    let wanted = u128::from(base.0) * u128::from(ratio_millionths);
    let table = u128::from(rule.table_size) * u128::from(ROW_BYTES) * 1_000_000;
    let tables = u64::try_from(wanted.div_ceil(table).max(1)).ok()?;
    if TABLES.contains(&tables) { u32::try_from(tables).ok() } else { None }
}

fn too_many_tables(rule: &Rule, spec: &Located<Spec>) -> Fault {
    let message = format!("spec `{}` would need too many tables", spec.value.id);
    Fault::new("limit", message)
        .at(rule.place, format!("more than {} by this ratio", counted(*TABLES.end(), "table")))
        .at(spec.place, "for this spec")
        .help("raise table_size or lower ratio")
}

fn not_cached(dataset: &Dataset, rule: &Rule, spec: &Located<Spec>) -> Fault {
    let data = size_text(dataset.planned_bytes().0);
    let pool = size_text(spec.value.buffer_pool().0);
    let message = format!(
        "class `full-cache`, but spec `{}` has {data} of data and a buffer pool of {pool}",
        spec.value.id
    );
    Fault::new("not-cached", message)
        .at(rule.place, format!("{data} at {ROW_BYTES} bytes a row"))
        .at(spec.place, format!("{pool} of buffer pool: min(memory - 500 MB, 3/4 memory)"))
        .help("make the dataset smaller, or the class \"larger-than-memory\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SpecId;

    fn rule(max_cpu: Option<u32>, max_memory_gb: Option<u64>) -> Rule {
        let max_memory = max_memory_gb.map(|gigabytes| Bytes(gigabytes * Bytes::GB));
        let place = Place { source: 0, start: 0, end: 0 };
        Rule { max_cpu, max_memory, table_size: 1_000, tables: Tables::Given(1), place }
    }

    #[test]
    fn a_rule_covers_what_both_its_bounds_cover() {
        assert!(rule(None, None).covers(&rule(Some(16), Some(8))));
        assert!(rule(None, Some(8)).covers(&rule(None, Some(8))));
        assert!(rule(Some(16), Some(8)).covers(&rule(Some(8), Some(8))));
        assert!(!rule(Some(16), None).covers(&rule(None, Some(144))));
        assert!(!rule(None, Some(8)).covers(&rule(None, Some(32))));
    }

    #[test]
    fn derived_tables_are_rounded_up_and_exact() {
        let spec = |gigabytes| Spec {
            id: SpecId::new("s").unwrap(),
            cpu: 1,
            memory: Bytes(gigabytes * Bytes::GB),
        };
        // 245,000 bytes a table: 8 GB / 245 kB = 32653.06.
        assert_eq!(
            derived_tables(&rule(None, None), &spec(4), 2_000_000, Base::Memory),
            Some(32_654)
        );
        // 3 GB / 245 kB = 12244.9.
        let pool = derived_tables(&rule(None, None), &spec(4), 1_000_000, Base::BufferPool);
        assert_eq!(pool, Some(12_245));
        assert_eq!(
            derived_tables(&rule(None, None), &spec(90_000), 1_000_000_000, Base::Memory),
            None
        );
    }
}
