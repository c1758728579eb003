//! Which spans can be drawn on an axis of time, and on which track.

use crate::lanes::Interval;
use firstlight_model::ModelError;
use firstlight_schema::interned::{read, Interned, TextNumber, NO_TEXT};
use firstlight_schema::SpanKind::{self, *};
use std::collections::HashMap;
use std::path::Path;

/// The groups of tracks, in the order in which they are shown, with the kinds of spans that they hold.
pub const GROUPS: [(&str, &[SpanKind]); 6] = [
    ("Boot", &[Phase, Stage, Firmware]),
    ("Kernel", &[Initcall, Probe, Async, AsyncWait, Function, Event, Console]),
    ("udev", &[Uevent, UeventQueued, UeventBlocked, UeventService]),
    ("Units", &[Unit, UnitActive, Mount]),
    ("Processes", &[Process]),
    ("Other", &[]),
];

/// The group of a kind of spans, as a place in [`GROUPS`]; what is not known stands in the last.
pub fn group_of(kind: &str) -> usize {
    let known = SpanKind::parse(kind);
    GROUPS.iter().position(|(_, kinds)| known.is_some_and(|kind| kinds.contains(&kind))).unwrap_or(GROUPS.len() - 1)
}

/// How the instants of a drawn span are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placed {
    /// Both are recorded, or there is no end.
    Recorded,
    /// One was reckoned from the other and the duration.
    Reckoned,
}

/// A span that can be drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drawn {
    /// Its row in the table.
    pub row: usize,
    /// When.
    pub interval: Interval,
    /// How that is known.
    pub placed: Placed,
}

/// A track with the spans on it, in the table's order.
#[derive(Debug, PartialEq, Eq)]
pub struct Track {
    /// Its place in [`GROUPS`].
    pub group: usize,
    /// What it is called.
    pub name: String,
    /// What stands on it.
    pub spans: Vec<Drawn>,
}

/// Why spans are not drawn, and how many they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LeftOut {
    /// Nothing says when they began.
    pub no_start: u64,
    /// They end before they begin.
    pub ends_before_start: u64,
}

/// The spans of a boot by tracks.
#[derive(Debug)]
pub struct Timeline {
    /// The table, for what else a span says.
    pub spans: Interned,
    /// The tracks, in the order in which they are shown.
    pub tracks: Vec<Track>,
    /// What is not drawn.
    pub left_out: LeftOut,
}

/// The columns of `spans` that a timeline may need.
pub const COLUMNS: [&str; 15] = [
    "span",
    "parent",
    "kind",
    "name",
    "track",
    "level",
    "start_ns",
    "end_ns",
    "instructions",
    "idle_ns",
    "duration_ns",
    "grade",
    "reason",
    "source",
    "attributes",
];

/// Reads the spans of the bundle at *bundle* and sorts them onto tracks.
///
/// # Errors
///
/// What [`firstlight_schema::interned::read`] says.
pub fn timeline(bundle: &Path, columns: &[&str]) -> Result<Timeline, ModelError> {
    let spans = read("spans", columns, bundle)?;
    let mut left_out = LeftOut::default();
    let mut places: HashMap<(TextNumber, TextNumber), usize> = HashMap::new();
    let mut named: HashMap<(usize, String), usize> = HashMap::new();
    let mut tracks: Vec<Track> = Vec::new();
    let (starts, ends, lengths) = (spans.integers("start_ns"), spans.integers("end_ns"), spans.integers("duration_ns"));
    let (kinds, names) = (spans.numbers("kind"), spans.numbers("track"));
    for row in 0..spans.rows() {
        let value = |column: &[Option<i64>]| column.get(row).copied().flatten();
        let Some((interval, placed)) = place(value(starts), value(ends), value(lengths)) else {
            left_out.no_start += 1;
            continue;
        };
        if interval.end.is_some_and(|end| end < interval.start) {
            left_out.ends_before_start += 1;
            continue;
        }
        let number = |column: &[TextNumber]| column.get(row).copied().unwrap_or(NO_TEXT);
        let key = (number(kinds), number(names));
        let place = *places.entry(key).or_insert_with(|| {
            let (group, name) = track_of(&spans, key.0, key.1);
            *named.entry((group, name)).or_insert_with_key(|(group, name)| {
                tracks.push(Track { group: *group, name: name.clone(), spans: Vec::new() });
                tracks.len() - 1
            })
        });
        if let Some(track) = tracks.get_mut(place) {
            track.spans.push(Drawn { row, interval, placed });
        }
    }
    tracks.sort_by(|one, other| (one.group, natural(&one.name)).cmp(&(other.group, natural(&other.name))));
    Ok(Timeline { spans, tracks, left_out })
}

/// Two of the three figures are enough; nothing when there are fewer, and no start.
fn place(start: Option<i64>, end: Option<i64>, length: Option<i64>) -> Option<(Interval, Placed)> {
    let length = length.filter(|length| *length >= 0);
    match (start, end, length) {
        (Some(start), Some(end), _) => Some((Interval { start, end: Some(end) }, Placed::Recorded)),
        (Some(start), None, Some(length)) => {
            Some((Interval { start, end: Some(start.saturating_add(length)) }, Placed::Reckoned))
        }
        (Some(start), None, None) => Some((Interval { start, end: None }, Placed::Recorded)),
        (None, Some(end), Some(length)) => {
            Some((Interval { start: end.saturating_sub(length), end: Some(end) }, Placed::Reckoned))
        }
        (None, _, _) => None,
    }
}

/// Group and name: kinds of one group share a track of one name.
fn track_of(spans: &Interned, kind: TextNumber, track: TextNumber) -> (usize, String) {
    let kind = spans.texts.get(kind).unwrap_or_default();
    let name = match spans.texts.get(track).unwrap_or_default() {
        "" => format!("{kind} (track unknown)"),
        name => name.to_owned(),
    };
    (group_of(kind), name)
}

/// `task 10` after `task 9`: the text before the last number, and the number.
fn natural(name: &str) -> (&str, u64, &str) {
    let text = name.trim_end_matches(|character: char| character.is_ascii_digit());
    let number = name.get(text.len()..).and_then(|digits| digits.parse().ok()).unwrap_or(0);
    (text, number, name)
}
