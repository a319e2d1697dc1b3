//! Targets files, right and wrong.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use super::*;

fn read(text: &str) -> Result<Targets, Diagnostics> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("targets.toml");
    fs::write(dir.path().join("secret"), "from a file\n").unwrap();
    fs::write(&path, text).unwrap();
    read_targets(&path)
}

fn endpoint(text: &str, spec: &str) -> Endpoint {
    read(text).unwrap().endpoint(&SpecId::new(spec).unwrap()).unwrap()
}

fn tcp(host: &str, port: u16) -> Address {
    Address::Tcp { host: host.to_owned(), port }
}

#[test]
fn a_target_takes_from_the_defaults_what_it_does_not_say() {
    let text = r#"
        [defaults]
        user = "bench"
        password = "p"
        port = 3307
        [target.2c4g]
        host = "10.0.1.12"
        [target.4c8g]
        host = "::1"
        port = 3308
        user = "other"
        password = ""
        database = "mine"
        [target.8c16g]
        socket = "/run/mysqld/mysqld.sock"
    "#;
    let first = endpoint(text, "2c4g");
    assert_eq!((first.address, first.user.as_str()), (tcp("10.0.1.12", 3307), "bench"));
    assert_eq!((first.password.reveal(), first.database.as_deref()), ("p", None));
    let second = endpoint(text, "4c8g");
    assert_eq!((second.address, second.user.as_str()), (tcp("::1", 3308), "other"));
    assert_eq!((second.password.reveal(), second.database.as_deref()), ("", Some("mine")));
    assert_eq!(endpoint(text, "8c16g").address, Address::Unix("/run/mysqld/mysqld.sock".into()));
    assert_eq!(read(text).unwrap().endpoint(&SpecId::new("88c710g").unwrap()), None);
}

#[test]
fn defaults_with_an_address_stand_for_every_spec() {
    let defaults = "[defaults]\nhost = \"h\"\nuser = \"u\"\n";
    assert_eq!(endpoint(defaults, "anything").address, tcp("h", 3306));
    let star = "[target.\"*\"]\nhost = \"h\"\nuser = \"u\"\n[target.a]\nhost = \"a\"\nuser = \"u\"";
    assert_eq!(endpoint(star, "anything").address, tcp("h", 3306));
    assert_eq!(endpoint(star, "a").address, tcp("a", 3306));
    let socket = format!("{defaults}[target.a]\nsocket = \"/s\"");
    assert_eq!(endpoint(&socket, "a").address, Address::Unix("/s".into()));
}

#[test]
fn passwords_come_from_where_the_file_says() {
    let cases = [
        ("\"literal\"", "literal"),
        ("\"\"", ""),
        ("{ env = \"CARGO_PKG_NAME\" }", "gridbench"),
        ("{ file = \"secret\" }", "from a file"),
        ("{ command = [\"printf\", \"%s\\r\\n\", \"from a command \"] }", "from a command "),
    ];
    for (source, password) in cases {
        let text = format!("[defaults]\nhost = \"h\"\nuser = \"u\"\npassword = {source}\n");
        assert_eq!(endpoint(&text, "a").password.reveal(), password, "{source}");
    }
    assert_eq!(endpoint("[defaults]\nhost = \"h\"\nuser = \"u\"", "a").password.reveal(), "");
}

#[test]
fn a_file_that_gives_a_password_away_is_warned_of() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("targets.toml");
    let cases = [
        ("\"p\"", 0o644, 1),
        ("\"p\"", 0o600, 0),
        ("\"\"", 0o644, 0),
        ("{ env = \"CARGO_PKG_NAME\" }", 0o644, 0),
    ];
    for (source, mode, warnings) in cases {
        let text = format!("[defaults]\nhost = \"h\"\nuser = \"u\"\npassword = {source}\n");
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(read_targets(&path).unwrap().warnings().len(), warnings, "{source} {mode:o}");
    }
}

#[test]
fn every_fault_is_told_with_its_line_and_what_would_be_right() {
    let head = "[defaults]\nuser = \"u\"\n";
    let target = |line: &str| format!("{head}[target.a]\nhost = \"h\"\n{line}\n");
    let cases = [
        ("host = ".to_owned(), 1, "value"),
        ("[defaults]\ntsl = \"off\"\n".to_owned(), 2, "did you mean `tls`?"),
        ("[target.a]\nhost = \"h\"\nuser = 7\n".to_owned(), 3, "`target.a.user` must be"),
        ("[target.a]\nhost = \"h\"\n".to_owned(), 1, "no `user`"),
        (format!("{head}[target.a]\nport = 1\n"), 3, "neither `host`"),
        (format!("{head}[target.A]\nhost = \"h\"\n"), 3, "`A` is not an id"),
        (format!("{head}target = 7\n"), 3, "unknown key `defaults.target`"),
        (format!("{head}[target]\na = 7\n"), 4, "`target.a` must be a table"),
        (format!("{head}host = \"h\"\nsocket = \"/s\"\n"), 4, "more than one of"),
        (target("socket = \"/s\""), 5, "more than one of"),
        (target("endpoints = [\"x\"]"), 5, "more than one of"),
        (format!("{head}endpoints = [\"x\", \"tcp://x:3306\"]\n"), 3, "twice"),
        (format!("{head}endpoints = [\"x:y\"]\n"), 3, "`y` is no port"),
        (format!("{head}endpoints = []\n"), 3, "at most 100 of them"),
        (format!("{head}host = \"h\"\nport = 70000\n"), 4, "between 1 and 65,535"),
        (format!("{head}host = \"h\"\nport = 0\n"), 4, "between 1 and 65,535"),
        (format!("{head}host = \"\"\n"), 3, "`host` is empty"),
        (format!("{head}host = \"db:3307\"\n"), 3, "a port is written as `port`"),
        (format!("{head}socket = \"here\"\n"), 3, "not an absolute path"),
        (format!("{head}[target.a]\nsocket = \"/s\"\nport = 1\n"), 5, "a socket has none"),
        (target("password = 7"), 5, "{ env = \"NAME\" }"),
        (target("password = {}"), 5, "exactly one of"),
        (target("password = { evn = \"A\" }"), 5, "did you mean `env`?"),
        (target("password = { env = \"A\", file = \"b\" }"), 5, "exactly one of"),
        (target("password = { env = \"GRIDBENCH_NOT_SET\" }"), 5, "GRIDBENCH_NOT_SET is not set"),
        (target("password = { env = \"A=B\" }"), 5, "no name"),
        (target("password = { file = \"none\" }"), 5, "none: No such"),
        (target("password = { command = [] }"), 5, "is empty"),
        (target("password = { command = [\"false\"] }"), 5, "`false` ended with exit status: 1"),
        (target("password = { command = [\"/no/such\"] }"), 5, "cannot run `/no/such`"),
        (target("tls = \"verify\""), 5, "verify-ca"),
        (target("tls_cert = \"c.pem\""), 5, "belong together"),
        (format!("{head}socket = \"/s\"\ntls = \"required\"\n"), 4, "beside a socket"),
        (target("connect_timeout = 5"), 5, "write 600s"),
        (target("charset = \"utf8; DROP\""), 5, "not a character set"),
        (target("init = \"SET x = 1\""), 5, "a list of strings"),
        (target("init = [\" \"]"), 5, "must be statements"),
    ];
    for (text, line, message) in cases {
        let shown = read(&text).unwrap_err().to_string();
        let place = format!("targets.toml:{line}:");
        assert!(shown.contains(&place) && shown.contains(message), "{text}\ngave {shown}");
    }
}

#[test]
fn all_faults_are_told_at_once_and_no_password_with_them() {
    let text = "[defaults]\npassword = \"hunter2\"\ntsl = \"off\"\n[target.a]\nhost = \"\"\n\
                port = 0\npassword = { env = \"GRIDBENCH_NOT_SET\" }\nuser = \"u\"\n";
    let faults = read(text).unwrap_err();
    assert_eq!(faults.count(), 4, "{faults}");
    for text in [
        text,
        "[defaults]\npassword = \"hunter2\nuser = \"u\"\n",
        "[defaults]\npassword = hunter2\n",
        "[defaults]\nuser = 7\n\"password\" = 'hunter2'\n",
        "[defaults]\npassword = \"\"\"\nhunter2\n\"\"\"\nuser = 7\n",
        "[defaults]\nPassword = 'hunter2'\n",
        "defaults = { user = 7, password = \"hunter2\" }\n",
        "[defaults]\npassword = [\"hunter2\"]\n",
    ] {
        let shown = read(text).unwrap_err().to_string();
        assert!(!shown.contains("hunter2"), "{shown}");
    }
}

#[test]
fn patterns_stand_for_specs_and_the_narrowest_comes_first() {
    let text = r#"
        [defaults]
        user = "u-{spec}"
        [target."*"]
        host = "everything"
        [target."*c*g"]
        endpoints = ["{spec}.db:1", "/run/{spec}/server.sock", "[::1]"]
        database = "bench_{spec}"
        [target."2c*"]
        host = "small"
        [target.2c4g]
        host = "own"
    "#;
    assert_eq!(endpoint(text, "2c4g").address, tcp("own", 3306));
    assert_eq!(endpoint(text, "2c8g").address, tcp("small", 3306));
    assert_eq!(endpoint(text, "large").address, tcp("everything", 3306));
    let many = endpoint(text, "88c710g");
    assert_eq!(many.address, tcp("88c710g.db", 1));
    assert_eq!(many.others, [Address::Unix("/run/88c710g/server.sock".into()), tcp("::1", 3306)]);
    assert_eq!(
        (many.user.as_str(), many.database.as_deref()),
        ("u-88c710g", Some("bench_88c710g"))
    );
}

#[test]
fn what_a_connection_is_told_comes_from_the_target_or_the_defaults() {
    let text = r#"
        [defaults]
        user = { env = "CARGO_PKG_NAME" }
        tls = "verify-identity"
        tls_ca = "ca.pem"
        init = ["SET SESSION sort_buffer_size = 1000000"]
        read_timeout = "30s"
        [target.a]
        host = { command = ["printf", "db.example"] }
        tls = "required"
        tls_cert = "/etc/c.pem"
        tls_key = "k.pem"
        charset = "latin1"
        connect_timeout = "500ms"
        statement_timeout = "2m"
    "#;
    let found = endpoint(text, "a");
    assert_eq!((found.user.as_str(), found.address), ("gridbench", tcp("db.example", 3306)));
    assert_eq!(found.tls.mode, TlsMode::Required);
    assert!(found.tls.ca.is_some_and(|ca| ca.is_absolute() && ca.ends_with("ca.pem")));
    let (certificate, key) = found.tls.identity.unwrap();
    assert_eq!(certificate, Path::new("/etc/c.pem"));
    assert!(key.is_absolute() && key.ends_with("k.pem"));
    assert_eq!(
        found.session,
        SessionOptions {
            charset: Some("latin1".into()),
            init: vec!["SET SESSION sort_buffer_size = 1000000".into()],
            connect_timeout: Some(Duration::from_millis(500)),
            read_timeout: Some(Duration::from_secs(30)),
            statement_timeout: Some(Duration::from_secs(120)),
            guard: None,
        }
    );
    let said = found.session.statements();
    assert_eq!(said.len(), 3);
    assert_eq!(said[0], "SET NAMES latin1");
    assert!(said[1].contains("max_execution_time = 120000"), "{said:?}");
    assert!(said[1].contains("max_statement_time = 120 "), "{said:?}");
}

#[test]
fn what_is_no_targets_file_is_refused_as_a_whole() {
    assert!(read("").unwrap_err().to_string().contains("no target"));
    assert!(read("[defaults]\nuser = \"u\"").unwrap_err().to_string().contains("no target"));
    let dir = tempfile::tempdir().unwrap();
    assert!(read_targets(dir.path()).unwrap_err().to_string().contains("directory"));
    let path = dir.path().join("t");
    assert!(read_targets(&path).unwrap_err().to_string().contains("No such file"));
    fs::write(&path, [0xff, 0xfe]).unwrap();
    assert!(read_targets(&path).unwrap_err().to_string().contains("UTF-8"));
    fs::write(&path, vec![b'#'; 10_000_000]).unwrap();
    assert!(read_targets(&path).unwrap_err().to_string().contains("at most 1 MB"));
}

proptest::proptest! {
    #[test]
    fn any_printable_password_is_read_as_it_is(password in "\\PC{0,60}") {
        let quoted = toml::Value::String(password.clone()).to_string();
        let text = format!("[defaults]\nhost = \"h\"\nuser = \"u\"\npassword = {quoted}\n");
        let found = endpoint(&text, "a").password;
        proptest::prop_assert_eq!(found.reveal(), password);
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        let _ = read(&text);
    }
}
