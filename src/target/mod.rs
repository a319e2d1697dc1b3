//! Stand-in: replaced at merge.

pub mod host;
