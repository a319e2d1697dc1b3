//! Checks of one number at a time: Little's law, the network, statements per event.
//!
//! Must not know: other cells.

use super::Finding;
use super::payload::{C_ROW_BYTES, rows_per_event};
use super::view::{Number, View};
use crate::ui::figures;

pub(super) const LITTLE: &str = "LITTLE";
pub(super) const BANDWIDTH: &str = "BANDWIDTH";
pub(super) const RATIO: &str = "RATIO";

/// A share by which QPS / TPS may differ from the workload's own number.
const RATIO_SLACK: f64 = 0.001;
/// A rate as printed is right to half of its last digit, at worst the second decimal.
const PRINTED_SLACK: f64 = 0.005;

pub(super) fn check(view: &View<'_>) -> Vec<Finding> {
    let numbers = view.numbers();
    let mut findings = Vec::new();
    // Where no network stands between, neither of its figures holds.
    if !view.is_shared_machine() {
        findings.extend(numbers.iter().filter_map(|number| little(view, *number)));
        findings.extend(numbers.iter().filter_map(|number| bandwidth(view, *number)));
    }
    findings.extend(numbers.iter().filter_map(|number| ratio(*number)));
    findings
}

fn little(view: &View<'_>, number: Number<'_>) -> Option<Finding> {
    let concurrency = number.cell.concurrency?;
    let floor_us = view.options.round_trip_us;
    // concurrency / QPS in microseconds, QPS in thousandths: both sides times QPS.
    let (busy, least) =
        (u128::from(concurrency) * 1_000_000_000, u128::from(floor_us) * u128::from(number.qps.0));
    if busy >= least {
        return None;
    }
    let mean_us = f64::from(concurrency) / number.qps.per_second() * 1e6;
    let arithmetic = format!(
        "{concurrency} / {} QPS = {mean_us:.1} us a statement, below {floor_us} us",
        figures::rate(number.qps)
    );
    Some(number.finding(
        LITTLE,
        arithmetic,
        "A connection has one statement under way, so connections / QPS is the mean time of a \
         statement (Little's law). It is shorter than a round trip is stated to take: the printed \
         concurrency is not the total of all clients, or the round trip is shorter than stated.",
    ))
}

fn bandwidth(view: &View<'_>, number: Number<'_>) -> Option<Finding> {
    let rows = rows_per_event(number.scenario, number.cell.table_size);
    let bits = number.events_per_second() * rows * (C_ROW_BYTES * 8) as f64;
    if bits <= view.options.bandwidth_bits as f64 {
        return None;
    }
    let arithmetic = format!(
        "{} QPS / {} x {rows:.1} rows x {C_ROW_BYTES} bytes x 8 = {}, above {}",
        figures::rate(number.qps),
        number.scenario.queries_per_event(),
        figures::bit_rate(bits as u64),
        figures::bit_rate(view.options.bandwidth_bits)
    );
    Some(number.finding(
        BANDWIDTH,
        arithmetic,
        "The rows of column c that such events read, without headers and anything else, are more \
         than a client's network is stated to carry: several clients shared the load, or the \
         network carries more than stated, or less was read.",
    ))
}

fn ratio(number: Number<'_>) -> Option<Finding> {
    let (qps, tps) = (number.qps.per_second(), number.cell.tps?.per_second());
    let per_event = f64::from(number.scenario.queries_per_event());
    let expected = tps * per_event;
    let slack = RATIO_SLACK * expected + PRINTED_SLACK * (per_event + 1.0);
    if (qps - expected).abs() <= slack {
        return None;
    }
    let statements = match tps > 0.0 {
        true => format!("{:.3} statements an event", qps / tps),
        false => "no event at all".to_owned(),
    };
    let arithmetic = format!(
        "{} QPS / {} TPS = {statements}, and the scenario's has {}",
        figures::rate(number.qps),
        number.cell.tps.map(figures::rate).unwrap_or_default(),
        number.scenario.queries_per_event()
    );
    Some(number.finding(
        RATIO,
        arithmetic,
        "QPS / TPS is the number of statements of an event, which the scenario fixes: one of both \
         counts something else (retries, failed events), or the scenario is another one.",
    ))
}

#[cfg(test)]
mod tests {
    use crate::audit::audit;
    use crate::audit::testing::{clean, codes, options, set};
    use crate::model::{DatasetClass, MilliRate, ResultSource};

    #[test]
    fn a_statement_shorter_than_a_round_trip_is_found_and_one_as_long_is_not() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        // 64 connections at 640,000 QPS: 100 us.
        set(&mut results, "4c8g", "write-only", 640_000_000);
        set(&mut results, "2c4g", "write-only", 600_000_000);
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
        set(&mut results, "4c8g", "write-only", 640_001_000);
        let findings = audit(&results, &[], &options());
        assert_eq!(codes(&findings), ["LITTLE"]);
        assert_eq!(findings[0].cells[0].to_string(), "s/cached 4c8g write-only at 64");
    }

    #[test]
    fn a_shared_machine_has_no_network_to_be_too_slow_for() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        for cell in &mut results.cells {
            cell.qps = cell.qps.map(|qps| MilliRate(qps.0 * 1_000));
        }
        let found = codes(&audit(&results, &[], &options()));
        assert!(found.contains(&"LITTLE") && found.contains(&"BANDWIDTH"), "{found:?}");
        results.source = ResultSource::Measured {
            run: "r".into(),
            date: "2026-01-02".into(),
            servers: Vec::new(),
            shared_machine: true,
            tool_version: "0".into(),
            engine: "native".into(),
            rehearsal: None,
        };
        assert_eq!(codes(&audit(&results, &[], &options())), [""; 0]);
    }

    #[test]
    fn statements_per_event_are_held_to_a_thousandth_and_to_the_printed_digits() {
        let mut results = clean("s/cached", DatasetClass::FullCache);
        let qps = results.cells[0].qps.unwrap().0;
        for (tps, found) in [
            (Some(qps / 16), false),
            (Some(qps / 16 * 1_002 / 1_000), true),
            (Some(qps / 16 * 998 / 1_000), true),
            (Some(0), true),
            (None, false),
        ] {
            results.cells[0].tps = tps.map(MilliRate);
            let expected: &[&str] = if found { &["RATIO"] } else { &[] };
            assert_eq!(codes(&audit(&results, &[], &options())), expected, "{tps:?}");
        }
    }
}
