//! The tables of slices of time.

use super::instants::Clock;
use firstlight_profile::recording::{Instant, Recording};
use firstlight_profile::slices::{merged, Slice};
use firstlight_schema::table::{integers, write, TableWriter};
use firstlight_schema::TableError;
use std::path::Path;

/// Writes `slices` and `slice_calls`. What was counted between two cuts at one instant was counted at the end of the slice
/// before.
pub fn write_slices(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let slices: Vec<&[Slice]> = recording.slices.chunk_by(|first, second| first.end == second.end).collect();
    let ends: Vec<Instant> = slices.iter().filter_map(|parts| parts.first()).map(|part| part.end).collect();
    let starts = || std::iter::once(Instant::default()).chain(ends.iter().copied());
    write(
        "slices",
        vec![
            ("slice", integers(0..ends.len() as u64)),
            ("start_ns", integers(starts().zip(&ends).map(|(start, _)| clock.at(start)))),
            ("end_ns", integers(ends.iter().map(|end| clock.at(*end)))),
            ("instructions", integers(starts().zip(&ends).map(|(start, end)| end.instructions - start.instructions))),
            ("idle_ns", integers(starts().zip(&ends).map(|(start, end)| end.idle_ns - start.idle_ns))),
        ],
        bundle,
    )?;
    let mut table = TableWriter::create("slice_calls", bundle)?;
    for (number, parts) in (0..).zip(&slices) {
        let rows = merged(parts.iter().flat_map(|part| part.rows.iter().copied()));
        let rows = || rows.iter().filter(|row| row.calls > 0 || row.self_instructions > 0);
        table.append(vec![
            ("slice", integers(rows().map(|_| number))),
            ("node", integers(rows().map(|row| u64::from(row.node)))),
            ("calls", integers(rows().map(|row| row.calls))),
            ("self_instructions", integers(rows().map(|row| row.self_instructions))),
        ])?;
    }
    table.close()
}
