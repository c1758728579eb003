//! `systemd-analyze critical-chain`.

use super::analyses::{self, pasted_rows, Output};
use super::timespan::{by_step, nanoseconds, STEP_NS};
use super::unit_times::is_unit;
use crate::about::{About, Origin, Traits};
use crate::enclosed::with_characters;
use crate::evidence::{Clock, Evidence, Grade, Instant, Link, LinkKind, Mark, Span, SpanKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::FormatError;
use firstlight_schema::FormatName;
use firstlight_schema::ReasonCode;
use std::collections::{HashMap, HashSet};

/// Reads what `systemd-analyze critical-chain` prints.
pub struct SystemdCriticalChain;

/// Both wordings of its second line hold this.
const SIGNATURE: &[u8] = b"is printed after the \"@\" character";

/// Levels beyond this are damage: a chain is as deep as the longest ordering.
const DEEPEST: usize = 4096;

impl Format for SystemdCriticalChain {
    fn about(&self) -> &'static About {
        CHAIN
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let start = head.bytes.get(..4096).unwrap_or(head.bytes);
        if memchr::memmem::find(start, SIGNATURE).is_some() {
            return Likelihood::Certain;
        }
        let text = String::from_utf8_lossy(start);
        let of_tree = |line: &str| row(line, 0).is_some_and(|row| row.depth > 0 && row.at.is_some());
        match text.lines().take(20).filter(|line| of_tree(line)).count() {
            0 => {}
            1 => return Likelihood::Possible,
            _ => return Likelihood::Likely,
        }
        match pasted_rows(head, |line| of_tree(&with_characters(line)) || line.starts_with(CHAIN_HEAD)) {
            0..3 => Likelihood::No,
            _ => Likelihood::Likely,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        const OWN: Output = Output {
            name: FormatName::SystemdCriticalChain,
            nothing: "no line is a row of the tree",
            unknown: "line[|s] [is not a row|are not rows] of the tree",
        };
        analyses::read(self, &OWN, input)
    }
}

const CHAIN: &About =
    &About::of(FormatName::SystemdCriticalChain, Traits { units: 3, stages: 3, ..Traits::of(Origin::Systemd) });
/// How both lines begin that stand before the tree.
pub(super) const CHAIN_HEAD: &str = "The time ";

/// The trees of one boot.
#[derive(Default)]
pub(super) struct Chain {
    parents: Vec<String>,
    /// When each unit became active or began, and how long it took.
    units: HashMap<String, (Option<i64>, Option<i64>)>,
    spans: Vec<Span>,
    links: Vec<Link>,
    linked: HashSet<(String, String)>,
    understood: u64,
}

impl Chain {
    /// Whether a row has other figures of its unit: then it is of another boot.
    pub fn contradicts(&self, row: &Drawn) -> bool {
        self.units.get(&row.unit).is_some_and(|known| *known != (row.at, row.took))
    }

    /// Takes a row.
    pub fn add(&mut self, row: Drawn) {
        self.understood += 1;
        if row.unit == "..." {
            return;
        }
        self.parents.truncate(row.depth);
        let parent = self.parents.last().cloned();
        if let Some(parent) = parent.filter(|parent| self.linked.insert((parent.clone(), row.unit.clone()))) {
            let (from, to) = ((SpanKind::Unit, parent), (SpanKind::Unit, row.unit.clone()));
            self.links.push(Link { kind: LinkKind::After, from, to });
        }
        self.parents.push(row.unit.clone());
        if self.units.insert(row.unit.clone(), (row.at, row.took)).is_none() {
            self.spans.push(span(&row));
        }
    }

    /// What they say.
    pub fn finish(self) -> Option<Evidence> {
        let mut evidence = Evidence::of(CHAIN, Clock::Untimed);
        if self.spans.iter().any(|span| span.end_ns.is_some()) {
            let detail = "the times of the tree are counted from it".to_owned();
            evidence.clock = Clock::Userspace;
            evidence.marks.push(Instant { mark: Mark::UserspaceStart, time_ns: 0, detail });
        }
        self.spans.into_iter().for_each(|span| evidence.spans.push(span));
        (evidence.links, evidence.understood) = (self.links, self.understood);
        (evidence.understood > 0).then_some(evidence)
    }
}

/// What a level of the tree is drawn with, in UTF-8 and in ASCII. `-.mount` is a unit: a lone `-` is none.
const LEVELS: [&str; 7] = ["  ", "│ ", "├─", "└─", "| ", "|-", "`-"];

/// A row of the tree.
pub(super) struct Drawn {
    /// Its number in the record.
    pub line: u64,
    pub depth: usize,
    /// Whether there is more than blanks before the unit.
    pub drawn: bool,
    pub unit: String,
    pub at: Option<i64>,
    pub took: Option<i64>,
}

/// Takes a row apart.
pub(super) fn row(text: &str, line: u64) -> Option<Drawn> {
    let (mut body, mut depth, mut drawn) = (text, 0, false);
    while let Some((level, rest)) = LEVELS.iter().find_map(|level| Some((level, body.strip_prefix(level)?))) {
        body = rest;
        depth += 1;
        drawn |= *level != "  ";
    }
    let mut words = body.trim_end().split(" @");
    let first = words.next()?;
    let (unit, first_took) = first.split_once(" +").unwrap_or((first, ""));
    if depth >= DEEPEST || !(is_unit(unit) || unit == "..." && drawn) {
        return None;
    }
    let (at, took) = match words.next() {
        Some(rest) => {
            let (at, took) = rest.split_once(" +").unwrap_or((rest, ""));
            (nanoseconds(at), nanoseconds(took))
        }
        None => (None, nanoseconds(first_took)),
    };
    Some(Drawn { line, depth, drawn, unit: unit.to_owned(), at, took })
}

fn span(row: &Drawn) -> Span {
    let span = Span { track: "systemd".into(), duration_ns: row.took, ..Span::new(SpanKind::Unit, row.unit.clone()) };
    match (row.at, row.took) {
        (Some(at), Some(took)) => by_step(span.between(at, at.saturating_add(took)), STEP_NS),
        (Some(at), None) => {
            let span = Span { end_ns: Some(at), ..span };
            span.graded(Grade::Unknown, ReasonCode::LengthMissing)
        }
        (None, Some(_)) => by_step(span, STEP_NS),
        (None, None) => span.graded(Grade::Unknown, ReasonCode::TimeMissing),
    }
}
