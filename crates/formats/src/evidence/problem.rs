//! What is wrong with a record.

use super::{Evidence, ProblemKind};
use crate::counts::counted;

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

/// Lines or entries of a record that have no shape of its format.
#[derive(Debug, Default)]
pub(crate) struct Unparsed {
    count: u64,
    first: Option<u64>,
}

impl Unparsed {
    /// Counts one that begins at a line.
    pub fn add(&mut self, line: u64) {
        self.count += 1;
        self.first.get_or_insert(line);
    }

    /// Notes them as one problem. *what* follows their number, as in [`counted`]: `line[|s] [is not a call|are not calls]`.
    pub fn report(self, what: &str, evidence: &mut Evidence) {
        if self.count > 0 {
            evidence.not_understood = self.count;
            evidence.problem(ProblemKind::Torn, self.first, counted(self.count, &format!("# {what}")));
        }
    }
}
