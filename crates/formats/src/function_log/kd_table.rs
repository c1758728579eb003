//! Tables that kd printed, in any selection of its columns.

use super::kft::{number, words};
use crate::about::{About, Origin, Traits};
use crate::evidence::{Clock, Evidence, KdRow, ProblemKind, Unparsed};
use crate::format::{Format, Head, Input, Likelihood};
use crate::lines::Lines;
use crate::FormatError;
use firstlight_schema::FormatName;

/// The reader.
pub struct KdTable;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    Function,
    Count,
    Time,
    Average,
    Range,
    SubTime,
    Local,
    MaxSub,
    MaxSubCount,
    SubList,
}

const TITLES: [(&str, Column); 10] = [
    ("Function", Column::Function),
    ("Count", Column::Count),
    ("Time", Column::Time),
    ("Average", Column::Average),
    ("Range", Column::Range),
    ("Sub-time", Column::SubTime),
    ("Local", Column::Local),
    ("Max-sub", Column::MaxSub),
    ("Ms count", Column::MaxSubCount),
    ("Sub list", Column::SubList),
];

/// A column and where the line of dashes says it stands.
type Extent = (Column, usize, usize);

impl Format for KdTable {
    fn about(&self) -> &'static About {
        const { &About::of(FormatName::KdTable, Traits::of(Origin::FunctionLog)) }
    }

    fn likelihood(&self, head: &Head<'_>) -> Likelihood {
        let mut before: &[u8] = b"";
        for line in head.bytes.split(|&byte| byte == b'\n') {
            if extents(before, line).is_some() {
                return Likelihood::Certain;
            }
            before = line;
        }
        Likelihood::No
    }

    fn read(&self, input: Input<'_>) -> Result<Vec<Evidence>, FormatError> {
        let mut lines = Lines::new(input.bytes);
        let mut evidence = Evidence::of(KdTable.about(), Clock::Untimed);
        let mut columns: Option<Vec<Extent>> = None;
        let mut before = Vec::new();
        let mut unparsed = Unparsed::default();
        while let Some(line) = lines.next_line()? {
            if let Some(found) = extents(&before, line.bytes) {
                if columns.is_none() {
                    evidence.first_line = line.number.saturating_sub(1);
                }
                columns = Some(found);
            } else if let Some(columns) = &columns {
                match row(line.bytes, columns) {
                    Some(row) => {
                        check(&row, line.number, &mut evidence);
                        evidence.kd.push(row);
                    }
                    None if line.bytes.trim_ascii().is_empty() => {}
                    None => unparsed.add(line.number),
                }
            }
            before.clear();
            before.extend_from_slice(line.bytes);
        }
        if evidence.kd.is_empty() {
            return Err(self.not_this("no row under a line of dashes"));
        }
        evidence.understood = evidence.kd.len() as u64;
        unparsed.report("line[|s] below the header [is not a row|are not rows]", &mut evidence);
        let known: std::collections::HashSet<&str> = evidence.kd.iter().map(|row| row.function.as_str()).collect();
        let absent = evidence.kd.iter().filter_map(|row| row.max_sub.as_deref()).any(|sub| !known.contains(sub));
        if absent {
            let detail = "functions are named that have no row: the table was cut (`kd -n`, `kd -t`)";
            evidence.problem(ProblemKind::Censored, None, detail);
        }
        evidence.problems.extend(lines.problems());
        Ok(vec![evidence])
    }
}

/// The columns, when `dashes` is the line under the titles.
fn extents(titles: &[u8], dashes: &[u8]) -> Option<Vec<Extent>> {
    let ruled = dashes.starts_with(b"---") && dashes.iter().all(|byte| matches!(byte, b'-' | b' '));
    if !ruled {
        return None;
    }
    let mut columns = Vec::new();
    let mut at = 0;
    while at < dashes.len() {
        if dashes[at] == b' ' {
            at += 1;
            continue;
        }
        let end = dashes[at..].iter().position(|byte| *byte == b' ').map_or(dashes.len(), |length| at + length);
        let title = titles.get(at..end.min(titles.len()))?.trim_ascii();
        let (_, column) = TITLES.iter().find(|(name, _)| name.as_bytes() == title)?;
        columns.push((*column, at, end));
        at = end;
    }
    (columns.first()?.0 == Column::Function && columns.len() > 1).then_some(columns)
}

fn row(line: &[u8], columns: &[Extent]) -> Option<KdRow> {
    let mut row = KdRow::default();
    // A value wider than its column moves all that follow.
    let mut shift = 0;
    let (mut counted, mut timed) = (false, false);
    for (index, &(column, start, end)) in columns.iter().enumerate() {
        let (start, mut stop) = (start + shift, end + shift);
        if start >= line.len() {
            break;
        }
        let text = column == Column::Function || column == Column::MaxSub;
        if index + 1 == columns.len() && !text {
            stop = line.len();
        }
        // The value begins within the column, or the column is empty.
        let begin = (start..stop.min(line.len())).find(|&at| line[at] != b' ');
        let Some(begin) = begin else { continue };
        let length = match column {
            Column::SubList => line.len() - begin,
            _ => line[begin..].iter().position(|byte| *byte == b' ').unwrap_or(line.len() - begin),
        };
        let value = &line[begin..begin + length];
        shift += (begin + length).saturating_sub(stop);
        let figure = || number(value);
        match column {
            Column::Function => row.function = String::from_utf8_lossy(value).into_owned(),
            Column::Count => {
                row.count = figure()?;
                counted = true;
            }
            Column::Time => {
                row.time_us = figure()?;
                timed = true;
            }
            Column::Average => row.average_us = Some(figure()?),
            Column::Range => (row.min_us, row.max_us) = range(value)?,
            Column::SubTime => row.sub_time_us = Some(figure()?),
            Column::Local => row.local_us = Some(figure()?),
            Column::MaxSub => row.max_sub = Some(String::from_utf8_lossy(value).into_owned()),
            Column::MaxSubCount => row.max_sub_count = Some(figure()?),
            Column::SubList => row.sub_list = Some(names(value)),
        }
    }
    (!row.function.is_empty() && (counted || timed)).then_some(row)
}

/// `(MIN-MAX)`; either may be negative.
fn range(value: &[u8]) -> Option<(Option<i64>, Option<i64>)> {
    let inner = value.strip_prefix(b"(")?.strip_suffix(b")")?;
    let dash = inner.iter().skip(1).position(|byte| *byte == b'-')? + 1;
    Some((Some(number(&inner[..dash])?), Some(number(&inner[dash + 1..])?)))
}

/// `['a', 'b']` as `a b`.
fn names(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value).replace(['[', ']', '\'', ','], " ");
    words(text.as_bytes()).map(String::from_utf8_lossy).collect::<Vec<_>>().join(" ")
}

fn check(row: &KdRow, line: u64, evidence: &mut Evidence) {
    let mut contradicts = |what: &str| {
        if evidence.problems.len() < 100 {
            let detail = format!("`{}`: {what}", row.function);
            evidence.problem(ProblemKind::Contradiction, Some(line), detail);
        }
    };
    if row.time_us == -1 {
        return;
    }
    if row.count > 0 && row.average_us.is_some_and(|average| average != row.time_us.div_euclid(row.count)) {
        contradicts("Average is not Time by Count");
    }
    if row.local_us.is_some_and(|local| local > row.time_us) {
        contradicts("Local is more than Time");
    }
    if let (Some(sub_time), Some(local)) = (row.sub_time_us, row.local_us) {
        if row.time_us.saturating_sub(sub_time) != local {
            contradicts("Local and Sub-time are not Time together");
        }
    }
}
