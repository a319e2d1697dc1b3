//! A command line of sysbench that stands in a saved output, as a shell's trace or a script's
//! note leaves it there.
//!
//! Must not know: the output itself. Only the options below are kept: a saved command line may
//! hold a password.

use std::collections::BTreeMap;

/// What a command line says of the load.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Invoked {
    /// The script, without path and `.lua`.
    pub workload: Option<String>,
    /// Options by name, with underscores, as typed.
    options: BTreeMap<&'static str, String>,
}

const KEPT: [&str; 19] = [
    "tables",
    "table_size",
    "threads",
    "range_selects",
    "skip_trx",
    "point_selects",
    "simple_ranges",
    "sum_ranges",
    "order_ranges",
    "distinct_ranges",
    "range_size",
    "index_updates",
    "non_index_updates",
    "delete_inserts",
    "random_points",
    "number_of_ranges",
    "delta",
    "rand_type",
    "db_ps_mode",
];

impl Invoked {
    /// Reads a line that runs sysbench: it has a word `sysbench` (with any path before it) and
    /// after it options and a word `run`.
    pub fn parse(text: &str) -> Option<Self> {
        let words: Vec<&str> = text.split_whitespace().filter(|word| *word != "\\").collect();
        let program = words.iter().position(|word| is_program(word))?;
        let words = &words[program + 1..];
        let has_option = words.iter().any(|word| word.starts_with("--"));
        if !has_option || !words.contains(&"run") {
            return None;
        }
        let mut invoked = Self::default();
        for word in words {
            let word = word.trim_matches(['\'', '"', '`']);
            match word.strip_prefix("--") {
                Some(option) => invoked.take(option),
                None if invoked.workload.is_none() && *word != *"run" => {
                    let name = word.rsplit('/').next().unwrap_or(word);
                    invoked.workload = Some(name.trim_end_matches(".lua").to_owned());
                }
                None => {}
            }
        }
        Some(invoked)
    }

    /// Whether a line begins a command of sysbench, and goes on in the next.
    pub(super) fn is_begun(text: &str) -> bool {
        text.trim_end().ends_with('\\') && text.split_whitespace().any(is_program)
    }

    fn take(&mut self, option: &str) {
        let (name, value) = option.split_once('=').unwrap_or((option, "on"));
        let name = name.replace('-', "_");
        if let Some(known) = KEPT.into_iter().find(|known| *known == name) {
            self.options.insert(known, value.trim_matches(['\'', '"']).to_owned());
        }
    }

    /// An option as typed.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.get(name).map(String::as_str)
    }

    /// An option that is a whole number.
    pub fn number(&self, name: &str) -> Option<u64> {
        self.option(name)?.parse().ok()
    }

    /// An option that is on or off.
    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.option(name)? {
            "on" | "true" | "1" => Some(true),
            "off" | "false" | "0" => Some(false),
            _ => None,
        }
    }
}

fn is_program(word: &str) -> bool {
    word.trim_matches(['\'', '"', '`']).rsplit('/').next() == Some("sysbench")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shells_trace_tells_the_load_and_no_password() {
        let line = "+ /usr/bin/sysbench --threads=64 --mysql-password=hunter2 --tables=250 \
            --table-size='25000' --range_selects=off /usr/share/sysbench/oltp_read_only.lua run";
        let invoked = Invoked::parse(line).unwrap();
        assert_eq!(invoked.workload.as_deref(), Some("oltp_read_only"));
        assert_eq!(
            (invoked.number("tables"), invoked.number("table_size")),
            (Some(250), Some(25_000))
        );
        assert_eq!(
            (invoked.switch("range_selects"), invoked.switch("skip_trx")),
            (Some(false), None)
        );
        assert!(!format!("{invoked:?}").contains("hunter2"));
    }

    #[test]
    fn what_runs_nothing_is_no_command_line() {
        for other in [
            "sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)",
            "sysbench x prepare",
            "a sysbench test run",
            "",
        ] {
            assert_eq!(Invoked::parse(other), None, "{other}");
        }
        assert!(Invoked::is_begun("$ sysbench oltp_read_only \\"));
        assert!(!Invoked::is_begun("$ sysbench oltp_read_only run"));
    }
}
