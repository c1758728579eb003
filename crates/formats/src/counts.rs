//! Messages about a number of things, in the grammar of the number.

use std::fmt::{Display, Write};

/// A text about a number of things: `#` is the number, and of `[one|several]` stays the form that agrees with it.
///
/// ```
/// use firstlight_formats::counts::counted;
/// let text = "# line[|s] [is|are] torn: [it is|they are] left out";
/// assert_eq!(counted(1, text), "1 line is torn: it is left out");
/// assert_eq!(counted(12, text), "12 lines are torn: they are left out");
/// assert_eq!(counted(3, "it wrapped [once|# times]"), "it wrapped 3 times");
/// ```
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, text: &str) -> String {
    let one = number == N::from(1);
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '[']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let forms = from.strip_prefix('[').and_then(|inside| inside.split_once(']'));
        match (forms.and_then(|(forms, after)| Some((forms.split_once('|')?, after))), from.strip_prefix('#')) {
            (Some(((single, several), after)), _) => {
                out.push_str(&if one { single } else { several }.replace('#', &number.to_string()));
                rest = after;
            }
            (None, Some(after)) => {
                // A string takes what is written and cannot fail.
                let _ = write!(out, "{number}");
                rest = after;
            }
            (None, None) => {
                out.push('[');
                rest = from.strip_prefix('[').unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    out
}
