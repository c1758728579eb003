//! Evidence as the tests make it, and what its tables say.

use firstlight_formats::evidence::{Clock, Evidence, Instant, Mark, Span, SpanKind, Stamp};
use firstlight_formats::registry::by_name;
use firstlight_merge::record::Read;
use firstlight_merge::{merge, MergeSummary};
use firstlight_schema::table::{read, Values};

pub const MS: i64 = 1_000_000;

/// Empty evidence of a format; of a name that no format has, of none.
pub fn of(format: &str, clock: Clock) -> Evidence {
    match by_name(format) {
        Some(format) => Evidence::of(format.about(), clock),
        None => Evidence { clock, ..Evidence::default() },
    }
}

pub fn record(file: &str, evidence: Vec<Evidence>) -> Read {
    Read { file: file.to_owned(), outcome: Ok(evidence) }
}

pub struct Boot {
    pub summary: MergeSummary,
    pub directory: tempfile::TempDir,
}

pub fn boot(reads: &[Read]) -> Boot {
    let directory = tempfile::tempdir().unwrap();
    let summary = merge(reads, &vec![Some(0); reads.len()], directory.path()).unwrap();
    Boot { summary, directory }
}

impl Boot {
    pub fn texts(&self, table: &str, column: usize) -> Vec<Option<String>> {
        match read(table, self.directory.path()).unwrap().swap_remove(column) {
            Values::Text(values) => values,
            Values::Int64(_) => panic!("{table} {column}"),
        }
    }

    pub fn integers(&self, table: &str, column: usize) -> Vec<Option<i64>> {
        match read(table, self.directory.path()).unwrap().swap_remove(column) {
            Values::Int64(values) => values,
            Values::Text(_) => panic!("{table} {column}"),
        }
    }

    /// Of the spans of a kind: name, start, end, duration, grade, source, parent's name.
    pub fn spans(&self, kind: &str) -> Vec<String> {
        let number =
            |values: &[Option<i64>], row: usize| values[row].map_or("?".to_owned(), |ns| (ns / MS).to_string());
        let (kinds, names, grades, sources) =
            (self.texts("spans", 2), self.texts("spans", 3), self.texts("spans", 11), self.texts("spans", 13));
        let (parents, starts, ends, lengths) = (
            self.integers("spans", 1),
            self.integers("spans", 6),
            self.integers("spans", 7),
            self.integers("spans", 10),
        );
        (0..kinds.len())
            .filter(|row| kinds[*row].as_deref() == Some(kind))
            .map(|row| {
                let text = |values: &[Option<String>]| values[row].clone().unwrap_or_default();
                let parent = parents[row].map_or("-".to_owned(), |parent| names[parent as usize].clone().unwrap());
                format!(
                    "{} {}-{} took {} {} ({}) in {parent}",
                    text(&names),
                    number(&starts, row),
                    number(&ends, row),
                    number(&lengths, row),
                    text(&grades),
                    text(&sources)
                )
            })
            .collect()
    }
}

pub fn kernel(lines: &[(i64, &str)]) -> Evidence {
    let mut evidence = of("printk", Clock::Printk);
    evidence.step_ns = 1_000;
    for (number, (at, text)) in lines.iter().enumerate() {
        let stamp = Stamp { line: number as u64 + 1, time_ns: Some(at * MS), ..Stamp::default() };
        evidence.log.push(stamp, text.as_bytes());
    }
    evidence.understood = lines.len() as u64;
    evidence
}

pub fn mark(mark: Mark, at: i64) -> Instant {
    Instant { mark, time_ns: at * MS, detail: String::new() }
}

pub fn initcall(name: &str, start: i64, end: i64) -> Span {
    Span { track: "task 1".into(), ..Span::new(SpanKind::Initcall, name).between(start * MS, end * MS) }
}

pub const LINES: [(i64, &str); 4] = [
    (10, "first thing happened"),
    (20, "second thing happened"),
    (30, "third thing happened"),
    (90, "last thing happened"),
];
