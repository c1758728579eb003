//! The oracle's configuration: one JSON file, named on QEMU's command line (`docs/design/oracle.md`).

use serde::Deserialize;
use std::path::PathBuf;

/// Why the oracle cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration or the symbols cannot be read.
    #[error(transparent)]
    File(#[from] firstlight_qemu::FileError),
    /// The pattern cannot be matched.
    #[error("the ready pattern is not a valid regular expression: {0}")]
    Pattern(#[from] regex::Error),
    /// The symbols name no function.
    #[error("{path} has no functions: it must be the text of /proc/kallsyms, read as root", path = .0.display())]
    NoFunctions(PathBuf),
    /// The oracle knows nothing of this processor.
    #[error("the oracle does not know the architecture {0}")]
    Architecture(String),
    /// QEMU lacks something.
    #[error("QEMU lacks {0}, which the oracle needs")]
    Missing(&'static str),
}

/// What ends the count: the instant at which the recording was frozen.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// The guest's own mark.
    pub mark: bool,
    /// A line of the console.
    pub console: Option<String>,
}

/// The whole configuration.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `/proc/kallsyms` of the kernel, with its modules' functions where they are known.
    pub symbols: PathBuf,
    /// Where the tables go.
    pub output: PathBuf,
    /// Where the status line goes.
    pub status: PathBuf,
    /// The console's file.
    pub console: Option<PathBuf>,
    /// What ends the count.
    pub ready: Ready,
}
