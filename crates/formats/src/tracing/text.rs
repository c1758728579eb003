//! What the texts of the tracer share: where one of them ends and the next begins, and what is lost or torn in them.

use super::graph_line::{blanks, digits};
use super::stamps::Stamps;
use crate::about::About;
use crate::counts::counted;
use crate::evidence::{Clock, Evidence, Problem, ProblemKind};
use crate::format::{Format, Input};
use crate::lines::{Line, Lines};
use crate::FormatError;

/// So much of a line is shown.
const SHOWN_BYTES: usize = 60;

/// One text under way: from a header of the tracer to the next.
pub(super) trait Text: Sized {
    /// An empty one.
    fn new(begun: Begun) -> Self;

    /// What every text has.
    fn begun(&self) -> &Begun;

    /// Reads one line.
    fn line(&mut self, line: Line<'_>);

    /// What the text says.
    fn finish(self) -> Evidence;
}

/// What every text has: its evidence so far, its stamps, and what is lost or torn in it.
pub(super) struct Begun {
    pub evidence: Evidence,
    pub stamps: Stamps,
    pub damage: Damage,
}

impl Begun {
    /// A text that begins at a line. *before_ns* is the last stamp of the text before, in the same file.
    pub fn new(format: &'static About, boot: u32, first_line: u64, before_ns: Option<i64>) -> Self {
        Self {
            evidence: Evidence { boot, first_line, ..Evidence::of(format, Clock::Untimed) },
            stamps: Stamps::after(before_ns),
            damage: Damage::default(),
        }
    }

    /// The tracer lost so many records here; 0 where the number is unknown.
    pub fn lost(&mut self, line: u64, records: u64) {
        self.evidence.understood += 1;
        self.damage.lost(line, records);
    }

    /// A line has no shape of the format.
    pub fn torn(&mut self, line: u64, text: &[u8]) {
        self.damage.torn(line, text, self.evidence.understood);
    }
}

/// Reads every text of a record. *nothing* says what a record without any lacks.
///
/// # Errors
///
/// [`FormatError`] when it cannot be read, or no line of it says something.
pub(super) fn read<T: Text>(
    format: &dyn Format,
    input: Input<'_>,
    nothing: &str,
) -> Result<Vec<Evidence>, FormatError> {
    let mut lines = Lines::new(input.bytes);
    let mut texts = Vec::new();
    let mut text = T::new(Begun::new(format.about(), 0, 1, None));
    lines.each(|line| {
        let begun = text.begun();
        // A header after lines begins another text; earlier stamps than before, another boot.
        if begun.evidence.understood > 0 && line.bytes.starts_with(b"# tracer:") {
            let next = Begun::new(format.about(), begun.evidence.boot, line.number, begun.stamps.last_ns());
            texts.push(std::mem::replace(&mut text, T::new(next)).finish());
        }
        text.line(line);
    })?;
    if text.begun().evidence.understood > 0 || texts.is_empty() {
        texts.push(text.finish());
    }
    if let Some(last) = texts.last_mut() {
        last.problems.extend(lines.problems());
    }
    if texts.iter().all(|evidence| evidence.understood == 0) {
        return Err(format.not_this(nothing));
    }
    Ok(texts)
}

/// What is lost or torn in a text.
#[derive(Debug, Default)]
pub(super) struct Damage {
    torn: u64,
    first_torn: Option<(u64, String)>,
    around: u64,
    run: Run,
    lost: u64,
    places: u64,
    first_place: Option<u64>,
}

/// Lines one after another that have no shape of the format.
#[derive(Debug, Default)]
struct Run {
    understood: u64,
    lines: u64,
    first: Option<(u64, String)>,
    markup: bool,
}

impl Damage {
    /// A line has no shape of the format. *understood*: how many lines before it have.
    pub fn torn(&mut self, line: u64, text: &[u8], understood: u64) {
        if self.run.lines > 0 && self.run.understood != understood {
            self.end_run(self.run.understood == 0);
        }
        if self.run.lines == 0 {
            let text = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)]).into_owned();
            self.run = Run { understood, first: Some((line, text)), ..Run::default() };
        }
        self.run.lines += 1;
        self.run.markup |= text.starts_with(b"<");
    }

    /// Counts the lines of a run: markup before the first line of the format, or after the last, is a page around it.
    fn end_run(&mut self, outer: bool) {
        let run = std::mem::take(&mut self.run);
        if outer && run.markup {
            self.around += run.lines;
        } else {
            self.torn += run.lines;
            self.first_torn = self.first_torn.take().or(run.first);
        }
    }

    /// The tracer lost so many records here; 0 where the number is unknown.
    pub fn lost(&mut self, line: u64, records: u64) {
        self.lost = self.lost.saturating_add(records);
        self.places += 1;
        self.first_place.get_or_insert(line);
    }

    /// Says so. *shape* is what torn lines have none of.
    pub fn report(mut self, shape: &str, evidence: &mut Evidence) {
        let understood = evidence.understood;
        self.end_run(self.run.understood == 0 || self.run.understood == understood);
        if self.around > 0 {
            let detail = counted(self.around, "# line[|s] of the page around the text [is|are] not part of it");
            evidence.problem(ProblemKind::Embedded, None, detail);
        }
        if self.places > 0 {
            evidence.problems.push(Problem {
                kind: ProblemKind::Lost,
                detail: counted(self.places, "the tracer lost records at # place[|s]"),
                line: self.first_place,
                lost: (self.lost > 0).then_some(self.lost),
            });
        }
        if let Some((line, text)) = self.first_torn {
            let detail =
                format!("{}{shape}, the first: {text}", counted(self.torn, "# line[|s] [has|have] no shape of "));
            evidence.problem(ProblemKind::Torn, Some(line), detail);
            evidence.not_understood = self.torn;
        }
    }
}

/// `CPU:2 [LOST 112 EVENTS]`: processor and number, 0 where it is unknown.
pub(super) fn lost_events(text: &[u8]) -> Option<(u32, u64)> {
    let (cpu, next) = digits(text, text.strip_prefix(b"CPU:").map(|_| 4)?)?;
    let rest = text.get(blanks(text, next)..)?.strip_prefix(b"[LOST ")?;
    Some((u32::try_from(cpu).ok()?, digits(rest, 0)?.0))
}

/// `A/B #P:n`: what is in the buffer, of what was written.
pub(super) fn overwritten(text: &[u8], line: u64) -> Option<Problem> {
    let (kept, slash) = digits(text, blanks(text, 0))?;
    let (written, _) = digits(text, text.get(slash).filter(|byte| **byte == b'/').map(|_| slash + 1)?)?;
    let lost = written.checked_sub(kept).filter(|lost| *lost > 0)?;
    let detail = format!("of {written} records the last {kept} are left: the buffer was overwritten");
    Some(Problem { kind: ProblemKind::LostHead, detail, line: Some(line), lost: Some(lost) })
}
