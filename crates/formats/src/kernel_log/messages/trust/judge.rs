//! One length: its source, its grade, and the reason.

use crate::evidence::spans::Row;
use crate::evidence::texts::Text;
use crate::evidence::{Grade, Name, SpanKind};
use crate::kernel_log::messages::figure::{Figure, Measured, MICROSECOND, MILLISECOND};
use firstlight_schema::{Reason, ReasonCode};

/// A line takes as long as this to be printed on the slowest console; a task is seldom held up as long.
const HELD_UP: i64 = 100_000_000;

/// A line of a hundred characters takes about as long as this at 115200 baud.
const PRINTED: i64 = 10_000_000;

/// What is found out about a length, beside its grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Nothing,
    /// The shared start spoilt the kernel's figure; the timestamps show it.
    Spoilt,
    /// The same, and the timestamps do not show it.
    SpoiltForGood,
    /// The stamps are much further apart.
    Longer,
    /// The stamps are not as far apart.
    Shorter,
}

/// The steps that a length is held against.
pub(super) struct Clock {
    /// Of the stamps.
    pub(super) stamps: i64,
    /// Of the kernel's own figure too, while its clock is the tick.
    pub(super) own: Option<i64>,
    /// The kernel's own clock stands still here.
    pub(super) stands: bool,
}

/// Writes length, grade and reason; returns the problem that all such calls share.
pub(super) fn judge(
    row: &mut Row,
    length: i64,
    measured: &Measured,
    clock: &Clock,
    mut text: impl FnMut(Name) -> Text,
) -> Found {
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
        row.reason = text(ReasonCode::ClockNotRunning.into());
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
                ReasonCode::ClockJumpedBack.into()
            }
            _ => ReasonCode::BothStampsNeeded.into(),
        };
        row.set_duration_ns(known.map(|_| length));
        row.grade = grade;
        row.reason = text(reason);
        return Found::Nothing;
    } else if !measured.paired {
        let reason = ReasonCode::StartMissingInLogShared;
        let reason = if row.kind == SpanKind::Initcall { reason } else { ReasonCode::StartMissingInLog };
        (length, Grade::Doubtful, reason.into())
    } else if row.kind == SpanKind::Probe {
        one_figure(length, own_step)
    } else {
        match between {
            Some(stamps) if stamps >= 0 && (own_step > clock.stamps || clock.stands && row.start_ns() > Some(0)) => {
                let by_stamps = match measured.figure {
                    _ if clock.stands => "by the stamps: the kernel's own clock stands still here",
                    Figure::Millis => "by the stamps: the kernel's own figure is in milliseconds",
                    _ => "by the stamps: the kernel's own clock moves with the tick here",
                };
                // They include the printing of the first line.
                let grade = if stamps >= PRINTED.saturating_mul(20) { Grade::Good } else { Grade::Bounded };
                (stamps, grade, Name::Borrowed(by_stamps))
            }
            // Stamps as coarse as dates are say nothing about one call.
            Some(stamps) if clock.stamps == own_step || stamps < 0 || clock.own.is_some() => {
                let slack = clock.stamps.saturating_mul(3).max(length / 100);
                let agree = stamps.saturating_sub(length).unsigned_abs() <= slack.unsigned_abs();
                if agree && stamps >= 0 && measured.moved {
                    found = Found::Spoilt;
                    let reason = "by the stamps: another initcall started during it and moved the kernel's start stamp";
                    let (stamps, grade, coarse) = one_figure(stamps, clock.stamps);
                    (stamps, grade, if grade == Grade::Good { Name::Borrowed(reason) } else { coarse })
                } else if agree && stamps >= 0 {
                    let (length, grade, reason) = one_figure(length, own_step);
                    (length, if grade == Grade::Good { Grade::Exact } else { grade }, agreed(grade, reason))
                } else if stamps < 0 {
                    row.set_start_ns(row.end_ns().map(|end| end.saturating_sub(length)));
                    let grade = if measured.moved { Grade::Doubtful } else { Grade::Good };
                    (length, grade, ReasonCode::ClockJumpedBackStartComputed.into())
                } else if measured.moved {
                    found = Found::Spoilt;
                    let reason = Reason::of(ReasonCode::ShiftedStartSays).with("us", length / 1000);
                    (stamps, Grade::Doubtful, reason.into())
                } else if row.start_ns() == Some(0) {
                    (length, Grade::Doubtful, ReasonCode::ClockStartedMeanwhile.into())
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
                        0 => ReasonCode::SameStamp.into(),
                        _ => Reason::of(ReasonCode::StampsOnlyApart).with("us", stamps / 1000).into(),
                    };
                    (length, Grade::Doubtful, reason)
                }
            }
            _ if measured.moved => {
                found = Found::SpoiltForGood;
                let reason = "another initcall started during it and moved the kernel's start stamp: it took longer";
                (length, Grade::Doubtful, reason.into())
            }
            _ => one_figure(length, own_step),
        }
    };
    row.set_duration_ns(Some(length));
    row.grade = grade;
    row.reason = text(reason);
    found
}

/// The clock stood still at an end of a call: where the kernel's own figure is no more than the distance of its stamps, both
/// are too short. Whether that is so.
pub(super) fn at_least(row: &mut Row, text: &mut impl FnMut(Name) -> Text) -> bool {
    let stamps = row.start_ns().zip(row.end_ns()).map(|(start, end)| end.saturating_sub(start));
    let known =
        row.duration_ns().zip(stamps).is_some_and(|(length, stamps)| length > stamps.saturating_add(3 * MICROSECOND));
    if known || row.duration_ns().is_none() || matches!(row.grade, Grade::Doubtful | Grade::Unknown) {
        return false;
    }
    row.grade = Grade::Doubtful;
    row.reason = text(ReasonCode::ClockStoodStill.into());
    true
}

fn agreed(grade: Grade, reason: Name) -> Name {
    if grade == Grade::Good {
        ReasonCode::StampsAgree.into()
    } else {
        reason
    }
}

/// The stamps are further apart than the kernel's figure, which begins once the first line is printed.
fn waited(stamps: i64, length: i64, step: i64) -> (i64, Grade, Name) {
    let more = stamps - length;
    if more > HELD_UP {
        let reason = Reason::of(ReasonCode::StampsFurtherApart).with("us", more / 1000);
        return (length, Grade::Doubtful, reason.into());
    }
    if more >= 1_000_000 {
        let reason = Reason::of(ReasonCode::StampsHeldUp).with("us", more / 1000);
        return (length, Grade::Good, reason.into());
    }
    one_figure(length, step)
}

fn one_figure(length: i64, step: i64) -> (i64, Grade, Name) {
    if length >= step.saturating_mul(100) {
        return (length, Grade::Good, Name::Borrowed(""));
    }
    let reason = match step {
        MICROSECOND => ReasonCode::FewMicroseconds,
        MILLISECOND => ReasonCode::FewMilliseconds,
        _ => ReasonCode::FewTicks,
    };
    (length, Grade::Coarse, reason.into())
}
