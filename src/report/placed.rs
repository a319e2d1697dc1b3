//! Charts for places in users' documents: what a marker asks for, as the document can hold it.
//!
//! Must not know: where in which document a chart goes.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::document::{ChartKind, DocumentKind, TableRequest};
use super::dossier::Dossier;
use super::run_build::report_model;
use super::run_model::{AccountPart, ReportModel};
use super::run_page::{curves, latency, specs};
use super::table::{TableError, unknown_scenario};

/// The charts that are asked for, one below the other.
///
/// # Errors
/// There is no such scenario, or nothing to draw: the results have no trials at several levels.
pub fn chart(
    dossier: &Dossier<'_>,
    request: &TableRequest,
    which: ChartKind,
    kind: DocumentKind,
) -> Result<String, TableError> {
    let model = report_model(dossier);
    let is_wanted = |account: &&AccountPart| {
        request.scenario.as_ref().is_none_or(|scenario| *scenario == account.id)
    };
    let wanted: Vec<&AccountPart> = model.accounts.iter().filter(is_wanted).collect();
    if let (Some(scenario), true) = (&request.scenario, wanted.is_empty()) {
        return Err(unknown_scenario(dossier.results, scenario));
    }
    let mut text = String::new();
    for account in wanted {
        let drawn = match which {
            ChartKind::Specs => specs(account),
            ChartKind::Curve => curves(account),
            ChartKind::Latency => latency(account),
        };
        let svg = drawn.ok_or_else(|| TableError::NoChart {
            results: dossier.results.name.clone(),
            scenario: account.id.clone(),
            kind: which.name(),
        })?;
        text += &placed(&svg, &format!("{}: {}", model.page.title, account.id), kind);
    }
    if let Some(mark) = mark(&model) {
        text += &said(mark, kind);
    }
    Ok(text)
}

/// One line, which no reader of Markdown takes apart.
fn placed(svg: &str, words: &str, kind: DocumentKind) -> String {
    match kind {
        // What stands in a block that begins with `<div` is left alone up to an empty line.
        DocumentKind::Markdown | DocumentKind::Html => {
            format!("<div style=\"max-width:36rem\">{svg}</div>\n")
        }
        // Components spell attributes otherwise, and take braces for code: a picture of its own.
        DocumentKind::Mdx => {
            let plain = |sign: &char| !"\"{}<>&\\".contains(*sign) && !sign.is_control();
            let words: String = words.chars().filter(plain).collect();
            let data = STANDARD.encode(standalone(svg));
            format!(
                "<img width=\"560\" alt=\"{words}\" src=\"data:image/svg+xml;base64,{data}\" />\n"
            )
        }
        DocumentKind::Rst => {
            format!(".. raw:: html\n\n   <div style=\"max-width:36rem\">{svg}</div>\n\n")
        }
    }
}

/// A picture that brings its own colour of text.
fn standalone(svg: &str) -> String {
    const STYLE: &str = "<style>svg{color:#1c2024}@media(prefers-color-scheme:dark)\
                         {svg{color:#e4e7eb}}</style>";
    let svg = svg.replacen("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ", 1);
    match svg.find('>') {
        Some(end) => format!("{}{STYLE}{}", &svg[..=end], &svg[end + 1..]),
        None => svg,
    }
}

/// What must be said of numbers that are none.
fn mark(model: &ReportModel) -> Option<&'static str> {
    model.page.rehearsal.as_ref().map(|_| "Rehearsal, not a result. 演练，非测试结果。")
}

fn said(words: &str, kind: DocumentKind) -> String {
    match kind {
        DocumentKind::Html => format!("<p><strong>{words}</strong></p>\n"),
        _ => format!("\n**{words}**\n"),
    }
}
