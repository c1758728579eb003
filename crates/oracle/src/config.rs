//! The oracle's configuration: one JSON file, named on QEMU's command line (`docs/design/oracle.md`).

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Why the oracle cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// There is no argument.
    #[error("the oracle needs the argument `config=FILE`")]
    NoArgument,
    /// A file cannot be read.
    #[error("cannot read {path}: {error}", path = path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The configuration is no JSON of this form.
    #[error("cannot understand {path}: {error}", path = path.display())]
    Parse {
        /// Which.
        path: PathBuf,
        /// Why.
        error: serde_json::Error,
    },
    /// The pattern cannot be matched.
    #[error("the ready pattern is no regular expression: {0}")]
    Pattern(#[from] regex::Error),
    /// The symbols name no function.
    #[error("{path} has no functions: it must be the text of /proc/kallsyms, read as root", path = .0.display())]
    NoFunctions(PathBuf),
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

impl Config {
    /// Reads the file named by the plugin's arguments.
    ///
    /// # Errors
    ///
    /// [`ConfigError`]: there is no such argument or file, or it is of another form.
    pub fn from_arguments(arguments: &[String]) -> Result<Self, ConfigError> {
        let path = arguments.iter().find_map(|argument| argument.strip_prefix("config="));
        let path = Path::new(path.ok_or(ConfigError::NoArgument)?);
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read { path: path.into(), error })?;
        serde_json::from_str(&text).map_err(|error| ConfigError::Parse { path: path.into(), error })
    }
}
