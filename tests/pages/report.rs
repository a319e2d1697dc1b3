//! The report of a run: golden pages of one with everything, and what must hold for any.
//!
//! Must not know: how results are stored.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use gridbench::audit::{AuditOptions, Finding, audit};
use gridbench::matrix::{ExpandOptions, Source, expand, parse};
use gridbench::model::{
    Bytes, CellId, Comparison, ErrorCount, Host, Interval, MilliRate, ResultSet, ResultSource,
    RunDescription, TrialStatus,
};
use gridbench::report::{Dossier, Format, Layout, Seconds, model_json, render_dossier};
use gridbench::stats::{CompareOptions, Histogram, compare};
use gridbench::store::{StoredHistogram, StoredTrial, TimeOf};

use super::fixtures::{hostile, published, small_run};
use super::{built_in, hold};

const MATRIX: &str = r#"
format   = 1
name     = "small"
title    = "Small"
protocol = { duration = "20s", warmup = "1s", concurrency = [8, 64, 256] }
dataset  = { class = "full-cache", rule = [{ table_size = 1_000, tables = 2 }] }
[[spec]]
cpu    = 2
memory = "4GB"
[[scenario]]
id       = "write-only"
workload = "oltp_write_only"
"#;

/// How such a run came about.
fn description() -> RunDescription {
    let matrix = parse(&Source { name: "m.toml", bytes: MATRIX.as_bytes() }, &[]).unwrap();
    let options =
        ExpandOptions { published: BTreeMap::new(), only: Vec::new(), rehearse: false, host: None };
    RunDescription {
        tool_version: "0.1.0".to_owned(),
        tool_revision: Some("abcdef0".to_owned()),
        started_unix_ms: 1_767_323_045_000,
        command: ["gridbench", "run", "m.toml", "--set", "protocol.concurrency=[8, 64, 256]"]
            .map(str::to_owned)
            .to_vec(),
        matrix_sha256: "00ff".repeat(16),
        plan: expand(matrix, &options).unwrap(),
        host: Host {
            cpus: 2,
            cpu_model: "A <processor>".to_owned(),
            memory: Bytes(8_000_000_000),
            governor: None,
            cpu_quota_milli: None,
            kernel: "6.1.0".to_owned(),
            disk_free: None,
        },
        driver: "native".to_owned(),
        load_policy: "SCHED_BATCH".to_owned(),
        servers: Vec::new(),
    }
}

/// A dossier with everything in it.
pub(crate) struct Whole {
    results: ResultSet,
    description: RunDescription,
    trials: Vec<StoredTrial>,
    seconds: Seconds,
    histograms: Vec<StoredHistogram>,
    comparison: Comparison,
    findings: Vec<Finding>,
}

impl Whole {
    /// The small run, its first scenario at three levels with a stall, a failed trial and errors.
    pub(crate) fn new() -> Self {
        let mut results = small_run();
        for (name, value) in [("server.version", "10.11"), ("client.cpus", "2")] {
            for spec in &results.specs {
                let facts = results.environment.entry(spec.id.clone()).or_default();
                let is_other = name == "client.cpus" && spec.cpu > 2;
                let value = if is_other { "64" } else { value };
                facts.insert(name.to_owned(), value.to_owned());
            }
        }
        let mut baseline = small_run();
        baseline.cells[0].qps = Some(MilliRate(4_000_000));
        for (rate, set) in [(1_000_000, &mut results), (4_000_000, &mut baseline)] {
            set.cells[0].values = (0..5).map(|at| MilliRate(rate + at * 1_000)).collect();
            set.cells[0].trials = 5;
        }
        Self::of(results, baseline, &[(8, 600), (64, 1_000), (256, 900)])
    }

    fn of(results: ResultSet, baseline: ResultSet, levels: &[(u32, u64)]) -> Self {
        let mut trials = Vec::new();
        let mut seconds = Seconds::new();
        for (level, rate) in levels {
            let number = trials.len() as u64 + 1;
            trials.push(trial(&results, number, *level, *rate));
            seconds.insert(number, (0..20).map(|at| second(at, rate + at * 7 % 50)).collect());
        }
        seconds.get_mut(&2).unwrap()[7].queries = 3;
        trials[1].errors = vec![ErrorCount {
            code: 1213,
            count: 12,
            message: "Deadlock <found> & retried".to_owned(),
            span_us: Some((1_000_000, 3_000_000)),
        }];
        let mut failed = trial(&results, 9, 512, 0);
        failed.status = TrialStatus::Failed { reason: "Too many <connections>".to_owned() };
        failed.qps = None;
        trials.push(failed);
        let mut histogram = Histogram::new();
        for us in [900, 1_000, 4_000, 120_000] {
            histogram.record(Duration::from_micros(us));
        }
        let of_trial = |trial: &StoredTrial| StoredHistogram {
            trial: trial.number,
            time_of: TimeOf::Event,
            histogram: histogram.clone(),
        };
        let comparison = compare(&results, &baseline, &CompareOptions::with_threshold(0.05));
        let findings = audit(&published("full-cache"), &[], &AuditOptions::default());
        let mut findings: Vec<Finding> = findings.into_iter().take(1).collect();
        for cell in findings.iter_mut().flat_map(|finding| &mut finding.cells) {
            cell.table.clone_from(&results.name);
            cell.spec = results.specs[0].id.clone();
            cell.scenario = results.scenarios[0].id.clone();
            cell.concurrency = None;
        }
        let histograms = trials.iter().map(of_trial).collect();
        let description = description();
        Self { results, description, trials, seconds, histograms, comparison, findings }
    }

    pub(crate) fn dossier(&self) -> Dossier<'_> {
        Dossier {
            results: &self.results,
            description: Some(&self.description),
            trials: &self.trials,
            seconds: &self.seconds,
            histograms: &self.histograms,
            comparison: Some(&self.comparison),
            findings: &self.findings,
        }
    }

    /// As HTML.
    pub(crate) fn page(&self) -> String {
        render_dossier(&self.dossier(), &Layout::report()).unwrap()
    }
}

fn trial(results: &ResultSet, number: u64, level: u32, rate: u64) -> StoredTrial {
    let (spec, scenario) = (results.specs[0].id.clone(), results.scenarios[0].id.clone());
    StoredTrial {
        number,
        cell: CellId { spec, scenario, concurrency: level },
        repetition: 1,
        started_unix_ms: 0,
        status: TrialStatus::Done,
        qps: Some(MilliRate(rate * 1_000)),
        tps: None,
        p95_us: Some(4_000),
        p99_us: Some(120_000),
        events_unfinished: 0,
        errors: Vec::new(),
        rate_met: None,
        client_bound: None,
        warmup_level: None,
        steady: None,
        qps_lowest_second: None,
        qps_p5_second: None,
        evidence: None,
    }
}

fn second(at: u64, queries: u64) -> Interval {
    let (elapsed_us, length_us) = ((at + 1) * 1_000_000, 1_000_000);
    Interval { elapsed_us, length_us, events: 0, queries, errors: 0, p95_us: None }
}

#[test]
fn a_report_gives_its_golden_pages() {
    let whole = Whole::new();
    for format in [Format::Markdown, Format::Html] {
        let page = render_dossier(&whole.dossier(), &built_in("report", format)).unwrap();
        hold(&format!("whole.report.{}", format.extension()), &page);
    }
}

#[test]
fn a_report_names_what_speaks_against_a_number_beside_it() {
    let page = Whole::new().page();
    for words in [
        "▼ regressed",
        "Not to be published as it stands",
        "href=\"#finding-1\"",
        "Too many &lt;connections&gt;",
        "stall: 7–8 s",
        "12 × 1213",
        "停顿：7–8 s",
    ] {
        assert!(page.contains(words), "{words}");
    }
    assert!(!page.contains("http://") && !page.contains("https://"), "nothing is fetched");
}

/// The kinds of what forbids to publish these results.
fn forbidding(results: &ResultSet) -> Vec<String> {
    let model: Value = serde_json::from_str(&model_json(&Dossier::bare(results))).unwrap();
    let reasons = model["reasons"].as_array().unwrap();
    let kinds = reasons.iter().filter(|reason| reason["forbids"] == true);
    let kinds: Vec<String> =
        kinds.map(|reason| reason["kind"].as_str().unwrap().to_owned()).collect();
    assert_eq!(model["may_publish"], kinds.is_empty());
    kinds
}

#[test]
fn a_run_that_was_not_measured_to_its_end_is_not_to_be_published() {
    let mut whole = small_run();
    for cell in &mut whole.cells {
        (cell.trials, cell.note) = (3, None);
    }
    whole.cells[1].note = Some("excluded: no such size".to_owned());
    assert_eq!(forbidding(&whole), [""; 0], "all that the plan asks for is there");

    let cases = [
        (3, Some("peak of 2 of 4 levels; not steady in 1 of 3 trials"), true, &["incomplete"][..]),
        (2, Some("2 of 3 repetitions"), true, &["incomplete"]),
        (3, Some("peak of the first 2 of 4 levels: the rate fell"), true, &[]),
        (3, Some("32 and 64 are equal within noise: 32 published"), true, &[]),
        (3, Some("client-bound: the client was the limit"), true, &["client-bound"]),
        (0, Some("not measured yet"), false, &["unmeasured"]),
        (0, Some("interrupted"), false, &["failed"]),
    ];
    for (trials, note, has_number, kinds) in cases {
        let mut results = whole.clone();
        let cell = &mut results.cells[0];
        (cell.trials, cell.note) = (trials, note.map(str::to_owned));
        cell.qps = cell.qps.filter(|_| has_number);
        assert_eq!(forbidding(&results), kinds, "{note:?}");
    }
}

#[test]
fn a_report_begins_in_the_language_of_its_own_layout() {
    for (template, lang, chosen) in
        [("tdsql-c-zh", "zh-Hans", "language-zh"), ("tdsql-c-en", "en", "language-en")]
    {
        let results = ResultSet { template: template.to_owned(), ..small_run() };
        let page = render_dossier(&Dossier::bare(&results), &Layout::report()).unwrap();
        assert!(page.contains(&format!("<html lang=\"{lang}\">")), "{template}");
        assert!(page.contains(&format!("id=\"{chosen}\" checked")), "{template}");
        assert_eq!(page.matches("checked>").count(), 2, "one language, one theme");
    }
}

#[test]
fn names_of_any_kind_stay_text_in_tables_and_charts() {
    let results = hostile();
    let whole = Whole::of(results.clone(), results, &[(8, 600), (64, 1_000)]);
    let page = whole.page();
    for planted in ["<script>alert", "<b>", "<img"] {
        assert!(!page.contains(planted), "{planted}");
    }
    assert_eq!(page.matches("<script>").count(), 1, "our own");
    // Looked at in a browser, too.
    hold("hostile.report.html", &page);
    let page = render_dossier(&whole.dossier(), &built_in("report", Format::Markdown)).unwrap();
    for planted in ["<script>", "<b>", "<img", "<connections>"] {
        assert!(!page.contains(planted), "{planted}");
    }
}

/// Fourteen sizes, five scenarios, seven levels, ten minutes each.
#[test]
fn the_report_of_490_trials_is_below_3_megabytes() {
    let mut results = published("full-cache");
    results.source = ResultSource::Measured {
        run: "full".to_owned(),
        date: "2026-01-02".to_owned(),
        servers: vec!["10.11".to_owned()],
        shared_machine: false,
        tool_version: "0.1.0".to_owned(),
        engine: "native".to_owned(),
        rehearsal: None,
    };
    let baseline = published("full-cache");
    let mut whole = Whole::of(results.clone(), baseline, &[(8, 600), (64, 1_000)]);
    (whole.trials, whole.seconds, whole.findings) = (Vec::new(), Seconds::new(), Vec::new());
    for (row, cell) in results.cells.iter().enumerate() {
        for level in [32, 64, 128, 256, 512, 1024, 1500] {
            let number = whole.trials.len() as u64 + 1;
            let rate = cell.qps.unwrap().0 / 1_000;
            let mut trial = trial(&results, number, level, rate);
            trial.cell.spec = cell.spec.clone();
            trial.cell.scenario = cell.scenario.clone();
            whole.trials.push(trial);
            // With a checkpoint every ten seconds, which is more stalls than a page can name.
            let queries = |at: u64| match at % 10 {
                0 => rate / 7,
                _ => rate - (at * 7_919 + row as u64 * 31) % (rate / 9),
            };
            whole.seconds.insert(number, (0..600).map(|at| second(at, queries(at))).collect());
        }
    }
    assert_eq!(whole.trials.len(), 490);
    let page = whole.page();
    assert_eq!(page.matches("data-left").count(), 490, "a chart of the seconds for each trial");
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}
