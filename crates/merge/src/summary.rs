//! What is said of the tables once they are written: each source, what is missing, what excludes one another.

use crate::completeness::Completeness;
use crate::fit::{Fitted, Line};
use crate::tables::Grades;
use crate::Contradiction;
use firstlight_formats::evidence::{Evidence, Problem, ProblemKind};
use std::collections::BTreeMap;

/// How a source's clock was put onto another: theirs = offset + rate * this one.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFit {
    /// The line onto the boot's clock.
    pub line: Line,
    /// Events that both hold.
    pub shared: usize,
    /// Half of them lie closer than this; none without shared events.
    pub residual_median_ns: Option<i64>,
    /// The farthest.
    pub residual_max_ns: Option<i64>,
    /// What it rests on.
    pub how: String,
}

/// What became of a piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceSummary {
    /// The file below `raw/`.
    pub file: String,
    /// What it was read as.
    pub format: Option<&'static str>,
    /// The part of the file.
    pub part: String,
    /// Its own clock.
    pub clock: String,
    /// How that was put onto the boot's.
    pub fit: Option<SourceFit>,
    /// Lines or records that were understood.
    pub understood: u64,
    /// Lines or records that were not.
    pub not_understood: u64,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
}

/// What the tables hold, and what is to be said about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MergeSummary {
    /// The mark that is time 0.
    pub origin: String,
    /// From the first mark to the last.
    pub length_ns: i64,
    /// Every piece of evidence.
    pub sources: Vec<SourceSummary>,
    /// Where they exclude one another.
    pub contradictions: Vec<Contradiction>,
    /// What is missing.
    pub completeness: Completeness,
    /// What is missing of a boot in which no line matches the pattern of its end.
    pub unmatched_ready: Option<String>,
    /// What a person should know at once.
    pub warnings: Vec<String>,
    /// Spans by kind and grade.
    pub grades: Grades,
    /// Lines in the log table.
    pub lines: u64,
    /// Lines that several records held.
    pub copies: u64,
    /// Nodes of the calling-context tree.
    pub nodes: usize,
    /// Rows of kd's table.
    pub kd_rows: usize,
    /// The facts.
    pub facts: BTreeMap<String, String>,
    /// The marks, by name.
    pub marks: Vec<(String, i64)>,
}

impl SourceFit {
    /// A fit and what it rests on.
    pub fn of(fitted: &Fitted, how: &str) -> Self {
        let shared = fitted.shared > 0;
        Self {
            line: fitted.line,
            shared: fitted.shared,
            residual_median_ns: shared.then_some(fitted.median_ns),
            residual_max_ns: shared.then_some(fitted.max_ns),
            how: how.to_owned(),
        }
    }

    /// That of the source whose clock is the boot's.
    pub fn same() -> Self {
        Self::of(&Fitted::without_events(Line::SAME), "its clock is the boot's")
    }
}

impl SourceSummary {
    /// A piece of evidence before anything became of it.
    pub fn of(file: &str, evidence: &Evidence) -> Self {
        Self {
            file: file.to_owned(),
            format: Some(evidence.format.name),
            part: evidence.part.clone(),
            clock: evidence.clock.to_string(),
            fit: None,
            understood: evidence.understood,
            not_understood: evidence.not_understood,
            problems: evidence.problems.clone(),
        }
    }

    /// Adds what only the comparison with the other sources shows.
    pub fn problem(&mut self, kind: ProblemKind, detail: String) {
        self.problems.push(Problem { kind, detail, line: None, lost: None });
    }
}
