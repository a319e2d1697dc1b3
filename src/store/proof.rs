//! Whether the server's counters bear out what the page claims about data and cache.
//!
//! Must not know: rates.

use crate::model::{
    Bytes, Counter, DatasetClass, Evidence, ResultCell, ServerRecord, ServerUse, TrialStatus,
};

use super::StoredTrial;
use super::environment::pool_bytes;

/// A cached dataset is one of which fewer pages than one for so many statements are read from
/// disk.
const QUERIES_FOR_A_PAGE: u64 = 1_000;
/// So many pages a server reads of its own, of undo logs and dictionary, above all in its first
/// minutes: 3 to 20 were seen.
const PAGES_OF_ITS_OWN: u64 = 100;

/// Why the trials of a cell are not of the class that they claim, in one sentence; `None` where
/// they are, and where nobody looked.
pub(super) fn refuted(
    class: DatasetClass,
    server: Option<&ServerRecord>,
    trials: &[&StoredTrial],
) -> Option<String> {
    let data = server.and_then(|server| server.dataset_bytes).map(Bytes);
    let pool = server.and_then(pool_bytes);
    let windows = looked_at(trials).map(|of| &of.window);
    let told = match class {
        DatasetClass::FullCache => windows.filter_map(read_too_much).max().map(|(each, pages)| {
            format!("{pages} pages were read from disk in the window, {each} per 1000 statements")
        }),
        DatasetClass::LargerThanMemory => {
            // Half of a window says what was read in it, not that nothing was in the other half.
            let whole = looked_at(trials).filter(|of| of.trouble.is_none()).map(|of| &of.window);
            let mut pages = whole.filter_map(ServerUse::pages_read).peekable();
            let has_looked = pages.peek().is_some();
            let fits = data.zip(pool).filter(|(data, pool)| data <= pool);
            match fits {
                Some(_) => Some("the data fits the buffer pool".to_owned()),
                None if has_looked && pages.all(|pages| pages == 0) => {
                    Some("no page was read from disk in the window".to_owned())
                }
                None => None,
            }
        }
    }?;
    let sizes = data.zip(pool).map(|(data, pool)| {
        format!(" (data {}, buffer pool {})", megabytes(data), megabytes(pool))
    });
    Some(format!("{}{told}{}", ResultCell::refusal(class), sizes.unwrap_or_default()))
}

/// What is known of the server in those trials in which it was looked at and asked something.
fn looked_at<'a>(trials: &'a [&StoredTrial]) -> impl Iterator<Item = &'a Evidence> {
    let done = trials.iter().filter(|trial| trial.status == TrialStatus::Done);
    let evidence = done.filter_map(|trial| trial.evidence.as_ref());
    evidence.filter(|of| of.window.counters.get(Counter::Questions).is_some_and(|of| of > 0))
}

/// Why the claim about data and cache was looked into in none of them; `None` where it was.
pub(super) fn not_looked_into(trials: &[&StoredTrial]) -> Option<String> {
    if looked_at(trials).any(|of| of.trouble.is_none() && of.window.pages_read().is_some()) {
        return None;
    }
    let evidence = trials.iter().filter_map(|trial| trial.evidence.as_ref());
    let trouble = evidence.filter_map(|of| of.trouble.as_deref()).next();
    Some(trouble.unwrap_or("too few looks at the server").to_owned())
}

/// Pages for each thousand statements, and in all, where that is more than a cached dataset's.
fn read_too_much(window: &ServerUse) -> Option<(u64, u64)> {
    let pages = window.pages_read()?;
    let queries = window.counters.get(Counter::Questions)?;
    let is_cached = pages <= PAGES_OF_ITS_OWN || pages.saturating_mul(QUERIES_FOR_A_PAGE) < queries;
    (!is_cached).then(|| (window.per_thousand_queries(pages).unwrap_or(pages), pages))
}

fn megabytes(Bytes(bytes): Bytes) -> String {
    format!("{} MB", bytes / Bytes::MB)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Counters;
    use crate::store::testing::{description, server};

    fn trial(pages: u64, queries: u64) -> StoredTrial {
        let mut counters = Counters::default();
        counters.set(Counter::PagesRead, Some(pages));
        counters.set(Counter::Questions, Some(queries));
        let window = ServerUse { counters, ..ServerUse::default() };
        StoredTrial {
            number: 1,
            cell: description().plan.cells[0].id.clone(),
            repetition: 1,
            started_unix_ms: 0,
            status: TrialStatus::Done,
            qps: None,
            tps: None,
            p95_us: None,
            p99_us: None,
            events_unfinished: 0,
            errors: Vec::new(),
            rate_met: None,
            client_bound: None,
            steady: None,
            warmup_level: None,
            qps_lowest_second: None,
            qps_p5_second: None,
            evidence: Some(Evidence { window, ..Evidence::default() }),
        }
    }

    fn refused(class: DatasetClass, sizes: Option<(u64, u64)>, trials: &[StoredTrial]) -> String {
        let record = sizes.map(|(data, pool)| {
            let mut record = server("2c4g", "8.0.36");
            record.dataset_bytes = Some(data * Bytes::MB);
            let pool = (pool * Bytes::MB).to_string();
            record.info.variables.insert("innodb_buffer_pool_size".to_owned(), pool);
            record
        });
        let trials: Vec<&StoredTrial> = trials.iter().collect();
        refuted(class, record.as_ref(), &trials).unwrap_or_default()
    }

    #[test]
    fn a_cached_dataset_reads_next_to_nothing_from_disk() {
        let class = DatasetClass::FullCache;
        assert_eq!(refused(class, None, &[]), "", "nobody looked");
        assert_eq!(refused(class, None, &[trial(0, 5_000), trial(100, 5_000)]), "");
        assert_ne!(refused(class, None, &[trial(101, 5_000)]), "");
        assert_eq!(refused(class, None, &[trial(101, 500_000)]), "");
        assert_eq!(
            refused(class, Some((1_530, 1_000)), &[trial(0, 5_000), trial(600, 5_000)]),
            "not full-cache: 600 pages were read from disk in the window, 120 per 1000 statements \
             (data 1530 MB, buffer pool 1000 MB)"
        );
        assert_eq!(refused(class, None, &[trial(0, 0)]), "", "a trial of no statement");
    }

    #[test]
    fn a_larger_one_does_not_fit_and_reads() {
        let class = DatasetClass::LargerThanMemory;
        assert_eq!(refused(class, Some((9_000, 3_000)), &[trial(5, 5_000)]), "");
        let unread = refused(class, Some((9_000, 3_000)), &[trial(0, 5_000)]);
        assert!(unread.contains("no page was read from disk"), "{unread}");
        let fits = refused(class, Some((2_000, 3_000)), &[trial(5, 5_000)]);
        assert!(fits.contains("the data fits the buffer pool (data 2000 MB"), "{fits}");
    }
}
