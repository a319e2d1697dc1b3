//! What is known of a number, from flags, names and texts; and how such things are written.
//!
//! Must not know: which file it is from.

use crate::cli::FillArgs;
use crate::model::{Bytes, MilliRate, Spec, SpecId};
use crate::sysbench::scaled;

/// Each may be unknown yet.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Facts {
    pub(super) spec: Option<String>,
    pub(super) scenario: Option<String>,
    pub(super) concurrency: Option<u32>,
    pub(super) tables: Option<u32>,
    pub(super) table_size: Option<u64>,
}

impl Facts {
    pub(super) fn of(fill: &FillArgs) -> Self {
        Self {
            spec: fill.spec.clone(),
            scenario: fill.scenario.clone(),
            concurrency: fill.concurrency,
            tables: fill.tables,
            table_size: fill.table_size,
        }
    }

    /// In the order of [`FLAGS`], so written that what is alike is equal.
    fn texts(&self) -> [Option<String>; 5] {
        let size = |text: &String| spec(text).map_or_else(|| text.clone(), |s| s.id.to_string());
        [
            self.spec.as_ref().map(size),
            self.scenario.clone(),
            self.concurrency.map(|number| number.to_string()),
            self.tables.map(|number| number.to_string()),
            self.table_size.map(|number| number.to_string()),
        ]
    }

    /// These, and the other's where these are unknown.
    fn or(self, other: Self) -> Self {
        Self {
            spec: self.spec.or(other.spec),
            scenario: self.scenario.or(other.scenario),
            concurrency: self.concurrency.or(other.concurrency),
            tables: self.tables.or(other.tables),
            table_size: self.table_size.or(other.table_size),
        }
    }
}

/// Who says something of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    /// What was typed.
    Flag,
    /// The file's name.
    Name,
    /// The columns that are mapped.
    Column,
    /// What sysbench printed.
    Report,
    /// The command line of sysbench that stands before it.
    CommandLine,
}

impl Voice {
    fn named(self, flag: &'static str) -> &'static str {
        match self {
            Self::Flag => flag,
            Self::Name => "the name",
            Self::Column => "the column",
            Self::Report => "the text",
            Self::CommandLine => "the command line in the text",
        }
    }
}

/// Flags, and what their numbers count.
const FLAGS: [(&str, &str); 5] = [
    ("--spec", ""),
    ("--scenario", ""),
    ("--concurrency", " connections"),
    ("--tables", " tables"),
    ("--table-size", " rows in a table"),
];

/// What all of them say together. Where two contradict each other one is mistaken, and nobody
/// here can know which: that is an error, with what each of them says.
pub(super) fn agreed(voices: &[(Voice, Facts)]) -> Result<Facts, String> {
    let mut contradictions = Vec::new();
    for (place, (flag, unit)) in FLAGS.into_iter().enumerate() {
        let said = voices.iter().filter_map(|(voice, facts)| {
            Some((voice.named(flag), facts.texts().into_iter().nth(place)??))
        });
        let said: Vec<(&str, String)> = said.collect();
        let Some(((who, first), others)) = said.split_first() else { continue };
        for (other, text) in others.iter().filter(|(_, text)| text != first) {
            contradictions.push(format!("{who} says {first}{unit}, and {other} {text}"));
        }
    }
    if !contradictions.is_empty() {
        return Err(format!("{}: one of them is wrong", contradictions.join("; ")));
    }
    let silent = Facts::default();
    Ok(voices.iter().fold(silent, |known, (_, facts)| known.or(facts.clone())))
}

/// A size as people write it: `2c4g`, `2C4GB`, `2-core 4 GB`, `2核4GB`; what follows in brackets
/// does not matter. `None` for anything else.
pub(super) fn spec(text: &str) -> Option<Spec> {
    let text: String = text.to_lowercase().chars().filter(|c| !matches!(c, ' ' | '-')).collect();
    let (cpu, rest) = leading_number(&text)?;
    let rest = ["cores", "core", "vcpu", "核", "c"].iter().find_map(|w| rest.strip_prefix(w))?;
    let (gigabytes, rest) = leading_number(rest)?;
    let rest = ["gb", "g"].iter().find_map(|word| rest.strip_prefix(word))?;
    if !rest.is_empty() && !rest.starts_with(['(', '（']) {
        return None;
    }
    let cpu = u32::try_from(cpu).ok().filter(|cpu| *cpu > 0)?;
    let memory = gigabytes.checked_mul(Bytes::GB).filter(|bytes| *bytes > 0)?;
    let id = SpecId::new(&format!("{cpu}c{gigabytes}g")).ok()?;
    Some(Spec { id, cpu, memory: Bytes(memory) })
}

fn leading_number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(digits);
    Some((number.parse().ok()?, rest))
}

/// A rate above zero, with at most three decimals: `44613.74`, `44,613.74`.
pub(super) fn rate(text: &str) -> Option<MilliRate> {
    let plain = without_separators(text.trim())?;
    let is_fine = plain.split_once('.').is_some_and(|(_, decimals)| decimals.len() > 3);
    let rate = scaled(&plain, 3).filter(|rate| *rate > 0 && !is_fine)?;
    Some(MilliRate(rate))
}

/// A whole number above zero: `25000`, `25,000`.
pub(super) fn count(text: &str) -> Option<u64> {
    without_separators(text.trim())?.parse().ok().filter(|count| *count > 0)
}

/// Commas only between groups of three.
fn without_separators(text: &str) -> Option<String> {
    let (whole, decimals) = match text.split_once('.') {
        Some((whole, decimals)) => (whole, Some(decimals)),
        None => (text, None),
    };
    let groups: Vec<&str> = whole.split(',').collect();
    let is_grouped = groups.len() == 1
        || (groups[1..].iter().all(|group| group.len() == 3) && (1..=3).contains(&groups[0].len()));
    let is_number = groups.iter().all(|group| group.bytes().all(|byte| byte.is_ascii_digit()));
    if !is_grouped || !is_number || whole.is_empty() {
        return None;
    }
    let whole = groups.concat();
    Some(decimals.map_or_else(|| whole.clone(), |decimals| format!("{whole}.{decimals}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_size_is_read_as_people_write_it() {
        for text in ["2c4g", "2C4GB", "2-core 4 GB", "2核4GB", "2核4GB(odd)", "2-core 4 GB (odd)"]
        {
            assert_eq!(spec(text).unwrap().id.as_str(), "2c4g", "{text}");
        }
        for text in ["", "2c", "4g", "c4g", "0c4g", "2c0g", "2c4m", "2c4gx", "2核4.5GB", "规格"]
        {
            assert_eq!(spec(text), None, "{text}");
        }
    }

    #[test]
    fn who_contradicts_whom_is_told_and_what_is_alike_agrees() {
        let flags = Facts { spec: Some("2c4g".into()), concurrency: Some(64), ..Facts::default() };
        let name = Facts { spec: Some("2C4GB".into()), tables: Some(3), ..Facts::default() };
        let text = Facts { concurrency: Some(32), tables: Some(4), ..Facts::default() };
        let both = [(Voice::Flag, flags.clone()), (Voice::Name, name.clone())];
        let together = Facts { tables: Some(3), ..flags.clone() };
        assert_eq!(agreed(&both), Ok(together));
        let all = [(Voice::Flag, flags), (Voice::Name, name), (Voice::Report, text)];
        assert_eq!(
            agreed(&all).unwrap_err(),
            "--concurrency says 64 connections, and the text 32; the name says 3 tables, and the \
             text 4: one of them is wrong"
        );
    }

    #[test]
    fn numbers_may_have_separators_where_they_belong() {
        assert_eq!(rate("44,613.74"), Some(MilliRate(44_613_740)));
        assert_eq!(rate("485157"), Some(MilliRate(485_157_000)));
        assert_eq!(count("25,000"), Some(25_000));
        for text in
            ["", "-", "0", "1.2345", "44,61", "1,2345", ",5", "-1", "1e5", "4 000", "12[^1]"]
        {
            assert_eq!(rate(text), None, "{text}");
        }
        assert_eq!(count("2.5"), None);
    }

    proptest! {
        #[test]
        fn no_text_makes_the_readers_panic(text in ".{0,24}|[0-9c核g.,() -]{0,24}") {
            let _ = (spec(&text), rate(&text), count(&text));
        }
    }
}
