//! The tables of instants and intervals.

use super::instants::{hand_over, phase_name, Clock};
use super::module_symbols::{name, ModuleSymbols};
use firstlight_profile::folding::plain_name;
use firstlight_profile::recording::{Instant, Recording};
use firstlight_schema::table::{integers, texts, write, Values};
use firstlight_schema::{CallRow, Grade, SpanKind, TableError};
use std::path::Path;

/// Writes `marks`.
pub fn write_marks(recording: &Recording, clock: Clock, bundle: &Path) -> Result<(), TableError> {
    let marks = &recording.marks;
    write(
        "marks",
        vec![
            ("mark", texts(marks.iter().map(|mark| mark.mark.as_str()))),
            ("time_ns", integers(marks.iter().map(|mark| clock.at(mark.at)))),
            ("instructions", integers(marks.iter().map(|mark| mark.at.instructions))),
            ("idle_ns", integers(marks.iter().map(|mark| mark.at.idle_ns))),
            ("source", texts(marks.iter().map(|mark| mark.source.as_str()))),
            ("detail", texts(marks.iter().map(|mark| mark.detail.as_str()))),
        ],
        bundle,
    )
}

struct SpanRow {
    parent: Option<i64>,
    kind: SpanKind,
    name: String,
    track: String,
    level: Option<String>,
    start: Instant,
    end: Option<Instant>,
    attributes: Option<String>,
}

/// The attributes of an initcall of a module, as JSON. No module that the kernel loads has a name of other characters.
fn in_module(module: &str) -> Option<String> {
    let plain = module.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'));
    plain.then(|| format!("{{\"module\":\"{module}\"}}"))
}

/// Writes `spans`: phases and initcalls.
pub fn write_spans(
    recording: &Recording,
    clock: Clock,
    modules: &ModuleSymbols,
    bundle: &Path,
) -> Result<(), TableError> {
    let ends = recording.marks.iter().skip(1).map(|mark| mark.at).chain([recording.end]);
    // The last mark ends the recording as a rule: what it begins has no length, and is not a phase.
    let phases = recording.marks.iter().zip(ends).filter(|(mark, end)| mark.at != *end);
    let over = hand_over(recording);
    let mut rows: Vec<SpanRow> = phases
        .map(|(mark, end)| SpanRow {
            parent: None,
            kind: SpanKind::Phase,
            name: phase_name(&mark.mark, over).to_owned(),
            track: "boot".to_owned(),
            level: None,
            start: mark.at,
            end: Some(end),
            attributes: None,
        })
        .collect();
    let phase_count = rows.len();
    for span in &recording.spans {
        let function = recording.functions.get(span.function as usize);
        let address = function.filter(|function| function.name.is_empty()).map(|function| function.address);
        let within = rows[..phase_count].iter().rposition(|phase| phase.start.instructions <= span.start.instructions);
        let (called, module, _) = name(recording, modules, span.function);
        rows.push(SpanRow {
            parent: within.and_then(|index| i64::try_from(index).ok()),
            kind: SpanKind::Initcall,
            // An initcall whose name was not to be had while it was there; the address at least distinguishes it.
            name: match (called, address) {
                (name, Some(address)) if name == CallRow::KernelWithoutSymbol.name() => format!("{address:#x}"),
                // The list of initcalls distinguishes those of one name by their instants.
                (name, _) => plain_name(&name).to_owned(),
            },
            track: format!("task {}", span.task),
            level: Some(span.level.clone()),
            start: span.start,
            end: span.end,
            attributes: module.and_then(|module| in_module(&module)),
        });
    }
    let end = |value: &dyn Fn(&SpanRow, Instant) -> u64| {
        Values::Int64(rows.iter().map(|row| row.end.and_then(|end| i64::try_from(value(row, end)).ok())).collect())
    };
    write(
        "spans",
        vec![
            ("span", integers(0..rows.len() as u64)),
            ("parent", Values::Int64(rows.iter().map(|row| row.parent).collect())),
            ("kind", texts(rows.iter().map(|row| row.kind.name()))),
            ("name", texts(rows.iter().map(|row| row.name.as_str()))),
            ("track", texts(rows.iter().map(|row| row.track.as_str()))),
            ("level", Values::Text(rows.iter().map(|row| row.level.clone()).collect())),
            ("start_ns", integers(rows.iter().map(|row| clock.at(row.start)))),
            ("end_ns", end(&|_, end| clock.at(end))),
            ("instructions", end(&|row, end| end.instructions - row.start.instructions)),
            ("idle_ns", end(&|row, end| end.idle_ns - row.start.idle_ns)),
            ("duration_ns", end(&|row, end| clock.at(end) - clock.at(row.start))),
            (
                "grade",
                Values::Text(
                    rows.iter()
                        .map(|row| Some(if row.end.is_some() { Grade::Exact } else { Grade::Unknown }.to_string()))
                        .collect(),
                ),
            ),
            (
                "reason",
                Values::Text(rows.iter().map(|row| row.end.is_none().then(|| "it did not end".to_owned())).collect()),
            ),
            ("source", Values::Text(rows.iter().map(|_| Some("profile".to_owned())).collect())),
            ("attributes", Values::Text(rows.iter().map(|row| row.attributes.clone()).collect())),
        ],
        bundle,
    )
}
