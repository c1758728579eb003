//! One journal in two forms: its text has the instants at which journald received the lines, its JSON those at which they were
//! sent. What waited for journald to start, or came thick, lies later in the text, by seconds, and never earlier.

use firstlight_formats::about::Stamps;
use firstlight_formats::evidence::{Clock, Evidence, Log, Mark, SpanRef, Spans};
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};

/// Two stamps of one message lie no further apart, if nothing made it wait.
const PROMPT_NS: i64 = 5_000_000;
/// Nor do they where journald is busy with what programs say.
const BUSY_NS: i64 = 50_000_000;
/// What waited while it is so did it for so many times as long.
const WAITED: i64 = 4;
/// A line waits no longer than this for journald.
const LATEST_NS: i64 = 10_000_000_000;
/// What waited for journald to start is received within so long.
const AT_ONCE_NS: i64 = 100_000_000;
/// Fewer lines than this prove nothing, and need not show when journald had read the queued messages.
const FEW: usize = 5;

/// What a text has that the other form of its journal has not.
#[derive(Debug)]
pub struct Received {
    /// The text without that.
    pub rest: Evidence,
    /// The record of the other form, by its place among those that are kept.
    pub sent: usize,
    /// Lines that are left out, because the other form has them by a better clock.
    pub lines: u64,
}

/// For each text of a journal among the records, by its place: what the other form of the journal lacks.
pub fn received(kept: &[(usize, &Evidence)]) -> BTreeMap<usize, Received> {
    let of = |wanted: fn(&Evidence) -> bool| {
        let all = kept.iter().enumerate().map(|(number, (_, evidence))| (number, *evidence));
        all.filter(move |(_, one)| one.clock == Clock::Monotonic && !one.log.is_empty() && wanted(one))
    };
    let mut found = BTreeMap::new();
    for (sent, form) in of(|one| one.traits.stamps == Stamps::Sent) {
        let mut known: Option<Instants> = None;
        for (number, text) in of(|one| one.traits.stamps == Stamps::Received) {
            let known = known.get_or_insert_with(|| instants(&form.log));
            if !found.contains_key(&number) && is_late(text, known) {
                let (rest, lines) = rest(text, form, known.clone());
                found.insert(number, Received { rest, sent, lines });
            }
        }
    }
    found
}

/// By its text, when each line was sent.
type Instants = FxHashMap<u64, Vec<i64>>;

fn instants(log: &Log) -> Instants {
    let mut instants = Instants::default();
    for (stamp, text) in log.iter() {
        if let Some(at) = stamp.time_ns {
            instants.entry(key(text.trim())).or_default().push(at);
        }
    }
    instants
}

fn key(of: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Whether a text holds lines that were sent earlier, by the other form: none of them is early, and what waited was received at
/// once, or the last of them are prompt again. The lines of another boot that is slower come ever later.
fn is_late(text: &Evidence, sent: &Instants) -> bool {
    let mut told: FxHashMap<u64, Option<i64>> = FxHashMap::default();
    for (stamp, line) in text.log.iter() {
        if let Some(at) = stamp.time_ns {
            told.entry(key(line.trim())).and_modify(|known| *known = None).or_insert(Some(at));
        }
    }
    let once = |(line, at): (u64, Option<i64>)| match sent.get(&line)?.as_slice() {
        [sent] => Some((*sent, at?)),
        _ => None,
    };
    let mut shared: Vec<(i64, i64)> = told.into_iter().filter_map(once).collect();
    shared.sort_unstable();
    let late = |(sent, received): &(i64, i64)| received.saturating_sub(*sent);
    let believable = shared.iter().filter(|(sent, received)| waits(*received, *sent)).count();
    let Some(most) = shared.iter().map(late).max().filter(|most| *most > PROMPT_NS) else { return false };
    if believable.saturating_mul(20) < shared.len().saturating_mul(19) {
        return false;
    }
    let last = shared.get(shared.len().saturating_mul(3) / 4..).unwrap_or_default();
    let drained = |least: i64| least <= PROMPT_NS || least <= BUSY_NS && most >= least.saturating_mul(WAITED);
    let received = || shared.iter().map(|(_, received)| *received);
    let within = received().max().zip(received().min()).map(|(last, first)| last.saturating_sub(first));
    shared.len() < FEW
        || within.is_some_and(|within| within <= AT_ONCE_NS)
        || last.iter().map(late).min().is_some_and(drained)
}

/// What only the text has, and how many lines both have.
fn rest(text: &Evidence, form: &Evidence, mut sent: Instants) -> (Evidence, u64) {
    let mut rest = Evidence {
        part: text.part.clone(),
        traits: text.traits,
        boot: text.boot,
        first_line: text.first_line,
        step_ns: text.step_ns,
        facts: text.facts.clone(),
        links: text.links.clone(),
        understood: text.understood,
        not_understood: text.not_understood,
        problems: text.problems.clone(),
        ..Evidence::of(text.format, text.clock.clone())
    };
    let mut copies = 0;
    for (stamp, line) in text.log.iter() {
        let twin = stamp.time_ns.and_then(|at| {
            let known = sent.get_mut(&key(line.trim()))?;
            let place = known.iter().position(|sent| waits(at, *sent))?;
            Some(known.remove(place))
        });
        match twin {
            Some(_) => copies += 1,
            None => {
                rest.log.push(stamp, line.as_bytes());
            }
        }
    }
    let told = |mark: Mark| form.marks.iter().any(|known| known.mark == mark);
    rest.marks = text.marks.iter().filter(|one| !told(one.mark)).cloned().collect();
    let counted = |name: &str| form.counters.iter().any(|known| known.name == name);
    rest.counters = text.counters.iter().filter(|counter| !counted(&counter.name)).cloned().collect();
    rest.spans = only_there(&text.spans, &form.spans);
    (rest, copies)
}

/// Whether what was received then can have been sent then.
fn waits(received: i64, sent: i64) -> bool {
    (-PROMPT_NS..=LATEST_NS).contains(&received.saturating_sub(sent))
}

/// The spans of a text that the other form lacks.
fn only_there(text: &Spans, form: &Spans) -> Spans {
    let name = |span: &SpanRef<'_>| {
        let number = span.attributes.iter().find(|(key, _)| *key == "seqnum").map(|(_, value)| value);
        key((span.kind, span.name, number))
    };
    let mut known: FxHashMap<u64, Vec<SpanRef<'_>>> = FxHashMap::default();
    for span in form {
        known.entry(name(&span)).or_default().push(span);
    }
    let (mut left, mut moved) = (Spans::default(), FxHashMap::default());
    for (place, span) in text.iter().enumerate() {
        let both = |one: Option<i64>, two: Option<i64>| one.zip(two).map(|(received, sent)| waits(received, sent));
        let same = |known: &SpanRef<'_>| {
            let (start, end) = (both(span.start_ns, known.start_ns), both(span.end_ns, known.end_ns));
            start.or(end).unwrap_or(false)
        };
        let there = known.get_mut(&name(&span));
        let twin = there.and_then(|there| Some(there.remove(there.iter().position(same)?)));
        if twin.is_none() {
            moved.insert(place, left.len());
            let parent = span.parent.and_then(|parent| moved.get(&parent).copied());
            left.push(firstlight_formats::evidence::Span { parent, ..span.to_span() });
        }
    }
    left
}
