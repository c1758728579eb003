//! The long calls of a trace: as many as can be shown, and never more.

use super::symbols::{Symbol, Symbols};
use crate::evidence::spans::Row;
use crate::evidence::texts::Text;
use crate::evidence::{Grade, Name, SpanKind, Spans};
use firstlight_schema::ReasonCode;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Spans that are kept at most.
const MOST: usize = 100_000;

/// Why a length is reliable or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// The reported length and the stamps agree.
    Agree,
    /// Only one figure.
    One,
    /// The stamps say much more than the reported length: the task slept, and `sleep-time` was off.
    Slept,
    /// The reported length does not fit before the next line of the same task.
    TooLong,
    /// Its end was not seen.
    Unfinished,
}

/// One call with its times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Long {
    pub(crate) function: Symbol,
    pub(crate) task: u32,
    pub(crate) start_ns: i64,
    pub(crate) end_ns: i64,
    pub(crate) duration_ns: i64,
    pub(crate) trust: Trust,
    pub(crate) kind: SpanKind,
    pub(crate) level: Option<Level>,
}

/// The name of a level of initcalls, as a number.
pub(crate) type Level = u8;

/// Keeps the calls that take at least a threshold, which doubles whenever there are too many of them; initcalls always.
#[derive(Debug, Default)]
pub(crate) struct LongCalls {
    kept: Vec<Long>,
    initcalls: usize,
    /// What a kept call takes at least.
    pub(crate) threshold_ns: i64,
    /// Calls that were shorter.
    pub(crate) shorter: u64,
    levels: Vec<Name>,
}

impl LongCalls {
    /// Offers a call; returns its place until the next offer, if it is kept.
    #[inline]
    pub(crate) fn offer(&mut self, long: Long) -> Option<usize> {
        if long.duration_ns < self.threshold_ns && !(long.kind == SpanKind::Initcall && self.initcalls < MOST) {
            self.shorter += 1;
            return None;
        }
        self.keep(long)
    }

    fn keep(&mut self, long: Long) -> Option<usize> {
        self.initcalls += usize::from(long.kind == SpanKind::Initcall);
        self.kept.push(long);
        while self.kept.len() > MOST {
            if self.threshold_ns > i64::MAX / 2 || self.initcalls >= self.kept.len() {
                self.kept.pop();
                self.shorter += 1;
                break;
            }
            self.threshold_ns = (self.threshold_ns * 2).max(1000);
            let threshold = self.threshold_ns;
            let before = self.kept.len();
            self.kept.retain(|long| long.kind == SpanKind::Initcall || long.duration_ns >= threshold);
            self.shorter += (before - self.kept.len()) as u64;
        }
        self.kept.len().checked_sub(1)
    }

    /// A kept call whose length turned out to be wrong: it had ended by another instant.
    pub(crate) fn distrust(&mut self, place: usize, end_ns: i64, by_ns: i64) {
        if let Some(long) = self.kept.get_mut(place).filter(|long| long.end_ns == end_ns) {
            long.trust = Trust::TooLong;
            long.end_ns = by_ns.max(long.start_ns);
            long.duration_ns = long.end_ns.saturating_sub(long.start_ns);
        }
    }

    /// The number of a level.
    pub(crate) fn level(&mut self, name: &str) -> Level {
        let found = self.levels.iter().position(|known| known == name);
        let place = found.unwrap_or_else(|| {
            if self.levels.len() < usize::from(Level::MAX) {
                self.levels.push(Name::Owned(name.to_owned()));
            }
            self.levels.len() - 1
        });
        place as Level
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Puts the spans to others, by start; each lies in the shortest kept call of its task that encloses it.
    pub(crate) fn into_spans(mut self, symbols: &Symbols, spans: &mut Spans, track: impl Fn(u32) -> String) {
        self.kept.sort_by_key(|long| (long.start_ns, long.task, Reverse(long.end_ns)));
        let levels: Vec<Text> = self.levels.iter().map(|level| spans.texts.number(level.as_bytes())).collect();
        let mut names: FxHashMap<Symbol, (Text, Text)> = FxHashMap::default();
        let mut tasks: FxHashMap<u32, (Text, Vec<(usize, i64)>)> = FxHashMap::default();
        for long in &self.kept {
            let texts = &mut spans.texts;
            let (name, module) = *names.entry(long.function).or_insert_with(|| {
                let (name, module) = symbols.name(long.function);
                (texts.number(name.as_bytes()), texts.number(module.unwrap_or_default().as_bytes()))
            });
            let (track, open) =
                tasks.entry(long.task).or_insert_with(|| (texts.number(track(long.task).as_bytes()), Vec::new()));
            while open.last().is_some_and(|(_, end)| *end < long.end_ns || *end <= long.start_ns) {
                open.pop();
            }
            let mut row = Row::new(long.kind, name);
            row.set_parent(open.last().map(|(place, _)| *place));
            row.track = *track;
            row.level = match long.kind {
                // What a module begins with comes at any time, and has no level of the kernel's.
                SpanKind::Initcall if module != Text::EMPTY => texts.number(b"module"),
                _ => long.level.and_then(|level| levels.get(usize::from(level)).copied()).unwrap_or(Text::EMPTY),
            };
            long.times(&mut row);
            let (grade, reason) = long.grade();
            (row.grade, row.reason) = (grade, texts.number(reason.as_bytes()));
            open.push((spans.len(), long.end_ns));
            if module != Text::EMPTY {
                spans.attach_text(&mut row, "module", module);
            }
            spans.push_row(row);
        }
    }
}

impl Long {
    fn times(&self, row: &mut Row) {
        row.set_start_ns(Some(self.start_ns));
        if self.trust != Trust::Unfinished {
            row.set_end_ns(Some(self.end_ns).filter(|end| *end >= self.start_ns));
            row.set_duration_ns(Some(self.duration_ns).filter(|duration| *duration >= 0));
        }
    }

    fn grade(&self) -> (Grade, Name) {
        let apart = || self.end_ns.saturating_sub(self.start_ns) / 1000;
        match self.trust {
            Trust::Unfinished => {
                let least = self.duration_ns / 1000;
                (Grade::Bounded, format!("its end was not seen; it took at least {least} us").into())
            }
            _ if self.end_ns < self.start_ns => (Grade::Doubtful, ReasonCode::EndBeforeStart.into()),
            Trust::Agree => (Grade::Exact, "stamps and duration agree".into()),
            Trust::Slept => (Grade::Doubtful, format!("the stamps lie {} us apart", apart()).into()),
            Trust::TooLong => {
                (Grade::Doubtful, "its duration is longer than the stamps leave room for: cut to that room".into())
            }
            Trust::One => (Grade::Good, "".into()),
        }
    }
}
