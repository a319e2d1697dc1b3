//! A matrix file as typed becomes a plan: shared by every subcommand that takes one.
//!
//! Must not know: what is done with the plan.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::path::Path;

use anyhow::{Context, anyhow};
use sha2::{Digest, Sha256};

use super::Failure;
use crate::cli::{EngineName, MatrixArgs};
use crate::matrix::{Diagnostics, ExpandOptions, MAX_FILE_BYTES, Source, expand, parse};
use crate::model::{Host, Ladder, Matrix, Plan, ScenarioId, SpecId};
use crate::report::{Format, Layout};
use crate::store::{self, baseline};
use crate::target::{Targets, host, read_targets};
use crate::ui::Printer;

/// A plan with what else a run keeps of its matrix.
#[derive(Debug)]
pub(super) struct LoadedPlan {
    /// The plan for this host, or for servers elsewhere.
    pub(super) plan: Plan,
    /// The file as read, before any override.
    pub(super) bytes: Vec<u8>,
    /// This machine.
    pub(super) host: Host,
    /// SHA-256 of the bytes, lower-case hexadecimal.
    pub(super) sha256: String,
}

/// Reads, parses and expands the matrix that was typed.
///
/// # Errors
/// Exit code 2 for everything that the file, the overrides or the selection cause.
pub(super) fn load_plan(arguments: &MatrixArgs) -> Result<LoadedPlan, Failure> {
    let path = &arguments.matrix;
    let bytes = read(path).map_err(Failure::input)?;
    let name = path.display().to_string();
    let matrix = parse(&Source { name: &name, bytes: &bytes }, &overrides(arguments))
        .map_err(|faults| shown(&faults))?;
    let layout = Layout::named(&matrix.template, Format::Markdown);
    layout.check().context("the matrix's template").map_err(Failure::input)?;
    if let Some(baseline) = &matrix.baseline {
        let found = store::resolve(&arguments.out, baseline);
        found.context("the matrix's baseline").map_err(Failure::input)?;
    }
    let host = host::read(&arguments.data_dir);
    let options = ExpandOptions {
        published: published(&matrix, &arguments.out)?,
        only: arguments.only.clone(),
        rehearse: arguments.rehearse,
        host: arguments.targets.is_none().then(|| host.clone()),
    };
    let mut plan = expand(matrix, &options).map_err(Failure::input)?;
    if arguments.aa && plan.protocol.until.is_some() {
        return Err(Failure::input(anyhow!(
            "--aa measures everything so often, twice; `protocol.until` would go on with one half: \
             leave one of them out"
        )));
    }
    if arguments.aa {
        plan.protocol.is_aa = true;
        plan.protocol.repeats = plan.protocol.repeats.saturating_mul(2);
    }
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(LoadedPlan { plan, bytes, host, sha256 })
}

/// Reads a targets file, and says what the user should hear of it.
///
/// # Errors
/// Exit code 2 with every fault of the file.
pub(super) fn load_targets(path: &Path, printer: Printer) -> Result<Targets, Failure> {
    let targets = read_targets(path).map_err(|faults| shown(&faults))?;
    for warning in targets.warnings() {
        printer.warn(warning);
    }
    Ok(targets)
}

fn shown(faults: &Diagnostics) -> Failure {
    Failure::input(anyhow!(faults.render(may_colour())))
}

/// What was typed over the file's values; `--engine` is the last word on the engine.
fn overrides(arguments: &MatrixArgs) -> Vec<String> {
    let engine = arguments.engine.map(|engine| match engine {
        EngineName::Native => "protocol.engine=native".to_owned(),
        EngineName::Sysbench => "protocol.engine=sysbench".to_owned(),
    });
    arguments.set.iter().cloned().chain(engine).collect()
}

/// The file's bytes. A file that is larger than any matrix is not read to its end.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let place = || format!("the matrix {}", path.display());
    let metadata = std::fs::metadata(path).with_context(place)?;
    if metadata.is_dir() {
        return Err(anyhow!("is a directory; name a file, for example matrices/quickstart.toml")
            .context(place()));
    }
    let limit = MAX_FILE_BYTES as u64;
    if metadata.len() > limit {
        let (size, limit) = (metadata.len(), MAX_FILE_BYTES);
        return Err(anyhow!("has {size} bytes; a matrix has at most {limit}").context(place()));
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(limit + 1).read_to_end(&mut bytes))
        .with_context(place)?;
    if bytes.is_empty() {
        let remedy = "is empty; start from a copy of matrices/quickstart.toml";
        return Err(anyhow!(remedy).context(place()));
    }
    Ok(bytes)
}

/// The baseline's concurrency of each cell, where the matrix asks for it.
fn published(matrix: &Matrix, out: &Path) -> Result<BTreeMap<(SpecId, ScenarioId), u32>, Failure> {
    let (Ladder::Published, Some(name)) = (&matrix.protocol.concurrency, &matrix.baseline) else {
        return Ok(BTreeMap::new());
    };
    let results = baseline::read(out, name)
        .context("concurrency is \"published\", which needs the matrix's baseline")
        .map_err(Failure::input)?;
    let cells = results.cells.into_iter();
    Ok(cells.filter_map(|cell| Some(((cell.spec, cell.scenario), cell.concurrency?))).collect())
}

fn may_colour() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::model::Engine;

    fn arguments(matrix: &Path) -> MatrixArgs {
        MatrixArgs {
            matrix: matrix.to_owned(),
            only: Vec::new(),
            set: Vec::new(),
            engine: None,
            aa: false,
            rehearse: false,
            targets: None,
            data_dir: PathBuf::from(".gridbench"),
            out: Path::new(env!("CARGO_MANIFEST_DIR")).join("results"),
        }
    }

    fn repository(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("matrices").join(name)
    }

    fn failure(path: &Path) -> String {
        let failure = load_plan(&arguments(path)).unwrap_err();
        assert_eq!(failure.exit_code, 2, "{failure}");
        failure.to_string()
    }

    #[test]
    fn what_cannot_be_read_as_a_matrix_is_an_input_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        };
        assert!(failure(&folder.path().join("absent.toml")).contains("absent.toml"));
        assert!(failure(folder.path()).contains("is a directory"));
        assert!(failure(&file("empty.toml", b"")).contains("is empty"));
        let huge = failure(&file("huge.toml", &vec![b'#'; 10_000_000]));
        assert!(huge.contains("huge.toml") && huge.contains("10000000 bytes"), "{huge}");
        assert!(failure(Path::new("/dev/zero")).contains("/dev/zero"));
        assert!(failure(&file("wrong.toml", b"format = 1\n")).contains("`name` is missing"));
    }

    #[test]
    fn published_concurrencies_come_from_the_baseline() {
        let mut arguments = arguments(&repository("full-cache.toml"));
        arguments.set = vec!["protocol.concurrency=published".to_owned()];
        assert_eq!(load_plan(&arguments).unwrap().plan.cells.len(), 70);
        arguments.set.push("baseline=no-such/baseline".to_owned());
        let failure = load_plan(&arguments).unwrap_err();
        assert_eq!(failure.exit_code, 2);
        assert!(failure.to_string().contains("no-such/baseline"), "{failure}");
    }

    #[test]
    fn a_baseline_that_diff_will_not_find_is_refused_before_anything_is_measured() {
        let mut arguments = arguments(&repository("full-cache.toml"));
        arguments.set = vec!["baseline=tdsql-c-2025-12/fullcache".to_owned()];
        let failure = load_plan(&arguments).unwrap_err();
        assert_eq!(failure.exit_code, 2);
        assert!(failure.to_string().contains("did you mean"), "{failure}");
    }

    #[test]
    fn the_engine_that_was_typed_wins() {
        let mut arguments = arguments(&repository("quickstart.toml"));
        let engine = |arguments: &MatrixArgs| load_plan(arguments).unwrap().plan.protocol.engine;
        assert_eq!(engine(&arguments), Engine::Native);
        arguments.set = vec!["protocol.engine=sysbench".to_owned()];
        assert_eq!(engine(&arguments), Engine::Sysbench);
        arguments.engine = Some(EngineName::Native);
        assert_eq!(engine(&arguments), Engine::Native);
        arguments.set = vec!["protocol.engine=sysbnch".to_owned()];
        arguments.engine = None;
        let failure = load_plan(&arguments).unwrap_err();
        assert!(failure.to_string().contains("did you mean"), "{failure}");
    }

    #[test]
    fn the_digest_is_of_the_file_as_it_stands_on_disk() {
        let mut arguments = arguments(&repository("quickstart.toml"));
        let plain = load_plan(&arguments).unwrap();
        arguments.set = vec!["protocol.duration=1s".to_owned()];
        let changed = load_plan(&arguments).unwrap();
        assert_eq!(plain.sha256, changed.sha256);
        assert_eq!(plain.sha256.len(), 64);
        assert_eq!(plain.bytes, std::fs::read(repository("quickstart.toml")).unwrap());
    }
}
