//! The options of a managed server: one table, with the reason for each.
//!
//! Must not know: processes, files, accounts.

use std::path::PathBuf;

use crate::model::{Bytes, Flavour};

/// What the caller decides about a managed server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerSettings {
    /// Under which each server program has a home of its own.
    pub data_dir: PathBuf,
    /// The buffer pool that is wanted; see [`effective_buffer_pool`].
    pub buffer_pool: Bytes,
    /// Connections that the server admits, if the limit on open files lets it.
    pub max_connections: u32,
    /// Processors that it is bound to; `None`: all that this process may use.
    pub cpus: Option<u32>,
    /// TCP port; `None`: a free one.
    pub port: Option<u16>,
}

const MIB: u64 = 1 << 20;
/// MariaDB 10.11 refuses less with 16 KiB pages (MySQL: 5 MiB).
const MIN_BUFFER_POOL: u64 = 6 * MIB;
/// From here on MySQL 8.0 splits the pool in eight by default.
const MANY_INSTANCES_FROM: u64 = 1 << 30;
const MIN_REDO_LOG: u64 = 48 * MIB;
const MAX_REDO_LOG: u64 = 4 << 30;

/// The pool that a server really gets: whole MiB (whole 8 MiB from 1 GiB on, one for each
/// instance), rounded down as MariaDB does, at least 6 MiB. Both families report exactly this
/// as `@@innodb_buffer_pool_size`.
pub fn effective_buffer_pool(wanted: Bytes) -> Bytes {
    let unit = MIB * pool_instances(wanted.0);
    Bytes((wanted.0 / unit * unit).max(MIN_BUFFER_POOL))
}

fn pool_instances(bytes: u64) -> u64 {
    if bytes >= MANY_INSTANCES_FROM { 8 } else { 1 }
}

/// From which the values follow.
struct Sizes {
    pool: u64,
    max_connections: u32,
}

impl Sizes {
    fn redo_log(&self) -> u64 {
        (self.pool / 4).clamp(MIN_REDO_LOG, MAX_REDO_LOG) / MIB * MIB
    }

    /// The whole of an instance: with any smaller chunk MySQL rounds the pool up.
    fn chunk(&self) -> u64 {
        self.pool / pool_instances(self.pool)
    }
}

/// One option: whose it is, its name, its value.
type Row = (Option<Flavour>, &'static str, fn(&Sizes) -> String);

const BOTH: Option<Flavour> = None;
const MYSQL: Option<Flavour> = Some(Flavour::MySql);
const MARIADB: Option<Flavour> = Some(Flavour::MariaDb);

/// `loose_` marks an option that only some versions of a family know. Whatever is not here
/// has the server's own default: collation, isolation level, I/O capacity.
const OPTIONS: &[Row] = &[
    // The spec.
    (BOTH, "innodb_buffer_pool_size", |sizes| sizes.pool.to_string()),
    (BOTH, "loose_innodb_buffer_pool_chunk_size", |sizes| sizes.chunk().to_string()),
    (MYSQL, "innodb_buffer_pool_instances", |sizes| pool_instances(sizes.pool).to_string()),
    (BOTH, "max_connections", |sizes| sizes.max_connections.to_string()),
    // Durable: a commit that was answered survives a crash; torn pages are repaired.
    (BOTH, "innodb_flush_log_at_trx_commit", |_| "1".into()),
    (BOTH, "innodb_doublewrite", |_| "ON".into()),
    // A page "read from disk" must not come from the system's cache.
    (BOTH, "innodb_flush_method", |_| "O_DIRECT".into()),
    // A quarter of the pool, 48 MiB to 4 GiB: checkpoints neither dominate nor never happen.
    (MARIADB, "innodb_log_file_size", |sizes| sizes.redo_log().to_string()),
    (MYSQL, "loose_innodb_redo_log_capacity", |sizes| sizes.redo_log().to_string()),
    // The published method: no binary log.
    (BOTH, "skip_log_bin", |_| "ON".into()),
    // Published too is a thread pool, but MySQL's community server has none, and on 2 cores
    // with 64 connections MariaDB's lost up to a third of the point reads and won up to a
    // third of the writes. One thread for each connection is both families' default.
    (BOTH, "thread_handling", |_| "one-thread-per-connection".into()),
    // Every start begins with a cold pool, so that trials do not depend on the run before.
    (BOTH, "innodb_buffer_pool_dump_at_shutdown", |_| "OFF".into()),
    (BOTH, "innodb_buffer_pool_load_at_startup", |_| "OFF".into()),
    // What instruments or short-cuts statements is off in both families.
    (BOTH, "performance_schema", |_| "OFF".into()),
    (MARIADB, "query_cache_type", |_| "OFF".into()),
    (MARIADB, "query_cache_size", |_| "0".into()),
    // Room for 600 tables times the connections, and for every prepared statement. The server
    // lowers the first where the limit on open files is low.
    (BOTH, "table_open_cache", |_| "16384".into()),
    (BOTH, "table_definition_cache", |_| "4096".into()),
    (BOTH, "max_prepared_stmt_count", |_| "1048576".into()),
    // Hundreds of connections are opened at once: none may wait for a repeated SYN.
    (BOTH, "back_log", |_| "4096".into()),
    (BOTH, "character_set_server", |_| "utf8mb4".into()),
    (BOTH, "local_infile", |_| "ON".into()),
    // Nothing listens but the server itself, on loopback; no name is looked up.
    (BOTH, "bind_address", |_| "127.0.0.1".into()),
    (BOTH, "skip_name_resolve", |_| "ON".into()),
    (MYSQL, "loose_mysqlx", |_| "OFF".into()),
    // The packaged default is a directory that need not exist; LOAD DATA LOCAL needs none.
    (MYSQL, "secure_file_priv", |_| "NULL".into()),
];

/// Name and value of every option that moves results, in the order of the table.
pub(super) fn options(flavour: Flavour, settings: &ServerSettings) -> Vec<(String, String)> {
    let sizes = Sizes {
        pool: effective_buffer_pool(settings.buffer_pool).0,
        max_connections: settings.max_connections,
    };
    let rows = OPTIONS.iter().filter(|(whose, ..)| whose.is_none_or(|whose| whose == flavour));
    rows.map(|(_, name, value)| ((*name).to_owned(), value(&sizes))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(flavour: Flavour, pool: u64, name: &str) -> Option<String> {
        let settings = ServerSettings {
            data_dir: PathBuf::new(),
            buffer_pool: Bytes(pool),
            max_connections: 1_500,
            cpus: None,
            port: None,
        };
        let mut options = options(flavour, &settings).into_iter();
        options.find(|(option, _)| option == name).map(|(_, value)| value)
    }

    #[test]
    fn a_pool_is_rounded_down_to_what_both_families_can_have() {
        let cases = [
            (0, 6 * MIB),
            (5_500_000, 6 * MIB),
            (8_000_000, 7 * MIB),
            (1_000_000_000, 953 * MIB),
            (1 << 30, 1024 * MIB),
            (3_000_000_000, 2856 * MIB),
        ];
        for (wanted, pool) in cases {
            assert_eq!(effective_buffer_pool(Bytes(wanted)), Bytes(pool), "{wanted}");
            assert_eq!(effective_buffer_pool(Bytes(pool)), Bytes(pool), "rounding twice");
        }
    }

    #[test]
    fn chunks_times_instances_are_the_pool() {
        for wanted in [1, 77_777_777, 3_000_000_000, 532_500_000_000] {
            let number = |name| value(Flavour::MySql, wanted, name).unwrap().parse().unwrap();
            let pool: u64 = number("innodb_buffer_pool_size");
            let chunks: u64 = number("loose_innodb_buffer_pool_chunk_size");
            assert_eq!(chunks * number("innodb_buffer_pool_instances"), pool);
            assert_eq!(chunks % MIB, 0);
        }
    }

    #[test]
    fn the_redo_log_follows_the_pool_within_limits() {
        let redo = |pool| value(Flavour::MariaDb, pool, "innodb_log_file_size").unwrap();
        assert_eq!(redo(6 * MIB), (48 * MIB).to_string());
        assert_eq!(redo(3_000_000_000), (714 * MIB).to_string());
        assert_eq!(redo(100_000_000_000), (4096 * MIB).to_string());
    }

    #[test]
    fn a_family_gets_only_its_own_options() {
        assert_eq!(value(Flavour::MySql, 1, "query_cache_type"), None);
        assert_eq!(value(Flavour::MariaDb, 1, "loose_mysqlx"), None);
        assert_eq!(value(Flavour::MariaDb, 1, "skip_log_bin").as_deref(), Some("ON"));
    }
}
