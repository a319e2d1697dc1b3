//! A CSV file of any columns, of which a map says what they are.
//!
//! Must not know: what becomes of the numbers.

use crate::model::counted;
use anyhow::anyhow;
use csv::ByteRecord;

use super::catalogue::Catalogue;
use super::facts::{Facts, Voice, agreed, count, rate, spec};
use super::{Number, Reading, bytes};
use crate::cli::CsvImportArgs;
use crate::cmd::Failure;

/// What a column can be.
const NAMES: [&str; 8] =
    ["scenario", "spec", "cpu", "memory_gb", "concurrency", "table_size", "tables", "qps"];

/// Reads the file; a row that cannot be read is a fault with its line.
///
/// # Errors
/// A map that is none, or names a column that the file has not.
pub(super) fn read(arguments: &CsvImportArgs, catalogue: &Catalogue) -> Result<Reading, Failure> {
    let file = arguments.file.display().to_string();
    let fault = |what: String| Failure::input(anyhow!("{file}: {what}"));
    let bytes = bytes(&arguments.file).map_err(fault)?;
    let delimiter = u8::try_from(arguments.delimiter)
        .map_err(|_| Failure::input(anyhow!("--delimiter: give one sign of ASCII")))?;
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .has_headers(false)
        .from_reader(bytes);
    let mut records = reader.byte_records();
    let header = match records.next() {
        Some(Ok(header)) => texts(&header),
        Some(Err(error)) => return Err(fault(error.to_string())),
        None => return Err(fault("there is nothing in it".to_owned())),
    };
    let columns = Columns::of(&arguments.map, &header)?;
    let mut reading = Reading::default();
    for record in records {
        let record = record.map_err(|error| fault(error.to_string()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let row = Row { columns: &columns, texts: texts(&record), arguments, catalogue };
        match row.number(&file, line) {
            Ok(number) => reading.numbers.push(number),
            Err(what) => reading.fault(&file, Some(line), what),
        }
    }
    if reading.numbers.is_empty() && reading.faults.is_empty() {
        reading.fault(&file, Some(1), "there is no row below the header");
    }
    Ok(reading)
}

fn texts(record: &ByteRecord) -> Vec<String> {
    record.iter().map(|field| String::from_utf8_lossy(field).trim().to_owned()).collect()
}

/// Where in a row each thing stands.
struct Columns(Vec<(&'static str, usize)>);

impl Columns {
    fn of(map: &[String], header: &[String]) -> Result<Self, Failure> {
        let fault = |what: String| Failure::input(anyhow!("--map: {what}"));
        let mut columns: Vec<(&'static str, usize)> = Vec::new();
        for pair in map {
            let (name, place) = column(pair, header).map_err(fault)?;
            if columns.iter().any(|(known, _)| *known == name) {
                return Err(fault(format!("`{name}` is given twice")));
            }
            if let Some((other, _)) = columns.iter().find(|(_, known)| *known == place) {
                let column = &header[place];
                return Err(fault(format!(
                    "column `{column}` cannot be both {other} and {name}; name another column for \
                     one of them"
                )));
            }
            columns.push((name, place));
        }
        if !columns.iter().any(|(name, _)| *name == "qps") {
            return Err(fault("which column is qps?".to_owned()));
        }
        Ok(Self(columns))
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, place)| *place)
    }
}

/// One `NAME=COLUMN`: what it is, and where it stands.
fn column(pair: &str, header: &[String]) -> Result<(&'static str, usize), String> {
    let (name, column) =
        pair.split_once('=').ok_or_else(|| format!("`{pair}` is not NAME=COLUMN"))?;
    let (name, column) = (name.trim(), column.trim());
    let name = NAMES
        .into_iter()
        .find(|known| *known == name)
        .ok_or_else(|| format!("`{name}` is none of {}", NAMES.join(", ")))?;
    let titles = header.iter().enumerate().filter(|(_, title)| *title == column);
    let places: Vec<usize> = titles.map(|(place, _)| place).collect();
    match places[..] {
        [place] => Ok((name, place)),
        [] => Err(format!("there is no column `{column}`; there is {}", header.join(", "))),
        _ => {
            let numbers: Vec<String> = places.iter().map(|place| (place + 1).to_string()).collect();
            Err(format!(
                "{} are named `{column}` (numbers {}): nobody can tell which is {name}; \
                 rename the others in the file",
                counted(numbers.len(), "column"),
                numbers.join(", ")
            ))
        }
    }
}

struct Row<'a> {
    columns: &'a Columns,
    texts: Vec<String>,
    arguments: &'a CsvImportArgs,
    catalogue: &'a Catalogue,
}

impl Row<'_> {
    fn number(&self, file: &str, line: u64) -> Result<Number, String> {
        let need = |what: &str| format!("no {what}: map a column to it, or give it as a flag");
        let qps = self.text("qps")?.ok_or_else(|| need("qps"))?;
        let qps = rate(qps).ok_or_else(|| format!("qps: `{qps}` is no rate"))?;
        let columns = Facts {
            spec: self.size()?,
            scenario: self.text("scenario")?.map(str::to_owned),
            concurrency: self.small("concurrency")?,
            tables: self.small("tables")?,
            table_size: self.count("table_size")?,
        };
        let flags = Facts::of(&self.arguments.fill);
        let facts = agreed(&[(Voice::Flag, flags), (Voice::Column, columns)])?;
        let scenario = self.catalogue.find(&facts.scenario.ok_or_else(|| need("scenario"))?)?;
        let size = facts.spec.ok_or_else(|| need("spec"))?;
        Ok(Number {
            file: file.to_owned(),
            line,
            spec: spec(&size).ok_or_else(|| format!("spec: `{size}` is no size such as 2c4g"))?,
            scenario,
            concurrency: facts.concurrency.ok_or_else(|| need("concurrency"))?,
            table_size: facts.table_size.ok_or_else(|| need("table_size"))?,
            tables: facts.tables.ok_or_else(|| need("tables"))?,
            qps,
        })
    }

    fn small(&self, name: &str) -> Result<Option<u32>, String> {
        let number = self.count(name)?;
        let small =
            |number| u32::try_from(number).map_err(|_| format!("{name}: {number} is too large"));
        number.map(small).transpose()
    }

    /// The spec's own column, or the two that make one.
    fn size(&self) -> Result<Option<String>, String> {
        if let Some(text) = self.text("spec")? {
            return Ok(Some(text.to_owned()));
        }
        let (cpu, memory) = (self.count("cpu")?, self.count("memory_gb")?);
        Ok(cpu.zip(memory).map(|(cpu, memory)| format!("{cpu}c{memory}g")))
    }

    fn count(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        count(text)
            .map(Some)
            .ok_or_else(|| format!("{name}: `{text}` is no whole number from 1 on"))
    }

    /// The field; `None` where no column is it. An empty one is a fault.
    fn text(&self, name: &str) -> Result<Option<&str>, String> {
        let Some(place) = self.columns.place(name) else { return Ok(None) };
        match self.texts.get(place).map(String::as_str) {
            Some("") => Err(format!("{name}: the field is empty")),
            Some(text) => Ok(Some(text)),
            None => Err(format!(
                "the row has {}, and {name} is not among them",
                counted(self.texts.len(), "field")
            )),
        }
    }
}
