//! The bottom of the project: the names that a bundle stores ([`vocabulary`]), and its tables (`docs/reference/formats/boot-bundle.md`).

pub mod aliases;
mod clock;
pub mod columns;
pub mod hand_over;
#[cfg(feature = "parquet")]
pub mod interned;
#[macro_use]
mod names;
#[cfg(feature = "parquet")]
mod phase_names;
mod reason;
#[cfg(feature = "parquet")]
pub mod table;
pub mod vocabulary;

pub use clock::Clock;
pub use reason::Reason;
pub use vocabulary::*;

use std::path::PathBuf;

/// One sound figure, until something is known for or against it.
impl Default for Grade {
    fn default() -> Self {
        Self::Good
    }
}

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
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
    /// The file is not Parquet, or its bytes are damaged.
    #[error("{path}: damaged or no Parquet: {error}", path = path.display())]
    Parquet {
        /// Which file.
        path: PathBuf,
        /// What the reader said.
        error: String,
    },
}
