//! What the fields of an event are, by the format file that a trace.dat carries of every event.

use super::ring_buffer::Machine;

/// How a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Number {
        signed: bool,
    },
    Address,
    Text,
    /// Its place and length stand in the field.
    TextElsewhere,
    Bytes,
}

#[derive(Debug)]
struct Field {
    name: String,
    offset: usize,
    size: usize,
    shape: Shape,
}

/// One kind of event.
#[derive(Debug)]
pub(crate) struct EventFormat {
    pub(crate) name: String,
    pub(crate) id: u16,
    fields: Vec<Field>,
}

impl EventFormat {
    /// Reads a format file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (mut name, mut id, mut fields) = (None, None, Vec::new());
        for line in text.lines().map(str::trim) {
            if let Some(value) = line.strip_prefix("name:") {
                name = Some(value.trim().to_owned());
            } else if let Some(value) = line.strip_prefix("ID:") {
                id = value.trim().parse().ok();
            } else if let Some(declared) = line.strip_prefix("field:") {
                fields.extend(field(declared));
            } else if line.starts_with("print fmt:") {
                break;
            }
        }
        Some(Self { name: name.filter(|name| !name.is_empty())?, id: id?, fields })
    }

    /// The number in a field.
    pub(crate) fn number(&self, machine: Machine, data: &[u8], name: &str) -> Option<u64> {
        let field = self.fields.iter().find(|field| field.name == name)?;
        machine.number(data, field.offset, field.size)
    }

    /// All fields but the common ones as `key=value`, addresses by their symbol.
    pub(crate) fn text(&self, machine: Machine, data: &[u8], symbol: impl Fn(u64) -> String) -> String {
        let mut words = Vec::new();
        for field in self.fields.iter().filter(|field| !field.name.starts_with("common_")).take(64) {
            let number = || machine.number(data, field.offset, field.size);
            let value = match field.shape {
                Shape::Number { signed: true } => number().map(|value| {
                    let spare = 64 - 8 * field.size.clamp(1, 8) as u32;
                    ((value << spare) as i64 >> spare).to_string()
                }),
                Shape::Number { signed: false } => number().map(|value| value.to_string()),
                Shape::Address => number().map(&symbol),
                Shape::Text => data.get(field.offset..).map(|rest| c_text(&rest[..rest.len().min(field.size.max(1))])),
                Shape::TextElsewhere => number().and_then(|place| {
                    let start = (place & 0xffff) as usize;
                    let end = start.saturating_add((place >> 16 & 0xffff) as usize).min(data.len());
                    data.get(start..end).map(c_text)
                }),
                Shape::Bytes => None,
            };
            if let Some(value) = value {
                words.push(format!("{}={value}", field.name));
            }
        }
        words.join(" ")
    }
}

/// `TYPE NAME[N]; offset:N; size:N; signed:N;`
fn field(declared: &str) -> Option<Field> {
    let mut parts = declared.split(';').map(str::trim);
    let declaration = parts.next()?;
    let mut value = |key: &str| parts.next()?.strip_prefix(key)?.trim().parse::<usize>().ok();
    let (offset, size) = (value("offset:")?, value("size:")?);
    let signed = value("signed:").unwrap_or(0) != 0;
    let (kind, name) = declaration.rsplit_once(|letter: char| letter.is_ascii_whitespace() || letter == '*')?;
    let (name, array) = name.split_once('[').map_or((name, false), |(name, _)| (name, true));
    let address = matches!(name, "func" | "ip" | "parent_ip" | "caller" | "call_site" | "function");
    let shape = if kind.contains("__data_loc") {
        if kind.contains("char[]") {
            Shape::TextElsewhere
        } else {
            Shape::Bytes
        }
    } else if array {
        if kind.ends_with("char") {
            Shape::Text
        } else {
            Shape::Bytes
        }
    } else if !matches!(size, 1 | 2 | 4 | 8) {
        // `char buf[]` at the end of a print has no size of its own.
        Shape::Bytes
    } else if address || declaration.contains("(*") {
        Shape::Address
    } else {
        Shape::Number { signed }
    };
    let shape = if array && size == 0 && kind.ends_with("char") { Shape::Text } else { shape };
    let size = if shape == Shape::Text && size == 0 { usize::MAX } else { size };
    Some(Field { name: name.to_owned(), offset, size, shape })
}

fn c_text(bytes: &[u8]) -> String {
    let end = memchr::memchr(0, bytes).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim_end().replace(['\n', '\r'], " ")
}
