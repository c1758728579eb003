//! No-break spaces that a web page has in the place of blanks.

use memchr::memmem;
use std::borrow::Cow;

/// U+00A0 in UTF-8.
pub(super) const NO_BREAK: &[u8] = "\u{a0}".as_bytes();

/// Whether a line has no-break spaces among the blanks and brackets that it begins with. No log has: it has them between words
/// of some languages only, and those stay.
pub(super) fn has_for_blanks(line: &[u8]) -> bool {
    let inside = line.iter().take_while(|byte| b" \t[<>|".contains(byte)).count();
    line.get(inside..).is_some_and(|rest| rest.starts_with(NO_BREAK))
}

/// Copies a line with blanks in their place. A page that has them also sets blanks around brackets: a stamp is closed as the
/// kernel does.
pub(super) fn put_blanks(line: &[u8], plain: &mut Vec<u8>) {
    let mut rest = line;
    while let Some(at) = memmem::find(rest, NO_BREAK) {
        plain.extend_from_slice(&rest[..at]);
        plain.push(b' ');
        rest = &rest[at + NO_BREAK.len()..];
    }
    plain.extend_from_slice(rest);
    let stamp = plain.iter().take_while(|byte| b" \t[.0123456789".contains(byte)).count();
    let opened = plain.iter().take_while(|byte| **byte == b' ').count();
    if plain.get(opened) == Some(&b'[') && plain.get(stamp) == Some(&b']') && plain.get(stamp - 1) == Some(&b' ') {
        plain.remove(stamp - 1);
        plain.drain(..opened);
    }
}

/// A text with blanks in the place of the no-break spaces, where a page has put those.
pub fn with_blanks(text: &[u8]) -> Cow<'_, [u8]> {
    if memmem::find(text, NO_BREAK).is_none() {
        return Cow::Borrowed(text);
    }
    let (mut all, mut plain) = (Vec::with_capacity(text.len()), Vec::new());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        if has_for_blanks(line) {
            plain.clear();
            put_blanks(line, &mut plain);
            all.extend_from_slice(&plain);
        } else {
            all.extend_from_slice(line);
        }
    }
    Cow::Owned(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_take_the_place_where_a_line_begins_with_them_and_stay_between_words() {
        for (line, expected) in [
            (" [ \u{a0} \u{a0} 0.400000 ] a:\u{a0}b [x ]", "[     0.400000] a: b [x ]"),
            ("\u{a0}\u{a0} 1.2s gizmo.service", "   1.2s gizmo.service"),
            ("\u{a0} └─gizmo.service @2s", "  └─gizmo.service @2s"),
            ("[    0.400000] Démarrage de\u{a0}: gizmo", "[    0.400000] Démarrage de\u{a0}: gizmo"),
            ("« gizmo »", "« gizmo »"),
        ] {
            assert_eq!(with_blanks(line.as_bytes()), expected.as_bytes());
        }
    }
}
