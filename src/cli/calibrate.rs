//! `gridbench calibrate`, exactly as typed.
//!
//! Must not know: what any of it does.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// `gridbench calibrate`.
#[derive(Debug, Args)]
pub struct CalibrateArgs {
    /// Workloads by sysbench's names
    #[arg(long, value_name = "NAME,...", value_delimiter = ',',
        default_values = ["oltp_point_select", "oltp_read_only", "oltp_read_write"])]
    pub workloads: Vec<String>,
    /// How statements travel: text, prepared, or both
    #[arg(long, value_name = "MODE,...", value_delimiter = ',', default_values = ["text"])]
    pub statements: Vec<String>,
    /// Tables among which statements are spread; without it, 250 for text and 10 for prepared
    #[arg(long, value_name = "N")]
    pub tables: Option<u32>,
    /// Connections
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "64,256,1024")]
    pub connections: Vec<u32>,
    /// How long each measurement takes
    #[arg(long, value_name = "TIME", default_value = "5s")]
    pub duration: String,
    /// Measurements of each cell; the table shows medians
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub rounds: u32,
    /// Load threads of the client, each with a processor where there are enough
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub load_threads: u32,
    /// Measure another client too, in turn with ours: sysbench (or a path to it), or floor, a
    /// bare loop that sends the same bytes over and over
    #[arg(long, value_name = "CLIENT")]
    pub beside: Option<String>,
    /// Only keep the server up, until Ctrl-C
    #[arg(long)]
    pub serve: bool,
    /// The server's TCP port; 0 takes a free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,
    /// How to print the result
    #[arg(long, value_enum, default_value_t = CalibrateFormat::Table)]
    pub format: CalibrateFormat,
    /// Where results are kept; this one as calibration.json
    #[arg(long, value_name = "DIR", default_value = "results")]
    pub out: PathBuf,
}

/// How a calibration is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CalibrateFormat {
    /// Aligned columns.
    Table,
    /// One object, as in calibration.json.
    Json,
}

/// One process of a calibration: the server, or one measurement of one client.
#[derive(Debug, Args)]
pub struct CalibratePartArgs {
    /// What this process is.
    #[arg(long, value_enum)]
    pub role: CalibrateRole,
    /// The processors that it may use.
    #[arg(long, value_delimiter = ',')]
    pub cpus: Vec<u32>,
    /// The server's port.
    #[arg(long, default_value_t = 0)]
    pub port: u16,
    /// sysbench's name of the workload.
    #[arg(long, default_value = "")]
    pub workload: String,
    /// How statements travel.
    #[arg(long, default_value = "text")]
    pub statements: String,
    /// Tables among which statements are spread.
    #[arg(long, default_value_t = 1)]
    pub tables: u32,
    /// Connections.
    #[arg(long, default_value_t = 1)]
    pub connections: u32,
    /// Length of the measured window.
    #[arg(long, default_value_t = 0)]
    pub duration_ms: u64,
    /// Load threads.
    #[arg(long, default_value_t = 1)]
    pub load_threads: u32,
    /// sysbench's program.
    #[arg(long, default_value = "sysbench")]
    pub sysbench: PathBuf,
}

/// What a process of a calibration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CalibrateRole {
    /// The server that answers at once.
    Server,
    /// Our client.
    Native,
    /// The bare loop.
    Floor,
    /// sysbench.
    Sysbench,
}
