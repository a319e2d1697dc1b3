//! The rows of a run that say what the server did: `server.csv`, `server_seconds.csv`,
//! `commands.csv`.
//!
//! Must not know: files. As in [`super::rows`], integers carry their unit in the name and an
//! unknown is empty.

use serde::{Deserialize, Serialize};

use crate::model::{CommandCount, Counter, Counters, Evidence, ProcessUse, ServerUse};

use super::TrialRecord;
use super::csv_table::{Row, text};
use super::wire::Invalid;

/// A row type whose last columns are the counters, each under its name.
macro_rules! with_counters {
    (
        {
            $(#[$doc:meta])*
            $name:ident { $($(#[$attribute:meta])* $field:ident: $type:ty),+ $(,)? }
        }
        { $($counter:ident),+ }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
        pub(super) struct $name {
            $($(#[$attribute])* pub(super) $field: $type,)+
            $($counter: Option<u64>,)+
        }

        impl $name {
            fn counters(&self) -> Counters {
                let mut counters = Counters::default();
                $(counters.set(counter(stringify!($counter)), self.$counter);)+
                counters
            }

            fn with(self, counters: &Counters) -> Self {
                Self { $($counter: counters.get(counter(stringify!($counter))),)+ ..self }
            }
        }
    };
}

/// Row types that all end with the same counters, which stand first.
macro_rules! rows {
    ($counters:tt $($row:tt)+) => { $(with_counters! { $row $counters })+ };
}

fn counter(column: &str) -> Counter {
    Counter::from_name(column).expect("each column is a counter's name; a test holds it")
}

rows! {
    {
        aborted_clients, bytes_received, bytes_sent, com_begin, com_commit, com_delete, com_insert,
        com_replace, com_rollback, com_select, com_stmt_execute, com_update,
        created_tmp_disk_tables, handler_read_key, handler_read_next,
        innodb_buffer_pool_read_requests,
        innodb_buffer_pool_reads, innodb_deadlocks, innodb_log_writes, innodb_os_log_written,
        innodb_pages_read, innodb_pages_written, innodb_row_lock_time, innodb_row_lock_waits,
        innodb_rows_read, questions, threads_connected, threads_running
    }
    {
        /// `server.csv`: a row per trial, what the server did in the measured window.
        ServerRow {
            trial: u64,
            spec: String,
            scenario: String,
            concurrency: u32,
            repetition: u32,
            window_us: u64,
            #[serde(with = "text")]
            trouble: String,
            commands_uncertain: u64,
            hit_ratio_ppm: Option<u64>,
            pages_read_per_1000_queries: Option<u64>,
            cpu_us_per_1000_queries: Option<u64>,
            bytes_sent_per_1000_queries: Option<u64>,
            bytes_received_per_1000_queries: Option<u64>,
            cpu_us: Option<u64>,
            disk_read_bytes: Option<u64>,
            disk_write_bytes: Option<u64>,
        }
    }
    {
        /// `server_seconds.csv`: a row per second of the window and trial, from one look at the
        /// server to the next.
        SecondRow {
            trial: u64,
            spec: String,
            scenario: String,
            concurrency: u32,
            repetition: u32,
            elapsed_us: u64,
            length_us: u64,
            cpu_us: Option<u64>,
            disk_read_bytes: Option<u64>,
            disk_write_bytes: Option<u64>,
        }
    }
}

/// `commands.csv`: a row per trial and kind of command, over all phases of the trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CommandRow {
    pub(super) trial: u64,
    pub(super) spec: String,
    pub(super) scenario: String,
    pub(super) concurrency: u32,
    pub(super) repetition: u32,
    pub(super) counter: String,
    pub(super) sent: u64,
    pub(super) seen: Option<u64>,
}

impl ServerRow {
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, evidence: &Evidence) -> Self {
        let window = &evidence.window;
        let per_query = |amount: Option<u64>| window.per_thousand_queries(amount?);
        let count = |counter| window.counters.get(counter);
        let process = window.process;
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            window_us: window.length_us,
            trouble: evidence.trouble.clone().unwrap_or_default(),
            commands_uncertain: evidence.uncertain,
            hit_ratio_ppm: window.hit_ratio_ppm(),
            pages_read_per_1000_queries: per_query(window.pages_read()),
            cpu_us_per_1000_queries: per_query(process.map(|used| used.cpu_us)),
            bytes_sent_per_1000_queries: per_query(count(Counter::BytesSent)),
            bytes_received_per_1000_queries: per_query(count(Counter::BytesReceived)),
            cpu_us: process.map(|used| used.cpu_us),
            disk_read_bytes: process.and_then(|used| used.disk_read_bytes),
            disk_write_bytes: process.and_then(|used| used.disk_write_bytes),
            ..Self::default()
        }
        .with(&window.counters)
    }

    /// What it says, without the seconds and commands of the other files.
    pub(super) fn evidence(&self) -> Evidence {
        let process = (self.cpu_us, self.disk_read_bytes, self.disk_write_bytes);
        Evidence {
            window: server_use(self.window_us, self.counters(), process),
            uncertain: self.commands_uncertain,
            trouble: Some(self.trouble.clone()).filter(|words| !words.is_empty()),
            ..Evidence::default()
        }
    }
}

impl SecondRow {
    pub(super) fn of(
        trial: u64,
        record: &TrialRecord<'_>,
        (elapsed_us, second): &(u64, ServerUse),
    ) -> Self {
        let process = second.process;
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            elapsed_us: *elapsed_us,
            length_us: second.length_us,
            cpu_us: process.map(|used| used.cpu_us),
            disk_read_bytes: process.and_then(|used| used.disk_read_bytes),
            disk_write_bytes: process.and_then(|used| used.disk_write_bytes),
            ..Self::default()
        }
        .with(&second.counters)
    }

    /// The end of the second from the start of the window, and what was done in it.
    pub(super) fn second(&self) -> (u64, ServerUse) {
        let process = (self.cpu_us, self.disk_read_bytes, self.disk_write_bytes);
        (self.elapsed_us, server_use(self.length_us, self.counters(), process))
    }
}

fn server_use(
    length_us: u64,
    counters: Counters,
    (cpu_us, disk_read_bytes, disk_write_bytes): (Option<u64>, Option<u64>, Option<u64>),
) -> ServerUse {
    let process = cpu_us.map(|cpu_us| ProcessUse { cpu_us, disk_read_bytes, disk_write_bytes });
    ServerUse { length_us, counters, process }
}

impl CommandRow {
    pub(super) fn of(trial: u64, record: &TrialRecord<'_>, command: &CommandCount) -> Self {
        Self {
            trial,
            spec: record.cell.id.spec.to_string(),
            scenario: record.cell.id.scenario.to_string(),
            concurrency: record.cell.id.concurrency,
            repetition: record.repetition,
            counter: command.counter.name().to_owned(),
            sent: command.sent,
            seen: command.seen,
        }
    }
}

impl TryFrom<CommandRow> for CommandCount {
    type Error = Invalid;

    fn try_from(row: CommandRow) -> Result<Self, Invalid> {
        let counter = Counter::from_name(&row.counter);
        let counter = counter.ok_or_else(|| Invalid(format!("`{}` is no counter", row.counter)))?;
        Ok(Self { counter, sent: row.sent, seen: row.seen })
    }
}

impl Row for ServerRow {
    const FILE: &'static str = "server.csv";
}

impl Row for SecondRow {
    const FILE: &'static str = "server_seconds.csv";
}

impl Row for CommandRow {
    const FILE: &'static str = "commands.csv";
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::csv_table::header;

    #[test]
    fn the_last_columns_are_the_counters_by_name() {
        let names = Counter::ALL.map(Counter::name).join(",");
        for header in [header::<ServerRow>(), header::<SecondRow>()] {
            let header = String::from_utf8(header).unwrap();
            assert!(header.trim_end().ends_with(&format!(",{names}")), "{header}");
        }
    }
}
