//! `gridbench clean`: the datasets that gridbench loaded, listed, and dropped where that is said.
//!
//! Must not know: what a dataset holds.

use std::collections::BTreeSet;

use anyhow::Context;

use super::dataset::ranges;
use super::matrix_source::load_plan;
use super::run::site::Sites;
use super::{Failure, Outcome, chain, signals};
use crate::cli::CleanArgs;
use crate::load::{self, Owned};
use crate::model::{Interrupt, PlannedSpec};
use crate::ui::Printer;

pub(super) fn run(arguments: &CleanArgs, printer: Printer) -> Result<Outcome, Failure> {
    let loaded = load_plan(&arguments.matrix)?;
    let sites = Sites::choose(&arguments.matrix, &arguments.server, &loaded.plan, printer)?;
    printer.talk(&sites.sentence());
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let (mut found, mut failed) = (BTreeSet::new(), 0);
    for planned in sites.datasets(&loaded.plan) {
        if interrupt.is_requested() {
            return Ok(Outcome::Interrupted);
        }
        match clean(&sites, planned, arguments.yes, &interrupt) {
            Ok(Some((address, owned))) => {
                // Specs may share a server, and without --yes a dataset is still there then.
                if found.insert((address.clone(), owned.database.clone())) {
                    printer.data(&text(&address, &owned, arguments.yes))?;
                }
            }
            Ok(None) => {}
            Err(error) => {
                failed += 1;
                printer.talk(&format!("{}: {}", planned.spec.id, chain(&error)));
            }
        }
    }
    match (found.is_empty(), arguments.yes) {
        (true, _) => printer.talk("no dataset of this matrix that gridbench loaded was found"),
        (false, false) => printer.talk("nothing was dropped; --yes drops what is listed"),
        (false, true) => {}
    }
    Ok(if failed == 0 { Outcome::Done } else { Outcome::SomeFailed })
}

/// Finds what gridbench marked as its own on the server of a spec, and drops it if `yes`.
fn clean(
    sites: &Sites,
    planned: &PlannedSpec,
    yes: bool,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<(String, Owned)>> {
    let mut site = sites.open(planned, 1, interrupt)?;
    let act = if yes { load::drop_owned } else { load::find_owned };
    let owned = act(&site.endpoint, &planned.dataset);
    let address = site.endpoint.address.to_string();
    if let Some(server) = site.managed.take() {
        server.stop()?;
    }
    Ok(owned?.map(|owned| (address, owned)))
}

fn text(address: &str, owned: &Owned, is_dropped: bool) -> String {
    let what = if is_dropped { "dropped" } else { "would drop" };
    let shape = owned.shape.as_deref().unwrap_or("a dataset");
    let schema = if owned.is_schema_dropped { ", and the schema" } else { "" };
    format!(
        "{what} {} at {address} ({shape}): {}{schema}\n",
        owned.database,
        ranges(&owned.tables).join(", ")
    )
}
