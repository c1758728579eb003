//! Job logs of LAVA: one mapping a line, with the dispatcher's time; and the plain text that is made of them.

use super::yaml::scalars;
use crate::about::{About, Origin, Traits};
use crate::counts::counted;
use crate::evidence::{Evidence, Name, ProblemKind};
use crate::format::{Format, Head, Input, Likelihood};
use crate::kernel_log::clock_lookahead::Ahead;
use crate::kernel_log::dates::{clock, of_iso};
use crate::kernel_log::text::Text;
use crate::lines::{Line, Lines};
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct Lava;

/// One line: when, of which kind, and what.
struct Entry {
    time_ns: Option<i64>,
    target: bool,
    text: Vec<u8>,
}

fn mapping(line: &[u8]) -> Option<Entry> {
    let mut entry = Entry { time_ns: None, target: false, text: Vec::new() };
    let mut known = false;
    for (key, value) in scalars(line)? {
        match key.as_slice() {
            b"dt" => entry.time_ns = of_iso(&value).map(|(time, _)| time),
            b"lvl" => {
                known = true;
                entry.target = value == b"target";
            }
            b"msg" => entry.text = value,
            _ => {}
        }
    }
    known.then_some(entry)
}

/// `2026-01-02T03:04:05.678901  text` or `03:04:05.678901  text`: the plain text that KernelCI and others publish.
fn plain(line: &[u8]) -> Option<Entry> {
    let line = line.trim_ascii_start();
    let (time, rest) = of_iso(line).or_else(|| clock(line))?;
    let rest = rest.strip_prefix(b"  ").or(Some(rest).filter(|rest| rest.is_empty()))?;
    let digits = line.len() - rest.len();
    if !line[..digits].contains(&b'.') {
        return None;
    }
    let rest = rest.strip_prefix(b"target: ").unwrap_or(rest);
    Some(Entry { time_ns: Some(time), target: true, text: rest.to_vec() })
}

fn entry(line: &[u8]) -> Option<Entry> {
    mapping(line).or_else(|| plain(line))
}

impl Format for Lava {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::Lava, Traits::of(Origin::Other)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let (mut lines, mut mapped, mut dated) = (0, 0, 0);
        for line in head.bytes.split(|&byte| byte == b'\n').take(60).filter(|line| !line.trim_ascii().is_empty()) {
            lines += 1;
            if mapping(line).is_some_and(|entry| entry.time_ns.is_some()) {
                mapped += 1;
            } else if plain(line).is_some() {
                dated += 1;
            }
        }
        if mapped >= 1 && mapped * 2 > lines {
            Likelihood::Certain
        } else if dated >= 3 && dated * 2 > lines {
            Likelihood::Likely
        } else {
            Likelihood::No
        }
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut text = Text::new(self.about(), "", true);
        let mut lines = Lines::new(input.bytes);
        let mut origin = None;
        let (mut others, mut torn) = (0_u64, None::<(u64, u64)>);
        let mut ahead = Ahead::default();
        while let Some(Line { number, bytes }) = lines.next_line()? {
            let Some(found) = entry(bytes) else {
                if !bytes.trim_ascii().is_empty() {
                    torn.get_or_insert((0, number)).0 += 1;
                }
                continue;
            };
            let host = found.time_ns.map(|time| time.saturating_sub(*origin.get_or_insert(time)));
            if !found.target {
                others += 1;
                continue;
            }
            for piece in found.text.split(|&byte| byte == b'\n') {
                ahead.line(&mut text, number, host, &cleaned(piece));
            }
        }
        ahead.finish(&mut text);
        if others > 0 {
            text.boots().now().facts.push((Name::Borrowed("lava.dispatcher_lines"), others.to_string()));
        }
        if let Some((count, line)) = torn {
            let detail = counted(count, "# line[|s] [is not an entry|are not entries] of a job log");
            text.boots().note(ProblemKind::Torn, line, detail);
        }
        let problems = lines.problems();
        text.finish(self.title(), problems)
    }
}

/// Without the terminal escapes that the quoting had hidden.
fn cleaned(piece: &[u8]) -> Vec<u8> {
    if !piece.iter().any(|byte| matches!(byte, 0 | 0x1b | b'\r')) {
        return piece.to_vec();
    }
    let mut input: &[u8] = piece;
    let mut lines = Lines::new(&mut input);
    lines.next_line().ok().flatten().map(|line| line.bytes.to_vec()).unwrap_or_default()
}
