//! Connections that were refused, in words that say what mends it.
//!
//! Must not know: which client was refused.

use std::io;

use super::DriverError;
use crate::model::{Address, Endpoint};

/// What a server's refusal of a login means for who wrote the targets file, by its code. Source:
/// the error references of MySQL 9 and MariaDB 10.11.
const REMEDIES: &[(&[u16], &str)] = &[
    (&[1044], "grant the account the schema: GRANT ALL ON `SCHEMA`.* TO it"),
    (
        &[1045, 1698],
        "check `user` and `password` of the target, and from which hosts the account may come",
    ),
    (
        &[1049],
        "create the schema, or leave it to `gridbench load`, which creates the one that `database` \
         names",
    ),
    (
        &[1040, 1203],
        "raise max_connections (max_user_connections), end other clients, or measure a lower \
         concurrency",
    ),
    (&[1226], "raise the account's limits (ALTER USER ... WITH MAX_USER_CONNECTIONS)"),
    (&[1129], "the server has blocked this host: FLUSH HOSTS, and raise max_connect_errors"),
    (&[1130], "no account may come from this host: CREATE USER 'USER'@'HOST' for it"),
    (&[1820, 1862], "its password has expired: ALTER USER ... IDENTIFIED BY a new one"),
    (&[3118, 4151], "the account is locked: ALTER USER ... ACCOUNT UNLOCK"),
    (&[3955], "too many wrong passwords: wait, or ALTER USER ... ACCOUNT UNLOCK"),
    (
        &[1251, 1275, 1524, 2061],
        "the server lacks the account's plug-in: ALTER USER ... IDENTIFIED WITH \
         caching_sha2_password (MySQL), mysql_native_password or ed25519 (MariaDB)",
    ),
    (&[3159], "the server wants encryption: tls = \"required\""),
    (&[1053], "the server is shutting down"),
];

/// The same error with what mends it.
pub(super) fn explained(error: DriverError, endpoint: &Endpoint) -> DriverError {
    let DriverError::Server { code, sqlstate, message } = error else { return error };
    let remedy = REMEDIES.iter().find(|(codes, _)| codes.contains(&code)).map(|(_, words)| *words);
    let mut message = remedy.map_or(message.clone(), |remedy| format!("{message}; {remedy}"));
    let is_clear =
        !endpoint.tls.mode.is_demanded() && matches!(endpoint.address, Address::Tcp { .. });
    if code == 1045 && is_clear {
        message.push_str("; one that was made with REQUIRE SSL wants tls = \"required\"");
    }
    DriverError::Server { code, sqlstate, message }
}

/// What the system said when no connection could be made or it broke, with what mends it.
pub(super) fn of_the_system(error: &io::Error, endpoint: &Endpoint) -> String {
    let remedy = match (error.kind(), &endpoint.address) {
        (io::ErrorKind::ConnectionRefused, Address::Tcp { .. }) => {
            "; is the server running, does it listen on this address (bind_address), and is the \
             port right?"
        }
        (io::ErrorKind::ConnectionRefused, Address::Unix(_)) => "; is the server running?",
        (io::ErrorKind::NotFound, Address::Unix(_)) => {
            "; is the server running, and is this its `socket`?"
        }
        (io::ErrorKind::PermissionDenied, Address::Unix(_)) => {
            "; this user may not enter the socket's folder"
        }
        _ => "",
    };
    format!("{error}{remedy}")
}

/// A statement that every connection begins with was refused.
pub(super) fn of_a_beginning(error: DriverError, sql: &str) -> DriverError {
    match error {
        DriverError::Server { code, sqlstate, message } => {
            let message = format!("{message}; it is said to each new connection: {sql}");
            DriverError::Server { code, sqlstate, message }
        }
        error => error,
    }
}
