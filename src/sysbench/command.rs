//! A trial as arguments of `sysbench ... run`, and what sysbench cannot run.
//!
//! Must not know: how a program is started. A password never becomes an argument: whoever can
//! list processes reads those. It goes into [`CommandLine::config`], which sysbench is to find
//! on its standard input.

use std::time::Duration;

use crate::model::{
    Address, Arrivals, Dataset, Endpoint, Flag, KeyLaw, Number, Protocol, Scenario, Secret,
    Statement, StatementMode, TlsMode,
};

use super::version::Version;

/// sysbench reads a configuration file in lines of 255 bytes.
const CONFIG_LINE_MAX: usize = 255;

/// One trial, as far as sysbench takes part in it.
#[derive(Debug, Clone, Copy)]
pub struct Invocation<'a> {
    /// The script and its options.
    pub scenario: &'a Scenario,
    /// The tables.
    pub dataset: &'a Dataset,
    /// Window, warm-up, statements, keys, rate.
    pub protocol: &'a Protocol,
    /// Where, as whom; its `database` holds the tables.
    pub endpoint: &'a Endpoint,
    /// Connections, each with a thread of its own.
    pub concurrency: u32,
    /// The trial's.
    pub seed: u64,
}

/// What to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandLine {
    /// The arguments, without any secret.
    pub arguments: Vec<String>,
    /// The text of the configuration file that `--config-file=/dev/stdin` reads; `None` where
    /// there is no password.
    pub config: Option<Secret>,
}

/// Why sysbench cannot do it, and what to do instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Refused(pub String);

impl Invocation<'_> {
    /// The run that is measured.
    ///
    /// # Errors
    /// What of the endpoint cannot be written so that sysbench reads it.
    pub fn command_line(&self) -> Result<CommandLine, Refused> {
        self.line(self.protocol.duration, self.seed)
    }

    /// The run before it, which is not counted; `None` where there is to be none. It has a seed
    /// of its own: with the same one it would read the very rows that are measured next.
    ///
    /// # Errors
    /// As [`Self::command_line`].
    pub fn warmup_line(&self) -> Result<Option<CommandLine>, Refused> {
        let warmup = self.protocol.warmup;
        let line = || self.line(warmup, self.seed.rotate_left(32));
        (!warmup.is_zero()).then(line).transpose()
    }

    fn line(&self, length: Duration, seed: u64) -> Result<CommandLine, Refused> {
        let config = config(&self.endpoint.password)?;
        let mut arguments = vec![self.scenario.workload.name().to_owned()];
        arguments.push("--db-driver=mysql".to_owned());
        address(self.endpoint, &mut arguments)?;
        if config.is_some() {
            arguments.push("--config-file=/dev/stdin".to_owned());
        }
        self.load(length, seed, &mut arguments);
        self.workload(&mut arguments);
        arguments.push("run".to_owned());
        Ok(CommandLine { arguments, config })
    }

    fn load(&self, length: Duration, seed: u64, arguments: &mut Vec<String>) {
        let protocol = self.protocol;
        // 0 would be the clock's.
        let seed = seed % (i32::MAX as u64) + 1;
        arguments.extend([
            format!("--threads={}", self.concurrency),
            format!("--time={}", length.as_secs()),
            "--events=0".to_owned(),
            "--report-interval=1".to_owned(),
            "--percentile=95".to_owned(),
            "--histogram=on".to_owned(),
            format!("--rand-type={}", protocol.keys.name()),
            format!("--rand-seed={seed}"),
            format!("--db-ps-mode={}", ps_mode(protocol.statements)),
        ]);
        if let Some(open) = protocol.open_loop {
            arguments.push(format!("--rate={}", open.rate.0 / 1_000));
        }
    }

    /// Of the scenario's options those that the script knows.
    fn workload(&self, arguments: &mut Vec<String>) {
        let Scenario { workload, options, .. } = self.scenario;
        arguments.push(format!("--table_size={}", self.dataset.table_size));
        // Scripts that read the first table alone refuse to be told of more.
        if workload.statements().any(Statement::has_table) {
            arguments.push(format!("--tables={}", self.dataset.tables));
        }
        for flag in Flag::ALL.iter().filter(|flag| workload.uses_flag(**flag)) {
            let value = if flag.of(options) { "on" } else { "off" };
            arguments.push(format!("--{}={value}", flag.name()));
        }
        for number in Number::ALL.iter().filter(|number| workload.uses(**number)) {
            arguments.push(format!("--{}={}", number.name(), number.of(options)));
        }
    }
}

fn address(endpoint: &Endpoint, arguments: &mut Vec<String>) -> Result<(), Refused> {
    let listed = |what: &str, text: &str| match text.contains(',') {
        false => Ok(()),
        true => Err(Refused(format!(
            "sysbench takes `{text}` for a list, because of its comma; use another {what}"
        ))),
    };
    match &endpoint.address {
        // Its client library would take this name for the Unix socket.
        Address::Tcp { host, port } if host == "localhost" => {
            arguments.push("--mysql-host=127.0.0.1".to_owned());
            arguments.push(format!("--mysql-port={port}"));
        }
        Address::Tcp { host, port } => {
            listed("host name", host)?;
            arguments.push(format!("--mysql-host={host}"));
            arguments.push(format!("--mysql-port={port}"));
        }
        Address::Unix(path) => {
            let path = path.display().to_string();
            listed("path of the socket", &path)?;
            arguments.push(format!("--mysql-socket={path}"));
        }
    }
    arguments.push(format!("--mysql-user={}", endpoint.user));
    if let Some(database) = &endpoint.database {
        arguments.push(format!("--mysql-db={database}"));
    }
    Ok(())
}

fn ps_mode(statements: StatementMode) -> &'static str {
    match statements {
        StatementMode::Text => "disable",
        StatementMode::Prepared => "auto",
    }
}

/// Everything of a plan that this sysbench cannot run, each with the remedy; empty if it can. Where
/// no version is known, what every version lacks.
pub fn refusals(
    version: Option<&Version>,
    protocol: &Protocol,
    scenarios: &[&Scenario],
) -> Vec<String> {
    let mut refusals = Vec::new();
    if protocol.keys == KeyLaw::Zipfian
        && let Some(version) = version.filter(|version| version.minor == 0)
    {
        refusals.push(format!(
            "keys = \"zipfian\": {version} has no such law (1.1 has); use engine = \"native\""
        ));
    }
    if protocol.warmup_max.is_some() {
        refusals.push(
            "warmup_max: sysbench's warm-up is a run of its own, whose end cannot wait for a \
             level rate; leave it out, or use engine = \"native\""
                .to_owned(),
        );
    }
    if let Some(open) = protocol.open_loop {
        if open.arrivals == Arrivals::Fixed {
            refusals.push(
                "arrivals = \"fixed\": sysbench's --rate knows Poisson arrivals only; leave \
                 `arrivals` out, or use engine = \"native\""
                    .to_owned(),
            );
        }
        if open.rate.0 % 1_000 != 0 || open.rate.0 / 1_000 > i32::MAX as u64 {
            refusals.push(
                "rate: sysbench's --rate is a whole number of events per second; use such a \
                 one, or engine = \"native\""
                    .to_owned(),
            );
        }
    }
    for scenario in scenarios {
        let name = scenario.workload.name();
        if !scenario.workload.is_built_in {
            refusals.push(format!(
                "scenario {}: `{name}` is no script of sysbench's; use engine = \"native\", or \
                 leave it out with --only",
                scenario.id
            ));
        }
    }
    refusals
}

/// What of an endpoint sysbench cannot be told; `None` if it can be told all of it.
pub fn unreachable(endpoint: &Endpoint) -> Option<Refused> {
    untold(endpoint)
        .or_else(|| config(&endpoint.password).err())
        .or_else(|| address(endpoint, &mut Vec::new()).err())
}

/// What of an endpoint sysbench has no option for, or none that does the same.
fn untold(endpoint: &Endpoint) -> Option<Refused> {
    let session = &endpoint.session;
    // Also where it is only preferred: administration would be encrypted, and the load not.
    let may_be_encrypted = matches!(endpoint.address, Address::Tcp { .. });
    let lacks = [
        (
            may_be_encrypted && endpoint.tls.mode != TlsMode::Off,
            "encrypt its connections as `tls` says",
        ),
        (!endpoint.others.is_empty(), "let connections take turns among several `endpoints`"),
        (session.charset.is_some(), "set a `charset`"),
        (!session.init.is_empty(), "send `init` statements"),
        (session.read_timeout.is_some(), "keep a `read_timeout`"),
        (session.statement_timeout.is_some(), "set a `statement_timeout`"),
    ];
    let (_, what) = lacks.into_iter().find(|(is_asked, _)| *is_asked)?;
    Some(Refused(format!("sysbench cannot {what}; leave it out for this engine")))
}

/// One line of a configuration file. A value in quotes ends at the same quote, and there is no
/// escape. One without ends at a comma or white space, and may have any quotes after its first
/// character.
fn config(password: &Secret) -> Result<Option<Secret>, Refused> {
    let text = password.reveal();
    if text.is_empty() {
        return Ok(None);
    }
    let quoted = |quote: char| !text.contains(quote);
    let line = match (quoted('\''), quoted('"')) {
        (true, _) => format!("mysql-password='{text}'\n"),
        (false, true) => format!("mysql-password=\"{text}\"\n"),
        (false, false) if can_stand_bare(text) => format!("mysql-password={text}\n"),
        (false, false) => {
            let fault = "sysbench cannot read a password that has both kinds of quotes and begins \
                with one of them or with #, or has a comma or white space too";
            return Err(Refused(format!("{fault}; give the account another one")));
        }
    };
    if text.contains(['\n', '\r', '\0']) || line.len() > CONFIG_LINE_MAX {
        let fault = "sysbench cannot read a password that is longer than 237 bytes or has several \
            lines; give the account another one";
        return Err(Refused(fault.to_owned()));
    }
    Ok(Some(Secret::new(line)))
}

/// Whether sysbench reads the whole text as one value where no quotes stand around it.
fn can_stand_bare(text: &str) -> bool {
    // As C's isspace() of bytes.
    let ends = |byte: u8| matches!(byte, b',' | b' ' | b'\t'..=b'\r');
    !text.starts_with(['\'', '"', '#']) && !text.bytes().any(ends)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::model::{
        Engine, MilliRate, OpenLoop, ScenarioId, SessionOptions, Tls, Workload, WorkloadOptions,
    };
    use crate::workload::builtin;

    fn scenario(workload: &str) -> Scenario {
        Scenario {
            id: ScenarioId::new("s").unwrap(),
            title: None,
            workload: builtin(workload).unwrap(),
            options: WorkloadOptions { range_selects: false, ..WorkloadOptions::default() },
        }
    }

    fn protocol() -> Protocol {
        let (duration, warmup) = (Duration::from_secs(2), Duration::from_secs(10));
        Protocol { duration, warmup, engine: Engine::Sysbench, ..Protocol::for_tests() }
    }

    fn endpoint(address: Address, password: &str) -> Endpoint {
        let endpoint = Endpoint::new(address, "bench", Secret::new(password));
        Endpoint { database: Some("sbtest".into()), ..endpoint }
    }

    fn both(
        endpoint: &Endpoint,
        scenario: &Scenario,
        protocol: &Protocol,
    ) -> (Option<CommandLine>, CommandLine) {
        let dataset = Dataset { tables: 3, table_size: 100, charset: "utf8mb4".into(), seed: 1 };
        let (concurrency, seed) = (64, u64::from(u32::MAX));
        let invocation =
            Invocation { scenario, dataset: &dataset, protocol, endpoint, concurrency, seed };
        (invocation.warmup_line().unwrap(), invocation.command_line().unwrap())
    }

    fn command(endpoint: &Endpoint, scenario: &Scenario, protocol: &Protocol) -> CommandLine {
        both(endpoint, scenario, protocol).1
    }

    #[test]
    fn what_it_has_no_option_for_is_refused() {
        let tcp = Address::Tcp { host: "db".into(), port: 3306 };
        let plain = endpoint(tcp.clone(), "x");
        assert_eq!(unreachable(&plain), None);
        let told = |endpoint: Endpoint| unreachable(&endpoint).unwrap().to_string();
        let tls = |mode| Tls { mode, ..Tls::default() };
        for mode in [TlsMode::Preferred, TlsMode::Required] {
            let encrypted = Endpoint { tls: tls(mode), ..plain.clone() };
            assert!(told(encrypted.clone()).contains("`tls`"));
            let address = Address::Unix("/run/server.sock".into());
            assert_eq!(unreachable(&Endpoint { address, ..encrypted }), None);
        }
        let two = Endpoint { others: vec![tcp], ..plain.clone() };
        assert!(told(two).contains("`endpoints`"));
        let session = SessionOptions { init: vec!["DO 1".into()], ..SessionOptions::default() };
        assert!(told(Endpoint { session, ..plain }).contains("`init`"));
    }

    #[test]
    fn the_warm_up_is_a_run_of_its_own_with_a_seed_of_its_own() {
        let endpoint = endpoint(Address::Unix("/s".into()), "hunter2");
        let (warmup, run) = both(&endpoint, &scenario("oltp_insert"), &protocol());
        let warmup = warmup.unwrap();
        assert_eq!(warmup.config, run.config);
        let pairs = warmup.arguments.iter().zip(&run.arguments);
        let other: Vec<_> = pairs.filter(|(one, other)| one != other).collect();
        let text = |text: &str| text.to_owned();
        assert_eq!(
            other,
            [
                (&text("--time=10"), &text("--time=2")),
                (&text("--rand-seed=3"), &text("--rand-seed=2"))
            ]
        );
        let none = Protocol { warmup: Duration::ZERO, ..protocol() };
        assert_eq!(both(&endpoint, &scenario("oltp_insert"), &none).0, None);
    }

    #[test]
    fn a_trial_becomes_a_run_with_all_its_options() {
        let address = Address::Tcp { host: "localhost".into(), port: 3307 };
        let line = command(&endpoint(address, ""), &scenario("oltp_read_only"), &protocol());
        assert_eq!(
            line.arguments.join(" "),
            "oltp_read_only --db-driver=mysql --mysql-host=127.0.0.1 --mysql-port=3307 \
             --mysql-user=bench --mysql-db=sbtest --threads=64 --time=2 --events=0 \
             --report-interval=1 --percentile=95 --histogram=on --rand-type=uniform \
             --rand-seed=2 --db-ps-mode=disable --table_size=100 \
             --tables=3 --range_selects=off --skip_trx=off --point_selects=10 --simple_ranges=1 \
             --sum_ranges=1 --order_ranges=1 --distinct_ranges=1 --range_size=100 run"
        );
        assert_eq!(line.config, None);
    }

    #[test]
    fn an_open_loop_without_warm_up_over_a_socket() {
        let open = OpenLoop { rate: MilliRate(500_000), arrivals: Arrivals::Poisson };
        let statements = StatementMode::Prepared;
        let protocol =
            Protocol { warmup: Duration::ZERO, open_loop: Some(open), statements, ..protocol() };
        let endpoint = endpoint(Address::Unix("/run/s.sock".into()), "");
        let line = command(&endpoint, &scenario("oltp_point_select"), &protocol).arguments;
        for part in ["--mysql-socket=/run/s.sock", "--rate=500", "--db-ps-mode=auto", "--time=2"] {
            assert!(line.contains(&part.to_owned()), "{part}: {line:?}");
        }
        let absent = |part: &str| !line.iter().any(|argument| argument.starts_with(part));
        assert!(absent("--mysql-host") && absent("--skip_trx"));
    }

    #[test]
    fn each_script_is_told_the_numbers_that_it_knows() {
        let endpoint = endpoint(Address::Unix("/s".into()), "");
        let line = |name| command(&endpoint, &scenario(name), &protocol()).arguments.join(" ");
        let points = line("select_random_points");
        assert!(points.ends_with("--table_size=100 --random_points=10 run"), "{points}");
        let ranges = line("select_random_ranges");
        assert!(ranges.ends_with("--table_size=100 --number_of_ranges=10 --delta=5 run"));
        assert!(line("oltp_delete").ends_with("--table_size=100 --tables=3 run"));
    }

    #[test]
    fn a_password_is_in_the_configuration_and_nowhere_else() {
        let endpoint = |password| endpoint(Address::Unix("/s".into()), password);
        let line = command(&endpoint("hunter2"), &scenario("oltp_insert"), &protocol());
        assert_eq!(line.config.as_ref().unwrap().reveal(), "mysql-password='hunter2'\n");
        assert!(!format!("{line:?}").contains("hunter2"));
        assert!(line.arguments.contains(&"--config-file=/dev/stdin".to_owned()));
        assert_eq!(
            config(&Secret::new("it's")).unwrap().unwrap().reveal(),
            "mysql-password=\"it's\"\n"
        );
        let bare = config(&Secret::new("a'b\"c")).unwrap().unwrap();
        assert_eq!(bare.reveal(), "mysql-password=a'b\"c\n");
        for bad in ["'a\"", "\"a'", "a'b\" c", "a'b\",c", "#'\"", "a\nb", &"x".repeat(240)] {
            assert!(config(&Secret::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn what_sysbench_cannot_run_is_refused_with_the_remedy() {
        let version = Version::parse("sysbench 1.0.20").unwrap();
        let fixed = OpenLoop { rate: MilliRate(500), arrivals: Arrivals::Fixed };
        let protocol = Protocol { keys: KeyLaw::Zipfian, open_loop: Some(fixed), ..protocol() };
        let refused = refusals(Some(&version), &protocol, &[&scenario("oltp_insert")]);
        let starts: Vec<_> = refused.iter().map(|text| text.split(':').next().unwrap()).collect();
        assert_eq!(starts, ["keys = \"zipfian\"", "arrivals = \"fixed\"", "rate"]);
        let mut own = scenario("oltp_insert");
        own.workload = Arc::new(Workload { is_built_in: false, ..(*own.workload).clone() });
        let closed = Protocol { keys: KeyLaw::Uniform, open_loop: None, ..protocol.clone() };
        let words = refusals(Some(&version), &closed, &[&own]);
        assert!(words[0].contains("`oltp_insert` is no script of sysbench's"), "{words:?}");
        let newer = Version::parse("sysbench 1.1.0").unwrap();
        assert_eq!(refusals(Some(&newer), &Protocol { open_loop: None, ..protocol }, &[]).len(), 0);
    }
}
