//! The strings of a document of JSON.

/// Documents within strings of documents are opened so deep.
const DEPTH: usize = 4;

/// The text of all strings that are values, each on lines of its own. A string that holds a document is opened, too.
pub(super) fn strings(bytes: &[u8]) -> Option<Vec<u8>> {
    strings_within(bytes, DEPTH)
}

fn strings_within(bytes: &[u8], depth: usize) -> Option<Vec<u8>> {
    let inside = bytes.trim_ascii_start().strip_prefix(b"{").or(bytes.trim_ascii_start().strip_prefix(b"["))?;
    // A line of a log begins with a bracket, too.
    if !matches!(inside.trim_ascii_start().first(), Some(b'{' | b'[' | b'"')) {
        return None;
    }
    let (mut text, mut rest, mut any) = (Vec::new(), bytes, false);
    while let Some(at) = memchr::memchr(b'"', rest) {
        rest = &rest[at + 1..];
        let begun = text.len();
        loop {
            let Some(at) = memchr::memchr2(b'"', b'\\', rest) else {
                text.extend_from_slice(rest);
                return any.then_some(text);
            };
            text.extend_from_slice(&rest[..at]);
            if rest[at] == b'"' {
                rest = &rest[at + 1..];
                break;
            }
            let (length, character) = escaped(&rest[at + 1..]);
            text.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest = rest.get(at + 1 + length..).unwrap_or_default();
        }
        if rest.trim_ascii_start().starts_with(b":") {
            text.truncate(begun);
        } else {
            any = true;
            let value = text.get(begun..).unwrap_or_default();
            let ends = matches!(value.trim_ascii_end().last(), Some(b'}' | b']'));
            let inner = depth.checked_sub(1).filter(|_| ends).and_then(|depth| strings_within(value, depth));
            if let Some(inner) = inner {
                text.truncate(begun);
                text.extend_from_slice(&inner);
            }
            text.push(b'\n');
        }
    }
    any.then_some(text)
}

/// What stands after a backslash: how long it is, and what it means.
fn escaped(rest: &[u8]) -> (usize, char) {
    match rest.first() {
        Some(b'n') => (1, '\n'),
        Some(b't') => (1, '\t'),
        Some(b'r') => (1, '\r'),
        Some(b'u') => {
            let digits = rest.get(1..5).and_then(|digits| std::str::from_utf8(digits).ok());
            let code = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
            (5, code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER))
        }
        Some(byte) => (1, char::from(*byte)),
        None => (0, '\\'),
    }
}
