//! From the records of one boot to its tables.

use crate::align::{align_knowing, base, clock_name, Place};
use crate::boot_marks::boot_marks;
use crate::calls::{chosen, write_calls};
use crate::firmware::joined;
use crate::fit::{Fitted, Line};
use crate::host;
use crate::identity::{boot_id, strangers};
use crate::parents::parents;
use crate::phases::{phases, BootMark};
use crate::quiet::start_up_over;
use crate::record::Read;
use crate::spans::{rows, Row};
use crate::tables::{write_counters, write_facts, write_kd, write_links, write_marks, write_spans, Grades};
use crate::{log, Contradiction, MergeError, Piece};
use firstlight_formats::evidence::{Evidence, Problem, ProblemKind};
use std::collections::BTreeMap;
use std::path::Path;

/// A manifest names no more contradictions than this.
const CONTRADICTIONS: usize = 200;

/// How a source's clock was put onto another: theirs = offset + rate * this one.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceFit {
    /// The line onto the boot's clock.
    pub line: Line,
    /// Events that both hold.
    pub shared: usize,
    /// Half of them lie closer than this; none without shared events.
    pub residual_median_ns: Option<i64>,
    /// The farthest.
    pub residual_max_ns: Option<i64>,
    /// What it rests on.
    pub how: String,
}

/// What became of a piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceSummary {
    /// The file below `raw/`.
    pub file: String,
    /// What it was read as.
    pub format: Option<&'static str>,
    /// The part of the file.
    pub part: String,
    /// Its own clock.
    pub clock: String,
    /// How that was put onto the boot's.
    pub fit: Option<SourceFit>,
    /// Lines or records that were understood.
    pub understood: u64,
    /// Lines or records that were not.
    pub not_understood: u64,
    /// What is wrong with it.
    pub problems: Vec<(String, String, Option<u64>, Option<u64>)>,
}

/// What is there and what is missing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Completeness {
    /// Why not all of the evidence is there.
    pub missing: Vec<String>,
    /// Records that were read.
    pub understood: u64,
    /// Records known to be missing, or not understood.
    pub lost: u64,
    /// Whether all that is missing could be counted.
    pub countable: bool,
}

/// What the tables hold, and what is to be said about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Summary {
    /// The mark that is time 0.
    pub origin: String,
    /// From the first mark to the last.
    pub length_ns: i64,
    /// Every piece of evidence.
    pub sources: Vec<SourceSummary>,
    /// Where they exclude one another.
    pub contradictions: Vec<Contradiction>,
    /// What is missing.
    pub completeness: Completeness,
    /// What a person should know at once.
    pub warnings: Vec<String>,
    /// Spans by kind and grade.
    pub grades: Grades,
    /// Lines in the log table.
    pub lines: u64,
    /// Lines that several records held.
    pub copies: u64,
    /// Nodes of the calling-context tree.
    pub nodes: usize,
    /// Rows of kd's table.
    pub kd_rows: usize,
    /// The facts.
    pub facts: BTreeMap<String, String>,
    /// The marks, by name.
    pub marks: Vec<(String, i64)>,
}

/// Writes all tables of a bundle from the records of one boot: of each record the boot that `boots` names.
///
/// # Errors
///
/// [`MergeError::Nothing`] when no record says anything, and when a table cannot be written.
pub fn merge(reads: &[Read], boots: &[Option<u32>], bundle: &Path) -> Result<Summary, MergeError> {
    let mut summary = Summary::default();
    let mut found: Vec<(usize, &Evidence)> = Vec::new();
    for (index, read) in reads.iter().enumerate() {
        let boot = boots.get(index).copied().flatten();
        found.extend(read.outcome.iter().flatten().filter(|one| Some(one.boot) == boot).map(|one| (index, one)));
    }
    if found.is_empty() {
        return Err(MergeError::Nothing);
    }
    let file = |read: usize| reads.get(read).map_or("", |read| read.file.as_str());
    let mut left_out: BTreeMap<usize, String> = BTreeMap::new();
    for stranger in strangers(reads, boots) {
        let (against, fact) = (file(stranger.against), stranger.fact);
        left_out.insert(stranger.read, format!("another boot's: its `{fact}` is not that of {against}"));
        summary.contradictions.push(Contradiction {
            what: format!("which boot this is, by `{fact}`"),
            statements: vec![(against.to_owned(), stranger.theirs), (file(stranger.read).to_owned(), stranger.ours)],
        });
    }
    let kept: Vec<(usize, &Evidence)> =
        found.iter().copied().filter(|(read, _)| !left_out.contains_key(read)).collect();
    // Files of one directory that hold one time each are one record.
    let together = joined(&kept, &file);
    let evidence: Vec<&Evidence> = kept.iter().enumerate().map(|(number, (_, own))| together.of(number, own)).collect();
    let ids: Vec<Option<String>> =
        kept.iter().map(|(read, _)| boot_id(reads.get(*read)?, boots.get(*read).copied().flatten()?)).collect();
    let first = base(&evidence);
    let places = placed(&evidence, &ids, first);
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let mut summaries: Vec<SourceSummary> = Vec::new();
    // The piece whose clock is the boot's speaks first.
    let mut order: Vec<usize> = (0..kept.len()).collect();
    order.sort_by_key(|number| (Some(*number) != first, *number));
    let mut hosts: Vec<(SourceSummary, Line)> = Vec::new();
    for number in order {
        let (Some((read, evidence)), Some(place)) = (kept.get(number), places.get(number)) else { continue };
        if together.part_of.contains_key(&number) {
            continue;
        }
        let evidence = together.of(number, evidence);
        let mut source = source(file(*read), evidence);
        match place {
            Place::Foreign(why) => {
                let reason = format!("left out, it seems to be another boot's: {why}");
                summary.contradictions.push(Contradiction {
                    what: "which boot this is, by shared events".to_owned(),
                    statements: vec![
                        (
                            first.and_then(|first| kept.get(first)).map_or("", |(read, _)| file(*read)).to_owned(),
                            "this one".to_owned(),
                        ),
                        (file(*read).to_owned(), why.clone()),
                    ],
                });
                summary.warnings.push(format!("{}: {reason}", file(*read)));
                source.problems.push(("contradiction".to_owned(), reason, None, None));
                summaries.push(source);
                continue;
            }
            Place::Unaligned(why) => {
                let reason = format!(
                    "its clock could not be put onto the boot's ({why}): its lengths count, its instants are not shown"
                );
                summary.warnings.push(format!("{}: {reason}", file(*read)));
                summary.completeness.missing.push(format!("{}: {reason}", file(*read)));
                source.problems.push(("unaligned".to_owned(), reason, None, None));
            }
            Place::Base => {
                source.fit = Some(fit(&still(), "its clock is the boot's"));
            }
            Place::Fitted { fitted, how } => source.fit = Some(fit(fitted, how)),
            Place::Untimed => {}
        }
        let line = place.line();
        let host = line.and_then(|line| {
            let fitted = host::heard(evidence)?;
            let onto = host::after(fitted.line, line);
            let mut heard = SourceSummary {
                clock: "host".to_owned(),
                part: host::part(&evidence.part),
                understood: 0,
                not_understood: 0,
                problems: Vec::new(),
                ..source.clone()
            };
            heard.fit = Some(fit(
                &Fitted { line: onto, ..fitted },
                "lines stamped by both clocks; the residual is what the console delayed them",
            ));
            hosts.push((heard, onto));
            Some(onto)
        });
        pieces.push(Piece { evidence, file: file(*read), line, host, uncertainty_ns: place.uncertainty_ns() });
        summaries.push(source);
    }
    summaries.extend(hosts.into_iter().map(|(heard, _)| heard));
    // A file that is part of a record has the place of the record.
    for (number, whole) in &together.part_of {
        let Some((read, evidence)) = kept.get(*number) else { continue };
        let fit = places.get(*whole).and_then(|place| match place {
            Place::Fitted { fitted, how } => Some(fit(fitted, how)),
            Place::Base => Some(fit(&still(), "its clock is the boot's")),
            _ => None,
        });
        summaries.push(SourceSummary { fit, ..source(file(*read), evidence) });
    }
    for (read, evidence) in found.iter().filter(|(read, _)| left_out.contains_key(read)) {
        let mut source = source(file(*read), evidence);
        let why = left_out.get(read).cloned().unwrap_or_default();
        source.problems.push(("contradiction".to_owned(), format!("left out: {why}"), None, None));
        summaries.push(source);
    }
    for (read, why) in &left_out {
        summary.warnings.push(format!("{}: left out of the tables: {why}", file(*read)));
    }

    let mut contradictions = std::mem::take(&mut summary.contradictions);
    let mut all_rows = rows(&pieces, &mut contradictions);
    let mut all_marks = boot_marks(&pieces, &all_rows, &mut contradictions);
    if let Some(over) = start_up_over(&pieces, &all_rows, &mut all_marks) {
        summary.warnings.push(over);
    }
    let origin = all_marks.first().map_or(0, |mark| mark.time_ns);
    shift(&mut all_rows, &mut all_marks, origin);
    for piece in &mut pieces {
        piece.line = piece.line.map(|line| line.shifted(origin.saturating_neg()));
        piece.host = piece.host.map(|line| line.shifted(origin.saturating_neg()));
    }
    for fit in summaries.iter_mut().filter_map(|source| source.fit.as_mut()) {
        fit.line = fit.line.shifted(origin.saturating_neg());
    }
    let phases = phases(&all_marks);
    let parents = parents(&all_rows, &phases);
    write_marks(&all_marks, bundle)?;
    summary.grades = write_spans(&phases, &all_rows, &parents, &pieces, bundle)?;
    let written = log::write(&pieces, bundle)?;
    (summary.lines, summary.copies) = (written.lines, written.copies);
    summary.facts = write_facts(&pieces, &mut contradictions, bundle)?;
    if write_counters(&pieces, bundle)? > 0 {
        summary.warnings.push("counters of records whose clock could not be aligned are not in the tables".to_owned());
    }
    write_links(&pieces, bundle)?;
    summary.kd_rows = write_kd(&pieces, bundle)?;
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

    summary.origin = all_marks.first().map_or_else(|| "record_start".to_owned(), |mark| mark.name.clone());
    summary.length_ns = all_marks.last().map_or(0, |mark| mark.time_ns);
    summary.marks = all_marks.into_iter().map(|mark| (mark.name, mark.time_ns)).collect();
    completeness(&pieces, &mut summary.completeness);
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
    let mut contradictions = gathered(contradictions);
    // What concerns one unit each comes behind what concerns the boot.
    contradictions.sort_by_key(|told| told.what.starts_with("how long unit") || told.what.starts_with("when unit"));
    if contradictions.len() > CONTRADICTIONS {
        let more = contradictions.len() - CONTRADICTIONS;
        contradictions.truncate(CONTRADICTIONS);
        contradictions.push(Contradiction { what: format!("{more} more things"), statements: Vec::new() });
    }
    summary.contradictions = contradictions;
    summary.sources = summaries;
    Ok(summary)
}

/// One contradiction where several records tell the same against the same: copies of one log do.
fn gathered(all: Vec<Contradiction>) -> Vec<Contradiction> {
    let mut gathered: Vec<Contradiction> = Vec::new();
    let mut places: BTreeMap<(String, Option<(String, String)>), usize> = BTreeMap::new();
    for told in all {
        let key = (told.what.clone(), told.statements.first().cloned());
        let Some(known) = places.get(&key).and_then(|place| gathered.get_mut(*place)) else {
            places.insert(key, gathered.len());
            gathered.push(told);
            continue;
        };
        for (source, value) in told.statements.into_iter().skip(1) {
            match known.statements.iter_mut().skip(1).find(|(_, said)| *said == value) {
                Some((sources, _)) => {
                    sources.push_str(" and ");
                    sources.push_str(&source);
                }
                None => known.statements.push((source, value)),
            }
        }
    }
    gathered
}

fn shift(rows: &mut [Row<'_>], marks: &mut [BootMark], origin: i64) {
    for row in rows {
        row.start_ns = row.start_ns.map(|at| at.saturating_sub(origin));
        row.end_ns = row.end_ns.map(|at| at.saturating_sub(origin));
    }
    for mark in marks {
        mark.time_ns = mark.time_ns.saturating_sub(origin);
    }
}

fn still() -> Fitted {
    Fitted { line: Line::SAME, shared: 0, median_ns: 0, most_ns: 0, max_ns: 0 }
}

fn fit(fitted: &Fitted, how: &str) -> SourceFit {
    let shared = fitted.shared > 0;
    SourceFit {
        line: fitted.line,
        shared: fitted.shared,
        residual_median_ns: shared.then_some(fitted.median_ns),
        residual_max_ns: shared.then_some(fitted.max_ns),
        how: how.to_owned(),
    }
}

fn source(file: &str, evidence: &Evidence) -> SourceSummary {
    SourceSummary {
        file: file.to_owned(),
        format: Some(evidence.format),
        part: evidence.part.clone(),
        clock: clock_name(&evidence.clock),
        fit: None,
        understood: evidence.understood,
        not_understood: evidence.not_understood,
        problems: evidence.problems.iter().map(told).collect(),
    }
}

fn told(problem: &Problem) -> (String, String, Option<u64>, Option<u64>) {
    (problem.kind.name().to_owned(), problem.detail.clone(), problem.line, problem.lost)
}

/// Where every piece's clock lies, once it is known which of them are of one boot by its own number.
fn placed(evidence: &[&Evidence], ids: &[Option<String>], base: Option<usize>) -> Vec<Place> {
    let mut certain = vec![false; evidence.len()];
    loop {
        let places = align_knowing(evidence, &certain);
        let ours: Vec<&String> = places
            .iter()
            .zip(ids)
            .enumerate()
            .filter(|(number, (place, _))| Some(*number) == base || !matches!(place, Place::Foreign(_)))
            .filter_map(|(_, (_, id))| id.as_ref())
            .collect();
        let wrong = |number: usize| {
            matches!(places.get(number), Some(Place::Foreign(_)))
                && ids.get(number).and_then(Option::as_ref).is_some_and(|id| ours.contains(&id))
        };
        let more: Vec<usize> = (0..evidence.len()).filter(|number| wrong(*number)).collect();
        if more.is_empty() {
            return places;
        }
        // Each time round there are more of them: whoever is certain is not foreign any more.
        for number in more {
            if let Some(slot) = certain.get_mut(number) {
                *slot = true;
            }
        }
    }
}

fn completeness(pieces: &[Piece<'_>], all: &mut Completeness) {
    all.countable = true;
    for piece in pieces {
        let evidence = piece.evidence;
        all.understood = all.understood.saturating_add(evidence.understood);
        if evidence.not_understood > 0 {
            all.lost = all.lost.saturating_add(evidence.not_understood);
            let (strange, whole) =
                (evidence.not_understood, evidence.understood.saturating_add(evidence.not_understood));
            all.missing.push(format!("{}: {strange} of {whole} lines or records were not understood", piece.file));
        }
        let whole_elsewhere = || pieces.iter().any(|other| log::goes_back_beyond(other, piece));
        for problem in evidence.problems.iter().filter(|problem| problem.kind.loses()) {
            // What a ring had overwritten is not missing where another record has it.
            if problem.kind == ProblemKind::LostHead && whole_elsewhere() {
                continue;
            }
            // A last line without its end is one record at most.
            let cut = u64::from(problem.kind == ProblemKind::Cut);
            all.lost = all.lost.saturating_add(problem.lost.unwrap_or(cut));
            all.countable &= problem.lost.is_some() || cut > 0;
            all.missing.push(format!("{}: {}", piece.file, problem.detail));
        }
    }
}
