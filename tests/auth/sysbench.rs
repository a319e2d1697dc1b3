//! The real sysbench logs in, told what the engine tells it.
//!
//! Must not know: servers, or which accounts they have.

use std::io::Write;
use std::process::{Command, Stdio};

use gridbench::matrix::{Source, parse};
use gridbench::model::{
    Dataset, Endpoint, Protocol, Scenario, ScenarioId, TlsMode, WorkloadOptions,
};
use gridbench::sysbench::{Invocation, unreachable};
use gridbench::workload::builtin;

/// One event of the real sysbench, told what the engine tells it.
pub(crate) fn one_event(endpoint: &Endpoint, mode: TlsMode, plugin: &str) -> String {
    let endpoint = Endpoint { database: Some("small".into()), ..endpoint.clone() };
    if let Some(refused) = unreachable(&endpoint) {
        assert!(mode != TlsMode::Off, "{refused}");
        return "refused".to_owned();
    }
    let scenario = Scenario {
        id: ScenarioId::new("s").unwrap(),
        title: None,
        workload: builtin("oltp_point_select").unwrap(),
        options: WorkloadOptions::default(),
    };
    let dataset = Dataset { tables: 1, table_size: 1, charset: "utf8mb4".into(), seed: 1 };
    let protocol = protocol();
    let invocation = Invocation {
        scenario: &scenario,
        dataset: &dataset,
        protocol: &protocol,
        endpoint: &endpoint,
        concurrency: 1,
        seed: 1,
    };
    let line = invocation.command_line().unwrap();
    let mut command = Command::new("sysbench");
    command.args(&line.arguments).arg("--events=1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("sysbench, which `make test` installs");
    let mut input = child.stdin.take().unwrap();
    if let Some(config) = &line.config {
        input.write_all(config.reveal().as_bytes()).unwrap();
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    match (output.status.success(), plugin) {
        (true, _) => "clear".to_owned(),
        // Debian's client library does not have it as it is installed.
        (false, "ed25519" | "sha256_password") => {
            let fault = said.lines().find(|line| line.contains("FATAL")).unwrap_or(&said);
            assert!(fault.contains("plugin") || fault.contains("could not be loaded"), "{said}");
            "no plug-in".to_owned()
        }
        (false, _) => panic!("{plugin}: {said}"),
    }
}

/// A protocol of one second.
fn protocol() -> Protocol {
    let text = r#"
        format = 1
        name = "m"
        title = "M"
        protocol = { duration = "1s", warmup = "1s", concurrency = [1] }
        dataset = { class = "full-cache", rule = [{ table_size = 1, tables = 1 }] }
        spec = [{ cpu = 1, memory = "1GB" }]
        scenario = [{ id = "s", workload = "oltp_point_select" }]
    "#;
    let source = Source { name: "m.toml", bytes: text.as_bytes() };
    parse(&source, &[]).unwrap_or_else(|faults| panic!("{faults}")).protocol
}
