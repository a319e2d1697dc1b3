//! What went wrong, in sysbench's own words, with the remedy where it is a well-known trouble.
//!
//! Must not know: who reads it.

use super::reader::Message;

/// What is said of it, at most so many lines of it.
const SHOWN: usize = 3;

/// The first things that were said, each once, in one line; `None` where nothing was.
pub fn words(messages: &[Message]) -> Option<String> {
    let mut told: Vec<&str> = Vec::new();
    for message in messages {
        let text = message.text.trim_start_matches("FATAL:").trim();
        // The same trouble, met in another statement by each thread.
        let text = text.split_once(" for query '").map_or(text, |(trouble, _)| trouble);
        if !text.is_empty() && !told.contains(&text) {
            told.push(text);
        }
    }
    // Lua's own words repeat what the driver said before, for each thread.
    let is_echo = |text: &&str| text.starts_with('`') && told.len() > 1;
    let shown: Vec<&str> = told.iter().copied().filter(|text| !is_echo(text)).take(SHOWN).collect();
    (!shown.is_empty()).then(|| shown.join("; "))
}

/// What can be done about it, where that is known.
pub fn remedy(text: &str) -> Option<&'static str> {
    const KNOWN: [(&[&str], &str); 10] = [
        (
            &["max_prepared_stmt_count", " 1461"],
            "sysbench prepares every statement of every table on each connection: raise the \
             server's max_prepared_stmt_count, or measure with statements = \"text\"",
        ),
        (
            &["Too many connections", " 1040"],
            "raise the server's max_connections, or measure with fewer connections",
        ),
        (
            &["queue is full"],
            "the server falls behind the rate by 131,072 events, more than sysbench can hold: \
             lower the rate, or measure it with engine = \"native\", which counts what it drops",
        ),
        (
            &["failed to initialize within"],
            "sysbench gives connecting and preparing 30 s: fewer connections, fewer tables, or \
             statements = \"text\"",
        ),
        (
            &["Cannot find benchmark"],
            "sysbench's own scripts are not where it looks for them (/usr/share/sysbench): \
             install the whole package",
        ),
        (
            &["Duplicate entry", " 1062"],
            "without transactions two connections may insert the same row, and sysbench ends: \
             skip_trx = false, or engine = \"native\"",
        ),
        (&["Access denied", " 1045"], "the account or its password is not the server's"),
        (
            &["doesn't exist", " 1146"],
            "the dataset is not there, or has fewer tables than were asked for: load it again",
        ),
        (
            &["server has gone away", "Lost connection", " 2006", " 2013"],
            "the server ended, or closed the connection: see its log",
        ),
        (
            &["unable to connect", " 2002", " 2003"],
            "nothing answers at this address: is the server up, and is the port right?",
        ),
    ];
    let is_meant = |signs: &[&str]| signs.iter().any(|sign| has(text, sign));
    KNOWN.into_iter().find(|(signs, _)| is_meant(signs)).map(|(_, remedy)| remedy)
}

/// A number counts only as a whole one.
fn has(text: &str, sign: &str) -> bool {
    text.match_indices(sign).any(|(at, _)| {
        let next = text[at + sign.len()..].bytes().next();
        !sign.ends_with(|c: char| c.is_ascii_digit()) || !next.is_some_and(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Vec<Message> {
        let message = |text: &&str| Message { line: 1, text: (*text).to_owned() };
        texts.iter().map(message).collect()
    }

    #[test]
    fn words_are_told_once_and_without_the_echo_of_each_thread() {
        let messages = said(&[
            "FATAL: mysql_stmt_prepare() failed",
            "FATAL: MySQL error: 1461 \"Can't create more than max_prepared_stmt_count\"",
            "FATAL: `thread_init' function failed: SQL API error",
            "FATAL: mysql_stmt_prepare() failed",
        ]);
        let text = words(&messages).unwrap();
        assert_eq!(
            text,
            "mysql_stmt_prepare() failed; MySQL error: 1461 \"Can't create more than \
             max_prepared_stmt_count\""
        );
        assert!(remedy(&text).unwrap().contains("raise the server's max_prepared_stmt_count"));
        assert_eq!(words(&[]), None);
        let alone = said(&["FATAL: `event' function failed: x"]);
        assert_eq!(words(&alone).unwrap(), "`event' function failed: x");
    }

    #[test]
    fn well_known_troubles_have_a_remedy_and_others_none() {
        for (text, part) in [
            ("error 1040: Too many connections", "max_connections"),
            ("unable to connect to MySQL server on host '127.0.0.1', port 1", "is the server up"),
            ("The event queue is full. This means the worker threads", "lower the rate"),
            ("Worker threads failed to initialize within 30 seconds!", "fewer connections"),
            ("error 2013: Lost connection to server during query", "see its log"),
        ] {
            assert!(remedy(text).unwrap().contains(part), "{text}");
        }
        assert_eq!(remedy("error 10400: odd"), None);
    }
}
