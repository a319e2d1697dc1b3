//! What sysbench printed, and what it is read as: a snapshot for each file under
//! `tests/sysbench_outputs/`. `tests/sysbench_outputs/README.md` says how each came about.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

use std::fmt::Write;
use std::path::Path;

use gridbench::model::MilliRate;
use gridbench::sysbench::{Block, Run, Seen, parse, remedy, words};
use proptest::prelude::*;

/// Outputs that the real program printed, at least.
const FILES_MIN: usize = 20;

#[test]
fn every_kept_output_is_read_as_its_snapshot_says() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("sysbench_outputs/snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.remove_input_file();
    settings.bind(|| {
        for (name, bytes) in outputs() {
            insta::assert_snapshot!(name.trim_end_matches(".txt"), outline(&parse(&bytes)));
        }
    });
    assert!(outputs().len() >= FILES_MIN);
}

#[test]
fn line_ends_do_not_matter() {
    for (name, bytes) in outputs() {
        let unix = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
        let windows = unix.replace('\n', "\r\n");
        assert_eq!(parse(windows.as_bytes()), parse(unix.as_bytes()), "{name}");
    }
}

#[test]
fn what_is_read_line_by_line_is_what_is_read_whole() {
    for (name, bytes) in outputs() {
        let mut reader = gridbench::sysbench::Reader::default();
        let mut ends = 0;
        for line in String::from_utf8_lossy(&bytes).split('\n') {
            ends += usize::from(reader.line(line) == Seen::Ended);
        }
        let runs = reader.finish();
        assert_eq!(runs, parse(&bytes), "{name}");
        assert!(runs.iter().filter(|run| run.block.is_some()).count() <= ends, "{name}");
    }
}

#[test]
fn a_whole_report_agrees_with_itself() {
    for (name, bytes) in outputs() {
        for run in parse(&bytes) {
            let Some(block) = run.whole_block() else { continue };
            let sum = [block.read, block.write, block.other].iter().flatten().sum::<u64>();
            assert_eq!(Some(sum), block.queries, "{name}");
            let begin = run.checkpoints.last().and_then(|block| block.total_time_us).unwrap_or(0);
            let length = block.total_time_us.unwrap() - begin;
            let rate = MilliRate::of(block.queries.unwrap(), length).unwrap();
            let off = rate.0.abs_diff(block.qps.unwrap().0);
            // Times of a report are taken one after the other; of a short one that shows.
            assert!(
                length < 100_000 || off <= rate.0 / 100,
                "{name}: {} for {:?}",
                rate.0,
                block.qps
            );
            let counted: u64 = run.histogram.iter().map(|row| row.count).sum();
            if counted > 0 {
                let events = block.events.unwrap();
                assert!(counted.abs_diff(events) <= events / 50 + 2, "{name}: {counted} {events}");
            }
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = outline(&parse(&bytes));
    }

    #[test]
    fn no_change_of_an_output_makes_the_reader_panic(
        file in any::<prop::sample::Index>(),
        at in any::<prop::sample::Index>(),
        cut in any::<prop::sample::Index>(),
        new in prop::collection::vec(any::<u8>(), 0..12),
    ) {
        let files = outputs();
        let mut bytes = files[file.index(files.len())].1.clone();
        let at = at.index(bytes.len() + 1);
        bytes.splice(at..at, new);
        bytes.truncate(cut.index(bytes.len() + 1));
        let _ = outline(&parse(&bytes));
    }

    #[test]
    fn no_lines_in_any_order_make_the_reader_panic(
        picks in prop::collection::vec(any::<(prop::sample::Index, prop::sample::Index)>(), 0..60),
    ) {
        let files = outputs();
        let mut text = Vec::new();
        for (file, line) in picks {
            let bytes = &files[file.index(files.len())].1;
            let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
            text.extend_from_slice(lines[line.index(lines.len())]);
            text.push(b'\n');
        }
        let _ = outline(&parse(&text));
    }
}

fn outputs() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sysbench_outputs");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "txt") {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn outline(runs: &[Run]) -> String {
    let mut text = format!("{} runs\n", runs.len());
    for run in runs {
        outline_of(run, &mut text).unwrap();
    }
    text
}

fn outline_of(run: &Run, text: &mut String) -> std::fmt::Result {
    let (first, last) = run.lines;
    writeln!(text, "\nrun in lines {first} to {last}")?;
    let version = run.version.as_ref().map(ToString::to_string);
    writeln!(text, "  version {version:?}, threads {:?}, rate {:?}", run.threads, run.rate)?;
    writeln!(text, "  seed {:?}, started {}", run.seed, run.started)?;
    if let Some(invoked) = &run.invoked {
        writeln!(text, "  {invoked:?}")?;
    }
    writeln!(text, "  {} intervals, {} queue lines", run.intervals.len(), run.queues.len())?;
    for interval in run.intervals.iter().take(2) {
        writeln!(text, "    {interval:?}")?;
    }
    if let Some(queue) = run.queues.last() {
        writeln!(text, "    last {queue:?}")?;
    }
    for checkpoint in &run.checkpoints {
        outline_block("checkpoint", checkpoint, text)?;
    }
    let count: u64 = run.histogram.iter().map(|row| row.count).fold(0, u64::saturating_add);
    writeln!(text, "  histogram of {} slots, {count} events", run.histogram.len())?;
    if let Some(block) = &run.block {
        outline_block("report", block, text)?;
    }
    for message in &run.messages {
        writeln!(text, "  line {}: {}", message.line, message.text)?;
    }
    if !run.torn.is_empty() {
        writeln!(text, "  torn {:?}", run.torn)?;
    }
    let words = words(&run.messages);
    writeln!(text, "  words {words:?}")?;
    writeln!(text, "  remedy {:?}", words.as_deref().and_then(remedy))
}

fn outline_block(what: &str, block: &Block, text: &mut String) -> std::fmt::Result {
    writeln!(text, "  {what} at line {}, whole: {}", block.line, block.is_whole())?;
    let queries = (block.read, block.write, block.other, block.queries);
    writeln!(text, "    queries {queries:?}, events {:?}", block.events)?;
    writeln!(text, "    qps {:?}, tps {:?}", block.qps, block.tps)?;
    let trouble = (block.ignored_errors, block.reconnects, block.unfinished);
    writeln!(text, "    ignored, reconnects, unfinished {trouble:?}")?;
    writeln!(text, "    total time {:?} us", block.total_time_us)?;
    writeln!(text, "    {:?}", block.latency)
}
