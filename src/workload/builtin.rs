//! sysbench's scripts as workloads: statement tables in TOML, embedded.
//!
//! Must not know: which of them a matrix uses.

use std::sync::{Arc, LazyLock};

use crate::model::Workload;

use super::form::WorkloadForm;

macro_rules! files {
    ($($name:literal),+) => { [$(include_str!(concat!("builtin/", $name, ".toml"))),+] };
}

/// In the order in which help texts list them.
const FILES: [&str; 10] = files!(
    "oltp_read_only",
    "oltp_read_write",
    "oltp_write_only",
    "oltp_point_select",
    "oltp_update_index",
    "oltp_update_non_index",
    "oltp_delete",
    "oltp_insert",
    "select_random_points",
    "select_random_ranges"
);

static ALL: LazyLock<Vec<Arc<Workload>>> =
    LazyLock::new(|| FILES.iter().map(|text| Arc::new(parse(text))).collect());

/// All built-in workloads, in the order in which help texts list them.
pub fn builtins() -> &'static [Arc<Workload>] {
    &ALL
}

/// The built-in workload of sysbench's name, if there is one.
pub fn builtin(name: &str) -> Option<Arc<Workload>> {
    ALL.iter().find(|workload| workload.name == name).cloned()
}

fn parse(text: &str) -> Workload {
    let form: WorkloadForm = toml::from_str(text).expect("an embedded file is valid TOML");
    form.read(true).expect("an embedded workload is valid")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Access, Number, ReadType, WorkloadOptions};

    #[test]
    fn every_script_of_sysbench_is_found_by_its_name() {
        assert_eq!(builtins().len(), 10);
        for workload in builtins() {
            assert_eq!(builtin(&workload.name).as_ref(), Some(workload));
            assert!(workload.is_built_in && workload.uses_dataset());
        }
        assert_eq!(builtin("oltp"), None);
    }

    #[test]
    fn every_workload_is_written_as_it_was_read() {
        for workload in builtins() {
            let text = serde_json::to_string(&WorkloadForm::from(&**workload)).unwrap();
            let form: WorkloadForm = serde_json::from_str(&text).unwrap();
            assert_eq!(form.read(true).as_ref(), Ok(&**workload));
        }
    }

    #[test]
    fn the_five_published_scenarios_send_16_12_20_16_and_6_statements() {
        let published = [
            ("oltp_read_only", true, 16),
            ("oltp_read_only", false, 12),
            ("oltp_read_write", true, 20),
            ("oltp_read_write", false, 16),
            ("oltp_write_only", true, 6),
        ];
        for (name, range_selects, with_transaction) in published {
            let workload = builtin(name).unwrap();
            let queries = |skip_trx| {
                let options = WorkloadOptions { range_selects, skip_trx, ..Default::default() };
                workload.queries_per_event(&options)
            };
            assert_eq!((queries(false), queries(true)), (with_transaction, with_transaction - 2));
        }
    }

    #[test]
    fn access_and_read_type_follow_from_the_statements() {
        use Access::{ReadOnly, ReadWrite, WriteOnly};
        use ReadType::{PointSelect, RangeSelect};
        let expected = [
            (ReadOnly, Some(RangeSelect), Some(PointSelect)),
            (ReadWrite, Some(RangeSelect), Some(PointSelect)),
            (WriteOnly, None, None),
            (ReadOnly, Some(PointSelect), Some(PointSelect)),
            (WriteOnly, None, None),
            (WriteOnly, None, None),
            (WriteOnly, None, None),
            (WriteOnly, None, None),
            (ReadOnly, Some(PointSelect), Some(PointSelect)),
            (ReadOnly, Some(RangeSelect), Some(RangeSelect)),
        ];
        for (workload, expected) in builtins().iter().zip(expected) {
            let read_type = |range_selects| {
                workload.read_type(&WorkloadOptions { range_selects, ..Default::default() })
            };
            let found = (workload.access(), read_type(true), read_type(false));
            assert_eq!(found, expected, "{}", workload.name);
        }
    }

    #[test]
    fn a_workload_knows_which_options_change_it() {
        let used = |name| -> Vec<&str> {
            let workload = builtin(name).unwrap();
            Number::ALL.iter().filter(|of| workload.uses(**of)).map(|of| of.name()).collect()
        };
        assert_eq!(used("oltp_read_write").len(), 9);
        assert_eq!(used("oltp_write_only").len(), 3);
        assert_eq!(used("oltp_point_select"), [""; 0]);
        assert_eq!(used("select_random_points"), ["random_points"]);
        assert_eq!(used("select_random_ranges"), ["number_of_ranges", "delta"]);
    }

    #[test]
    fn mixed_range_over_250_tables_holds_2252_handles_per_connection() {
        let handles = |name, range_selects| {
            let options = WorkloadOptions { range_selects, ..Default::default() };
            builtin(name).unwrap().handles(&options, 250)
        };
        assert_eq!(handles("oltp_read_write", true), 2_252);
        assert_eq!(handles("oltp_read_only", false), 252);
        assert_eq!(handles("oltp_write_only", true), 1_002);
        assert_eq!(handles("oltp_point_select", true), 250);
        assert_eq!(handles("select_random_points", true), 1);
        assert_eq!(handles("oltp_insert", true), 0);
    }
}
