//! What follows from an examination: what cannot work, what needs a word of the user, what makes a
//! published number doubtful.
//!
//! Must not know: connections, or how a remark is printed.

use crate::model::{Bytes, Examination, Gravity, Needs, Remark, counted};

use super::grants::{all_privileges, missing_privileges};

/// Beside the load: the probe, administration, and connections that are being replaced.
const OTHER_CONNECTIONS: u64 = 4;
/// Clocks that differ by less cannot be told apart over a network.
const CLOCK_MS: i64 = 1_000;
/// Below it a statement that loads rows does not fit.
const PACKET_BYTES: u64 = 1 << 20;

/// What the examination of a server says of a plan's needs; the gravest first.
pub fn judge(seen: &Examination, needs: &Needs) -> Vec<Remark> {
    let judge = Judge { seen, needs };
    let mut remarks = judge.account();
    remarks.extend(judge.transport());
    remarks.extend(judge.limits());
    remarks.extend(judge.writable());
    remarks.extend(judge.others());
    remarks.extend(judge.durability());
    remarks.extend(judge.settings());
    remarks.sort_by_key(|remark| remark.gravity);
    remarks
}

struct Judge<'a> {
    seen: &'a Examination,
    needs: &'a Needs,
}

fn remark(gravity: Gravity, words: String, remedy: impl Into<String>) -> Remark {
    Remark { gravity, words, remedy: remedy.into() }
}

impl Judge<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        self.seen.info.variables.get(name).map(String::as_str)
    }

    fn number(&self, name: &str) -> Option<u64> {
        self.variable(name)?.parse().ok()
    }

    fn is_on(&self, name: &str) -> bool {
        matches!(self.variable(name), Some("ON" | "1" | "YES"))
    }

    fn account(&self) -> Vec<Remark> {
        let missing = missing_privileges(&self.seen.grants, &self.needs.database);
        if missing.is_empty() {
            return Vec::new();
        }
        let (missing, database) = (missing.join(", "), &self.needs.database);
        let privileges = all_privileges();
        // All of them, because a statement that names the schema hides one with a pattern; and the
        // name as it is, which a `_` would make a pattern, too.
        let pattern = database.replace('_', "\\_").replace('%', "\\%");
        vec![remark(
            Gravity::Refused,
            format!("the account {} lacks {missing} on {database}", self.seen.account),
            format!("GRANT {privileges} ON `{pattern}`.* TO {};", quoted(&self.seen.account)),
        )]
    }

    /// Whether the server sees what we see.
    fn transport(&self) -> Option<Remark> {
        let comes_from = self.seen.comes_from.as_deref()?;
        let address = &self.seen.info.address;
        let (ours, theirs) = (address.starts_with("tcp:"), comes_from.contains(':'));
        (ours != theirs).then(|| {
            let transport = if theirs { "over TCP" } else { "over a Unix socket" };
            let words = format!(
                "the server sees the connection to {address} come {transport} (from \
                 {comes_from}): something stands between"
            );
            remark(
                Gravity::Doubtful,
                words,
                "name the server itself, or say so where it is published",
            )
        })
    }

    fn limits(&self) -> Vec<Remark> {
        let needs = self.needs;
        let wanted = u64::from(needs.connections) + OTHER_CONNECTIONS;
        let taken = wanted + self.seen.others.connections;
        let mut remarks = Vec::new();
        let mut at_least = |gravity, name: &str, least: u64, why: String| {
            if let Some(has) = self.number(name).filter(|has| *has < least) {
                let words = format!("{name} is {has}, {why}");
                let remedy = match name {
                    "open_files_limit" => format!("start the server with {name} = {least}"),
                    _ => format!("SET GLOBAL {name} = {least};"),
                };
                remarks.push(remark(gravity, words, remedy));
            }
        };
        let connections = counted(needs.connections, "connection");
        let others = counted(self.seen.others.connections, "connection");
        let why = format!("and {connections} of the load, {others} of others and a few of ours");
        at_least(Gravity::Refused, "max_connections", taken, why + " need room");
        if self.number("max_user_connections") != Some(0) {
            let why = format!("and {connections} of one account are needed");
            at_least(Gravity::Refused, "max_user_connections", wanted, why);
        }
        let why = "too small for the statements that load rows".to_owned();
        at_least(Gravity::Refused, "max_allowed_packet", PACKET_BYTES, why);
        if needs.handles > 0 {
            let least = u64::from(needs.connections);
            let why = format!("fewer than one for each of {connections}");
            at_least(Gravity::Refused, "max_prepared_stmt_count", least, why);
            let all = needs.handles.saturating_mul(u64::from(needs.connections));
            let why =
                format!("and {connections} with {} each", counted(needs.handles, "statement"));
            let why = why + " would hold more: some are prepared again and again";
            at_least(Gravity::Doubtful, "max_prepared_stmt_count", all.max(least), why);
        }
        let tables = u64::from(needs.tables);
        let open = tables + u64::from(needs.connections);
        let words = format!("fewer than {} and {connections}", counted(needs.tables, "table"));
        let again = " open: statements open tables again and again";
        at_least(Gravity::Doubtful, "table_open_cache", open, words.clone() + again);
        at_least(Gravity::Doubtful, "open_files_limit", open, words + " need");
        let why = format!("fewer than {}", counted(needs.tables, "table"));
        at_least(Gravity::Doubtful, "table_definition_cache", tables, why);
        remarks.dedup_by(|later, first| {
            later.words.split(' ').next() == first.words.split(' ').next()
        });
        remarks
    }

    /// A server that takes no writes cannot be loaded, either.
    fn writable(&self) -> Vec<Remark> {
        let may_write = |privilege: &str| {
            let holds = |grant: &String| {
                grant.contains(privilege) || grant.contains("ALL PRIVILEGES ON *.*")
            };
            self.seen.grants.iter().any(holds)
        };
        let is_above = ["SUPER", "READ_ONLY ADMIN", "READ ONLY ADMIN", "CONNECTION_ADMIN"];
        let is_above = is_above.into_iter().any(may_write);
        let blocks = ["super_read_only", "innodb_read_only", "read_only"].into_iter();
        let blocks = blocks.filter(|name| self.is_on(name) && !(*name == "read_only" && is_above));
        let gravity = if self.needs.writes { Gravity::Refused } else { Gravity::Doubtful };
        let told = |name: &str| {
            let words = format!("{name} is on: the server takes no writes, and no dataset");
            remark(gravity, words, format!("SET GLOBAL {name} = OFF; or name the primary"))
        };
        blocks.take(1).map(told).collect()
    }

    fn others(&self) -> Vec<Remark> {
        let others = &self.seen.others;
        let mut remarks = Vec::new();
        let clients = others.connections.saturating_sub(others.replicas);
        if clients > 0 {
            let named = others.accounts.iter().map(|(name, count)| format!("{name} ({count})"));
            let named: Vec<String> = named.collect();
            let whose = match named.is_empty() {
                true => String::new(),
                false => format!(": {}", named.join(", ")),
            };
            let words = format!("others have {} here{whose}", counted(clients, "connection"));
            remarks.push(remark(Gravity::Guarded, words, "--yes if no one's work is at stake"));
        }
        if others.replicas > 0 {
            let words = format!(
                "the server has {}: all that is written here is copied",
                counted(others.replicas, "replica")
            );
            let remedy = "--yes if they may have all that is written here";
            remarks.push(remark(
                Gravity::Guarded,
                words.replacen(" from", " of it read from", 1),
                remedy,
            ));
        }
        if others.is_replica {
            let words = "this server replicates from another one".to_owned();
            let remedy = "--yes if what is written here may differ from its source";
            remarks.push(remark(Gravity::Guarded, words, remedy));
        }
        remarks
    }

    fn durability(&self) -> Vec<Remark> {
        let cases = [
            ("innodb_flush_log_at_trx_commit", "1", "a crash loses commits that were answered"),
            ("innodb_doublewrite", "ON", "a page that is half written is lost"),
            ("autocommit", "ON", "a statement without BEGIN never ends its transaction"),
        ];
        let mut remarks: Vec<Remark> = Vec::new();
        for (name, safe, otherwise) in cases {
            let is_safe = |value: &&str| *value != safe && !(safe == "ON" && *value == "1");
            if let Some(value) = self.variable(name).filter(is_safe) {
                let words = format!("{name} is {value}, not {safe}: {otherwise}");
                let remedy = format!("set {name} = {safe}, or say so beside the numbers");
                remarks.push(remark(Gravity::Doubtful, words, remedy));
            }
        }
        if self.is_on("log_bin") && self.number("sync_binlog").is_some_and(|every| every != 1) {
            let every = self.variable("sync_binlog").unwrap_or_default();
            let words = format!("sync_binlog is {every}, not 1: a crash loses the end of the log");
            let remedy = "SET GLOBAL sync_binlog = 1; or say so beside the numbers";
            remarks.push(remark(Gravity::Doubtful, words, remedy));
        }
        remarks
    }

    fn settings(&self) -> Vec<Remark> {
        let mut remarks = Vec::new();
        let mut doubt = |words: String, remedy: &str| {
            remarks.push(remark(Gravity::Doubtful, words, remedy));
        };
        let caches = self.number("query_cache_size").is_some_and(|bytes| bytes > 0);
        if caches && !matches!(self.variable("query_cache_type"), None | Some("OFF" | "0")) {
            doubt(
                "the query cache is on: the same SELECT is not run again".to_owned(),
                "SET GLOBAL query_cache_type = OFF, query_cache_size = 0;",
            );
        }
        if self.is_on("general_log") {
            doubt(
                "general_log is on: every statement is written".into(),
                "SET GLOBAL general_log = OFF;",
            );
        }
        let isolation = self.variable("transaction_isolation").or(self.variable("tx_isolation"));
        if let Some(level) = isolation.filter(|level| *level != "REPEATABLE-READ") {
            let words = format!("transactions are {level}, not REPEATABLE-READ, the default");
            doubt(words, "say so beside the numbers");
        }
        let pool = self.number("innodb_buffer_pool_size");
        if let (Some(has), Some(wanted)) = (pool, self.needs.buffer_pool_bytes)
            && has.abs_diff(wanted) > wanted / 10
        {
            let megabytes = |bytes: u64| bytes / Bytes::MB;
            let words = format!(
                "innodb_buffer_pool_size is {} MB, and the spec stands for {} MB",
                megabytes(has),
                megabytes(wanted)
            );
            doubt(words, "set it to what the spec says, or name another spec");
        }
        if self.seen.clock_ahead_ms.abs() > CLOCK_MS {
            let (ahead, by) = match self.seen.clock_ahead_ms {
                ahead @ 0.. => ("ahead of", ahead),
                behind => ("behind", -behind),
            };
            let words = format!("the server's clock is {} ms {ahead} ours", by);
            doubt(words, "let both machines keep time by NTP");
        }
        if self.needs.disk_bytes > 0 {
            let words = format!(
                "the dataset's files take {} MB; how much room the server has cannot be asked",
                self.needs.disk_bytes / Bytes::MB
            );
            remarks.push(remark(Gravity::Known, words, ""));
        }
        remarks
    }
}

/// `bench@10.0.%` as a statement names it.
fn quoted(account: &str) -> String {
    let (user, host) = account.rsplit_once('@').unwrap_or((account, "%"));
    let quote = |text: &str| format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''"));
    format!("{}@{}", quote(user), quote(host))
}
