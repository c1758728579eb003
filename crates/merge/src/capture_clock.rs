//! Fits the clock of the machine that captured a console, where the kernel's lines have timestamps of their own.

use crate::boot_mark::BootMark;
use crate::fit::{below, inverted, Fitted, Line};
use crate::log::placed;
use crate::AlignedRecord;
use firstlight_formats::evidence::{Clock, Evidence, Mark};

/// A clock that a quartz drives is no further off than this.
const QUARTZ: f64 = 0.001;

/// How the capturing machine's clock follows the kernel's, in one record that has both: what the kernel says before its
/// clock runs is stamped with 0, which is not an instant, unless there is nothing else.
pub fn fit_capture_clock(evidence: &Evidence) -> Option<Fitted> {
    if evidence.clock == Clock::Host {
        return None;
    }
    let both = |from: i64| {
        let stamps = evidence.log.iter().filter_map(|(stamp, _)| Some((stamp.time_ns?, stamp.host_ns?)));
        stamps.filter(|(own, _)| *own >= from).collect()
    };
    below(both(1), QUARTZ).or_else(|| below(both(0), QUARTZ)).map(inverted)
}

/// What the part of a record is called whose clock is the host's.
pub fn part(of: &str) -> String {
    if of.is_empty() {
        "capture clock".to_owned()
    } else {
        format!("{of}, capture clock")
    }
}

/// First one line, then another.
pub fn after(first: Line, then: Line) -> Line {
    Line { offset_ns: then.at(first.offset_ns), rate: first.rate * then.rate }
}

/// The mark of the first line that was received before all else.
pub fn capture_start(pieces: &[AlignedRecord<'_>], marks: &[BootMark]) -> Option<BootMark> {
    let begins = marks.iter().map(|mark| mark.time_ns).min();
    pieces.iter().filter(|piece| piece.host.is_some()).find_map(|piece| {
        let unstamped = piece.evidence.log.iter().take_while(|(stamp, _)| stamp.time_ns.is_none());
        let first = unstamped.filter_map(|(stamp, _)| placed(piece, &stamp)).next()?;
        begins.is_none_or(|begins| first < begins).then(|| BootMark {
            mark: Mark::CaptureStart,
            time_ns: first,
            source: piece.file.to_owned(),
            detail: "the first line that was received".to_owned(),
            doubted: piece.doubted.host,
            by_ns: None,
        })
    })
}

/// The first and the last line that only the host has stamped, on the boot's clock.
pub fn extent(piece: &AlignedRecord<'_>) -> Option<(i64, i64)> {
    piece.host?;
    let unstamped = piece.evidence.log.iter().filter(|(stamp, _)| stamp.time_ns.is_none());
    let mut instants = unstamped.filter_map(|(stamp, _)| placed(piece, &stamp));
    let first = instants.next()?;
    Some(instants.fold((first, first), |(low, high), at| (low.min(at), high.max(at))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_lines_one_after_the_other() {
        let (first, then) = (Line { offset_ns: 100, rate: 2.0 }, Line { offset_ns: -30, rate: 0.5 });
        assert_eq!(after(first, then).at(1_000), then.at(first.at(1_000)));
    }
}
