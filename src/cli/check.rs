//! `gridbench check`, exactly as typed.
//!
//! Must not know: what any of it does.

use clap::{Args, ValueEnum};

use super::MatrixArgs;

/// `gridbench check`.
#[derive(Debug, Args)]
#[command(mut_arg("matrix", |argument| argument.value_name("TARGET|MATRIX").help(
    "A target of the targets file, for example 2c4g; or a matrix, whose servers are then held \
     against what it needs of them")))]
pub struct CheckArgs {
    /// Which matrix or target, how.
    #[command(flatten)]
    pub matrix: MatrixArgs,
    /// How to print what is seen
    #[arg(long, value_enum, default_value_t = CheckFormat::Text)]
    pub format: CheckFormat,
}

/// How an examination is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CheckFormat {
    /// Facts, then remarks with their remedies.
    Text,
    /// An array with an object for each server.
    Json,
}
