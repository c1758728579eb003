//! The long calls of a trace: as many as can be shown, and never more.

use super::symbols::{Symbol, Symbols};
use crate::evidence::{Grade, Name, Span, SpanKind};

/// Spans that are kept at most.
const MOST: usize = 100_000;

/// Why a length is or is not to be believed.
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
    /// Offers a call; tells where it stands until the next offer, if it is kept.
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

    /// A kept call whose length turned out to be wrong.
    pub(crate) fn distrust(&mut self, place: usize, end_ns: i64) {
        if let Some(long) = self.kept.get_mut(place).filter(|long| long.end_ns == end_ns) {
            long.trust = Trust::TooLong;
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

    /// The spans, by start; each lies in the shortest kept call of its task that encloses it.
    pub(crate) fn into_spans(mut self, symbols: &Symbols, track: impl Fn(u32) -> String) -> Vec<Span> {
        self.kept.sort_by_key(|long| (long.start_ns, long.task, std::cmp::Reverse(long.end_ns)));
        let mut open: rustc_hash::FxHashMap<u32, Vec<(usize, i64)>> = rustc_hash::FxHashMap::default();
        let mut spans: Vec<Span> = Vec::with_capacity(self.kept.len());
        for long in &self.kept {
            let stack = open.entry(long.task).or_default();
            while stack.last().is_some_and(|(_, end)| *end < long.end_ns || *end <= long.start_ns) {
                stack.pop();
            }
            let parent = stack.last().map(|(place, _)| *place);
            stack.push((spans.len(), long.end_ns));
            let (name, module) = symbols.name(long.function);
            let mut span = Span::new(long.kind, name);
            span.parent = parent;
            span.track = Name::Owned(track(long.task));
            span.start_ns = Some(long.start_ns);
            span.level = long.level.and_then(|level| self.levels.get(usize::from(level)).cloned());
            if long.trust == Trust::Unfinished {
                span = span.graded(
                    Grade::Bounded,
                    format!("its end was not seen; it took at least {} us", long.duration_ns / 1000),
                );
            } else {
                span.end_ns = Some(long.end_ns).filter(|end| *end >= long.start_ns);
                span.duration_ns = Some(long.duration_ns).filter(|duration| *duration >= 0);
                span = match long.trust {
                    _ if span.end_ns.is_none() => span.graded(Grade::Doubtful, "its end is stamped before its start"),
                    Trust::Agree => span.graded(Grade::Exact, "stamps and duration agree"),
                    Trust::Slept => span.graded(
                        Grade::Doubtful,
                        format!("the stamps lie {} us apart", long.end_ns.saturating_sub(long.start_ns) / 1000),
                    ),
                    Trust::TooLong => {
                        span.graded(Grade::Doubtful, "its duration is longer than the stamps leave room for")
                    }
                    Trust::One | Trust::Unfinished => span,
                };
            }
            if let Some(module) = module {
                span = span.with("module", module);
            }
            spans.push(span);
        }
        spans
    }
}
