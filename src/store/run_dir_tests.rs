//! A run's directory under everything that can happen to it.

use super::*;
use crate::model::TrialStatus;
use crate::model::{Rehearsal, ResultSource};
use crate::stats::Histogram;
use crate::store::testing::{SampleTrial, description, server};

const MATRIX: &[u8] = b"format = 1\n";

fn new_run(out: &Path) -> RunDir {
    RunDir::create(out, &description(), MATRIX).unwrap()
}

/// A run with three trials: done, failed, done.
fn run_of_three(out: &Path) -> RunDir {
    let mut run = new_run(out);
    let about = description();
    run.append(&SampleTrial::done(&about, 0, 1, 1_000).record(&about)).unwrap();
    run.append(&SampleTrial::failed(&about, 1, 1, "no\nroute").record(&about)).unwrap();
    run.append(&SampleTrial::done(&about, 2, 1, 3_000).record(&about)).unwrap();
    run
}

/// In memory where the system has such a place: thousands of syncs cost nothing there.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

fn bytes_of(run: &RunDir) -> Vec<Vec<u8>> {
    APPENDED.iter().map(|file| std::fs::read(run.path().join(file)).unwrap()).collect()
}

#[test]
fn a_run_is_created_once_and_named_by_time_and_matrix() {
    let out = folder();
    let first = new_run(out.path());
    assert_eq!(first.name(), "2025-12-10T161835Z-full-cache");
    assert_eq!(new_run(out.path()).name(), "2025-12-10T161835Z-full-cache-2");
    assert_eq!(new_run(out.path()).name(), "2025-12-10T161835Z-full-cache-3");
    assert_eq!(std::fs::read(first.path().join("matrix.toml")).unwrap(), MATRIX);
    assert!(first.path().join("pages").is_dir());
    let mut rehearsal = description();
    rehearsal.plan.rehearsal = Some(Rehearsal { factor: 100 });
    rehearsal.plan.matrix.name = "../x y".into();
    let run = RunDir::create(out.path(), &rehearsal, MATRIX).unwrap();
    assert_eq!(run.name(), "2025-12-10T161835Z-..-x-y-rehearsal");
    assert_eq!(run.path().parent().unwrap(), out.path());
}

#[test]
fn what_was_appended_is_read_back() {
    let out = folder();
    let name = run_of_three(out.path()).name().to_owned();
    let run = RunDir::open(out.path(), &name).unwrap();
    assert_eq!(run.description(), &description());
    let trials = run.trials().unwrap();
    assert_eq!(trials.iter().map(|trial| trial.number).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(trials[1].status, TrialStatus::Failed { reason: "no\nroute".into() });
    assert_eq!(trials[1].qps, None);
    assert_eq!(trials[2].qps.unwrap().0, 3_000_000);
    let about = description();
    let sample = SampleTrial::done(&about, 2, 1, 3_000);
    let intervals: Vec<_> =
        run.intervals().unwrap().into_iter().filter(|(trial, _)| *trial == 3).collect();
    assert_eq!(intervals.len(), 2);
    assert_eq!(intervals[1], (3, sample.measurement.intervals[1].clone()));
    assert_eq!(run.histograms().unwrap().len(), 6);
    assert_eq!(run.histograms().unwrap()[0].histogram, sample.latency);
}

#[test]
fn a_failed_trial_has_empty_figures_and_never_zeros() {
    let out = folder();
    let run = run_of_three(out.path());
    let cells = std::fs::read_to_string(run.path().join("cells.csv")).unwrap();
    let failed = cells.lines().nth(2).unwrap();
    assert!(failed.contains(",failed,no\\nroute,2025-12-10T16:18:36.007Z,250,25000,250,25000,,,"));
    assert!(failed.ends_with(",,,,,,,,,1,,,,,,,"), "{failed}");
}

#[test]
fn a_run_is_found_by_path_and_by_name_and_unknown_ones_are_answered_with_a_list() {
    let out = folder();
    let run = new_run(out.path());
    let path = run.path().to_str().unwrap();
    assert_eq!(RunDir::open(Path::new("elsewhere"), path).unwrap().name(), run.name());
    let error = RunDir::open(out.path(), "2025-12-10T161835Z-full-cach").unwrap_err();
    assert!(error.to_string().contains("did you mean `2025-12-10T161835Z-full-cache`?"));
    assert!(error.is_input());
    std::fs::create_dir(out.path().join("empty")).unwrap();
    let error = RunDir::open(out.path(), "empty").unwrap_err();
    assert!(matches!(error, StoreError::NotARun { .. }), "{error}");
}

#[test]
fn the_latest_run_of_a_matrix_is_found_and_others_are_left_alone() {
    let out = folder();
    assert!(RunDir::latest(out.path(), "full-cache").unwrap().is_none());
    let mut later = description();
    later.started_unix_ms += 5_000;
    new_run(out.path());
    RunDir::create(out.path(), &later, MATRIX).unwrap();
    let mut rehearsal = later.clone();
    rehearsal.started_unix_ms += 5_000;
    rehearsal.plan.rehearsal = Some(Rehearsal { factor: 9 });
    RunDir::create(out.path(), &rehearsal, MATRIX).unwrap();
    std::fs::create_dir(out.path().join("2030-01-01T000000Z-full-cache")).unwrap();
    let other = out.path().join("2030-01-01T000000Z-other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("manifest.json"), "{}").unwrap();
    let latest = RunDir::latest(out.path(), "full-cache").unwrap().unwrap();
    assert_eq!(latest.description(), &rehearsal);
    let real = RunDir::latest_that(out.path(), "full-cache", |run| run.plan.rehearsal.is_none());
    assert_eq!(real.unwrap().unwrap().description(), &later);
    assert!(RunDir::latest(out.path(), "full").unwrap().is_none());
}

#[test]
fn a_server_is_kept_once_for_each_spec() {
    let out = folder();
    let mut run = new_run(out.path());
    run.set_server(server("2c4g", "8.0.36")).unwrap();
    run.set_server(server("4c8g", "8.0.36")).unwrap();
    run.set_server(server("2c4g", "10.11.6-MariaDB")).unwrap();
    let opened = RunDir::open(out.path(), run.name()).unwrap();
    assert_eq!(opened.description(), run.description());
    let ResultSource::Measured { servers, .. } = opened.results().unwrap().source else {
        panic!("a run is measured");
    };
    assert_eq!(servers, ["10.11.6-MariaDB", "8.0.36"]);
}

#[test]
fn only_one_process_appends_and_all_may_read() {
    let out = folder();
    let first = run_of_three(out.path());
    let mut second = RunDir::open(out.path(), first.name()).unwrap();
    assert_eq!(second.trials().unwrap().len(), 3);
    let error = second.lock().unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error}");
    let about = description();
    let trial = SampleTrial::done(&about, 3, 1, 5);
    assert!(second.append(&trial.record(&about)).is_err());
    drop(first);
    second.append(&trial.record(&about)).unwrap();
    assert_eq!(second.trials().unwrap()[3].number, 4);
}

#[test]
fn cut_off_at_any_byte_cells_csv_yields_a_prefix_and_takes_the_next_trial() {
    let out = folder();
    let run = run_of_three(out.path());
    let (all, about) = (run.trials().unwrap(), description());
    let (path, whole, name) = (run.path().to_owned(), bytes_of(&run), run.name().to_owned());
    drop(run);
    let cells = &whole[APPENDED.len() - 1];
    let mut next = SampleTrial::done(&about, 7, 2, 9_000);
    // A thousand lengths: distributions, the slow part, have a test of their own.
    (next.latency, next.service) = (Histogram::new(), Histogram::new());
    next.statement_latency.clear();
    let header = header("cells.csv", &about).len();
    for length in (0..header).step_by(16).chain(header..=cells.len()) {
        for (file, bytes) in APPENDED.iter().zip(&whole) {
            std::fs::write(path.join(file), bytes).unwrap();
        }
        std::fs::write(path.join("cells.csv"), &cells[..length]).unwrap();
        let mut run = RunDir::open(out.path(), &name).unwrap();
        let kept = run.trials().unwrap();
        assert_eq!(kept, all[..kept.len()], "{length}");
        let rows = cells[..length].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(kept.len(), rows.saturating_sub(1), "{length}");
        run.append(&next.record(&about)).unwrap();
        let after = run.trials().unwrap();
        assert_eq!(after[..kept.len()], kept, "{length}");
        assert_eq!(after.len(), kept.len() + 1, "{length}");
        let number = after[kept.len()].number;
        let seconds = run.intervals().unwrap();
        assert_eq!(seconds.iter().filter(|(trial, _)| *trial == number).count(), 2, "{length}");
        assert!(seconds.iter().all(|(_, interval)| interval.length_us == 1_000_000));
    }
}

#[test]
fn killed_while_a_trial_was_being_written_the_run_goes_on_as_if_it_had_not_begun() {
    let out = folder();
    let mut run = run_of_three(out.path());
    let about = description();
    let (before, count) = (bytes_of(&run), run.intervals().unwrap().len());
    let next = SampleTrial::done(&about, 3, 1, 4_000);
    run.append(&next.record(&about)).unwrap();
    let after = bytes_of(&run);
    let (path, name) = (run.path().to_owned(), run.name().to_owned());
    drop(run);
    // The files are written one after the other: those before `at` whole, `at` in part.
    for at in 0..APPENDED.len() {
        for length in (before[at].len()..after[at].len()).step_by(7) {
            for (index, file) in APPENDED.iter().enumerate() {
                let bytes = if index < at { &after[index] } else { &before[index] };
                std::fs::write(path.join(file), bytes).unwrap();
            }
            std::fs::write(path.join(APPENDED[at]), &after[at][..length]).unwrap();
            let mut run = RunDir::open(out.path(), &name).unwrap();
            assert_eq!(run.trials().unwrap().len(), 3);
            assert_eq!(run.intervals().unwrap().len(), count);
            run.lock().unwrap();
            assert_eq!(bytes_of(&run), before, "{} at {length}", APPENDED[at]);
            run.append(&next.record(&about)).unwrap();
            assert_eq!(bytes_of(&run), after, "{} at {length}", APPENDED[at]);
        }
    }
}

#[test]
fn a_corrupt_row_in_the_middle_is_named_and_nothing_is_cut() {
    let out = folder();
    let run = run_of_three(out.path());
    let path = run.path().join("cells.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let corrupt = text.replacen("2c4g,read-only-range,128", "2c4g,read-only-range,7", 1);
    std::fs::write(&path, &corrupt).unwrap();
    let error = run.trials().unwrap_err().to_string();
    let expected = "cells.csv:3: `2c4g/read-only-range/7` is no cell of this run's plan";
    assert!(error.ends_with(expected), "{error}");
    let corrupt = text.replacen(",failed,", ",", 1);
    std::fs::write(&path, &corrupt).unwrap();
    let name = run.name().to_owned();
    drop(run);
    let mut run = RunDir::open(out.path(), &name).unwrap();
    let error = run.lock().unwrap_err().to_string();
    assert!(error.contains("cells.csv:3: this is not a row of 57 fields"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), corrupt);
}

#[test]
fn a_device_that_is_full_loses_the_trial_and_nothing_before_it() {
    let out = folder();
    let mut run = run_of_three(out.path());
    let about = description();
    let before = bytes_of(&run);
    let statements = run.path().join("statements.csv");
    // Every write to this device fails as on a full disk.
    std::fs::rename(&statements, out.path().join("kept")).unwrap();
    std::os::unix::fs::symlink("/dev/full", &statements).unwrap();
    let next = SampleTrial::done(&about, 3, 1, 4_000);
    let error = run.append(&next.record(&about)).unwrap_err();
    assert!(!error.is_input());
    let text = error.to_string();
    assert!(text.contains("statements.csv: No space left on device"), "{text}");
    assert!(text.contains("those before it (3) are kept"), "{text}");
    std::fs::remove_file(&statements).unwrap();
    std::fs::rename(out.path().join("kept"), &statements).unwrap();
    assert_eq!(bytes_of(&run), before);
    run.append(&next.record(&about)).unwrap();
    assert_eq!(run.trials().unwrap().len(), 4);
}

#[test]
fn a_disk_that_fills_up_keeps_every_file_whole() {
    let mount = tempfile::tempdir().unwrap();
    let Some(_tmpfs) = Tmpfs::mount(mount.path()) else { return };
    let mut run = new_run(mount.path());
    let about = description();
    let next = SampleTrial::done(&about, 3, 1, 4_000);
    let mut written = 0;
    let error = loop {
        let before = bytes_of(&run);
        match run.append(&next.record(&about)) {
            Ok(()) => written += 1,
            Err(error) => {
                assert_eq!(bytes_of(&run), before);
                break error.to_string();
            }
        }
    };
    assert!(error.contains("No space left on device"), "{error}");
    assert!(error.contains(&format!("those before it ({written}) are kept")), "{error}");
    assert_eq!(RunDir::open(mount.path(), run.name()).unwrap().trials().unwrap().len(), written);
    assert!(written > 10, "{written}");
}

/// A disk of 256 KiB.
struct Tmpfs<'a>(&'a Path);

impl<'a> Tmpfs<'a> {
    /// `None`, with the reason printed, where we may not mount.
    fn mount(path: &'a Path) -> Option<Self> {
        let mount = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"])
            .arg(path)
            .output();
        match mount {
            Ok(output) if output.status.success() => Some(Self(path)),
            Ok(output) => {
                println!("no tmpfs: {}", String::from_utf8_lossy(&output.stderr).trim());
                None
            }
            Err(error) => {
                println!("no tmpfs: {error}");
                None
            }
        }
    }
}

impl Drop for Tmpfs<'_> {
    fn drop(&mut self) {
        let unmounted = std::process::Command::new("umount").arg(self.0).status();
        assert!(unmounted.is_ok_and(|status| status.success()), "umount {}", self.0.display());
    }
}
