//! What a server says it did while a trial was measured, beside what we say that we asked of it.
//!
//! Must not know: how counters are read, or where they are kept. An unknown is `None`, never 0:
//! servers differ in what they count.

macro_rules! counters {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        /// A status counter of a server, as MySQL and MariaDB name it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each is the server's own counter of that name")]
        pub enum Counter { $($variant),+ }

        impl Counter {
            /// All of them, by name.
            pub const ALL: [Self; Counters::LEN] = [$(Self::$variant),+];

            /// The server's name in lower case, and the column in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }
        }

        impl Counters {
            const LEN: usize = [$($name),+].len();
        }
    };
}

counters! {
    AbortedClients = "aborted_clients",
    BytesReceived = "bytes_received",
    BytesSent = "bytes_sent",
    ComBegin = "com_begin",
    ComCommit = "com_commit",
    ComDelete = "com_delete",
    ComInsert = "com_insert",
    ComReplace = "com_replace",
    ComRollback = "com_rollback",
    ComSelect = "com_select",
    ComStmtExecute = "com_stmt_execute",
    ComUpdate = "com_update",
    CreatedTmpDiskTables = "created_tmp_disk_tables",
    HandlerReadKey = "handler_read_key",
    HandlerReadNext = "handler_read_next",
    BufferPoolReadRequests = "innodb_buffer_pool_read_requests",
    BufferPoolReads = "innodb_buffer_pool_reads",
    Deadlocks = "innodb_deadlocks",
    LogWrites = "innodb_log_writes",
    OsLogWritten = "innodb_os_log_written",
    PagesRead = "innodb_pages_read",
    PagesWritten = "innodb_pages_written",
    RowLockTime = "innodb_row_lock_time",
    RowLockWaits = "innodb_row_lock_waits",
    RowsRead = "innodb_rows_read",
    Questions = "questions",
    ThreadsConnected = "threads_connected",
    ThreadsRunning = "threads_running",
}

impl Counter {
    /// Whether it says what is now, not what was done since the server started.
    pub fn is_gauge(self) -> bool {
        matches!(self, Self::ThreadsConnected | Self::ThreadsRunning)
    }

    /// The counter of that name, in any case.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|counter| counter.name().eq_ignore_ascii_case(name))
    }

    /// What a server counts for statements that begin with this word.
    pub fn of_command(word: &str) -> Option<Self> {
        match word.to_ascii_uppercase().as_str() {
            "BEGIN" | "START" => Some(Self::ComBegin),
            "COMMIT" => Some(Self::ComCommit),
            "ROLLBACK" => Some(Self::ComRollback),
            "SELECT" => Some(Self::ComSelect),
            "INSERT" => Some(Self::ComInsert),
            "REPLACE" => Some(Self::ComReplace),
            "UPDATE" => Some(Self::ComUpdate),
            "DELETE" => Some(Self::ComDelete),
            _ => None,
        }
    }
}

/// A value for each counter that the server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters([Option<u64>; Self::LEN]);

impl Counters {
    /// The value of a counter.
    pub fn get(&self, counter: Counter) -> Option<u64> {
        self.0[counter as usize]
    }

    /// Sets one.
    pub fn set(&mut self, counter: Counter, value: Option<u64>) {
        self.0[counter as usize] = value;
    }

    /// The counts of two servers together; what one of them does not say is unknown.
    pub fn plus(&self, other: &Self) -> Self {
        let mut sum = Self::default();
        for counter in Counter::ALL {
            let both = self.get(counter).zip(other.get(counter));
            sum.set(counter, both.map(|(one, other)| one.saturating_add(other)));
        }
        sum
    }

    /// What was done since `earlier`; gauges stay as they are. A counter that went back (the
    /// server was started again, or somebody reset it) is unknown.
    pub fn since(&self, earlier: &Self) -> Self {
        let mut change = Self::default();
        for counter in Counter::ALL {
            let now = self.get(counter);
            let value = match counter.is_gauge() {
                true => now,
                false => {
                    now.zip(earlier.get(counter)).and_then(|(now, then)| now.checked_sub(then))
                }
            };
            change.set(counter, value);
        }
        change
    }
}

/// What a process of this host has used since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessUse {
    /// Processor time, user and system.
    pub cpu_us: u64,
    /// Bytes that it made the system read from disks; `None` where this may not be known.
    pub disk_read_bytes: Option<u64>,
    /// Bytes that it made the system write to disks.
    pub disk_write_bytes: Option<u64>,
}

impl ProcessUse {
    /// What was used since `earlier`.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let change = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Some(Self {
            cpu_us: self.cpu_us.checked_sub(earlier.cpu_us)?,
            disk_read_bytes: change(self.disk_read_bytes, earlier.disk_read_bytes),
            disk_write_bytes: change(self.disk_write_bytes, earlier.disk_write_bytes),
        })
    }
}

/// What was done on the server between two looks at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ServerUse {
    /// Time between the two looks.
    pub length_us: u64,
    /// What the server counted.
    pub counters: Counters,
    /// What its process used; known only of a server on this host.
    pub process: Option<ProcessUse>,
}

impl ServerUse {
    /// Pages that were read from disk, read-ahead included.
    pub fn pages_read(&self) -> Option<u64> {
        let count = |counter| self.counters.get(counter);
        count(Counter::PagesRead).or_else(|| count(Counter::BufferPoolReads))
    }

    /// Of the pages that were asked for, the share that the buffer pool had, in millionths.
    pub fn hit_ratio_ppm(&self) -> Option<u64> {
        let requests = self.counters.get(Counter::BufferPoolReadRequests)?;
        let missed = self.counters.get(Counter::BufferPoolReads)?;
        let hits = u128::from(requests.saturating_sub(missed));
        (hits * 1_000_000).checked_div(u128::from(requests)).and_then(|ppm| ppm.try_into().ok())
    }

    /// So much of something for each thousand statements that the server counted.
    pub fn per_thousand_queries(&self, amount: u64) -> Option<u64> {
        let queries = self.counters.get(Counter::Questions)?;
        let scaled = u128::from(amount) * 1_000;
        scaled.checked_div(u128::from(queries)).and_then(|each| each.try_into().ok())
    }
}

/// One kind of command over a whole trial, warm-up and drain included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandCount {
    /// What the server counts it as.
    pub counter: Counter,
    /// How many we had an answer to.
    pub sent: u64,
    /// How many the server counted; `None` where it does not say.
    pub seen: Option<u64>,
}

/// What is known of the server during one trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Evidence {
    /// Between the first look in the measured window and the last one.
    pub window: ServerUse,
    /// The window in pieces of about a second, each with the time from the start of the window to
    /// its end.
    pub seconds: Vec<(u64, ServerUse)>,
    /// What we sent against what the server counted; empty where it was not held against it.
    pub commands: Vec<CommandCount>,
    /// Statements that ended with an error: the server may have counted them or not.
    pub uncertain: u64,
    /// Why there is no more than this.
    pub trouble: Option<String>,
}

impl Evidence {
    /// Commands that server and client count differently, beyond what errors explain.
    pub fn disagreements(&self) -> impl Iterator<Item = &CommandCount> {
        self.commands.iter().filter(|command| {
            command.seen.is_some_and(|seen| seen.abs_diff(command.sent) > self.uncertain)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(values: &[(Counter, u64)]) -> Counters {
        let mut counters = Counters::default();
        values.iter().for_each(|(counter, value)| counters.set(*counter, Some(*value)));
        counters
    }

    #[test]
    fn names_are_sorted_distinct_and_found_again() {
        for pair in Counter::ALL.windows(2) {
            assert!(pair[0].name() < pair[1].name(), "{pair:?}");
        }
        for counter in Counter::ALL {
            assert_eq!(Counter::from_name(&counter.name().to_uppercase()), Some(counter));
        }
        assert_eq!(Counter::from_name("com_dance"), None);
    }

    #[test]
    fn a_change_is_a_difference_and_a_gauge_is_what_it_is() {
        use Counter::{BytesSent, ComSelect, ThreadsRunning};
        let then = counters(&[(BytesSent, 10), (ComSelect, 7), (ThreadsRunning, 9)]);
        let now = counters(&[(BytesSent, 25), (ComSelect, 3), (ThreadsRunning, 2)]);
        let change = now.since(&then);
        assert_eq!(change.get(BytesSent), Some(15));
        assert_eq!(change.get(ComSelect), None, "it went back");
        assert_eq!(change.get(ThreadsRunning), Some(2));
        assert_eq!(change.get(Counter::ComInsert), None, "neither has it");
    }

    #[test]
    fn figures_per_query_come_from_the_servers_own_count() {
        let values = [
            (Counter::BufferPoolReadRequests, 1_000_000),
            (Counter::BufferPoolReads, 250),
            (Counter::PagesRead, 300),
            (Counter::Questions, 40_000),
        ];
        let used = ServerUse { counters: counters(&values), ..ServerUse::default() };
        assert_eq!(used.hit_ratio_ppm(), Some(999_750));
        assert_eq!(used.pages_read(), Some(300));
        assert_eq!(used.per_thousand_queries(300), Some(7));
        let unknown = ServerUse::default();
        assert_eq!((unknown.hit_ratio_ppm(), unknown.pages_read()), (None, None));
        assert_eq!(unknown.per_thousand_queries(300), None);
    }

    #[test]
    fn commands_agree_up_to_what_errors_explain() {
        let command = |sent, seen| CommandCount { counter: Counter::ComSelect, sent, seen };
        let commands = vec![command(100, Some(100)), command(100, Some(103)), command(5, None)];
        let evidence =
            |uncertain| Evidence { commands: commands.clone(), uncertain, ..Evidence::default() };
        assert_eq!(evidence(2).disagreements().count(), 1);
        assert_eq!(evidence(3).disagreements().count(), 0);
    }
}
