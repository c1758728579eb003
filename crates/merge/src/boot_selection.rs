//! Selects a boot in records that hold several.

use crate::record::Read;
use firstlight_formats::evidence::Evidence;
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A boot in a record, as a choice for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootChoice {
    /// Which of the record's, from 0.
    pub number: u32,
    /// The line at which it begins.
    pub first_line: u64,
    /// The kernel's release, when it says so.
    pub release: Option<String>,
    /// From its first to its last instant, in nanoseconds of its own clock.
    pub length_ns: Option<i64>,
    /// Lines or records that were understood.
    pub understood: u64,
}

/// The boots of a record.
pub fn boots(read: &Read) -> Vec<BootChoice> {
    let mut boots: BTreeMap<u32, BootChoice> = BTreeMap::new();
    for evidence in read.outcome.iter().flatten() {
        let empty = BootChoice {
            number: evidence.boot,
            first_line: evidence.first_line,
            release: None,
            length_ns: None,
            understood: 0,
        };
        let choice = boots.entry(evidence.boot).or_insert(empty);
        choice.first_line = choice.first_line.min(evidence.first_line);
        choice.understood = choice.understood.saturating_add(evidence.understood);
        if choice.release.is_none() {
            choice.release =
                evidence.facts.iter().find(|(fact, _)| fact == "kernel.release").map(|(_, value)| value.clone());
        }
        if let Some((first, last)) = extent(evidence) {
            choice.length_ns = choice.length_ns.max(Some(last.saturating_sub(first)));
        }
    }
    boots.into_values().collect()
}

/// The first and the last instant of a piece of evidence, on its own clock.
pub fn extent(evidence: &Evidence) -> Option<(i64, i64)> {
    let marks = evidence.marks.iter().map(|mark| mark.time_ns);
    let spans = evidence.spans.iter().flat_map(|span| [span.start_ns, span.end_ns]).flatten();
    let lines = evidence.log.iter().filter_map(|(stamp, _)| stamp.time_ns);
    let counters = evidence.counters.iter().map(|counter| counter.time_ns);
    let stamps = evidence.extent_ns.into_iter().flat_map(|(first, last)| [first, last]);
    let mut instants = marks.chain(spans).chain(lines).chain(counters).chain(stamps);
    let first = instants.next()?;
    Some(instants.fold((first, first), |(low, high), at| (low.min(at), high.max(at))))
}

/// Of every record, which boot belongs to boot `number` of record `chosen`: the only one, else the one that shares the
/// most timed lines with it, else the one of the same number.
pub fn matching(reads: &[Read], chosen: usize, number: u32) -> Vec<Option<u32>> {
    // Only where there is something to choose from: the lines may be millions.
    let choose = reads.iter().enumerate().any(|(index, read)| index != chosen && boots(read).len() > 1);
    let wanted: FxHashSet<(i64, &str)> =
        reads.get(chosen).filter(|_| choose).map(|read| lines(read, number)).unwrap_or_default();
    let of = |(index, read): (usize, &Read)| {
        if index == chosen {
            return Some(number);
        }
        let there = boots(read);
        match there.as_slice() {
            [] => None,
            [only] => Some(only.number),
            several => {
                let shared = |boot: u32| lines(read, boot).intersection(&wanted).count();
                let best = several.iter().map(|boot| (shared(boot.number), boot.number)).max_by_key(|best| best.0);
                match best {
                    Some((shared, boot)) if shared > 0 => Some(boot),
                    _ => several.iter().map(|boot| boot.number).find(|boot| *boot == number),
                }
            }
        }
    };
    reads.iter().enumerate().map(of).collect()
}

fn lines(read: &Read, boot: u32) -> FxHashSet<(i64, &str)> {
    let evidence = read.outcome.iter().flatten().filter(|evidence| evidence.boot == boot);
    evidence
        .flat_map(|evidence| evidence.log.iter())
        .filter_map(|(stamp, text)| Some((stamp.time_ns.filter(|at| *at > 0)?, text)))
        .collect()
}
