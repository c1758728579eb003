//! What a span says beside its name and its times: `DebugAnnotation`s, their names and texts interned.

use super::packets::Packets;
use super::wire::Message;
use crate::timeline::{Drawn, Placed};
use crate::ExportError;
use firstlight_schema::interned::{Interned, TextNumber, NO_TEXT};
use std::collections::HashMap;

/// How much of a sequence's names stands in one packet at most.
const PACKET_BYTES: usize = 1 << 20;

/// The names of annotations; an interned one's number is its place here, from 1.
const NAMES: [&str; 16] = [
    "span",
    "parent",
    "level",
    "instructions",
    "idle_ns",
    "duration_ns",
    "grade",
    "reason",
    "source",
    "attributes",
    "placed",
    "detail",
    "line",
    "caller",
    "kind",
    "track",
];

/// The number of an annotation's name.
pub(super) fn name(wanted: &str) -> u64 {
    NAMES.iter().position(|name| *name == wanted).map_or(0, |place| place as u64 + 1)
}

/// An interned text's number: 0 stands for none in the format.
pub(super) fn iid(number: TextNumber) -> u64 {
    u64::from(number) + 1
}

/// Adds an annotation to a `TrackEvent`.
pub(super) fn annotate(event: &mut Message, name: u64, fill: impl FnOnce(&mut Message)) {
    event.message(4, |annotation| {
        annotation.uint(1, name);
        fill(annotation);
    });
}

/// Interns the names of annotations, and the texts of *table* as names of events, as categories and as values where
/// they are used as such.
pub(super) fn intern(packets: &mut Packets, table: &Interned) -> Result<(), ExportError> {
    let mut entries = Message::default();
    let entry = |entries: &mut Message, field, iid, text: &str| {
        entries.message(field, |entry| {
            entry.uint(1, iid);
            entry.text(2, text);
        });
    };
    for annotation in NAMES {
        entry(&mut entries, 3, name(annotation), annotation);
    }
    for (field, columns) in [(1, &["kind"][..]), (2, &["name"]), (29, &["level", "grade", "reason", "source"])] {
        let mut used = vec![false; table.texts.len()];
        for number in columns.iter().flat_map(|column| table.numbers(column)) {
            if let Some(used) = usize::try_from(*number).ok().and_then(|number| used.get_mut(number)) {
                *used = true;
            }
        }
        for (number, text) in table.texts.iter().enumerate().filter(|(number, _)| used.get(*number) == Some(&true)) {
            entry(&mut entries, field, number as u64 + 1, text);
            if entries.bytes.len() >= PACKET_BYTES {
                packets.interned(&entries)?;
                entries.bytes.clear();
            }
        }
    }
    packets.interned(&entries)
}

/// Writes the annotations of spans.
pub(super) struct SpanAnnotations<'table> {
    table: &'table Interned,
    integers: Vec<(u64, &'table [Option<i64>])>,
    texts: Vec<(u64, &'table [TextNumber])>,
    attributes: &'table [TextNumber],
    /// Attributes as they are written, by their text: many spans have the same.
    written: HashMap<TextNumber, Vec<u8>>,
}

impl<'table> SpanAnnotations<'table> {
    pub(super) fn new(table: &'table Interned) -> Self {
        let integers =
            ["span", "parent", "instructions", "idle_ns"].map(|column| (name(column), table.integers(column)));
        let texts = ["level", "grade", "reason", "source"].map(|column| (name(column), table.numbers(column)));
        Self {
            table,
            integers: integers.to_vec(),
            texts: texts.to_vec(),
            attributes: table.numbers("attributes"),
            written: HashMap::new(),
        }
    }

    pub(super) fn write(&mut self, event: &mut Message, span: &Drawn) {
        for (name, column) in &self.integers {
            if let Some(value) = column.get(span.row).copied().flatten() {
                annotate(event, *name, |annotation| annotation.int(4, value));
            }
        }
        let length = self.table.integers("duration_ns").get(span.row).copied().flatten();
        let drawn = span.interval.end.map(|end| end.saturating_sub(span.interval.start));
        if let Some(length) = length.filter(|length| Some(*length) != drawn) {
            annotate(event, name("duration_ns"), |annotation| annotation.int(4, length));
        }
        for (name, column) in &self.texts {
            let number = column.get(span.row).copied().unwrap_or(NO_TEXT);
            if number != NO_TEXT {
                annotate(event, *name, |annotation| annotation.uint(17, iid(number)));
            }
        }
        if span.placed == Placed::Reckoned {
            annotate(event, name("placed"), |annotation| annotation.text(6, "one end reckoned from the duration"));
        }
        let number = self.attributes.get(span.row).copied().unwrap_or(NO_TEXT);
        if let Some(text) = self.table.texts.get(number) {
            let written = self.written.entry(number).or_insert_with(|| attributes(text));
            event.raw(4, written);
        }
    }
}

/// A JSON object as entries of a dictionary; anything else as the text that it is.
fn attributes(text: &str) -> Vec<u8> {
    let mut annotation = Message::default();
    annotation.uint(1, name("attributes"));
    match serde_json::from_str::<std::collections::BTreeMap<String, serde_json::Value>>(text) {
        Ok(entries) => {
            for (key, value) in entries {
                annotation.message(11, |entry| {
                    entry.text(10, &key);
                    match value {
                        serde_json::Value::String(text) => entry.text(6, &text),
                        other => entry.text(6, &other.to_string()),
                    }
                });
            }
        }
        Err(_) => annotation.text(6, text),
    }
    annotation.bytes
}
