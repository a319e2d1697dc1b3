//! The nouns of gridbench: plain data and the arithmetic that belongs to it.
//!
//! Must not know: serde, files, sockets, async, or any other module of this crate.

mod comparison;
mod counts;
mod dataset;
mod evidence;
mod examination;
mod host;
mod ids;
mod interrupt;
mod matrix;
mod measurement;
mod options;
mod plan;
mod protocol;
mod request;
mod results;
mod run;
mod scenario;
mod server;
mod spec;
mod stack;
mod touched;
mod words;
mod workload;

pub use comparison::{CellComparison, Comparison, Verdict};
pub use counts::TrialCounts;
pub use dataset::{Checksum, Dataset, DatasetClass, DatasetRecord, ROW_BYTES, Refresh, TableCheck};
pub use evidence::{CommandCount, Counter, Counters, Evidence, ProcessUse, ServerUse};
pub use examination::{Examination, Gravity, Needs, Others, Remark};
pub use host::Host;
pub use ids::{CellId, IdError, ScenarioId, SpecId};
pub use interrupt::Interrupt;
pub use matrix::{Exclusion, Matrix, Rehearsal};
pub use measurement::{
    ErrorCount, Interval, LatencySummary, Measurement, Pace, StatementStats, TrialStatus,
};
pub use options::{Flag, Number, WorkloadOptions};
pub use plan::{Cell, Plan, PlannedSpec, Refreshed, Skip, Trial};
pub use protocol::{
    Arrivals, Engine, KeyLaw, Ladder, OpenLoop, Protocol, Publish, StatementMode, Until,
};
pub use request::{Param, Request, StatementKind};
pub use results::{Facts, MilliRate, ResultCell, ResultSet, ResultSource, fact_differences};
pub use run::{RunDescription, ServerRecord};
pub use scenario::{Access, ReadType, Scenario};
pub use server::{Address, Endpoint, Flavour, Secret, ServerInfo, SessionOptions, Tls, TlsMode};
pub use spec::{Bytes, Spec};
pub use stack::on_a_deep_stack;
pub use touched::Changes;
pub use words::{counted, grouped, plural};
pub use workload::{
    Column, ColumnValue, Constant, Content, Count, Group, List, OwnRows, OwnTable, Part, Statement,
    Touches, Value, Workload,
};
