//! Validated names of specs, scenarios and cells.
//!
//! Must not know: where a name was read.

use std::fmt;

/// Why a text is not an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdError {
    /// The text that was offered.
    pub text: String,
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not an id: 1 to 64 of a-z, 0-9, '-', '_' and '.', the first a letter or digit",
            self.text
        )
    }
}

impl std::error::Error for IdError {}

macro_rules! id {
    ($name:ident, $doc:literal) => {
        #[doc = $doc]
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Accepts 1 to 64 of `a-z 0-9 - _ .`, the first a letter or digit.
            pub fn new(text: &str) -> Result<Self, IdError> {
                let bytes = text.as_bytes();
                let known = |b: &u8| {
                    b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b'.')
                };
                let starts = bytes.first().is_some_and(u8::is_ascii_alphanumeric);
                if starts && bytes.len() <= 64 && bytes.iter().all(known) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { text: text.to_owned() })
                }
            }

            /// The id as written.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }
    };
}

id!(SpecId, "The name of an instance size, for example `2c4g`.");
id!(ScenarioId, "The name of a scenario, for example `read-only-range`.");

/// One point of the matrix: spec, scenario and concurrency; printed `2c4g/read-only-range/64`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellId {
    /// The instance size.
    pub spec: SpecId,
    /// The workload under its published title.
    pub scenario: ScenarioId,
    /// Connections, each with one statement under way at most.
    pub concurrency: u32,
}

impl fmt::Display for CellId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&format!("{}/{}/{}", self.spec, self.scenario, self.concurrency))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_short_lower_case_ascii() {
        for good in ["2c4g", "read-only-range", "a", "v1.2_x"] {
            assert_eq!(SpecId::new(good).unwrap().as_str(), good);
        }
        for bad in ["", "-a", "A", "a b", "a/b", "ü", "..", &"a".repeat(65)] {
            assert!(ScenarioId::new(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_cell_id_names_its_three_parts() {
        let id = CellId {
            spec: SpecId::new("2c4g").unwrap(),
            scenario: ScenarioId::new("write-only").unwrap(),
            concurrency: 64,
        };
        assert_eq!(id.to_string(), "2c4g/write-only/64");
    }
}
