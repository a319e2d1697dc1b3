//! A report model becomes a page: its charts are drawn, a template puts them where they belong.
//!
//! Must not know: how results came about.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::{Bar, Caption, Line, Range, Stall, bars, curve, ranges, series};
use super::dossier::Dossier;
use super::run_build::report_model;
use super::run_model::{AccountPart, AccountRowPart, CurvePart, ReportModel, TrialPart};
use super::table::own_language;
use crate::model::Verdict;

/// What a report's template sees: the model's fields, and the charts.
#[derive(Debug, Serialize)]
pub(super) struct ReportPage {
    #[serde(flatten)]
    model: ReportModel,
    /// `en` or `zh`: that of the results' own layout, until a reader chooses.
    lang: &'static str,
    charts: Charts,
}

/// SVG texts; `none` where there is nothing to draw.
#[derive(Debug, Default, Serialize)]
struct Charts {
    /// By scenario: the rates of the specs beside the baseline's.
    specs: BTreeMap<String, Option<String>>,
    /// By scenario: the rates over the concurrencies.
    curves: BTreeMap<String, Option<String>>,
    /// By scenario: response times of the specs.
    latency: BTreeMap<String, Option<String>>,
    /// By trial: its seconds.
    seconds: BTreeMap<String, Option<String>>,
}

impl ReportPage {
    /// Everything that a template can say of these results, with its charts.
    pub(super) fn of(dossier: &Dossier<'_>) -> Self {
        let model = report_model(dossier);
        let mut charts = Charts::default();
        for account in &model.accounts {
            charts.specs.insert(account.id.clone(), specs(account));
            charts.curves.insert(account.id.clone(), curves(account));
            charts.latency.insert(account.id.clone(), latency(account));
        }
        for trial in &model.trials {
            charts.seconds.insert(trial.number.to_string(), seconds(dossier, trial));
        }
        Self { model, lang: own_language(dossier.results).name(), charts }
    }
}

fn per_second(milli: u64) -> f64 {
    milli as f64 / 1_000.0
}

/// The highest rate of each spec, beside the baseline's.
pub(super) fn specs(account: &AccountPart) -> Option<String> {
    let mut rows: Vec<Bar> = Vec::new();
    for row in &account.rows {
        let value = row.row.qps_milli.map(per_second);
        // What cannot be compared is not drawn side by side.
        let is_comparable = row.verdict != Some(Verdict::NotComparable.name());
        let baseline = row.baseline_qps_milli.filter(|_| is_comparable).map(per_second);
        match rows.last_mut().filter(|last| last.name == row.row.spec.id) {
            Some(last) => {
                last.value = last.value.into_iter().chain(value).reduce(f64::max);
                last.baseline = last.baseline.into_iter().chain(baseline).reduce(f64::max);
            }
            None => rows.push(Bar { name: row.row.spec.id.clone(), value, baseline }),
        }
    }
    let has_bar = rows.iter().any(|bar| bar.value.or(bar.baseline).is_some());
    let caption = Caption {
        title: &format!("QPS of each specification: {}", account.id),
        description: "A bar for each specification; a hollow one below it is the baseline.",
    };
    has_bar.then(|| bars(&caption, &rows))
}

pub(super) fn curves(account: &AccountPart) -> Option<String> {
    let line = |part: &CurvePart| Line {
        name: part.spec.id.clone(),
        points: part
            .points
            .iter()
            .map(|point| (f64::from(point.concurrency), per_second(point.qps_milli)))
            .collect(),
        marked: part.points.iter().position(|point| point.is_published),
    };
    let lines: Vec<Line> = account.curves.iter().map(line).collect();
    let caption = Caption {
        title: &format!("QPS against concurrency: {}", account.id),
        description: "A line for each specification; the point with a ring is the published one.",
    };
    (!lines.is_empty()).then(|| curve(&caption, &lines))
}

pub(super) fn latency(account: &AccountPart) -> Option<String> {
    let milliseconds = |us: u64| us as f64 / 1_000.0;
    let row = |row: &AccountRowPart| {
        let of = row.latency.as_ref()?;
        let values = [
            ("P50", of.p50_us),
            ("P95", of.p95_us),
            ("P99", of.p99_us),
            ("P99.9", of.p999_us),
            ("max", of.max_us),
        ];
        let values = values.map(|(name, us)| (name, milliseconds(us))).to_vec();
        let level = row.row.concurrency.filter(|_| account.is_by_level());
        let at = level.map_or_else(String::new, |level| format!(" @ {level}"));
        Some(Range { name: format!("{}{at}", row.row.spec.id), values })
    };
    let rows: Vec<Range> = account.rows.iter().filter_map(row).collect();
    let caption = Caption {
        title: &format!("Response time of events, ms: {}", account.id),
        description: "A row for each specification, from the median to the longest.",
    };
    (!rows.is_empty()).then(|| ranges(&caption, &rows))
}

fn seconds(dossier: &Dossier<'_>, trial: &TrialPart) -> Option<String> {
    let seconds = dossier.queries_by_second(trial.number);
    let stalls: Vec<Stall> = trial.stalls.iter().map(|of| (of.from_s, of.to_s)).collect();
    let rate = trial.qps_milli.map_or(f64::NAN, per_second);
    let TrialPart { spec, scenario, concurrency, .. } = trial;
    let caption = Caption {
        title: &format!("Statements by second: {spec} {scenario} @ {concurrency}"),
        description: "The dashed line is the rate of the trial; marked are its stalls.",
    };
    (!seconds.is_empty()).then(|| series(&caption, &seconds, rate, &stalls))
}
