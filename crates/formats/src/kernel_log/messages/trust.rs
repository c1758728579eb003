//! How far each length can be believed.
//!
//! An initcall has two figures: the distance of its two stamps, and what the kernel measured itself (`after N usecs`). The
//! kernel's figure leaves out the printing of the first line, but its start is one variable for all initcalls, and before
//! version 5.18 it counts 1024 ns as a microsecond. So each is held against the other.

use super::old_initcalls;
use super::steps::Steps;
use crate::evidence::chunks::Chunks;
use crate::evidence::spans::Row;
use crate::evidence::texts::{Text, Texts};
use crate::evidence::{Evidence, Grade, Name, ProblemKind, SpanKind};

/// The step of a stamp, and of a figure in microseconds.
const MICROSECOND: i64 = 1_000;
/// So many figures in steps of the tick, two of them not zero, are no accident.
const TICKING: usize = 10;
/// Stamps in steps above this give no instant of a call.
const COARSE: i64 = 1_000_000;
/// A line takes as long as this to be printed on the slowest console; a task is seldom held up as long.
const HELD_UP: i64 = 100_000_000;
/// From this length on a difference of 2.4 % is more than what printing takes.
const LONG: i64 = 2_000_000;

/// Whose figure a length is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figure {
    /// The kernel's, in microseconds.
    Micros,
    /// The kernel's, in what it takes for milliseconds.
    Millis,
    /// There is none: the distance of the stamps.
    Stamps,
}

#[derive(Debug)]
struct Measured {
    span: u32,
    moved: bool,
    paired: bool,
    figure: Figure,
}

/// What is found out about a length, beside its grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The shared start spoilt the kernel's figure; the stamps tell.
    Spoilt,
    /// The same, and the stamps do not tell.
    SpoiltForGood,
    /// The stamps are much further apart.
    Longer,
    /// The stamps are not as far apart.
    Shorter,
}

/// What is needed to judge once all is known.
#[derive(Debug, Default)]
pub struct Trust {
    steps: Steps,
    first_ns: Option<i64>,
    measured: Chunks<Measured>,
    bodies: Option<u64>,
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
        let shifted = self.shifted(release, coarse, evidence);
        let ticking = self.ticking(evidence);
        if let Some((step, calls)) = ticking {
            let detail = format!(
                "the first {calls} lengths that the kernel gives move in steps of {} ms, because its clock source is the tick \
                 until it switches: those of the stamps are taken",
                step / 1_000_000
            );
            evidence.problem(ProblemKind::Quantised, None, detail);
        }
        let mut found: [Option<(u64, String)>; 4] = Default::default();
        let mut reasons = Reasons::default();
        let stamp_step = evidence.step_ns;
        for (number, measured) in self.measured.iter().enumerate() {
            let Some((row, texts)) = evidence.spans.row_and_texts(measured.span as usize) else { continue };
            let Some(mut length) = row.duration_ns() else { continue };
            if shifted && row.kind == SpanKind::Initcall && measured.figure == Figure::Micros {
                length = (length / 1000).saturating_mul(1024);
            }
            let early = coarse.filter(|&(_, until)| row.start_ns().or(row.end_ns()).is_some_and(|time| time < until));
            let clock =
                Clock { stamps: stamp_step.max(early.map_or(0, |(step, _)| step)), own: early.map(|(step, _)| step) };
            let own = ticking.filter(|&(_, calls)| number < calls).map(|(step, _)| step);
            let own = (measured.figure == Figure::Millis).then_some(old_initcalls::NS_PER_UNIT).max(own);
            let clock = Clock { own: clock.own.max(own), ..clock };
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
            // A start that was counted back from a date is not before all that the log tells.
            if stamp_step > COARSE && row.start_ns() < self.first_ns {
                row.set_start_ns(row.start_ns().and(self.first_ns.min(row.end_ns())));
            }
        }
        let told = [
            (
                ProblemKind::SharedStart,
                "were still running when another began: the kernel measures from the last beginning; their lengths are those of \
                 the stamps",
            ),
            (
                ProblemKind::SharedStart,
                "were still running when another began: the kernel measures from the last beginning, and no stamp tells more; \
                 they took longer than shown",
            ),
            (
                ProblemKind::Contradiction,
                "have stamps that are more than 0.1 s further apart than the kernel's own figure: nobody knows what that time \
                 was; shown are the kernel's figures",
            ),
            (
                ProblemKind::Contradiction,
                "have stamps that are less far apart than the kernel's own figure, by more than 0.1 s: one of the clocks is \
                 wrong; shown are the kernel's figures, but they stand between their stamps",
            ),
        ];
        for (of, (kind, what)) in found.into_iter().zip(told) {
            if let Some((count, name)) = of {
                evidence.problem(kind, None, format!("{count} initcalls, `{name}` the first, {what}"));
            }
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

    /// Whether the kernel's own figures begin in steps of the tick, while the stamps are finer: the step, and how many.
    fn ticking(&self, evidence: &Evidence) -> Option<(i64, usize)> {
        let lengths = || self.measured.iter().map(|one| evidence.spans.row(one.span as usize)?.duration_ns());
        [10_000_000, 4_000_000, 1_000_000].into_iter().find_map(|step| {
            let until = lengths().position(|length| length.is_none_or(|length| length % step != 0));
            let until = until.unwrap_or(self.measured.len());
            let ticks = lengths().take(until).filter(|length| length.is_some_and(|length| length > 0)).count();
            (until >= TICKING && ticks >= 2).then_some((step, until))
        })
    }

    /// Whether the microseconds of initcalls have 1024 ns: by the stamps of long calls, else by the kernel's version.
    fn shifted(&self, release: Option<(i64, i64)>, coarse: Option<(i64, i64)>, evidence: &mut Evidence) -> bool {
        let (mut plain, mut by_1024, mut any) = (0_u64, 0_u64, false);
        for measured in self.measured.iter() {
            let Some(row) = evidence.spans.row(measured.span as usize) else { continue };
            if row.kind != SpanKind::Initcall || measured.figure != Figure::Micros {
                continue;
            }
            any = true;
            let early = coarse.is_some_and(|(_, until)| row.start_ns().is_none_or(|start| start < until));
            let (Some(start), Some(end), Some(length)) = (row.start_ns(), row.end_ns(), row.duration_ns()) else {
                continue;
            };
            if early || measured.moved || !measured.paired || length < LONG || evidence.step_ns > MICROSECOND {
                continue;
            }
            let stamps = end.saturating_sub(start);
            let near = |figure: i64| stamps.saturating_sub(figure).unsigned_abs() <= (length / 200).unsigned_abs();
            by_1024 += u64::from(near((length / 1000).saturating_mul(1024)));
            plain += u64::from(near(length));
        }
        let (shifted, why) = if by_1024 >= 3 && by_1024 > 4 * plain {
            (true, format!("the stamps of {by_1024} of {} long calls show it", by_1024 + plain))
        } else if plain > 0 {
            (false, String::new())
        } else {
            match release {
                Some((major, minor)) if (major, minor) < (5, 18) => {
                    (true, format!("Linux {major}.{minor} is older than 5.18, and no long call says otherwise"))
                }
                _ => (false, String::new()),
            }
        };
        if shifted && any {
            let detail = format!("initcalls count 1024 ns as a microsecond ({why}): read so, 2.4 % more than printed");
            evidence.problem(ProblemKind::ShiftedMicroseconds, None, detail);
        }
        shifted
    }
}

/// The steps that a length is held against.
struct Clock {
    /// Of the stamps.
    stamps: i64,
    /// Of the kernel's own figure too, while its clock is the tick.
    own: Option<i64>,
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

/// Writes length, grade and reason; tells what all such calls have to be told of.
fn judge(row: &mut Row, length: i64, measured: &Measured, clock: &Clock, mut text: impl FnMut(Name) -> Text) -> Found {
    let between = match (row.start_ns(), row.end_ns()) {
        (Some(start), Some(end)) => Some(end.saturating_sub(start)),
        _ => None,
    };
    let own_step = clock.own.unwrap_or(MICROSECOND);
    let mut found = Found::Nothing;
    let (length, grade, reason): (i64, Grade, Name) = if row.end_ns() == Some(0) && length == 0 {
        row.set_start_ns(row.start_ns().map(|_| 0));
        row.set_duration_ns(None);
        row.grade = Grade::Unknown;
        row.reason = text(Name::Borrowed("the clock did not run yet"));
        return Found::Nothing;
    } else if measured.figure == Figure::Stamps {
        if !measured.paired {
            row.set_start_ns(None);
        }
        let known = between.filter(|stamps| *stamps >= 0 && measured.paired);
        let (length, grade, reason) =
            known.map_or((0, Grade::Unknown, Name::Borrowed("")), |stamps| one_figure(stamps, clock.stamps));
        let reason = match between {
            _ if known.is_some() => reason,
            Some(stamps) if stamps < 0 => {
                row.set_end_ns(None);
                Name::Borrowed("the clock of the log jumped back meanwhile")
            }
            _ => Name::Borrowed("the stamps of both its ends are needed"),
        };
        row.set_duration_ns(known.map(|_| length));
        row.grade = grade;
        row.reason = text(reason);
        return Found::Nothing;
    } else if !measured.paired {
        let reason = "its beginning is not in the log, so that another may have moved the start";
        let reason = if row.kind == SpanKind::Initcall { reason } else { "its beginning is not in the log" };
        (length, Grade::Doubtful, Name::Borrowed(reason))
    } else if row.kind == SpanKind::Probe {
        one_figure(length, own_step)
    } else {
        match between {
            Some(stamps) if own_step > clock.stamps && stamps >= 0 => {
                let (length, grade, reason) = one_figure(stamps, clock.stamps);
                let by_stamps = match measured.figure {
                    Figure::Millis => "by the stamps: the kernel's own figure is in milliseconds",
                    _ => "by the stamps: the kernel's own clock moves with the tick here",
                };
                (length, grade, if grade == Grade::Good { Name::Borrowed(by_stamps) } else { reason })
            }
            // Stamps as coarse as dates are say nothing about one call.
            Some(stamps) if clock.stamps == own_step || stamps < 0 || clock.own.is_some() => {
                let slack = clock.stamps.saturating_mul(3).max(length / 100);
                let agree = stamps.saturating_sub(length).unsigned_abs() <= slack.unsigned_abs();
                if agree && stamps >= 0 {
                    let (length, grade, reason) = one_figure(length, own_step);
                    (length, if grade == Grade::Good { Grade::Exact } else { grade }, agreed(grade, reason))
                } else if stamps < 0 {
                    row.set_start_ns(row.end_ns().map(|end| end.saturating_sub(length)));
                    let grade = if measured.moved { Grade::Doubtful } else { Grade::Good };
                    (
                        length,
                        grade,
                        Name::Borrowed("the clock of the log jumped back meanwhile: the start is the end less the kernel's own figure"),
                    )
                } else if measured.moved {
                    found = Found::Spoilt;
                    let reason = format!(
                        "another initcall began meanwhile and moved the start that the kernel keeps: it says {} us",
                        length / 1000
                    );
                    (stamps, Grade::Doubtful, Name::Owned(reason))
                } else if row.start_ns() == Some(0) {
                    (length, Grade::Doubtful, Name::Borrowed("the clock began to run meanwhile"))
                } else if stamps > length {
                    if stamps - length > HELD_UP && row.kind == SpanKind::Initcall {
                        found = Found::Longer;
                    }
                    waited(stamps, length, own_step)
                } else {
                    if length - stamps > HELD_UP && row.kind == SpanKind::Initcall {
                        found = Found::Shorter;
                    }
                    let reason = match stamps {
                        0 => Name::Borrowed("its first and its last line have the same stamp"),
                        _ => Name::Owned(format!("the stamps are only {} us apart", stamps / 1000)),
                    };
                    (length, Grade::Doubtful, reason)
                }
            }
            _ if measured.moved => {
                found = Found::SpoiltForGood;
                let reason =
                    "another initcall began meanwhile and moved the start that the kernel keeps: it took longer";
                (length, Grade::Doubtful, Name::Borrowed(reason))
            }
            _ => one_figure(length, own_step),
        }
    };
    row.set_duration_ns(Some(length));
    row.grade = grade;
    row.reason = text(reason);
    found
}

fn agreed(grade: Grade, reason: Name) -> Name {
    if grade == Grade::Good {
        Name::Borrowed("the stamps and the kernel's own figure agree")
    } else {
        reason
    }
}

/// The stamps are further apart than the kernel's figure, which begins once the first line is printed.
fn waited(stamps: i64, length: i64, step: i64) -> (i64, Grade, Name) {
    let more = stamps - length;
    if more > HELD_UP {
        let reason = format!("the stamps are {} us further apart", more / 1000);
        return (length, Grade::Doubtful, Name::Owned(reason));
    }
    if more >= 1_000_000 {
        let reason = format!(
            "the stamps are {} us further apart: its first line was still being printed, or its task was held up",
            more / 1000
        );
        return (length, Grade::Good, Name::Owned(reason));
    }
    one_figure(length, step)
}

fn one_figure(length: i64, step: i64) -> (i64, Grade, Name) {
    if length >= step.saturating_mul(100) {
        return (length, Grade::Good, Name::Borrowed(""));
    }
    let reason = match step {
        MICROSECOND => "less than a hundred steps of 1 us",
        old_initcalls::NS_PER_UNIT => "less than a hundred steps of a figure in milliseconds",
        _ => "less than a hundred steps of the clock, which moves with the tick here",
    };
    (length, Grade::Coarse, Name::Borrowed(reason))
}
