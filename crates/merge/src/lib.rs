//! Several pieces of evidence put together: their clocks on one, what two tell of one thing in one row, and what
//! excludes one another told and not averaged. Out come the tables of one boot (`docs/reference/formats/boot-bundle.md`).

pub mod align;
pub mod boot_mark;
mod boot_marks;
pub mod boots;
mod calls;
mod choice;
mod completeness;
mod contradictions;
pub mod events;
mod firmware;
pub mod fit;
mod host;
pub mod identity;
mod log;
mod merge;
mod parents;
mod partners;
pub mod phases;
mod printing;
mod quiet;
mod received;
pub mod record;
pub mod recorded;
mod renamed;
pub mod row;
mod row_interval;
pub mod shown;
mod sources;
pub mod spans;
mod summary;
mod tables;
mod text;
pub mod trust;
mod unite;
mod verdict;

pub use completeness::Completeness;
pub use contradictions::Contradiction;
pub use merge::merge;
pub use summary::{SourceFit, SourceSummary, Summary};

use firstlight_formats::evidence::Evidence;
use fit::Line;

/// Why the tables could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// They could not be written.
    #[error(transparent)]
    Table(#[from] firstlight_schema::TableError),
    /// No piece of evidence says anything.
    #[error("nothing was understood")]
    Nothing,
}

/// A piece of evidence that goes into the tables.
#[derive(Debug, Clone)]
pub struct Piece<'a> {
    /// What it says.
    pub evidence: &'a Evidence,
    /// The file below `raw/`.
    pub file: &'a str,
    /// The way of its instants onto the boot's clock; none: they are not placed.
    pub line: Option<Line>,
    /// The way of the capturing machine's clock onto the boot's, where its lines have both.
    pub host: Option<Line>,
    /// How far a placed instant may be off.
    pub uncertainty_ns: i64,
}
