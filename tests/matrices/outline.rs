//! A plan as compact text, for snapshots.
//!
//! Must not know: where a plan came from.

use std::fmt::Write as _;

use gridbench::model::{Plan, PlannedSpec};

/// Everything that a plan decides, compactly.
pub(crate) fn outline(plan: &Plan) -> String {
    let matrix = &plan.matrix;
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{} | {} | {:?} | {}",
        matrix.name, matrix.title, matrix.baseline, matrix.template
    );
    let _ = writeln!(text, "{:?}", plan.protocol);
    let _ = writeln!(text, "{} | rehearsal {:?}", plan.class().name(), plan.rehearsal);
    for spec in &plan.specs {
        let _ = writeln!(text, "{}", spec_line(spec));
    }
    for scenario in &matrix.scenarios {
        let workload = scenario.workload.name();
        let _ = writeln!(text, "{} | {:?} | {workload}", scenario.id, scenario.title);
        let _ = writeln!(text, "  {:?}", scenario.options);
        if !scenario.workload.is_built_in {
            let _ = writeln!(text, "{:#?}", scenario.workload);
        }
    }
    let _ = writeln!(text, "refresh {}", matrix.refresh.name());
    let _ = writeln!(text, "{} cells, {} trials", plan.cells.len(), plan.trials().len());
    for cell in plan.cells.iter().take(30) {
        let _ = writeln!(text, "  {}", cell.id);
    }
    for (id, exclusion) in &plan.excluded {
        let _ = writeln!(text, "  not {id}: {}", exclusion.reason);
    }
    text
}

fn spec_line(spec: &PlannedSpec) -> String {
    let d = &spec.dataset;
    let skip = spec.skip.as_ref().map_or("", |skip| skip.reason.as_str());
    format!(
        "{} | {} cpus | memory {} pool {} | {} x {} {} seed {} = {} | published {} x {} | {skip}",
        spec.spec.id,
        spec.cpus,
        spec.memory.0,
        spec.buffer_pool.0,
        d.tables,
        d.table_size,
        d.charset,
        d.seed,
        d.planned_bytes().0,
        spec.published_dataset.tables,
        spec.published_dataset.table_size,
    )
}
