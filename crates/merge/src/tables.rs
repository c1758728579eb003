//! Marks, spans, facts, counters, links and kd rows, written.

use crate::boot_mark::BootMark;
use crate::parents::Parent;
use crate::phases::Phase;
use crate::row::Row;
use crate::wanted_marks::OwnMark;
use crate::{AlignedRecord, Contradiction, MergeError};
use arrow_array::{ArrayRef, Int64Array, StringArray};
use firstlight_formats::evidence::{Grade, Name, SpanKind};
use firstlight_schema::table::{texts, write, TableWriter, Values, BATCH_ROWS};
use firstlight_schema::ReasonCode;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

/// Facts that change while a system runs: two records need not agree.
const CHANGING: [&str; 4] = ["kernel.warning", "kernel.deferred", "systemd.", "memory.free"];

/// Facts that count what one record holds: records that cover different spans need not agree.
const COUNTING: [&str; 9] = [
    "udev.events",
    "udev.workers",
    "udev.children_max_reached",
    "trace.event.",
    "trace.span_threshold_ns",
    "trace.calls_without_span",
    "hist.",
    "lava.dispatcher_lines",
    "bootchart.samples",
];

/// Writes the marks.
pub fn write_marks(marks: &[BootMark], own: &[OwnMark], bundle: &Path) -> Result<(), MergeError> {
    let known = marks.iter().map(|mark| (mark.time_ns, mark.mark.name(), mark.source.as_str(), mark.detail.as_str()));
    let own = own.iter().map(|mark| (mark.time_ns, mark.name.as_str(), mark.source.as_str(), mark.detail.as_str()));
    // The last mark is the end of the boot: the user's own stand before those of their instant.
    let mut all: Vec<_> = own.chain(known).collect();
    all.sort_by_key(|(time_ns, ..)| *time_ns);
    let none = || Values::Int64(vec![None; all.len()]);
    Ok(write(
        "marks",
        vec![
            ("mark", texts(all.iter().map(|mark| mark.1))),
            ("time_ns", Values::Int64(all.iter().map(|mark| Some(mark.0)).collect())),
            ("instructions", none()),
            ("idle_ns", none()),
            ("source", texts(all.iter().map(|mark| mark.2))),
            ("detail", texts(all.iter().map(|mark| mark.3))),
        ],
        bundle,
    )?)
}

/// How many spans there are of each kind and grade.
pub type Grades = BTreeMap<(&'static str, &'static str), u64>;

/// Writes phases and spans, in order of their begin.
pub fn write_spans(
    phases: &[Phase],
    rows: &[Row<'_>],
    parents: &[Parent],
    pieces: &[AlignedRecord<'_>],
    bundle: &Path,
) -> Result<Grades, MergeError> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_cached_key(|number| {
        let row = rows.get(*number);
        let at = row.and_then(|row| row.start_ns.or(row.end_ns));
        // What encloses stands before what it encloses.
        (at.is_none(), at, std::cmp::Reverse(row.and_then(|row| row.end_ns)), *number)
    });
    let mut numbers = vec![0_i64; rows.len()];
    for (place, number) in order.iter().enumerate() {
        if let Some(slot) = numbers.get_mut(*number) {
            *slot = i64::try_from(phases.len() + place).unwrap_or(i64::MAX);
        }
    }
    let mut table = TableWriter::create("spans", bundle)?;
    table.batch(phase_arrays(phases))?;
    let mut grades = Grades::new();
    for batch in order.chunks(BATCH_ROWS) {
        let some: Vec<(usize, &Row<'_>)> =
            batch.iter().filter_map(|number| Some((*number, rows.get(*number)?))).collect();
        for (_, row) in &some {
            *grades.entry((row.kind.name(), row.grade.name())).or_default() += 1;
        }
        let number = |number: usize| numbers.get(number).copied();
        let parent = |of: usize| match parents.get(of) {
            Some(Parent::Phase(phase)) => i64::try_from(*phase).ok(),
            Some(Parent::Row(row)) => number(*row),
            _ => None,
        };
        let integers = |of: &dyn Fn(&Row<'_>) -> Option<i64>| -> ArrayRef {
            Arc::new(some.iter().map(|(_, row)| of(row)).collect::<Int64Array>())
        };
        let none = || integers(&|_| None);
        table.batch(vec![
            Arc::new(some.iter().map(|(of, _)| number(*of)).collect::<Int64Array>()),
            Arc::new(some.iter().map(|(of, _)| parent(*of)).collect::<Int64Array>()),
            Arc::new(some.iter().map(|(_, row)| Some(row.kind.name())).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| Some(row.name())).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| Some(row.track)).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| row.level).collect::<StringArray>()),
            integers(&|row| row.start_ns),
            integers(&|row| row.end_ns),
            none(),
            none(),
            integers(&|row| row.duration_ns),
            Arc::new(some.iter().map(|(_, row)| Some(row.grade.name())).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| reason(row)).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| Some(source(row, pieces))).collect::<StringArray>()),
            Arc::new(some.iter().map(|(_, row)| attributes(row)).collect::<StringArray>()),
        ])?;
    }
    table.close()?;
    Ok(grades)
}

fn phase_arrays(phases: &[Phase]) -> Vec<ArrayRef> {
    let integers =
        |of: &dyn Fn(&Phase) -> Option<i64>| -> ArrayRef { Arc::new(phases.iter().map(of).collect::<Int64Array>()) };
    let text = |of: &dyn Fn(&Phase) -> Option<String>| -> ArrayRef {
        Arc::new(phases.iter().map(of).collect::<StringArray>())
    };
    let fixed = |value: &str| text(&|_| Some(value.to_owned()));
    vec![
        Arc::new((0..phases.len()).map(|number| i64::try_from(number).ok()).collect::<Int64Array>()),
        integers(&|_| None),
        fixed(SpanKind::Phase.name()),
        text(&|phase| Some(phase.name.to_owned())),
        fixed("boot"),
        text(&|_| None),
        integers(&|phase| Some(phase.start_ns)),
        integers(&|phase| Some(phase.end_ns)),
        integers(&|_| None),
        integers(&|_| None),
        integers(&|phase| Some(phase.end_ns.saturating_sub(phase.start_ns))),
        text(&|phase| Some(phase_grade(phase).0.name().to_owned())),
        text(&|phase| phase_grade(phase).1.map(Name::from).map(Name::into_owned)),
        text(&|phase| Some(phase.source.clone())),
        text(&bracket),
    ]
}

/// By when a phase had begun and ended where a mark is inferred, and how far its length may be off, as far as anything shows this.
fn bracket(phase: &Phase) -> Option<String> {
    let (began, ended) = (phase.began_by_ns, phase.ended_by_ns);
    let later = |by: Option<i64>, from: i64| by.map_or(0, |by| by.saturating_sub(from));
    let unsure = later(began, phase.start_ns).saturating_add(later(ended, phase.end_ns));
    let unsure = (phase.inferred && !phase.open).then_some(unsure);
    let known = [("began_by_ns", began), ("ended_by_ns", ended), ("unsure_ns", unsure)];
    let texts = known.map(|(key, ns)| (key, ns.map(|ns| ns.to_string())));
    object(texts.iter().filter_map(|(key, text)| Some((*key, text.as_deref()?))).collect())
}

fn phase_grade(phase: &Phase) -> (Grade, Option<ReasonCode>) {
    match phase {
        Phase { doubted: true, .. } => (Grade::Doubtful, Some(ReasonCode::ClockImpossible)),
        Phase { inferred: true, .. } => (Grade::Bounded, Some(ReasonCode::MarkInferred)),
        _ => (Grade::Good, None),
    }
}

fn reason<'a>(row: &'a Row<'_>) -> Option<&'a str> {
    (!row.reason.is_empty()).then_some(row.reason.as_ref())
}

fn source<'a>(row: &Row<'_>, pieces: &[AlignedRecord<'a>]) -> Cow<'a, str> {
    let file = |piece: usize| pieces.get(piece).map_or("", |piece| piece.file);
    let own = file(row.piece);
    let mut also: Vec<&str> = row.also().iter().map(|piece| file(*piece)).filter(|other| *other != own).collect();
    if also.is_empty() {
        return Cow::Borrowed(own);
    }
    also.sort_unstable();
    also.dedup();
    also.insert(0, own);
    Cow::Owned(also.join(" and "))
}

/// What is known of a row in addition to its columns.
fn attributes(row: &Row<'_>) -> Option<String> {
    if row.attributes().is_none_or(|own| own.is_empty()) && row.more().is_empty() {
        return None;
    }
    let own = row.attributes().into_iter().flat_map(|own| own.iter());
    let more = row.more().iter().map(|(key, value)| (key.as_ref(), value.as_ref()));
    object(own.chain(more).collect())
}

/// A JSON object of strings, its keys sorted; nothing without any.
pub fn object(mut sorted: Vec<(&str, &str)>) -> Option<String> {
    if sorted.is_empty() {
        return None;
    }
    sorted.sort_by_key(|(key, _)| *key);
    sorted.dedup_by_key(|(key, _)| *key);
    let mut json = String::from("{");
    for (key, value) in sorted {
        if json.len() > 1 {
            json.push(',');
        }
        quoted(key, &mut json);
        json.push(':');
        quoted(value, &mut json);
    }
    json.push('}');
    Some(json)
}

fn quoted(text: &str, json: &mut String) {
    json.push('"');
    for character in text.chars() {
        match character {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            '\u{0}'..='\u{1f}' => {
                // A string takes what is written and cannot fail.
                let _ = write!(json, "\\u{:04x}", u32::from(character));
            }
            other => json.push(other),
        }
    }
    json.push('"');
}

/// Writes the facts. The first record that has a fact wins; a different value of another record is reported.
pub fn write_facts(
    pieces: &[AlignedRecord<'_>],
    contradictions: &mut Vec<Contradiction>,
    bundle: &Path,
) -> Result<BTreeMap<String, String>, MergeError> {
    let mut facts: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    for piece in pieces {
        for (fact, value) in &piece.evidence.facts {
            let (known, file) = *facts.entry(fact.as_ref()).or_insert((value, piece.file));
            // One number with and without dashes is one.
            let same = known.split_whitespace().eq(value.split_whitespace())
                || fact == "boot.id" && known.replace('-', "") == value.replace('-', "");
            if !same && file != piece.file && !of_the_record(fact) {
                contradictions.push(Contradiction {
                    what: format!("the fact `{fact}`"),
                    statements: vec![(file.to_owned(), known.to_owned()), (piece.file.to_owned(), value.clone())],
                });
            }
        }
    }
    let columns =
        vec![("fact", texts(facts.keys().copied())), ("value", texts(facts.values().map(|(value, _)| *value)))];
    write("facts", columns, bundle)?;
    Ok(facts.into_iter().map(|(fact, (value, _))| (fact.to_owned(), value.to_owned())).collect())
}

/// Whether two records of one boot may state a fact differently.
fn of_the_record(fact: &str) -> bool {
    CHANGING.iter().chain(&COUNTING).any(|prefix| fact.starts_with(prefix))
}

/// Writes the counters that can be placed; returns how many cannot.
pub fn write_counters(pieces: &[AlignedRecord<'_>], bundle: &Path) -> Result<usize, MergeError> {
    let mut rows: Vec<(i64, &str, i64)> = Vec::new();
    let mut unplaced = 0;
    for piece in pieces {
        match piece.line {
            Some(line) => rows.extend(
                piece
                    .evidence
                    .counters
                    .iter()
                    .map(|counter| (line.at(counter.time_ns), counter.name.as_ref(), counter.value)),
            ),
            None => unplaced += piece.evidence.counters.len(),
        }
    }
    rows.sort_by_key(|(at, name, _)| (*at, *name));
    let columns = vec![
        ("counter", texts(rows.iter().map(|row| row.1))),
        ("time_ns", Values::Int64(rows.iter().map(|row| Some(row.0)).collect())),
        ("value", Values::Int64(rows.iter().map(|row| Some(row.2)).collect())),
    ];
    write("counters", columns, bundle)?;
    Ok(unplaced)
}

/// Writes links, each once.
pub fn write_links(pieces: &[AlignedRecord<'_>], bundle: &Path) -> Result<(), MergeError> {
    let mut seen = rustc_hash::FxHashSet::default();
    let links: Vec<_> = pieces
        .iter()
        .flat_map(|piece| piece.evidence.links.iter().map(|link| (link, piece.file)))
        .filter(|(link, _)| seen.insert((link.kind, &link.from, &link.to)))
        .collect();
    Ok(write(
        "links",
        vec![
            ("kind", texts(links.iter().map(|(link, _)| link.kind.name()))),
            ("from_kind", texts(links.iter().map(|(link, _)| link.from.0.name()))),
            ("from_name", texts(links.iter().map(|(link, _)| link.from.1.as_str()))),
            ("to_kind", texts(links.iter().map(|(link, _)| link.to.0.name()))),
            ("to_name", texts(links.iter().map(|(link, _)| link.to.1.as_str()))),
            ("source", texts(links.iter().map(|(_, file)| *file))),
        ],
        bundle,
    )?)
}

/// Writes the kd rows of every record that has some, in their order.
pub fn write_kd(pieces: &[AlignedRecord<'_>], bundle: &Path) -> Result<usize, MergeError> {
    let rows: Vec<_> = pieces.iter().flat_map(|piece| piece.evidence.kd.iter().map(|row| (row, piece.file))).collect();
    let integers = |of: &dyn Fn(&firstlight_formats::evidence::KdRow) -> Option<i64>| {
        Values::Int64(rows.iter().map(|(row, _)| of(row)).collect())
    };
    let text = |of: &dyn Fn(&firstlight_formats::evidence::KdRow) -> Option<String>| {
        Values::Text(rows.iter().map(|(row, _)| of(row)).collect())
    };
    write(
        "kd",
        vec![
            ("function", text(&|row| Some(row.function.clone()))),
            ("count", integers(&|row| Some(row.count))),
            ("time_us", integers(&|row| Some(row.time_us))),
            ("average_us", integers(&|row| row.average_us)),
            ("min_us", integers(&|row| row.min_us)),
            ("max_us", integers(&|row| row.max_us)),
            ("sub_time_us", integers(&|row| row.sub_time_us)),
            ("local_us", integers(&|row| row.local_us)),
            ("max_sub", text(&|row| row.max_sub.clone())),
            ("max_sub_count", integers(&|row| row.max_sub_count)),
            ("sub_list", text(&|row| row.sub_list.clone())),
            ("source", texts(rows.iter().map(|(_, file)| *file))),
        ],
        bundle,
    )?;
    Ok(rows.len())
}
