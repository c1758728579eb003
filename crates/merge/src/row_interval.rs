//! When a span or a row begins and ends, on the clock of the boot.

use crate::row::Row;
use crate::AlignedRecord;
use firstlight_formats::evidence::SpanRef;

/// Begin and end, as far as they are known.
pub type Ends = (Option<i64>, Option<i64>);

/// When a span begins, else when it ends.
pub fn instants(piece: &AlignedRecord<'_>, span: SpanRef<'_>) -> Option<i64> {
    let (start, end) = ends(span, piece)?;
    start.or(end)
}

/// Those of a span on the boot's clock.
pub fn ends(span: SpanRef<'_>, piece: &AlignedRecord<'_>) -> Option<Ends> {
    let line = piece.line?;
    let ends = (span.start_ns.map(|at| line.at(at)), span.end_ns.map(|at| line.at(at)));
    (ends != (None, None)).then_some(ends)
}

/// Those of a row.
pub fn ends_of(row: &Row<'_>) -> Option<Ends> {
    let ends = (row.start_ns, row.end_ns);
    (ends != (None, None)).then_some(ends)
}

/// Whether two intervals of which both ends are known have some time in common.
pub fn common(one: Ends, two: Ends) -> bool {
    let ((Some(one_start), Some(one_end)), (Some(two_start), Some(two_end))) = (one, two) else { return false };
    one_start.max(two_start) < one_end.min(two_end)
}
