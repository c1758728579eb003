//! The present names of phases in the tables of a bundle of any schema version.

use crate::vocabulary::SpanKind;

/// Where a table has the names of phases: the column, and the column that says in which rows.
pub fn column_of(table: &str) -> Option<(&'static str, Option<&'static str>)> {
    match table {
        "spans" => Some(("name", Some("kind"))),
        "phase_calls" => Some(("phase", None)),
        _ => None,
    }
}

/// Whether a row with this value in the second column of [`column_of`] is a phase.
pub fn is_phase(kind: Option<&str>) -> bool {
    kind == Some(SpanKind::Phase.name())
}
