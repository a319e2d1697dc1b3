//! Targets files, right and wrong.

use super::*;

fn read(text: &str) -> Result<Targets, TargetError> {
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
fn every_fault_names_its_line_and_what_would_be_right() {
    let head = "[defaults]\nuser = \"u\"\n";
    let cases = [
        ("host = ", 1, "value"),
        ("[defaults]\ntls = \"off\"\n", 2, "unknown field `tls`, expected one of `host`, `port`"),
        ("[target.a]\nhost = \"h\"\nuser = 7\n", 3, "invalid type: integer `7`"),
        ("[target.a]\nhost = \"h\"\n", 1, "no `user`"),
        (&format!("{head}[target.a]\nport = 1\n"), 3, "neither `host` nor `socket`"),
        (&format!("{head}[target.A]\nhost = \"h\"\n"), 3, "`A` is not an id"),
        (&format!("{head}host = \"h\"\nsocket = \"/s\"\n"), 4, "both `host` and `socket`"),
        (&format!("{head}[target.a]\nhost = \"h\"\nsocket = \"/s\"\n"), 5, "both `host`"),
        (&format!("{head}host = \"h\"\nport = 70000\n"), 4, "from 1 to 65535"),
        (&format!("{head}host = \"h\"\nport = 0\n"), 4, "from 1 to 65535"),
        (&format!("{head}host = \" \"\n"), 3, "`host` is empty"),
        (&format!("{head}socket = \"here\"\n"), 3, "not an absolute path"),
        (&format!("{head}[target.a]\nsocket = \"/s\"\nport = 1\n"), 5, "a socket has none"),
        (&format!("{head}host = \"h\"\npassword = 7\n"), 4, "{ env = \"NAME\" }"),
        (&format!("{head}host = \"h\"\npassword = {{}}\n"), 4, "exactly one of"),
        (&format!("{head}host = \"h\"\npassword = {{ evn = \"A\" }}\n"), 4, "`evn`"),
        (
            &format!("{head}host = \"h\"\npassword = {{ env = \"A\", file = \"b\" }}\n"),
            4,
            "exactly one of",
        ),
        (
            &format!("{head}host = \"h\"\npassword = {{ env = \"GRIDBENCH_NOT_SET\" }}\n"),
            4,
            "GRIDBENCH_NOT_SET is not set",
        ),
        (&format!("{head}host = \"h\"\npassword = {{ env = \"A=B\" }}\n"), 4, "no name"),
        (&format!("{head}host = \"h\"\npassword = {{ file = \"none\" }}\n"), 4, "none: No such"),
        (&format!("{head}host = \"h\"\npassword = {{ command = [] }}\n"), 4, "`command` is empty"),
        (
            &format!("{head}host = \"h\"\npassword = {{ command = [\"false\"] }}\n"),
            4,
            "`false` ended with exit status: 1",
        ),
        (
            &format!("{head}host = \"h\"\npassword = {{ command = [\"/no/such\"] }}\n"),
            4,
            "cannot run `/no/such`",
        ),
    ];
    for (text, line, message) in cases {
        let error = read(text).unwrap_err();
        let place = format!("targets.toml:{line}: ");
        let shown = error.to_string();
        assert!(shown.contains(&place) && shown.contains(message), "{text}\ngave {shown}");
    }
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
    assert!(read_targets(&path).unwrap_err().to_string().contains("larger than"));
}

proptest::proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in ".{0,200}") {
        let _ = read(&text);
    }
}
