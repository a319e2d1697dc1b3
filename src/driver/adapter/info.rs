//! What a server says of itself.
//!
//! Must not know: what follows from it.

use std::time::Instant;

use super::Admin;
use crate::driver::wire::WireDriver;
use crate::driver::{Driver, DriverError, Session};
use crate::model::{Counter, Counters, Endpoint, Flavour, ServerInfo};

/// Variables that move results. Not every server has each; a name that one lacks is left out.
const VARIABLES: &[&str] = &[
    "autocommit",
    "back_log",
    "binlog_format",
    "binlog_row_image",
    "character_set_server",
    "collation_server",
    "default_storage_engine",
    "general_log",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_instances",
    "innodb_buffer_pool_size",
    "innodb_change_buffering",
    "innodb_checksum_algorithm",
    "innodb_dedicated_server",
    "innodb_doublewrite",
    "innodb_file_per_table",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_size",
    "innodb_log_files_in_group",
    "innodb_page_cleaners",
    "innodb_page_size",
    "innodb_read_io_threads",
    "innodb_read_only",
    "innodb_redo_log_capacity",
    "innodb_thread_concurrency",
    "innodb_use_native_aio",
    "innodb_write_io_threads",
    "log_bin",
    "max_allowed_packet",
    "max_connections",
    "max_prepared_stmt_count",
    "max_user_connections",
    "open_files_limit",
    "performance_schema",
    "query_cache_size",
    "query_cache_type",
    "read_only",
    "skip_name_resolve",
    "slow_query_log",
    "sql_mode",
    "super_read_only",
    "sync_binlog",
    "table_definition_cache",
    "table_open_cache",
    "table_open_cache_instances",
    "thread_cache_size",
    "thread_handling",
    "thread_pool_size",
    "transaction_isolation",
    "tx_isolation",
    "version",
    "version_comment",
    "version_compile_machine",
    "wait_timeout",
];

impl Admin {
    /// Version, family, and the variables that move results.
    pub async fn server_info(&mut self) -> Result<ServerInfo, DriverError> {
        let version = self.scalar("SELECT @@version").await?.unwrap_or_default();
        let names = VARIABLES.join("','");
        let sql = format!("SHOW GLOBAL VARIABLES WHERE Variable_name IN ('{names}')");
        let rows = self.rows(&sql).await?;
        let variables = rows.into_iter().filter_map(|row| {
            let mut columns = row.into_iter();
            Some((columns.next()??.to_ascii_lowercase(), columns.next()??))
        });
        let tls = self.tls().await?;
        // The load's own way in, which is to be seen before the load depends on it.
        let first = Endpoint { others: Vec::new(), ..self.endpoint().clone() };
        let session = WireDriver::new(&first).connect().await?;
        let auth_plugin = Some(session.auth_plugin().to_owned());
        session.close().await;
        let addresses: Vec<String> =
            self.endpoint().each().map(|endpoint| endpoint.address.to_string()).collect();
        Ok(ServerInfo {
            tls,
            auth_plugin,
            round_trip_us: Some(self.round_trip_us().await?),
            flavour: Flavour::of_version(&version),
            version,
            address: addresses.join(", "),
            variables: variables.collect(),
        })
    }

    /// Version and cipher of this connection, as the server has them.
    async fn tls(&mut self) -> Result<Option<String>, DriverError> {
        let sql = "SHOW SESSION STATUS WHERE Variable_name IN ('Ssl_version','Ssl_cipher')";
        let values = self.rows(sql).await?.into_iter().filter_map(|row| row.into_iter().nth(1)?);
        let values: Vec<String> = values.filter(|value| !value.is_empty()).collect();
        Ok((!values.is_empty()).then(|| values.join(" ")))
    }

    /// The median time of the least statement, after some that warm the way.
    async fn round_trip_us(&mut self) -> Result<u64, DriverError> {
        const WARMING: usize = 5;
        const MEASURED: usize = 21;
        let mut times = Vec::with_capacity(MEASURED);
        for round in 0..WARMING + MEASURED {
            let begin = Instant::now();
            self.execute("DO 0").await?;
            if round >= WARMING {
                times.push(begin.elapsed());
            }
        }
        times.sort_unstable();
        Ok(u64::try_from(times[MEASURED / 2].as_micros()).unwrap_or(u64::MAX))
    }

    /// Which server this is, among all: two addresses with the same answer lead to the same one.
    pub async fn identity(&mut self) -> Result<String, DriverError> {
        let sql = "SELECT CONCAT_WS(' ', @@hostname, @@port, @@datadir, @@server_id)";
        Ok(self.scalar(sql).await?.unwrap_or_default())
    }

    /// The status counters of the whole server, as they are now.
    pub async fn counters(&mut self) -> Result<Counters, DriverError> {
        // All of them: a condition would make the server build the same list, and a table of it.
        let rows = self.rows("SHOW GLOBAL STATUS").await?;
        let mut counters = Counters::default();
        for row in rows {
            let mut columns = row.into_iter();
            if let (Some(Some(name)), Some(Some(value))) = (columns.next(), columns.next())
                && let Some(counter) = Counter::from_name(&name)
            {
                counters.set(counter, value.parse().ok());
            }
        }
        Ok(counters)
    }
}
