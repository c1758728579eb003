//! What is wrong with a record.

use super::ProblemKind;

/// Something wrong with a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// What kind.
    pub kind: ProblemKind,
    /// What, for a person; a count and an example rather than one problem for every line.
    pub detail: String,
    /// Where it was met first.
    pub line: Option<u64>,
    /// How many records are missing, where that can be counted.
    pub lost: Option<u64>,
}
