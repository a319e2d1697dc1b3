//! Results by name with all that belongs to them.
//!
//! Must not know: what is made of it.

use std::path::Path;

use crate::audit::{AuditOptions, Finding, audit, audit_trials};
use crate::model::{Comparison, ResultSet, RunDescription};
use crate::report::{Dossier, Seconds};
use crate::stats::{CompareOptions, compare};
use crate::store::{self, RunDir, StoreError, StoredHistogram, StoredTrial};

/// A difference of at most this share is none, as in `diff`.
const THRESHOLD: f64 = 0.05;

/// A [`Dossier`] that was read.
pub(super) struct Records {
    results: ResultSet,
    description: Option<RunDescription>,
    trials: Vec<StoredTrial>,
    seconds: Seconds,
    histograms: Vec<StoredHistogram>,
    comparison: Option<Comparison>,
    findings: Vec<Finding>,
}

impl Records {
    /// Of a run, by its directory or name, or of a baseline.
    pub(super) fn read(out: &Path, name: &str) -> Result<Self, StoreError> {
        match RunDir::open(out, name) {
            Err(StoreError::Unknown(_) | StoreError::NotARun { .. }) => {}
            run => return Self::of_run(out, &run?),
        }
        let results = store::resolve(out, name)?;
        Ok(Self {
            findings: audit(&results, &[], &AuditOptions::default()),
            results,
            description: None,
            trials: Vec::new(),
            seconds: Seconds::new(),
            histograms: Vec::new(),
            comparison: None,
        })
    }

    /// Of a run; the baseline that its matrix names is found under `out`.
    pub(super) fn of_run(out: &Path, run: &RunDir) -> Result<Self, StoreError> {
        let results = run.results()?;
        let options = AuditOptions {
            servers: super::audit::known_servers(&run.description().servers),
            ..AuditOptions::default()
        };
        let mut findings = audit(&results, &[], &options);
        findings.extend(audit_trials(&results, &run.counts()?));
        let comparison = match &run.description().plan.matrix.baseline {
            Some(baseline) => {
                let options = CompareOptions::with_threshold(THRESHOLD);
                Some(compare(&results, &store::resolve(out, baseline)?, &options))
            }
            None => None,
        };
        // Of a large run each of the two takes half a second.
        let (seconds, histograms) = std::thread::scope(|scope| {
            let histograms = scope.spawn(|| run.histograms());
            let mut seconds = Seconds::new();
            for (trial, second) in run.intervals()? {
                seconds.entry(trial).or_default().push(second);
            }
            let histograms = histograms.join().expect("reading panics nowhere")?;
            Ok::<_, StoreError>((seconds, histograms))
        })?;
        Ok(Self {
            results,
            description: Some(run.description().clone()),
            trials: run.trials()?,
            seconds,
            histograms,
            comparison,
            findings,
        })
    }

    /// All of it.
    pub(super) fn dossier(&self) -> Dossier<'_> {
        Dossier {
            results: &self.results,
            description: self.description.as_ref(),
            trials: &self.trials,
            seconds: &self.seconds,
            histograms: &self.histograms,
            comparison: self.comparison.as_ref(),
            findings: &self.findings,
        }
    }
}
