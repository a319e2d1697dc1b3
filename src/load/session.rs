//! A session that loads, and how rows reach the server in it.
//!
//! Must not know: which rows.

use crate::driver::adapter::Admin;
use crate::model::Flavour;

use super::LoadError;
use super::schema::Home;

/// What is set in every session that loads. A server's own modes would change what strings mean
/// and whether a value that does not fit is an error.
const SETTINGS: &str = "SET SESSION sql_mode = 'STRICT_ALL_TABLES', autocommit = 1, \
                        unique_checks = 0, foreign_key_checks = 0";
/// A packet has a header, and a server counts generously.
const PACKET_MARGIN: usize = 1_024;
/// The smallest `max_allowed_packet` that can be set; where a server does not say.
const PACKET_MIN: usize = 1_024;

/// How rows reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadRoute {
    /// LOAD DATA LOCAL, streamed.
    Files,
    /// Multi-row INSERT, because it is a MariaDB: prepared ones cost it less than files, of which
    /// it reads every byte on its own.
    InsertsAsTheyAreCheaper,
    /// Multi-row INSERT, because `local_infile` is off.
    InsertsAsFilesAreOff,
    /// Multi-row INSERT, because the server refused a file although `local_infile` is on.
    InsertsAsFilesAreRefused,
    /// Multi-row INSERT, because several loaders share a table, and the server's
    /// `innodb_autoinc_lock_mode` lets only one file at a time into a table.
    InsertsAsTablesAreShared,
}

impl LoadRoute {
    /// In a few words: how, and why.
    pub fn words(self) -> &'static str {
        match self {
            Self::Files => "LOAD DATA LOCAL, which the server allows (local_infile)",
            Self::InsertsAsTheyAreCheaper => {
                "multi-row INSERT, prepared, which costs MariaDB less than LOAD DATA"
            }
            Self::InsertsAsFilesAreOff => "multi-row INSERT, because local_infile is off",
            Self::InsertsAsFilesAreRefused => {
                "multi-row INSERT, because LOAD DATA LOCAL was refused"
            }
            Self::InsertsAsTablesAreShared => {
                "multi-row INSERT, because loaders share tables and innodb_autoinc_lock_mode lets \
                 one file at a time into a table"
            }
        }
    }

    /// Asks the server. `is_shared`: whether more loaders at once than there are tables make it
    /// faster.
    pub(super) async fn choose(admin: &mut Admin, is_shared: bool) -> Self {
        // A server that does not know the variable does not take files either.
        let takes_files = admin.scalar("SELECT @@GLOBAL.local_infile").await.ok().flatten();
        if takes_files.as_deref() != Some("1") {
            return Self::InsertsAsFilesAreOff;
        }
        let version = admin.scalar("SELECT @@version").await.ok().flatten().unwrap_or_default();
        if Flavour::of_version(&version).takes_inserts_cheaper() {
            return Self::InsertsAsTheyAreCheaper;
        }
        let mode = admin.scalar("SELECT @@GLOBAL.innodb_autoinc_lock_mode").await.ok().flatten();
        match mode.as_deref() {
            Some("2") => Self::Files,
            _ if is_shared => Self::InsertsAsTablesAreShared,
            _ => Self::Files,
        }
    }
}

/// Whether the binary log may be off while rows are loaded: it is on, and no replica reads it,
/// which would miss the tables otherwise.
pub(super) async fn may_skip_log(admin: &mut Admin) -> bool {
    let is_on = admin.scalar("SELECT @@GLOBAL.log_bin").await.ok().flatten();
    if is_on.as_deref() != Some("1") {
        return false;
    }
    let replicas = "SELECT COUNT(*) FROM information_schema.processlist \
                    WHERE command LIKE 'Binlog Dump%'";
    let replicas = admin.scalar(replicas).await.ok().flatten();
    replicas.as_deref() == Some("0")
}

/// Connects and prepares a session; returns it with the largest statement that the server takes.
pub(super) async fn open(home: &Home, may_skip_log: bool) -> Result<(Admin, usize), LoadError> {
    let mut admin = home.connect(&home.endpoint).await?;
    home.run(&mut admin, SETTINGS, "preparing a session").await?;
    if may_skip_log {
        // It takes a right that not every account has; then rows are logged.
        let _ = admin.execute("SET SESSION sql_log_bin = 0").await;
    }
    let packet = admin.scalar("SELECT @@SESSION.max_allowed_packet").await.ok().flatten();
    let packet = packet.and_then(|packet| packet.parse().ok()).unwrap_or(PACKET_MIN);
    Ok((admin, packet.saturating_sub(PACKET_MARGIN)))
}
