//! A dossier becomes a report model: a pure function.
//!
//! Must not know: templates, languages, charts, files.

use std::collections::BTreeMap;

use super::build::page_model;
use super::dossier::Dossier;
use super::model::{PageModel, RowPart, ScenarioPart, SpecPart};
use super::run_model::{
    AccountPart, AccountRowPart, CurvePart, ErrorPart, FactPart, FindingPart, HostPart,
    LatencyPart, OriginPart, PiecePart, PointPart, ReportModel, StallPart, TrialPart,
};
use super::run_reasons::reasons;
use crate::model::{ResultCell, RunDescription, TrialStatus};
use crate::stats::{Histogram, half_width, median, rate_interval};
use crate::store::{StoredTrial, TimeOf, rfc3339};

/// Everything that a report can say of these results.
pub fn report_model(dossier: &Dossier<'_>) -> ReportModel {
    let page = page_model(dossier.results);
    let reasons = reasons(dossier);
    let accounts = page.scenarios.iter().map(|scenario| account(dossier, &page, scenario));
    let findings = dossier.findings.iter().enumerate().map(|(place, finding)| FindingPart {
        number: place + 1,
        code: finding.code,
        sentence: finding.sentence.clone(),
        arithmetic: finding.arithmetic.clone(),
    });
    ReportModel {
        may_publish: reasons.iter().all(|reason| !reason.forbids),
        reasons,
        origin: dossier.description.map(origin),
        baseline: dossier.comparison.map(|comparison| comparison.baseline.clone()),
        accounts: accounts.collect(),
        findings: findings.collect(),
        trials: dossier.trials.iter().map(|of| trial(dossier, of)).collect(),
        environment: environment(dossier),
        page,
    }
}

fn origin(run: &RunDescription) -> OriginPart {
    let host = &run.host;
    OriginPart {
        started: rfc3339(run.started_unix_ms),
        command: run.command.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "),
        matrix_sha256: run.matrix_sha256.clone(),
        tool_revision: run.tool_revision.clone(),
        host: HostPart {
            cpus: host.cpus,
            cpu_model: host.cpu_model.clone(),
            memory_bytes: host.memory.0,
            kernel: host.kernel.clone(),
        },
        is_managed: run.servers.iter().any(|server| server.managed),
    }
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |sign: char| sign.is_ascii_alphanumeric() || "_-./=:,+@%".contains(sign);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

fn account(dossier: &Dossier<'_>, page: &PageModel, scenario: &ScenarioPart) -> AccountPart {
    let is_here = |cell: &&ResultCell| cell.scenario.as_str() == scenario.id;
    let cells: Vec<&ResultCell> = dossier.results.cells.iter().filter(is_here).collect();
    let rows = scenario.rows.iter().map(|row| {
        let is_row = |cell: &&&ResultCell| {
            cell.spec.as_str() == row.spec.id && cell.concurrency == row.concurrency
        };
        account_row(dossier, row, cells.iter().find(is_row).copied())
    });
    let curves = page.specs.iter().filter_map(|spec| curve(dossier, spec, scenario));
    AccountPart { id: scenario.id.clone(), rows: rows.collect(), curves: curves.collect() }
}

fn account_row(dossier: &Dossier<'_>, row: &RowPart, cell: Option<&ResultCell>) -> AccountRowPart {
    let compared = cell.and_then(|cell| dossier.compared(cell));
    let rates: Vec<f64> = cell
        .map(|cell| cell.values.iter().map(|rate| rate.per_second()).collect())
        .unwrap_or_default();
    AccountRowPart {
        row: row.clone(),
        verdict: compared.map(|of| of.verdict.name()),
        baseline_qps_milli: compared.and_then(|of| of.baseline).map(|rate| rate.0),
        baseline_concurrency: compared.and_then(|of| of.concurrency.1),
        ratio_ppm: compared.and_then(|of| of.ratio).map(millionths),
        half_width_ppm: rate_interval(&rates).map(|interval| millionths(half_width(interval))),
        latency: cell.and_then(|cell| latency(dossier, cell)),
        findings: cell
            .map(|cell| dossier.findings_of(cell).into_iter().map(|place| place + 1).collect())
            .unwrap_or_default(),
    }
}

fn millionths(share: f64) -> u64 {
    (share * 1e6).round() as u64
}

/// Of the trials behind a number, together.
fn latency(dossier: &Dossier<'_>, cell: &ResultCell) -> Option<LatencyPart> {
    let is_behind = |trial: &&StoredTrial| {
        trial.status == TrialStatus::Done
            && trial.cell.spec == cell.spec
            && trial.cell.scenario == cell.scenario
            && Some(trial.cell.concurrency) == cell.concurrency
    };
    let numbers: Vec<u64> = dossier.trials.iter().filter(is_behind).map(|of| of.number).collect();
    let mut whole = Histogram::new();
    for stored in dossier.histograms {
        if stored.time_of == TimeOf::Event && numbers.contains(&stored.trial) {
            whole.merge(&stored.histogram);
        }
    }
    let at = |percentile| whole.percentile_us(percentile);
    Some(LatencyPart {
        p50_us: at(50.0)?,
        p95_us: at(95.0)?,
        p99_us: at(99.0)?,
        p999_us: at(99.9)?,
        max_us: at(100.0)?,
    })
}

/// `None` where there are not two levels to draw a line between.
fn curve(dossier: &Dossier<'_>, spec: &SpecPart, scenario: &ScenarioPart) -> Option<CurvePart> {
    let mut levels: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
    for trial in dossier.trials {
        let is_here = trial.status == TrialStatus::Done
            && trial.cell.spec.as_str() == spec.id
            && trial.cell.scenario.as_str() == scenario.id;
        if let Some(qps) = trial.qps.filter(|_| is_here) {
            levels.entry(trial.cell.concurrency).or_default().push(qps.0);
        }
    }
    if levels.len() < 2 {
        return None;
    }
    let published: Vec<Option<u32>> = scenario
        .rows
        .iter()
        .filter(|row| row.spec.id == spec.id)
        .map(|row| row.concurrency)
        .collect();
    let points = levels.into_iter().filter_map(|(concurrency, rates)| {
        let is_published = published == [Some(concurrency)];
        Some(PointPart { concurrency, qps_milli: median(&rates)?, is_published })
    });
    Some(CurvePart { spec: spec.clone(), points: points.collect() })
}

fn trial(dossier: &Dossier<'_>, of: &StoredTrial) -> TrialPart {
    let (status, reason) = match &of.status {
        TrialStatus::Done => ("done", ""),
        TrialStatus::Failed { reason } => ("failed", reason.lines().next().unwrap_or_default()),
        TrialStatus::Interrupted => ("interrupted", ""),
    };
    let seconds = dossier.queries_by_second(of.number);
    let errors = of.errors.iter().map(|error| ErrorPart {
        code: error.code,
        count: error.count,
        message: error.message.lines().next().unwrap_or_default().to_owned(),
        first_us: error.span_us.map(|(first, _)| first),
        last_us: error.span_us.map(|(_, last)| last),
    });
    TrialPart {
        number: of.number,
        spec: of.cell.spec.to_string(),
        scenario: of.cell.scenario.to_string(),
        concurrency: of.cell.concurrency,
        repetition: of.repetition,
        status,
        reason: reason.to_owned(),
        qps_milli: of.qps.map(|rate| rate.0),
        p95_us: of.p95_us,
        p99_us: of.p99_us,
        errors: errors.collect(),
        stalls: of.qps.map(|qps| stalls(&seconds, qps.0 / 1_000)).unwrap_or_default(),
        pieces: pieces(&seconds),
    }
}

/// At most so many pieces: what a page of hundreds of trials can hold.
const PIECES: usize = 48;

fn pieces(seconds: &[u64]) -> Vec<PiecePart> {
    let count = seconds.len().min(PIECES);
    let piece = |index: usize| {
        let (from_s, to_s) = (index * seconds.len() / count, (index + 1) * seconds.len() / count);
        let of_piece = || seconds[from_s..to_s].iter().copied();
        let (lowest, highest) = (of_piece().min()?, of_piece().max()?);
        Some(PiecePart { from_s, to_s, lowest, highest })
    };
    (0..count).filter_map(piece).collect()
}

/// Seconds in a row with less than half of the trial's rate.
fn stalls(seconds: &[u64], rate: u64) -> Vec<StallPart> {
    let mut stalls: Vec<StallPart> = Vec::new();
    for (second, queries) in seconds.iter().enumerate() {
        if queries.saturating_mul(2) >= rate {
            continue;
        }
        match stalls.last_mut() {
            Some(last) if last.to_s == second => last.to_s = second + 1,
            _ => stalls.push(StallPart { from_s: second, to_s: second + 1 }),
        }
    }
    stalls
}

/// Each fact once for all specs where it is the same.
fn environment(dossier: &Dossier<'_>) -> Vec<FactPart> {
    let by_spec = &dossier.results.environment;
    let mut specs_of: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for spec in dossier.results.specs.iter().filter(|spec| by_spec.contains_key(&spec.id)) {
        for (name, value) in &by_spec[&spec.id] {
            specs_of.entry((name, value)).or_default().push(spec.id.to_string());
        }
    }
    let whole = by_spec.len();
    let fact = |((name, value), specs): ((&str, &str), Vec<String>)| FactPart {
        name: name.to_owned(),
        value: value.to_owned(),
        specs: if specs.len() == whole { Vec::new() } else { specs },
    };
    specs_of.into_iter().map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_below_half_of_the_rate_are_stalls_and_neighbours_are_one() {
        let seconds = [100, 49, 0, 100, 50, 10];
        let spans: Vec<(usize, usize)> =
            stalls(&seconds, 100).iter().map(|stall| (stall.from_s, stall.to_s)).collect();
        assert_eq!(spans, [(1, 3), (5, 6)]);
        assert!(stalls(&[], 100).is_empty() && stalls(&[5], 0).is_empty());
    }

    #[test]
    fn pieces_cover_every_second_once_and_keep_the_lowest() {
        let mut seconds = vec![100; 605];
        seconds[300] = 0;
        let pieces = pieces(&seconds);
        assert_eq!(pieces.len(), PIECES);
        assert!(pieces.windows(2).all(|pair| pair[0].to_s == pair[1].from_s));
        assert_eq!((pieces[0].from_s, pieces[PIECES - 1].to_s), (0, 605));
        assert_eq!(pieces.iter().filter(|piece| piece.lowest == 0).count(), 1);
        assert!(super::pieces(&[]).is_empty());
    }

    #[test]
    fn a_word_is_quoted_where_a_shell_would_take_it_apart() {
        for (word, text) in [
            ("protocol.duration=20s", "protocol.duration=20s"),
            ("a b", "'a b'"),
            ("it's", "'it'\\''s'"),
            ("", "''"),
            ("[1]", "'[1]'"),
        ] {
            assert_eq!(quoted(word), text);
        }
    }
}
