//! Results become pages: a result set becomes a page model, a template prints it.
//!
//! The two halves meet in [`PageModel`]: what is on a page is decided in [`page_model`], how it
//! looks in a template. The same results give the same bytes: nothing here reads a clock, the
//! environment or the machine. Must not know: drivers, servers, where results are stored.

mod audit;
mod build;
mod chart;
mod compared;
mod comparison;
mod difference;
mod document;
mod dossier;
mod engine;
mod error;
mod filters;
mod history;
mod junit;
mod layout;
mod markdown;
mod model;
mod placed;
mod rst;
mod run_build;
mod run_model;
mod run_page;
mod run_reasons;
mod screen;
mod table;

pub use audit::{AuditReport, audit_json, audit_markdown, audit_opening, audit_text};
pub use build::page_model;
pub use compared::{
    ComparedPart, ComparedRowPart, ComparedScenarioPart, ComparedSidePart, ComparisonModel,
    VerdictPart, comparison_model,
};
pub use comparison::{
    comparison_csv, comparison_json, comparison_markdown, comparison_opening, comparison_summary,
    comparison_table,
};
pub use difference::difference;
pub use document::{
    ChartKind, DocumentKind, Language, MarkerFault, Place, TableRequest, fill, places,
};
pub use dossier::{Dossier, Seconds};
pub use error::RenderError;
pub use filters::FILTERS;
pub use history::{
    HistoryReport, history_csv, history_json, history_markdown, history_opening, history_text,
};
pub use junit::comparison_junit;
pub use layout::{COMPARISONS, Format, LAYOUTS, Layout};
pub use model::{
    MeasuredPart, NotePart, OwnTablePart, PageModel, ProtocolPart, PublishedPart, RehearsalPart,
    RowPart, ScenarioPart, SpecPart,
};
pub use placed::chart;
pub use run_build::report_model;
pub use run_model::{
    AccountPart, AccountRowPart, CurvePart, ErrorPart, FactPart, FindingPart, HostPart,
    LatencyPart, OriginPart, PiecePart, PointPart, ReasonPart, ReportModel, StallPart, TrialPart,
};
pub use screen::screen;
pub use table::{TABLES, TableError, table};

use crate::model::ResultSet;

/// The report model, of which the page model is a part, as JSON, as FORMAT.md lists it: for
/// programs that print pages of their own.
pub fn model_json(dossier: &Dossier<'_>) -> String {
    let text = serde_json::to_string_pretty(&report_model(dossier));
    format!("{}\n", text.expect("plain fields always serialise"))
}

/// The page of these tables in this layout, where nothing else is known of them.
pub fn render(results: &ResultSet, layout: &Layout) -> Result<String, RenderError> {
    render_dossier(&Dossier::bare(results), layout)
}

/// The page of these results in this layout.
pub fn render_dossier(dossier: &Dossier<'_>, layout: &Layout) -> Result<String, RenderError> {
    layout.print(dossier)
}

/// The page of this comparison in this layout.
pub fn render_comparison(
    comparison: &ComparisonModel,
    layout: &Layout,
) -> Result<String, RenderError> {
    layout.print_comparison(comparison)
}
