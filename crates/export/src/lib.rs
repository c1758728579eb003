//! A boot for other programs (`docs/reference/formats/exports.md`): what runs once per span, per lane or per node of the tree.

pub mod folded;
pub mod lanes;
pub mod perfetto;
mod shared_time;
pub mod stack;
pub mod stacks;
pub mod timeline;

use std::path::PathBuf;

/// Why a boot could not be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// A table of the bundle could not be read.
    #[error(transparent)]
    Model(#[from] firstlight_model::ModelError),
    /// A table could not be read.
    #[error(transparent)]
    Table(#[from] firstlight_schema::TableError),
    /// The exported file could not be written.
    #[error("{path}: {error}", path = path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        error: std::io::Error,
    },
    /// The bundle has nothing that the format holds.
    #[error("{0}")]
    Nothing(&'static str),
}
