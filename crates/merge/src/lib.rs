//! Merges several records of one boot: aligns their clocks, merges rows of the same thing, and reports contradictions
//! instead of averaging them. The result is the tables of one boot (`docs/reference/formats/boot-bundle.md`).

pub mod align;
pub mod boot_id;
pub mod boot_mark;
mod boot_marks;
pub mod boot_selection;
mod calls;
mod capture_clock;
mod completeness;
mod contradictions;
pub mod doubt;
pub mod events;
mod first_program;
pub mod fit;
pub mod grades;
mod initcall_events;
mod joined_files;
mod journal_texts;
mod log;
pub mod machines;
pub mod matching;
mod membership;
mod merge;
mod parents;
pub mod phases;
pub mod record;
mod record_selection;
pub mod recorded;
pub mod row;
mod row_interval;
mod settled;
pub mod shown;
mod sources;
mod summary;
mod tables;
mod text;
mod wanted_marks;

pub use completeness::Completeness;
pub use contradictions::Contradiction;
pub use merge::{merge, merge_any};
pub use summary::{MergeSummary, SourceFit, SourceSummary};
pub use wanted_marks::WantedMark;

use firstlight_formats::evidence::Evidence;
use fit::Line;

/// Why the tables could not be made.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// They could not be written.
    #[error(transparent)]
    Table(#[from] firstlight_schema::TableError),
    /// No record holds anything.
    #[error("no line could be parsed")]
    Nothing,
}

/// A record whose clock is aligned to the boot's.
#[derive(Debug, Clone)]
pub struct AlignedRecord<'a> {
    /// Its parsed form.
    pub evidence: &'a Evidence,
    /// The file below `raw/`.
    pub file: &'a str,
    /// Maps its instants to the boot's clock; `None`: they are not aligned.
    pub line: Option<Line>,
    /// Maps the capturing machine's clock to the boot's, where its lines have both.
    pub host: Option<Line>,
    /// How far a placed instant may be off.
    pub uncertainty_ns: i64,
    /// Which of its clocks cannot be right.
    pub doubted: Doubted,
}

/// Which clocks of a record cannot have run as it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Doubted {
    /// Its own.
    pub own: bool,
    /// The capturing machine's.
    pub host: bool,
}
