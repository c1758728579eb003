//! How far each length can be believed.
//!
//! An initcall has two figures: the distance of its two stamps, and what the kernel measured itself (`after N usecs`). The
//! kernel's figure leaves out the printing of the first line, but its start is one variable for all initcalls, and before
//! version 5.18 it counts 1024 ns as a microsecond. So each is held against the other.

use super::steps::Steps;
use crate::evidence::chunks::Chunks;
use crate::evidence::spans::Row;
use crate::evidence::texts::{Text, Texts};
use crate::evidence::{Evidence, Grade, Name, ProblemKind, SpanKind};

/// The step of a stamp, and of a figure in microseconds.
const MICROSECOND: i64 = 1_000;
/// So many figures in steps of the tick, two of them not zero, are no accident.
const TICKING: usize = 10;
/// From this length on a difference of 2.4 % is more than what printing takes.
const LONG: i64 = 2_000_000;

#[derive(Debug)]
struct Measured {
    span: u32,
    moved: bool,
    paired: bool,
}

/// What is needed to judge once all is known.
#[derive(Debug, Default)]
pub struct Trust {
    /// The steps of the clock.
    pub steps: Steps,
    measured: Chunks<Measured>,
    bodies: Option<u64>,
}

impl Trust {
    /// A span has its two figures. *moved*: the start that the kernel keeps was overwritten meanwhile; *paired*: its first
    /// line is in the log.
    pub fn measured(&mut self, span: usize, moved: bool, paired: bool) {
        if let Ok(span) = u32::try_from(span) {
            self.measured.push(Measured { span, moved, paired });
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
        let mut shared: Option<(u64, String)> = None;
        let mut reasons = Reasons::default();
        let stamp_step = evidence.step_ns;
        for (number, measured) in self.measured.iter().enumerate() {
            let Some((row, texts)) = evidence.spans.row_and_texts(measured.span as usize) else { continue };
            let Some(mut length) = row.duration_ns() else { continue };
            if shifted && row.kind == SpanKind::Initcall {
                length = (length / 1000).saturating_mul(1024);
            }
            let early = coarse.filter(|&(_, until)| row.start_ns().or(row.end_ns()).is_some_and(|time| time < until));
            let clock =
                Clock { stamps: stamp_step.max(early.map_or(0, |(step, _)| step)), own: early.map(|(step, _)| step) };
            let own = ticking.filter(|&(_, calls)| number < calls).map(|(step, _)| step);
            let clock = Clock { own: clock.own.max(own), ..clock };
            if judge(row, length, measured, &clock, |reason| reasons.number(reason, texts)) {
                shared.get_or_insert_with(|| (0, texts.get(row.name).to_owned())).0 += 1;
            }
        }
        if let Some((count, name)) = shared {
            let detail = format!(
                "{count} initcalls, `{name}` the first, were still running when another began: the kernel measures from \
                 the last beginning; their lengths are those of the stamps"
            );
            evidence.problem(ProblemKind::SharedStart, None, detail);
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
            if row.kind != SpanKind::Initcall {
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

/// Writes length, grade and reason; tells whether the shared start spoilt the kernel's figure.
fn judge(row: &mut Row, length: i64, measured: &Measured, clock: &Clock, mut text: impl FnMut(Name) -> Text) -> bool {
    let between = match (row.start_ns(), row.end_ns()) {
        (Some(start), Some(end)) => Some(end.saturating_sub(start)),
        _ => None,
    };
    let own_step = clock.own.unwrap_or(MICROSECOND);
    let mut spoilt = false;
    let (length, grade, reason): (i64, Grade, Name) = if row.end_ns() == Some(0) && length == 0 {
        row.set_start_ns(row.start_ns().map(|_| 0));
        row.set_duration_ns(None);
        row.grade = Grade::Unknown;
        row.reason = text(Name::Borrowed("the clock did not run yet"));
        return false;
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
                let by_stamps = "by the stamps: the kernel's own clock moves with the tick here";
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
                    spoilt = true;
                    let reason = format!(
                        "another initcall began meanwhile and moved the start that the kernel keeps: it says {} us",
                        length / 1000
                    );
                    (stamps, Grade::Doubtful, Name::Owned(reason))
                } else if row.start_ns() == Some(0) {
                    (length, Grade::Doubtful, Name::Borrowed("the clock began to run meanwhile"))
                } else if stamps > length {
                    waited(stamps, length, own_step)
                } else {
                    let reason = match stamps {
                        0 => Name::Borrowed("its first and its last line have the same stamp"),
                        _ => Name::Owned(format!("the stamps are only {} us apart", stamps / 1000)),
                    };
                    (length, Grade::Doubtful, reason)
                }
            }
            _ if measured.moved => {
                spoilt = true;
                let reason = "another initcall began meanwhile and moved the start that the kernel keeps";
                (length, Grade::Doubtful, Name::Borrowed(reason))
            }
            _ => one_figure(length, own_step),
        }
    };
    row.set_duration_ns(Some(length));
    row.grade = grade;
    row.reason = text(reason);
    spoilt
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
        _ => "less than a hundred steps of the clock, which moves with the tick here",
    };
    (length, Grade::Coarse, Name::Borrowed(reason))
}
