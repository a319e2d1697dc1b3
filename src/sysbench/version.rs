//! Which sysbench it is, and what that one has.
//!
//! Must not know: how it was asked.

use std::fmt;

/// A version as sysbench tells it, with `--version` or in the first line of its output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// 1 in all that this program can drive or read.
    pub major: u32,
    /// 0 in what distributions ship, 1 in the development line.
    pub minor: u32,
    /// The whole of it: `1.0.20`, `1.1.0-2ca9e3f`.
    pub text: String,
}

impl Version {
    /// Reads `sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)` or the same without brackets.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("sysbench ")?.split_whitespace();
        let text = words.next()?;
        if words.next().is_some_and(|word| word != "(using") {
            return None;
        }
        let mut numbers = text.split(['.', '-']).map(str::parse::<u32>);
        let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
        Some(Self { major, minor, text: text.to_owned() })
    }

    /// Whether its options and its output are those that this program knows: 1.0 and 1.1.
    pub fn is_known(&self) -> bool {
        self.major == 1 && self.minor <= 1
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sysbench {}", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_first_line_and_nothing_else() {
        let read = |line| Version::parse(line).map(|v| (v.major, v.minor, v.text));
        assert_eq!(read("sysbench 1.0.20"), Some((1, 0, "1.0.20".to_owned())));
        let header = "sysbench 1.1.0-2ca9e3f (using bundled LuaJIT 2.1.0-beta3)";
        assert_eq!(read(header), Some((1, 1, "1.1.0-2ca9e3f".to_owned())));
        for other in ["sysbench", "sysbench oltp_read_only run", "sysbench 1.0.20 is fine", "1.0"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert!(!Version::parse("sysbench 0.5").unwrap().is_known());
    }
}
