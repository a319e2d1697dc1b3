//! For tests: any rows that their types allow.
//!
//! Must not know: what a row means.

use proptest::option;
use proptest::prelude::*;

use super::rows::{CellRow, ErrorRow, IntervalRow, StatementRow, Status};

fn any_latency() -> impl Strategy<Value = [Option<u64>; 6]> {
    prop::array::uniform6(option::of(any::<u64>()))
}

prop_compose! {
    /// Any row that the types allow.
    pub(super) fn any_cell_row()(
        numbers in prop::array::uniform13(option::of(any::<u64>())),
        latency in any_latency(),
        service in any_latency(),
        client in any_latency(),
        flags in prop::array::uniform2(option::of(any::<bool>())),
        small in prop::array::uniform6(any::<u32>()),
        big in prop::array::uniform4(any::<u64>()),
        signed in prop::array::uniform2(option::of(any::<i64>())),
        texts in prop::array::uniform4(any::<String>()),
        status in 0..3_usize,
    ) -> CellRow {
        let [spec, scenario, reason, _] = texts;
        // Names are ids and times: they have no line breaks, unlike what a server says.
        let plain = |text: String| text.replace(['\n', '\r'], " ");
        CellRow {
            trial: big[0], spec: plain(spec), scenario: plain(scenario), concurrency: small[0],
            repetition: small[1], cpu: small[2], memory_bytes: big[1],
            status: [Status::Done, Status::Failed, Status::Interrupted][status],
            reason, started_utc: "2025-12-10T16:18:35.007Z".into(), tables: small[3],
            table_size: big[2], published_tables: small[4], published_table_size: big[3],
            measured_us: numbers[0], events: numbers[1], queries: numbers[2],
            queries_read: numbers[3], queries_write: numbers[4], queries_other: numbers[5],
            queries_retried: numbers[6], errors: numbers[7], reconnects: numbers[8],
            events_unfinished: numbers[9], oldest_unfinished_us: numbers[10],
            qps_milli: numbers[11], tps_milli: numbers[12], latency_min_us: latency[0],
            latency_mean_us: latency[1], latency_p50_us: latency[2], latency_p95_us: latency[3],
            latency_p99_us: latency[4], latency_max_us: latency[5], service_min_us: service[0],
            service_mean_us: service[1], service_p50_us: service[2], service_p95_us: service[3],
            service_p99_us: service[4], service_max_us: service[5], events_due: client[0],
            events_dropped: client[1], rate_met: flags[0], client_cpu_us: client[2],
            client_cpu_max_us: client[3], client_run_delay_us: client[4],
            timer_lateness_p99_us: client[5], timer_lateness_max_us: latency[0],
            client_ceiling_qps_milli: service[0], client_bound: flags[1], load_threads: small[5],
            steady: flags[0], level_halves_ppm: signed[0], level_slope_ppm: signed[1],
            qps_lowest_second_milli: client[0], qps_p5_second_milli: client[1],
            warmup_us: client[2], warmup_level: flags[1],
        }
    }
}

prop_compose! {
    /// Any row that the types allow.
    pub(super) fn any_interval_row()(
        big in prop::array::uniform6(any::<u64>()),
        small in prop::array::uniform2(any::<u32>()),
        maybe in prop::array::uniform3(option::of(any::<u64>())),
        spec in "[a-z0-9,\" ]{0,9}",
    ) -> IntervalRow {
        IntervalRow {
            trial: big[0], scenario: spec.clone(), spec, concurrency: small[0],
            repetition: small[1], elapsed_us: big[1], length_us: big[2], events: big[3],
            queries: big[4], errors: big[5], qps_milli: maybe[0], tps_milli: maybe[1],
            latency_p95_us: maybe[2],
        }
    }
}

prop_compose! {
    /// Any row that the types allow.
    pub(super) fn any_statement_row()(
        big in prop::array::uniform3(any::<u64>()),
        small in prop::array::uniform2(any::<u32>()),
        latency in any_latency(),
        spec in "[a-z0-9,\" ]{0,9}",
    ) -> StatementRow {
        StatementRow {
            trial: big[0], scenario: spec.clone(), statement: spec.clone(), spec,
            concurrency: small[0], repetition: small[1], count: big[1], errors: big[2],
            latency_min_us: latency[0], latency_mean_us: latency[1], latency_p50_us: latency[2],
            latency_p95_us: latency[3], latency_p99_us: latency[4], latency_max_us: latency[5],
        }
    }
}

prop_compose! {
    /// Any row that the types allow; the message is any text at all.
    pub(super) fn any_error_row()(
        big in prop::array::uniform2(any::<u64>()),
        span in prop::option::of(any::<(u64, u64)>()),
        small in prop::array::uniform2(any::<u32>()),
        code in any::<u16>(),
        spec in "[a-z0-9]{1,9}",
        first_message in ".{0,40}|[\\x00-\\x7f]{0,40}",
    ) -> ErrorRow {
        ErrorRow {
            trial: big[0], scenario: spec.clone(), spec, concurrency: small[0],
            repetition: small[1], code, count: big[1], first_message,
            first_us: span.map(|of| of.0), last_us: span.map(|of| of.1),
        }
    }
}
