//! Matrices of one cell, and questions to a server beside the run.
//!
//! Must not know: what is done to the server.

use gridbench::model::Endpoint;

use crate::sql::sql;

/// A second of warm-up, eight that are measured; ten of drain at the most.
pub(crate) const MIXED: &str = r#"
format   = 1
name     = "small"
title    = "Small"
protocol = { duration = "8s", warmup = "1s", concurrency = [8] }
[dataset]
class = "full-cache"
rule  = [{ table_size = 1_000, tables = 1 }]
[[spec]]
cpu    = 1
memory = "1GB"
[[scenario]]
id       = "mixed"
workload = "oltp_read_write"
"#;

const TRANSFER: &str = r#"
[[scenario]]
id       = "transfer"
workload = "transfer"
[[workload]]
name = "transfer"
transaction = true
[[workload.group]]
[[workload.group.statement]]
name   = "take"
sql    = "UPDATE sbtest{table} SET k = k + 1 WHERE id = ?"
values = [{ generator = "integer", min = 1, max = ROWS }]
[[workload.group.statement]]
name   = "give"
sql    = "UPDATE sbtest{table} SET k = k - 1 WHERE id = ?"
values = [{ generator = "integer", min = 1, max = ROWS }]
"#;

/// What no number of transfers changes.
pub(crate) const TRANSFER_SUM: &str = "SELECT SUM(k) FROM sbtest1";

/// Events that add one to a counter and a row of 30 kB to a table.
pub(crate) const BALLAST: &str = r#"
format   = 1
name     = "small"
title    = "Small"
protocol = { duration = "8s", warmup = "1s", concurrency = [8] }
[dataset]
class = "full-cache"
rule  = [{ table_size = 1_000, tables = 1 }]
[[spec]]
cpu    = 1
memory = "1GB"
[[scenario]]
id       = "ballast"
workload = "ballast"
[[workload]]
name = "ballast"
transaction = true
[[workload.table]]
name = "ballast"
rows = 1
ddl  = "CREATE TABLE ballast (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, size INT, t LONGTEXT)"
column = [{ name = "size", value = { generator = "integer", min = 1, max = 1 } }]
[[workload.group]]
[[workload.group.statement]]
name   = "count"
sql    = "UPDATE sbtest{table} SET k = k + 1 WHERE id = ?"
values = [{ generator = "integer", min = 1, max = 1000 }]
[[workload.group.statement]]
name   = "add"
sql    = "INSERT INTO ballast (size, t) VALUES (?, REPEAT('x', 30000))"
values = [{ generator = "integer", min = 1, max = 1000 }]
"#;

/// What no number of such events changes.
pub(crate) const BALLAST_SUM: &str = "SELECT (SELECT SUM(k) FROM sbtest1) - \
                                      (SELECT COUNT(*) FROM ballast)";

/// Events that add one to a row and take one from a row, each of the first so many.
pub(crate) fn transfer(rows: u32) -> String {
    let head = MIXED.split("[[scenario]]").next().unwrap_or_default();
    head.to_owned() + &TRANSFER.replace("ROWS", &rows.to_string())
}

/// A server's family and version.
pub(crate) fn version(endpoint: &Endpoint) -> String {
    let words = sql(endpoint, &["SELECT VERSION()"]).remove(0).remove(0).unwrap();
    let family = if words.contains("MariaDB") { "MariaDB" } else { "MySQL" };
    format!("{family} {}", words.split('-').next().unwrap_or_default())
}

/// The only value of the only row, asked where the data was loaded.
pub(crate) fn scalar(endpoint: &Endpoint, query: &str) -> String {
    sql(&loaded(endpoint), &[query]).remove(0).remove(0).unwrap()
}

/// A server with the schema that a run made there.
pub(crate) fn loaded(endpoint: &Endpoint) -> Endpoint {
    let database = sql(endpoint, &["SHOW DATABASES LIKE 'sbtest%'"]).remove(0).remove(0);
    Endpoint { database, ..endpoint.clone() }
}
