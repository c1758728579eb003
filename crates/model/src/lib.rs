//! How a profile becomes the tables of a boot bundle, and what is computed from its tree of calls.

pub mod difference;
pub mod folding;
pub mod invariants;
pub mod kd;
pub mod profile_tables;

use firstlight_schema::TableError;
use std::path::{Path, PathBuf};

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// A file could not be opened, read or written.
    #[error("{path}: {error}", path = path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// A table could not be written or read.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Evidence that could not be read.
    #[error("{path}: {error}", path = path.display())]
    Profile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        error: firstlight_profile::recording::RecordingError,
    },
    /// A name that the bundle does not hold.
    #[error("no {kind} is called `{name}`")]
    NotFound {
        /// `function` or `phase`.
        kind: &'static str,
        /// The name asked for.
        name: String,
    },
    /// The tables contradict one another.
    #[error("table `{0}`: its rows refer to nodes that do not exist")]
    Inconsistent(&'static str),
    /// Its figures leave the range of 64 bits when they are added up.
    #[error("table `{0}`: its figures are too large to add up")]
    TooLarge(&'static str),
}

/// What a file holds.
fn bytes(path: &Path) -> Result<Vec<u8>, ModelError> {
    std::fs::read(path).map_err(|error| ModelError::File { path: path.to_owned(), error })
}
