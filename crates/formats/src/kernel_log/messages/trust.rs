//! How reliable each length is.
//!
//! An initcall has two figures: the distance of its two stamps, and what the kernel measured itself (`after N usecs`). The
//! kernel's figure leaves out the printing of the first line, but its start is one variable for all initcalls, and before
//! version 5.18 it counts 1024 ns as a microsecond. So each is held against the other.

mod judge;
mod tick;
mod unit;

use super::figure::{Figure, Measured, MICROSECOND, MILLISECOND};
use super::steps::Steps;
use crate::counts::counted;
use crate::evidence::chunks::Chunks;
use crate::evidence::texts::{Text, Texts};
use crate::evidence::{Evidence, Name, ProblemKind, SpanKind};
use judge::{at_least, judge, Clock, Found};
use unit::shifted;

/// So many calls in a row that take no time were made while the clock stood still.
const ZEROS: usize = 12;
/// Stamps in steps above this give no instant of a call.
const COARSE: i64 = 1_000_000;

/// What is needed to judge once all is known.
#[derive(Debug, Default)]
pub struct Trust {
    steps: Steps,
    first_ns: Option<i64>,
    measured: Chunks<Measured>,
    bodies: Option<u64>,
}

/// What is said of initcalls, of which the first is named.
fn of_calls(count: u64, name: &str, what: &str) -> String {
    let calls = counted(count, "# initcall[|s]");
    format!("{calls}, `{name}`{} {}", counted(count, "[,| the first,]"), counted(count, what))
}

impl Trust {
    /// The stamp of a line.
    #[inline]
    pub fn at(&mut self, time: i64) {
        self.first_ns.get_or_insert(time);
        self.steps.at(time);
    }

    /// A span has its two figures. *moved*: the start that the kernel keeps was overwritten meanwhile; *paired*: its first
    /// line is in the log.
    pub fn measured(&mut self, span: usize, moved: bool, paired: bool, figure: Figure) {
        if let Ok(span) = u32::try_from(span) {
            self.measured.push(Measured { span, moved, paired, figure });
        }
    }

    /// The last one never has a first line.
    pub fn end_only(&mut self, _span: usize) {
        let last = self.measured.len().wrapping_sub(1);
        if let Some(last) = self.measured.get_mut(last) {
            last.paired = true;
        }
    }

    /// Figures of asynchronous bodies were met.
    pub fn shifted_bodies(&mut self, line: u64) {
        self.bodies.get_or_insert(line);
    }

    /// Of a log without stamps: which figures lie in a row of zeros that is longer than calls without work are. The kernel's clock
    /// may stand still there.
    fn zeros(&self, evidence: &Evidence) -> Vec<bool> {
        let is_zero = |measured: &Measured| {
            let row = evidence.spans.row(measured.span as usize);
            row.is_some_and(|row| row.kind == SpanKind::Initcall && row.duration_ns() == Some(0))
        };
        let zeros: Vec<bool> = self.measured.iter().map(is_zero).collect();
        let rows = zeros.chunk_by(|one, next| one == next);
        rows.flat_map(|row| std::iter::repeat_n(row.first() == Some(&true) && row.len() >= ZEROS, row.len())).collect()
    }

    /// Judges every span. *release* is the kernel's version.
    pub fn finish(&mut self, release: Option<(i64, i64)>, evidence: &mut Evidence) {
        let coarse = self.steps.found();
        if let Some((step, until)) = coarse {
            let until = until as f64 / 1e9;
            let detail = format!("up to {until:.6} the clock moves in steps of {} ms", step / 1_000_000);
            evidence.problem(ProblemKind::Quantised, None, detail);
        }
        if evidence.step_ns == 0 {
            evidence.step_ns = MICROSECOND;
        }
        let tick = tick::find(&self.measured, release, coarse, evidence);
        let shifted = shifted(&self.measured, release, (coarse, tick), evidence);
        if let Some(tick) = tick {
            evidence.problem(ProblemKind::Quantised, None, tick.statement());
        }
        let idle = if self.first_ns.is_none() { self.zeros(evidence) } else { Vec::new() };
        let mut found: [Option<(u64, String)>; 4] = Default::default();
        let mut reasons = Reasons::default();
        let mut stood = 0_u64;
        let stamp_step = evidence.step_ns;
        for (number, measured) in self.measured.iter().enumerate() {
            let Some((row, texts)) = evidence.spans.row_and_texts(measured.span as usize) else { continue };
            let Some(mut length) = row.duration_ns() else { continue };
            if shifted && row.kind == SpanKind::Initcall && measured.figure == Figure::Micros {
                length = (length / 1000).saturating_mul(1024);
            }
            let early = coarse.filter(|&(_, until)| row.start_ns().or(row.end_ns()).is_some_and(|time| time < until));
            let clock = Clock {
                stamps: stamp_step.max(early.map_or(0, |(step, _)| step)),
                own: early.map(|(step, _)| step),
                stands: false,
            };
            let tick = tick.filter(|tick| tick.covers(number, row));
            let own = tick.and_then(|tick| tick.step);
            let own = (measured.figure == Figure::Millis).then_some(MILLISECOND).max(own);
            let stands = tick.is_some_and(|tick| tick.step.is_none());
            let clock = Clock { own: clock.own.max(own), stands, ..clock };
            let place = match judge(row, length, measured, &clock, |reason| reasons.number(reason, texts)) {
                Found::Nothing => None,
                Found::Spoilt => Some(0),
                Found::SpoiltForGood => Some(1),
                Found::Longer => Some(2),
                Found::Shorter => Some(3),
            };
            if let Some(of) = place.and_then(|place: usize| found.get_mut(place)) {
                of.get_or_insert_with(|| (0, texts.get(row.name).to_owned())).0 += 1;
            }
            let stands = |at: Option<i64>| at.is_some_and(|at| self.steps.stands_at(at));
            if idle.get(number).is_some_and(|idle| *idle) {
                stood += u64::from(at_least(row, &mut |reason| reasons.number(reason, texts)));
            }
            if stamp_step <= MICROSECOND && early.is_none() && (stands(row.start_ns()) || stands(row.end_ns())) {
                stood += u64::from(at_least(row, &mut |reason| reasons.number(reason, texts)));
            }
            // A start that was counted back from a date is not before everything in the log.
            if stamp_step > COARSE && row.start_ns() < self.first_ns {
                row.set_start_ns(row.start_ns().and(self.first_ns.min(row.end_ns())));
            }
        }
        let told = [
            (
                ProblemKind::SharedStart,
                "[was|were] still running when another began: the kernel measures from the last beginning; [its length is \
                 that|their lengths are those] of the stamps",
            ),
            (
                ProblemKind::SharedStart,
                "[was|were] still running when another began: the kernel measures from the last beginning, and no stamp shows more; \
                 [it|they] took longer than shown",
            ),
            (
                ProblemKind::Contradiction,
                "[has|have] stamps that are more than 0.1 s further apart than the kernel's own figure: the time \
                 between is unexplained; shown [is the kernel's figure|are the kernel's figures]",
            ),
            (
                ProblemKind::Contradiction,
                "[has|have] stamps that are less far apart than the kernel's own figure, by more than 0.1 s: one of the clocks is \
                 wrong; shown [is the kernel's figure, but it stands between its|are the kernel's figures, but they stand between their] stamps",
            ),
        ];
        for (of, (kind, what)) in found.into_iter().zip(told) {
            if let Some((count, name)) = of {
                evidence.problem(kind, None, of_calls(count, &name, what));
            }
        }
        if stood > 0 {
            let detail = counted(stood, "the clock stands still for some lines, and # call[|s] began or ended there: [it|they] took longer than shown");
            evidence.problem(ProblemKind::Quantised, None, detail);
        }
        if self.measured.iter().any(|measured| measured.figure == Figure::Millis) {
            let detail = "the kernel gives the lengths of initcalls in milliseconds of 1048576 ns: read so";
            evidence.problem(ProblemKind::Quantised, None, detail);
        }
        if let Some(line) = self.bodies {
            let detail =
                "the kernel counts 1024 ns as a microsecond of asynchronous bodies and of waiting for them: read so";
            evidence.problem(ProblemKind::ShiftedMicroseconds, Some(line), detail);
        }
    }
}

/// The constant reasons that were given: nearly every call has one of them, and each is known by where it stands.
#[derive(Default)]
struct Reasons(Vec<(&'static str, Text)>);

impl Reasons {
    fn number(&mut self, reason: Name, texts: &mut Texts) -> Text {
        let Name::Borrowed(reason) = reason else { return texts.number(reason.as_bytes()) };
        match self.0.iter().find(|(known, _)| std::ptr::eq(*known, reason)) {
            Some((_, number)) => *number,
            None => {
                let number = texts.number(reason.as_bytes());
                self.0.push((reason, number));
                number
            }
        }
    }
}
