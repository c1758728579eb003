//! Lines without quotes, numbers and fences around them.

use crate::kernel_log::boot_messages::is_boot_message;
use crate::kernel_log::prefix::parse;

/// Where no line of a kernel is quoted, one of so many lines is.
const ONE_OF: usize = 20;

/// Without `> `, numbers and the like before lines, and without fences. A drawing of bars and slants that a console shows is no quote.
pub(super) fn quoted(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(bytes.len());
    let (mut any, mut lines, mut quotes) = (false, 0_usize, 0_usize);
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
            any = true;
        } else if rest.len() < line.len() || unpadded.starts_with(b"[") {
            rest = if unpadded.is_empty() { b"\n" } else { unpadded };
        }
        lines += 1;
        // Some consoles send a carriage return first.
        if rest.len() < line.strip_prefix(b"\r").unwrap_or(line).len() {
            quotes += 1;
            any |= is_of_kernel(rest);
        }
        text.extend_from_slice(rest);
    }
    (any || quotes > 0 && quotes * ONE_OF >= lines).then_some(text)
}

/// Whether a line has a stamp, or is a message that every boot has.
fn is_of_kernel(line: &[u8]) -> bool {
    let found = parse(line);
    found.time.is_some() || is_boot_message(found.text)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drawing_on_a_console_is_no_quote() {
        let console =
            "| |/ / | |\n| ' /__| |\n".to_owned() + &"[    1.000000] a: b\n\r[    2.000000] c: d\n".repeat(40);
        assert_eq!(quoted(console.as_bytes()), None);
        let reply = console + "> [    3.000000] e: f\n";
        assert!(quoted(reply.as_bytes()).is_some_and(|text| text.ends_with(b"\n[    3.000000] e: f\n")));
        assert!(quoted(b"> 1.2s gizmo.service\n> 1.1s gadget.service\n").is_some());
        assert!(quoted(b"```\nLinux version 6.1.0\n```\n").is_some());
    }
}
