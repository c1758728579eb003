//! Lines of a function graph whose columns stand where those of the line before stood: nearly all of them.

use super::graph_line::{blanks, body, digits, duration, seconds, task, trim, trim_end, GraphLine};
use crate::kernel_log::bytes::{are_digits, eight_digits, padded_digits};
use memchr::memchr;
use std::ops::Range;

/// Where the bar after `SECONDS.MICROS ` stands while the seconds have at most five digits.
const USUAL_STAMP: usize = 13;

/// Where the columns of a line with stamp, processor, task and duration stand.
#[derive(Debug, Default)]
pub(crate) struct Places {
    stamp_bar: usize,
    task_bar: usize,
    duration_bar: usize,
    who: Who,
}

/// Processor and task, and the columns they were read from: most lines have those of the line before.
#[derive(Debug, Default)]
struct Who {
    columns: Vec<u8>,
    cpu: u32,
    comm: Range<usize>,
    pid: u32,
}

impl Who {
    fn of(columns: &[u8]) -> Option<Self> {
        let parenthesis = memchr(b')', columns)?;
        let cpu = trim(columns.get(..parenthesis)?);
        let (number, end) = digits(cpu, 0)?;
        let (begin, after) = (blanks(columns, parenthesis + 1), columns.get(parenthesis + 1..)?);
        let (comm, pid) = task(trim(after))?;
        (end > 0 && end == cpu.len()).then_some(())?;
        let cpu = u32::try_from(number).ok()?;
        Some(Self { columns: columns.to_vec(), cpu, comm: begin..begin + comm.len(), pid })
    }
}

impl Places {
    /// Learns the places from a line that was split.
    pub(crate) fn of(line: &[u8]) -> Option<Self> {
        let bar = |from: usize| Some(from + memchr(b'|', line.get(from..)?)?);
        let stamp_bar = bar(0)?;
        let parenthesis = stamp_bar + memchr(b')', line.get(stamp_bar..)?)?;
        let task_bar = bar(parenthesis)?;
        let who = Who::of(line.get(stamp_bar + 1..task_bar)?)?;
        Some(Self { stamp_bar, task_bar, duration_bar: bar(task_bar + 1)?, who })
    }

    /// Splits a line whose columns stand there; none when they do not.
    #[inline]
    pub(crate) fn split<'l>(&mut self, line: &'l [u8]) -> Option<GraphLine<'l>> {
        let bars = line.get(self.duration_bar) == Some(&b'|')
            && line.get(self.task_bar) == Some(&b'|')
            && line.get(self.stamp_bar) == Some(&b'|');
        if !bars {
            return None;
        }
        let time_ns = stamp(line.get(..self.stamp_bar)?)?;
        let columns = line.get(self.stamp_bar + 1..self.task_bar)?;
        if columns != self.who.columns {
            self.who = Who::of(columns)?;
        }
        let comm = columns.get(self.who.comm.clone())?;
        let field = line.get(self.task_bar + 1..self.duration_bar)?;
        let rest = line.get(self.duration_bar + 1..)?;
        let start = blanks(rest, 0);
        Some(GraphLine {
            time_ns: Some(time_ns),
            cpu: Some(self.who.cpu),
            task: Some((comm, self.who.pid)),
            duration_ns: length(field)?,
            depth: (start / 2) as u32,
            body: body(&rest[start..]),
        })
    }
}

/// `SECONDS.MICROS ` in nanoseconds.
#[inline]
fn stamp(column: &[u8]) -> Option<i64> {
    if column.len() == USUAL_STAMP {
        let (front, back) = (column.first_chunk::<8>()?, column.last_chunk::<8>()?);
        // The first column of the seconds stands in the second byte.
        let seconds = padded_digits((u64::from_le_bytes(*front) << 8) ^ u64::from_le_bytes(*b"\x0000000.0"))?;
        let micros = u64::from_le_bytes(*back) ^ u64::from_le_bytes(*b".000000 ");
        if micros & 0xff == 0 && micros >> 56 == 0 && are_digits(micros) {
            return i64::try_from((seconds * 1_000_000 + eight_digits(micros << 8)) * 1000).ok();
        }
        return None;
    }
    let (whole, point) = digits(column, blanks(column, 0))?;
    let (fraction, end) = digits(column, point + 1)?;
    (column.get(point) == Some(&b'.') && end == point + 7 && point > 0).then_some(())?;
    seconds(whole, fraction, 6)
}

/// The duration in its column, which may be empty; none when something else stands there.
#[inline]
fn length(column: &[u8]) -> Option<Option<i64>> {
    let start = blanks(column, 0);
    if start == column.len() {
        return Some(None);
    }
    match trim_end(&column[start..]) {
        field @ [.., b'u', b's'] => Some(Some(duration(field)?)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph_line::{parse, Columns};
    use super::*;

    #[test]
    fn known_places_change_nothing() {
        let first = "    1.003100 |   0)  swapper-1    | # 1097.012 us |    } /* gizmo_init [gizmo] */";
        let mut places = Places::of(first.as_bytes()).unwrap();
        for text in [
            first,
            "    1.003101 |   1)   <idle>-0    |               |  a() {",
            "12345.003101 |  12)  a b-c-12345  |   0.250 us    |    a(b | c);",
            "    1.003101 |   1)   <idle>-0    |   ==========> |",
            "    1.003101 |   1)   <idle>-0    |  d..1. |   0.250 us    |  a();",
            "  1",
        ] {
            let known = places.split(text.as_bytes());
            assert!(known.is_none() || known == parse(text.as_bytes(), Columns::default()), "{text}");
        }
        assert!(places.split(first.as_bytes()).is_some());
    }
}
