//! The plugin's configuration: one JSON file, named on QEMU's command line (`docs/reference/formats/plugin.md`).

use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Why the plugin cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error("the plugin needs the argument `config=FILE`")]
    NoArgument,
    #[error("cannot read {path}: {error}", path = path.display())]
    Read { path: PathBuf, error: std::io::Error },
    #[error("cannot understand {path}: {error}", path = path.display())]
    Parse { path: PathBuf, error: serde_json::Error },
    #[error("the ready pattern is no regular expression: {0}")]
    Pattern(#[from] regex::Error),
    #[error("{path} has no functions: it must be the text of /proc/kallsyms, read as root", path = .0.display())]
    NoFunctions(PathBuf),
    #[error("QEMU lacks the plugin function {0}")]
    NoFunction(&'static str),
    #[error("the plugin has no module for the processor {0}")]
    Target(String),
    #[error("{0}")]
    Clock(&'static str),
}

/// What ends the recording.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    pub nop: bool,
    pub console: Option<String>,
    pub function: Option<String>,
}

/// A function whose first entry is a mark.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkAt {
    pub mark: String,
    pub function: String,
}

/// Which clock to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClockChoice {
    Auto,
    Counted,
}

/// The whole configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    pub symbols: PathBuf,
    pub output: PathBuf,
    pub status: PathBuf,
    pub console: Option<PathBuf>,
    pub icount_shift: u8,
    pub ready: Ready,
    pub virtual_limit_ns: Option<u64>,
    pub marks: Vec<MarkAt>,
    pub clock: ClockChoice,
}

impl Config {
    /// Reads the file named by the plugin's arguments.
    pub fn from_arguments(arguments: &[String]) -> Result<Self, ConfigError> {
        let path = arguments.iter().find_map(|argument| argument.strip_prefix("config="));
        let path = Path::new(path.ok_or(ConfigError::NoArgument)?);
        let text = std::fs::read_to_string(path).map_err(|error| ConfigError::Read { path: path.into(), error })?;
        serde_json::from_str(&text).map_err(|error| ConfigError::Parse { path: path.into(), error })
    }
}
