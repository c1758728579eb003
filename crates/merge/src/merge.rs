//! From the records of one boot to its tables.

use crate::boot_mark::BootMark;
use crate::boot_marks::boot_marks;
use crate::calls::{chosen, write_calls};
use crate::completeness::Completeness;
use crate::contradictions::ordered;
use crate::first_program::bracket;
use crate::joined_files::joined;
use crate::journal_texts::received;
use crate::machines::machine_conflicts;
use crate::matching::rows;
use crate::parents::parents;
use crate::phases::phases;
use crate::record::Read;
use crate::record_selection::RecordChoice;
use crate::row::Row;
use crate::settled::start_up_over;
use crate::sources::Sources;
use crate::summary::MergeSummary;
use crate::tables::{write_counters, write_facts, write_kd, write_links, write_marks, write_spans};
use crate::wanted_marks::{FoundMarks, OwnMark, WantedMark};
use crate::{log, AlignedRecord, MergeError};
use firstlight_formats::about::Origin;
use firstlight_schema::table::write_empty;
use firstlight_schema::{Clock, Mark};
use std::path::Path;

/// Writes all tables of a bundle from the records of one boot: of each record the boot that `boots` names.
///
/// # Errors
///
/// [`MergeError::Nothing`] when no record says anything, and when a table cannot be written.
pub fn merge(reads: &[Read], boots: &[Option<u32>], bundle: &Path) -> Result<MergeSummary, MergeError> {
    merge_any(reads, boots, false, &[], bundle)
}

/// The same, also of records that say of themselves that they are of several machines or boots, if `mixed`: what they contradict
/// is in the evidence.
///
/// # Errors
///
/// As [`merge`].
pub fn merge_any(
    reads: &[Read],
    boots: &[Option<u32>],
    mixed: bool,
    wanted: &[WantedMark],
    bundle: &Path,
) -> Result<MergeSummary, MergeError> {
    let choice = RecordChoice::of(reads, boots, mixed);
    if choice.kept.is_empty() && choice.left_out.is_empty() {
        return Err(MergeError::Nothing);
    }
    // Files of one directory that hold one time each are one record.
    let together = joined(&choice.kept, &|read| choice.file(read));
    let received = received(&choice.kept);
    let Sources { mut pieces, mut summaries, mut contradictions, warnings, missing, left_out, copies } =
        Sources::of(&choice, &together, &received);
    let completeness = Completeness { missing, left_out, ..Completeness::default() };
    let mut summary = MergeSummary { warnings, completeness, ..MergeSummary::default() };
    let mut all_rows = rows(&pieces, &mut contradictions);
    let mut found = FoundMarks::of(&pieces, wanted);
    let mut all_marks = boot_marks(&pieces, &all_rows, &found.known, &mut contradictions);
    if let Some(over) = start_up_over(&pieces, &all_rows, &found.known, &mut all_marks) {
        summary.warnings.push(over);
    }
    if let Some(end) = all_marks.last() {
        found.end_at(end.time_ns);
    }
    let origin = all_marks.first().map_or(0, |mark| mark.time_ns);
    shift(&mut all_rows, &mut all_marks, &mut found.own, origin);
    summary.warnings.append(&mut found.warnings);
    summary.completeness.missing.append(&mut found.missing);
    summary.unmatched_ready = found.unmatched_ready.take();
    for piece in &mut pieces {
        piece.line = piece.line.map(|line| line.shifted(origin.saturating_neg()));
        piece.host = piece.host.map(|line| line.shifted(origin.saturating_neg()));
    }
    for fit in summaries.iter_mut().filter_map(|source| source.fit.as_mut()) {
        fit.line = fit.line.shifted(origin.saturating_neg());
    }
    bracket(&pieces, &all_rows, &found.known, &mut all_marks);
    let phases = phases(&all_marks);
    let parents = parents(&all_rows, &phases);
    write_marks(&all_marks, &found.own, bundle)?;
    summary.grades = write_spans(&phases, &all_rows, &parents, &pieces, bundle)?;
    let written = log::write(&pieces, bundle)?;
    (summary.lines, summary.copies) = (written.lines, written.copies.saturating_add(copies));
    summary.facts = write_facts(&pieces, &mut contradictions, bundle)?;
    if write_counters(&pieces, bundle)? > 0 {
        summary.warnings.push("counters of records whose clock could not be aligned are not in the tables".to_owned());
    }
    write_links(&pieces, bundle)?;
    summary.kd_rows = write_kd(&pieces, bundle)?;
    // No record has every switch.
    write_empty(
        &["threads", "thread_names", "runs", "processes", "images", "wakeups", "system_calls", "packages"],
        bundle,
    )?;
    let tree = chosen(&pieces);
    if let Some((piece, _, others @ 1..)) = tree {
        let several = format!(
            "{} of {} call trees left out: two of one boot count its time twice; the largest is shown, of {}",
            others,
            others + 1,
            piece.file
        );
        summary.warnings.push(several);
    }
    summary.nodes = write_calls(tree.map(|(_, calls, _)| calls), bundle)?;

    if of_wall_clock(&pieces) && !all_marks.iter().any(|mark| is_of_the_boot(mark.mark)) {
        let what = "when the boot began: no line that shows it has a time, and the times count from the first line that has one";
        summary.completeness.missing.push(what.to_owned());
    }
    summary.origin = all_marks.first().map_or_else(|| Mark::RecordStart, |mark| mark.mark).name().to_owned();
    summary.length_ns = all_marks.last().map_or(0, |mark| mark.time_ns);
    summary.marks = all_marks.into_iter().map(|mark| (mark.mark.name().to_owned(), mark.time_ns)).collect();
    summary.marks.extend(found.own.into_iter().map(|mark| (mark.name, mark.time_ns)));
    summary.completeness.count(&pieces);
    if mixed && !machine_conflicts(reads, boots).is_empty() {
        let what = "the records are of several machines: the tables hold one statement of each that they contradict";
        summary.completeness.missing.push(what.to_owned());
    }
    if summary.marks.is_empty()
        && summary.lines == 0
        && all_rows.is_empty()
        && summary.kd_rows == 0
        && summary.nodes == 0
    {
        let histograms = summary.facts.keys().any(|fact| fact.starts_with("hist."));
        let what = if histograms {
            "the records hold histograms only, which stand among the facts: nothing has an instant of the boot"
        } else {
            "no record says anything of the boot"
        };
        summary.completeness.missing.push(what.to_owned());
    }
    summary.contradictions = ordered(contradictions);
    summary.sources = summaries;
    Ok(summary)
}

/// Whether a journal, or what a syslog daemon wrote, has the times, and the wall clock alone: such lines go on for months.
fn of_wall_clock(pieces: &[AlignedRecord<'_>]) -> bool {
    let base = pieces.first().map(|piece| piece.evidence);
    base.is_some_and(|base| base.clock == Clock::Realtime && base.format.traits.origin == Origin::Systemd)
}

/// Whether a mark is more than where the records begin, end or become quiet.
fn is_of_the_boot(mark: Mark) -> bool {
    !matches!(mark, Mark::RecordStart | Mark::RecordEnd | Mark::StartupSettled | Mark::UpBy)
}

fn shift(rows: &mut [Row<'_>], marks: &mut [BootMark], own: &mut [OwnMark], origin: i64) {
    for row in rows {
        row.start_ns = row.start_ns.map(|at| at.saturating_sub(origin));
        row.end_ns = row.end_ns.map(|at| at.saturating_sub(origin));
    }
    let own = own.iter_mut().map(|mark| &mut mark.time_ns);
    for time_ns in marks.iter_mut().map(|mark| &mut mark.time_ns).chain(own) {
        *time_ns = time_ns.saturating_sub(origin);
    }
}
