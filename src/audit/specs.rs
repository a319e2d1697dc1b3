//! Checks between the numbers of one table: larger specs, data against memory, what a scenario
//! does more than another.
//!
//! Must not know: other tables.

use super::view::{Number, View};
use super::{CellReference, Finding, KnownServer};
use crate::model::{
    Access, Bytes, DatasetClass, ROW_BYTES, ReadType, Scenario, Spec, WorkloadOptions,
};
use crate::ui::figures;

pub(super) const ORDER: &str = "SPEC-ORDER";
pub(super) const CLASS: &str = "CLASS";
pub(super) const REFUSED: &str = "REFUSED";
pub(super) const RANGE_ABOVE_POINT: &str = "RANGE-ABOVE-POINT";

/// A larger spec may be slower by this share: repeats scatter, and a second socket costs.
const ORDER_SLACK: f64 = 0.10;

/// What a row was measured to weigh, at the least and at the most, bytes: [`ROW_BYTES`] is the
/// planned figure between them.
const ROW_BYTES_MEASURED: (u64, u64) = (238, 250);

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let peaks = view.peaks();
    let mut findings: Vec<Finding> =
        peaks.iter().filter_map(|number| order(*number, &peaks)).collect();
    findings.extend(class(view, &view.numbers()));
    findings.extend(refused(view));
    findings.extend(peaks.iter().filter_map(|number| range_above_point(*number, &peaks)));
    findings
}

/// Cells that were measured and have no number, because the server's counters say that they are
/// not of the table's class.
fn refused(view: &View<'_>) -> impl Iterator<Item = Finding> {
    let results = view.results;
    let cells = results.cells.iter().filter(|cell| cell.is_refused(results.class));
    cells.map(|cell| Finding {
        code: REFUSED,
        cells: vec![CellReference {
            table: results.name.clone(),
            spec: cell.spec.clone(),
            scenario: cell.scenario.clone(),
            concurrency: cell.concurrency,
        }],
        arithmetic: cell.note.clone().unwrap_or_default(),
        sentence: "By what the server read from disk in the measured window, the cell is not of \
                   the class that its table claims: it has no number."
            .to_owned(),
    })
}

/// A larger spec that is slower than the fastest smaller one, on no more rows.
fn order(number: Number<'_>, peaks: &[Number<'_>]) -> Option<Finding> {
    let smaller = peaks.iter().filter(|other| {
        other.scenario.id == number.scenario.id
            && is_larger(number.spec, other.spec)
            && number.rows() <= other.rows()
    });
    let best = smaller.max_by(|a, b| a.qps.cmp(&b.qps).then(b.spec.id.cmp(&a.spec.id)))?;
    let ratio = number.qps.per_second() / best.qps.per_second();
    if ratio >= 1.0 - ORDER_SLACK {
        return None;
    }
    let arithmetic = format!(
        "{} QPS / {} QPS of {} = {ratio:.3}, below {:.2}",
        figures::rate(number.qps),
        figures::rate(best.qps),
        best.spec.id,
        1.0 - ORDER_SLACK
    );
    let words = "A spec with at least the cores and the memory, more of one of them and no more \
                 rows, is slower than a smaller one by more than 10 %.";
    let mut finding = number.finding(ORDER, arithmetic, words);
    finding.cells.push(best.reference());
    Some(finding)
}

fn is_larger(spec: &Spec, than: &Spec) -> bool {
    spec.cpu >= than.cpu
        && spec.memory >= than.memory
        && (spec.cpu, spec.memory) != (than.cpu, than.memory)
}

/// A finding for each spec and dataset whose size is not what the table's class says.
fn class(view: &View<'_>, numbers: &[Number<'_>]) -> Vec<Finding> {
    let with_data = numbers.iter().filter(|number| number.scenario.workload.uses_dataset());
    let mut groups: Vec<Vec<Number<'_>>> = Vec::new();
    for number in with_data {
        let same = |group: &&mut Vec<Number<'_>>| {
            group.first().is_some_and(|first| {
                first.spec.id == number.spec.id
                    && first.cell.tables == number.cell.tables
                    && first.cell.table_size == number.cell.table_size
            })
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.push(*number),
            None => groups.push(vec![*number]),
        }
    }
    groups.iter().filter_map(|group| class_of(view, group)).collect()
}

fn class_of(view: &View<'_>, group: &[Number<'_>]) -> Option<Finding> {
    let first = group.first()?;
    let known = view.options.servers.get(&first.spec.id).copied().unwrap_or_default();
    let size = DataSize::of(*first, known);
    let memory = first.spec.memory;
    let pool = known.buffer_pool.unwrap_or_else(|| first.spec.buffer_pool());
    let share = |of: Bytes| format!("{:.2}", size.planned.0 as f64 / of.0.max(1) as f64);
    let shares = format!(
        "{} = {}: {} of the memory ({}), {} of the buffer pool ({})",
        size.words,
        figures::bytes(size.planned),
        share(memory),
        figures::bytes(memory),
        share(pool),
        figures::bytes(pool)
    );
    let words = match view.results.class {
        DatasetClass::LargerThanMemory if size.most < memory => {
            "The table is of the class larger-than-memory, and this data is smaller than the \
             spec's memory."
        }
        DatasetClass::FullCache if size.least > pool => {
            "The table is of the class full-cache, and this data is larger than the buffer pool."
        }
        _ => return None,
    };
    let mut finding = first.finding(CLASS, shares, words);
    finding.cells = group.iter().map(Number::reference).collect();
    Some(finding)
}

/// Bytes of a dataset: as planned, and between what bounds.
struct DataSize {
    planned: Bytes,
    least: Bytes,
    most: Bytes,
    words: String,
}

impl DataSize {
    fn of(number: Number<'_>, known: KnownServer) -> Self {
        if let Some(measured) = known.data {
            let words = "data as the server counts it".to_owned();
            return Self { planned: measured, least: measured, most: measured, words };
        }
        let bytes = |of_row: u64| Bytes(number.rows().saturating_mul(of_row));
        let (least, most) = ROW_BYTES_MEASURED;
        Self {
            planned: bytes(ROW_BYTES),
            least: bytes(least),
            most: bytes(most),
            words: format!(
                "tables x rows x bytes: {} x {} x {ROW_BYTES}",
                number.cell.tables,
                figures::count(number.cell.table_size)
            ),
        }
    }
}

/// A scenario with range reads that is faster than the same one without them, though its events
/// do all that the other's do and more.
fn range_above_point(range: Number<'_>, peaks: &[Number<'_>]) -> Option<Finding> {
    let point = peaks.iter().find(|point| {
        point.spec.id == range.spec.id && is_same_with_ranges(point.scenario, range.scenario)
    })?;
    let events = (range.events_per_second(), point.events_per_second());
    // Of reads alone, a range read takes at least as long as the lookups and the BEGIN and COMMIT
    // beside it. Where an event writes, its commit may outweigh all of its reads, and only the
    // rate of events tells.
    let reads_only = range.scenario.access() == Access::ReadOnly;
    let (unit, found) = match reads_only {
        true => ("QPS", range.qps > point.qps),
        false => ("events/s", events.0 > events.1),
    };
    if !found {
        return None;
    }
    let (more, less) = match reads_only {
        true => (figures::rate(range.qps), figures::rate(point.qps)),
        false => (format!("{:.2}", events.0), format!("{:.2}", events.1)),
    };
    let arithmetic =
        format!("{more} {unit}, above the {less} {unit} of {} there", point.scenario.id);
    let words = "An event with range reads sends all that one without them sends, and reads whole \
                 ranges besides. More of the dearer in a second than of the cheaper: the two are \
                 not the peaks of one server in one state.";
    let mut finding = range.finding(RANGE_ABOVE_POINT, arithmetic, words);
    finding.cells.push(point.reference());
    Some(finding)
}

/// Whether both are one built-in workload of transactions, with ranges and without.
fn is_same_with_ranges(point: &Scenario, range: &Scenario) -> bool {
    let without = WorkloadOptions { range_selects: false, ..range.options };
    range.workload == point.workload
        && range.workload.is_script_of_transactions()
        && range.read_type() == Some(ReadType::RangeSelect)
        && point.read_type() == Some(ReadType::PointSelect)
        && point.options == without
}

#[cfg(test)]
mod tests {
    use crate::audit::testing::{clean, codes, options, set};
    use crate::audit::{KnownServer, audit};
    use crate::model::{Bytes, DatasetClass, SpecId};

    #[test]
    fn a_larger_spec_may_be_a_tenth_slower_and_not_more() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        set(&mut results, "2c4g", "write-only", 20_000_000);
        set(&mut results, "4c8g", "write-only", 18_000_000);
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
        set(&mut results, "4c8g", "write-only", 17_999_000);
        let findings = audit(&results, &[], &options());
        assert_eq!(codes(&findings), ["SPEC-ORDER"]);
        assert_eq!(findings[0].cells.len(), 2);
        // On more rows it may be.
        for cell in results.cells.iter_mut().filter(|cell| cell.spec.as_str() == "4c8g") {
            cell.tables += 1;
        }
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
    }

    #[test]
    fn data_of_a_cached_table_fits_the_pool_as_measured_where_that_is_known() {
        let results = clean("s/cached", DatasetClass::FullCache);
        let mut options = options();
        let id = SpecId::new("2c4g").unwrap();
        let server =
            |data, pool| KnownServer { data: Some(Bytes(data)), buffer_pool: Some(Bytes(pool)) };
        options.servers.insert(id.clone(), server(1_000, 1_000));
        assert_eq!(codes(&audit(&results, &[], &options)), [""; 0]);
        options.servers.insert(id, server(1_001, 1_000));
        let findings = audit(&results, &[], &options);
        assert_eq!(codes(&findings), ["CLASS"]);
        assert_eq!(findings[0].cells.len(), 5);
    }

    #[test]
    fn data_near_the_limit_is_not_found_for_a_row_has_no_exact_weight() {
        let mut results = clean("s/large", DatasetClass::LargerThanMemory);
        let rows = |results: &mut crate::model::ResultSet, table_size| {
            for cell in results.cells.iter_mut().filter(|cell| cell.spec.as_str() == "2c4g") {
                (cell.tables, cell.table_size) = (1, table_size);
            }
        };
        // 4 GB are 16.33 million rows of 245 bytes, and 16 million of 250.
        rows(&mut results, 16_000_000);
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
        rows(&mut results, 15_990_000);
        let findings = audit(&results, &[], &options());
        assert_eq!(codes(&findings), ["CLASS"]);
        assert!(findings[0].arithmetic.contains("0.98 of the memory"), "{findings:?}");
    }

    #[test]
    fn of_mixed_scenarios_events_are_compared_and_of_reads_statements() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        // 20 statements an event against 16: more QPS is not more events.
        set(&mut results, "2c4g", "read-write-point", 8_000_000);
        set(&mut results, "2c4g", "read-write-range", 10_000_000);
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
        set(&mut results, "2c4g", "read-write-range", 10_010_000);
        assert_eq!(codes(&audit(&results, &[], &options())), ["RANGE-ABOVE-POINT"]);

        let mut results = clean("s/cached", DatasetClass::FullCache);
        set(&mut results, "2c4g", "read-only-point", 8_000_000);
        set(&mut results, "2c4g", "read-only-range", 8_001_000);
        assert_eq!(codes(&audit(&results, &[], &options())), ["RANGE-ABOVE-POINT"]);
    }
}
