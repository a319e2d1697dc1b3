//! `gridbench clean`: the datasets that gridbench loaded, listed, and dropped where that is said.
//!
//! Must not know: what a dataset holds.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context;

use super::matrix_source::load_plan;
use super::run::site::Sites;
use super::{Failure, Outcome, chain, signals};
use crate::cli::CleanArgs;
use crate::load::{self, Owned, OwnedTable};
use crate::model::{Interrupt, PlannedSpec, counted};
use crate::ui::{Align, Printer, Table, figures};
use crate::workload::schema;

pub(super) fn run(arguments: &CleanArgs, printer: Printer) -> Result<Outcome, Failure> {
    let loaded = load_plan(&arguments.matrix)?;
    let sites = Sites::choose(&arguments.matrix, &arguments.server, &loaded.plan, printer)?;
    printer.talk(&sites.sentence());
    if !sites.has_data() {
        printer.talk("that server has never been started there: there is nothing to clean");
        return Ok(Outcome::Done);
    }
    let interrupt = signals::listen().context("cannot listen for Ctrl-C")?;
    let mut found = BTreeSet::new();
    let mut is_any_asked = false;
    // Specs may share a server, whose fault is then told once.
    let mut faults: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for planned in sites.datasets(&loaded.plan) {
        if interrupt.is_requested() {
            return Ok(Outcome::Interrupted);
        }
        match clean(&sites, planned, arguments.yes, &interrupt) {
            Ok(Some((address, owned))) => {
                // They may share a dataset too, and without --yes it is still there then.
                if found.insert((address.clone(), owned.database.clone())) {
                    is_any_asked |= owned.is_asked;
                    printer.data(&text(&address, &owned, (planned, arguments.yes)))?;
                }
            }
            Ok(None) => {}
            Err(error) => {
                faults.entry(chain(&error)).or_default().push(planned.spec.id.as_str());
            }
        }
    }
    for (fault, specs) in &faults {
        printer.talk(&format!("{}: {fault}", specs.join(", ")));
    }
    match (is_any_asked, arguments.yes) {
        (true, false) => printer.talk("nothing was dropped; --yes drops what is listed"),
        (false, _) if faults.is_empty() => {
            printer.talk("no dataset of this matrix that gridbench loaded was found");
        }
        _ => {}
    }
    Ok(if faults.is_empty() { Outcome::Done } else { Outcome::SomeFailed })
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

/// A dataset with its tables, or that another one stays.
fn text(address: &str, owned: &Owned, (planned, yes): (&PlannedSpec, bool)) -> String {
    let Owned { database, fingerprint, .. } = owned;
    let shape = owned.shape.as_deref().unwrap_or("a dataset");
    if !owned.is_asked {
        let asked = schema::shape(&planned.dataset);
        return format!(
            "stays: {database} at {address} holds another dataset ({shape}; fingerprint \
             {fingerprint}) than this matrix loads ({asked}); clean it with the matrix that loaded \
             it, and the same --set and --rehearse\n"
        );
    }
    let mut table = Table::new(&[("table", Align::Left), ("rows", Align::Right)]);
    for OwnedTable { name, rows } in &owned.tables {
        table.row(vec![name.clone(), rows.map_or_else(|| "-".to_owned(), figures::count)]);
    }
    let what = if yes { "dropped" } else { "would drop" };
    let schema = if owned.is_schema_dropped { ", and the schema" } else { "" };
    format!(
        "{what} {database} at {address} ({shape}): {}{schema}\nfingerprint {fingerprint}\n{}\n",
        counted(owned.tables.len(), "table"),
        table.render()
    )
}
