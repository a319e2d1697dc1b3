//! What is said where nobody gets in.
//!
//! Must not know: certificates.

use gridbench::driver::wire::WireDriver;
use gridbench::driver::{Driver, Session};
use gridbench::model::{Address, Endpoint, Secret, Tls};

use crate::common;
use crate::{PASSWORD, account, answer, execute, is_mariadb, mysql, print, runtime};

#[test]
fn whoever_is_not_let_in_hears_what_to_do() {
    for server in mysql::each(&[]) {
        let by = format!("IDENTIFIED BY '{PASSWORD}'");
        execute(
            &server,
            &[
                format!("CREATE USER locked {by} ACCOUNT LOCK"),
                format!("CREATE USER expired {by} PASSWORD EXPIRE"),
                format!("CREATE USER elsewhere@'10.1.2.3' {by}"),
                format!("CREATE USER busy {by} WITH MAX_USER_CONNECTIONS 1"),
                format!("CREATE USER shy {by} REQUIRE SSL"),
                format!("CREATE USER bench {by}"),
            ],
        );
        let with = |user: &str| account(server.endpoint(), user, Tls::default());
        let cases = [
            (with("locked"), "ACCOUNT UNLOCK"),
            // MariaDB lets it in, to do nothing but what its answer says.
            (with("expired"), if is_mariadb(&server) { "SET PASSWORD" } else { "a new one" }),
            (with("elsewhere"), "from which hosts"),
            (with("shy"), "tls = \"required\""),
            (with("nobody"), "check `user` and `password`"),
            (Endpoint { password: Secret::new("wrong"), ..with("bench") }, "check `user`"),
            (Endpoint { password: Secret::new(""), ..with("bench") }, "check `user`"),
            (Endpoint { database: Some("none".into()), ..with("root") }, "check `user`"),
            (Endpoint { database: Some("none".into()), ..server.endpoint() }, "gridbench load"),
            (Endpoint { database: Some("mysql".into()), ..with("bench") }, "GRANT ALL ON"),
        ];
        for (endpoint, words) in cases {
            let said = answer(&endpoint);
            print(&format!("REFUSED | {} | {said}", endpoint.user));
            assert!(said.contains(words), "{}: {said}", endpoint.user);
        }
        runtime().block_on(async {
            let busy = with("busy");
            let first = WireDriver::new(&busy).connect().await.unwrap();
            let said = WireDriver::new(&busy).connect().await.unwrap_err().to_string();
            assert!(said.contains("1226") && said.contains("MAX_USER_CONNECTIONS"), "{said}");
            first.close().await;
        });
        if is_mariadb(&server) {
            // Nobody may come from where we come from.
            let everybody = "DROP USER locked, expired, elsewhere@'10.1.2.3', busy, shy, bench, \
                             root@'127.0.0.1', root@'::1'";
            execute(&server, &[everybody.to_owned(), "FLUSH PRIVILEGES".to_owned()]);
            let said = answer(&with("bench"));
            assert!(said.contains("1130") && said.contains("CREATE USER"), "{said}");
            continue;
        }
        execute(&server, &["SET GLOBAL require_secure_transport = ON".to_owned()]);
        let said = answer(&with("bench"));
        assert!(said.contains("tls = \"required\""), "{said}");
    }
}

#[test]
fn a_place_where_no_server_is_says_what_to_look_at() {
    let closed = common::free_port();
    let at = |host: &str| Address::Tcp { host: host.to_owned(), port: closed };
    let cases = [
        (at("127.0.0.1"), "is the server running, does it listen on this address"),
        (at("::1"), ""),
        (at("no-such-host.invalid"), "no-such-host.invalid"),
        (Address::Unix("/none/server.sock".into()), "is this its `socket`?"),
    ];
    for (address, words) in cases {
        let endpoint = Endpoint::new(address, "u", Secret::new(PASSWORD));
        let said = answer(&endpoint);
        assert!(said != "in" && said.contains(words), "{said}");
    }
}
