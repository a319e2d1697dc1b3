//! Who gets in, and how: every plug-in of both servers, in every mode of TLS, over both transports,
//! with every client; and what is said where nobody gets in.
#![expect(clippy::unwrap_used, reason = "in a test file a panic is how a test fails")]

#[path = "../common/certificates.rs"]
mod certificates;
#[path = "../common/mod.rs"]
mod common;
#[path = "../common/mysql.rs"]
#[expect(dead_code, reason = "each test file uses its part")]
mod mysql;
mod refusals;
#[path = "../common/sql.rs"]
mod sql;
mod sysbench;

use std::io::Write;
use std::path::{Path, PathBuf};

use certificates::Authority;
use common::Server;
use gridbench::driver::adapter::{Admin, AsyncDriver};
use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, DriverError, Reply, Session};
use gridbench::model::{Address, Endpoint, Request, Secret, Tls, TlsMode};
use sql::sql;
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

const PASSWORD: &str = "hünter 2";

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// What servers and clients show each other.
struct Papers {
    folder: TempDir,
    /// Signed all that is right.
    authority: Authority,
    /// Nobody knows it.
    stranger: Authority,
}

impl Papers {
    fn new() -> Self {
        let folder = TempDir::with_prefix("gridbench-test-").unwrap();
        let authority = Authority::new(folder.path(), "authority");
        let stranger = Authority::new(folder.path(), "stranger");
        let papers = Self { folder, authority, stranger };
        papers.authority.sign(papers.of("server"), &["localhost", "127.0.0.1"], false);
        papers.authority.sign(papers.of("client"), &[], false);
        papers
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Certificate and key.
    fn of(&self, who: &str) -> (&'static Path, &'static Path) {
        let leak = |name: String| &*Box::leak(self.file(&name).into_boxed_path());
        (leak(format!("{who}-cert.pem")), leak(format!("{who}-key.pem")))
    }

    /// Options of a server that shows them.
    fn options(&self) -> Vec<String> {
        let (certificate, key) = self.of("server");
        vec![
            format!("--ssl-ca={}", self.authority.file.display()),
            format!("--ssl-cert={}", certificate.display()),
            format!("--ssl-key={}", key.display()),
        ]
    }

    fn tls(&self, mode: TlsMode) -> Tls {
        Tls { mode, ca: Some(self.authority.file.clone()), identity: None }
    }

    /// A server of each family that shows a certificate.
    fn servers(&self) -> Vec<Server> {
        let options = self.options();
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        mysql::each(&options)
    }
}

/// Logs in with a client, says one thing, leaves.
async fn visit(driver: &impl Driver) -> Result<(), DriverError> {
    let mut session = driver.connect().await?;
    let request = Request { text: "DO 1".into(), ..Request::default() };
    let answer = session.send(&request).await;
    session.close().await;
    assert_eq!(answer.clone().unwrap_or_default(), Reply::default());
    answer.map(|_| ())
}

/// The version and cipher that the server has of a connection for administration.
async fn cipher(endpoint: &Endpoint) -> Result<Option<String>, DriverError> {
    let mut admin = Admin::connect(endpoint).await?;
    let info = admin.server_info().await?;
    admin.close().await;
    Ok(info.tls)
}

fn execute(server: &Server, statements: &[String]) {
    let statements: Vec<&str> = statements.iter().map(String::as_str).collect();
    sql(&server.socket_endpoint(), &statements);
}

fn scalar(server: &Server, query: &str) -> String {
    let rows = sql(&server.socket_endpoint(), &[query]);
    rows.into_iter().flatten().next().flatten().unwrap_or_default()
}

fn is_mariadb(server: &Server) -> bool {
    scalar(server, "SELECT @@version").contains("MariaDB")
}

/// The plug-ins of a server that take a password.
fn plugins(server: &Server) -> Vec<String> {
    let find = "SELECT GROUP_CONCAT(plugin_name) FROM information_schema.plugins WHERE plugin_type \
                = 'AUTHENTICATION' AND plugin_status = 'ACTIVE' AND plugin_name NOT IN \
                ('mysql_old_password', 'unix_socket')";
    if is_mariadb(server) {
        execute(server, &["INSTALL SONAME 'auth_ed25519'".to_owned()]);
    }
    let found = scalar(server, find);
    let mut plugins: Vec<String> = found.split(',').map(str::to_owned).collect();
    plugins.sort();
    assert!(plugins.len() >= 2, "{found}");
    plugins
}

fn create(server: &Server, plugin: &str, user: &str, rest: &str) -> String {
    match is_mariadb(server) {
        true => format!(
            "CREATE OR REPLACE USER {user} IDENTIFIED VIA {plugin} USING PASSWORD('{PASSWORD}') \
             {rest}"
        ),
        false => format!("CREATE USER {user} IDENTIFIED WITH {plugin} BY '{PASSWORD}' {rest}"),
    }
}

fn account(endpoint: Endpoint, user: &str, tls: Tls) -> Endpoint {
    Endpoint { user: user.to_owned(), password: Secret::new(PASSWORD), tls, ..endpoint }
}

/// Says it whether or not the test passes.
fn print(words: &str) {
    // Not through a macro, whose words a passing test keeps to itself.
    let _ = writeln!(std::io::stderr(), "{words}");
}

#[test]
fn every_plugin_in_every_mode_over_both_transports_with_every_client() {
    let papers = Papers::new();
    let modes: Vec<&str> = TlsMode::ALL.iter().map(|mode| mode.name()).collect();
    print(&format!("AUTH | server | plug-in | transport | client | {} |", modes.join(" | ")));
    for server in papers.servers() {
        let version = scalar(&server, "SELECT @@version");
        let table = "CREATE DATABASE small; CREATE TABLE small.sbtest1 (id INT PRIMARY KEY, k INT, \
                     c CHAR(120), pad CHAR(60))";
        execute(&server, &table.split("; ").map(str::to_owned).collect::<Vec<_>>());
        for plugin in plugins(&server) {
            let (user, shy) = ("visitor", "shy");
            let made = [
                create(&server, &plugin, user, ""),
                create(&server, &plugin, shy, "REQUIRE SSL"),
                format!("GRANT SELECT ON small.* TO {user}"),
            ];
            execute(&server, &made);
            for endpoint in [server.endpoint(), server.socket_endpoint()] {
                let is_tcp = matches!(endpoint.address, Address::Tcp { .. });
                let transport = if is_tcp { "TCP" } else { "socket" };
                let mut lean = Vec::new();
                let mut other = Vec::new();
                let mut sysbench = Vec::new();
                for mode in TlsMode::ALL {
                    let endpoint = account(endpoint.clone(), user, papers.tls(*mode));
                    let shy = Endpoint { user: shy.to_owned(), ..endpoint.clone() };
                    let is_encrypted = is_tcp && *mode != TlsMode::Off;
                    // In full, then in short where the plug-in knows the difference.
                    execute(&server, &["FLUSH PRIVILEGES".to_owned()]);
                    let (wire, adapter) = runtime().block_on(async {
                        let place = format!("{version} {plugin} {transport} {}", mode.name());
                        let told = |what: &str, error| panic!("{place}, {what}: {error}");
                        for _ in 0..2 {
                            let lean = visit(&WireDriver::new(&endpoint)).await;
                            lean.unwrap_or_else(|error| told("lean", error));
                        }
                        let adapter = visit(&AsyncDriver::new(&endpoint)).await;
                        adapter.unwrap_or_else(|error| told("mysql_async", error));
                        // Who may only come encrypted tells whether we do.
                        let shy_lean = visit(&WireDriver::new(&shy)).await;
                        let shy_other = visit(&AsyncDriver::new(&shy)).await;
                        for answer in [&shy_lean, &shy_other] {
                            assert_eq!(answer.is_ok(), is_encrypted, "{place}: {answer:?}");
                        }
                        let cipher = cipher(&endpoint).await.unwrap();
                        assert_eq!(cipher.is_some(), is_encrypted, "{place}: {cipher:?}");
                        let lean = if shy_lean.is_ok() { "TLS" } else { "clear" };
                        (lean.to_owned(), cipher.unwrap_or_else(|| "clear".to_owned()))
                    });
                    lean.push(wire);
                    other.push(adapter);
                    sysbench.push(sysbench::one_event(&endpoint, *mode, &plugin));
                }
                for (client, cells) in
                    [("native", lean), ("mysql_async", other), ("sysbench", sysbench)]
                {
                    let cells = cells.join(" | ");
                    print(&format!(
                        "AUTH | {version} | {plugin} | {transport} | {client} | {cells} |"
                    ));
                }
            }
            execute(&server, &[format!("DROP USER {user}"), format!("DROP USER {shy}")]);
        }
    }
}

/// What both clients say of an endpoint: `in`, or the words of a refusal, which must be alike.
fn answer(endpoint: &Endpoint) -> String {
    let (lean, other) = runtime().block_on(async {
        (visit(&WireDriver::new(endpoint)).await, visit(&AsyncDriver::new(endpoint)).await)
    });
    let told = |answer: Result<(), DriverError>| match answer {
        Ok(()) => "in".to_owned(),
        Err(error) => error.to_string(),
    };
    let (lean, other) = (told(lean), told(other));
    let first = |words: &str| words.split(": ").take(2).collect::<Vec<_>>().join(": ");
    assert_eq!(first(&lean), first(&other), "{lean}\n{other}");
    assert!(!lean.contains(PASSWORD) && !other.contains(PASSWORD), "{lean}");
    lean
}

#[test]
fn a_certificate_is_believed_as_far_as_the_mode_asks() {
    use TlsMode::{Preferred, Required, VerifyCa, VerifyIdentity};
    let papers = Papers::new();
    // What it is, whose, for which hosts, whether its days are over; what is said in each mode.
    type Case = (&'static str, bool, &'static [&'static str], bool, [(TlsMode, &'static str); 4]);
    const HERE: &[&str] = &["localhost", "127.0.0.1"];
    let in_all = |last: [&'static str; 2]| {
        let [ca, identity] = last;
        [(Preferred, "in"), (Required, "in"), (VerifyCa, ca), (VerifyIdentity, identity)]
    };
    let cases: [Case; 5] = [
        ("names the host", true, HERE, false, in_all(["in", "in"])),
        ("names another host", true, &["db.example"], false, in_all(["in", "ask less with"])),
        ("names nobody", true, &[], false, in_all(["in", "ask less with"])),
        ("of a stranger", false, HERE, false, in_all(["`tls_ca` is not who", "`tls_ca`"])),
        ("of yesterday", true, HERE, true, in_all(["a new certificate", "a clock"])),
    ];
    for server in papers.servers() {
        let version = scalar(&server, "SELECT @@version");
        let reload = match is_mariadb(&server) {
            true => "FLUSH SSL",
            false => "ALTER INSTANCE RELOAD TLS",
        };
        for (what, is_known, names, is_old, expected) in cases {
            papers.authority.sign(papers.of("server"), names, is_old);
            if is_old && !is_mariadb(&server) {
                // It does not load one that is over.
                mysql::skipped("a certificate of yesterday", "MySQL refuses to show one");
                continue;
            }
            execute(&server, &[reload.to_owned()]);
            for (mode, words) in expected {
                let known = if is_known { &papers.authority } else { &papers.stranger };
                let tls = Tls { ca: Some(known.file.clone()), ..papers.tls(mode) };
                let said = answer(&Endpoint { tls, ..server.endpoint() });
                print(&format!("CERTIFICATE | {version} | {what} | {} | {said}", mode.name()));
                let is_right = if words == "in" { said == "in" } else { said.contains(words) };
                assert!(is_right, "{version}, {what}, {}: {said}", mode.name());
            }
        }
    }
}

#[test]
fn an_address_is_a_name_too() {
    if std::net::TcpListener::bind("[::1]:0").is_err() {
        return mysql::skipped("IPv6", "this machine has no ::1");
    }
    let papers = Papers::new();
    papers.authority.sign(papers.of("server"), &["::1"], false);
    let options = [papers.options(), vec!["--bind-address=*".to_owned()]].concat();
    let options: Vec<&str> = options.iter().map(String::as_str).collect();
    for server in mysql::each(&options) {
        let made = format!("CREATE USER visitor IDENTIFIED BY '{PASSWORD}'");
        execute(&server, &[made]);
        let at = |host: &str| {
            let address = Address::Tcp { host: host.into(), port: server.port };
            let endpoint = Endpoint { address, ..server.endpoint() };
            account(endpoint, "visitor", papers.tls(TlsMode::VerifyIdentity))
        };
        assert_eq!(answer(&at("::1")), "in");
        assert!(answer(&at("127.0.0.1")).contains("not valid for name"));
    }
}

#[test]
fn a_server_may_want_to_see_a_certificate_of_ours() {
    let papers = Papers::new();
    let (certificate, key) = papers.of("client");
    for server in papers.servers() {
        let made = format!("CREATE USER known IDENTIFIED BY '{PASSWORD}' REQUIRE X509");
        execute(&server, &[made]);
        let tls = papers.tls(TlsMode::VerifyIdentity);
        let bare = account(server.endpoint(), "known", tls.clone());
        assert!(answer(&bare).contains("1045"), "{}", answer(&bare));
        let identity = Some((certificate.to_owned(), key.to_owned()));
        let shown = account(server.endpoint(), "known", Tls { identity, ..tls.clone() });
        assert_eq!(answer(&shown), "in");
        let by_name = Address::Tcp { host: "localhost".into(), port: server.port };
        assert_eq!(answer(&Endpoint { address: by_name, ..shown.clone() }), "in");
        // Files that are not what they should be.
        let with = |certificate: &str, key: PathBuf| {
            let identity = Some((papers.file(certificate), key));
            answer(&account(server.endpoint(), "known", Tls { identity, ..tls.clone() }))
        };
        let key = key.to_owned();
        assert!(with("none.pem", key.clone()).contains("none.pem: No such file"));
        assert!(with("client-key.pem", key).contains("holds no certificate"));
        assert!(with("client-cert.pem", papers.file("authority.pem")).contains("no private key"));
        let other = papers.of("server").1.to_owned();
        assert!(with("client-cert.pem", other).contains("do not fit"));
        let ca = Some(papers.file("client-key.pem"));
        let tls = Tls { ca, ..papers.tls(TlsMode::VerifyCa) };
        let said = answer(&account(server.endpoint(), "known", tls));
        assert!(said.contains("holds no certificate"), "{said}");
    }
}

#[test]
fn a_server_without_encryption_is_an_error_where_it_is_demanded() {
    let papers = Papers::new();
    let mut servers = vec![Server::start(&[])];
    match mysql::start(&["--tls-version="]) {
        Ok(server) => servers.push(server),
        Err(why) => mysql::skipped("on MySQL", &why),
    }
    for server in servers {
        for mode in TlsMode::ALL {
            let said = answer(&Endpoint { tls: papers.tls(*mode), ..server.endpoint() });
            match mode.is_demanded() {
                true => assert!(said.contains("the server offers no TLS"), "{said}"),
                false => assert_eq!(said, "in"),
            }
            let socket = Endpoint { tls: papers.tls(*mode), ..server.socket_endpoint() };
            assert_eq!(answer(&socket), "in");
        }
    }
}
