//! Folded stacks: `caller;callee WEIGHT`, one line for each place in the tree that weighs something.

use crate::stack::Stacks;
use std::fmt::Write as _;
use std::io::{self, Write};

/// Writes *stacks*, callers first.
///
/// A name is written so that it stays one frame of one line: `;`, the backslash and everything that a terminal or a
/// reader would obey become escapes (`\x3b`), blanks at its borders too.
///
/// # Errors
///
/// What the writer says.
pub fn write_folded(stacks: &Stacks, out: &mut impl Write) -> io::Result<()> {
    // The line of the node before, and how long it is at every depth: the next node most often shares much of it.
    let mut line = String::new();
    let mut depths: Vec<usize> = Vec::with_capacity(stacks.nodes.len());
    let mut path: Vec<(usize, usize)> = Vec::new();
    for (place, node) in stacks.nodes.iter().enumerate() {
        let depth = node.parent.and_then(|parent| depths.get(parent).copied()).map_or(0, |depth| depth + 1);
        depths.push(depth);
        if node.weight == 0 {
            continue;
        }
        let mut missing = vec![place];
        let mut above = node.parent;
        let mut at = depth;
        while let Some(caller) = above {
            at -= 1;
            if path.get(at).is_some_and(|(known, _)| *known == caller) {
                break;
            }
            missing.push(caller);
            above = stacks.nodes.get(caller).and_then(|node| node.parent);
        }
        path.truncate(depth + 1 - missing.len());
        line.truncate(path.last().map_or(0, |(_, length)| *length));
        for place in missing.into_iter().rev() {
            if !line.is_empty() {
                line.push(';');
            }
            let name = stacks.nodes.get(place).map_or("", |node| stacks.name(node));
            escape(name, &mut line);
            path.push((place, line.len()));
        }
        writeln!(out, "{line} {}", node.weight)?;
    }
    Ok(())
}

fn escape(name: &str, line: &mut String) {
    if name.trim().is_empty() {
        line.push_str("[nameless]");
        return;
    }
    let last = name.chars().count() - 1;
    for (place, character) in name.chars().enumerate() {
        let border = character == ' ' && (place == 0 || place == last);
        let code = u32::from(character);
        // Writing into a string cannot fail.
        let _ = match character {
            ';' | '\\' => write!(line, "\\x{code:02x}"),
            _ if border || (character.is_control() && code < 0x100) => write!(line, "\\x{code:02x}"),
            _ if obeyed(character) => write!(line, "\\u{code:04x}"),
            _ => {
                line.push(character);
                Ok(())
            }
        };
    }
}

/// Marks that turn the direction of writing, hide, or end a line.
fn obeyed(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_frame_of_one_line() {
        let mut line = String::new();
        for name in ["a;b", "two\nlines", "\u{1b}[31m", " edge ", "", "c:\\x", "left\u{202e}right", "näme of two"] {
            line.push('|');
            escape(name, &mut line);
        }
        let expected =
            "|a\\x3bb|two\\x0alines|\\x1b[31m|\\x20edge\\x20|[nameless]|c:\\x5cx|left\\u202eright|näme of two";
        assert_eq!(line, expected);
    }
}
