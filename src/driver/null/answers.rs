//! What clients ask beside the workloads' statements, mostly when they connect. Built when it is
//! asked: nobody measures these.
//!
//! Must not know: connections.

use super::packet::{Mode, TYPE_VAR_STRING, Writer, column, row};

/// What we call ourselves. A client reads the family and its abilities from the first number.
pub(super) const VERSION: &str = "8.0.35-gridbench-null";

/// Most columns of an answer.
const COLUMNS_MAX: usize = 64;

/// Variables and functions whose value a client may want; all others are empty.
const VALUES: &[(&str, &str)] = &[
    ("auto_increment_increment", "1"),
    ("autocommit", "1"),
    ("character_set_client", "utf8mb4"),
    ("character_set_connection", "utf8mb4"),
    ("character_set_database", "utf8mb4"),
    ("character_set_results", "utf8mb4"),
    ("character_set_server", "utf8mb4"),
    ("collation_connection", "utf8mb4_general_ci"),
    ("collation_server", "utf8mb4_general_ci"),
    ("connection_id()", "1"),
    ("database()", "sbtest"),
    ("current_user()", "root@localhost"),
    ("have_ssl", "DISABLED"),
    ("hostname", "localhost"),
    ("interactive_timeout", "28800"),
    ("lower_case_table_names", "0"),
    ("max_allowed_packet", "16777216"),
    ("max_connections", "100000"),
    ("max_prepared_stmt_count", "4294967295"),
    ("net_write_timeout", "60"),
    ("performance_schema", "0"),
    ("read_only", "0"),
    ("schema()", "sbtest"),
    ("socket", ""),
    ("sql_mode", ""),
    ("system_time_zone", "UTC"),
    ("time_zone", "SYSTEM"),
    ("transaction_isolation", "REPEATABLE-READ"),
    ("tx_isolation", "REPEATABLE-READ"),
    ("user()", "root@localhost"),
    ("version()", VERSION),
    ("version", VERSION),
    ("version_comment", "gridbench: a server that answers at once"),
    ("wait_timeout", "28800"),
];

/// The answer to a SELECT or a SHOW that no workload sends.
pub(super) fn to_query(sql: &str, mode: Mode) -> Vec<u8> {
    let sql = sql.trim().trim_end_matches(';');
    match strip_word(sql, "SELECT") {
        Some(expressions) => to_select(expressions, mode),
        None => to_show(sql, mode),
    }
}

/// One row with a column for each expression.
fn to_select(expressions: &str, mode: Mode) -> Vec<u8> {
    let mut list = expressions;
    for word in [" FROM ", " LIMIT ", " WHERE "] {
        if let Some(at) = list.to_ascii_uppercase().find(word) {
            list = list.get(..at).unwrap_or(list);
        }
    }
    let expressions: Vec<&str> = list.split(',').map(str::trim).take(COLUMNS_MAX).collect();
    let values: Vec<&str> = expressions.iter().map(|expression| value_of(expression)).collect();
    table(&expressions, &[values], mode)
}

fn to_show(sql: &str, mode: Mode) -> Vec<u8> {
    let upper = sql.to_ascii_uppercase();
    if upper.contains("VARIABLES") || upper.contains("STATUS") {
        let name = sql.split('\'').nth(1).unwrap_or_default();
        let known = VALUES.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
        let rows: Vec<Vec<&str>> = known.map(|(name, value)| vec![*name, *value]).collect();
        return table(&["Variable_name", "Value"], &rows, mode);
    }
    if upper.contains("DATABASES") {
        return table(&["Database"], &[vec!["sbtest"]], mode);
    }
    if upper.contains("WARNINGS") || upper.contains("ERRORS") {
        return table(&["Level", "Code", "Message"], &[], mode);
    }
    table(&["Nothing"], &[], mode)
}

/// `@@session.name`, `name()`, `1`: a number answers itself.
fn value_of(expression: &str) -> &str {
    let words = expression.split_ascii_whitespace().next().unwrap_or_default();
    if words.bytes().all(|byte| byte.is_ascii_digit()) {
        return words;
    }
    let name = words.trim_start_matches('@');
    let scopes = ["session.", "global.", "local."];
    let strip = |scope: &&str| strip_prefix(name, scope);
    let name = scopes.iter().find_map(strip).unwrap_or(name);
    let known = VALUES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
    known.map_or("", |(_, value)| value)
}

fn table(columns: &[&str], rows: &[Vec<&str>], mode: Mode) -> Vec<u8> {
    let mut writer = Writer::new(1);
    let columns: Vec<_> = columns.iter().map(|name| column(name, TYPE_VAR_STRING)).collect();
    writer.columns(&columns, mode);
    for values in rows {
        writer.packet(&row(values, mode));
    }
    writer.end_of_rows(mode);
    writer.into_bytes()
}

fn strip_word<'a>(sql: &'a str, word: &str) -> Option<&'a str> {
    let rest = strip_prefix(sql, word)?;
    rest.starts_with(|c: char| !c.is_ascii_alphanumeric()).then_some(rest)
}

fn strip_prefix<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    if head.eq_ignore_ascii_case(prefix) { text.get(prefix.len()..) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_ask_has_an_answer() {
        assert_eq!(value_of("@@max_allowed_packet"), "16777216");
        assert_eq!(value_of("@@session.tx_isolation AS level"), "REPEATABLE-READ");
        assert_eq!(value_of("VERSION()"), VERSION);
        assert_eq!(value_of("1"), "1");
        assert_eq!(value_of("@@nobody_knows"), "");
    }

    #[test]
    fn a_select_has_a_column_for_each_expression() {
        let mode = Mode { deprecate_eof: true, binary: false };
        let bytes = to_query("select @@version_comment, @@wait_timeout limit 1;", mode);
        assert_eq!(bytes[..5], [1, 0, 0, 1, 2]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(text.contains("answers at once") && text.contains("28800"), "{text}");
    }

    #[test]
    fn text_that_is_no_sql_is_answered_too() {
        let mode = Mode { deprecate_eof: false, binary: false };
        for sql in ["", "é", "SELECT", "SELECT ,,,é", "SHOW", "ſelect ", "SHOW VARIABLES LIKE '"]
        {
            assert!(!to_query(sql, mode).is_empty(), "{sql}");
        }
    }
}
