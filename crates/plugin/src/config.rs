//! The plugin's configuration: one JSON file, named on QEMU's command line (`docs/reference/formats/plugin.md`).

use crate::asks::Questions;
use crate::parts::Part;
use serde::Deserialize;
use std::path::PathBuf;

/// Why the plugin cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    #[error(transparent)]
    File(#[from] firstlight_qemu::FileError),
    #[error("the ready pattern is not a valid regular expression: {0}")]
    Pattern(#[from] regex::Error),
    #[error("{path} has no functions: it must be the text of /proc/kallsyms, read as root", path = .0.display())]
    NoFunctions(PathBuf),
    #[error("{path} does not say where the kernel's code begins and ends: it lacks `_stext` or `_etext`", path = .0.display())]
    NoBounds(PathBuf),
    #[error("QEMU lacks the plugin function {0}")]
    NoFunction(&'static str),
    #[error("the plugin has no module for the processor {0}")]
    Target(String),
    #[error("{path} is not a 64-bit ELF file", path = .0.display())]
    NoProgram(PathBuf),
    #[error("{0}")]
    Clock(&'static str),
    #[error("several processors cannot be counted instruction by instruction")]
    Counted,
    #[error("{0}")]
    Asks(String),
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

fn one() -> u32 {
    1
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
    /// How many processors the guest has.
    #[serde(default = "one")]
    pub cpus: u32,
    #[serde(default)]
    pub user_functions: bool,
    /// What runs before the kernel's image, where a boot loader starts it.
    #[serde(default)]
    pub parts: Vec<Part>,
    /// The boot loader's program file with its symbols.
    #[serde(default)]
    pub loader_symbols: Option<PathBuf>,
    /// Where the registers of the first serial port are memory: their physical address.
    #[serde(default)]
    pub console_registers: Option<u64>,
    /// What a person asks of kernel functions.
    #[serde(default)]
    pub asks: Option<Questions>,
}
