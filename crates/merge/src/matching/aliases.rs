//! Finds the same thing under different names in two records.

use crate::initcall_events::both_kinds;
use crate::row::{row_of, Row};
use crate::row_interval::ends;
use crate::AlignedRecord;
use firstlight_formats::evidence::{Attributes, SpanKind};
use firstlight_schema::InitcallLevel;
use rustc_hash::{FxHashMap, FxHashSet};

/// Begin, end, and the number of a row.
type Interval = ((i64, i64), usize);

/// Initcalls of modules that the log and the tracer give other names: the tracer looks its names up when it is read, and
/// then the code of a module's initcall is long freed. One task runs one of them at a time.
pub fn misnamed(
    piece: &AlignedRecord<'_>,
    rows: &[Row<'_>],
    pieces: &[AlignedRecord<'_>],
    partners: &mut FxHashMap<usize, usize>,
) {
    let taken: FxHashSet<usize> = partners.values().copied().collect();
    let mut tasks: FxHashMap<&str, Vec<Interval>> = FxHashMap::default();
    let module =
        |kind: SpanKind, level: Option<&str>| kind == SpanKind::Initcall && level == Some(InitcallLevel::Module.name());
    for (number, row) in
        rows.iter().enumerate().filter(|(number, row)| module(row.kind, row.level) && !taken.contains(number))
    {
        if let (Some(start), Some(end), false) = (row.start_ns, row.end_ns, row.track.is_empty()) {
            tasks.entry(row.track).or_default().push(((start, end), number));
        }
    }
    if tasks.is_empty() {
        return;
    }
    for (place, span) in piece.evidence.spans.iter().enumerate().filter(|(_, span)| module(span.kind, span.level)) {
        if partners.contains_key(&place) {
            continue;
        }
        let Some((Some(start), Some(end))) = ends(span, piece) else { continue };
        let Some(known) = tasks.get_mut(span.track) else { continue };
        let common = |one: (i64, i64)| one.1.min(end).saturating_sub(one.0.max(start));
        let most = |(ends, row): &Interval| (common(*ends) > 0).then_some((common(*ends), *row));
        let best = known.iter().filter_map(most).max();
        let Some((shared, row)) = best else { continue };
        let number = pieces.iter().position(|one| std::ptr::eq(one.evidence, piece.evidence)).unwrap_or(usize::MAX);
        let Some(partner) =
            rows.get(row).filter(|partner| both_kinds(partner, &row_of(place, span, number, piece), pieces))
        else {
            continue;
        };
        // The log's line before, the tracer's begin, the log's line behind, the tracer's end: or else mostly one time.
        let (known_start, known_end) = (partner.start_ns.unwrap_or(start), partner.end_ns.unwrap_or(end));
        let shorter = known_end.saturating_sub(known_start).min(end.saturating_sub(start));
        let ordered = known_start.min(start) == known_start && known_end.min(end) == known_end
            || known_start.max(start) == known_start && known_end.max(end) == known_end;
        if ordered || shared.saturating_mul(2) >= shorter {
            known.retain(|(_, number)| *number != row);
            partners.insert(place, row);
        }
    }
}

/// Uevents by the number that the kernel gives each of them: a boot has every number once, whatever a record calls the device.
pub fn numbered(piece: &AlignedRecord<'_>, rows: &[Row<'_>], partners: &mut FxHashMap<usize, usize>) {
    let taken: FxHashSet<usize> = partners.values().copied().collect();
    let mut known: FxHashMap<(&str, &str), usize> = FxHashMap::default();
    for (number, row) in rows.iter().enumerate() {
        if row.kind == SpanKind::Uevent && !taken.contains(&number) {
            known.extend(row_number(row).map(|event| (event, number)));
        }
    }
    if known.is_empty() {
        return;
    }
    let device = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    for (place, span) in piece.evidence.spans.iter().enumerate() {
        if span.kind != SpanKind::Uevent || partners.contains_key(&place) {
            continue;
        }
        let Some(event) = event_number(span.attributes) else { continue };
        // Another device of that number is another boot's, or a damaged line.
        let same = |row: &Row<'_>| row.name() != span.name && device(row.name()) == device(span.name);
        if known.get(&event).and_then(|number| rows.get(*number)).is_some_and(same) {
            partners.extend(known.remove(&event).map(|number| (place, number)));
        }
    }
}

/// SEQNUM and ACTION.
fn event_number<'a>(attributes: Attributes<'a>) -> Option<(&'a str, &'a str)> {
    let of = |wanted: &str| attributes.iter().find(|(key, _)| *key == wanted).map(|(_, value)| value);
    Some((of("seqnum")?, of("action").unwrap_or_default()))
}

/// Those of a row, from any of its records.
fn row_number<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r str)> {
    let more = |wanted: &str| row.more().iter().find(|(key, _)| key == wanted).map(|(_, value)| value.as_ref());
    let told = || Some((more("seqnum")?, more("action").unwrap_or_default()));
    row.attributes().and_then(event_number).or_else(told)
}

/// Matches uevents that udevd's log names by the device and udev's database by its path. The database has only the instant at
/// which udevd took the device up, which lies within the event.
pub fn named_by_path(piece: &AlignedRecord<'_>, rows: &[Row<'_>], partners: &mut FxHashMap<usize, usize>) {
    let taken: FxHashSet<usize> = partners.values().copied().collect();
    let device = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
    let mut known: FxHashMap<String, Vec<usize>> = FxHashMap::default();
    for (number, row) in rows.iter().enumerate() {
        if row.kind == SpanKind::Uevent && row.start_ns.is_some() && !taken.contains(&number) {
            known.entry(device(row.name())).or_default().push(number);
        }
    }
    if known.is_empty() {
        return;
    }
    for (place, span) in piece.evidence.spans.iter().enumerate() {
        if span.kind != SpanKind::Uevent || partners.contains_key(&place) {
            continue;
        }
        let Some((Some(start), end)) = ends(span, piece) else { continue };
        let Some(candidates) = known.get_mut(&device(span.name)) else { continue };
        let one = candidates.iter().position(|number| {
            // Devices of one name at two paths are two.
            let same = |name: &str| name == span.name || name.contains('/') != span.name.contains('/');
            let Some(row) = rows.get(*number).filter(|row| same(row.name())) else { return false };
            let begun = row.start_ns.unwrap_or(start);
            match (end, row.end_ns) {
                (None, Some(last)) => span.name.contains('/') && begun <= start && start <= last,
                (Some(last), None) => row.name().contains('/') && start <= begun && begun <= last,
                _ => false,
            }
        });
        if let Some(one) = one {
            partners.insert(place, candidates.remove(one));
        }
    }
}
