//! A page in one of the published layouts: its tables, read back.
//!
//! Must not know: Markdown or HTML; both come here as a [`Document`].

use std::path::Path;

use super::catalogue::Catalogue;
use super::facts::{count, rate, spec};
use super::{Number, OwnWords, Reading, bytes, page_html, page_markdown};
use crate::model::{DatasetClass, Scenario, counted};

/// A page without its markup.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Document {
    /// The first heading.
    pub(super) title: Option<String>,
    /// Paragraphs and other text, in order.
    pub(super) texts: Vec<String>,
    pub(super) tables: Vec<PageTable>,
    /// The line on which the page plainly breaks off.
    pub(super) cut: Option<u64>,
}

/// A table under its heading.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct PageTable {
    /// Its first line in the file, from 1.
    pub(super) line: u64,
    pub(super) heading: String,
    /// What the page says that the heading's scenario is.
    pub(super) scenario: Option<String>,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<(u64, Vec<String>)>,
}

/// The columns of the two layouts.
const HEADERS: [[&str; 5]; 2] = [
    [
        "Specification",
        "concurrent",
        "Single-Table Data Volume (table_size)",
        "Total Number of Tables (Tables)",
        "QPS",
    ],
    ["规格", "并发", "单表数据量(table_size)", "表总数(tables)", "QPS"],
];

/// Reads a page; a row or a table that cannot be read is a fault with its line.
pub(super) fn read(path: &Path, catalogue: &Catalogue) -> Reading {
    let mut reading = Reading::default();
    let file = path.display().to_string();
    let bytes = match bytes(path) {
        Ok(bytes) => bytes,
        Err(what) => {
            reading.fault(&file, None, what);
            return reading;
        }
    };
    let text = String::from_utf8_lossy(&bytes);
    let ends = |ending: &str| file.to_lowercase().ends_with(ending);
    let document = match ends(".html") || ends(".htm") {
        true => page_html::document(&text),
        false => page_markdown::document(&text),
    };
    if is_rehearsal(&document) {
        reading.fault(&file, None, "this page is a rehearsal's, and no result");
        return reading;
    }
    if let Some(line) = document.cut {
        reading.fault(&file, Some(line), "the page breaks off here: the rest of it is missing");
    }
    reading.own = own_words(&document);
    let mut has_table = false;
    for table in document.tables.iter().filter(|table| is_known(&table.header)) {
        has_table = true;
        read_table(&file, table, catalogue, &mut reading);
    }
    if !has_table {
        let layouts = HEADERS.map(|header| header.join(" | ")).join(", or ");
        reading.fault(&file, None, format!("there is no table with the columns {layouts}"));
    }
    reading
}

fn is_known(header: &[String]) -> bool {
    let plain = |text: &str| text.replace([' ', '\u{a0}'], "").to_lowercase();
    let is_like = |known: &[&str; 5]| {
        known.len() == header.len()
            && known.iter().zip(header).all(|(known, title)| plain(known) == plain(title))
    };
    HEADERS.iter().any(is_like)
}

fn read_table(file: &str, table: &PageTable, catalogue: &Catalogue, reading: &mut Reading) {
    let scenario = match scenario(table, catalogue) {
        Ok(scenario) => scenario,
        Err(what) => return reading.fault(file, Some(table.line), what),
    };
    for (line, row) in &table.rows {
        match number(row, &scenario) {
            Ok(Some(number)) => {
                reading.numbers.push(Number { file: file.to_owned(), line: *line, ..number });
            }
            Ok(None) => {}
            Err(what) => reading.fault(file, Some(*line), what),
        }
    }
}

fn scenario(table: &PageTable, catalogue: &Catalogue) -> Result<Scenario, String> {
    if let Some(id) = &table.scenario {
        return catalogue.find(id);
    }
    // `Scenario 1: Read-Only (range select)`, `三、场景一:只读(range select)`
    let heading = table.heading.split_once([':', '：']).map_or("", |(_, name)| name);
    catalogue.under_heading(heading).cloned().ok_or_else(|| {
        format!(
            "the heading `{}` names no scenario; say what it sends with --define \
             'ID=WORKLOAD,OPTION=VALUE', with the heading's name as ID",
            table.heading
        )
    })
}

/// A row; `None` for one that says that there is no number.
fn number(row: &[String], scenario: &Scenario) -> Result<Option<Number>, String> {
    let [size, concurrency, table_size, tables, qps] = row else {
        return Err(format!("the row has {}, not 5", counted(row.len(), "field")));
    };
    let spec = spec(size).ok_or_else(|| format!("`{size}` is no size such as 2-core 4 GB"))?;
    // Of two specs of one size the page gives the ids, and a baseline has none.
    if let Some((_, id)) = size.split_once(['(', '（'])
        && id.trim_end_matches([')', '）']) != spec.id.as_str()
    {
        return Err(format!(
            "`{size}`: a baseline names specs by their size, and cannot hold this"
        ));
    }
    if matches!(qps.trim(), "-" | "–" | "") {
        return Ok(None);
    }
    let whole = |what: &str, text: &str| {
        count(text).ok_or_else(|| format!("{what}: `{text}` is no whole number from 1 on"))
    };
    let small = |what: &str, text: &str| {
        u32::try_from(whole(what, text)?).map_err(|_| format!("{what}: `{text}` is too large"))
    };
    Ok(Some(Number {
        file: String::new(),
        line: 0,
        spec,
        scenario: scenario.clone(),
        concurrency: small("concurrency", concurrency)?,
        table_size: whole("table_size", table_size)?,
        tables: small("tables", tables)?,
        qps: rate(qps).ok_or_else(|| format!("QPS: `{qps}` is no rate"))?,
    }))
}

fn is_rehearsal(document: &Document) -> bool {
    let marks = ["ehearsal, not a result", "非测试结果"];
    let is_marked = |text: &String| marks.iter().any(|mark| text.contains(mark));
    document.title.iter().chain(&document.texts).any(is_marked)
}

/// Title, date, origin and class, where the layout puts them.
fn own_words(document: &Document) -> OwnWords {
    let after = |marks: &[&str]| {
        let find = |text: &String| {
            marks.iter().find_map(|mark| text.split_once(mark).map(|(_, rest)| rest.to_owned()))
        };
        document.texts.iter().find_map(find)
    };
    let date = after(&["Published on ", "Measured on ", "发布日期：", "测试日期："]);
    let origin = after(&["All numbers stand as published by ", "本页数字均照录 "]);
    let origin = origin.and_then(|rest| {
        let end = [" on 2", " 于 2"].iter().find_map(|mark| rest.rfind(mark))?;
        Some(rest[..end].to_owned())
    });
    let class = |cell: &String| match cell.as_str() {
        "Fully cached" | "全缓存" => Some(DatasetClass::FullCache),
        "Larger than memory" | "大数据集" => Some(DatasetClass::LargerThanMemory),
        _ => None,
    };
    let rows = document.tables.iter().flat_map(|table| &table.rows);
    let mut cells = rows.flat_map(|(_, row)| row);
    OwnWords {
        title: document.title.clone(),
        date: date.and_then(|text| text.get(..10).map(str::to_owned)),
        origin,
        class: cells.find_map(class),
    }
}
