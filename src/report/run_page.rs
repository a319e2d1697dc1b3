//! A report model becomes a page: its charts are drawn, a template puts them where they belong.
//!
//! Must not know: how results came about.

use std::collections::BTreeMap;

use serde::Serialize;

use super::dossier::Dossier;
use super::run_build::report_model;
use super::run_model::ReportModel;

/// What a report's template sees: the model's fields, and the charts.
#[derive(Debug, Serialize)]
pub(super) struct ReportPage {
    #[serde(flatten)]
    model: ReportModel,
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
            charts.specs.insert(account.id.clone(), None);
            charts.curves.insert(account.id.clone(), None);
            charts.latency.insert(account.id.clone(), None);
        }
        for trial in &model.trials {
            charts.seconds.insert(trial.number.to_string(), None);
        }
        Self { model, charts }
    }
}
