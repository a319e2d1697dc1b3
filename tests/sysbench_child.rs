//! The engine `sysbench` as seen by its child: a shell that stands in for the program.

use std::time::{Duration, Instant};

use gridbench::exec::{Phase, SysbenchSetup, TrialEvent, TrialOutput, run_sysbench};
use gridbench::model::{Interrupt, Secret, TrialStatus};
use gridbench::sysbench::CommandLine;

const LIMIT: Duration = Duration::from_secs(60);

/// A shell that stands in for sysbench.
fn script(text: &str, config: Option<&str>) -> SysbenchSetup {
    SysbenchSetup {
        program: "sh".into(),
        warmup_line: None,
        command_line: CommandLine {
            arguments: vec!["-c".to_owned(), text.to_owned()],
            config: config.map(Secret::new),
        },
        concurrency: 1,
        warmup: Duration::ZERO,
        duration: Duration::from_millis(1),
        is_open_loop: false,
        connect_limit: LIMIT,
        drain_limit: LIMIT,
        cpus: Vec::new(),
    }
}

fn ended(setup: &SysbenchSetup) -> TrialOutput {
    run_sysbench(setup, &Interrupt::default(), &mut |_| {})
}

fn reason(setup: &SysbenchSetup) -> String {
    match ended(setup).measurement.status {
        TrialStatus::Failed { reason } => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_child_that_fails_is_told_in_its_own_words() {
    let fails = script("echo 'FATAL: error 1040: Too many connections'; exit 1", None);
    assert_eq!(
        reason(&fails),
        "sysbench ended with exit code 1: error 1040: Too many connections; raise the server's \
         max_connections, or measure with fewer connections"
    );
    let killed = reason(&script("kill -9 $$", None));
    assert_eq!(killed, "sysbench was killed by SIGKILL");
    let silent = reason(&script("exit 0", None));
    assert!(silent.contains("it printed no report"), "{silent}");
    let flood = "i=0; while [ $i -lt 20000 ]; do echo FATAL: $i; i=$((i+1)); done; exit 2";
    assert!(reason(&script(flood, None)).contains("exit code 2: 0; 1; 2"));
    let absent = SysbenchSetup { program: "/nonexistent/sysbench".into(), ..script("", None) };
    let absent = reason(&absent);
    assert!(absent.contains("/nonexistent/sysbench"), "{absent}");
}

#[test]
fn the_configuration_comes_on_standard_input() {
    let echo = script("read line; echo \"FATAL: $line\"; exit 1", Some("mysql-password='x y'\n"));
    assert!(reason(&echo).ends_with("mysql-password='x y'"));
}

#[test]
fn a_child_that_overstays_is_ended_also_one_that_will_not() {
    let hung = "echo 'Threads started!'; trap '' TERM; while :; do sleep 1; done";
    let setup = SysbenchSetup { drain_limit: Duration::from_millis(10), ..script(hung, None) };
    let begin = Instant::now();
    let words = reason(&setup);
    assert!(words.starts_with("sysbench did not end within 0 s of its load"), "{words}");
    assert!(begin.elapsed() < Duration::from_secs(30), "{:?}", begin.elapsed());
    let stuck = script("exec sleep 1000", None);
    let stuck = SysbenchSetup { connect_limit: Duration::from_millis(10), ..stuck };
    assert!(reason(&stuck).contains("did not begin its load"));
}

#[test]
fn an_interrupt_ends_the_child_and_keeps_its_seconds() {
    let line = "[ 1s ] thds: 1 tps: 10.00 qps: 160.00 (r/w/o: 140.00/0.00/20.00) lat (ms,95%): \
        9.00 err/s: 0.00 reconn/s: 0.00";
    let setup = script(&format!("echo 'Threads started!'; echo '{line}'; exec sleep 1000"), None);
    let interrupt = Interrupt::default();
    let mut phases = Vec::new();
    let output = run_sysbench(&setup, &interrupt, &mut |event| match event {
        TrialEvent::Interval(_) => interrupt.request(),
        TrialEvent::Phase(phase) => phases.push(phase),
        TrialEvent::Connected { .. } | TrialEvent::Window { .. } => {}
    });
    let measurement = output.measurement;
    assert_eq!(measurement.status, TrialStatus::Interrupted);
    assert_eq!((measurement.measured_us, measurement.queries), (1_000_000, 160));
    assert_eq!(phases, [Phase::Connect, Phase::Measure]);
}

/// The least that is a measurement.
const REPORT: &str = "echo 'Threads started!'; echo 'SQL statistics:'; \
    echo 'transactions: 2 (1.00 per sec.)'; echo 'queries: 32 (16.00 per sec.)'; \
    echo 'ignored errors: 0 (0.00 per sec.)'; echo 'reconnects: 0 (0.00 per sec.)'; \
    echo 'total time: 2.0000s'; echo 'max: 9.00'";

#[test]
fn the_warm_up_is_a_run_of_its_own_and_counts_nothing() {
    let line = |text: &str| script(text, None).command_line;
    let second = "[ 1s ] thds: 1 tps: 9.00 qps: 144.00 (r/w/o: 126.00/0.00/18.00) lat (ms,95%): \
        9.00 err/s: 0.00 reconn/s: 0.00";
    let warmup = format!("echo 'Threads started!'; echo '{second}'");
    let setup = SysbenchSetup { warmup_line: Some(line(&warmup)), ..script(REPORT, None) };
    let mut phases = Vec::new();
    let output = run_sysbench(&setup, &Interrupt::default(), &mut |event| match event {
        TrialEvent::Phase(phase) => phases.push(phase),
        TrialEvent::Window { .. } => {}
        other => panic!("{other:?}"),
    });
    assert_eq!(phases, [Phase::Connect, Phase::Warmup, Phase::Measure, Phase::Drain]);
    let measurement = output.measurement;
    assert_eq!(measurement.status, TrialStatus::Done);
    assert_eq!((measurement.events, measurement.queries), (2, 32));
    assert_eq!((measurement.measured_us, measurement.intervals), (2_000_000, Vec::new()));
    let failing = line("echo 'FATAL: odd'; exit 3");
    let setup = SysbenchSetup { warmup_line: Some(failing), ..script(REPORT, None) };
    assert_eq!(reason(&setup), "in the warm-up sysbench ended with exit code 3: odd");
}
