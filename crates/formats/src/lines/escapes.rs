//! What a terminal would not show.

/// Copies a line without terminal escapes (ECMA-48: control sequences, strings, two-byte escapes) and NUL bytes; tells
/// whether there were any of each.
pub(super) fn clean(bytes: &[u8], cleaned: &mut Vec<u8>) -> (bool, bool) {
    let (mut escapes, mut nuls) = (false, false);
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            0 => nuls = true,
            0x1b => {
                escapes = true;
                at += escape_length(&bytes[at..]);
            }
            _ => cleaned.push(byte),
        }
    }
    (escapes, nuls)
}

/// The length of an escape after its first byte; of one that is cut off, what is there.
fn escape_length(rest: &[u8]) -> usize {
    let position = |from: usize, ends: &dyn Fn(u8) -> bool| {
        rest.iter().skip(from).position(|&byte| ends(byte)).map_or(rest.len(), |end| from + end + 1)
    };
    match rest.first() {
        None => 0,
        Some(b'[') => position(1, &|byte| (0x40..=0x7e).contains(&byte)),
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let end = position(1, &|byte| byte == 7 || byte == b'\\');
            end.min(rest.len())
        }
        Some(b' '..=b'/') => position(0, &|byte| !(b' '..=b'/').contains(&byte)),
        Some(_) => 1,
    }
}
