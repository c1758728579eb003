//! The plugin's configuration: one JSON file, named on QEMU's command line.

use crate::model::Model;
use serde::Deserialize;
use std::path::PathBuf;

/// Why the disk cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The configuration cannot be read.
    #[error(transparent)]
    File(#[from] firstlight_qemu::FileError),
    /// The log cannot be written.
    #[error("cannot write {path}: {error}", path = path.display())]
    Log {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// QEMU lacks something.
    #[error("QEMU lacks {0}, which a disk with a model needs")]
    Missing(&'static str),
}

/// The whole configuration.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The disk.
    pub model: Model,
    /// Where a line for each request goes.
    pub log: PathBuf,
    /// The disk's place in QEMU's object tree.
    pub device: String,
}
