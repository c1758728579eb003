//! How long a microsecond is that the kernel prints: before version 5.18 it divides nanoseconds by 1024.

use super::tick::Tick;
use crate::evidence::chunks::Chunks;
use crate::evidence::{Evidence, ProblemKind, SpanKind};
use crate::kernel_log::messages::figure::{Figure, Measured, MICROSECOND};

/// From this length on a difference of 2.4 % is more than what printing takes.
const LONG: i64 = 2_000_000;

/// Whether the microseconds of initcalls have 1024 ns: by the stamps of long calls, else by the kernel's version.
pub(super) fn shifted(
    measured: &Chunks<Measured>,
    release: Option<(i64, i64)>,
    (coarse, tick): (Option<(i64, i64)>, Option<Tick>),
    evidence: &mut Evidence,
) -> bool {
    let (mut plain, mut by_1024, mut any) = (0_u64, 0_u64, false);
    for (number, measured) in measured.iter().enumerate() {
        let Some(row) = evidence.spans.row(measured.span as usize) else { continue };
        if row.kind != SpanKind::Initcall || measured.figure != Figure::Micros {
            continue;
        }
        // A figure in steps of the tick is near its stamps by accident, in either unit.
        let of_tick = tick.is_some_and(|tick| tick.covers(number, row));
        any |= !of_tick || !measured.paired;
        let early = coarse.is_some_and(|(_, until)| row.start_ns().is_none_or(|start| start < until));
        let (Some(start), Some(end), Some(length)) = (row.start_ns(), row.end_ns(), row.duration_ns()) else {
            continue;
        };
        if early || of_tick || measured.moved || !measured.paired || length < LONG || evidence.step_ns > MICROSECOND {
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
