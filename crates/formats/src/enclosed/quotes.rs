//! Lines without quotes, numbers and fences around them.

/// Without `> `, numbers and the like before lines, and without fences.
pub(super) fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len());
    let mut any = false;
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let mut rest = unnumbered(line).unwrap_or(line);
        while let Some(after) =
            rest.trim_ascii_start().strip_prefix(b">").or(rest.trim_ascii_start().strip_prefix(b"|"))
        {
            rest = after;
        }
        let unpadded = rest.trim_ascii_start();
        if unpadded.starts_with(b"```") || unpadded.starts_with(b"~~~") {
            rest = b"\n";
        } else if rest.len() < line.len() || unpadded.starts_with(b"[") {
            rest = if unpadded.is_empty() { b"\n" } else { unpadded };
        }
        any |= rest.len() < line.len();
        text.extend_from_slice(rest);
    }
    any.then_some(text)
}

/// A line that begins with a stamp or a level, without its number as `cat -n`, `grep -n` and viewers of logs print it.
fn unnumbered(line: &[u8]) -> Option<&[u8]> {
    let line = line.trim_ascii_start();
    let digits = line.iter().take(8).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = line.split_at(digits);
    let after =
        rest.first().filter(|byte| matches!(byte, b':' | b'|' | b' ' | b'\t')).filter(|_| !number.is_empty())?;
    let text = rest.strip_prefix(&[*after])?.trim_ascii_start();
    let stamped = text.strip_prefix(b"[").or(text.strip_prefix(b"<"))?.trim_ascii_start();
    stamped.first().filter(|byte| byte.is_ascii_digit()).map(|_| text)
}
