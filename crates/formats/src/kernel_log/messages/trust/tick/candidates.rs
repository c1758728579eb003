//! The ticks that there are, and which of them figures are multiples of.

use crate::kernel_log::messages::figure::MICROSECOND;

/// The tick of each usual frequency, in Hz: 100, 250, 300, 1000.
const USUAL: [i64; 4] = [10_000_000, 4_000_000, 3_333_333, 1_000_000];
/// Those that some architectures have beside them: 24, 48, 128, 256, 1024.
const RARE: [i64; 5] = [41_666_667, 20_833_333, 7_812_500, 3_906_250, 976_563];
/// A microsecond, and what older kernels take for one.
const UNITS: [i64; 2] = [MICROSECOND, 1024];
/// A figure on a tick is evidence where most figures of its kind are not on one.
const TELLING: i64 = 20;
/// Ticks are off by less than one part of so many: old kernels' clock divides 1193182 Hz.
const OFF: i64 = 4096;

/// What a figure and its stamps say together.
pub(super) struct Vote {
    pub(super) units: i64,
    /// Its unit, where that is none of initcalls'.
    pub(super) own_unit: Option<i64>,
    /// Figure and stamps disagree as those of a real clock would not.
    pub(super) disagrees: bool,
}

/// One tick in one unit, and what the figures say to it.
pub(super) struct Candidate {
    pub(super) tick: i64,
    pub(super) shifted: bool,
    pub(super) usual: bool,
    /// How many figures hit it, from the first one on.
    pub(super) hits: usize,
    /// How many of them would not by accident.
    pub(super) telling: usize,
    pub(super) missed: bool,
}

/// What the figures say to each tick, the likely ones first, and whether one disagrees with its stamps.
pub(super) fn tally(votes: impl Iterator<Item = Vote>, release: Option<(i64, i64)>) -> (Vec<Candidate>, bool) {
    let old = release.is_some_and(|release| release < (5, 18));
    let ticks = USUAL.map(|tick| (tick, true)).into_iter().chain(RARE.map(|tick| (tick, false)));
    let mut candidates: Vec<Candidate> = ticks
        .flat_map(|(tick, usual)| [old, !old].map(|shifted| (tick, usual, shifted)))
        .map(|(tick, usual, shifted)| Candidate { tick, shifted, usual, hits: 0, telling: 0, missed: false })
        .collect();
    // Stable: a usual tick in the other unit comes before a rare one.
    candidates.sort_by_key(|one| (!one.usual, one.shifted != old));
    let mut disagree = false;
    for vote in votes {
        for one in candidates.iter_mut().filter(|one| !one.missed) {
            match hits(vote.units, vote.own_unit.unwrap_or(UNITS[usize::from(one.shifted)]), one.tick) {
                Some(telling) => {
                    one.hits = one.hits.saturating_add(1);
                    one.telling = one.telling.saturating_add(usize::from(telling));
                }
                None => one.missed = true,
            }
        }
        disagree |= vote.disagrees;
        if candidates.iter().all(|one| one.missed) {
            break;
        }
    }
    (candidates, disagree)
}

/// Whether a figure is some ticks, cut off to its unit; and if so, whether that is evidence.
fn hits(units: i64, unit: i64, tick: i64) -> Option<bool> {
    let length = units.saturating_mul(unit);
    let off = length / OFF;
    let (least, most) = (length.saturating_sub(off), length.saturating_add(off).saturating_add(unit));
    let over = if units < 0 { return None } else { least % tick };
    let next = if over == 0 { least } else { least.saturating_add(tick - over) };
    (next < most).then(|| units > 0 && (most - least).saturating_mul(TELLING) <= tick)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_cut_off_to_its_unit() {
        for (units, unit, tick) in [
            (3_906, 1024, 4_000_000),
            (46_875, 1024, 4_000_000),
            (9_765, 1024, 10_000_000),
            (3_255, 1024, 3_333_333),
            (43_333, 1000, 3_333_333),
            (976, 1024, 1_000_000),
            (976, 1000, 976_563),
        ] {
            assert_eq!(hits(units, unit, tick), Some(true), "{units} of {unit} in {tick}");
            assert_eq!(hits(units + 30, unit, tick), None, "{units} of {unit} in {tick}");
        }
        assert_eq!((hits(4_002, 1000, 4_000_000), hits(3_998, 1000, 4_000_000)), (None, None));
        assert_eq!(hits(0, 1000, 4_000_000), Some(false));
        assert_eq!(hits(-4_000, 1000, 4_000_000), None);
        assert_eq!(hits(i64::MAX, 1024, 4_000_000), Some(false), "all is near a tick there");
    }
}
