//! Checks between two tables: the larger data against the cached.
//!
//! Must not know: whose tables they are.

use super::Finding;
use super::view::{Number, View, peaks};
use crate::model::{Access, DatasetClass, ResultSet, Scenario};

pub(super) const LARGER_FASTER: &str = "LARGER-FASTER";
pub(super) const LARGER_FASTER_SPEC: &str = "LARGER-FASTER-SPEC";

/// One spec and scenario in both tables.
#[derive(Clone, Copy)]
struct Pair<'a> {
    large: Number<'a>,
    ratio: f64,
}

impl Pair<'_> {
    fn is_faster(&self) -> bool {
        self.ratio > 1.0
    }
}

pub(super) fn check(view: &View<'_>, cached: &ResultSet) -> Vec<Finding> {
    let classes = (view.results.class, cached.class);
    let cached_view = View { results: cached, options: view.options };
    if classes != (DatasetClass::LargerThanMemory, DatasetClass::FullCache)
        || cached_view.is_rehearsal()
    {
        return Vec::new();
    }
    let theirs = peaks(cached);
    let pairs: Vec<Pair<'_>> =
        view.peaks().into_iter().filter_map(|large| pair(large, &theirs)).collect();
    let mut findings: Vec<Finding> = (view.results.scenarios.iter())
        .filter_map(|scenario| larger_faster(scenario, &pairs, &cached.name))
        .collect();
    let of_specs = view.results.specs.iter().filter_map(|spec| {
        let of_spec: Vec<Pair<'_>> =
            pairs.iter().filter(|pair| pair.large.spec.id == spec.id).copied().collect();
        larger_faster_spec(&of_spec, &cached.name)
    });
    findings.extend(of_specs);
    findings
}

/// The same spec and scenario in the cached table, on fewer rows.
fn pair<'a>(large: Number<'a>, cached: &[Number<'_>]) -> Option<Pair<'a>> {
    let same = |number: &&Number<'_>| {
        number.spec == large.spec
            && number.scenario.id == large.scenario.id
            && number.scenario.workload == large.scenario.workload
            && number.scenario.options == large.scenario.options
            && number.rows() < large.rows()
    };
    let cached = cached.iter().find(same)?;
    Some(Pair { large, ratio: large.qps.per_second() / cached.qps.per_second() })
}

fn larger_faster(scenario: &Scenario, pairs: &[Pair<'_>], cached: &str) -> Option<Finding> {
    let of_scenario: Vec<&Pair<'_>> =
        pairs.iter().filter(|pair| pair.large.scenario.id == scenario.id).collect();
    let faster: Vec<&&Pair<'_>> = of_scenario.iter().filter(|pair| pair.is_faster()).collect();
    if faster.is_empty() {
        return None;
    }
    let logarithms: f64 = of_scenario.iter().map(|pair| pair.ratio.ln()).sum();
    let mean = (logarithms / of_scenario.len() as f64).exp();
    let each: Vec<String> =
        faster.iter().map(|pair| format!("{} {:.3}", pair.large.spec.id, pair.ratio)).collect();
    let arithmetic = format!(
        "QPS above that in {cached} in {} of {} specs, geometric mean of all ratios {mean:.3}: {}",
        faster.len(),
        of_scenario.len(),
        each.join(", ")
    );
    let sentence = "A server is printed faster on the larger data. A read from disk costs time; \
                    that rows are spread wider saves some, where writers wait for each other. \
                    Nothing printed tells these apart from other differences between the tables \
                    or from scatter, so their ratio is not the price of reading from disk.";
    Some(Finding {
        code: LARGER_FASTER,
        cells: faster.iter().map(|pair| pair.large.reference()).collect(),
        arithmetic,
        sentence: sentence.to_owned(),
    })
}

/// A spec that is faster on the larger data wherever both tables have it, and not only where it
/// writes.
fn larger_faster_spec(pairs: &[Pair<'_>], cached: &str) -> Option<Finding> {
    let reads = pairs.iter().any(|pair| pair.large.scenario.access() == Access::ReadOnly);
    if pairs.len() < 2 || !reads || !pairs.iter().all(Pair::is_faster) {
        return None;
    }
    let each: Vec<String> =
        pairs.iter().map(|pair| format!("{} {:.3}", pair.large.scenario.id, pair.ratio)).collect();
    let arithmetic = format!(
        "QPS above that in {cached} in {} of {} scenarios: {}",
        pairs.len(),
        pairs.len(),
        each.join(", ")
    );
    let sentence = "The spec is faster on the larger data in every scenario, those that only read \
                    among them, where nobody waits for a row. More data alone does not do that: \
                    something else differed between the two tables' servers of this spec.";
    Some(Finding {
        code: LARGER_FASTER_SPEC,
        cells: pairs.iter().map(|pair| pair.large.reference()).collect(),
        arithmetic,
        sentence: sentence.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use crate::audit::audit;
    use crate::audit::testing::{clean, codes, options, set};
    use crate::model::DatasetClass;

    #[test]
    fn a_faster_large_table_is_found_once_a_scenario_and_once_a_spec() {
        let cached = clean("s/cached", DatasetClass::FullCache);
        let mut large = clean("s/large", DatasetClass::LargerThanMemory);
        set(&mut large, "2c4g", "write-only", 20_000_000);
        set(&mut large, "4c8g", "write-only", 40_000_000);
        let beside = std::slice::from_ref(&cached);
        let findings = audit(&large, beside, &options());
        assert_eq!(codes(&findings), ["LARGER-FASTER"]);
        assert_eq!(findings[0].cells.len(), 2);
        assert!(findings[0].arithmetic.contains("in 2 of 2 specs"), "{findings:?}");
        assert_eq!(codes(&audit(&cached, std::slice::from_ref(&large), &options())), [""; 0]);

        for scenario in
            ["read-only-range", "read-only-point", "read-write-range", "read-write-point"]
        {
            let cell = cached
                .cells
                .iter()
                .find(|c| c.spec.as_str() == "4c8g" && c.scenario.as_str() == scenario);
            let qps = cell.and_then(|cell| cell.qps).unwrap().0;
            set(&mut large, "4c8g", scenario, qps + 1_000);
        }
        let found = codes(&audit(&large, beside, &options())).join(" ");
        let each = "LARGER-FASTER ".repeat(5);
        assert_eq!(found, format!("{each}LARGER-FASTER-SPEC"));
    }

    #[test]
    fn tables_on_equal_data_or_of_other_specs_do_not_meet() {
        let cached = clean("s/cached", DatasetClass::FullCache);
        let mut large = clean("s/large", DatasetClass::LargerThanMemory);
        set(&mut large, "4c8g", "write-only", 60_000_000);
        let mut same = cached.clone();
        for (cell, of_large) in same.cells.iter_mut().zip(&large.cells) {
            (cell.tables, cell.table_size) = (of_large.tables, of_large.table_size);
        }
        assert_eq!(codes(&audit(&large, &[same], &options())), [""; 0]);
        let mut other = cached;
        other.specs.iter_mut().for_each(|spec| spec.cpu += 1);
        assert_eq!(codes(&audit(&large, &[other], &options())), [""; 0]);
    }
}
