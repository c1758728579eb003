//! How much of the evidence is there.

use crate::{log, AlignedRecord};
use firstlight_formats::evidence::ProblemKind;

/// What is there and what is missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completeness {
    /// Why not all of the evidence is there.
    pub missing: Vec<String>,
    /// Records that were read.
    pub understood: u64,
    /// Records known to be missing, or not understood.
    pub lost: u64,
    /// Whether all that is missing could be counted.
    pub countable: bool,
    /// Records that were left out of the tables. How much of them belongs to the boot is unknown.
    pub left_out: u64,
}

impl Completeness {
    /// Counts what every piece holds and lacks.
    pub fn count(&mut self, pieces: &[AlignedRecord<'_>]) {
        self.countable = self.left_out == 0;
        for piece in pieces {
            let evidence = piece.evidence;
            self.understood = self.understood.saturating_add(evidence.understood);
            if evidence.not_understood > 0 {
                self.lost = self.lost.saturating_add(evidence.not_understood);
                let (strange, whole) =
                    (evidence.not_understood, evidence.understood.saturating_add(evidence.not_understood));
                self.missing.push(format!("{}: {strange} of {whole} lines or records were not parsed", piece.file));
            }
            let whole_elsewhere = || pieces.iter().any(|other| log::goes_back_beyond(other, piece));
            for problem in evidence.problems.iter().filter(|problem| problem.kind.loses()) {
                // What a ring had overwritten is not missing where another record has it.
                if problem.kind == ProblemKind::LostHead && whole_elsewhere() {
                    continue;
                }
                // A last line without its end is one record at most.
                let cut = u64::from(problem.kind == ProblemKind::Cut);
                self.lost = self.lost.saturating_add(problem.lost.unwrap_or(cut));
                self.countable &= problem.lost.is_some() || cut > 0;
                self.missing.push(format!("{}: {}", piece.file, problem.detail));
            }
        }
    }
}
