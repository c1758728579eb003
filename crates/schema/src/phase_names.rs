//! The present names of phases in the tables of a bundle of any schema version.

use crate::hand_over::HandOver;
use crate::interned::{read, TextNumber};
use crate::vocabulary::{Mark, SpanKind};
use crate::TableError;
use std::path::Path;

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

/// How the boot of a bundle came from its initramfs to its root file system.
///
/// # Errors
///
/// What [`read`] says of the table of marks.
pub fn hand_over(bundle: &Path) -> Result<HandOver, TableError> {
    let marks = read("marks", &["mark", "detail"], bundle)?;
    let text = |number: &TextNumber| marks.texts.get(*number).unwrap_or_default();
    let all = marks.numbers("mark").iter().zip(marks.numbers("detail"));
    Ok(HandOver::of(all.filter_map(|(mark, detail)| Some((Mark::parse(text(mark))?, text(detail))))))
}
