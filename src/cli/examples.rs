//! What is shown below a subcommand's options: commands to begin with.
//!
//! Must not know: what any of it does. A test types every one of them.

pub(super) const PLAN: &str = "Examples:
  gridbench plan matrices/full-cache.toml
  gridbench plan matrices/full-cache.toml --rehearse
  gridbench plan matrices/large-dataset.toml --only spec=2c4g --format json";

pub(super) const RUN: &str = "Examples:
  gridbench run matrices/quickstart.toml
  gridbench run matrices/full-cache.toml --rehearse
  gridbench run matrices/full-cache.toml --targets targets.toml --only spec=2c4g
  gridbench run matrices/full-cache.toml --set protocol.duration=20s --only concurrency=64
  gridbench run matrices/full-cache.toml --resume --serve
  gridbench run matrices/full-cache.toml --serve 127.0.0.1:0 --progress json";

pub(super) const CHECK: &str = "Examples:
  gridbench check 2c4g --targets targets.toml
  gridbench check matrices/full-cache.toml --targets targets.toml
  gridbench check 2c4g --targets targets.toml --format json";

pub(super) const LOAD: &str = "Examples:
  gridbench load matrices/full-cache.toml --only spec=2c4g
  gridbench load matrices/large-dataset.toml --targets targets.toml --loaders 8";

pub(super) const CLEAN: &str = "Examples:
  gridbench clean matrices/full-cache.toml --targets targets.toml
  gridbench clean matrices/full-cache.toml --targets targets.toml --yes";

pub(super) const SHOW: &str = "Examples:
  gridbench show tdsql-c-2025-12/full-cache
  gridbench show results/20261201T090000Z-full-cache
  gridbench show results/20261201T090000Z-full-cache --open";

pub(super) const RENDER: &str = "Examples:
  gridbench render tdsql-c-2025-12/full-cache
  gridbench render tdsql-c-2025-12/full-cache --template tdsql-c-zh -o page.html
  gridbench render results/20261201T090000Z-full-cache --template mine.html
  gridbench render --into docs/performance.md --check";

pub(super) const DIFF: &str = "Examples:
  gridbench diff results/20261201T090000Z-full-cache
  gridbench diff results/new results/old --threshold 3 --threshold write-only=10
  gridbench diff results/new results/old --across server.version --format junit
  gridbench diff results/new results/old --page comparison.html";

pub(super) const HISTORY: &str = "Examples:
  gridbench history matrices/full-cache.toml
  gridbench history full-cache --fail-on-change";

pub(super) const AUDIT: &str = "Examples:
  gridbench audit tdsql-c-2025-12
  gridbench audit results/20261201T090000Z-full-cache --fail-on-findings
  gridbench audit tdsql-c-2025-12/large-dataset --bandwidth 25Gbit";

pub(super) const BASELINE: &str = "Examples:
  gridbench baseline list
  gridbench baseline show tdsql-c-2025-12/full-cache
  gridbench baseline import page page.md --as mine/full-cache";

pub(super) const CALIBRATE: &str = "Examples:
  gridbench calibrate
  gridbench calibrate --beside sysbench --statements text,prepared
  gridbench calibrate --serve --port 3307";

pub(super) const COMPLETIONS: &str = "Examples:
  gridbench completions bash
  gridbench completions zsh";

pub(super) const MAN: &str = "Examples:
  gridbench man target/man";
