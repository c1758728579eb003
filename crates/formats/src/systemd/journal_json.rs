//! `journalctl -o json`, `json-pretty`, `json-seq` and `json-sse`.

use super::journal::{Entry, Field, Journal};
use crate::about::{About, Stamps, Traits};
use crate::evidence::{Evidence, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::Deserialize;

/// Reads the journal as JSON.
pub struct JournalJson;

impl Format for JournalJson {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::JournalJson, Traits { stamps: Stamps::Sent, ..Traits::JOURNAL }) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let start = framed(head.bytes.trim_ascii_start());
        let stamped = |key: &str| memchr::memmem::find(head.bytes, key.as_bytes()).is_some();
        if !start.starts_with(b"{") {
            return Likelihood::No;
        }
        match (stamped("\"__REALTIME_TIMESTAMP\""), stamped("\"__CURSOR\"") || stamped("\"_BOOT_ID\"")) {
            (true, true) => Likelihood::Certain,
            (true, false) => Likelihood::Likely,
            (false, true) if stamped("\"MESSAGE\"") => Likelihood::Likely,
            _ => Likelihood::No,
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut journal = Journal::default();
        let mut lines = Lines::new(input.bytes);
        let mut unparsed = Unparsed::default();
        let mut object: (Vec<u8>, u64) = (Vec::new(), 0);
        while let Some(line) = lines.next_line()? {
            let bytes = framed(line.bytes);
            let inner = bytes.trim_ascii();
            if object.0.is_empty() {
                if inner.is_empty() {
                    continue;
                }
                if inner.starts_with(b"{") && (inner.len() == 1 || !inner.ends_with(b"}")) && inner.len() < 3 {
                    object = (inner.to_vec(), line.number);
                    continue;
                }
                take(inner, line.number, &mut journal, &mut unparsed);
            } else if bytes == b"{" {
                // A new entry begins where the one before has not ended.
                unparsed.add(object.1);
                object = (bytes.to_vec(), line.number);
            } else {
                object.0.extend_from_slice(bytes);
                if bytes == b"}" {
                    take(&object.0, object.1, &mut journal, &mut unparsed);
                    object.0.clear();
                }
            }
        }
        if !object.0.is_empty() {
            unparsed.add(object.1);
        }
        let problems = lines.problems();
        finish(journal, unparsed, problems, self.about())
    }
}

/// The evidence of a journal, with what was wrong with its text.
pub(super) fn finish(
    journal: Journal,
    unparsed: Unparsed,
    problems: Vec<crate::evidence::Problem>,
    format: &'static About,
) -> Result<Vec<Evidence>, FormatError> {
    if journal.is_empty() {
        return Err(FormatError::NotThis { format: format.title, what: "it has no complete entry".to_owned() });
    }
    let mut evidence = journal.finish(format);
    if let Some(first) = evidence.first_mut() {
        unparsed.report("entr[y|ies] [is|are] torn or cut off", first);
        first.problems.extend(problems);
    }
    Ok(evidence)
}

/// A line without the frame of `json-seq` (a record separator) or `json-sse` (`data: `).
fn framed(line: &[u8]) -> &[u8] {
    let line = line.strip_prefix(b"\x1e").unwrap_or(line);
    line.strip_prefix(b"data: ").unwrap_or(line)
}

fn take(bytes: &[u8], line: u64, journal: &mut Journal, unparsed: &mut Unparsed) {
    match serde_json::from_slice::<Json>(bytes) {
        Ok(Json(entry)) if !entry.is_empty() => journal.add(&entry, line),
        _ => unparsed.add(line),
    }
}

struct Json(Entry);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Json;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an entry of the journal")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Json, A::Error> {
                let mut entry = Entry::default();
                while let Some(key) = map.next_key::<std::borrow::Cow<'de, str>>()? {
                    match Field::named(&key) {
                        Some(field) => {
                            if let Value(Some(value)) = map.next_value()? {
                                entry.set(field, value);
                            }
                        }
                        None => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(Json(entry))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A value: text; bytes as an array of numbers, where they are not text; an array of either, where the field is there more than
/// once (the first counts); null, where it was too long to print.
struct Value(Option<Vec<u8>>);

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Value;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("text, bytes, several of these, or null")
            }
            fn visit_str<E>(self, text: &str) -> Result<Value, E> {
                Ok(Value(Some(text.as_bytes().to_vec())))
            }
            fn visit_u64<E>(self, number: u64) -> Result<Value, E> {
                Ok(Value(Some(number.to_string().into_bytes())))
            }
            fn visit_i64<E>(self, number: i64) -> Result<Value, E> {
                Ok(Value(Some(number.to_string().into_bytes())))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Value, E> {
                Ok(Value(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Value, E> {
                Ok(Value(None))
            }
            fn visit_unit<E>(self) -> Result<Value, E> {
                Ok(Value(None))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Value(None))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
                let (mut bytes, mut first) = (Vec::new(), None);
                while let Some(item) = sequence.next_element::<Item>()? {
                    match item {
                        Item::Byte(byte) => bytes.push(byte),
                        Item::Whole(value) => first = first.or(value),
                    }
                }
                Ok(Value(first.or((!bytes.is_empty()).then_some(bytes))))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

enum Item {
    Byte(u8),
    Whole(Option<Vec<u8>>),
}

impl<'de> Deserialize<'de> for Item {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Item;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a byte or a value")
            }
            fn visit_u64<E>(self, byte: u64) -> Result<Item, E> {
                Ok(u8::try_from(byte).map_or(Item::Whole(None), Item::Byte))
            }
            fn visit_i64<E>(self, _: i64) -> Result<Item, E> {
                Ok(Item::Whole(None))
            }
            fn visit_f64<E>(self, _: f64) -> Result<Item, E> {
                Ok(Item::Whole(None))
            }
            fn visit_bool<E>(self, _: bool) -> Result<Item, E> {
                Ok(Item::Whole(None))
            }
            fn visit_unit<E>(self) -> Result<Item, E> {
                Ok(Item::Whole(None))
            }
            fn visit_str<E>(self, text: &str) -> Result<Item, E> {
                Ok(Item::Whole(Some(text.as_bytes().to_vec())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Item, A::Error> {
                let mut bytes = Vec::new();
                while let Some(item) = sequence.next_element::<Item>()? {
                    if let Item::Byte(byte) = item {
                        bytes.push(byte);
                    }
                }
                Ok(Item::Whole(Some(bytes)))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Item, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Item::Whole(None))
            }
        }
        deserializer.deserialize_any(Any)
    }
}
