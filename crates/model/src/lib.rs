//! The tables of a boot bundle (`docs/reference/formats/boot-bundle.md`): what columns they have, how they are written and read,
//! and how a profile becomes tables.

pub mod difference;
pub mod folding;
pub mod interned;
pub mod invariants;
pub mod kd;
pub mod profile_tables;
pub mod schema;
pub mod table;

use std::path::PathBuf;

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
    /// The bundle has no table of this name.
    #[error("no table is called `{0}`")]
    UnknownTable(String),
    /// The columns are not those of the table.
    #[error("table `{table}`: {what}")]
    Columns {
        /// Which table.
        table: String,
        /// What is wrong with them.
        what: String,
    },
    /// The file is no Parquet, or its bytes are damaged.
    #[error("{path}: damaged or no Parquet: {error}", path = path.display())]
    Parquet {
        /// Which file.
        path: PathBuf,
        /// What the reader said.
        error: String,
    },
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
    #[error("table `{0}`: its rows name nodes that are not there")]
    Inconsistent(&'static str),
    /// Its figures leave the range of 64 bits when they are added up.
    #[error("table `{0}`: its figures are too large to add up")]
    TooLarge(&'static str),
}
